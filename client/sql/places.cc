#include "client/sql/places.h"

namespace curator::sql {

int64_t PlaceOf(const tree::Node& node) {
  switch (node.node_case()) {
    case tree::Node::kRangeVariable:
      return node.range_variable().location();
    case tree::Node::kBoolExpression:
      return node.bool_expression().location();
    case tree::Node::kSubLink:
      return node.sub_link().location();
    case tree::Node::kCaseExpression:
      return node.case_expression().location();
    case tree::Node::kCoalesce:
      return node.coalesce().location();
    case tree::Node::kMinMax:
      return node.min_max().location();
    case tree::Node::kValueFunction:
      return node.value_function().location();
    case tree::Node::kNullTest:
      return PlaceOf(node.null_test().argument());
    case tree::Node::kBooleanTest:
      return node.boolean_test().location();
    case tree::Node::kColumn:
      return node.column().location();
    case tree::Node::kParameter:
      return node.parameter().location();
    case tree::Node::kCall:
      return node.call().location();
    case tree::Node::kArray:
      return node.array().location();
    case tree::Node::kTarget:
      return node.target().location();
    case tree::Node::kCast:
      return node.cast().location() >= 0 ? node.cast().location() : PlaceOf(node.cast().argument());
    case tree::Node::kSort:
      return PlaceOf(node.sort().node());
    case tree::Node::kGroupingSet:
      return node.grouping_set().location();
    case tree::Node::kConstant:
      return node.constant().location();
    case tree::Node::kOperation:
      return node.operation().location();
    default:
      return -1;
  }
}

}  // namespace curator::sql
