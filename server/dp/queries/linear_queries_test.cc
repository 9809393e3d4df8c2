#include "dp/queries/linear_queries.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

const Domain& Questions() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

// Over the six cells of {0, 1}.
QueryGroup Joint(std::vector<LinearQuery> queries) {
  return {{0, 1}, std::move(queries)};
}

TEST(ValidateQueries, RefusesMalformedOnes) {
  const std::vector<QueryGroup> malformed = {{{7}, EveryCell{}},
                                             {{}, EveryCell{}},
                                             Joint({}),
                                             Joint({{}}),
                                             Joint({{{6, 1}}}),
                                             Joint({{{1, 1}, {1, 1}}}),
                                             Joint({{{2, 1}, {1, 1}}}),
                                             Joint({{{0, 0}}}),
                                             Joint({{{0, (1 << 20) + 1}}}),
                                             Joint({{{0, -(1 << 20) - 1}}}),
                                             {{0, 1}, Boxes{}},
                                             {{0, 1}, Boxes{{{0, 1}}}},
                                             {{1}, Boxes{{{2, 1}}}},
                                             {{1}, Boxes{{{0, 3}}}},
                                             {{1}, Parity{1}},
                                             {{0, 1}, Parity{1}},
                                             {{0}, Parity{0}},
                                             {{0}, Parity{-1}},
                                             {{0}, Parity{(1 << 20) + 1}}};
  for (const QueryGroup& group : malformed)
    EXPECT_EQ(ValidateQueries(Questions(), std::span(&group, 1)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(ValidateQueries(Questions(), {}).ok());
  const QueryGroup weighted = Joint({{{0, 3}, {5, -2}}, {{0, 1}, {2, 7}}});
  EXPECT_TRUE(ValidateQueries(Questions(), std::span(&weighted, 1)).ok());
}

TEST(AnswersFromCounts, OfAParityAddAndSubtractCells) {
  const Domain bits = CodedDomain({2, 2, 2});
  const QueryGroup parity{{0, 1, 2}, Parity{5}};
  EXPECT_TRUE(ValidateQueries(bits, std::span(&parity, 1)).ok());
  EXPECT_EQ(NumberOfQueries(bits, parity), 1);
  const std::vector<int64_t> counts = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000};
  EXPECT_EQ(AnswersFromCounts(bits, parity, counts),
            std::vector<int64_t>{5 * (1 - 10 - 100 + 1000 - 10'000 + 100'000 + 1'000'000 - 10'000'000)});
}

}  // namespace
}  // namespace curator::dp
