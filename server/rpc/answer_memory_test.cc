// What planning statistics, and what reading, selecting and sending a stored answer of them hold in memory,
// counted at every allocation, against what is taken for it.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/allocations.h"
#include "codec/release_codec.h"
#include "dp/domain/testing_domain.h"
#include "dp/workload/memory_forecast.h"
#include "rpc/answer_stream.h"
#include "service/workloads/answers.h"

namespace curator::rpc {
namespace {

// Of groups of a0, where a1 has the codes of `where`; quantiles are of a number column beside.
struct Case {
  std::string name;
  int64_t groups = 1;
  int64_t where = 1;  // cells of the condition
  int64_t codes = 2;  // of the quantiles' column
  size_t quantiles = 0;
  bool is_sorted = false;
  size_t words = 0;  // bytes of the condition's
};

dp::Attribute Integer(const std::string& name, int64_t codes) {
  return *dp::Attribute::Create(name, dp::IntegerKind{.min = 0, .max = codes - 1});
}

dp::Domain DomainOf(const Case& given) {
  return *dp::Domain::Create(
      {Integer("group", given.groups), Integer("where", given.where), Integer("number", given.codes)});
}

dp::AskedStatistics AskedOf(const Case& given) {
  dp::AskedStatistics asked{.by = {0}, .where = {1}, .quantiles = dp::QuantileWay::kTree};
  for (uint32_t cell = 0; cell < given.where; ++cell) asked.cells.push_back(cell);
  asked.condition.assign(given.words, 'x');
  if (given.quantiles == 0) asked.statistics.push_back({.kind = dp::StatisticKind::kCount});
  for (size_t i = 0; i < given.quantiles; ++i) {
    asked.statistics.push_back({.kind = dp::StatisticKind::kQuantile,
                                .column = 2,
                                .thousandths = static_cast<int32_t>(10 * i + 10)});
  }
  return asked;
}

// Noise without records, as the values of what is drawn for `asked`.
std::string StoredFor(const dp::Domain& domain, const dp::AskedStatistics& asked) {
  dp::WorkloadRelease release;
  release.asked.push_back({.query_class = dp::QueryClass::kStatistics, .by = asked.by, .statistics = asked});
  const std::vector<dp::AskedStatistics> sets = {asked};
  dp::StatisticsRelease& drawn = release.statistics;
  drawn.draws = dp::DrawsFor(domain, {}, dp::Mechanism::kDiscreteGaussian, sets).value();
  for (const dp::StatisticsDraw& draw : drawn.draws) {
    drawn.bought.push_back({.noise = {dp::Mechanism::kDiscreteGaussian, {400, 1}}, .epsilon = {}});
    std::vector<int64_t>& values = drawn.values.emplace_back();
    for (int64_t i = 0; i < dp::NumberOfValues(domain, sets, draw); ++i) values.push_back(i * 37 % 101 - 20);
  }
  return codec::EncodeRelease(release);
}

// As GetRelease() and a repeated AnswerWorkload() do.
absl::Status ReadAndSend(const dp::Domain& domain, std::string payload,
                         const std::optional<service::Selection>& selection, service::RequestMemory& memory) {
  RETURN_IF_ERROR(memory.Add(dp::StoredAnswerBytes(std::ssize(payload))));
  ASSIGN_OR_RETURN(const dp::WorkloadRelease release, service::DecodeAnswer(domain, payload, memory));
  payload = std::string();
  ASSIGN_OR_RETURN(service::ReleaseAnswers answers,
                   service::ReleaseAnswers::Create(domain, release, 0.95, {}));
  return WriteAnswers(domain, release.asked, answers, selection, [](const v1::AnswerChunk&) { return true; });
}

class MemoryOfStatistics : public testing::TestWithParam<Case> {};

TEST_P(MemoryOfStatistics, OfAStoredAnswerStaysWithinWhatIsTaken) {
  const dp::Domain domain = DomainOf(GetParam());
  std::optional<service::Selection> selection;
  if (GetParam().is_sorted) selection = {.order_by = {{int32_t{0}}}};
  const std::string stored = StoredFor(domain, AskedOf(GetParam()));
  service::RequestMemory memory;
  StartCounting();
  const absl::Status sent = ReadAndSend(domain, stored, selection, memory);
  const int64_t held = MostHeld();
  ASSERT_TRUE(sent.ok()) << sent;
  EXPECT_LE(held, memory.bytes());
  EXPECT_LE(memory.bytes(), 4 * held + 10'000'000) << "far more is taken than it needs";
}

TEST_P(MemoryOfStatistics, OfAPlanStaysWithinWhatIsTaken) {
  const dp::Domain domain = DomainOf(GetParam());
  const std::vector<dp::AskedStatistics> sets = {AskedOf(GetParam())};
  const dp::UnitBound record;
  StartCounting();
  const std::vector<dp::AskedStatistics> copy = sets;
  const auto draws = dp::DrawsFor(domain, record, dp::Mechanism::kDiscreteGaussian, copy).value();
  const auto share = dp::Rho(dp::kRhoUnitsPerOne);
  const auto bought = dp::BuyStatistics(domain, record, copy, draws, share).value().bought;
  ASSERT_TRUE(dp::ForecastsOf(domain, record, copy, 0, draws, bought, 0.95).ok());
  EXPECT_LE(MostHeld(), dp::StatisticsPlanningBytes(domain, sets));
}

INSTANTIATE_TEST_SUITE_P(
    All, MemoryOfStatistics,
    testing::Values(Case{.name = "OneAnswer"},
                    Case{.name = "MostAnswers", .groups = dp::kMostStatisticAnswers},
                    Case{.name = "MostAnswersSorted", .groups = dp::kMostStatisticAnswers, .is_sorted = true},
                    Case{.name = "ManyAnswersOfFewValues", .groups = 1 << 14, .codes = 2, .quantiles = 64},
                    Case{.name = "ManyQuantilesOfManyCodes", .codes = 1 << 17, .quantiles = 64},
                    Case{.name = "OneQuantileOfManyCodes", .codes = 1 << 21, .quantiles = 1},
                    Case{.name = "ALargeCondition", .where = dp::kMostGroupCells},
                    Case{.name = "AConditionOfManyWords", .words = size_t{1} << 24}),
    [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace curator::rpc
