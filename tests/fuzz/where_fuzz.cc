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

std::string SignOf(v1::Comparison::Operator op) {
  return op == v1::Comparison::NOT_EQUAL ? " != " : op == v1::Comparison::GREATER ? " > " : "";
}

// `negation` is "not " or empty; of a comparison empty.
std::string TextOf(const v1::Condition& condition, cli::UpperEnd upper, const std::string& negation = "") {
  if (condition.is_missing()) return Quoted(condition.attribute()) + " is " + negation + "missing";
  if (condition.has_compare()) {
    return Quoted(condition.attribute()) + SignOf(condition.compare().operator_()) +
           Quoted(condition.compare().value().string_value());
  }
  std::string text = Quoted(condition.attribute()) + " " + negation + "in ";
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

// `next` counts the conditions in the order of the text. Parentheses are where they matter: each may be
// inside of few.
std::string TextOf(const v1::Expression& expression, const std::vector<cli::UpperEnd>& ends, size_t& next) {
  if (expression.has_condition()) return TextOf(expression.condition(), ends.at(next++));
  if (expression.has_not_()) {
    const v1::Condition& negated = expression.not_().condition();
    if (expression.not_().has_condition() && !negated.has_compare())
      return TextOf(negated, ends.at(next++), "not ");
    const std::string inner = TextOf(expression.not_(), ends, next);
    const bool is_list = expression.not_().has_all_of() || expression.not_().has_any_of();
    return is_list ? "not (" + inner + ")" : "not " + inner;
  }
  std::string text;
  const bool is_all = expression.has_all_of();
  for (const v1::Expression& operand :
       is_all ? expression.all_of().expressions() : expression.any_of().expressions()) {
    const std::string inner = TextOf(operand, ends, next);
    text += text.empty() ? "" : is_all ? " and " : " or ";
    text += operand.has_any_of() ? "(" + inner + ")" : inner;
  }
  return text;
}

std::string TextOf(const cli::ParsedWhere& parsed) {
  size_t next = 0;
  if (parsed.predicate.has_expression())
    return TextOf(parsed.predicate.expression(), parsed.upper_ends, next);
  std::string text;
  for (const v1::Condition& condition : parsed.predicate.all_of()) {
    text += text.empty() ? "" : " and ";
    text += TextOf(condition, parsed.upper_ends.at(next++));
  }
  return text;
}

void CheckCondition(const v1::Condition& condition, std::string_view input) {
  const int kinds = (condition.in_size() > 0 ? 1 : 0) + (condition.has_between() ? 1 : 0) +
                    (condition.has_compare() ? 1 : 0) + (condition.is_missing() ? 1 : 0);
  if (kinds != 1) Broken("a condition is of one kind", input);
}

// How many conditions there are.
size_t CheckExpression(const v1::Expression& expression, int levels, std::string_view input) {
  if (levels == 0) Broken("an expression is no deeper than a server reads", input);
  if (expression.has_condition()) {
    CheckCondition(expression.condition(), input);
    return 1;
  }
  if (expression.has_not_()) return CheckExpression(expression.not_(), levels - 1, input);
  const bool is_all = expression.has_all_of();
  const auto& operands = is_all ? expression.all_of().expressions() : expression.any_of().expressions();
  if (operands.size() < 2) Broken("'and' and 'or' join", input);
  size_t conditions = 0;
  for (const v1::Expression& operand : operands) {
    if (is_all ? operand.has_all_of() : operand.has_any_of()) Broken("lists of lists are one list", input);
    conditions += CheckExpression(operand, levels - 1, input);
  }
  return conditions;
}

void CheckWhere(const cli::ParsedWhere& parsed, std::string_view input) {
  constexpr int kDeepestExpression = 40;
  size_t conditions = 0;
  if (parsed.predicate.has_expression()) {
    if (parsed.predicate.all_of_size() > 0) Broken("a predicate is a list or an expression", input);
    conditions = CheckExpression(parsed.predicate.expression(), kDeepestExpression, input);
  } else {
    conditions = static_cast<size_t>(parsed.predicate.all_of_size());
    for (const v1::Condition& condition : parsed.predicate.all_of()) CheckCondition(condition, input);
  }
  if (conditions == 0) Broken("there is a condition", input);
  if (conditions != parsed.upper_ends.size()) Broken("each condition has its end", input);
}

}  // namespace

std::vector<std::string> Seeds() {
  return {"age in [30,40] and sex = Female and zone in {1,2}",
          "income in [0, 20000) and education = 'Some college'",
          "age >= 65 and age <= 70 and income < 1e3",
          "'home town' in {\"O'Fallon\", 'a\\'b'} and größe in [,-1.5e3]",
          "at least 2 of (age >= 65, smoker = yes, zone in {1,2})",
          "at least 1,2 of each 3 of (a = 1, b in [,], c = 'x y')",
          "age in (30,40) or not (sex != f and zone <> 3) or a between 1 and 2 AND b > 3",
          "a not in {1} or b not between 1 and 2 and c is not missing or not not d is missing",
          "not = or and not in {not} and state = OR",
          "at least 1 of (a != 1, b > 2, c is missing, d between 1 and 2, e in (1,2))",
          "= and in {",
          ""};
}

bool Try(std::string_view text) {
  const auto where = cli::ParseWhere(text);
  const auto thresholds = cli::ParseThresholds(text);
  if (where.ok() && thresholds.ok()) Broken("a text is one of the two", text);
  if (where.ok()) {
    CheckWhere(*where, text);
    const auto again = cli::ParseWhere(TextOf(*where));
    if (!again.ok() || again->predicate.SerializeAsString() != where->predicate.SerializeAsString() ||
        again->upper_ends != where->upper_ends)
      Broken("what is read can be written and read again", text);
  }
  if (thresholds.ok()) {
    if (thresholds->conditions.empty()) Broken("there is a condition", text);
    if (thresholds->conditions.size() != thresholds->upper_ends.size())
      Broken("each condition has its end", text);
    for (const v1::Condition& condition : thresholds->conditions) CheckCondition(condition, text);
    if (thresholds->at_least.empty()) Broken("thresholds have a number", text);
  }
  return where.ok() || thresholds.ok();
}

}  // namespace curator::fuzz
