// Forms of text that several modules read and write: UTF-8 characters and UUIDs.
//
// Thread-safe: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace curator {

// The length in bytes of the well-formed UTF-8 character (RFC 3629) at the start of `text`; 0 when `text` is
// empty or starts with none. A zero byte is a character.
size_t Utf8CharacterLength(std::string_view text);

// Whether `text` consists of well-formed UTF-8 characters; also when it is empty.
bool IsUtf8(std::string_view text);

// Whether `text` has a character that no line of text needs and that a terminal or a page may obey: a control
// character (C0, DEL, C1), a line or paragraph separator (U+2028, U+2029), or a control of writing direction
// (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069). For well-formed UTF-8.
bool HasControlCharacter(std::string_view text);

// A line that people read, such as a summary or a reason: UTF-8 without HasControlCharacter().
// Errors: INVALID_ARGUMENT (`field`).
absl::Status CheckLine(std::string_view field, std::string_view text);

// `text`; of one that has more than `most` >= 3 bytes the first characters and "...", `most` bytes at most.
// For well-formed UTF-8.
std::string Shortened(std::string_view text, size_t most);

// Whether `text` has the shape of a UUID, 8-4-4-4-12 hexadecimal digits; any version, either case.
bool IsUuid(std::string_view text);

// `bytes` as a UUID in lower case (RFC 9562), with their version and variant bits overwritten: version 4 is
// random, version 7 begins with the time, the content of version 8 is up to the program.
std::string UuidText(std::array<uint8_t, 16> bytes, int version);

}  // namespace curator
