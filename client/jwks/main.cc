// curator-jwks: fetches the keys of the issuers that a server trusts, and writes them into files that the
// server reads. It runs under a user of its own: the server with the records connects to no issuer.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/clock.h"
#include "client/https/https.h"
#include "client/jwks/refresher.h"

namespace {

using curator::jwks::Refresher;
using curator::jwks::Settings;

void Log(std::string_view level, std::string_view event, std::string_view issuer, std::string_view detail) {
  const nlohmann::ordered_json line = {
      {"time", absl::FormatTime(absl::RFC3339_full, absl::Now(), absl::UTCTimeZone())},
      {"level", level},
      {"event", event},
      {"issuer", issuer},
      {"detail", detail}};
  // An issuer's answer, which a detail may quote, need not be UTF-8.
  std::cerr << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" << std::flush;
}

// A socket that the server's group can send to; negative where there is none.
int Listen(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty()) return -1;
  std::ranges::copy(path, address.sun_path);
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct stat found = {};
  if (stat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) unlink(path.c_str());
  const bool is_bound =
      descriptor >= 0 && bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  if (is_bound && chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) == 0) return descriptor;
  Log("error", "cannot_listen", "", path);
  std::exit(1);
}

// Waits until `next`, and for what the server asks for until then.
void Wait(int descriptor, absl::Time next, Refresher& refresher) {
  const absl::Duration patience = std::clamp(next - absl::Now(), absl::ZeroDuration(), absl::Hours(1));
  pollfd wanted = {.fd = descriptor, .events = POLLIN, .revents = 0};
  if (poll(&wanted, 1, static_cast<int>(absl::ToInt64Milliseconds(patience)) + 1) <= 0) return;
  std::array<char, 64> alias = {};
  const ssize_t length = recv(descriptor, alias.data(), alias.size(), 0);
  if (length > 0) refresher.Ask({alias.data(), static_cast<size_t>(length)});
}

int Run(const Settings& settings, bool is_once) {
  bool is_whole = true;
  Refresher refresher(
      settings, {.fetch =
                     [&settings](const std::string& url) {
                       return curator::https::GetBody(url, {.authorities = settings.authorities});
                     },
                 .now = absl::Now,
                 .report =
                     [&is_whole](std::string_view alias, const absl::Status& status) {
                       is_whole = is_whole && status.ok();
                       Log(status.ok() ? "info" : "error", status.ok() ? "keys_fetched" : "keys_not_fetched",
                           alias, std::string(status.message()));
                     }});
  if (is_once) {
    refresher.Run();
    return is_whole ? 0 : 1;
  }
  const int descriptor = Listen(settings.wake_socket);
  while (true) Wait(descriptor, refresher.Run(), refresher);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // an issuer may close a connection while it is written to
  std::string path;
  bool is_once = false;
  CLI::App flags{"curator-jwks: fetches the keys of the issuers that a Curator server trusts"};
  flags.add_option("--config", path, "File with the folder, the issuers, and how often")->required();
  flags.add_flag("--once", is_once, "Fetch once and exit: 0 when all keys were fetched");
  flags.set_version_flag("--version", CURATOR_VERSION);
  CLI11_PARSE(flags, argc, argv);
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const absl::StatusOr<Settings> settings = curator::jwks::ParseSettings(text);
  if (!file || !settings.ok()) {
    std::cerr << "curator-jwks: " << path << ": "
              << (file ? std::string(settings.status().message()) : "cannot be read") << "\n";
    return 1;
  }
  return Run(*settings, is_once);
}
