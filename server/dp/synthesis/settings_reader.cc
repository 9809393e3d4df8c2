#include "dp/synthesis/settings_reader.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"

namespace curator::dp {
namespace {

std::string FieldOf(const std::string& key) {
  return absl::StrCat("settings.", key);
}

}  // namespace

absl::StatusOr<int64_t> SettingsReader::Integer(const std::string& key, int64_t absent, int64_t least,
                                                int64_t most) {
  int64_t value = absent;
  const auto found = settings_.find(key);
  if (found != settings_.end() &&
      (!absl::SimpleAtoi(found->second, &value) || value < least || value > most)) {
    return InvalidField(FieldOf(key), absl::StrCat("must be a whole number from ", least, " to ", most));
  }
  used_[key] = absl::StrCat(value);
  return value;
}

absl::StatusOr<double> SettingsReader::Real(const std::string& key, double absent, double least,
                                            double most) {
  double value = absent;
  const auto found = settings_.find(key);
  if (found != settings_.end() &&
      (!absl::SimpleAtod(found->second, &value) || !(value >= least && value <= most))) {
    return InvalidField(FieldOf(key), absl::StrCat("must be a number from ", least, " to ", most));
  }
  used_[key] = found != settings_.end() ? found->second : absl::StrCat(value);
  return value;
}

absl::StatusOr<std::string> SettingsReader::Choice(const std::string& key,
                                                   const std::vector<std::string>& choices) {
  const auto found = settings_.find(key);
  const std::string value = found == settings_.end() ? choices.front() : found->second;
  if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    return InvalidField(FieldOf(key), absl::StrCat("must be one of: ", absl::StrJoin(choices, ", ")));
  }
  used_[key] = value;
  return value;
}

std::string SettingsReader::Text(const std::string& key, const std::string& absent) {
  const auto found = settings_.find(key);
  return used_[key] = found == settings_.end() ? absent : found->second;
}

absl::Status SettingsReader::Finish() const {
  for (const auto& [key, value] : settings_) {
    if (!used_.contains(key)) return InvalidField(FieldOf(key), "is not a setting of this method");
  }
  return absl::OkStatus();
}

}  // namespace curator::dp
