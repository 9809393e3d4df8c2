#include "edge_secret.h"

#include <sys/stat.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator {

absl::Status ReadEdgeSecret(const std::string& path, const std::string& option, std::string& secret) {
  constexpr size_t kLeastCharacters = 32;
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) {
    return InvalidField(option, absl::StrCat(path, " cannot be read: `curatord edge-config` makes it"));
  }
  if ((found.st_mode & S_IRWXO) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(option, ": other users of this machine can open ", path, ": chmod o-rwx"));
  }
  std::ifstream file(path);
  if (!file) return InvalidField(option, path + " cannot be read by the server's user");
  std::getline(file, secret);
  if (secret.size() >= kLeastCharacters) return absl::OkStatus();
  return InvalidField(option, absl::StrCat(path, " must have a line of at least 32 characters"));
}

}  // namespace curator
