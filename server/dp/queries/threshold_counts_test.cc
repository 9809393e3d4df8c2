#include <gtest/gtest.h>

#include <random>

#include "dp/domain/testing_domain.h"
#include "dp/queries/linear_queries.h"

namespace curator::dp {
namespace {

// One cell after the other, by its definition.
std::vector<int64_t> ByDefinition(const Domain& domain, const AttributeSet& set, int64_t at_least,
                                  const std::vector<int64_t>& counts) {
  const auto codes_of = [&](size_t cell) {
    std::vector<int64_t> codes;
    for (size_t i = set.size(); i-- > 0;) {
      const auto size = static_cast<size_t>(domain.attributes()[set[i]].size());
      codes.push_back(static_cast<int64_t>(cell % size));
      cell /= size;
    }
    return codes;
  };
  std::vector<int64_t> answers(counts.size());
  for (size_t y = 0; y < counts.size(); ++y) {
    for (size_t x = 0; x < counts.size(); ++x) {
      int64_t matches = 0;
      for (size_t i = 0; i < set.size(); ++i) matches += codes_of(x)[i] == codes_of(y)[i] ? 1 : 0;
      if (matches >= at_least) answers[y] += counts[x];
    }
  }
  return answers;
}

TEST(CountsAtLeast, AreTheSumsOverCellsThatShareSoManyValues) {
  const Domain domain = CodedDomain({2, 3, 1, 4, 2});
  std::mt19937_64 random(1);
  for (const AttributeSet& set : std::vector<AttributeSet>{{0}, {1, 3}, {0, 1, 3}, {0, 1, 2, 3, 4}}) {
    std::vector<int64_t> counts(static_cast<size_t>(domain.CellCount(set).value()));
    for (int64_t& count : counts) count = static_cast<int64_t>(random() % 1000);
    for (int64_t t = 1; t <= static_cast<int64_t>(set.size()); ++t) {
      const std::vector<int64_t> expected = ByDefinition(domain, set, t, counts);
      EXPECT_EQ(CountsAtLeast(domain, set, t, counts), expected) << t;
      const std::vector<double> estimates(counts.begin(), counts.end());
      const std::vector<double> found = CountsAtLeast(domain, set, t, estimates);
      EXPECT_EQ(std::vector<int64_t>(found.begin(), found.end()), expected) << t;
    }
  }
}

TEST(ThresholdQuery, ListsTheCellsThatAThresholdCounts) {
  const Domain domain = CodedDomain({2, 3, 4});
  const AttributeSet set = {0, 1, 2};
  std::vector<int64_t> counts(24);
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<int64_t>(1) << i;
  for (int64_t t = 1; t <= 3; ++t) {
    const std::vector<int64_t> all = CountsAtLeast(domain, set, t, counts);
    for (int64_t cell = 0; cell < 24; ++cell) {
      const QueryGroup group{.attributes = set,
                             .queries = std::vector<LinearQuery>{ThresholdQuery(domain, set, t, cell)}};
      EXPECT_TRUE(ValidateQueries(domain, std::span(&group, 1)).ok());
      EXPECT_EQ(AnswersFromCounts(domain, group, counts).front(), all[static_cast<size_t>(cell)]);
    }
  }
}

}  // namespace
}  // namespace curator::dp
