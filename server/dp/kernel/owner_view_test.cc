#include "dp/kernel/owner_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "dp/data/sealed_table.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/workload/testing_domain.h"

namespace curator::service {

// In the product this class writes an entry first; here it stands in for it.
class OwnerActions {
 public:
  static dp::OwnerWarrant Warrant() { return {}; }
};

}  // namespace curator::service

namespace curator::dp {
namespace {

TEST(OwnerView, CountsExactly) {
  const Domain domain = CodedDomain({2, 3});
  const OwnerView view(service::OwnerActions::Warrant(), SealRows(domain, {{0, 1}, {1, 2}, {0, 1}}).value(),
                       domain);
  EXPECT_EQ(view.Records(), 3);
  EXPECT_EQ(view.Counts({{0}, {0, 1}}).value(),
            (std::vector<std::vector<int64_t>>{{2, 1}, {0, 2, 0, 0, 0, 1}}));
  EXPECT_EQ(view.Counts({{7}}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(OwnerView, GivesTheResponsesOfEachGroup) {
  const Domain domain = CodedDomain({2, 3});
  SealedTableBuilder builder(domain, RowOwner::kItselfInGroup);
  for (const auto& [code, group] : {std::pair{2u, 0u}, {0u, 1u}, {2u, 0u}, {1u, 0u}})
    ASSERT_TRUE(builder.AppendRow(std::vector<uint32_t>{0, code}, group).ok());
  const OwnerView view(service::OwnerActions::Warrant(), std::move(builder).Build().value(), domain);
  const std::vector<double> numbers = {10, 20, 30};
  const std::vector<RiskGroup> groups = view.Responses(1, numbers).value();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].values, testing::ElementsAre(20, 30));
  EXPECT_THAT(groups[0].counts, testing::ElementsAre(1, 2));
  EXPECT_THAT(groups[1].values, testing::ElementsAre(10));
  EXPECT_EQ(view.Responses(0, numbers).status().code(), absl::StatusCode::kInvalidArgument);
  const OwnerView flat(service::OwnerActions::Warrant(), SealRows(domain, {{0, 1}}).value(), domain);
  EXPECT_EQ(flat.Responses(1, numbers).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(OwnerWarrant, IsMadeByNobodyElseAndUsedOnce) {
  static_assert(!std::is_default_constructible_v<OwnerWarrant>);
  static_assert(!std::is_copy_constructible_v<OwnerWarrant>);
  static_assert(!std::is_constructible_v<OwnerView, const OwnerWarrant&, SealedTableHandle, Domain>);
}

}  // namespace
}  // namespace curator::dp
