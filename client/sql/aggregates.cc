#include "client/sql/aggregates.h"

#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/similar.h"
#include "client/sql/constants.h"
#include "client/sql/places.h"
#include "client/sql/refusal.h"

namespace curator::sql {
namespace {

constexpr char kCount[] = "count";
constexpr char kPercentile[] = "percentile_cont";
constexpr char kFunctions[] =
    "COUNT(*), COUNT(column), COUNT(DISTINCT id), SUM, AVG, VARIANCE, percentile_cont";

// What stands nearest to functions of PostgreSQL that are not answered.
const std::map<std::string, std::string>& Nearest() {
  static const auto* const nearest = new std::map<std::string, std::string>{
      {"min",
       "the least value would be one record's: percentile_cont(0.01) WITHIN GROUP (ORDER BY x) is near"},
      {"max",
       "the largest value would be one record's: percentile_cont(0.99) WITHIN GROUP (ORDER BY x) is near"},
      {"median", "write percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"},
      {"percentile_disc", "percentile_cont is, with the same arguments"},
      {"mode", "count each value: SELECT x, COUNT(*) ... GROUP BY x ORDER BY 2 DESC LIMIT 1"},
      {"var_pop", "VARIANCE, which divides by the number of values minus one, is near"},
      {"stddev", "it is the square root of VARIANCE, which is answered with an interval"},
      {"stddev_samp", "it is the square root of VARIANCE, which is answered with an interval"},
      {"stddev_pop", "it is the square root of VARIANCE, which is answered with an interval"},
      {"mean", "write AVG"},
      {"average", "write AVG"},
      {"approx_count_distinct", "write COUNT(DISTINCT id) of the column of ids"},
  };
  return *nearest;
}

// Of a decimal between 0 and 1: "0.25" of 0.25, .250 and 25e-2. Empty for others.
std::string FractionText(double fraction) {
  constexpr int kScale = 1000;
  const double scaled = fraction * kScale;
  const auto thousandths = static_cast<int>(std::lround(scaled));
  constexpr double kRounding = 1e-9;  // of the decimal as a double
  if (std::abs(scaled - thousandths) > kRounding || thousandths < 1 || thousandths >= kScale) return "";
  std::string text = absl::StrCat("0.", thousandths / 100, thousandths / 10 % 10, thousandths % 10);
  while (text.back() == '0') text.pop_back();
  return text;
}

}  // namespace

absl::StatusOr<std::string> Aggregates::FunctionOf(const tree::FunctionCall& call) const {
  const int parts = call.name_size();
  const bool is_plain = parts == 1 || (parts == 2 && call.name(0).string().text() == "pg_catalog");
  std::string name = is_plain ? call.name(parts - 1).string().text() : "";
  if (name == "variance") name = "var_samp";
  for (const char* known : {kCount, "sum", "avg", "var_samp", kPercentile}) {
    if (name == known) return name;
  }
  std::string words =
      absl::StrCat(name.empty() ? "functions of schemas are" : name + "() is", " not answered");
  const auto nearest = Nearest().find(name);
  if (nearest != Nearest().end()) {
    absl::StrAppend(&words, ": ", nearest->second);
  } else {
    const std::string near = DidYouMean(name, {kCount, "sum", "avg", "variance", "var_samp", kPercentile});
    absl::StrAppend(&words, near.empty() ? absl::StrCat("; there are: ", kFunctions) : near);
  }
  return Refusal(sql_, call.location(), words);
}

absl::Status Aggregates::CheckPlain(const tree::FunctionCall& call, const std::string& function) const {
  const int64_t place = call.location();
  if (call.has_over())
    return Refusal(sql_, place, "windows (OVER) are not answered: GROUP BY makes the groups");
  if (call.has_filter())
    return Refusal(sql_, place, "FILTER is not known: ask with the condition in WHERE, by itself");
  if (call.variadic()) return Refusal(sql_, place, "VARIADIC is not known");
  if (call.distinct() && function != kCount) {
    return Refusal(sql_, place,
                   "DISTINCT is for COUNT of the column of ids alone: a record's value counts each time");
  }
  if (function == kPercentile) return absl::OkStatus();
  if (call.within_group() || !call.order().empty())
    return Refusal(sql_, place, absl::StrCat("the order of records does not change ", function, "()"));
  return absl::OkStatus();
}

absl::StatusOr<Column> Aggregates::ArgumentOf(const tree::FunctionCall& call,
                                              const std::string& function) const {
  if (call.star()) return Refusal(sql_, call.location(), absl::StrCat(function, "() takes a column"));
  if (call.arguments_size() != 1)
    return Refusal(sql_, call.location(), absl::StrCat(function, "() takes one column"));
  const tree::Node& argument = call.arguments(0);
  if (argument.has_column()) return columns_.Find(argument.column());
  return Refusal(sql_, PlaceOf(argument),
                 absl::StrCat(function,
                              "() takes a column: values are not calculated; declare a measure that holds "
                              "them, such as price times quantity, when the data are imported"));
}

absl::StatusOr<Aggregate> Aggregates::Count(const tree::FunctionCall& call) {
  v1::Statistic statistic;
  if (call.star()) {
    statistic.mutable_count();
    return Keep(std::move(statistic), "count(*)", call.location());
  }
  if (!call.distinct() && call.arguments_size() == 1 && IsConstant(call.arguments(0)))
    return Refusal(sql_, PlaceOf(call.arguments(0)), "write COUNT(*) to count records");
  ASSIGN_OR_RETURN(const Column column, ArgumentOf(call, kCount));
  const int64_t place = PlaceOf(call.arguments(0));
  if (!call.distinct()) {
    if (column.is_id) {
      return Refusal(sql_, place,
                     absl::StrCat("every record has an id: write COUNT(*), or COUNT(DISTINCT ", column.name,
                                  ") for the number of those who have records"));
    }
    statistic.mutable_count();
    if (column.may_be_missing() && !column.has_numbers()) {
      return Refusal(sql_, place,
                     absl::StrCat("values that may be missing are counted of numbers; write COUNT(*) with "
                                  "WHERE ",
                                  column.name, " IS NOT NULL"));
    }
    if (column.may_be_missing()) statistic.mutable_count()->set_of(column.name);
    return Keep(std::move(statistic), absl::StrCat("count(", column.name, ")"), call.location());
  }
  if (column.is_id) {
    statistic.mutable_distinct_units();
    return Keep(std::move(statistic), absl::StrCat("count(distinct ", column.name, ")"), call.location());
  }
  const std::string& id = columns_.id_column();
  const std::string units = id.empty() ? "; here each record is a unit, which COUNT(*) counts"
                                       : absl::StrCat("; only COUNT(DISTINCT ", id, ") is answered");
  return Refusal(sql_, place,
                 absl::StrCat("distinct values are not counted: one record could add one; GROUP BY ",
                              column.attribute != nullptr ? column.name : std::string("an attribute"),
                              " shows how many records have each", units));
}

absl::StatusOr<Aggregate> Aggregates::OfNumbers(const tree::FunctionCall& call, const std::string& function) {
  ASSIGN_OR_RETURN(const Column column, ArgumentOf(call, function));
  if (!column.has_numbers()) {
    const std::string there_are = columns_.Some([](const Column& each) { return each.has_numbers(); });
    return Refusal(
        sql_, PlaceOf(call.arguments(0)),
        absl::StrCat(
            function, "() takes a measure, or an integer attribute with bins of one value; ",
            there_are.empty() ? std::string("the schema has none") : absl::StrCat("there are: ", there_are)));
  }
  v1::Statistic statistic;
  if (function == "sum") statistic.set_sum(column.name);
  if (function == "avg") statistic.set_mean(column.name);
  if (function == "var_samp") statistic.set_variance(column.name);
  return Keep(std::move(statistic), absl::StrCat(function, "(", column.name, ")"), call.location());
}

absl::StatusOr<Column> Aggregates::OrderOf(const tree::FunctionCall& call) const {
  constexpr char kForm[] = "write percentile_cont(0.5) WITHIN GROUP (ORDER BY column)";
  if (!call.within_group() || call.order_size() != 1 || call.arguments_size() != 1)
    return Refusal(sql_, call.location(), kForm);
  const tree::SortBy& sort = call.order(0).sort();
  if (sort.direction() == tree::SortBy::DESCENDING || sort.direction() == tree::SortBy::USING) {
    return Refusal(sql_, PlaceOf(sort.node()),
                   "the order is ascending here: of 0.9 in descending order write 0.1");
  }
  if (sort.nulls() != tree::SortBy::NULLS_DEFAULT)
    return Refusal(sql_, PlaceOf(sort.node()), "missing values have no rank: leave NULLS out");
  if (!sort.node().has_column()) {
    return Refusal(sql_, PlaceOf(sort.node()),
                   "percentile_cont orders by a column: values are not calculated");
  }
  ASSIGN_OR_RETURN(Column column, columns_.Find(sort.node().column()));
  if (column.has_quantiles()) return column;
  const std::string there_are = columns_.Some([](const Column& each) { return each.has_quantiles(); });
  return Refusal(sql_, PlaceOf(sort.node()),
                 absl::StrCat("percentile_cont orders by a measure, an integer or a numeric attribute; ",
                              there_are.empty() ? std::string("the schema has none")
                                                : absl::StrCat("there are: ", there_are)));
}

absl::StatusOr<std::vector<Aggregate>> Aggregates::Percentiles(const tree::FunctionCall& call) {
  ASSIGN_OR_RETURN(const Column column, OrderOf(call));
  const tree::Node& argument = call.arguments(0);
  std::vector<const tree::Node*> fractions = {&argument};
  if (argument.has_array()) {
    fractions.clear();
    for (const tree::Node& element : argument.array().elements()) fractions.push_back(&element);
  }
  std::vector<Aggregate> aggregates;
  for (const tree::Node* node : fractions) {
    constexpr char kWhat[] = "the fraction of percentile_cont";
    ASSIGN_OR_RETURN(const double fraction, NumberOf(sql_, *node, kWhat));
    const std::string text = FractionText(fraction);
    if (text.empty()) {
      return Refusal(
          sql_, PlaceOf(*node),
          absl::StrCat(kWhat,
                       " lies between 0 and 1, with three digits after the point at most: 0.001 to 0.999"));
    }
    v1::Statistic statistic;
    statistic.mutable_quantiles()->set_of(column.name);
    statistic.mutable_quantiles()->add_at(text);
    ASSIGN_OR_RETURN(Aggregate aggregate,
                     Keep(std::move(statistic), absl::StrCat(kPercentile, "(", text, ", ", column.name, ")"),
                          call.location()));
    if (argument.has_array()) aggregate.part = text;
    aggregates.push_back(std::move(aggregate));
  }
  if (aggregates.empty()) return Refusal(sql_, PlaceOf(argument), "the array has no fractions");
  return aggregates;
}

absl::StatusOr<Aggregate> Aggregates::Keep(v1::Statistic statistic, std::string name, int64_t place) {
  const std::string bytes = statistic.SerializeAsString();
  for (size_t i = 0; i < statistics_.size(); ++i) {
    if (statistics_[i].SerializeAsString() == bytes)
      return Aggregate{.position = static_cast<int>(i), .name = std::move(name)};
  }
  if (statistics_.size() >= kMost)
    return Refusal(sql_, place, absl::StrCat("a statement asks for at most ", kMost, " statistics"));
  statistics_.push_back(std::move(statistic));
  places_.push_back(place);
  return Aggregate{.position = static_cast<int>(statistics_.size()) - 1, .name = std::move(name)};
}

absl::StatusOr<std::vector<Aggregate>> Aggregates::Add(const tree::FunctionCall& call) {
  ASSIGN_OR_RETURN(const std::string function, FunctionOf(call));
  RETURN_IF_ERROR(CheckPlain(call, function));
  if (function == kPercentile) return Percentiles(call);
  ASSIGN_OR_RETURN(Aggregate one, function == kCount ? Count(call) : OfNumbers(call, function));
  return std::vector<Aggregate>{std::move(one)};
}

absl::StatusOr<Aggregate> Aggregates::AddOne(const tree::FunctionCall& call, std::string_view clause) {
  ASSIGN_OR_RETURN(std::vector<Aggregate> aggregates, Add(call));
  if (aggregates.size() == 1) return std::move(aggregates.front());
  return Refusal(sql_, call.location(),
                 absl::StrCat(std::string(clause), " takes one number: write percentile_cont(0.5) ..."));
}

}  // namespace curator::sql
