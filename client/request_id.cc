#include "client/request_id.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace curator::client {
namespace {

constexpr size_t kTextLength = 36;

bool IsDashPosition(size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

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
  // RFC 9562, 5.7: the version in the high half of byte 6, the variant in the two high bits of byte 8.
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x70);
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);

  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(kTextLength);
  for (const uint8_t byte : bytes) {
    if (IsDashPosition(text.size())) text.push_back('-');
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 0x0f]);
  }
  return text;
}

bool IsRequestId(std::string_view text) {
  if (text.size() != kTextLength) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsDashPosition(i) ? text[i] != '-' : !IsHexDigit(text[i])) return false;
  }
  return true;
}

}  // namespace curator::client
