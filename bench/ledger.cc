// Durable charges per second on one hot dataset, beside what a plain transaction for each charge manages on
// the same store in the same run.
//
//   bench_ledger compare BACKEND [SECONDS [ROUNDS]]   1, 8, 32 and 128 clients, ledger and plain by turns
//   bench_ledger load BACKEND CLIENTS [SECONDS]       the ledger alone, for a profiler
//   bench_ledger history BACKEND [CHARGES]            the price of a charge after 10^3, 10^5, ... CHARGES
//   bench_ledger beside BACKEND [SECONDS]             charges while 0, 1 and 2 threads compute without pause
//   bench_ledger metrics BACKEND [SECONDS [ROUNDS]]   by turns with and without an observer that counts
//   bench_ledger without BACKEND [SECONDS [ROUNDS]]   by turns with stores that lack what serves readers
//
// BACKEND is sqlite or postgres. The stores and the anchor lie below $CURATOR_SCRATCH, or else below /tmp,
// which must be a disk: in memory nothing is durable and nothing is measured. Each figure is the best of its
// rounds: what disturbs a machine only slows it.
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/ledger_load.h"
#include "bench/plain_ways.h"
#include "host/entropy.h"
#include "ledger/open_ledger.h"
#include "ledger/sql/database.h"
#include "metrics/ledger_metrics.h"
#include "tests/testing/postgres_cluster.h"
#include "tests/testing/scratch_folder.h"

namespace curator::bench {
namespace {

// A store for the ledger and one for the plain transactions: two files, or two databases of one cluster.
class Stores {
 public:
  explicit Stores(const std::string& backend, ledger::Observer* observer = nullptr) {
    if (backend == "postgres") {
      auto started = testing::PostgresCluster::Start({.shared_buffers = "128MB", .max_wal_size = "1GB"});
      if (!started.ok()) {
        std::fprintf(stderr, "%s\n", started.status().ToString().c_str());
        std::exit(1);
      }
      cluster_ = *std::move(started);
      ledger_url_ = cluster_->CreateDatabase();
      plain_ = cluster_->CreateDatabase();
    } else if (backend == "sqlite") {
      ledger_url_ = absl::StrCat("sqlite:", scratch_.path(), "/ledger.db");
      plain_ = absl::StrCat(scratch_.path(), "/plain.db");
    } else {
      std::fprintf(stderr, "no such backend: %s\n", backend.c_str());
      std::exit(2);
    }
    auto opened = ledger::OpenLedger({.url = ledger_url_,
                                      .anchor_dir = absl::StrCat(scratch_.path(), "/anchor"),
                                      .entropy = host::RandomBytes,
                                      .observer = observer});
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", opened.status().ToString().c_str());
      std::exit(1);
    }
    ledger_ = *std::move(opened);
  }

  ledger::Ledger& ledger() { return *ledger_; }
  const std::string& plain() const { return plain_; }

  // Runs SQL beside the ledger.
  void Change(const std::string& script) const {
    const auto store = ledger::OpenLedgerDatabase(ledger_url_);
    const absl::Status changed = store.ok() ? (*store)
                                                  ->Write([&](ledger::sql::Transaction& transaction) {
                                                    return transaction.ExecuteScript(script);
                                                  })
                                                  .status
                                            : store.status();
    if (changed.ok()) return;
    std::fprintf(stderr, "%s\n", changed.ToString().c_str());
    std::exit(1);
  }

 private:
  const testing::ScratchFolder scratch_;
  std::unique_ptr<testing::PostgresCluster> cluster_;
  std::string ledger_url_;
  std::string plain_;
  std::unique_ptr<ledger::Ledger> ledger_;
};

void KeepBest(Observed& best, const Observed& seen) {
  if (seen.per_second > best.per_second) best = seen;
}

void Compare(Stores& stores, double seconds, int rounds) {
  HotDataset dataset(stores.ledger());
  const std::vector<PlainWay> plain = PlainWays(stores.plain());
  std::printf("clients | charged by                 |  charges/s   p50 us   p99 us | ledger : this one\n");
  for (const int clients : {1, 8, 32, 128}) {
    std::vector<Observed> plainly(plain.size());
    Observed ours;
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < plain.size(); ++i) KeepBest(plainly[i], plain[i].charge({clients, seconds}));
      KeepBest(ours, dataset.Charge({clients, seconds}));
    }
    std::printf("%7d | %-26s | %10.0f %8.0f %8.0f |\n", clients, "the ledger", ours.per_second,
                ours.median_us, ours.p99_us);
    for (size_t i = 0; i < plain.size(); ++i) {
      const Observed& one = plainly[i];
      std::printf("%7d | %-26s | %10.0f %8.0f %8.0f | %.1f times the charges, %.2f times the latency\n",
                  clients, plain[i].name, one.per_second, one.median_us, one.p99_us,
                  ours.per_second / one.per_second, ours.median_us / one.median_us);
    }
    std::fflush(stdout);
  }
}

double ProcessorSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Run(Stores& stores, const Load& load) {
  HotDataset dataset(stores.ledger());
  const double before = ProcessorSeconds();
  const Observed seen = dataset.Charge(load);
  const double used = ProcessorSeconds() - before;
  std::printf(
      "%d clients: %.0f charges/s, p50 %.0f us, p99 %.0f us; %.1f us of this process's processor time each\n",
      load.clients, seen.per_second, seen.median_us, seen.p99_us,
      1e6 * used / static_cast<double>(seen.charges));
}

// What charts of budgets and the histories of analysts cost a charge: a row of counter_points for each
// counter (ADR 0070), and an entry of the index entries_of_charges.
void MeasureWithout(const std::string& backend, double seconds, int rounds) {
  const std::string on_table = backend == "postgres" ? " ON account_counters" : "";
  const std::pair<const char*, std::string> arms[] = {
      {"all of it", ""},
      {"without points", absl::StrCat("DROP TRIGGER counters_leave_points", on_table)},
      {"without the index", "DROP INDEX entries_of_charges"}};
  std::vector<std::unique_ptr<Stores>> stores;
  std::vector<std::unique_ptr<HotDataset>> datasets;
  for (const auto& [name, script] : arms) {
    stores.push_back(std::make_unique<Stores>(backend));
    if (!script.empty()) stores.back()->Change(script);
    datasets.push_back(std::make_unique<HotDataset>(stores.back()->ledger()));
  }
  std::printf(
      "clients | ledger             |  charges/s   p50 us   p99 us | charges, latency of all of it\n");
  for (const int clients : {1, 32, 128}) {
    std::vector<Observed> best(std::size(arms));
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < best.size(); ++i) KeepBest(best[i], datasets[i]->Charge({clients, seconds}));
    }
    for (size_t i = 0; i < best.size(); ++i) {
      std::printf("%7d | %-18s | %10.0f %8.0f %8.0f | %.2f, %.2f\n", clients, arms[i].first,
                  best[i].per_second, best[i].median_us, best[i].p99_us,
                  best[0].per_second / best[i].per_second, best[0].median_us / best[i].median_us);
    }
    std::fflush(stdout);
  }
}

void MeasureMetrics(const std::string& backend, double seconds, int rounds) {
  metrics::MetricSet set;
  metrics::LedgerMetrics counting(set, backend);
  Stores plain(backend);
  Stores counted(backend, &counting);
  HotDataset plain_dataset(plain.ledger());
  HotDataset counted_dataset(counted.ledger());
  std::printf("clients | charges/s without metrics | with metrics | ratio of charges, of p50\n");
  for (const int clients : {1, 32, 128}) {
    Observed without;
    Observed with;
    for (int round = 0; round < rounds; ++round) {
      KeepBest(without, plain_dataset.Charge({clients, seconds}));
      KeepBest(with, counted_dataset.Charge({clients, seconds}));
    }
    std::printf("%7d | %25.0f | %12.0f | %.3f, %.3f\n", clients, without.per_second, with.per_second,
                with.per_second / without.per_second, with.median_us / without.median_us);
    std::fflush(stdout);
  }
}

void MeasureHistory(Stores& stores, int64_t most) {
  HotDataset dataset(stores.ledger());
  std::printf("charges before | 1 client: p50 us | 32 clients: charges/s\n");
  for (int64_t charges = 1000; charges <= most; charges *= charges == 1000 ? 100 : 10) {
    dataset.FillTo(charges);
    Observed one;
    Observed many;
    for (int round = 0; round < 3; ++round) {
      KeepBest(one, dataset.Charge({1, 0.5}));
      KeepBest(many, dataset.Charge({32, 0.5}));
    }
    std::printf("%14lld | %16.0f | %21.0f\n", static_cast<long long>(charges), one.median_us,
                many.per_second);
    std::fflush(stdout);
  }
}

// Threads that compute and never wait, as a synthesis does.
class Computing {
 public:
  Computing(int threads, int niceness) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, niceness] {
        setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), getpriority(PRIO_PROCESS, 0) + niceness);
        double x = 1;
        while (!ending_.load(std::memory_order_relaxed)) x = x * 1.0000001 + 1e-9;
        sink_.store(x);
      });
    }
  }
  ~Computing() {
    ending_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  std::atomic<bool> ending_ = false;
  std::atomic<double> sink_ = 0;
  std::vector<std::thread> threads_;
};

// Sets the time after which the scheduler compares this thread, and those that it starts, with others; 0: the
// kernel's own choice. Kernels before 6.12 do not know it.
void SetSlice(uint64_t nanoseconds) {
  struct {
    uint32_t size = 48;
    uint32_t policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t niceness = getpriority(PRIO_PROCESS, 0);
    uint32_t priority = 0;
    uint64_t runtime = 0;
    uint64_t deadline = 0;
    uint64_t period = 0;
  } attributes;
  attributes.runtime = nanoseconds;
  if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0) std::perror("sched_setattr");
}

struct Neighbours {
  int threads = 0;
  int niceness = 0;
  uint64_t our_slice_ns = 0;
};

void MeasureBeside(Stores& stores, double seconds) {
  HotDataset dataset(stores.ledger());
  constexpr uint64_t kShort = 100'000;
  std::printf(
      "computing threads, nice, our slice us | 1 client: p50 us  p99 us | 32 clients: charges/s  p99 us\n");
  for (const Neighbours& beside :
       {Neighbours{0, 0, 0}, Neighbours{1, 0, 0}, Neighbours{2, 0, 0}, Neighbours{1, 0, kShort},
        Neighbours{2, 0, kShort}, Neighbours{1, 5, 0}, Neighbours{2, 5, 0}, Neighbours{1, 5, kShort},
        Neighbours{2, 5, kShort}, Neighbours{1, 19, 0}, Neighbours{2, 19, 0}}) {
    SetSlice(0);
    const Computing computing(beside.threads, beside.niceness);
    SetSlice(beside.our_slice_ns);
    const Observed one = dataset.Charge({1, seconds});
    const Observed many = dataset.Charge({32, seconds});
    std::printf("%17d, %4d, %12.0f | %16.0f %7.0f | %21.0f %7.0f\n", beside.threads, beside.niceness,
                static_cast<double>(beside.our_slice_ns) / 1000, one.median_us, one.p99_us, many.per_second,
                many.p99_us);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::string backend = argc > 2 ? argv[2] : "";
  const auto number = [&](int place, double otherwise) {
    return argc > place ? std::atof(argv[place]) : otherwise;
  };
  if (mode != "compare" && mode != "load" && mode != "history" && mode != "beside" && mode != "metrics" &&
      mode != "without") {
    std::fprintf(stderr, "bench_ledger compare|load|history|beside|metrics|without sqlite|postgres ...\n");
    return 2;
  }
  setenv("CURATOR_SCRATCH", "/tmp", 0);
  if (mode == "metrics") {
    curator::bench::MeasureMetrics(backend, number(3, 1), static_cast<int>(number(4, 5)));
    return 0;
  }
  if (mode == "without") {
    curator::bench::MeasureWithout(backend, number(3, 1), static_cast<int>(number(4, 5)));
    return 0;
  }
  curator::bench::Stores stores(backend);
  if (mode == "compare") curator::bench::Compare(stores, number(3, 2), static_cast<int>(number(4, 3)));
  if (mode == "load") curator::bench::Run(stores, {static_cast<int>(number(3, 32)), number(4, 2)});
  if (mode == "history") curator::bench::MeasureHistory(stores, static_cast<int64_t>(number(3, 1e6)));
  if (mode == "beside") curator::bench::MeasureBeside(stores, number(3, 2));
  return 0;
}
