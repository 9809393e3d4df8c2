// The bytes of stored releases, and the identities of draws, are the same in every release of the program: a
// release that an earlier program stored is read, and a draw that it was charged for is recognized.
//
// stored_bytes.txt has one line for each release and each draw below, with its bytes, or the hash of its
// identity, that the program gave it when the line was written. Lines are added and never changed.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "codec/draw_identity.h"
#include "codec/release_codec.h"
#include "dp/queries/testing/all_intervals.h"

namespace curator::golden {
namespace {

const dp::NoiseSpec kStoredNoise{dp::Mechanism::kDiscreteLaplace, {3, 2}};

dp::WorkloadRelease Marginals() {
  dp::WorkloadRelease release{
      .asked = {dp::AskedSet()},
      .plans = {{.strategy = dp::Strategy::kDirect, .branching = 0, .sources = {0, 1}}},
      .measured = {{{0}, dp::EveryCell()}, {{1, 2}, dp::EveryCell()}},
      .noise = kStoredNoise,
      .values = {{5, -1}, {7, 8, 9}},
      .event = "noise"};
  release.asked[0].queries.groups = release.measured;
  return release;
}

dp::WorkloadRelease Mixture() {
  dp::WorkloadRelease release{
      .asked = {dp::AskedSet(), dp::AskedSet()},
      .plans = {{dp::Strategy::kTree, 2, {0}}, {dp::Strategy::kBaseHistogram, 0, {1, 1}}},
      .measured = {{{0}, dp::Boxes{{{0, 0}, {1, 1}}}}, {{1, 2}, dp::EveryCell()}},
      .noise = kStoredNoise,
      .values = {{5, -1}, {7, 8, 9, 10}},
      .event = "noise"};
  release.asked[0].query_class = dp::QueryClass::kRanges;
  release.asked[0].queries = {{{{0}, dp::AllIntervals(2)}}, dp::Strategy::kTree};
  release.asked[1].query_class = dp::QueryClass::kPredicates;
  release.asked[1].queries.groups = {{{1}, std::vector<dp::LinearQuery>{{{0, 1}, {1, -1}}}},
                                     {{1, 2}, dp::Boxes{{{0, 0}, {1, 1}}}}};
  release.asked[1].words = {"one", "another"};
  release.asked[1].by = {2};
  return release;
}

dp::WorkloadRelease Mean() {
  using Kind = dp::SummedValue::Kind;
  dp::WorkloadRelease release;
  release.asked.emplace_back().query_class = dp::QueryClass::kStatistics;
  release.asked[0].statistics =
      dp::AskedStatistics{.statistics = {{.kind = dp::StatisticKind::kMean, .column = 0}}};
  release.event = "noise";
  release.statistics.draws = {
      {.set = 0, .what = dp::SumDraw{{}, {.kind = Kind::kValue, .column = 0, .centre = 3}}},
      {.set = 0, .what = dp::SumDraw()}};
  release.statistics.bought.resize(2, {.noise = kStoredNoise, .epsilon = {}});
  release.statistics.values = {{-2}, {7}};
  return release;
}

// Ranges of an attribute of 3 codes by weights, beside one of 2 codes by Helmert contrasts.
dp::WorkloadRelease Residuals() {
  dp::WorkloadRelease release{
      .asked = {dp::AskedSet(), dp::AskedSet()},
      .plans = {{.strategy = dp::Strategy::kResidual}, {.strategy = dp::Strategy::kResidual}},
      .values = {{40}, {-3, 1}, {7}, {2, -9}},
      .residual = dp::ResidualMeasurement(),
      .event = "noise"};
  release.asked[0].queries.groups = {{{0, 1}, dp::EveryCell()}};
  release.asked[1].query_class = dp::QueryClass::kRanges;
  release.asked[1].queries = {{{{0}, dp::AllIntervals(3)}}, dp::Strategy::kResidual};
  release.residual->queries.axes = {{.weights = {1, -1, 0, 1, 1, -70'000}, .variance_factor = 9}, {}};
  release.residual->queries.groups = {{.attributes = {}, .axes = {}},
                                      {.attributes = {0}, .axes = {0}},
                                      {.attributes = {1}, .axes = {1}, .multiplier = 16},
                                      {.attributes = {0, 1}, .axes = {0, 1}, .multiplier = 3}};
  release.residual->sigma_squared = {{5, 1}, {3, 2}, {7, 4}, {1, 9}};
  return release;
}

std::map<std::string, dp::WorkloadRelease> Releases() {
  return {
      {"marginals", Marginals()}, {"a mixture", Mixture()}, {"a mean", Mean()}, {"residuals", Residuals()}};
}

std::map<std::string, codec::DrawIdentity> Draws() {
  const codec::DrawIdentity counts{.dataset_id = "11111111-1111-4111-8111-111111111111",
                                   .dataset_version = 2,
                                   .parts = {1, 3},
                                   .method = "workload",
                                   .draws = {{dp::Event{dp::PureEvent{dp::Epsilon(5)}}, 1}},
                                   .drawn_from = {{{{0, 1}, dp::EveryCell()}}}};
  codec::DrawIdentity statistics = counts;
  statistics.drawn_from.clear();
  statistics.statistics = dp::StatisticsOf(Mean().asked);
  statistics.statistics_draws = Mean().statistics.draws;
  codec::DrawIdentity residuals = counts;
  residuals.drawn_from.clear();
  residuals.residual = Residuals().residual;
  return {{"counts", counts}, {"statistics", statistics}, {"residuals", residuals}};
}

std::map<std::string, std::string> StoredLines() {
  std::map<std::string, std::string> stored;
  std::ifstream file(CURATOR_STORED_BYTES);
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    stored[line.substr(space + 1)] = line.substr(0, space);
  }
  return stored;
}

TEST(StoredBytes, AreThoseThatEarlierProgramsWroteOfTheSameReleasesAndDraws) {
  std::map<std::string, std::string> stored = StoredLines();
  const size_t lines = stored.size();
  for (const auto& [name, release] : Releases())
    EXPECT_EQ(stored["release: " + name], absl::BytesToHexString(codec::EncodeRelease(release))) << name;
  for (const auto& [name, draw] : Draws())
    EXPECT_EQ(stored["draw: " + name], absl::BytesToHexString(codec::HashOf(draw))) << name;
  EXPECT_EQ(lines, Releases().size() + Draws().size());
}

TEST(StoredBytes, OfEarlierProgramsAreReadAsTheyWereMeant) {
  std::map<std::string, std::string> stored = StoredLines();
  for (const auto& [name, release] : Releases()) {
    const auto read = codec::DecodeWorkloadRelease(absl::HexStringToBytes(stored["release: " + name]));
    ASSERT_TRUE(read.ok()) << name << ": " << read.status();
    EXPECT_EQ(*read, release) << name;
  }
}

}  // namespace
}  // namespace curator::golden
