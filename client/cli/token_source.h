// Where the command line gets its token from.
//
// Thread-safe: pure functions; the sources are thread-safe.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/login/device_flow.h"
#include "client/cli/login/login_state.h"
#include "client/connection.h"

namespace curator::cli {

struct TokenChoice {
  std::string file;     // its first line, read before each call; a program may renew it
  std::string command;  // a shell command that prints one; run again when a token has expired
};

// Null when nothing is chosen.
client::TokenSource TokenSourceOf(const TokenChoice& choice);

// How a login reaches its issuer, whose certificate these authorities sign.
using MakeLoginParts = std::function<LoginParts(const std::string& authorities)>;

// The token of the user's login at the server, renewed when it has expired; null where there is none, and
// for a server that takes no tokens (client/connection.h). Where the file of the logins cannot be read, the
// source gives that error.
client::TokenSource TokenSourceOfLogin(const std::string& server, const LoginState& state,
                                       const MakeLoginParts& parts);

// Over HTTPS; says to `out` where the user has to go.
LoginParts PartsOfLogin(const std::string& authorities, std::ostream& out);

}  // namespace curator::cli
