// What one principal's calls do to the latency of another's charges.
//
//   bench_tenants [SECONDS [ROUNDS]]
//
// On both ledgers, by turns in one run: quiet, beside a synthesis, beside it and 300 watches of it, beside a
// client that repeats a stored request in a loop, beside one that does not wait when it is refused either,
// and beside the synthesis, the watches and the first loop together. Prints the medians and their ratios to
// the quiet one; ends with status 1 when the last ratio is 2 or more on either.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/client.h"
#include "client/request_id.h"
#include "tests/testing/open_calls.h"
#include "tests/testing/postgres_cluster.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

constexpr int kWatches = 300;

v1::AnswerWorkloadRequest Question(const std::string& dataset) {
  v1::AnswerWorkloadRequest request;
  request.set_dataset(dataset);
  request.set_request_id(*client::NewRequestId());
  *request.mutable_workload() = AllMarginals(1);
  request.mutable_spend()->set_epsilon("0.00001");
  return request;
}

void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

// Repeats one stored request until it is destroyed; a refusal for overload does not end it.
class Loop {
 public:
  explicit Loop(const Client& client)
      : thread_([this, &client] {
          const v1::AnswerWorkloadRequest stored = Question("census");
          while (!ended_) {
            const absl::Status repeated = client.AnswerWorkload(stored).status();
            if (!absl::IsUnavailable(repeated)) Must(repeated);
          }
        }) {}
  ~Loop() {
    ended_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

enum class Looping { kNone, kWaitsWhenRefused, kNeverWaits };

struct Beside {
  const char* name;
  int watches;  // of a synthesis that runs meanwhile; none runs without one
  Looping loop;
};
constexpr Beside kBeside[] = {{"quiet", 0, Looping::kNone},
                              {"a synthesis", 1, Looping::kNone},
                              {"and 300 watches", kWatches, Looping::kNone},
                              {"a looping client", 0, Looping::kWaitsWhenRefused},
                              {"one without waits", 0, Looping::kNeverWaits},
                              {"loop and watches", kWatches, Looping::kWaitsWhenRefused}};
constexpr double kMostRatio = 2;

class Bench {
 public:
  explicit Bench(Backend backend)
      : server_(backend),
        mallory_(server_.ClientFor("mallory")),
        impatient_({.server = server_.address(), .principal = "mallory", .retry = {.window = {}}}),
        bea_(server_.ClientFor("bea")) {
    MakeSealed(mallory_, LargeDataset(), LargeCsv());
    MakeSealed(bea_, NewDataset("small", v1::RULE_PURE, "1000"), SmallCsv(800));
  }

  // Latencies of bea's charges, in microseconds.
  std::vector<double> Measure(const Beside& beside, std::chrono::duration<double> duration) {
    std::optional<OpenCalls> watches;
    std::optional<Loop> loop;
    std::string operation;
    if (beside.watches > 0) {
      const absl::StatusOr<v1::Operation> started = mallory_.CreateSynthesis(Fresh());
      Must(started.status());
      operation = started->id();
      v1::WatchOperationRequest watch;
      watch.set_operation_id(operation);
      watches.emplace(server_.address(), "mallory");
      watches->OpenWithMessage(beside.watches, "/curator.v1.OperationService/WatchOperation",
                               watch.SerializeAsString());
      watches->AwaitAnswered();
    }
    if (beside.loop != Looping::kNone)
      loop.emplace(beside.loop == Looping::kNeverWaits ? impatient_ : mallory_);
    std::vector<double> latencies;
    const auto end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end) {
      const v1::AnswerWorkloadRequest request = Question("small");
      const auto start = std::chrono::steady_clock::now();
      Must(bea_.AnswerWorkload(request).status());
      latencies.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    if (!operation.empty()) Must(mallory_.CancelOperation(operation).status());
    return latencies;
  }

 private:
  // Another one each time, at a price that all of them together can pay.
  static v1::CreateSynthesisRequest Fresh() {
    v1::CreateSynthesisRequest request = LongSynthesis();
    request.mutable_spec()->mutable_spend()->set_epsilon("0.01");
    return request;
  }

  TestServer server_;
  const Client mallory_;
  const Client impatient_;  // the same principal
  const Client bea_;
};

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Whether the last ratio is below kMostRatio.
bool Run(Backend backend, double seconds, int rounds) {
  Bench bench(backend);
  std::vector<std::vector<double>> all(std::size(kBeside));
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < std::size(kBeside); ++i) {
      const std::vector<double> some = bench.Measure(kBeside[i], std::chrono::duration<double>(seconds));
      all[i].insert(all[i].end(), some.begin(), some.end());
    }
  }
  std::printf("%s\nbeside            | p50 us of another's charge | to quiet\n",
              BackendName(backend).c_str());
  const double quiet = Median(all[0]);
  for (size_t i = 0; i < std::size(kBeside); ++i) {
    std::printf("%-17s | %26.0f | %8.2f\n", kBeside[i].name, Median(all[i]), Median(all[i]) / quiet);
  }
  return Median(all.back()) / quiet < kMostRatio;
}

}  // namespace
}  // namespace curator::testing

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 4;
  bool is_below = true;
  for (const auto backend : {curator::testing::Backend::kSqlite, curator::testing::Backend::kPostgres})
    is_below = curator::testing::Run(backend, seconds, rounds) && is_below;
  return is_below ? 0 : 1;
}
