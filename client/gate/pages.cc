#include "client/gate/pages.h"

#include <algorithm>
#include <array>
#include <utility>

namespace curator::gate {

const PageFile* FindPageFile(std::string_view path) {
  const auto files = PageFiles();
  const auto found = std::ranges::find(files, path, &PageFile::path);
  return found == files.end() ? nullptr : &*found;
}

std::string_view ContentTypeOf(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes = {
      {{".html", "text/html; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".svg", "image/svg+xml"},
       {".txt", "text/plain; charset=utf-8"},
       {".woff2", "font/woff2"}}};
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

}  // namespace curator::gate
