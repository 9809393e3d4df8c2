#include "dp/data/count_marginals.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/joint_counter.h"
#include "dp/data/joint_plan.h"
#include "dp/data/protected_pages.h"

namespace curator::dp {
namespace {

// Zeros for counters, which are read and written all over the place: large arrays lie in large pages where
// the system has them. Not thread-safe; numbers() is valid while the object lives.
class ZeroedNumbers {
 public:
  // Throws std::bad_alloc, as a vector of this size would.
  explicit ZeroedNumbers(size_t count);
  ~ZeroedNumbers();
  ZeroedNumbers(ZeroedNumbers&& other) noexcept;
  ZeroedNumbers& operator=(ZeroedNumbers&& other) = delete;

  std::span<uint32_t> numbers() { return {start_, count_}; }

 private:
  size_t count_;
  size_t mapped_bytes_;  // 0 where they come from the heap
  void* memory_;
  uint32_t* start_;
};

ZeroedNumbers::ZeroedNumbers(size_t count)
    : count_(count), mapped_bytes_(0), memory_(nullptr), start_(nullptr) {
  const size_t bytes = count * sizeof(uint32_t);
  if (bytes < kLargePageBytes / 2) {
    memory_ = std::calloc(std::max(count, size_t{1}), sizeof(uint32_t));
    if (memory_ == nullptr) throw std::bad_alloc();
    start_ = static_cast<uint32_t*>(memory_);
    return;
  }
  // What lies before the first whole large page, and behind the last number, is never touched.
  mapped_bytes_ = bytes + 2 * kLargePageBytes;
  memory_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  madvise(memory_, mapped_bytes_, MADV_HUGEPAGE);  // where the system cannot, small pages do
  const size_t before = kLargePageBytes - reinterpret_cast<uintptr_t>(memory_) % kLargePageBytes;
  start_ = reinterpret_cast<uint32_t*>(static_cast<std::byte*>(memory_) + before);
}

ZeroedNumbers::~ZeroedNumbers() {
  if (mapped_bytes_ > 0) {
    munmap(memory_, mapped_bytes_);
  } else {
    std::free(memory_);
  }
}

ZeroedNumbers::ZeroedNumbers(ZeroedNumbers&& other) noexcept
    : count_(std::exchange(other.count_, 0)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      memory_(std::exchange(other.memory_, nullptr)),
      start_(std::exchange(other.start_, nullptr)) {}

constexpr int64_t kStretchRows = 1 << 16;         // a stretch's codes stay in the second or third cache
constexpr int64_t kMostNumbersOfAPass = 1 << 22;  // of its counters together: 16 MiB
constexpr int kMostCores = 16;
constexpr int64_t kWorthAnotherCore = 1 << 22;  // rows times joints: more than a millisecond

// `sizes` are those of the table's columns, `expected` those that a table of the domain has.
absl::Status CheckRequest(const std::vector<int64_t>& sizes, const std::vector<int64_t>& expected,
                          const Domain& domain, const std::vector<AttributeSet>& sets) {
  if (sizes != expected) return absl::FailedPreconditionError("the table has another domain");
  int64_t total = 0;
  for (const AttributeSet& set : sets) {
    RETURN_IF_ERROR(domain.CheckSet(set));
    const std::optional<int64_t> cells = domain.CellCount(set);
    if (!cells || *cells > kMaxCountedCells - total) {
      return absl::InvalidArgumentError(
          absl::StrCat("the marginals have more than ", kMaxCountedCells, " cells, which is the limit"));
    }
    total += *cells;
  }
  return absl::OkStatus();
}

using Counts = std::vector<std::vector<int64_t>>;

int64_t NumbersFor(const Domain& domain, const AttributeSet& joint) {
  return static_cast<int64_t>(CounterNumbers(*domain.CellCount(joint)));
}

int64_t NumbersFor(const Domain& domain, std::span<const Joint> joints) {
  int64_t numbers = 0;
  for (const Joint& joint : joints) numbers += NumbersFor(domain, joint.attributes);
  return numbers;
}

// A counter for each of some joints, with their numbers beside one another.
struct Counters {
  ZeroedNumbers numbers;
  std::vector<JointCounter> of_joints;
};

Counters CountersFor(const ColumnsView& table, const Domain& domain, std::span<const Joint> joints) {
  Counters counters{.numbers = ZeroedNumbers(static_cast<size_t>(NumbersFor(domain, joints))),
                    .of_joints = {}};
  std::span<uint32_t> left = counters.numbers.numbers();
  for (const Joint& joint : joints) {
    std::vector<ColumnView> columns;
    for (const uint32_t attribute : joint.attributes) columns.push_back(table.columns[attribute]);
    const int64_t cells = *domain.CellCount(joint.attributes);
    counters.of_joints.emplace_back(std::move(columns), cells, left.first(CounterNumbers(cells)));
    left = left.subspan(CounterNumbers(cells));
  }
  return counters;
}

// Depends on the magnitude of the number of rows and on public sizes. Each core has its own counters.
int CoresFor(const ColumnsView& table, const Domain& domain, std::span<const Joint> joints) {
  const int64_t work = MagnitudeOf(table.rows) * static_cast<int64_t>(joints.size());
  const int64_t numbers = NumbersFor(domain, joints);
  return work >= kWorthAnotherCore && numbers <= std::min(kMostNumbersOfAPass, work / 8) ? kMostCores : 1;
}

// Counts `joints` in one pass over the rows: stretch by stretch, and within a stretch joint by joint, so that
// both the stretch's codes and the joint's counts stay in a cache. Cores take stretches as they come.
Counters CountJoints(const ColumnsView& table, const Domain& domain, std::span<const Joint> joints,
                     Executor& executor) {
  const int cores = CoresFor(table, domain, joints);
  std::vector<std::optional<Counters>> of_core(static_cast<size_t>(cores));
  std::atomic<int64_t> next_row = 0;
  executor.RunOnFreeCores(cores, [&](int core) {
    Counters counters = CountersFor(table, domain, joints);
    for (int64_t begin = 0; (begin = next_row.fetch_add(kStretchRows)) < table.rows;) {
      const int64_t end = std::min(table.rows, begin + kStretchRows);
      for (JointCounter& counter : counters.of_joints) counter.CountRows(begin, end);
    }
    of_core[static_cast<size_t>(core)].emplace(std::move(counters));
  });

  Counters total = *std::move(of_core[0]);
  for (size_t core = 1; core < of_core.size(); ++core) {
    if (!of_core[core]) continue;
    for (size_t i = 0; i < joints.size(); ++i) total.of_joints[i].Add(of_core[core]->of_joints[i]);
  }
  return total;
}

// How many of the joints, from the first one, are counted in one pass: at least one.
size_t OnePass(const Domain& domain, std::span<const Joint> joints) {
  size_t count = 0;
  for (int64_t numbers = 0; count < joints.size(); ++count) {
    numbers += NumbersFor(domain, joints[count].attributes);
    if (count > 0 && numbers > kMostNumbersOfAPass) break;
  }
  return count;
}

// Of the joint's members, one after another, from its own counts.
Counts CountsOfMembers(const Domain& domain, const std::vector<AttributeSet>& sets, const Joint& joint,
                       std::span<const uint32_t> joint_counts) {
  std::vector<AttributeSet> members;
  for (const size_t member : joint.members) members.push_back(sets[member]);
  if (members.size() == 1 && members[0] == joint.attributes)
    return {std::vector<int64_t>(joint_counts.begin(), joint_counts.end())};
  Counts counts;
  for (const auto& own : ProjectToEach(domain, joint.attributes, joint_counts, members))
    counts.emplace_back(own.begin(), own.end());
  return counts;
}

Counts CountColumns(const ColumnsView& table, const Domain& domain, const std::vector<AttributeSet>& sets,
                    Executor& executor) {
  const std::vector<Joint> joints = PlanForRows(domain, sets, table.rows);
  Counts counts(sets.size());
  for (std::span<const Joint> left = joints; !left.empty();) {
    const std::span<const Joint> pass = left.first(OnePass(domain, left));
    Counters counters = CountJoints(table, domain, pass, executor);
    for (size_t i = 0; i < pass.size(); ++i) {
      Counts of_members = CountsOfMembers(domain, sets, pass[i], counters.of_joints[i].Finish());
      for (size_t m = 0; m < of_members.size(); ++m) counts[pass[i].members[m]] = std::move(of_members[m]);
    }
    left = left.subspan(pass.size());
  }
  return counts;
}

}  // namespace

absl::StatusOr<std::vector<std::vector<int64_t>>> CountMarginals(const SealedTable& table,
                                                                 const Domain& domain,
                                                                 const std::vector<AttributeSet>& sets,
                                                                 Executor& executor) {
  RETURN_IF_ERROR(CheckRequest(table.sizes(), SizesOf(domain), domain, sets));
  const ReadableScope readable(table);
  return CountColumns(readable.columns(), domain, sets, executor);
}

absl::StatusOr<std::vector<std::vector<int64_t>>> CountMarginals(const PublicTable& table,
                                                                 const Domain& domain,
                                                                 const std::vector<AttributeSet>& sets,
                                                                 Executor& executor) {
  RETURN_IF_ERROR(CheckRequest(table.sizes(), AttributeSizesOf(domain), domain, sets));
  return CountColumns(table.columns(), domain, sets, executor);
}

absl::StatusOr<std::vector<int64_t>> CountMarginal(const SealedTable& table, const Domain& domain,
                                                   const AttributeSet& set, Executor& executor) {
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts, CountMarginals(table, domain, {set}, executor));
  return std::move(counts.front());
}

absl::StatusOr<std::vector<int64_t>> CountMarginal(const PublicTable& table, const Domain& domain,
                                                   const AttributeSet& set, Executor& executor) {
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts, CountMarginals(table, domain, {set}, executor));
  return std::move(counts.front());
}

int64_t CountingBytes(int64_t sets, int64_t cells, int64_t largest) {
  constexpr int64_t kMostOfACore = int64_t{20} << 20;
  constexpr int64_t kMostOfASmallJoint = int64_t{1} << 20;
  return 12 * (cells + largest) + std::min(kMostOfACore, kMostOfASmallJoint * sets + 16 * cells);
}

}  // namespace curator::dp
