#include "client/cli/token_source.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

absl::StatusOr<std::string> FirstLine(const std::string& text, const std::string& source) {
  std::string line = text.substr(0, text.find('\n'));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  if (!line.empty()) return line;
  return absl::InvalidArgumentError("token: " + source + " has no token in its first line");
}

absl::StatusOr<std::string> TokenInFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::InvalidArgumentError("token: " + path + " cannot be read");
  std::string line;
  std::getline(file, line);
  return FirstLine(line, path);
}

absl::StatusOr<std::string> TokenOfCommand(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return absl::InvalidArgumentError("token: the command cannot be run: " + command);
  std::string output;
  std::array<char, 4096> piece = {};
  for (size_t read = 1; read > 0;) {
    read = fread(piece.data(), 1, piece.size(), pipe);
    output.append(piece.data(), read);
  }
  if (pclose(pipe) == 0) return FirstLine(output, "the output of the command");
  return absl::InvalidArgumentError("token: the command has failed: " + command);
}

// The command's last token, until the server says that it has expired.
class CommandTokens {
 public:
  explicit CommandTokens(std::string command) : command_(std::move(command)) {}

  absl::StatusOr<std::string> Next(bool has_expired) {
    const std::scoped_lock lock(mutex_);
    if (!token_.empty() && !has_expired) return token_;
    absl::StatusOr<std::string> token = TokenOfCommand(command_);
    if (token.ok()) token_ = *token;
    return token;
  }

 private:
  const std::string command_;
  std::mutex mutex_;
  std::string token_;
};

// The login's last token, until the server says that it has expired. Of several programs one renews it, and
// the others take what it got: many issuers end a login whose refresh token is used twice.
class LoginTokens {
 public:
  LoginTokens(LoginState state, std::string server, Login login, MakeLoginParts parts)
      : state_(std::move(state)),
        server_(std::move(server)),
        parts_(std::move(parts)),
        login_(std::move(login)) {}

  absl::StatusOr<std::string> Next(bool has_expired) {
    const std::scoped_lock lock(mutex_);
    if (!has_expired) return login_.tokens.token;
    bool has_renewed = false;
    const absl::Status kept = state_.Update(server_, [&](std::optional<Login>& in_file) -> absl::Status {
      RETURN_IF_ERROR(CheckIsSame(in_file));
      if (in_file->tokens.token == in_file_) {
        ASSIGN_OR_RETURN(login_.tokens, Renewed());
        has_renewed = true;
        in_file->tokens = login_.tokens;
      }
      login_.tokens = in_file->tokens;
      return absl::OkStatus();
    });
    if (kept.ok()) in_file_ = login_.tokens.token;
    // What was renewed and cannot be kept serves this program to its end.
    if (!kept.ok() && !has_renewed) return kept;
    return login_.tokens.token;
  }

 private:
  // The login that this program began with.
  absl::Status CheckIsSame(const std::optional<Login>& in_file) const {
    const bool is_same = in_file.has_value() && in_file->place.issuer == login_.place.issuer &&
                         in_file->place.client_id == login_.place.client_id;
    return is_same ? absl::OkStatus() : LoginHasEnded();
  }
  absl::StatusOr<Tokens> Renewed() const {
    if (login_.tokens.refresh_token.empty()) return LoginHasEnded();
    return Renew(login_.place, login_.tokens, parts_(login_.issuer_authorities));
  }

  const LoginState state_;
  const std::string server_;
  const MakeLoginParts parts_;
  std::mutex mutex_;
  Login login_;
  std::string in_file_ = login_.tokens.token;  // the token that was last read from the file or written to it
};

}  // namespace

LoginParts PartsOfLogin(const std::string& authorities, std::ostream& out) {
  const https::Options options{.authorities = authorities};
  return {.get = [options](const std::string& url) { return https::Get(url, options); },
          .post = [options](const std::string& url,
                            const https::Fields& fields) { return https::PostForm(url, fields, options); },
          .now = absl::Now,
          .sleep = absl::SleepFor,
          .show =
              [&out](const std::string& url, const std::string& code) {
                // The issuer's address may be the server's word. In one piece, for who reads it as it comes.
                out << Printable("Open " + url + " in a browser and enter the code " + code) + "\n"
                    << std::flush;
              }};
}

client::TokenSource TokenSourceOfLogin(const std::string& server, const LoginState& state,
                                       const MakeLoginParts& parts) {
  if (!client::TakesTokens(server)) return nullptr;
  absl::StatusOr<std::optional<Login>> login = state.Find(server);
  // Commands that ask the server for nothing go on.
  if (!login.ok()) return [status = login.status()](bool) { return status; };
  if (!login->has_value()) return nullptr;
  const auto tokens = std::make_shared<LoginTokens>(state, server, **std::move(login), parts);
  return [tokens](bool has_expired) { return tokens->Next(has_expired); };
}

client::TokenSource TokenSourceOf(const TokenChoice& choice) {
  if (!choice.file.empty()) {
    return [path = choice.file](bool) { return TokenInFile(path); };
  }
  if (choice.command.empty()) return nullptr;
  const auto tokens = std::make_shared<CommandTokens>(choice.command);
  return [tokens](bool has_expired) { return tokens->Next(has_expired); };
}

}  // namespace curator::cli
