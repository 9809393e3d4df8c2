// Where the command line gets its token from.
//
// Thread-safe: pure functions; the sources are thread-safe.
#pragma once

#include <string>

#include "client/connection.h"

namespace curator::cli {

struct TokenChoice {
  std::string file;     // its first line, read before each call; a program may renew it
  std::string command;  // a shell command that prints one; run again when a token has expired
};

// Null when nothing is chosen.
client::TokenSource TokenSourceOf(const TokenChoice& choice);

}  // namespace curator::cli
