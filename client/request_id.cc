#include "client/request_id.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace curator::client {

absl::StatusOr<std::string> NewRequestId() {
  std::array<uint8_t, 16> bytes;
  ssize_t filled = 0;
  do {
    filled = getrandom(bytes.data(), bytes.size(), 0);
  } while (filled < 0 && errno == EINTR);
  if (filled != static_cast<ssize_t>(bytes.size())) {
    return absl::UnavailableError(
        absl::StrCat("the system gave no entropy for a request id: ", std::strerror(errno)));
  }
  const auto ms = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                            std::chrono::system_clock::now().time_since_epoch())
                                            .count());
  for (size_t i = 0; i < 6; ++i) bytes[i] = static_cast<uint8_t>(ms >> (40 - 8 * i));
  return UuidText(bytes, 7);
}

bool IsRequestId(std::string_view text) {
  return IsUuid(text);
}

}  // namespace curator::client
