// The bytes of stored releases and schemas, and the identities of draws, are the same in every release of
// the program: a release or a schema that an earlier program stored is read, and a draw that it was charged
// for is recognized.
//
// stored_bytes.txt has one line for each release, schema and draw below, with its bytes, or the hash of its
// identity, that the program gave it when the line was written. Lines are added and never changed.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "codec/draw_identity.h"
#include "codec/release_codec.h"
#include "codec/schema_codec.h"
#include "codec/testing/example_releases.h"

namespace curator::golden {
namespace {

// The shared example, with predicates of each value of an attribute.
dp::WorkloadRelease StoredMixture() {
  dp::WorkloadRelease release = codec::ExampleMixture();
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
  release.statistics.bought.resize(2, {.noise = codec::kExampleNoise, .epsilon = {}});
  release.statistics.values = {{-2}, {7}};
  return release;
}

std::map<std::string, dp::WorkloadRelease> Releases() {
  return {{"marginals", codec::ExampleMarginals()},
          {"a mixture", StoredMixture()},
          {"a mean", Mean()},
          {"residuals", codec::ExampleResiduals()}};
}

std::map<std::string, dp::Schema> Schemas() {
  const dp::Domain stays =
      dp::Domain::Create({dp::Attribute::Create("from", dp::IntegerKind{0, 99, 10}).value(),
                          dp::Attribute::Create("to", dp::IntegerKind{0, 99, 10}).value(),
                          dp::Attribute::Create("ward", dp::CategoricalKind{{"A", "B"}, "other"}).value()})
          .value();
  const dp::Domain measured =
      dp::Domain::Create(stays.attributes(), {dp::Measure::Create("to", {0, 99, 0.5}).value()}).value();
  const auto constrained =
      stays.WithConstraints({dp::OrderRule{.lower = 0, .upper = 1}, dp::PairsRule{{2, 1}, {{1, 3}, {0, 9}}}});
  const auto schema = [](const dp::Domain& domain) {
    return dp::CreateSchema(domain, dp::PersonUnit{"pid", 3}).value();
  };
  dp::Nesting described{.group_column = "ward_id", .response = 0};
  described.group_attributes = {2};
  return {{"attributes of groups", dp::CreateSchema(stays, dp::GroupUnit{"ward_id", 9}, described).value()},
          {"attributes", schema(stays)},
          {"a measure", schema(measured)},
          {"constraints", schema(constrained.value())}};
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
  residuals.residual = codec::ExampleResiduals().residual;
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

TEST(StoredBytes, AreThoseThatEarlierProgramsWroteOfTheSameReleasesSchemasAndDraws) {
  std::map<std::string, std::string> stored = StoredLines();
  const size_t lines = stored.size();
  for (const auto& [name, release] : Releases())
    EXPECT_EQ(stored["release: " + name], absl::BytesToHexString(codec::EncodeRelease(release))) << name;
  for (const auto& [name, schema] : Schemas())
    EXPECT_EQ(stored["schema: " + name], absl::BytesToHexString(codec::EncodeSchema(schema))) << name;
  for (const auto& [name, draw] : Draws())
    EXPECT_EQ(stored["draw: " + name], absl::BytesToHexString(codec::HashOf(draw))) << name;
  EXPECT_EQ(lines, Releases().size() + Schemas().size() + Draws().size());
}

TEST(StoredBytes, OfEarlierProgramsAreReadAsTheyWereMeant) {
  std::map<std::string, std::string> stored = StoredLines();
  for (const auto& [name, release] : Releases()) {
    const auto read = codec::DecodeWorkloadRelease(absl::HexStringToBytes(stored["release: " + name]));
    ASSERT_TRUE(read.ok()) << name << ": " << read.status();
    EXPECT_EQ(*read, release) << name;
  }
  for (const auto& [name, schema] : Schemas()) {
    const auto read = codec::DecodeSchema(absl::HexStringToBytes(stored["schema: " + name]));
    ASSERT_TRUE(read.ok()) << name << ": " << read.status();
    EXPECT_EQ(*read, schema) << name;
  }
}

}  // namespace
}  // namespace curator::golden
