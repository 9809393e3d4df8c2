#include "tests/testing/shared_folder.h"

#include <cstdlib>
#include <filesystem>

namespace curator::shared {

std::string PathOf(const std::string& name) {
  const char* const folder = std::getenv("CURATOR_SHARED");
  const std::filesystem::path root = folder != nullptr ? folder : CURATOR_DEFAULT_SHARED;
  return (root / name).string();
}

bool Has(const std::string& name) {
  return std::filesystem::exists(PathOf(name));
}

bool MaySkip() {
  return std::getenv("CI") == nullptr;
}

}  // namespace curator::shared
