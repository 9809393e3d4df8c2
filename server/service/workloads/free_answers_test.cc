// Which stored numbers answer another question.
#include "service/workloads/free_answers.h"

#include "service/testing/fixture.h"
#include "service/workloads/resolve_workload.h"

namespace curator::service {
namespace {

using ::testing::ElementsAre;

ValueInterval Between(const std::string& from, const std::string& to) {
  return {from, to};
}

std::vector<dp::AskedSet> Ages(const std::vector<ValueInterval>& intervals) {
  RangesQuery ranges{.attributes = {"age"}, .boxes = {}};
  for (const ValueInterval& interval : intervals) ranges.boxes.push_back({interval});
  return ResolveWorkload(PeopleSchema().domain, {{ranges}}).value();
}

// Three intervals of ages, each measured itself.
dp::WorkloadRelease MeasuredAges() {
  dp::WorkloadRelease stored;
  stored.asked = Ages({Between("0", "19"), Between("20", "29"), Between("50", "99")});
  stored.measured = stored.asked[0].queries.groups;
  stored.plans = {{.strategy = dp::Strategy::kDirect, .branching = 0, .sources = {0}}};
  stored.values = {{17, 8, 42}};
  return stored;
}

TEST(AnsweredBy, GathersIntervalsFromAmongThoseThatWereMeasured) {
  const std::vector<dp::AskedSet> asked = Ages({Between("50", "99"), Between("0", "19")});
  const auto answer = AnsweredBy(PeopleSchema().domain, MeasuredAges(), asked);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->asked, asked);
  EXPECT_EQ(answer->plans.at(0).strategy, dp::Strategy::kDirect);
  const size_t source = answer->plans.at(0).sources.at(0);
  EXPECT_EQ(answer->measured.at(source), asked[0].queries.groups[0]);
  EXPECT_THAT(answer->values.at(source), ElementsAre(42, 17));
}

TEST(AnsweredBy, DoesNotAnswerAnIntervalThatWasNotMeasured) {
  EXPECT_FALSE(
      AnsweredBy(PeopleSchema().domain, MeasuredAges(), Ages({Between("0", "19"), Between("0", "29")}))
          .has_value());
}

}  // namespace
}  // namespace curator::service
