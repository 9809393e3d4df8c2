// A workload whose answer could not be stored.
#include "service/workloads/workloads.h"

#include "codec/release_codec.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

constexpr int64_t kSide = 256;
const std::string kLongName(1024, 'n');

// As many cells as one request may count: those of "code", of "a" by "b", and of "name".
dp::Schema WideSchema() {
  constexpr int64_t kMostCells = dp::PlanLimits().most_cells;
  std::vector<dp::Attribute> attributes = {
      dp::Attribute::Create("code", dp::CodedKind{kMostCells - kSide * kSide - 2}).value(),
      dp::Attribute::Create("a", dp::CodedKind{kSide}).value(),
      dp::Attribute::Create("b", dp::CodedKind{kSide}).value(),
      dp::Attribute::Create("name", dp::CategoricalKind{{kLongName, "n"}, std::nullopt}).value()};
  return dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit()).value();
}

Condition AllBut(const std::string& attribute, int64_t code) {
  Condition condition{.attribute = attribute, .values = {}, .between = std::nullopt};
  for (int64_t other = 0; other < kSide; ++other) {
    if (other != code) condition.values.push_back(std::to_string(other));
  }
  return condition;
}

// Each answer is measured itself. The counts of "code", and the terms of the thresholds, take nearly all that
// a release may hold; the names that the predicates repeat may be more than the rest.
std::vector<QuerySetRequest> LargeWorkload(int predicates) {
  std::vector<QuerySetRequest> sets = {
      {MarginalsQuery{.sets = {{"code"}}, .k = std::nullopt, .attributes = {}}, dp::Strategy::kAuto}};
  for (int64_t i = 0; i < 63; ++i) {
    sets.push_back({ThresholdsQuery{{AllBut("a", i), AllBut("b", i)}, {1}, 0, {}}, dp::Strategy::kDirect});
  }
  PredicatesQuery named;
  const Condition long_name{.attribute = "name", .values = {kLongName}, .between = std::nullopt};
  for (int i = 0; i < predicates; ++i) named.predicates.push_back({long_name});
  sets.push_back({std::move(named), dp::Strategy::kDirect});
  return sets;
}

using WorkloadsTest = ServiceTest;

TEST_F(WorkloadsTest, AnAnswerThatCouldNotBeStoredIsRefusedBeforeTheCharge) {
  NewDataset wide = People("wide");
  wide.schema = WideSchema();
  const DatasetView dataset = MakeSealed(wide, "code,a,b,name\n");
  const auto estimate = [&](int predicates) {
    return EstimateWorkload(services_, {.principal = TestPrincipal("owner"),
                                        .dataset = DatasetName("wide"),
                                        .queries = LargeWorkload(predicates),
                                        .spend = {.epsilon = EpsilonOf(1000)},
                                        .target = std::nullopt,
                                        .mechanism = std::nullopt,
                                        .parts = {}})
        .status();
  };
  EXPECT_TRUE(estimate(100).ok()) << estimate(100);
  const absl::Status refused = estimate(8000);
  EXPECT_EQ(FieldOf(refused), "workload");
  EXPECT_THAT(std::string(refused.message()),
              ::testing::HasSubstr("at most " + std::to_string(codec::kMostReleaseBytes) + " are stored"));
}

TEST_F(WorkloadsTest, APostProcessingThatCannotBeDoneIsRefusedBeforeTheCharge) {
  NewDataset wide = People("wide");
  wide.schema = WideSchema();
  const DatasetView dataset = MakeSealed(wide, "code,a,b,name\n");
  const WorkloadRequest request{.principal = TestPrincipal("owner"),
                                .dataset = DatasetName("wide"),
                                .queries = {{MarginalsQuery{.sets = {{"code"}}}}},
                                .spend = {.epsilon = EpsilonOf(1000)}};
  const dp::PostProcessing steps{.non_negative = true, .consistent = true};
  for (const Intent intent : {Intent::kValidateOnly, Intent::kDo}) {
    EXPECT_EQ(FieldOf(AnswerWorkload(services_, request, steps, NewRequestId(), intent).status()),
              "post_processing");
  }
  EXPECT_EQ(Spent(dataset), 0);
}

TEST_F(WorkloadsTest, APaidAnswerNamesAReleaseThatWouldHaveAnsweredFree) {
  MakeSealed(People("census"));
  const WorkloadRequest request{.principal = TestPrincipal("owner"),
                                .dataset = DatasetName("census"),
                                .queries = {{MarginalsQuery{.sets = {{"sex"}}}}},
                                .spend = {.epsilon = EpsilonOf(1000)}};
  const auto first = AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(first->could_be_free_from.has_value());
  EXPECT_EQ(second->could_be_free_from, first->release.id);
  EXPECT_NE(second->release.id, first->release.id);
}

}  // namespace
}  // namespace curator::service
