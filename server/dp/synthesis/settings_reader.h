// Reads a request's settings: text by key, each with a default, all others refused.
//
// Not thread-safe: one request, one reader.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator::dp {

class SettingsReader {
 public:
  // `settings` must outlive it.
  explicit SettingsReader(const std::map<std::string, std::string>& settings) : settings_(settings) {}

  // The whole number of `key`, or `absent` when it is not set. Errors: INVALID_ARGUMENT ("settings.KEY")
  // unless it is a number from `least` to `most`.
  absl::StatusOr<int64_t> Integer(const std::string& key, int64_t absent, int64_t least, int64_t most);

  // The decimal number of `key`, likewise, from `least` to `most`.
  absl::StatusOr<double> Real(const std::string& key, double absent, double least, double most);

  // One of `choices`, the first one when it is not set.
  absl::StatusOr<std::string> Choice(const std::string& key, const std::vector<std::string>& choices);

  // The text of `key` as it was written, or `absent` when it is not set.
  std::string Text(const std::string& key, const std::string& absent = "");

  // INVALID_ARGUMENT for a key that nobody has asked for.
  absl::Status Finish() const;

  // Every key that was asked for, with the value in use.
  const std::map<std::string, std::string>& used() const { return used_; }

 private:
  const std::map<std::string, std::string>& settings_;
  std::map<std::string, std::string> used_;
};

// So many percent of `units`, rounded down, without overflow for `percent` from 0 to 100.
inline int64_t Percent(int64_t units, int64_t percent) {
  return units / 100 * percent + units % 100 * percent / 100;
}

}  // namespace curator::dp
