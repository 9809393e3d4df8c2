#include "client/sql/conditions.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/sql/constants.h"
#include "client/sql/places.h"
#include "client/sql/refusal.h"

namespace curator::sql {
namespace {

// Translates one WHERE. Counts what it has, and notes where that is: an expression keeps the order of the
// statement.
class Builder {
 public:
  Builder(std::string_view sql, const Columns& columns) : sql_(sql), columns_(columns) {}

  absl::StatusOr<v1::Expression> Build(const tree::Node& node, int depth) {
    if (depth > kMostJoins) {
      return Refusal(sql_, PlaceOf(node),
                     absl::StrCat("AND, OR and NOT are nested deeper than ", kMostJoins, " levels here"));
    }
    if (node.has_bool_expression()) return Joined(node.bool_expression(), depth);
    if (node.has_operation()) return OfOperation(node.operation());
    if (node.has_null_test()) return OfNullTest(node.null_test());
    return NoCondition(node);
  }

  std::vector<ConditionPlaces> TakePlaces() && { return std::move(places_); }

 private:
  absl::Status NoCondition(const tree::Node& node) const {
    if (node.has_constant())
      return Refusal(sql_, PlaceOf(node),
                     "TRUE, FALSE and NULL are no conditions: leave WHERE out, or compare");
    if (node.has_column()) {
      return Refusal(sql_, PlaceOf(node),
                     "a column alone is no condition: compare it with a value, such as smoker = 'yes'");
    }
    if (node.has_boolean_test())
      return Refusal(sql_, PlaceOf(node),
                     "IS TRUE is not known: write the condition itself, or NOT before it");
    return Refusal(sql_, PlaceOf(node),
                   "a condition compares an attribute with constants: =, <>, <, <=, >, >=, BETWEEN, IN, "
                   "IS NULL, joined by AND, OR, NOT");
  }

  static v1::Expression Not(v1::Expression expression) {
    v1::Expression result;
    if (expression.has_not_()) {
      result.Swap(expression.mutable_not_());
    } else {
      result.mutable_not_()->Swap(&expression);
    }
    return result;
  }

  absl::StatusOr<v1::Expression> Joined(const tree::BoolExpression& node, int depth) {
    if (node.operator_() == tree::BoolExpression::NOT) {
      ASSIGN_OR_RETURN(v1::Expression argument, Build(node.arguments(0), depth + 1));
      return Not(std::move(argument));
    }
    const bool all = node.operator_() == tree::BoolExpression::AND;
    v1::Expression result;
    v1::Expressions& joined = all ? *result.mutable_all_of() : *result.mutable_any_of();
    for (const tree::Node& argument : node.arguments()) {
      ASSIGN_OR_RETURN(v1::Expression each, Build(argument, depth + 1));
      // BETWEEN and brackets: what is joined alike is one list.
      if (all && each.has_all_of()) {
        joined.MergeFrom(each.all_of());
      } else if (!all && each.has_any_of()) {
        joined.MergeFrom(each.any_of());
      } else {
        joined.add_expressions()->Swap(&each);
      }
    }
    return result;
  }

  // `attribute` is the node that names it.
  absl::Status AddCondition(int64_t place, const tree::Node& attribute) {
    places_.push_back({.attribute = PlaceOf(attribute), .values = {}});
    if (places_.size() <= kMostConditions) return absl::OkStatus();
    return Refusal(sql_, place, absl::StrCat("WHERE has more than ", kMostConditions, " conditions"));
  }

  absl::StatusOr<Column> AttributeOf(const tree::Node& node) const {
    if (node.has_column()) return columns_.FindAttribute(node.column(), "WHERE");
    if (node.has_call()) {
      return Refusal(sql_, PlaceOf(node),
                     "WHERE compares columns of records; a condition on an aggregate belongs in HAVING, and "
                     "functions of columns are not calculated");
    }
    if (node.has_operation() || node.has_cast()) {
      return Refusal(sql_, PlaceOf(node),
                     "columns are not calculated with: compare the column itself with a constant");
    }
    return Refusal(sql_, PlaceOf(node), "a column is needed here, to be compared with a constant");
  }

  absl::StatusOr<v1::Expression> Comparison(const tree::Node& left, v1::Comparison::Operator op,
                                            const tree::Node& right, int64_t place) {
    const bool is_exchanged = !left.has_column() && right.has_column();
    const tree::Node& attribute = is_exchanged ? right : left;
    const tree::Node& value = is_exchanged ? left : right;
    RETURN_IF_ERROR(AddCondition(place, attribute));
    if (left.has_column() && right.has_column()) {
      return Refusal(sql_, PlaceOf(right),
                     "two columns are not compared with each other: compare each with a constant");
    }
    ASSIGN_OR_RETURN(const Column column, AttributeOf(attribute));
    v1::Expression result;
    v1::Condition& condition = *result.mutable_condition();
    condition.set_attribute(column.name);
    condition.mutable_compare()->set_operator_(is_exchanged ? Exchanged(op) : op);
    ASSIGN_OR_RETURN(*condition.mutable_compare()->mutable_value(), ConstantOf(sql_, value));
    places_.back().values.push_back(PlaceOf(value));
    return result;
  }

  absl::StatusOr<v1::Expression> Between(const tree::OperatorExpression& node) {
    const auto& ends = node.right().list().items();
    if (ends.size() != 2) return Refusal(sql_, node.location(), "BETWEEN takes two constants");
    v1::Expression result;
    const std::pair<int, v1::Comparison::Operator> sides[] = {{0, v1::Comparison::GREATER_OR_EQUAL},
                                                              {1, v1::Comparison::LESS_OR_EQUAL}};
    for (const auto& [end, op] : sides) {
      if (!IsConstant(ends[end])) RETURN_IF_ERROR(ConstantOf(sql_, ends[end]).status());
      ASSIGN_OR_RETURN(*result.mutable_all_of()->add_expressions(),
                       Comparison(node.left(), op, ends[end], node.location()));
    }
    return result;
  }

  absl::StatusOr<v1::Expression> In(const tree::OperatorExpression& node) {
    RETURN_IF_ERROR(AddCondition(node.location(), node.left()));
    ASSIGN_OR_RETURN(const Column column, AttributeOf(node.left()));
    v1::Expression result;
    v1::Condition& condition = *result.mutable_condition();
    condition.set_attribute(column.name);
    for (const tree::Node& item : node.right().list().items()) {
      if (++values_ > kMostListedValues) {
        return Refusal(sql_, PlaceOf(item),
                       absl::StrCat("IN lists more than ", kMostListedValues, " values in all"));
      }
      ASSIGN_OR_RETURN(*condition.add_in(), ConstantOf(sql_, item));
      places_.back().values.push_back(PlaceOf(item));
    }
    const bool is_not = node.name_size() == 1 && node.name(0).string().text() == "<>";
    return is_not ? Not(std::move(result)) : result;
  }

  absl::StatusOr<v1::Expression> OfOperation(const tree::OperatorExpression& node) {
    using Node = tree::OperatorExpression;
    switch (node.kind()) {
      case Node::OPERATOR: {
        ASSIGN_OR_RETURN(const v1::Comparison::Operator op, ComparisonOf(sql_, node));
        return Comparison(node.left(), op, node.right(), node.location());
      }
      case Node::BETWEEN:
        return Between(node);
      case Node::NOT_BETWEEN: {
        ASSIGN_OR_RETURN(v1::Expression between, Between(node));
        return Not(std::move(between));
      }
      case Node::IN:
        return In(node);
      case Node::LIKE:
      case Node::ILIKE:
      case Node::SIMILAR:
        return Refusal(sql_, node.location(),
                       "patterns are not matched: list the values, with IN ('a', 'b')");
      case Node::DISTINCT:
      case Node::NOT_DISTINCT:
        return Refusal(sql_, node.location(),
                       "IS DISTINCT FROM is not known: write = or <>, and IS NULL for missing values");
      case Node::BETWEEN_SYMMETRIC:
      case Node::NOT_BETWEEN_SYMMETRIC:
        return Refusal(sql_, node.location(), "SYMMETRIC is not known: write the smaller constant first");
      case Node::ANY:
      case Node::ALL:
        return Refusal(sql_, node.location(), "ANY and ALL of arrays are not known: write IN ('a', 'b')");
      default:
        return Refusal(sql_, node.location(), "this is not known: compare with =, <>, <, <=, > or >=");
    }
  }

  absl::StatusOr<v1::Expression> OfNullTest(const tree::NullTest& node) {
    RETURN_IF_ERROR(AddCondition(node.location(), node.argument()));
    ASSIGN_OR_RETURN(const Column column, AttributeOf(node.argument()));
    v1::Expression result;
    result.mutable_condition()->set_attribute(column.name);
    result.mutable_condition()->set_is_missing(true);
    return node.kind() == tree::NullTest::IS_NULL ? result : Not(std::move(result));
  }

  std::string_view sql_;
  const Columns& columns_;
  std::vector<ConditionPlaces> places_;
  int values_ = 0;
};

}  // namespace

absl::StatusOr<Conditions> ConditionsOf(std::string_view sql, const Columns& columns,
                                        const tree::Node& where) {
  Builder builder(sql, columns);
  Conditions conditions;
  ASSIGN_OR_RETURN(conditions.expression, builder.Build(where, 1));
  conditions.places = std::move(builder).TakePlaces();
  return conditions;
}

absl::StatusOr<v1::Comparison::Operator> ComparisonOf(std::string_view sql,
                                                      const tree::OperatorExpression& operation) {
  const std::string name = operation.name().empty() ? "" : operation.name(0).string().text();
  if (operation.name_size() == 1) {
    if (name == "=") return v1::Comparison::EQUAL;
    if (name == "<>") return v1::Comparison::NOT_EQUAL;
    if (name == "<") return v1::Comparison::LESS;
    if (name == "<=") return v1::Comparison::LESS_OR_EQUAL;
    if (name == ">") return v1::Comparison::GREATER;
    if (name == ">=") return v1::Comparison::GREATER_OR_EQUAL;
    if (name == "==") return Refusal(sql, operation.location(), "'==' is not known; did you mean =?");
  }
  return Refusal(sql, operation.location(),
                 absl::StrCat("'", name, "' is no comparison; there are: =, <>, <, <=, >, >="));
}

v1::Comparison::Operator Exchanged(v1::Comparison::Operator op) {
  switch (op) {
    case v1::Comparison::LESS:
      return v1::Comparison::GREATER;
    case v1::Comparison::LESS_OR_EQUAL:
      return v1::Comparison::GREATER_OR_EQUAL;
    case v1::Comparison::GREATER:
      return v1::Comparison::LESS;
    case v1::Comparison::GREATER_OR_EQUAL:
      return v1::Comparison::LESS_OR_EQUAL;
    default:
      return op;
  }
}

}  // namespace curator::sql
