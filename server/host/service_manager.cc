#include "host/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace curator::host {
namespace {

absl::Status Send(std::string_view state) {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr || *name == '\0') return absl::OkStatus();
  const std::string_view path = name;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const bool is_named = path.front() == '/' || path.front() == '@';
  if (!is_named || path.size() >= sizeof(address.sun_path))
    return absl::InvalidArgumentError("NOTIFY_SOCKET is not the path of a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  // An abstract name.
  if (path.front() == '@') address.sun_path[0] = '\0';
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return absl::UnavailableError("no socket for systemd");
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const ssize_t sent = ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  ::close(socket);
  if (sent == static_cast<ssize_t>(state.size())) return absl::OkStatus();
  return absl::UnavailableError("systemd does not read NOTIFY_SOCKET");
}

}  // namespace

absl::Status ReportReady() {
  return Send("READY=1");
}

absl::Status ReportStopping() {
  return Send("STOPPING=1");
}

}  // namespace curator::host
