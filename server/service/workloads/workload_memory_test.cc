// What estimates and answers of many marginals hold in memory, counted at every allocation, against what is
// taken for them.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/allocations.h"
#include "service/testing/fixture.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

struct Case {
  std::string name;
  std::vector<int64_t> sizes;
  int k = 1;
  dp::Strategy strategy = dp::Strategy::kResidual;
  bool is_pure = false;
};

class WorkloadMemory : public ServiceTest, public ::testing::WithParamInterface<Case> {
 protected:
  // Of four records.
  DatasetView MakeTable() {
    std::vector<dp::Attribute> attributes;
    std::string header;
    std::string codes[2];
    for (const int64_t size : GetParam().sizes) {
      const std::string name = absl::StrCat("a", attributes.size());
      attributes.push_back(dp::Attribute::Create(name, dp::CodedKind{size}).value());
      const char* const comma = attributes.size() == 1 ? "" : ",";
      absl::StrAppend(&header, comma, name);
      absl::StrAppend(&codes[0], comma, 0);
      absl::StrAppend(&codes[1], comma, size - 1);
    }
    NewDataset table = People("table");
    table.limit = dp::RuleSpec{.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(20'000)};
    if (!GetParam().is_pure) {
      table.limit = dp::RuleSpec{
          .kind = dp::RuleKind::kZcdp, .epsilon = EpsilonOf(20'000), .delta = dp::Delta(1'000'000'000'000)};
    }
    table.schema =
        dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit()).value();
    return MakeSealed(table, absl::StrCat(header, "\n", codes[0], "\n", codes[1], "\n", codes[1], "\n"));
  }

  static WorkloadRequest Request() {
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName("table"),
            .queries = {{MarginalsQuery{.k = GetParam().k}, GetParam().strategy}},
            .spend = GetParam().is_pure ? dp::Spend{.epsilon = EpsilonOf(1000)}
                                        : dp::Spend{.rho = dp::Rho(dp::kRhoUnitsPerOne / 10)}};
  }
};

TEST_P(WorkloadMemory, OfAnEstimateStaysWithinWhatIsTaken) {
  MakeTable();
  StartCounting();
  const auto estimate = EstimateWorkload(services_, Request());
  const int64_t held = MostHeld();
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_LE(held, estimate->memory.bytes());
  EXPECT_LE(estimate->memory.bytes(), 4 * held + 40'000'000) << "far more is taken than it needs";
}

TEST_P(WorkloadMemory, OfAnAnswerStaysWithinWhatIsTaken) {
  MakeTable();
  StartCounting();
  const auto answer = AnswerWorkload(services_, Request(), {}, NewRequestId(), Intent::kDo);
  const int64_t held = MostHeld();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_LE(held, answer->memory.most_bytes());
  EXPECT_LE(answer->memory.most_bytes(), 4 * held + 100'000'000) << "far more is taken than it needs";
}

INSTANTIATE_TEST_SUITE_P(
    All, WorkloadMemory,
    ::testing::Values(
        Case{.name = "ThirtyThousandResiduals", .sizes = std::vector<int64_t>(58, 2), .k = 3},
        Case{.name = "ThirtyThousandMarginals",
             .sizes = std::vector<int64_t>(58, 2),
             .k = 3,
             .strategy = dp::Strategy::kDirect},
        Case{.name = "ThirtyThousandMarginalsOrParities",
             .sizes = std::vector<int64_t>(58, 2),
             .k = 3,
             .strategy = dp::Strategy::kAuto,
             .is_pure = true},
        Case{.name = "ThirteenThousandParities",
             .sizes = std::vector<int64_t>(14, 2),
             .k = 8,
             .strategy = dp::Strategy::kParity,
             .is_pure = true},
        Case{.name = "TwoMillionResiduals", .sizes = {1500, 1400}, .k = 2},
        Case{.name = "TwoMillionCells", .sizes = {1500, 1400}, .k = 2, .strategy = dp::Strategy::kDirect}),
    [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace curator::service
