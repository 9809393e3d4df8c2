#include "client/cli/commands/field_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/error.h"

namespace curator::cli {
namespace {

// Fields whose option has another name, and how it is shown; for the commands that have the option.
struct Alias {
  const char* component;
  const char* option;
  const char* words;
};
constexpr Alias kAliases[] = {
    {"confidence_level", "confidence", "--confidence"},
    {"post_processing", "postprocess", "--postprocess"},
    {"spend", "epsilon", "--epsilon, --rho"},
    {"target", "max-error", "--max-error, --rmse"},
    {"limit", "epsilon", "--epsilon, --delta"},
    {"partition", "partition-by", "--partition-by"},
    {"label", "summary", "--summary"},
    {"final_event", "event", "--event"},
    {"expire_time", "days", "--days"},
    {"end_time", "until", "--until"},
    {"start_time", "from", "--from"},
    {"after_sequence", "after", "--after"},
    {"release_id", "release", "--release"},
    {"issuer", "oidc-issuer", "--oidc-issuer"},
    {"subject", "oidc-subject", "--oidc-subject"},
};

bool IsWithin(std::string_view field, std::string_view outer) {
  if (!field.starts_with(outer)) return false;
  return field.size() == outer.size() || field[outer.size()] == '.' || field[outer.size()] == '[';
}

// A component of a path, with the place behind it.
struct Component {
  std::string name;  // without an index
  size_t end = 0;    // where the path goes on
};

std::vector<Component> ComponentsOf(std::string_view field) {
  std::vector<Component> components;
  for (size_t begin = 0; begin <= field.size();) {
    const size_t end = std::min(field.find('.', begin), field.size());
    const std::string_view whole = field.substr(begin, end - begin);
    components.push_back({std::string(whole.substr(0, whole.find('['))), end});
    begin = end + 1;
  }
  return components;
}

template <typename Visit>
void ForEachOption(const CLI::App& command, const Visit& visit) {
  for (const CLI::Option* option : command.get_options()) visit(*option);
  // Groups of options are commands without a name.
  for (const CLI::App* group :
       command.get_subcommands([](const CLI::App* each) { return each->get_name().empty(); })) {
    ForEachOption(*group, visit);
  }
}

}  // namespace

FieldOptions::FieldOptions(const CLI::App& command) {
  ForEachOption(command, [this](const CLI::Option& option) {
    for (const std::string& name : option.get_lnames()) {
      const bool is_given = option.count() > 0;
      if (name == "set") AddFile("settings", "--set", "");
      options_.push_back({absl::StrReplaceAll(name, {{"-", "_"}}), "--" + name, is_given});
      for (const Alias& alias : kAliases) {
        // The fields below an alias are options themselves, but for those of an event, which is a file.
        const bool is_file = name == "event";
        if (name == alias.option) options_.push_back({alias.component, alias.words, is_given && is_file});
      }
    }
  });
}

void FieldOptions::Add(std::string field, std::string words) {
  known_.push_back({std::move(field), std::move(words), std::nullopt});
}

void FieldOptions::AddFile(std::string field, std::string words, std::string place) {
  known_.push_back({std::move(field), std::move(words), std::move(place)});
}

void FieldOptions::AddPlace(std::string field, std::string lines) {
  places_.push_back({std::move(field), std::move(lines), std::nullopt});
}

const FieldOptions::Known* FieldOptions::LongestOf(const std::vector<Known>& known, std::string_view field) {
  const Known* longest = nullptr;
  for (const Known& each : known) {
    const bool is_longer = longest == nullptr || each.field.size() > longest->field.size();
    if (is_longer && IsWithin(field, each.field)) longest = &each;
  }
  return longest;
}

std::optional<std::string> FieldOptions::ByName(std::string_view field, bool only_given) const {
  const std::vector<Component> components = ComponentsOf(field);
  for (auto component = components.rbegin(); component != components.rend(); ++component) {
    // Of what may be given several times, the field is a plural: "roles" are from --role.
    const auto option = std::ranges::find_if(options_, [&](const Option& each) {
      const bool is_named = each.component == component->name || each.component + "s" == component->name;
      return is_named && (each.is_given || !only_given);
    });
    if (option == options_.end()) continue;
    if (component->end == field.size()) return option->words;
    return absl::StrCat(option->words, ": ", std::string(field.substr(component->end + 1)));
  }
  return std::nullopt;
}

std::string FieldOptions::WordsFor(std::string_view field) const {
  const Known* longest = LongestOf(known_, field);
  if (longest != nullptr && !longest->place.has_value()) return longest->words;
  if (longest != nullptr) {
    const std::string inner(field.substr(longest->field.size()));
    if (!longest->place->empty()) return absl::StrCat(longest->words, ": ", *longest->place, inner);
    // A setting is typed as --set KEY=VALUE.
    return inner.empty() ? longest->words : absl::StrCat(longest->words, " ", inner.substr(1));
  }
  if (auto words = ByName(field, /*only_given=*/true)) return *std::move(words);
  return ByName(field, /*only_given=*/false).value_or(std::string(field));
}

absl::Status FieldOptions::Translated(const absl::Status& status) const {
  const std::vector<client::FieldViolation> violations = client::FieldViolations(status);
  const std::string message(status.message());
  if (violations.empty() || violations.front().field.empty()) return status;
  const std::string& field = violations.front().field;
  const std::string begin = field + ": ";
  if (!message.starts_with(begin)) return status;
  const Known* place = LongestOf(places_, field);
  absl::Status translated(status.code(), absl::StrCat(WordsFor(field), ": ", message.substr(begin.size()),
                                                      place == nullptr ? "" : "\n" + place->words));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { translated.SetPayload(url, payload); });
  return translated;
}

}  // namespace curator::cli
