#include "client/cli/login/login_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/oidc/issuer.h"

namespace curator::cli {
namespace {

using Json = nlohmann::json;

absl::Status CannotRead(const std::string& path) {
  return absl::DataLossError(absl::StrCat(path, " cannot be read: remove it, and log in again"));
}

// All logins; an empty object where there is no file.
absl::StatusOr<Json> ReadAll(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return Json::object();
    return CannotRead(path);
  }
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        " can be opened by others, and it has tokens of yours: chmod 600 it, or remove it and log in again"));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_object()) return document;
  return CannotRead(path);
}

// Under the lock, so that the new file is nobody else's.
absl::Status WriteAll(const std::string& path, const Json& document) {
  const std::string new_path = path + ".new";
  const std::string text = document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  unlink(new_path.c_str());
  const int file = open(new_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const bool is_written = file >= 0 &&
                          write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                          fsync(file) == 0;
  if (file >= 0) close(file);
  if (is_written && rename(new_path.c_str(), path.c_str()) == 0) return absl::OkStatus();
  unlink(new_path.c_str());
  return absl::UnavailableError(absl::StrCat(path, " cannot be written"));
}

// Held until it is destroyed.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)) {
    is_held_ = file_ >= 0 && flock(file_, LOCK_EX) == 0;
  }
  ~FileLock() {
    if (file_ >= 0) close(file_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool is_held() const { return is_held_; }

 private:
  int file_;
  bool is_held_ = false;
};

absl::StatusOr<std::optional<Login>> LoginIn(const Json& document, const std::string& server,
                                             const std::string& path) {
  const auto found = document.find(server);
  if (found == document.end()) return std::optional<Login>();
  if (!found->is_object()) return CannotRead(path);
  const Json is_id_token = found->value("is_id_token", Json(true));
  Login login{.place = {.issuer = oidc::TextOf(*found, "issuer"),
                        .client_id = oidc::TextOf(*found, "client_id"),
                        .scope = oidc::TextOf(*found, "scope")},
              .issuer_authorities = oidc::TextOf(*found, "issuer_authorities"),
              .tokens = {.token = oidc::TextOf(*found, "token"),
                         .refresh_token = oidc::TextOf(*found, "refresh_token"),
                         .is_id_token = is_id_token != Json(false)}};
  if (login.tokens.token.empty()) return CannotRead(path);
  return std::optional<Login>(std::move(login));
}

Json LoginJson(const Login& login) {
  return {{"issuer", login.place.issuer},
          {"client_id", login.place.client_id},
          {"scope", login.place.scope},
          {"issuer_authorities", login.issuer_authorities},
          {"token", login.tokens.token},
          {"refresh_token", login.tokens.refresh_token},
          {"is_id_token", login.tokens.is_id_token}};
}

}  // namespace

std::optional<LoginState> LoginState::OfUser() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string state = variable("XDG_STATE_HOME");
  if (!state.empty()) return LoginState(state + "/curator/login.json");
  const std::string home = variable("HOME");
  if (home.empty()) return std::nullopt;
  return LoginState(home + "/.local/state/curator/login.json");
}

absl::StatusOr<std::optional<Login>> LoginState::Find(const std::string& server) const {
  ASSIGN_OR_RETURN(const Json document, ReadAll(path_));
  return LoginIn(document, server, path_);
}

absl::Status LoginState::Update(const std::string& server, const Change& change) const {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), failed);
  const FileLock lock(path_ + ".lock");
  if (!lock.is_held()) return absl::UnavailableError(absl::StrCat(path_, ".lock cannot be locked"));
  ASSIGN_OR_RETURN(Json document, ReadAll(path_));
  ASSIGN_OR_RETURN(std::optional<Login> login, LoginIn(document, server, path_));
  const bool was_there = login.has_value();
  RETURN_IF_ERROR(change(login));
  if (login.has_value()) document[server] = LoginJson(*login);
  if (!login.has_value()) document.erase(server);
  return was_there || login.has_value() ? WriteAll(path_, document) : absl::OkStatus();
}

absl::Status LoginState::Keep(const std::string& server, const Login& login) const {
  return Update(server, [&](std::optional<Login>& kept) {
    kept = login;
    return absl::OkStatus();
  });
}

absl::StatusOr<bool> LoginState::Forget(const std::string& server) const {
  bool was_there = false;
  RETURN_IF_ERROR(Update(server, [&](std::optional<Login>& kept) {
    was_there = kept.has_value();
    kept.reset();
    return absl::OkStatus();
  }));
  return was_there;
}

}  // namespace curator::cli
