#include "client/cli/settings/config_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/output/files.h"

namespace curator::cli {
namespace {

constexpr std::array<std::string_view, 9> kKeys = {"server", "as",  "token_file", "token_command", "ca",
                                                   "cert",   "key", "output",     "profile"};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// Takes a text in quotes from the start of `rest`; none where there is none.
std::optional<std::string> TakeText(std::string_view& rest) {
  if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return std::nullopt;
  const char quote = rest.front();
  std::string text;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == quote) {
      rest.remove_prefix(i + 1);
      return text;
    }
    if (quote == '"' && rest[i] == '\\') {
      if (++i == rest.size() || (rest[i] != '"' && rest[i] != '\\')) return std::nullopt;
    }
    text.push_back(rest[i]);
  }
  return std::nullopt;
}

bool IsEndOfLine(std::string_view rest) {
  rest = Trimmed(rest);
  return rest.empty() || rest.front() == '#';
}

std::string Quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text.push_back('\\');
    text.push_back(c);
  }
  return text + "\"";
}

std::string ListOfKeys() {
  std::string list;
  for (const std::string_view key : kKeys) absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(key));
  return list;
}

absl::Status UnknownKey(std::string_view key) {
  if (key == "token" || key == "password") {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", std::string(key),
                     "\" is a secret, which this file does not hold: name the file that has it, "
                     "token_file, or a command that prints it, token_command"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", std::string(key), "\" is no key; there are: ", ListOfKeys()));
}

class ConfigParser {
 public:
  absl::Status Take(std::string_view line) {
    ++line_;
    line = Trimmed(line);
    if (line.empty() || line.front() == '#') return absl::OkStatus();
    return line.front() == '[' ? TakeProfile(line) : TakeEntry(line);
  }
  std::vector<ConfigEntry> entries() && { return std::move(entries_); }
  int line() const { return line_; }

 private:
  absl::Status TakeProfile(std::string_view line) {
    constexpr std::string_view kStart = "[profiles.";
    const size_t end = line.find(']');
    const bool is_profile = line.starts_with(kStart) && end != std::string_view::npos;
    const std::string_view name =
        is_profile ? line.substr(kStart.size(), end - kStart.size()) : std::string_view();
    if (!IsName(name) || !IsEndOfLine(line.substr(end + 1)))
      return absl::InvalidArgumentError("a profile begins with a line such as [profiles.work]");
    profile_ = name;
    if (profiles_.insert(profile_).second) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("the profile ", profile_, " is there twice"));
  }

  absl::Status TakeEntry(std::string_view line) {
    const size_t equals = line.find('=');
    const std::string_view key = Trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || !IsName(key))
      return absl::InvalidArgumentError("this is no line such as server = \"https://curator.example\"");
    if (!IsConfigKey(key)) return UnknownKey(key);
    if (key == "profile" && !profile_.empty())
      return absl::InvalidArgumentError("\"profile\" belongs above all profiles");
    std::string_view rest = Trimmed(line.substr(equals + 1));
    std::optional<std::string> value = TakeText(rest);
    if (!value || !IsEndOfLine(rest))
      return absl::InvalidArgumentError(
          absl::StrCat("the value of ", std::string(key), " is a text in quotes"));
    for (const ConfigEntry& entry : entries_) {
      if (entry.profile == profile_ && entry.key == key)
        return absl::InvalidArgumentError(absl::StrCat("\"", entry.key, "\" is also in line ", entry.line));
    }
    entries_.push_back({profile_, std::string(key), *std::move(value), line_});
    return absl::OkStatus();
  }

  int line_ = 0;
  std::string profile_;
  std::set<std::string> profiles_;
  std::vector<ConfigEntry> entries_;
};

bool Exists(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0;
}

std::vector<std::string> LinesOfFile(const std::string& path) {
  std::vector<std::string> lines;
  if (!Exists(path)) return lines;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Where a new entry of the profile goes: behind its last line, which is the one before the next profile.
size_t EndOfProfile(std::vector<std::string>& lines, const std::string& profile) {
  size_t begin = 0;
  if (!profile.empty()) {
    const std::string heading = "[profiles." + profile + "]";
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return Trimmed(line).starts_with(heading);
    });
    begin = static_cast<size_t>(found - lines.begin()) + 1;
    if (found == lines.end()) {
      if (!lines.empty()) lines.emplace_back();
      lines.push_back(heading);
      return lines.size();
    }
  }
  while (begin < lines.size() && !Trimmed(lines[begin]).starts_with('[')) ++begin;
  while (begin > 0 && Trimmed(lines[begin - 1]).empty()) --begin;
  return begin;
}

absl::Status WriteLines(const std::string& name, const std::vector<std::string>& lines) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(name).parent_path(), failed);
  // Where the name is a link, the link stays and the file is written.
  const std::filesystem::path target = std::filesystem::canonical(name, failed);
  const std::string path = failed ? name : target.string();
  struct stat before = {};
  const bool is_new = stat(path.c_str(), &before) != 0;
  // Whatever the umask is, others do not write it: the file can name a command to run.
  const mode_t mode = is_new ? S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH
                             : before.st_mode & (S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH);
  std::ostringstream unused;
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OutputFile::Create(path, unused));
  for (const std::string& line : lines) file->stream() << line << "\n";
  RETURN_IF_ERROR(file->Commit());
  if (chmod(path.c_str(), mode) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, " cannot be closed to others"));
}

}  // namespace

bool IsConfigKey(std::string_view key) {
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

bool IsIdentityKey(std::string_view key) {
  return key == "as" || key == "token_file" || key == "token_command" || key == "cert" || key == "key";
}

std::string ConfigPathOfUser() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string config = variable("XDG_CONFIG_HOME"); !config.empty())
    return config + "/curator/config.toml";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/curator/config.toml";
}

absl::StatusOr<std::vector<ConfigEntry>> ParseConfig(std::string_view text, const std::string& path) {
  ConfigParser parser;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const absl::Status status = parser.Take(line);
    if (!status.ok())
      return absl::InvalidArgumentError(absl::StrCat(path, ":", parser.line(), ": ", status.message()));
  }
  return std::move(parser).entries();
}

absl::StatusOr<std::vector<ConfigEntry>> ReadConfig(const std::string& path) {
  struct stat facts = {};
  // A service may have no home but /dev/null.
  const bool is_nowhere =
      path.empty() || (stat(path.c_str(), &facts) != 0 && (errno == ENOENT || errno == ENOTDIR));
  if (is_nowhere) return std::vector<ConfigEntry>();
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " can be written by others, and it can name a command to run: chmod go-w it"));
  }
  ASSIGN_OR_RETURN(InputFile file, OpenInput(path));
  std::ostringstream text;
  if (file.stream.peek() != EOF) text << file.stream.rdbuf();
  return ParseConfig(text.str(), path);
}

absl::Status SetInConfig(const std::string& path, const std::string& profile, const std::string& key,
                         const std::string& value) {
  if (path.empty())
    return absl::FailedPreconditionError(
        "neither XDG_CONFIG_HOME nor HOME is set: there is no place for the file");
  if (!IsConfigKey(key)) return UnknownKey(key);
  if (!profile.empty() && !IsName(profile))
    return absl::InvalidArgumentError("a profile's name has letters, digits, _ and -");
  if (value.find_first_of("\n\r") != std::string::npos)
    return absl::InvalidArgumentError("the value is one line");
  ASSIGN_OR_RETURN(const std::vector<ConfigEntry> entries, ReadConfig(path));
  std::vector<std::string> lines = LinesOfFile(path);
  const std::string line = absl::StrCat(key, " = ", Quoted(value));
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const ConfigEntry& entry) {
    return entry.profile == profile && entry.key == key;
  });
  if (found != entries.end()) {
    const auto place = lines.begin() + (found->line - 1);
    if (value.empty()) {
      lines.erase(place);
    } else {
      *place = line;
    }
  } else if (!value.empty()) {
    const size_t end = EndOfProfile(lines, profile);
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(end), line);
  }
  std::string text;
  for (const std::string& each : lines) absl::StrAppend(&text, each, "\n");
  RETURN_IF_ERROR(ParseConfig(text, path).status());
  return WriteLines(path, lines);
}

absl::StatusOr<std::vector<ConfigEntry>> EntriesOf(const std::vector<ConfigEntry>& entries,
                                                   const std::string& profile) {
  std::vector<ConfigEntry> chosen;
  bool has_identity = false;
  for (const ConfigEntry& entry : entries) {
    if (entry.profile != profile || profile.empty()) continue;
    chosen.push_back(entry);
    has_identity = has_identity || IsIdentityKey(entry.key);
  }
  if (chosen.empty() && !profile.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no profile \"", profile,
                                            "\" in the configuration file; see: curator config show"));
  }
  for (const ConfigEntry& entry : entries) {
    const bool is_own = std::any_of(chosen.begin(), chosen.end(),
                                    [&](const ConfigEntry& own) { return own.key == entry.key; });
    if (entry.profile.empty() && !is_own && !(has_identity && IsIdentityKey(entry.key)))
      chosen.push_back(entry);
  }
  return chosen;
}

}  // namespace curator::cli
