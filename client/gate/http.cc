#include "client/gate/http.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace curator::gate {

std::string_view HttpRequest::Header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

int HttpRequest::CountOf(std::string_view name) const {
  return static_cast<int>(std::ranges::count(headers, name, &std::pair<std::string, std::string>::first));
}

std::string_view HttpRequest::Cookie(std::string_view name) const {
  std::string_view found;
  int times = 0;
  for (const auto& [header, value] : headers) {
    if (header != "cookie") continue;
    for (const absl::string_view piece : absl::StrSplit(absl::string_view(value), ';')) {
      absl::string_view pair = absl::StripAsciiWhitespace(piece);
      if (!absl::ConsumePrefix(&pair, absl::string_view(name.data(), name.size())) ||
          !absl::ConsumePrefix(&pair, "=")) {
        continue;
      }
      found = {pair.data(), pair.size()};
      ++times;
    }
  }
  return times == 1 ? found : std::string_view();
}

std::string HttpRequest::Parameter(std::string_view name) const {
  for (const absl::string_view piece : absl::StrSplit(query, '&')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(piece, absl::MaxSplits('=', 1));
    if (PercentDecoded({pair.first.data(), pair.first.size()}) == name) {
      return PercentDecoded({pair.second.data(), pair.second.size()});
    }
  }
  return "";
}

std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const bool is_escape = i + 2 < text.size() &&
                           absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 1])) &&
                           absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 2]));
    if (!is_escape) return "";
    decoded += absl::HexStringToBytes(absl::string_view(text.data() + i + 1, 2));
    i += 2;
  }
  return decoded;
}

std::string PercentEncoded(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace curator::gate
