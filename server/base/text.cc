#include "base/text.h"

#include <algorithm>

#include "base/errors.h"

namespace curator {
namespace {

constexpr size_t kUuidLength = 36;

bool IsHyphenPosition(size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Of one well-formed character.
uint32_t CodePoint(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  uint32_t value = byte(0) & (0x7FU >> character.size());
  for (size_t i = 1; i < character.size(); ++i) value = value << 6 | (byte(i) & 0x3FU);
  return value;
}

bool IsControl(uint32_t c) {
  const auto within = [c](uint32_t first, uint32_t last) { return first <= c && c <= last; };
  return c < 0x20 || within(0x7F, 0x9F) || c == 0x61C || c == 0x200E || c == 0x200F ||
         within(0x2028, 0x202E) || within(0x2066, 0x2069);
}

}  // namespace

size_t Utf8CharacterLength(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    return !overlong && !surrogate && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool out_of_range = (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
    return !out_of_range && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8CharacterLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool HasControlCharacter(std::string_view text) {
  while (!text.empty()) {
    const size_t length = std::max<size_t>(1, Utf8CharacterLength(text));
    if (IsControl(CodePoint(text.substr(0, length)))) return true;
    text.remove_prefix(length);
  }
  return false;
}

absl::Status CheckLine(std::string_view field, std::string_view text) {
  if (!IsUtf8(text)) return InvalidField(field, "must be UTF-8 text");
  if (HasControlCharacter(text)) {
    return InvalidField(field,
                        "must be one line, without control characters and controls of writing direction");
  }
  return absl::OkStatus();
}

std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  constexpr std::string_view kMore = "...";
  const auto continues = [&](size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U; };
  size_t end = most - kMore.size();
  while (end > 0 && continues(end)) --end;
  return std::string(text.substr(0, end)).append(kMore);
}

bool IsUuid(std::string_view text) {
  if (text.size() != kUuidLength) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsHyphenPosition(i) ? text[i] != '-' : !IsHexDigit(text[i])) return false;
  }
  return true;
}

std::string UuidText(std::array<uint8_t, 16> bytes, int version) {
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | (version << 4));
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(kUuidLength);
  for (const uint8_t byte : bytes) {
    if (IsHyphenPosition(text.size())) text += '-';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace curator
