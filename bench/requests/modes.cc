#include "bench/requests/modes.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "bench/requests/history.h"
#include "bench/requests/measuring.h"
#include "bench/requests/open_loop.h"
#include "tests/testing/small_table.h"

namespace curator::bench {
namespace {

// What was seen of each kind, and of each plain way, by one number of clients.
struct Compared {
  std::map<Kind, RequestsSeen> server;
  std::map<Kind, RequestsSeen> echo;
  std::vector<Observed> plain;
};

// An answer takes two transactions that follow one another: the charge, and the release.
constexpr int kTransactionsOfAnAnswer = 2;

Compared CompareOnce(World& world, const Load& load, const std::vector<PlainWay>& plain) {
  Compared seen;
  for (const Kind kind : world.options().kinds) {
    std::fprintf(stderr, "%d clients: %s\n", load.clients, NameOf(kind).c_str());
    seen.server[kind] = Measure(world.traffic(kind), world.server(), load);
    seen.echo[kind] = Measure(world.traffic(kind), world.echo(), load);
  }
  for (const PlainWay& way : plain) seen.plain.push_back(way.charge(load));
  return seen;
}

void KeepBest(Compared& best, const Compared& seen) {
  for (const auto& [kind, each] : seen.server) KeepBest(best.server[kind], each);
  for (const auto& [kind, each] : seen.echo) KeepBest(best.echo[kind], each);
  best.plain.resize(seen.plain.size());
  for (size_t i = 0; i < seen.plain.size(); ++i) {
    if (seen.plain[i].per_second > best.plain[i].per_second) best.plain[i] = seen.plain[i];
  }
}

void Print(const Compared& seen, int clients, const std::vector<PlainWay>& plain) {
  for (const auto& [kind, server] : seen.server) {
    const RequestsSeen& echo = seen.echo.at(kind);
    std::printf("%7d | %-7s | %-26s | %s | %.2f of the echo\n", clients, NameOf(kind).c_str(), "the server",
                SeenText(server).c_str(), server.observed.per_second / echo.observed.per_second);
    std::printf("%7d | %-7s | %-26s | %s |\n", clients, NameOf(kind).c_str(), "the echo",
                SeenText(echo).c_str());
  }
  const auto answer = seen.server.find(Kind::kAnswer);
  for (size_t i = 0; i < plain.size(); ++i) {
    std::printf("%7d | %-7s | %-26s | %s |", clients, "twice", plain[i].name,
                SeenText(seen.plain[i]).c_str());
    if (answer != seen.server.end()) {
      std::printf(" answer: %.2f times the rate, %.2f times the latency",
                  answer->second.observed.per_second / seen.plain[i].per_second,
                  answer->second.observed.median_us / seen.plain[i].median_us);
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

// Connections are made, threads started and caches filled before anything is measured.
void WarmUp(World& world) {
  for (const Kind kind : world.options().kinds) Measure(world.traffic(kind), world.server(), {16, 0.3});
}

// Keeps a synthesis running.
class Synthesizing {
 public:
  explicit Synthesizing(const Client& client) : client_(client), thread_([this] { Run(); }) {}
  ~Synthesizing() {
    ended_ = true;
    thread_.join();
  }
  Synthesizing(const Synthesizing&) = delete;
  Synthesizing& operator=(const Synthesizing&) = delete;

 private:
  void Run() {
    while (!ended_) {
      v1::CreateSynthesisRequest request = testing::LongSynthesis();
      // So little that the dataset can pay for many.
      request.mutable_spec()->mutable_spend()->set_epsilon("0.01");
      v1::Operation operation = Must(client_.CreateSynthesis(request));
      while (!ended_ &&
             (operation.state() == v1::Operation::RUNNING || operation.state() == v1::Operation::QUEUED))
        operation = Must(client_.WaitOperation(operation.id(), std::chrono::milliseconds(200)));
      if (ended_) client_.CancelOperation(operation.id()).IgnoreError();
    }
  }

  const Client& client_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

constexpr int kFewAndMany[] = {1, 32};

void PrintEachKind(World& world, double seconds, const std::string& when) {
  for (const Kind kind : world.options().kinds) {
    for (const int clients : kFewAndMany) {
      const RequestsSeen seen = Measure(world.traffic(kind), world.server(), {clients, seconds});
      std::printf("%-26s | %7d | %-7s | %s | %9.0f\n", when.c_str(), clients, NameOf(kind).c_str(),
                  SeenText(seen).c_str(), world.server().process.ResidentMegabytes());
      std::fflush(stdout);
    }
  }
}

void PrintHeadOfKinds(const char* when) {
  std::printf("%-26s | clients | request | %s | server MB\n", when, kSeenColumns);
}

std::string ChargeOf(const Messages& answer) {
  v1::AnswerChunk first;
  first.ParseFromString(answer.at(0));
  return first.header().charge_id();
}

}  // namespace

void Compare(World& world, const CompareOptions& options) {
  const std::vector<PlainWay> plain = world.Plain(kTransactionsOfAnAnswer);
  WarmUp(world);
  std::printf("clients | request | by                         | %s |\n", kSeenColumns);
  for (const int clients : options.clients) {
    Compared best;
    for (int round = 0; round < options.rounds; ++round)
      KeepBest(best, CompareOnce(world, {clients, options.seconds}, plain));
    Print(best, clients, plain);
  }
}

void MeasureBeside(World& world, double seconds) {
  const Client client = world.ClientOf("sven");
  testing::MakeSealed(client, testing::LargeDataset(), testing::LargeCsv());
  WarmUp(world);
  PrintHeadOfKinds("beside");
  PrintEachKind(world, seconds, "nothing");
  const Synthesizing synthesizing(client);
  PrintEachKind(world, seconds, "a synthesis");
}

void MeasureHistory(World& world, const HistoryOptions& options) {
  constexpr double kSeconds = 5;
  WarmUp(world);
  PrintHeadOfKinds("before");
  PrintEachKind(world, kSeconds, "nearly nothing");
  const Traffic& answers = world.traffic(Kind::kAnswer);
  for (int64_t answered = 0; answered < options.releases;) {
    answered += Measure(answers, world.server(), {64, kSeconds}).observed.charges;
    std::fprintf(stderr, "%lld releases made\n", static_cast<long long>(answered));
  }
  PrintEachKind(world, kSeconds, std::to_string(options.releases) + " releases");
  const std::string pattern = ChargeOf(answers.Record(world.server().connections));
  world.Restart([&](const std::string& url, const std::string& anchor) {
    AddCharges(url, anchor, pattern, options.charges);
  });
  WarmUp(world);
  PrintEachKind(world, kSeconds, "and " + std::to_string(options.charges) + " charges");
}

void MeasureOpenLoop(World& world, const OpenOptions& options) {
  const Traffic& traffic = world.traffic(world.options().kinds.front());
  WarmUp(world);
  const RequestsSeen capacity = Measure(traffic, world.server(), {32, 5});
  const double rate = options.fraction * capacity.observed.per_second;
  std::printf("32 clients get %.0f requests/s; sent are %.0f/s\n", capacity.observed.per_second, rate);
  std::printf("second | %s | server MB\n", kSeenColumns);
  const auto print = [&](const std::string& when, const RequestsSeen& seen) {
    std::printf("%6s | %s | %9.1f\n", when.c_str(), SeenText(seen).c_str(),
                world.server().process.ResidentMegabytes());
    std::fflush(stdout);
  };
  const OpenLoad load = {rate, options.seconds, std::min(10.0, options.seconds)};
  print("all", SendOpenLoop(traffic, world.server(), load, [&](double second, const RequestsSeen& seen) {
          print(std::to_string(static_cast<int>(second)), seen);
        }));
}

}  // namespace curator::bench
