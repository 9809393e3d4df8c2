#include "dp/domain/cell_reading.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"

namespace curator::dp {

absl::Status CheckText(std::string_view field, std::string_view text) {
  if (text.empty()) return InvalidField(field, "is empty");
  if (text.size() > kMaxTextLength) {
    return InvalidField(
        field, absl::StrCat("has ", text.size(), " bytes; at most ", kMaxTextLength, " are allowed"));
  }
  if (TrimBlanks(text).size() != text.size()) return InvalidField(field, "begins or ends with a blank");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control))
    return InvalidField(field, "contains a control character");
  return absl::OkStatus();
}

absl::Status CheckColumnAndSigns(const Reading& reading) {
  if (!reading.column.empty()) RETURN_IF_ERROR(CheckText("reading.column", reading.column));
  if (reading.decimal_sign != '.' && reading.decimal_sign != ',')
    return InvalidField("reading.decimal_sign", "must be \".\" or \",\"");
  const std::string_view separators(".,'_ \0", 6);
  if (separators.find(reading.thousands_separator) == std::string_view::npos)
    return InvalidField("reading.thousands_separator", "must be one of . , ' _ and a blank");
  if (reading.thousands_separator == reading.decimal_sign)
    return InvalidField("reading.thousands_separator", "is also the decimal sign");
  return absl::OkStatus();
}

absl::Status CheckMissingTokens(const std::vector<std::string>& tokens) {
  constexpr size_t kMostTokens = 256;
  if (tokens.size() > kMostTokens)
    return InvalidField("missing.tokens", absl::StrCat("are more than ", kMostTokens));
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].empty()) RETURN_IF_ERROR(CheckText(absl::StrCat("missing.tokens[", i, "]"), tokens[i]));
  }
  return absl::OkStatus();
}

bool IsNoNumber(std::string_view plain) {
  const auto read = ReadNumber(plain);
  const NumberFault* const fault = std::get_if<NumberFault>(&read);
  return fault != nullptr && *fault == NumberFault::kNotANumber;
}

std::string LikelyStyle(std::string_view text, const NumberStyle& declared) {
  std::string buffer;
  for (const NumberStyle& style : {NumberStyle{'.', ','}, NumberStyle{',', '.'}, NumberStyle{'.', '\''},
                                   NumberStyle{',', ' '}, NumberStyle{'.', ' '}, NumberStyle{}}) {
    if (style == declared) continue;
    if (IsNoNumber(InPlainStyle(text, style, buffer))) continue;
    if (style == NumberStyle{}) return "; it would be a number with the decimal sign \".\"";
    return absl::StrCat("; it would be a number with the decimal sign \"", std::string(1, style.decimal_sign),
                        "\" and the thousands separator \"", std::string(1, style.thousands_separator), "\"");
  }
  return "";
}

}  // namespace curator::dp
