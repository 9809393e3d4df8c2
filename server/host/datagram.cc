#include "host/datagram.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"

namespace curator::host {

absl::Status SendDatagram(std::string_view name, std::string_view text, WhenFull when_full) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (name.empty() || name.size() >= sizeof(address.sun_path))
    return absl::InvalidArgumentError(absl::StrCat("'", std::string(name), "' is no name of a socket"));
  std::ranges::copy(name, address.sun_path);
  if (name.front() == '@') address.sun_path[0] = '\0';
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return absl::UnavailableError("no socket can be made");
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const int flags = MSG_NOSIGNAL | (when_full == WhenFull::kFail ? MSG_DONTWAIT : 0);
  const ssize_t sent =
      ::sendto(socket, text.data(), text.size(), flags, reinterpret_cast<const sockaddr*>(&address), length);
  ::close(socket);
  if (sent == static_cast<ssize_t>(text.size())) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("nobody reads the socket ", std::string(name)));
}

}  // namespace curator::host
