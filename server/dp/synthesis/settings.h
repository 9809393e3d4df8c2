// The settings of a method: one table from which clients get help and requests are read.
//
// Thread-safe but for SettingsReader: plain values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"

namespace curator::dp {

// Both bounds are allowed.
struct IntegerRange {
  int64_t least = 0;
  int64_t most = 0;
};
struct RealRange {
  double least = 0;
  double most = 0;
};

// Names of choices, in the order of the help.
using ChoiceNames = std::vector<std::string>;

struct Setting {
  std::string key;
  std::string summary;
  std::string default_value;  // as displayed, e.g. "chosen from the workload"
  // The value of an absent setting, unless it follows from the request.
  std::optional<std::string> fixed_value;
  // None: any text, or a number whose range follows from the request.
  std::variant<std::monostate, IntegerRange, RealRange, ChoiceNames> allowed;
};

// Settings with a fixed default and range, which the help repeats.
Setting IntegerSetting(std::string key, std::string_view help, int64_t fixed, IntegerRange range);
Setting RealSetting(std::string key, std::string_view help, double fixed, RealRange range);

// Numbers whose default follows from the request: `default_text` describes it. Without `range` the range
// follows from the request, too.
Setting IntegerSetting(std::string key, std::string_view help, std::string default_text,
                       std::optional<IntegerRange> range = std::nullopt);
Setting RealSetting(std::string key, std::string_view help, std::string default_text,
                    std::optional<RealRange> range = std::nullopt);

// Any text. `default_text` displays an empty default.
Setting TextSetting(std::string key, std::string_view help, std::string fixed, std::string default_text = "");

// One of the names. Without `default_text` the first one is the default.
Setting NameSetting(std::string key, std::string_view help, ChoiceNames names, std::string default_text = "");

// A value of an enum and its name in requests.
template <typename Value>
struct NamedValue {
  std::string_view name;
  Value value;
};
template <typename Value, size_t N>
using Choices = std::array<NamedValue<Value>, N>;

template <typename Value, size_t N>
std::string NameOf(const Choices<Value, N>& choices, Value value) {
  for (const NamedValue<Value>& choice : choices) {
    if (choice.value == value) return std::string(choice.name);
  }
  return std::string();
}

template <typename Value, size_t N>
Setting ChoiceSetting(std::string key, std::string_view help, const Choices<Value, N>& choices,
                      std::string default_text = "") {
  ChoiceNames names;
  for (const NamedValue<Value>& choice : choices) names.emplace_back(choice.name);
  return NameSetting(std::move(key), help, std::move(names), std::move(default_text));
}

// Reads the settings of one request by a method's table. Not thread-safe.
//
// Errors of all readers: INVALID_ARGUMENT ("settings.KEY") for a value that is not allowed; INTERNAL for a
// key that is not in the table, or has no fixed default or range and is given none.
class SettingsReader {
 public:
  // Both must outlive it.
  SettingsReader(std::span<const Setting> table, const std::map<std::string, std::string>& settings)
      : table_(table), settings_(settings) {}

  // The number of `key`. `absent` is the default, and `range` the range, where the table does not fix them.
  absl::StatusOr<int64_t> Integer(std::string_view key, std::optional<int64_t> absent = std::nullopt,
                                  std::optional<IntegerRange> range = std::nullopt);
  absl::StatusOr<double> Real(std::string_view key, std::optional<double> absent = std::nullopt,
                              std::optional<RealRange> range = std::nullopt);

  // The chosen name; `absent`, or the first one, when the setting is absent.
  absl::StatusOr<std::string> Name(std::string_view key, std::string_view absent = "");

  // The chosen value; `choices` are those of the table's entry.
  template <typename Value, size_t N>
  absl::StatusOr<Value> Choice(std::string_view key, const Choices<Value, N>& choices,
                               std::optional<Value> absent = std::nullopt) {
    ASSIGN_OR_RETURN(const std::string name, Name(key, absent ? NameOf(choices, *absent) : std::string()));
    for (const NamedValue<Value>& choice : choices) {
      if (choice.name == name) return choice.value;
    }
    return absl::InternalError("the choices of a setting are not those of its table");
  }

  // The text as it was written. `absent` is the default, where the table's is empty.
  absl::StatusOr<std::string> Text(std::string_view key, std::string_view absent = "");

  // INVALID_ARGUMENT ("settings.KEY") for a key of the request that the table does not have.
  absl::Status Finish() const;

  // Every key that was read, with the value in use.
  const std::map<std::string, std::string>& used() const { return used_; }

 private:
  // The table's entry, and the request's text; null where the request has none.
  struct Found {
    const Setting* setting = nullptr;
    const std::string* text = nullptr;
  };
  absl::StatusOr<Found> Find(std::string_view key) const;

  std::span<const Setting> table_;
  const std::map<std::string, std::string>& settings_;
  std::map<std::string, std::string> used_;
};

}  // namespace curator::dp
