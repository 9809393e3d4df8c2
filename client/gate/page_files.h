// What embed_pages.cmake makes of client/gate/web/dist.
//
// Thread-safe: constants.
#pragma once

#include <span>

#include "client/gate/pages.h"

namespace curator::gate {

// All files.
std::span<const PageFile> PageFiles();

}  // namespace curator::gate
