// The subcommands of curatord that set up who may call it, on its own host: the first administrator, and the
// edge's configuration.
//
// Each returns the exit status: 0 done, 1 failed.
#pragma once

#include <ostream>
#include <string>

#include "config/server_config.h"

namespace curator {

struct BootstrapOptions {
  std::string principal;  // the administrator's name
  std::string issuer;     // with `subject`: an OIDC identity
  std::string subject;
  std::string certificate;  // or: the URI of a client certificate
  bool break_glass = false;
};

// Prints a one-time code with which the identity that is named becomes an administrator (`curator enrol`).
// Refuses when there is an active one, unless `break_glass`. The server may be running.
int RunBootstrap(const config::ServerConfig& config, const BootstrapOptions& options, std::ostream& out,
                 std::ostream& error);

struct EdgeOptions {
  std::string bind;         // where haproxy listens: "*:443"
  std::string certificate;  // its certificate and key in one PEM, or a folder of them
  std::string gate = {};    // where browsers' requests go, "unix:/PATH"; empty: they are answered with 404
  std::string user = {};    // which it becomes once it listens; empty: it stays the one that starts it
};

// Prints haproxy's configuration for the edge of `config`. Makes the edge's secret where there is none yet.
int RunEdgeConfig(const config::ServerConfig& config, const EdgeOptions& options, std::ostream& out,
                  std::ostream& error);

}  // namespace curator
