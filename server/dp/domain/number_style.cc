#include "dp/domain/number_style.h"

#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool TakeSeparator(std::string_view& text, char separator) {
  if (TakePrefix(text, std::string_view(&separator, 1))) return true;
  if (separator == '\'') return TakePrefix(text, "\xE2\x80\x99");
  return separator == ' ' && (TakePrefix(text, "\xC2\xA0") || TakePrefix(text, "\xE2\x80\xAF"));
}

// Moves up to `most` digits from `text` to `plain`, and returns how many.
size_t MoveDigits(std::string_view& text, std::string& plain, size_t most) {
  size_t count = 0;
  while (count < most && count < text.size() && IsDigit(text[count])) ++count;
  plain.append(text.substr(0, count));
  text.remove_prefix(count);
  return count;
}

}  // namespace

std::string_view InPlainStyle(std::string_view text, const NumberStyle& style, std::string& buffer) {
  if (style == NumberStyle{}) return text;
  buffer.clear();
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    buffer.push_back(text.front());
    text.remove_prefix(1);
  }
  const size_t first_group = MoveDigits(text, buffer, text.size());
  if (style.thousands_separator != '\0') {
    while (TakeSeparator(text, style.thousands_separator)) {
      if (first_group < 1 || first_group > 3 || MoveDigits(text, buffer, 4) != 3) return {};
    }
  }
  if (TakePrefix(text, std::string_view(&style.decimal_sign, 1))) {
    buffer.push_back('.');
    MoveDigits(text, buffer, text.size());
  }
  if (!text.empty() && text.front() != 'e' && text.front() != 'E') return {};
  buffer.append(text);
  return buffer;
}

}  // namespace curator::dp
