#include "client/sql/having.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/sql/conditions.h"
#include "client/sql/constants.h"
#include "client/sql/places.h"
#include "client/sql/refusal.h"

namespace curator::sql {
namespace {

class HavingBuilder {
 public:
  HavingBuilder(std::string_view sql, Aggregates& aggregates) : sql_(sql), aggregates_(aggregates) {}

  absl::StatusOr<v1::GroupCondition> Build(const tree::Node& node, int depth) {
    if (depth > kMostJoins) {
      return Refusal(sql_, PlaceOf(node),
                     absl::StrCat("AND, OR and NOT are nested deeper than ", kMostJoins, " levels here"));
    }
    if (node.has_bool_expression()) return Joined(node.bool_expression(), depth);
    if (node.has_operation()) return OfOperation(node.operation());
    return Refusal(sql_, PlaceOf(node), kForm);
  }

 private:
  static constexpr char kForm[] =
      "HAVING compares aggregates with numbers: COUNT(*) > 100, joined by AND, OR, NOT; a condition on a "
      "column belongs in WHERE";

  static constexpr char kNoColumn[] =
      "HAVING compares aggregates with numbers, and knows no names of the list: write the aggregate again, "
      "COUNT(*) > 100; a condition on a column belongs in WHERE";

  static v1::GroupCondition Not(v1::GroupCondition condition) {
    v1::GroupCondition result;
    if (condition.has_not_()) {
      result.Swap(condition.mutable_not_());
    } else {
      result.mutable_not_()->Swap(&condition);
    }
    return result;
  }

  absl::StatusOr<v1::GroupCondition> Joined(const tree::BoolExpression& node, int depth) {
    if (node.operator_() == tree::BoolExpression::NOT) {
      ASSIGN_OR_RETURN(v1::GroupCondition argument, Build(node.arguments(0), depth + 1));
      return Not(std::move(argument));
    }
    v1::GroupCondition result;
    const bool all = node.operator_() == tree::BoolExpression::AND;
    v1::GroupConditions& joined = all ? *result.mutable_all_of() : *result.mutable_any_of();
    for (const tree::Node& argument : node.arguments()) {
      ASSIGN_OR_RETURN(*joined.add_conditions(), Build(argument, depth + 1));
    }
    return result;
  }

  absl::StatusOr<v1::GroupCondition> Comparison(const tree::Node& left, v1::Comparison::Operator op,
                                                const tree::Node& right, int64_t place) {
    if (++comparisons_ > kMostConditions)
      return Refusal(sql_, place, absl::StrCat("HAVING has more than ", kMostConditions, " comparisons"));
    if (left.has_call() && right.has_call()) {
      return Refusal(sql_, PlaceOf(right),
                     "two aggregates are not compared with each other: compare each with a number");
    }
    const bool is_exchanged = !left.has_call() && right.has_call();
    const tree::Node& aggregate = is_exchanged ? right : left;
    if (!aggregate.has_call())
      return Refusal(sql_, PlaceOf(aggregate), aggregate.has_column() ? kNoColumn : kForm);
    ASSIGN_OR_RETURN(const Aggregate statistic, aggregates_.AddOne(aggregate.call(), "HAVING"));
    v1::GroupCondition result;
    v1::AnswerComparison& compare = *result.mutable_compare();
    compare.set_statistic(statistic.position);
    compare.set_operator_(is_exchanged ? Exchanged(op) : op);
    ASSIGN_OR_RETURN(const double value,
                     NumberOf(sql_, is_exchanged ? left : right, "what HAVING compares with"));
    compare.set_value(value);
    return result;
  }

  absl::StatusOr<v1::GroupCondition> Between(const tree::OperatorExpression& node) {
    const auto& ends = node.right().list().items();
    if (ends.size() != 2) return Refusal(sql_, node.location(), "BETWEEN takes two numbers");
    v1::GroupCondition result;
    ASSIGN_OR_RETURN(*result.mutable_all_of()->add_conditions(),
                     Comparison(node.left(), v1::Comparison::GREATER_OR_EQUAL, ends[0], node.location()));
    ASSIGN_OR_RETURN(*result.mutable_all_of()->add_conditions(),
                     Comparison(node.left(), v1::Comparison::LESS_OR_EQUAL, ends[1], node.location()));
    return result;
  }

  absl::StatusOr<v1::GroupCondition> OfOperation(const tree::OperatorExpression& node) {
    switch (node.kind()) {
      case tree::OperatorExpression::OPERATOR: {
        ASSIGN_OR_RETURN(const v1::Comparison::Operator op, ComparisonOf(sql_, node));
        return Comparison(node.left(), op, node.right(), node.location());
      }
      case tree::OperatorExpression::BETWEEN:
        return Between(node);
      case tree::OperatorExpression::NOT_BETWEEN: {
        ASSIGN_OR_RETURN(v1::GroupCondition between, Between(node));
        return Not(std::move(between));
      }
      default:
        return Refusal(sql_, node.location(), kForm);
    }
  }

  std::string_view sql_;
  Aggregates& aggregates_;
  int comparisons_ = 0;
};

}  // namespace

absl::StatusOr<v1::GroupCondition> HavingOf(std::string_view sql, Aggregates& aggregates,
                                            const tree::Node& having) {
  return HavingBuilder(sql, aggregates).Build(having, 1);
}

}  // namespace curator::sql
