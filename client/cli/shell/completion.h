// What may follow on an unfinished command line, from the same tree of commands as their help; and the
// scripts by which shells ask for it.
//
// Thread-safe: pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace curator::cli {

struct Completion {
  enum class Also { kNothing, kFiles, kDatasets };
  std::vector<std::string> words;  // each begins with what was typed
  Also also = Also::kNothing;
  std::vector<std::string> globals;  // the options of `app` itself among the words, with their values
};

// `words` follow the program's name; the last one is being typed, and may be empty. Bash cuts words at '='
// and ':'; these are put together again.
Completion Complete(const CLI::App& app, const std::vector<std::string>& words);

// The first word of a command line by which the scripts ask: the words of the completion follow, one a line,
// then ":files" where names of files may follow.
inline constexpr char kCompletionWord[] = "__complete";

// For bash, zsh or fish; empty for another shell.
std::string CompletionScript(const std::string& shell);

}  // namespace curator::cli
