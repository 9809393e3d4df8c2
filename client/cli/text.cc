#include "client/cli/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <variant>

namespace curator::cli {
namespace {

std::string Joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) text.append(separator);
    text.append(item);
  }
  return text;
}

struct ForPeople {
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return RoundedText(value); }
  std::string operator()(const std::string& value) const { return Printable(value); }
  std::string operator()(const std::vector<std::string>& value) const {
    return value.empty() ? "-" : Printable(Joined(value, ", "));
  }
  std::string operator()(const RawJson&) const { return ""; }
};

struct ForCsv {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return ExactText(value); }
  std::string operator()(const std::string& value) const { return CsvText(value); }
  std::string operator()(const std::vector<std::string>& value) const { return CsvText(Joined(value, ",")); }
  std::string operator()(const RawJson&) const { return ""; }
};

}  // namespace

std::string ExactText(double number) {
  std::array<char, 40> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::string(text.data(), end) : std::string("nan");
}

std::string RoundedText(double number) {
  std::array<char, 400> text;
  const bool whole = std::isfinite(number) && std::abs(number) >= 1000 && std::abs(number) < 1e15;
  std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.4g", number);
  return text.data();
}

std::string Printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    // U+0080..U+009F are control characters too: 0xC2 followed by 0x80..0x9F.
    const bool second_half =
        c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c < 0x20 || c == 0x7F || second_half) {
      clean.push_back('?');
      if (second_half) ++i;
    } else {
      clean.push_back(text[i]);
    }
  }
  return clean;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return width;
}

std::string TextOf(const Value& value) {
  return std::visit(ForPeople(), value);
}

std::string CsvField(const Value& value) {
  return std::visit(ForCsv(), value);
}

std::string CsvText(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

}  // namespace curator::cli
