// What `curator login` keeps: for each server, where the user logged in and the tokens from there. One file
// that only the user can read, $XDG_STATE_HOME/curator/login.json.
//
// Not thread-safe; programs that run at the same time do not lose each other's logins at other servers,
// unless both write in the same moment.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/login/device_flow.h"

namespace curator::cli {

struct Login {
  LoginPlace place;
  std::string issuer_authorities;  // PEM file; empty: the system's
  Tokens tokens;
};

class LoginState {
 public:
  explicit LoginState(std::string path) : path_(std::move(path)) {}
  // By $XDG_STATE_HOME, else $HOME/.local/state; none where neither is set.
  static std::optional<LoginState> OfUser();

  const std::string& path() const { return path_; }

  // None when nobody has logged in at the server. DATA_LOSS for a file that cannot be read as one of these;
  // FAILED_PRECONDITION for one that others can read.
  absl::StatusOr<std::optional<Login>> Find(const std::string& server) const;
  // In place of an earlier one.
  absl::Status Keep(const std::string& server, const Login& login) const;
  // Whether there was one.
  absl::StatusOr<bool> Forget(const std::string& server) const;

 private:
  std::string path_;
};

}  // namespace curator::cli
