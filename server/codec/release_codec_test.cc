#include "codec/release_codec.h"

#include <gtest/gtest.h>

#include "base/canonical_bytes.h"
#include "codec/fingerprint.h"
#include "codec/residual_codec.h"
#include "codec/testing/example_releases.h"
#include "dp/domain/testing_domain.h"

namespace curator::codec {
namespace {

// The bytes as the first program wrote them, by hand.
std::string FirstVersion() {
  CanonicalWriter writer("curator.release.workload", 1);
  for (const int64_t number : {1, 3, 2}) writer.Integer(number);
  writer.Text("noise");
  for (const int64_t number : {2, 1, 0, 2, 5, -1, 2, 1, 2, 3, 7, 8, 9}) writer.Integer(number);
  return std::move(writer).Take();
}

TEST(ReleaseCodec, WritesAndReadsMarginalsAsTheFirstVersionDid) {
  EXPECT_EQ(EncodeRelease(ExampleMarginals()), FirstVersion());
  EXPECT_EQ(DecodeWorkloadRelease(FirstVersion()).value(), ExampleMarginals());
}

TEST(ReleaseCodec, KeepsAMixtureWhole) {
  EXPECT_EQ(DecodeWorkloadRelease(EncodeRelease(ExampleMixture())).value(), ExampleMixture());
}

TEST(ReleaseCodec, KeepsResidualsWhole) {
  EXPECT_EQ(DecodeWorkloadRelease(EncodeRelease(ExampleResiduals())).value(), ExampleResiduals());
  EXPECT_FALSE(IsPlainMarginals(ExampleResiduals()));
  dp::WorkloadRelease marginals = ExampleResiduals();
  marginals.asked.pop_back();
  marginals.plans.pop_back();
  EXPECT_FALSE(IsPlainMarginals(marginals));
  EXPECT_EQ(DecodeWorkloadRelease(EncodeRelease(marginals)).value(), marginals);
}

TEST(ReleaseCodec, KeepsParitiesWhole) {
  EXPECT_EQ(DecodeWorkloadRelease(EncodeRelease(ExampleParities())).value(), ExampleParities());
  EXPECT_FALSE(IsPlainMarginals(ExampleParities()));
}

TEST(ReleaseCodec, RefusesParitiesThatDoNotAnswerWhatWasAsked) {
  const auto is_refused = [](const auto& breaks) {
    dp::WorkloadRelease release = ExampleParities();
    breaks(release);
    return absl::IsDataLoss(DecodeWorkloadRelease(EncodeRelease(release)).status());
  };
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) {
    r.measured.erase(r.measured.begin());
    r.values.erase(r.values.begin());
    for (dp::SetPlan& plan : r.plans) --plan.sources[0];
  })) << "the number of records is in every cell";
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.measured[1] = dp::ParityGroup({2}, 40, 0); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.measured[3].queries = dp::EveryCell(); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.measured[3].queries = dp::Parity{0}; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.values[3].push_back(1); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.plans[1].sources = {1}; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.plans[1].sources = {}; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.plans[0].strategy = dp::Strategy::kDirect; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.asked[1].queries.groups[0].attributes = {2}; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) {
    r.asked[1].queries.groups[0].queries = dp::Boxes{{{0, 0}}};
  })) << "only whole marginals are read";
}

TEST(ReleaseCodec, WritesEqualParametersOfResidualsInLowestTerms) {
  dp::WorkloadRelease release = ExampleResiduals();
  release.residual->sigma_squared[1] = {6, 4};
  EXPECT_EQ(EncodeRelease(release), EncodeRelease(ExampleResiduals()));
}

// Whatever byte is changed, in each of its bits and in all: what is still read is what is written.
TEST(ReleaseCodec, ReadsOnlyTheBytesThatItWouldWrite) {
  for (const dp::WorkloadRelease& release :
       {ExampleMarginals(), ExampleMixture(), ExampleResiduals(), ExampleParities()}) {
    const std::string bytes = EncodeRelease(release);
    int read = 0;
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const int mask : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ mask);
        const auto other = DecodeWorkloadRelease(changed);
        if (!other.ok()) {
          EXPECT_TRUE(absl::IsDataLoss(other.status())) << at;
          continue;
        }
        ++read;
        EXPECT_EQ(EncodeRelease(*other), changed) << at;
      }
    }
    EXPECT_GT(read, 0) << "values are any numbers";
  }
}

TEST(ReleaseCodec, RefusesWhatItDidNotWrite) {
  for (const dp::WorkloadRelease& release :
       {ExampleMarginals(), ExampleMixture(), ExampleResiduals(), ExampleParities()}) {
    const std::string bytes = EncodeRelease(release);
    for (size_t length = 0; length < bytes.size(); length += 7)
      EXPECT_EQ(DecodeWorkloadRelease(bytes.substr(0, length)).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(DecodeWorkloadRelease(bytes + "x").status().code(), absl::StatusCode::kDataLoss);
  }
  dp::WorkloadRelease elsewhere = ExampleMixture();
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
    dp::WorkloadRelease release = ExampleMixture();
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

TEST(ReleaseCodec, RefusesResidualsThatAreValidOverNoDomain) {
  const auto is_refused = [](const auto& breaks) {
    dp::WorkloadRelease release = ExampleResiduals();
    breaks(release, release.residual->queries);
    return absl::IsDataLoss(DecodeWorkloadRelease(EncodeRelease(release)).status());
  };
  using Release = dp::WorkloadRelease;
  using Queries = dp::ProductQueries;
  constexpr int32_t kMost = int32_t{dp::kLargestWeight};
  EXPECT_FALSE(is_refused([](Release&, Queries&) {}));
  EXPECT_FALSE(is_refused([](Release&, Queries& q) { q.axes[0].weights[0] = -kMost; }));
  EXPECT_TRUE(is_refused([](Release&, Queries& q) { q.axes[0].weights[0] = -kMost - 1; }));
  EXPECT_TRUE(is_refused([](Release&, Queries& q) { q.axes[0].weights[0] = kMost + 1; }));
  EXPECT_FALSE(is_refused([](Release&, Queries& q) { q.axes[0].weights.resize(dp::kMostAxisWeights); }));
  EXPECT_TRUE(is_refused([](Release&, Queries& q) { q.axes[0].weights.resize(dp::kMostAxisWeights + 1); }));
  EXPECT_TRUE(is_refused([](Release&, Queries& q) { q.axes[0].variance_factor = 0; }));
  EXPECT_TRUE(
      is_refused([](Release&, Queries& q) { q.axes[0].variance_factor = dp::kLargestVarianceFactor + 1; }));
  EXPECT_TRUE(is_refused([](Release&, Queries& q) { q.groups[3].axes = {0, 2}; })) << "there are two axes";
  EXPECT_TRUE(is_refused([](Release&, Queries& q) {
    q.groups[3].axes = {1, 1};
  })) << "the attribute has another";
  EXPECT_TRUE(is_refused([](Release&, Queries& q) { q.groups[3].attributes = {1, 0}; }));
  EXPECT_TRUE(is_refused([](Release&, Queries& q) { q.groups[3] = {{2, 2}, {0, 0}}; }));
  EXPECT_TRUE(is_refused([](Release&, Queries& q) { q.groups[2] = q.groups[1]; })) << "the set occurs twice";
  EXPECT_TRUE(is_refused([](Release&, Queries& q) { q.groups[3].multiplier = 0; }));
  EXPECT_TRUE(
      is_refused([](Release&, Queries& q) { q.groups[3].multiplier = dp::kLargestProductWeight + 1; }));
  const auto of_attributes = [](size_t attributes) {
    return [attributes](Release&, Queries& q) {
      q.groups[3] = {.attributes = {}, .axes = std::vector<uint32_t>(attributes, 0)};
      for (uint32_t i = 0; i < attributes; ++i) q.groups[3].attributes.push_back(10 + i);
    };
  };
  EXPECT_FALSE(is_refused(of_attributes(dp::kMostProductAxes)));
  EXPECT_TRUE(is_refused(of_attributes(dp::kMostProductAxes + 1)));
  EXPECT_TRUE(is_refused([](Release& r, Queries&) { r.residual->sigma_squared[0] = {0, 1}; }));
  EXPECT_TRUE(is_refused([](Release& r, Queries&) { r.residual->sigma_squared[0] = {-5, 1}; }));
  EXPECT_TRUE(is_refused([](Release& r, Queries&) { r.residual->sigma_squared[0] = {5, 0}; }));
}

TEST(ReleaseCodec, RefusesResidualsOfOtherRequestsOrWithOtherValues) {
  const auto is_refused = [](const auto& breaks) {
    dp::WorkloadRelease release = ExampleResiduals();
    breaks(release);
    return absl::IsDataLoss(DecodeWorkloadRelease(EncodeRelease(release)).status());
  };
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.values.pop_back(); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.values.push_back({1}); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.values[3].clear(); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.values[0] = {1, 2}; })) << "it is of no attribute";
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.asked.clear(); }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) {
    r.values.clear();
    r.residual = dp::ResidualMeasurement();
  })) << "nothing is measured";
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.asked[1].queries.strategy = dp::Strategy::kTree; }));
  EXPECT_TRUE(is_refused([](dp::WorkloadRelease& r) { r.residual.reset(); })) << "what its plans are of";
  const auto mixture = [](const auto& breaks) {
    dp::WorkloadRelease release = ExampleMixture();
    breaks(release);
    return absl::IsDataLoss(DecodeWorkloadRelease(EncodeRelease(release)).status());
  };
  EXPECT_TRUE(mixture([](dp::WorkloadRelease& r) { r.plans[0].strategy = dp::Strategy::kResidual; }));
  EXPECT_TRUE(mixture([](dp::WorkloadRelease& r) { r.asked[0].queries.strategy = dp::Strategy::kResidual; }));
}

TEST(ReleaseCodec, RefusesParametersOfResidualsThatAreNotInLowestTerms) {
  std::string bytes = EncodeRelease(ExampleResiduals());
  const auto replace = [&](std::pair<int64_t, int64_t> from, std::pair<int64_t, int64_t> to) {
    const auto bytes_of = [](std::pair<int64_t, int64_t> numbers) {
      CanonicalWriter writer("", 0);
      writer.Integer(numbers.first);
      writer.Integer(numbers.second);
      return std::move(writer).Take().substr(16);
    };
    const size_t at = bytes.find(bytes_of(from));
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, 16, bytes_of(to));
  };
  replace({7, 4}, {5, 4});
  EXPECT_EQ(DecodeWorkloadRelease(bytes).value().residual->sigma_squared[2], (dp::Rational{5, 4}));
  replace({5, 4}, {6, 4});
  EXPECT_TRUE(absl::IsDataLoss(DecodeWorkloadRelease(bytes).status()));
}

TEST(ReleaseCodec, RefusesWeightsOfResidualsThatAreNotWhole) {
  const auto read = [](std::string_view weights) {
    CanonicalWriter writer("residual", 1);
    writer.Integer(1);  // axes
    writer.Text(weights);
    if (!weights.empty()) writer.Integer(1);                              // the variance factor
    for (const int64_t number : {1, 0, 1, 5, 2}) writer.Integer(number);  // groups, and the only one
    const std::string bytes = std::move(writer).Take();
    CanonicalReader reader(bytes, "residual", 1);
    ReadResidual(reader);
    return reader.Finish();
  };
  EXPECT_TRUE(read(std::string(4, 0)).ok());
  EXPECT_TRUE(read("").ok());
  for (const size_t bytes : {1, 3, 5}) EXPECT_TRUE(absl::IsDataLoss(read(std::string(bytes, 0)))) << bytes;
}

TEST(ReleaseCodec, KnowsTheSizeOfResidualsBeforeTheyAreDrawn) {
  const dp::WorkloadRelease release = ExampleResiduals();
  const int64_t left_for_the_event = 4096 - static_cast<int64_t>(release.event.size());
  EXPECT_EQ(MostEncodedBytes(dp::CodedDomain({3, 2}), release.asked, *release.residual),
            static_cast<int64_t>(EncodeRelease(release).size()) + left_for_the_event);
}

TEST(ReleaseCodec, KnowsTheSizeOfAReleaseBeforeItIsMade) {
  const dp::Domain domain = dp::CodedDomain({2, 2, 2});
  const auto most = [&](const dp::WorkloadRelease& release) {
    return MostEncodedBytes(domain, release.asked, release.plans, release.measured);
  };
  const int64_t left_for_the_event = 4096 - static_cast<int64_t>(ExampleMixture().event.size());
  EXPECT_EQ(most(ExampleMixture()),
            static_cast<int64_t>(EncodeRelease(ExampleMixture()).size()) + left_for_the_event);
  EXPECT_EQ(most(ExampleParities()),
            static_cast<int64_t>(EncodeRelease(ExampleParities()).size()) + left_for_the_event);
  EXPECT_GE(most(ExampleMarginals()), static_cast<int64_t>(EncodeRelease(ExampleMarginals()).size()));
}

TEST(WorkloadFingerprint, TellsApartWhateverIsDrawnOrMadeOfIt) {
  const dp::Event event{dp::PureEvent{dp::Epsilon(1)}};
  const auto fingerprint = [&](const dp::WorkloadRelease& release) {
    return EarlierWorkloadFingerprint("d", 1, {}, release, event);
  };
  dp::WorkloadRelease other = ExampleMixture();
  other.plans[0].branching = 4;
  EXPECT_NE(fingerprint(ExampleMixture()), fingerprint(other));
  other = ExampleMixture();
  other.asked[1].words[0] = "two";
  EXPECT_NE(fingerprint(ExampleMixture()), fingerprint(other));
  other = ExampleMixture();
  other.asked[1].queries.groups[1].queries = dp::Boxes{{{0, 0}, {0, 1}}};
  EXPECT_NE(fingerprint(ExampleMixture()), fingerprint(other));
  EXPECT_EQ(fingerprint(ExampleMixture()), fingerprint(ExampleMixture()));
}

}  // namespace
}  // namespace curator::codec
