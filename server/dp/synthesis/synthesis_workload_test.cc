#include "dp/synthesis/synthesis_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

using ::testing::ElementsAre;

QueryGroup Listed(AttributeSet set, std::vector<LinearQuery> queries) {
  return {.attributes = std::move(set), .queries = std::move(queries)};
}

TEST(SynthesisWorkload, NamesEachSetOnceInTheOrderOfTheGroups) {
  const std::vector<QueryGroup> workload = {
      {{0, 2}, EveryCell()}, Listed({1}, {{{0, 1}}}), Listed({0, 2}, {{{3, 1}}}), {{0}, EveryCell()}};
  EXPECT_THAT(SetsOf(workload), ElementsAre(AttributeSet{0, 2}, AttributeSet{1}, AttributeSet{0}));
  EXPECT_FALSE(AreWholeMarginals(workload));
  EXPECT_EQ(SetsOf(WholeMarginals(SetsOf(workload))), SetsOf(workload));
  EXPECT_TRUE(AreWholeMarginals(WholeMarginals(SetsOf(workload))));
}

TEST(SynthesisWorkload, RefusesNothingRepetitionsAndMalformedQueriesByField) {
  const Domain domain = CodedDomain({2, 3, 4});
  const auto field = [&](const std::vector<QueryGroup>& workload) {
    const absl::Status status = ValidateWorkload(domain, workload);
    return status.ok() ? "accepted" : FieldViolationOf(status)->field;
  };
  EXPECT_EQ(field({}), "workload");
  EXPECT_EQ(field(WholeMarginals(std::vector<AttributeSet>{{0}, {0}})), "workload.marginals[1]");
  EXPECT_EQ(field({Listed({0}, {{{2, 1}}})}), "workload");
  EXPECT_EQ(field({Listed({0}, {})}), "workload");
  EXPECT_EQ(field({{{0}, EveryCell()}, Listed({0}, {{{1, 1}}})}), "accepted");
}

}  // namespace
}  // namespace curator::dp
