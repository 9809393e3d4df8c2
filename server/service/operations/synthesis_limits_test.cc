// How large the workload of a synthesis may be: as what is predicted for it, not as an answer of all its
// cells.
#include <gmock/gmock.h>

#include "base/errors.h"
#include "dp/domain/testing_domain.h"
#include "service/operations/synthesis.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::HasSubstr;

class SynthesisLimits : public ServiceTest {
 protected:
  void MakeTable(const std::vector<int64_t>& sizes) {
    NewDataset table = People("table");
    table.schema = dp::CreateSchema(dp::CodedDomain(sizes), dp::RecordUnit()).value();
    Make(table);
  }

  absl::StatusOr<SynthesisEstimate> Estimate(const std::string& method, const MarginalsQuery& marginals,
                                             const std::map<std::string, std::string>& settings = {}) {
    return EstimateSynthesis(services_, {.principal = TestPrincipal("owner"),
                                         .dataset = DatasetName("table"),
                                         .method = method,
                                         .spend = {.epsilon = EpsilonOf(1000)},
                                         .settings = settings,
                                         .workload = {{marginals}},
                                         .assume_records = std::nullopt,
                                         .parts = {}});
  }
};

// The sizes of the census table of Adult, as the literature takes them.
const std::vector<int64_t> kAdultSizes = {85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2};

TEST_F(SynthesisLimits, AllTriplesOfAdultArePlannedByEachMethod) {
  MakeTable(kAdultSizes);
  for (const char* const method : {"auto", "mwem", "aim", "swift", "mst", "rap", "dpsyn", "priview"}) {
    const auto estimate = Estimate(method, {.k = 3});
    ASSERT_TRUE(estimate.ok()) << method << ": " << estimate.status();
    EXPECT_EQ(estimate->input.workload.size(), 364u) << method;
    EXPECT_LE(estimate->bytes, kMostPaidBytes) << method;
  }
  EXPECT_THAT(
      std::string(Estimate("mwem", {.k = 3}, {{"max_cells", "67108864"}}).status().message()),
      HasSubstr("of memory to fit; at most 1000 MB are given to one request: ask for fewer or smaller "
                "marginals, or set lower limits of what the method holds (max_cells"));
}

// 770 sets of 241 million cells in all.
TEST_F(SynthesisLimits, MoreCellsThanAnAnswerMayHaveArePlannedByMethodsThatDoNotHoldThem) {
  MakeTable(kAdultSizes);
  const MarginalsQuery five_way{.k = 5, .max_cells = int64_t{1} << 20};
  for (const char* const method : {"rap", "dpsyn", "priview"}) {
    const auto estimate = Estimate(method, five_way);
    ASSERT_TRUE(estimate.ok()) << method << ": " << estimate.status();
    int64_t cells = 0;
    for (const dp::QueryGroup& group : estimate->input.workload)
      cells += estimate->input.domain.CellCount(group.attributes).value();
    EXPECT_GT(cells, dp::PlanLimits().most_cells);
    EXPECT_LE(estimate->bytes, kMostPaidBytes) << method;
  }
  const absl::Status refused = Estimate("mwem", five_way).status();
  EXPECT_EQ(FieldOf(refused), "workload") << "it counts all candidates at once";
}

TEST_F(SynthesisLimits, AMarginalThatIsTooLargeForATableIsRefusedByItsNameAndCells) {
  MakeTable({1000, 1000, 1000, 2});
  for (const char* const method : {"mwem", "rap", "dpsyn", "priview"}) {
    const absl::Status refused = Estimate(method, {.sets = {{"a0", "a1"}, {"a0", "a1", "a2"}}}).status();
    EXPECT_EQ(FieldOf(refused), "workload.query_sets[0].marginals.sets") << method;
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("has the marginal of a0, a1, a2 with 1000000000 cells; at most 67108864"));
    EXPECT_TRUE(Estimate(method, {.sets = {{"a0", "a1"}, {"a1", "a2"}}}).ok()) << method;
  }
}

// 20 rounds estimate 4 billion cells of as many rows as there may be.
TEST_F(SynthesisLimits, OneThatWouldBeStoppedBeforeItsEndIsRefusedInSeconds) {
  MakeTable(std::vector<int64_t>(24, 16));
  const MarginalsQuery five_way{.k = 5};
  const absl::Status refused =
      Estimate("rap", five_way, {{"rounds", "20"}, {"per_round", "1"}, {"rows", "4000"}}).status();
  EXPECT_EQ(FieldOf(refused), "workload") << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("seconds of processor to fit; at most"));
  EXPECT_TRUE(Estimate("dpsyn", five_way).ok()) << Estimate("dpsyn", five_way).status();
}

}  // namespace
}  // namespace curator::service
