#include "codec/release_codec.h"

#include <gtest/gtest.h>

#include "base/canonical_bytes.h"
#include "codec/fingerprint.h"
#include "dp/domain/testing_domain.h"
#include "dp/queries/testing/all_intervals.h"

namespace curator::codec {
namespace {

const dp::NoiseSpec kNoise{dp::Mechanism::kDiscreteLaplace, {3, 2}};

dp::WorkloadRelease Marginals() {
  dp::WorkloadRelease release{
      .asked = {dp::AskedSet()},
      .plans = {{.strategy = dp::Strategy::kDirect, .branching = 0, .sources = {0, 1}}},
      .measured = {{{0}, dp::EveryCell()}, {{1, 2}, dp::EveryCell()}},
      .noise = kNoise,
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
      .noise = kNoise,
      .values = {{5, -1}, {7, 8, 9, 10}},
      .event = "noise"};
  release.asked[0].query_class = dp::QueryClass::kRanges;
  release.asked[0].queries = {{{{0}, dp::AllIntervals(2)}}, dp::Strategy::kTree};
  release.asked[1].query_class = dp::QueryClass::kPredicates;
  release.asked[1].queries.groups = {{{1}, std::vector<dp::LinearQuery>{{{0, 1}, {1, -1}}}},
                                     {{1, 2}, dp::Boxes{{{0, 0}, {1, 1}}}}};
  release.asked[1].words = {"one", "another"};
  return release;
}

// The bytes as the first program wrote them, by hand.
std::string FirstVersion() {
  CanonicalWriter writer("curator.release.workload", 1);
  for (const int64_t number : {1, 3, 2}) writer.Integer(number);
  writer.Text("noise");
  for (const int64_t number : {2, 1, 0, 2, 5, -1, 2, 1, 2, 3, 7, 8, 9}) writer.Integer(number);
  return std::move(writer).Take();
}

TEST(ReleaseCodec, WritesAndReadsMarginalsAsTheFirstVersionDid) {
  EXPECT_EQ(EncodeRelease(Marginals()), FirstVersion());
  EXPECT_EQ(DecodeWorkloadRelease(FirstVersion()).value(), Marginals());
}

TEST(ReleaseCodec, KeepsAMixtureWhole) {
  EXPECT_EQ(DecodeWorkloadRelease(EncodeRelease(Mixture())).value(), Mixture());
}

TEST(ReleaseCodec, RefusesWhatItDidNotWrite) {
  for (const dp::WorkloadRelease& release : {Marginals(), Mixture()}) {
    const std::string bytes = EncodeRelease(release);
    for (size_t length = 0; length < bytes.size(); length += 7)
      EXPECT_EQ(DecodeWorkloadRelease(bytes.substr(0, length)).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(DecodeWorkloadRelease(bytes + "x").status().code(), absl::StatusCode::kDataLoss);
  }
  dp::WorkloadRelease elsewhere = Mixture();
  elsewhere.plans[0].sources = {9};
  EXPECT_EQ(DecodeWorkloadRelease(EncodeRelease(elsewhere)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(ReleaseCodec, RefusesMarginalsInTheFormOfAMixture) {
  CanonicalWriter writer("curator.release.workload", 2);
  for (const int64_t number : {1, 5, 1}) writer.Integer(number);  // the noise
  writer.Text("an event");
  for (int i = 0; i < 3; ++i) writer.Integer(0);  // no sets, nothing measured, no values
  EXPECT_EQ(DecodeWorkloadRelease(std::move(writer).Take()).status().code(), absl::StatusCode::kDataLoss);
}

// The broken releases are encoded as they are: only a reader can refuse them.
TEST(ReleaseCodec, RefusesWhatNoPlanCouldHaveMade) {
  const auto is_refused = [](const auto& breaks) {
    dp::WorkloadRelease release = Mixture();
    breaks(release);
    return absl::IsDataLoss(DecodeWorkloadRelease(EncodeRelease(release)).status());
  };
  EXPECT_FALSE(is_refused([](dp::WorkloadRelease&) {}));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.values.push_back({1}); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.values[0].push_back(1); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) {
    std::get<dp::Boxes>(r.asked[1].queries.groups[1].queries).sides.push_back({0, 0});
  }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.asked[1].queries.groups[1].attributes.clear(); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.plans[0].branching = 1; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.plans[0].strategy = dp::Strategy::kAuto; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.plans[0].strategy = dp::Strategy::kDirect; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.plans[1].sources = {1, 0}; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.asked[1].queries.groups[0].attributes = {3}; }));
}

TEST(ReleaseCodec, KnowsTheSizeOfAReleaseBeforeItIsMade) {
  const dp::Domain domain = dp::CodedDomain({2, 2, 2});
  const auto most = [&](const dp::WorkloadRelease& release) {
    return MostEncodedBytes(domain, release.asked, release.plans, release.measured);
  };
  const int64_t left_for_the_event = 4096 - static_cast<int64_t>(Mixture().event.size());
  EXPECT_EQ(most(Mixture()), static_cast<int64_t>(EncodeRelease(Mixture()).size()) + left_for_the_event);
  EXPECT_GE(most(Marginals()), static_cast<int64_t>(EncodeRelease(Marginals()).size()));
}

TEST(WorkloadFingerprint, TellsApartWhateverIsDrawnOrMadeOfIt) {
  const dp::Event event{dp::PureEvent{dp::Epsilon(1)}};
  const auto fingerprint = [&](const dp::WorkloadRelease& release) {
    return EarlierWorkloadFingerprint("d", 1, {}, release, event);
  };
  dp::WorkloadRelease other = Mixture();
  other.plans[0].branching = 4;
  EXPECT_NE(fingerprint(Mixture()), fingerprint(other));
  other = Mixture();
  other.asked[1].words[0] = "two";
  EXPECT_NE(fingerprint(Mixture()), fingerprint(other));
  other = Mixture();
  other.asked[1].queries.groups[1].queries = dp::Boxes{{{0, 0}, {0, 1}}};
  EXPECT_NE(fingerprint(Mixture()), fingerprint(other));
  EXPECT_EQ(fingerprint(Mixture()), fingerprint(Mixture()));
}

}  // namespace
}  // namespace curator::codec
