#include "host/uuid.h"

#include <array>
#include <cstdint>

#include "host/entropy.h"

namespace curator::host {
namespace {

bool IsHyphenPosition(size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

std::string NewUuid() {
  std::array<uint8_t, 16> bytes;
  FillWithEntropy(bytes);
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);  // the variant of RFC 9562
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    if (IsHyphenPosition(text.size())) text += '-';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsHyphenPosition(i) ? text[i] != '-' : !IsHexDigit(text[i])) return false;
  }
  return true;
}

}  // namespace curator::host
