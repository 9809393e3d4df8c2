// The language of --where and --thresholds: whatever is typed, it is read or refused, and what is read can be
// written down and read again.
#include "client/cli/syntax/where.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "'";
}

std::string TextOf(const v1::Condition& condition, cli::UpperEnd upper) {
  std::string text = Quoted(condition.attribute()) + " in ";
  if (!condition.has_between()) {
    for (int i = 0; i < condition.in_size(); ++i)
      text += (i == 0 ? "{" : ",") + Quoted(condition.in(i).string_value());
    return text + "}";
  }
  const v1::Interval& interval = condition.between();
  text += "[" + (interval.has_from() ? Quoted(interval.from().string_value()) : "") + ",";
  text += interval.has_to() ? Quoted(interval.to().string_value()) : "";
  return text + (upper == cli::UpperEnd::kExcluded ? ")" : "]");
}

std::string TextOf(const cli::ParsedConditions& parsed, const std::string& between) {
  std::string text;
  for (size_t i = 0; i < parsed.conditions.size(); ++i)
    text += (i == 0 ? "" : between) + TextOf(parsed.conditions[i], parsed.upper_ends[i]);
  return text;
}

void CheckConditions(const cli::ParsedConditions& parsed, std::string_view input) {
  if (parsed.conditions.empty()) Broken("there is a condition", input);
  if (parsed.conditions.size() != parsed.upper_ends.size()) Broken("each condition has its end", input);
  for (const v1::Condition& condition : parsed.conditions) {
    if (condition.has_between() == (condition.in_size() > 0))
      Broken("a condition is a set or an interval", input);
  }
}

}  // namespace

std::vector<std::string> Seeds() {
  return {"age in [30,40] and sex = Female and zone in {1,2}",
          "income in [0, 20000) and education = 'Some college'",
          "age >= 65 and age <= 70 and income < 1e3",
          "'home town' in {\"O'Fallon\", 'a\\'b'} and größe in [,-1.5e3]",
          "at least 2 of (age >= 65, smoker = yes, zone in {1,2})",
          "at least 1,2 of each 3 of (a = 1, b in [,], c = 'x y')",
          "age in (30,40)",
          "= and in {",
          ""};
}

bool Try(std::string_view text) {
  const auto where = cli::ParseWhere(text);
  const auto thresholds = cli::ParseThresholds(text);
  if (where.ok() && thresholds.ok()) Broken("a text is one of the two", text);
  if (where.ok()) {
    CheckConditions(*where, text);
    const auto again = cli::ParseWhere(TextOf(*where, " and "));
    if (!again.ok() || TextOf(*again, " and ") != TextOf(*where, " and "))
      Broken("what is read can be written and read again", text);
  }
  if (thresholds.ok()) {
    CheckConditions(thresholds->conditions, text);
    if (thresholds->at_least.empty()) Broken("thresholds have a number", text);
  }
  return where.ok() || thresholds.ok();
}

}  // namespace curator::fuzz
