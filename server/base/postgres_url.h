// URLs of PostgreSQL databases that users write in command lines and configuration files.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace curator {

// postgresql://USER@HOST:PORT/DATABASE?KEYWORD=VALUE&... with PostgreSQL's keywords. Each part may be empty
// and is percent-encoded unless the comment says otherwise.
struct PostgresUrl {
  std::string user;
  std::string hosts;  // "a:1,b:2"
  std::string database;
  std::string options;                  // of the keyword "options", decoded: "-c name=value"
  std::vector<std::string> parameters;  // the others, "keyword=value"
  std::string where;                    // for messages: "host db.example:5432"
};

// Errors: INVALID_ARGUMENT (another scheme; a password, which processes of other users could read in the
// command line), as the rest of a sentence that begins with what the URL is for. No message contains any part
// of the URL but the hosts and ports.
absl::StatusOr<PostgresUrl> ParsePostgresUrl(std::string_view url);

// The URL without its options, with `defaults` ("keyword=value&...") before its parameters, which may
// override them. It ends in its parameters: more can be appended after "&".
std::string UrlWithDefaults(const PostgresUrl& url, std::string_view defaults);

// `text` as the value of a parameter.
std::string PercentEncoded(std::string_view text);

}  // namespace curator
