// A small planning request is starved of memory at every single one of its allocations: each time it ends
// with an error, never with the process, and it leaves nothing behind.
#include <functional>
#include <new>
#include <string>
#include <thread>

#include "base/testing/allocations.h"
#include "service/charges/accountant.h"
#include "service/operations/synthesis.h"
#include "service/testing/fixture.h"
#include "service/workloads/spend_choices.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

class StarvationTest : public ServiceTest {
 protected:
  // Calls `request` until none of its allocations is left to fail, and returns about how many there are.
  // Those after the first `kEvery` repeat what loops did before, and are tried by sample.
  int64_t StarveAtEveryAllocation(const std::function<absl::Status()>& request) const {
    constexpr int64_t kEvery = 3000;
    constexpr int64_t kStep = 37;
    for (int64_t at = 0;; at += at < kEvery ? 1 : kStep) {
      absl::Status status;
      FailAllocation(at);
      try {
        status = request();
      } catch (const std::bad_alloc&) {  // which rpc/handle.h converts
      }
      if (StopFailing()) continue;
      EXPECT_TRUE(status.ok()) << status;
      return at;
    }
  }

  static WorkloadRequest Mixed() {
    const auto interval = [](const char* from, const char* to) { return ValueInterval{from, to}; };
    const Condition young{.attribute = "age", .values = {}, .between = interval("0", "29")};
    const Condition female{.attribute = "sex", .values = {"Female"}, .between = std::nullopt};
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName("census"),
            .queries = {{MarginalsQuery{.sets = {{"sex", "age"}}, .k = std::nullopt, .attributes = {}}},
                        {RangesQuery{{"age"}, {{interval("0", "29")}, {interval("20", "59")}}}},
                        {PrefixesQuery{"region"}},
                        {ThresholdsQuery{{young, female}, {1, 2}, 0, {}}},
                        {ParitiesQuery{.sets = {{"sex"}}, .k = std::nullopt, .attributes = {}}},
                        {PredicatesQuery{{{.all_of = {young, female}}}, {"region"}}}},
            .spend = {.epsilon = EpsilonOf(100)}};
  }
};

TEST_F(StarvationTest, AnEstimateOfAWorkloadEndsWithAnError) {
  MakeSealed(People("census"));
  const WorkloadRequest request = Mixed();
  const absl::Status possible = EstimateWorkload(services_, request).status();
  ASSERT_TRUE(possible.ok()) << possible;
  const int64_t allocations = StarveAtEveryAllocation([&]() -> absl::Status {
    absl::StatusOr<WorkloadEstimate> estimate = EstimateWorkload(services_, request);
    if (!estimate.ok()) return estimate.status();
    return SpendChoicesFor(*estimate, 0.95).status();
  });
  EXPECT_GT(allocations, 1000);
  EXPECT_EQ(memory_.taken(), 0) << "what a request takes is given back";
}

TEST_F(StarvationTest, AnAnswerThatIsOnlyCheckedEndsWithAnErrorAndChargesNothing) {
  const DatasetView census = MakeSealed(People("census"));
  const WorkloadRequest request = Mixed();
  const int64_t allocations = StarveAtEveryAllocation(
      [&] { return AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kValidateOnly).status(); });
  EXPECT_GT(allocations, 1000);
  EXPECT_EQ(Spent(census), 0);
  EXPECT_EQ(memory_.taken(), 0);
}

TEST_F(StarvationTest, AnEstimateOfASynthesisEndsWithAnError) {
  MakeSealed(People("census"));
  for (const std::string method : {"mwem", "dpsyn", "rap"}) {
    const SynthesisRequest request{.principal = TestPrincipal("owner"),
                                   .dataset = DatasetName("census"),
                                   .method = method,
                                   .spend = {.epsilon = EpsilonOf(1000)}};
    const absl::StatusOr<SynthesisEstimate> possible = EstimateSynthesis(services_, request);
    ASSERT_TRUE(possible.ok()) << method << ": " << possible.status();
    EXPECT_GT(StarveAtEveryAllocation([&] { return EstimateSynthesis(services_, request).status(); }), 100)
        << method;
  }
}

class HealthTest : public ServiceTest {};

// Here, because this program counts allocations: a copy makes one for each dataset that the anchor knows.
TEST_F(HealthTest, AProbeCopiesNoAnchor) {
  constexpr int kDatasets = 300;
  for (int i = 0; i < kDatasets; ++i) Make(People("census-" + std::to_string(i)));
  ASSERT_TRUE(ledger_->Health().ok());
  FailAllocation(kDatasets);
  const absl::Status health = ledger_->Health();
  EXPECT_FALSE(StopFailing());
  EXPECT_TRUE(health.ok()) << health;
}

dp::Event CertifiedLaplaces() {
  const dp::Event one{dp::LaplaceEvent{.scale = {5, 1}}};
  const dp::Event other{dp::LaplaceEvent{.scale = {7, 1}}};
  const dp::Event schedule{dp::ComposedEvent{{{one, 2}, {other, 1}}}};
  return {dp::CertifiedEvent{{schedule}, dp::Epsilon(0), dp::Delta(1'000'000'000'000)}};
}

TEST_F(StarvationTest, AnEstimateOfACostEndsWithAnError) {
  MakeSealed(People("census"));
  const dp::AskedEvent asked(CertifiedLaplaces());
  const auto estimate = [&] {
    return EstimateCost(services_, TestPrincipal("owner"), DatasetName("census"), asked).status();
  };
  ASSERT_TRUE(estimate().ok()) << estimate();
  EXPECT_GT(StarveAtEveryAllocation(estimate), 100);
  EXPECT_EQ(memory_.taken(), 0);
}

// A thread keeps its transforms. One that was left half made would give a certificate that is too low.
TEST_F(StarvationTest, ACertificateIsTheSameOnAThreadThatHasRunOutOfMemory) {
  const dp::AskedEvent asked(CertifiedLaplaces());
  const dp::Event expected = asked.Certify({}).value();
  bool has_failed = true;
  for (int64_t at = 0; has_failed; ++at) {
    std::jthread([&] {
      FailAllocation(at);
      try {
        (void)asked.Certify({});
      } catch (const std::bad_alloc&) {
      }
      has_failed = StopFailing();
      EXPECT_EQ(asked.Certify({}).value(), expected) << "after allocation no. " << at;
    }).join();
  }
}

}  // namespace
}  // namespace curator::service
