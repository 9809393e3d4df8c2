#include "client/gate/trace.h"

#include <sys/random.h>

#include <array>
#include <cstdlib>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace curator::gate {

std::string NewTraceParent() {
  std::array<char, 24> bytes = {};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  bytes[0] |= 1;  // neither id may be all zeros
  bytes[16] |= 1;
  const std::string digits = absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
  return absl::StrCat("00-", digits.substr(0, 32), "-", digits.substr(32), "-01");
}

}  // namespace curator::gate
