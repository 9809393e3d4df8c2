#include "client/trace_parent.h"

#include <sys/random.h>

#include <cerrno>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace curator::client {
namespace {

// So many random bytes as hexadecimal digits; empty where there are none. An id of zeros means none.
std::string RandomId(size_t bytes) {
  std::string id(bytes, '\0');
  ssize_t filled = 0;
  do {
    filled = getrandom(id.data(), id.size(), 0);
  } while (filled < 0 && errno == EINTR);
  if (filled != static_cast<ssize_t>(id.size())) return {};
  id.front() |= 1;
  return absl::BytesToHexString(id);
}

}  // namespace

Trace::Trace() : id_(RandomId(16)) {}

std::string Trace::NextParent() const {
  const std::string parent = RandomId(8);
  if (id_.empty() || parent.empty()) return {};
  return absl::StrCat("00-", id_, "-", parent, "-01");
}

}  // namespace curator::client
