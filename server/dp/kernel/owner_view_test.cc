#include "dp/kernel/owner_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "dp/data/sealed_table.h"
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

TEST(OwnerWarrant, IsMadeByNobodyElseAndUsedOnce) {
  static_assert(!std::is_default_constructible_v<OwnerWarrant>);
  static_assert(!std::is_copy_constructible_v<OwnerWarrant>);
  static_assert(!std::is_constructible_v<OwnerView, const OwnerWarrant&, SealedTableHandle, Domain>);
}

}  // namespace
}  // namespace curator::dp
