#include "bench/counting_comparison.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <numeric>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/adult_like.h"
#include "bench/counting_rivals.h"
#include "dp/data/count_marginals.h"
#include "dp/data/public_table.h"
#include "host/scheduling.h"

namespace curator::bench {
namespace {

constexpr int kRounds = 5;                // of each the best: what else runs on a machine only slows it
constexpr size_t kPostgresMarginals = 6;  // the first of the 64: each takes seconds

double ProcessorSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double ElapsedSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double BestOf(const std::function<double()>& clock, const std::function<void()>& work) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double start = clock();
    work();
    best = std::min(best, clock() - start);
  }
  return best;
}

double StreamingGigabytesPerSecond() {
  const std::vector<uint64_t> words(size_t{1} << 25, 1);  // 256 MiB
  uint64_t total = 0;
  const double seconds = BestOf(ProcessorSeconds, [&] {
    uint64_t sums[8] = {};
    for (size_t i = 0; i + 8 <= words.size(); i += 8) {
      for (size_t lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
    }
    total += std::accumulate(sums, sums + 8, uint64_t{0});
  });
  std::printf("%s", total == 0 ? "nothing was read\n" : "");
  return static_cast<double>(words.size() * sizeof(uint64_t)) / seconds * 1e-9;
}

// One table of rows, and what is printed of it.
class Comparison {
 public:
  explicit Comparison(int64_t rows)
      : rows_(rows),
        table_(dp::PublicTable::Create(AdultLikeColumns(rows)).value()),
        sets_(RandomSets(64, 3)) {}

  // Whether all counters agree.
  bool Run() {
    std::printf("\n%ld rows x %zu columns\n", static_cast<long>(rows_), AdultSizes().size());
    std::printf("  streaming read, one core%47.1f GB/s\n", StreamingGigabytesPerSecond());
    OurOwn();
    Numpy();
    Postgres();
    return agree_;
  }

 private:
  void Print(const std::string& what, double seconds, size_t marginals) const {
    const double ns = seconds * 1e9 / static_cast<double>(rows_) / static_cast<double>(marginals);
    const double ours = best_seconds_ * 1e9 / static_cast<double>(rows_) / static_cast<double>(sets_.size());
    std::printf("  %-62s %8.3f ns %9.1f x\n", what.c_str(), ns, ns / ours);
  }

  double OneCore(const std::vector<dp::AttributeSet>& sets) const {
    return BestOf(ProcessorSeconds, [&] { dp::CountMarginals(table_, domain_, sets).value(); });
  }

  void OurOwn() {
    checksum_ = ChecksumOf(dp::CountMarginals(table_, domain_, sets_).value());
    best_seconds_ = OneCore(sets_);
    Print("Curator, 64 random 3-way marginals, one core", best_seconds_, sets_.size());
    const double one_by_one = BestOf(ProcessorSeconds, [&] {
      for (const dp::AttributeSet& set : sets_) dp::CountMarginal(table_, domain_, set).value();
    });
    Print("  asked for one by one, so that nothing is shared", one_by_one, sets_.size());
    host::FreeCores cores;
    const double elapsed =
        BestOf(ElapsedSeconds, [&] { dp::CountMarginals(table_, domain_, sets_, cores).value(); });
    Print("  on all free cores, elapsed", elapsed, sets_.size());
    for (const uint32_t k : {2u, 3u}) {
      const std::vector<dp::AttributeSet> all = AllSets(12, k);
      Print(absl::StrCat("  all ", all.size(), " ", k, "-way marginals of 12 attributes, one core"),
            OneCore(all), all.size());
    }
  }

  void Numpy() {
    const auto counted = CountWithNumpy(table_.columns(), sets_);
    if (!counted.ok()) return Absent("numpy", counted.status());
    const std::string name = absl::StrCat("numpy ", counted->version, " bincount, the same 64, ");
    Print(name + "blocks of 65,536 rows", counted->blocks.seconds, sets_.size());
    Print(name + "whole columns", counted->whole.seconds, sets_.size());
    Compare("numpy", counted->whole.checksum, checksum_);
    Compare("numpy", counted->blocks.checksum, checksum_);
  }

  void Postgres() {
    const std::vector<dp::AttributeSet> first(sets_.begin(), sets_.begin() + kPostgresMarginals);
    const auto counted = CountWithPostgres(table_.columns(), first);
    if (!counted.ok()) return Absent("PostgreSQL", counted.status());
    Print(absl::StrCat("PostgreSQL GROUP BY, the first ", first.size(), " of the 64, one backend"),
          counted->counted.seconds, first.size());
    std::printf("    (%s; COPY and VACUUM ANALYZE took %.1f s)\n", counted->plan.c_str(),
                counted->load_seconds);
    Compare("PostgreSQL", counted->counted.checksum,
            ChecksumOf(dp::CountMarginals(table_, domain_, first).value()));
  }

  static void Absent(const std::string& rival, const absl::Status& status) {
    std::printf("  %s is left out: %s\n", rival.c_str(), std::string(status.message()).c_str());
  }

  void Compare(const std::string& rival, uint64_t theirs, uint64_t ours) {
    if (theirs == ours) return;
    std::printf("  %s COUNTS OTHERWISE: checksum %lu, ours %lu\n", rival.c_str(), theirs, ours);
    agree_ = false;
  }

  const int64_t rows_;
  const dp::Domain domain_ = AdultLikeDomain();
  const dp::PublicTable table_;
  const std::vector<dp::AttributeSet> sets_;
  double best_seconds_ = 0;
  uint64_t checksum_ = 0;
  bool agree_ = true;
};

}  // namespace

int CompareCounting(const std::vector<int64_t>& rows) {
  std::printf("ns of processor time per row and marginal; how many times what Curator takes for the 64\n");
  bool agree = true;
  for (const int64_t count : rows) agree = Comparison(count).Run() && agree;
  return agree ? 0 : 1;
}

}  // namespace curator::bench
