#include "base/principal.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "base/errors.h"

namespace curator {
namespace {

constexpr size_t kMaxLength = 128;

bool IsAllowed(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '@' || c == '-';
}

}  // namespace

absl::Status CheckPrincipalName(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxLength && std::ranges::all_of(name, IsAllowed))
    return absl::OkStatus();
  return InvalidField("principal", "must be 1 to 128 letters, digits, or any of \"._@-\"");
}

}  // namespace curator
