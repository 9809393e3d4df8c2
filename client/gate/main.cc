// curator-gate: serves the dashboard of a Curator server to browsers.
#include <sys/prctl.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "client/gate/gate.h"
#include "client/gate/http_server.h"
#include "client/gate/settings.h"
#include "client/https/https.h"

namespace {

using curator::gate::Gate;
using curator::gate::GateOptions;
using curator::gate::HttpListener;
using curator::gate::HttpServer;
using curator::gate::LoginProvider;
using curator::gate::ProviderSettings;
using curator::gate::Settings;

struct Flags {
  std::string config;
  bool is_development = false;
  std::string server = "127.0.0.1:7878";
  std::string listen = "127.0.0.1:7880";
  std::string metrics_listen;
};

void Log(std::string_view level, std::string_view event, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json line = {
      {"time", absl::FormatTime(absl::RFC3339_full, absl::Now(), absl::UTCTimeZone())},
      {"level", level},
      {"event", event}};
  line.update(fields);
  std::cerr << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" << std::flush;
}

// Each open page has a descriptor; and a core would contain tokens.
void PrepareProcess() {
  rlimit descriptors = {};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  prctl(PR_SET_DUMPABLE, 0);
  std::signal(SIGPIPE, SIG_IGN);
}

absl::StatusOr<std::string> ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::InvalidArgumentError(path + ": cannot be read");
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

absl::StatusOr<LoginProvider> ProviderOf(const ProviderSettings& settings) {
  LoginProvider provider{.alias = settings.alias,
                         .issuer = settings.issuer,
                         .client_id = settings.client_id,
                         .client_secret = {},
                         .scope = settings.scope,
                         .transport = {}};
  if (!settings.client_secret_file.empty()) {
    ASSIGN_OR_RETURN(const std::string secret, ContentOf(settings.client_secret_file));
    provider.client_secret = std::string(absl::StripAsciiWhitespace(secret));
    if (provider.client_secret.empty()) {
      return absl::InvalidArgumentError(settings.client_secret_file + ": has no secret");
    }
  }
  const curator::https::Options options{.authorities = settings.authorities};
  provider.transport = {
      .get = [options](const std::string& url) { return curator::https::Get(url, options); },
      .post =
          [options](const std::string& url, const curator::https::Fields& fields) {
            return curator::https::PostForm(url, fields, options);
          }};
  return provider;
}

absl::StatusOr<Settings> SettingsOf(const Flags& flags) {
  if (flags.is_development) {
    return Settings{.listen = flags.listen,
                    .origin = {},
                    .server = flags.server,
                    .metrics_listen = flags.metrics_listen,
                    .logins = {}};
  }
  ASSIGN_OR_RETURN(const std::string text, ContentOf(flags.config));
  absl::StatusOr<Settings> settings = curator::gate::ParseSettings(text);
  if (settings.ok()) return settings;
  return absl::InvalidArgumentError(absl::StrCat(flags.config, ": ", settings.status().message()));
}

// The gate's handlers need its address, which a free port decides: they find the gate when a request comes.
absl::Status Serve(const Flags& flags, const sigset_t& signals) {
  ASSIGN_OR_RETURN(const Settings settings, SettingsOf(flags));
  GateOptions options{.server = settings.server, .origins = {}, .is_development = flags.is_development};
  for (const ProviderSettings& login : settings.logins) {
    ASSIGN_OR_RETURN(options.providers.emplace_back(), ProviderOf(login));
  }
  options.log = [](std::string_view event, std::string_view detail) {
    Log("warning", event, {{"detail", detail}});
  };
  std::unique_ptr<Gate> gate;
  absl::Mutex mutex;
  const auto present = [&] {
    const absl::MutexLock lock(&mutex);
    return gate.get();
  };
  std::vector<HttpListener> listeners = {
      {.address = settings.listen, .handler = [&](auto request, auto exchange) {
         present()->HandleBrowser(std::move(request), std::move(exchange));
       }}};
  if (!settings.metrics_listen.empty()) {
    listeners.push_back(
        {.address = settings.metrics_listen,
         .handler = [&](auto request,
                        auto exchange) { present()->HandleLocal(std::move(request), std::move(exchange)); },
         .member = "metrics_listen"});
  }
  std::unique_ptr<HttpServer> server;
  {
    const absl::MutexLock lock(&mutex);
    ASSIGN_OR_RETURN(server, HttpServer::Start(std::move(listeners)));
    const std::string& address = server->addresses().front();
    options.origins =
        flags.is_development
            ? std::vector{"http://" + address,
                          absl::StrCat("http://localhost:", address.substr(address.rfind(':') + 1))}
            : std::vector{settings.origin};
    gate = std::make_unique<Gate>(options);
  }
  Log("info", "serving",
      {{"address", server->addresses().front()},
       {"metrics_address", server->addresses().size() > 1 ? server->addresses()[1] : ""},
       {"url", options.origins.front()}});
  int signal = 0;
  sigwait(&signals, &signal);
  gate->Close();
  server.reset();
  Log("info", "stopped", {{"signal", signal}});
  return absl::OkStatus();
}

// The main thread waits for signals: no code runs in a signal handler.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app{"curator-gate: serves the dashboard of a Curator server to browsers"};
  auto* config =
      app.add_option("--config", flags.config, "File with the addresses, the origin and the logins");
  auto* development =
      app.add_flag("--dev", flags.is_development,
                   "For a server in development mode: sign in by name, on loopback, without TLS");
  config->excludes(development);
  app.add_option("--server", flags.server, "With --dev: HOST:PORT of the server")
      ->capture_default_str()
      ->excludes(config);
  app.add_option("--listen", flags.listen, "With --dev: 127.0.0.1:PORT, 0 for any free one")
      ->capture_default_str()
      ->excludes(config);
  app.add_option("--metrics-listen", flags.metrics_listen,
                 "With --dev: 127.0.0.1:PORT for /metrics and /healthz")
      ->excludes(config);
  app.set_version_flag("--version", CURATOR_VERSION);
  CLI11_PARSE(app, argc, argv);
  if (flags.config.empty() && !flags.is_development) {
    std::cerr << "curator-gate: give --config FILE, or --dev\n";
    return 2;
  }
  PrepareProcess();
  const sigset_t signals = BlockSignals();
  const absl::Status status = Serve(flags, signals);
  if (status.ok()) return 0;
  std::cerr << "curator-gate: " << status.message() << "\n";
  return 1;
}
