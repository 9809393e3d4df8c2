// The configuration file of `curator`: which server it asks, as whom, and how it prints. It has no secrets.
//
//   # A comment.
//   server = "https://curator.example"
//   token_file = "/home/ana/.curator-token"
//   profile = "work"              # used where none is named; only above all profiles
//   [profiles.work]
//   output = "json"
//
// A part of TOML: comments, keys with texts in double quotes (\" and \\ inside) or single ones, profiles.
// Thread-safe: pure functions and plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace curator::cli {

struct ConfigEntry {
  std::string profile;  // empty above all profiles
  std::string key;
  std::string value;
  int line = 0;  // 1 is the first
};

// Each is a global option's name, with '_' for '-'; beside them only "profile".
bool IsConfigKey(std::string_view key);

// $XDG_CONFIG_HOME/curator/config.toml, or below ~/.config; empty where the environment names neither.
std::string ConfigPathOfUser();

// INVALID_ARGUMENT begins with "PATH:LINE: ": for an unknown key, one that occurs twice in a profile, and
// what is no line of such a file.
absl::StatusOr<std::vector<ConfigEntry>> ParseConfig(std::string_view text, const std::string& path);

// No entries where there is no file. FAILED_PRECONDITION when others than its owner may write it: it can name
// a command to run.
absl::StatusOr<std::vector<ConfigEntry>> ReadConfig(const std::string& path);

// Writes the file with this value in `profile` (empty: above all), or without the key where the value is
// empty; comments stay. Makes the folder. Errors of ReadConfig(), and INVALID_ARGUMENT for an unknown key.
absl::Status SetInConfig(const std::string& path, const std::string& profile, const std::string& key,
                         const std::string& value);

// The entries that count with `profile`: its own, and those above all profiles whose key it does not have.
// Who one is comes from one place: where the profile has a key of that kind, none of them counts from above.
// NOT_FOUND where the file has no such profile; an empty name is none.
absl::StatusOr<std::vector<ConfigEntry>> EntriesOf(const std::vector<ConfigEntry>& entries,
                                                   const std::string& profile);

// Whether a key says who one is: as, token_file, token_command, cert and key.
bool IsIdentityKey(std::string_view key);

}  // namespace curator::cli
