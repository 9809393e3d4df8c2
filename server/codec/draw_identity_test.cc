// What a draw's identity and a request's fingerprint distinguish, and what they leave out.
#include "codec/draw_identity.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "codec/fingerprint.h"

namespace curator::codec {
namespace {

dp::QueryGroup Marginal(dp::AttributeSet attributes) {
  return {.attributes = std::move(attributes), .queries = dp::EveryCell()};
}

DrawIdentity Identity() {
  return {.dataset_id = "census",
          .dataset_version = 2,
          .parts = {1, 3},
          .method = "prior",
          .method_version = 2,
          .draws = {{dp::Event{dp::PureEvent{dp::Epsilon(5)}}, 1}},
          .drawn_from = {{Marginal({0, 1})}, {Marginal({0, 2})}},
          .settings = {{"threshold", "0.1"}},
          .workload = {Marginal({0, 1})},
          .spend = {.epsilon = dp::Epsilon(10)},
          .assume_records = 1000,
          .prior = "dataset adult version 1"};
}

TEST(DrawIdentity, TellsApartWhateverChangesADraw) {
  const std::vector<std::function<void(DrawIdentity&)>> changes = {
      [](DrawIdentity& i) { i.dataset_id = "visits"; },
      [](DrawIdentity& i) { i.dataset_version = 3; },
      [](DrawIdentity& i) { i.parts = {1}; },
      [](DrawIdentity& i) { i.method = "mwem"; },
      [](DrawIdentity& i) { i.method_version = 3; },
      [](DrawIdentity& i) { i.draws[0].count = 2; },
      [](DrawIdentity& i) { i.draws[0].event = {dp::PureEvent{dp::Epsilon(6)}}; },
      [](DrawIdentity& i) {
        i.drawn_from[1] = {Marginal({1, 2})};
      },
      [](DrawIdentity& i) {
        i.drawn_from = {{Marginal({0, 1}), Marginal({0, 2})}};
      },
      [](DrawIdentity& i) { i.settings["threshold"] = "0.2"; },
      [](DrawIdentity& i) { i.workload.clear(); },
      [](DrawIdentity& i) { i.spend = {.rho = dp::Rho(10)}; },
      [](DrawIdentity& i) { i.assume_records.reset(); },
      [](DrawIdentity& i) { i.prior.clear(); }};
  std::set<std::string> hashes = {HashOf(Identity())};
  for (const auto& change : changes) {
    DrawIdentity other = Identity();
    change(other);
    hashes.insert(HashOf(other));
  }
  EXPECT_EQ(hashes.size(), changes.size() + 1);
  EXPECT_EQ(HashOf(Identity()), HashOf(Identity()));
  EXPECT_EQ(HashOf(Identity()).size(), 32u);
}

TEST(DrawIdentity, TellsApartWhateverIsMeasuredByResiduals) {
  DrawIdentity identity = Identity();
  identity.residual = {.queries = {.axes = {{.weights = {1, -1}}, {}},
                                   .groups = {{.attributes = {}, .axes = {}},
                                              {.attributes = {1}, .axes = {0}, .multiplier = 2}}},
                       .sigma_squared = {{1, 1}, {3, 2}}};
  const std::vector<std::function<void(dp::ResidualMeasurement&)>> changes = {
      [](dp::ResidualMeasurement& r) { r.queries.axes[0].weights[1] = -2; },
      [](dp::ResidualMeasurement& r) { r.queries.axes[0].weights.clear(); },
      [](dp::ResidualMeasurement& r) { r.queries.axes[0].variance_factor = 2; },
      [](dp::ResidualMeasurement& r) { r.queries.groups[1].attributes = {2}; },
      [](dp::ResidualMeasurement& r) { r.queries.groups[1].axes = {1}; },
      [](dp::ResidualMeasurement& r) { r.queries.groups[1].multiplier = 4; },
      [](dp::ResidualMeasurement& r) {
        r.sigma_squared[1] = {1, 2};
      },
      [](dp::ResidualMeasurement& r) {
        r.sigma_squared[1] = {3, 4};
      }};
  std::set<std::string> hashes = {HashOf(Identity()), HashOf(identity)};
  for (const auto& change : changes) {
    DrawIdentity other = identity;
    change(*other.residual);
    hashes.insert(HashOf(other));
  }
  EXPECT_EQ(hashes.size(), changes.size() + 2);
  DrawIdentity same = identity;
  same.residual->sigma_squared[1] = {6, 4};
  EXPECT_EQ(HashOf(same), HashOf(identity));
}

TEST(Fingerprint, OfASynthesisTellsApartWhateverTheClientSent) {
  const std::vector<dp::AskedSet> workload = {{.queries = {.groups = {Marginal({0, 1})}}}};
  const AskedSynthesis request{.dataset_id = "census",
                               .parts = {},
                               .method = "prior",
                               .spend = {.epsilon = dp::Epsilon(10)},
                               .settings = {{"prior", "dataset adult version 1"}},
                               .workload = workload,
                               .assume_records = std::nullopt};
  const std::vector<std::function<void(AskedSynthesis&)>> changes = {
      [](AskedSynthesis& r) { r.dataset_id = "visits"; },
      [](AskedSynthesis& r) { r.parts = {1}; },
      [](AskedSynthesis& r) { r.method = "mwem"; },
      [](AskedSynthesis& r) { r.spend = {.epsilon = dp::Epsilon(11)}; },
      [](AskedSynthesis& r) { r.settings["threshold"] = "0"; },
      [](AskedSynthesis& r) { r.settings["prior"] = "dataset adult version 2"; },
      [](AskedSynthesis& r) { r.workload = {}; },
      [](AskedSynthesis& r) { r.assume_records = 1000; }};
  std::set<std::string> fingerprints = {FingerprintOf(request)};
  for (const auto& change : changes) {
    AskedSynthesis other = request;
    change(other);
    fingerprints.insert(FingerprintOf(other));
  }
  EXPECT_EQ(fingerprints.size(), changes.size() + 1);
}

TEST(Fingerprint, OfAWorkloadTellsApartWhateverTheClientSentButNotHowItIsDescribed) {
  std::vector<dp::AskedSet> queries = {{.queries = {.groups = {Marginal({0, 1})}}}};
  const AskedWorkload request{.dataset_id = "census",
                              .parts = {},
                              .queries = queries,
                              .spend = {.epsilon = dp::Epsilon(10)},
                              .target = std::nullopt,
                              .mechanism = std::nullopt};
  std::set<std::string> fingerprints = {FingerprintOf(request)};
  const auto with = [&](const std::function<void(AskedWorkload&)>& change) {
    AskedWorkload other = request;
    change(other);
    fingerprints.insert(FingerprintOf(other));
  };
  with([](AskedWorkload& r) { r.parts = {1}; });
  with([](AskedWorkload& r) { r.spend = {.rho = dp::Rho(10)}; });
  with([](AskedWorkload& r) { r.target = dp::Target{.max_error = 3}; });
  with([](AskedWorkload& r) { r.mechanism = dp::Mechanism::kDiscreteLaplace; });
  with([](AskedWorkload& r) { r.mechanism = dp::Mechanism::kDiscreteGaussian; });
  with([](AskedWorkload& r) { r.target = dp::Target{.rmse = 3}; });
  with([](AskedWorkload& r) { r.objective = dp::ErrorMeasure::kLargest; });
  queries[0].queries.weight = 2;
  fingerprints.insert(FingerprintOf(request));
  queries[0].queries.strategy = dp::Strategy::kDirect;
  fingerprints.insert(FingerprintOf(request));
  queries[0].by = {2};
  fingerprints.insert(FingerprintOf(request));
  EXPECT_EQ(fingerprints.size(), 11u);
  const std::string before = FingerprintOf(request);
  queries[0].words = {"a better description"};
  EXPECT_EQ(FingerprintOf(request), before);
}

}  // namespace
}  // namespace curator::codec
