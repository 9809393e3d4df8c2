// Translated SQL: whatever is typed, it is a workload that names what the schema has, or refused with words
// that fit into the status of a call.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "client/sql/testing/orders_schema.h"
#include "client/sql/translate.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

// How many messages an expression has in each other.
int DepthOf(const v1::Expression& expression) {
  if (expression.has_condition()) return 1;
  if (expression.has_not_()) return 1 + DepthOf(expression.not_());
  int deepest = 0;
  for (const v1::Expression& operand :
       expression.has_all_of() ? expression.all_of().expressions() : expression.any_of().expressions())
    deepest = std::max(deepest, DepthOf(operand));
  return 2 + deepest;
}

void CheckConditions(const v1::Expression& expression, const std::set<std::string>& attributes,
                     std::string_view input) {
  switch (expression.expression_case()) {
    case v1::Expression::kCondition:
      if (!attributes.contains(expression.condition().attribute()))
        Broken("conditions are on attributes", input);
      return;
    case v1::Expression::kNot:
      return CheckConditions(expression.not_(), attributes, input);
    case v1::Expression::kAllOf:
    case v1::Expression::kAnyOf:
      for (const v1::Expression& operand :
           expression.has_all_of() ? expression.all_of().expressions() : expression.any_of().expressions())
        CheckConditions(operand, attributes, input);
      return;
    case v1::Expression::EXPRESSION_NOT_SET:
      Broken("an expression is something", input);
  }
}

void CheckTranslation(const v1::TranslateSqlResponse& translated, const v1::Schema& schema,
                      std::string_view input) {
  constexpr int kDeepest = 85;  // a request has 100 levels
  std::set<std::string> attributes;
  for (const v1::Attribute& attribute : schema.attributes()) attributes.insert(attribute.name());
  if (translated.workload().query_sets_size() != 1) Broken("a statement is one set of queries", input);
  const v1::Statistics& statistics = translated.workload().query_sets(0).statistics();
  if (statistics.statistics().empty()) Broken("a statement asks for statistics", input);
  for (const std::string& name : statistics.by()) {
    if (!attributes.contains(name)) Broken("groups are made of attributes", input);
  }
  if (statistics.has_where()) {
    CheckConditions(statistics.where().expression(), attributes, input);
    if (DepthOf(statistics.where().expression()) > kDeepest) Broken("a server reads the request", input);
  }
  if (translated.selection().columns().empty()) Broken("a statement shows columns", input);
  for (const v1::OutputColumn& column : translated.selection().columns()) {
    if (column.source().statistic() >= statistics.statistics_size()) Broken("what is shown is asked", input);
  }
}

}  // namespace

std::vector<std::string> Seeds() {
  return {
      "SELECT region AS r, COUNT(*) n, avg(price) FROM orders WHERE quantity BETWEEN 2 AND 5 GROUP BY r "
      "HAVING count(*) > 10 ORDER BY n DESC LIMIT 3 OFFSET 1",
      "EXPLAIN SELECT percentile_cont(ARRAY[0.25,0.5]) WITHIN GROUP (ORDER BY price) FROM orders",
      "SELECT count(DISTINCT customer) FROM orders WHERE NOT (region IN ('north', 'ä') OR weight < -0.5) AND "
      "shipdate >= DATE '1994-01-01' AND region IS NOT NULL",
      "SELECT \"Ship Mode\", variance(o.quantity) FROM orders o GROUP BY 1 ORDER BY 2",
      "SELECT count(*) FROM orders WHERE ((((1 < quantity))))",
      "select a from b where c = 'x' -- comment\n/* more */",
      "SELECT $1, E'\\x41', U&'\\0041', x'1F', 1e400, 'a'::int[], CASE WHEN 1 THEN 2 END",
      ""};
}

bool Try(std::string_view text) {
  static const auto* const schema = new v1::Schema(sql::OrdersSchema());
  constexpr size_t kLongestMessage = 4096;
  const auto translated = sql::Translate(*schema, "orders", text);
  if (translated.ok()) {
    CheckTranslation(*translated, *schema, text);
    if (sql::DatasetOf(text).value_or("") != "orders") Broken("the dataset is that of FROM", text);
    return true;
  }
  const std::string message(translated.status().message());
  if (!absl::IsInvalidArgument(translated.status())) Broken("a refusal is of the statement", text);
  if (message.empty() || message.size() > kLongestMessage) Broken("a refusal fits into a status", text);
  if (!IsUtf8(message)) Broken("a refusal is text", text);
  return false;
}

}  // namespace curator::fuzz
