// The files of the dashboard's pages, which are compiled into the program (client/gate/web/dist).
//
// Thread-safe: constants.
#pragma once

#include <span>
#include <string_view>

namespace curator::gate {

struct PageFile {
  std::string_view path;  // "/assets/app-0123abcd.js"; "/index.html"
  std::string_view content;
};

// All of them. embed_pages.cmake writes the source file of this function.
std::span<const PageFile> PageFiles();
// Null where there is none.
const PageFile* FindPageFile(std::string_view path);

// By the ending of its path: "text/html; charset=utf-8".
std::string_view ContentTypeOf(std::string_view path);

}  // namespace curator::gate
