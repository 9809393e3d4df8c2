// Workloads of millions of cells: what fits is estimated; what does not is refused with its size, the limit,
// and what would fit.
#include "service/workloads/answer_limits.h"

#include "absl/strings/str_cat.h"
#include "service/testing/fixture.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

class AnswerLimitsTest : public ServiceTest {
 protected:
  void MakeTable(const std::vector<int64_t>& sizes) {
    std::vector<dp::Attribute> attributes;
    std::string header;
    for (const int64_t size : sizes) {
      const std::string name = absl::StrCat("a", attributes.size());
      absl::StrAppend(&header, attributes.empty() ? "" : ",", name);
      attributes.push_back(dp::Attribute::Create(name, dp::CodedKind{size}).value());
    }
    NewDataset table = People("table");
    table.limit = dp::RuleSpec{
        .kind = dp::RuleKind::kZcdp, .epsilon = EpsilonOf(20'000), .delta = dp::Delta(1'000'000'000'000)};
    table.schema =
        dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit()).value();
    table_ = MakeSealed(table, header + "\n");
  }

  static WorkloadRequest AllOf(int k) {
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName("table"),
            .queries = {{MarginalsQuery{.k = k}, dp::Strategy::kResidual}},
            .spend = {.rho = dp::Rho(dp::kRhoUnitsPerOne / 10)}};
  }

  absl::StatusOr<WorkloadEstimate> Estimate(int k) { return EstimateWorkload(services_, AllOf(k)); }

  std::string RefusalOfAnswer(int k) {
    const auto answer = AnswerWorkload(services_, AllOf(k), {}, NewRequestId(), Intent::kDo);
    EXPECT_EQ(FieldOf(answer.status()), "workload");
    EXPECT_EQ(Spent(*table_), 0);
    return std::string(answer.status().message());
  }

  std::optional<DatasetView> table_;
};

TEST_F(AnswerLimitsTest, AllThreeWayMarginalsOfAdultAreEstimated) {
  MakeTable({100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2});
  const auto estimate = Estimate(3);
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_EQ(estimate->plan.shape.answers, 20'894'536);
  EXPECT_EQ(estimate->plan.shape.asked.front().groups.size(), 364u);
  const int64_t bytes = AnsweringBytes(estimate->dataset().schema.domain, estimate->asked, estimate->plan);
  EXPECT_LE(estimate->memory.bytes(), 100'000'000);
  EXPECT_LE(bytes + estimate->memory.bytes(), 600'000'000);
}

TEST_F(AnswerLimitsTest, AllThreeWayMarginalsOfAHundredAttributesAreEstimated) {
  MakeTable(std::vector<int64_t>(100, 2));
  const auto estimate = Estimate(3);
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_EQ(estimate->plan.shape.asked.front().groups.size(), 161'700u);
  EXPECT_EQ(estimate->plan.residual->queries.groups.size(), 166'751u);
  EXPECT_LE(estimate->memory.bytes(), 300'000'000);
}

// 45 million cells, and 350 MB of values alone.
TEST_F(AnswerLimitsTest, WhatWouldTakeTooMuchMemoryToAnswerIsRefusedWithWhatWouldFit) {
  MakeTable({170, 170, 170, 160, 160});
  const auto estimate = Estimate(3);
  EXPECT_EQ(FieldOf(estimate.status()), "workload");
  const std::string refusal(estimate.status().message());
  EXPECT_THAT(refusal,
              ::testing::ContainsRegex("makes a release of up to [0-9]+ bytes; at most 268435456 are "
                                       "stored: ask for less at once: some [0-9]+ of the [0-9]+ "
                                       "measured values would fit"));
  EXPECT_EQ(RefusalOfAnswer(3), refusal);
  EXPECT_TRUE(Estimate(2).ok());
}

// More than 2^26 cells.
TEST_F(AnswerLimitsTest, WhatIsNotCountedAtOnceIsRefusedByItsNumber) {
  MakeTable(std::vector<int64_t>(5, 300));
  const auto estimate = Estimate(3);
  EXPECT_EQ(FieldOf(estimate.status()), "workload.query_sets[0].marginals.all_k_way");
  EXPECT_THAT(std::string(estimate.status().message()), ::testing::HasSubstr("67108864"));
  EXPECT_TRUE(Estimate(2).ok());
}

}  // namespace
}  // namespace curator::service
