#include "client/cli/token_source.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <utility>

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

}  // namespace

client::TokenSource TokenSourceOf(const TokenChoice& choice) {
  if (!choice.file.empty()) {
    return [path = choice.file](bool) { return TokenInFile(path); };
  }
  if (choice.command.empty()) return nullptr;
  const auto tokens = std::make_shared<CommandTokens>(choice.command);
  return [tokens](bool has_expired) { return tokens->Next(has_expired); };
}

}  // namespace curator::cli
