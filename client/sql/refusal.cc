#include "client/sql/refusal.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "client/display_width.h"

namespace curator::sql {
namespace {

// Characters of a line that are shown before and after the place.
constexpr size_t kMostBefore = 60;
constexpr size_t kMostAfter = 60;
// Of words, which may name columns: the status of a call has to fit into a few kilobytes.
constexpr size_t kMostWordBytes = 2000;

// The bytes of one character; of text that is no UTF-8 one byte.
std::string_view CharacterAt(std::string_view text, size_t place) {
  return text.substr(place, std::max<size_t>(1, Utf8CharacterLength(text.substr(place))));
}

std::vector<std::string_view> CharactersOf(std::string_view text) {
  std::vector<std::string_view> characters;
  for (size_t i = 0; i < text.size(); i += characters.back().size())
    characters.push_back(CharacterAt(text, i));
  return characters;
}

std::string Shown(std::string_view character) {
  if (character == "\t") return "\t";
  return HasControlCharacter(character) ? "?" : std::string(character);
}

// Words that are text, of a bounded length. The parser quotes up to a byte, in the middle of a character.
std::string TextOf(std::string_view words) {
  std::string text;
  for (const std::string_view character : CharactersOf(words)) {
    if (text.size() + character.size() > kMostWordBytes) return text + "...";
    text += Utf8CharacterLength(character) == 0 ? "?" : std::string(character);
  }
  return text;
}

}  // namespace

size_t PlaceOfCharacter(std::string_view sql, size_t number) {
  size_t place = 0;
  for (; number > 0 && place < sql.size(); --number) place += CharacterAt(sql, place).size();
  return place;
}

absl::Status Refusal(std::string_view sql, int64_t place, std::string_view words) {
  const std::string line = MarkedLine(sql, place);
  return absl::InvalidArgumentError(absl::StrCat(TextOf(words), line.empty() ? "" : "\n", line));
}

std::string MarkedLine(std::string_view sql, int64_t place) {
  if (place < 0) return "";
  const size_t byte = std::min(static_cast<size_t>(place), sql.size());
  const size_t newline = byte == 0 ? std::string_view::npos : sql.rfind('\n', byte - 1);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t end = std::min(sql.find_first_of("\r\n", byte), sql.size());
  const auto line_number = 1 + std::count(sql.begin(), sql.begin() + static_cast<ptrdiff_t>(begin), '\n');
  const std::vector<std::string_view> before = CharactersOf(sql.substr(begin, byte - begin));
  const std::vector<std::string_view> after = CharactersOf(sql.substr(byte, end - byte));

  std::string line = absl::StrCat("LINE ", line_number, ": ");
  std::string mark(line.size(), ' ');
  const size_t first = before.size() > kMostBefore ? before.size() - kMostBefore : 0;
  if (first > 0) {
    line += "...";
    mark += "   ";
  }
  for (size_t i = first; i < before.size(); ++i) {
    const std::string shown = Shown(before[i]);
    line += shown;
    // A tab under a tab, so that the mark is under its place wherever tabs stop.
    mark += shown == "\t" ? shown : std::string(DisplayWidth(shown), ' ');
  }
  for (size_t i = 0; i < std::min(after.size(), kMostAfter); ++i) line += Shown(after[i]);
  if (after.size() > kMostAfter) line += "...";
  return absl::StrCat(line, "\n", mark, "^");
}

}  // namespace curator::sql
