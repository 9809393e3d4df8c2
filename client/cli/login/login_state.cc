#include "client/cli/login/login_state.h"

#include <fcntl.h>
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
#include "client/cli/login/json_text.h"

namespace curator::cli {
namespace {

using nlohmann::json;

absl::Status CannotRead(const std::string& path) {
  return absl::DataLossError(absl::StrCat(path, " cannot be read: remove it, and log in again"));
}

// All logins; an empty object where there is no file.
absl::StatusOr<json> ReadAll(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return json::object();
    return CannotRead(path);
  }
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " can be opened by others, and it has tokens of yours: chmod 600 it, or log in again"));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_object()) return document;
  return CannotRead(path);
}

absl::Status WriteAll(const std::string& path, const json& document) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  const std::string new_path = absl::StrCat(path, ".", getpid());
  const std::string text = document.dump(1) + "\n";
  const int file = open(new_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const bool is_written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) close(file);
  if (is_written && rename(new_path.c_str(), path.c_str()) == 0) return absl::OkStatus();
  unlink(new_path.c_str());
  return absl::UnavailableError(absl::StrCat(path, " cannot be written"));
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
  ASSIGN_OR_RETURN(const json document, ReadAll(path_));
  const auto found = document.find(server);
  if (found == document.end()) return std::optional<Login>();
  if (!found->is_object()) return CannotRead(path_);
  Login login{.place = {.issuer = TextOf(*found, "issuer"),
                        .client_id = TextOf(*found, "client_id"),
                        .scope = TextOf(*found, "scope")},
              .issuer_authorities = TextOf(*found, "issuer_authorities"),
              .tokens = {.token = TextOf(*found, "token"), .refresh_token = TextOf(*found, "refresh_token")}};
  if (login.tokens.token.empty()) return CannotRead(path_);
  return std::optional<Login>(std::move(login));
}

absl::Status LoginState::Keep(const std::string& server, const Login& login) const {
  ASSIGN_OR_RETURN(json document, ReadAll(path_));
  document[server] = {{"issuer", login.place.issuer}, {"client_id", login.place.client_id},
                      {"scope", login.place.scope},   {"issuer_authorities", login.issuer_authorities},
                      {"token", login.tokens.token},  {"refresh_token", login.tokens.refresh_token}};
  return WriteAll(path_, document);
}

absl::StatusOr<bool> LoginState::Forget(const std::string& server) const {
  ASSIGN_OR_RETURN(json document, ReadAll(path_));
  if (document.erase(server) == 0) return false;
  RETURN_IF_ERROR(WriteAll(path_, document));
  return true;
}

}  // namespace curator::cli
