// What `curator login` keeps: for each server, where the user logged in and the tokens from there. One file
// that only the user can read, $XDG_STATE_HOME/curator/login.json.
//
// Thread-safe, also between programs: they change the file one after the other, under a lock on
// login.json.lock.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

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
  // Changes what is kept for the server, which is none before its first login, and after a change to none. An
  // error of `change` leaves the file as it was. Blocks while another program does this. Errors: those of
  // `change` and of Find(), UNAVAILABLE when the file cannot be written.
  using Change = std::function<absl::Status(std::optional<Login>& login)>;
  absl::Status Update(const std::string& server, const Change& change) const;
  // In place of an earlier one.
  absl::Status Keep(const std::string& server, const Login& login) const;
  // Whether there was one.
  absl::StatusOr<bool> Forget(const std::string& server) const;

 private:
  std::string path_;
};

}  // namespace curator::cli
