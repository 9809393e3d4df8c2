// The options that the fields of a request come from, so that an error names what its reader typed: the
// server says "limit.delta", who typed the command knows "--delta".
//
// Not thread-safe: belongs to one command.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace curator::cli {

class FieldOptions {
 public:
  FieldOptions() = default;
  // The options of a parsed command, found by the names of fields: "limit.delta" is "--delta", and
  // "event.laplace.scale" of a command that was given --event is "--event: laplace.scale".
  explicit FieldOptions(const CLI::App& command);

  // `field` and all below it come from the option that is shown as `words`, such as "--where 'sex = F'".
  // Overrides shorter fields, and what is found by names.
  void Add(std::string field, std::string words);
  // The same of a file: its own path, `place`, and what lies below the field, follow the words ("--file
  // w.json: query_sets[1].ranges"). Without a place: "--set rounds".
  void AddFile(std::string field, std::string words, std::string place);

  // A message about `field`, or about what lies below it and has no lines of its own, ends with these lines:
  // the place in what was typed.
  void AddPlace(std::string field, std::string lines);

  // What a message says instead of `field`; the field where its option is unknown.
  std::string WordsFor(std::string_view field) const;

  // The same status, whose message begins with the words for its invalid field and ends with its place.
  absl::Status Translated(const absl::Status& status) const;

 private:
  struct Known {
    std::string field;
    std::string words;
    std::optional<std::string> place;
  };
  struct Option {
    std::string component;  // of a field's path: "max_error"
    std::string words;      // "--max-error"
    bool is_given = false;
  };

  static const Known* LongestOf(const std::vector<Known>& known, std::string_view field);
  std::optional<std::string> ByName(std::string_view field, bool only_given) const;

  std::vector<Known> known_;
  std::vector<Known> places_;
  std::vector<Option> options_;
};

}  // namespace curator::cli
