#include "rpc/convert_selection.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/errors.h"

namespace curator::rpc {
namespace {

v1::Selection SelectionIn(const std::string& text) {
  v1::Selection selection;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &selection)) << text;
  return selection;
}

std::string BadField(const v1::Selection& selection) {
  const auto violation = FieldViolationOf(FromProto(selection).status());
  return violation ? violation->field : "";
}

TEST(ConvertSelection, TakesEachPart) {
  const auto selection = FromProto(SelectionIn(
      "columns { name: 'r' source { attribute: 'region' } } columns { name: 'n' source { statistic: 0 } } "
      "having { not { any_of { conditions { compare { statistic: 1 operator: LESS value: 2.5 } } } } } "
      "order_by { source { statistic: 0 } descending: true } limit: 3 offset: 0"));
  ASSERT_TRUE(selection.ok()) << selection.status();
  EXPECT_EQ(selection->columns[0], (service::OutputColumn{"r", std::string("region")}));
  EXPECT_EQ(selection->columns[1], (service::OutputColumn{"n", int32_t{0}}));
  ASSERT_TRUE(selection->having);
  EXPECT_EQ(selection->having->kind, service::GroupCondition::Kind::kNot);
  const service::AnswerComparison& compare = selection->having->operands[0].operands[0].compare;
  EXPECT_EQ(compare.op, dp::ComparisonOperator::kLess);
  EXPECT_EQ(compare.value, 2.5);
  EXPECT_TRUE(selection->order_by[0].descending);
  EXPECT_EQ(selection->limit, 3);
  EXPECT_EQ(selection->offset, 0);
  EXPECT_FALSE(FromProto(v1::Selection())->limit);
}

TEST(ConvertSelection, WhatIsEmptyIsRefusedWithItsPath) {
  EXPECT_EQ(BadField(SelectionIn("columns { name: 'n' }")), "selection.columns[0].source");
  EXPECT_EQ(BadField(SelectionIn("order_by { source { } }")), "selection.order_by[0].source");
  EXPECT_EQ(BadField(SelectionIn("having { }")), "selection.having");
  EXPECT_EQ(BadField(SelectionIn("having { any_of { } }")), "selection.having.any_of");
  EXPECT_EQ(BadField(SelectionIn("having { all_of { conditions { not { } } } }")),
            "selection.having.all_of.conditions[0].not");
  EXPECT_EQ(BadField(SelectionIn("having { compare { value: 1 } }")), "selection.having.compare.operator");
}

TEST(ConvertSelection, ComparisonsAreCountedBeforeTheyAreConverted) {
  v1::Selection selection;
  v1::GroupConditions& all = *selection.mutable_having()->mutable_all_of();
  for (size_t i = 0; i < service::kMostGroupConditions; ++i)
    all.add_conditions()->mutable_compare()->set_operator_(v1::Comparison::LESS);
  EXPECT_EQ(BadField(selection), "");
  all.add_conditions()->mutable_compare()->set_operator_(v1::Comparison::LESS);
  EXPECT_EQ(BadField(selection), "selection.having");
}

TEST(ConvertSelection, DepthIsBounded) {
  v1::Selection selection;
  v1::GroupCondition* condition = selection.mutable_having();
  for (int i = 0; i < service::kMostConditionDepth; ++i) condition = condition->mutable_not_();
  EXPECT_EQ(BadField(selection), "selection.having");
}

}  // namespace
}  // namespace curator::rpc
