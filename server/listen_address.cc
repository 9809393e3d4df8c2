#include "listen_address.h"

#include <arpa/inet.h>

#include <charconv>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator {
namespace {

bool IsPort(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port <= 65535;
}

bool IsLoopback(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return host == "localhost" || host == "[::1]";
}

}  // namespace

absl::Status CheckLoopback(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || !IsPort(address.substr(colon + 1))) {
    return InvalidField("--listen", absl::StrCat("must be HOST:PORT, such as 127.0.0.1:7878; got \"",
                                                 std::string(address), "\""));
  }
  if (!IsLoopback(std::string(address.substr(0, colon)))) {
    return InvalidField(
        "--listen",
        "must be on loopback (127.0.0.1, [::1] or localhost): with --dev every client is believed");
  }
  return absl::OkStatus();
}

}  // namespace curator
