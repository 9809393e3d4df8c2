#include "auth/strict_json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace curator::auth {
namespace {

constexpr size_t kMostLevels = 32;

// Builds the value as nlohmann's own parser does, and refuses what that one lets pass.
class StrictBuilder {
 public:
  // The result of each event: whether to go on.
  bool operator()(int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (static_cast<size_t>(depth) >= kMostLevels)
        fault_ = absl::StrCat("more than ", kMostLevels, " levels");
      keys_.emplace_back();
    }
    if (event == Event::object_end || event == Event::array_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(parsed.get<std::string>()).second) {
      fault_ = absl::StrCat("the key \"", parsed.get<std::string>(), "\" twice in one object");
    }
    return true;
  }
  const std::string& fault() const { return fault_; }

 private:
  std::vector<std::set<std::string>> keys_;  // of the objects that are open; empty sets for arrays
  std::string fault_;
};

}  // namespace

absl::StatusOr<nlohmann::json> ParseStrictJson(std::string_view text) {
  StrictBuilder builder;
  try {
    nlohmann::json value =
        nlohmann::json::parse(text.begin(), text.end(),
                              [&builder](int depth, nlohmann::json::parse_event_t event,
                                         nlohmann::json& parsed) { return builder(depth, event, parsed); });
    if (builder.fault().empty()) return value;
    return absl::InvalidArgumentError(absl::StrCat("not strict JSON: it has ", builder.fault()));
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not JSON: ", error.what()));
  }
}

}  // namespace curator::auth
