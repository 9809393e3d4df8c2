#include "dp/synthesis/loop/purse.h"

#include <gtest/gtest.h>

#include "dp/accounting/rule.h"
#include "dp/synthesis/testing/laws.h"

namespace curator::dp {
namespace {

SynthesisInput InputUnder(NeighbourRelation relation) {
  SynthesisInput input = FullWorld().input;
  input.unit_bound.relation = relation;
  input.spend = {.epsilon = Epsilon(1'000'000)};
  return input;
}

TEST(PurseTest, CountsWhatIsLeftAndListsEveryDraw) {
  Purse purse = Purse::Open(InputUnder(NeighbourRelation::kAddRemove)).value();
  ASSERT_TRUE(purse.BuyRecordCount().ok());
  EXPECT_EQ(purse.left(), 980'000);
  ASSERT_TRUE(purse.BuyCounts(80'000, 4, 1, "counts").ok());
  ASSERT_TRUE(purse.BuySelections(1'000, 100, "selections").ok());
  ASSERT_TRUE(purse.BuyErrors(200'000, 50, 2, "looks").ok());
  EXPECT_EQ(purse.left(), 400'000);
  ASSERT_EQ(purse.draws().size(), 4U);
  EXPECT_EQ(purse.draws()[2].count, 100);
}

TEST(PurseTest, NeverSpendsMoreThanTheWhole) {
  const SynthesisInput input = InputUnder(NeighbourRelation::kReplaceOne);
  Purse purse = Purse::Open(input).value();
  ASSERT_TRUE(purse.BuyCounts(300'001, 7, 3, "counts").ok());
  EXPECT_EQ(purse.BuyCounts(50'000, 1, 2, "counts").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(purse.BuySelections(100'000, 1, "a selection").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(purse.BuyErrors(0, 5, 1, "a look").status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(purse.BuyErrors(purse.left(), 5, 1, "a look").ok());
  EXPECT_EQ(purse.left(), 0);
  EXPECT_EQ(CostOf(input.rule, Event{ComposedEvent{purse.draws()}}).value()[0].amount, 1'000'000);
}

// A record that leaves moves half of what one that is replaced does.
TEST(PurseTest, PricesRemovalsAtHalfOfReplacements) {
  const SynthesisInput input = InputUnder(NeighbourRelation::kReplaceOne);
  Purse purse = Purse::Open(input).value();
  ASSERT_TRUE(purse.BuyCounts(300'000, 7, 1, "counts").ok());
  ASSERT_TRUE(purse.BuySelections(100'000, 2, "selections").ok());
  ASSERT_TRUE(purse.BuyErrors(200'000, 5, 1, "a look").ok());
  const std::optional<LinearDraws> linear = purse.linear();
  ASSERT_TRUE(linear.has_value());
  EXPECT_EQ(linear->draws, purse.draws());
  EXPECT_EQ(CostOf(input.rule, Event{ComposedEvent{linear->removals}}).value()[0].amount, 350'000);
}

}  // namespace
}  // namespace curator::dp
