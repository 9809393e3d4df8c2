#include "dp/synthesis/dpsyn/views_memory.h"

#include <algorithm>
#include <bit>

#include "dp/data/count_marginals.h"
#include "dp/synthesis/dpsyn/consistency.h"

namespace curator::dp {
namespace {

// Of each cell of all views: noise, count and estimate, marginals of views that share attributes, what
// records are drawn from, and the records' own counts and goals.
constexpr int64_t kPerViewCell = 48;
// Further, of views that are sorted: a copy, what is left, the slice, and a place in a heap.
constexpr int64_t kPerSortedViewCell = 64;
// Of each cell of the largest view, while it is projected, rounded and matched.
constexpr int64_t kPerCellOfTheLargest = 160;
// Of each cell of pairs to select from: its count, estimate, and that rounded.
constexpr int64_t kPerPairCell = 32;
constexpr int64_t kPerView = 2000;
constexpr int64_t kPerSharedSet = 400;
constexpr int64_t kPerPlace = 4;  // of a record in a view
constexpr int64_t kPerListing = 16;

// Of one record.
struct RecordBytes {
  int64_t held = 0;
  int64_t stored_bits = 0;
};

RecordBytes BytesOfARecord(const Domain& domain, const AttributeSet& attributes) {
  RecordBytes record;
  for (const uint32_t attribute : attributes) {
    const int64_t size = domain.attributes()[attribute].size();
    record.held += size <= 256 ? 1 : 4;
    record.stored_bits += std::bit_width(static_cast<uint64_t>(size - 1));
  }
  return record;
}

// Which of so many views share attributes: each lists those of its subsets that others have.
int64_t SharedBytes(int64_t views, int64_t widest) {
  const int64_t subsets =
      std::min(static_cast<int64_t>(kMostSharedSets), int64_t{1} << std::min<int64_t>(widest, 20));
  const int64_t shared = std::min({static_cast<int64_t>(kMostSharedSets),
                                   static_cast<int64_t>(kMostIntersections) / views, views * subsets});
  const int64_t listed = std::min(views * subsets, static_cast<int64_t>(kMostIntersections));
  return kPerSharedSet * shared + kPerListing * listed;
}

}  // namespace

SynthesisMemory MemoryOfViews(const Domain& domain, const ViewSchedule& schedule, RecordsMade made,
                              int64_t most_records) {
  int64_t views = 1;
  int64_t widest = schedule.selected ? 2 : 1;
  for (const ViewGroup& group : schedule.groups) {
    views += std::ssize(group.views);
    for (const AttributeSet& view : group.views) widest = std::max<int64_t>(widest, std::ssize(view));
  }
  int64_t pairs = 0;
  int64_t candidates = 0;  // their cells
  if (schedule.selected) {
    views += schedule.selected->rounds;
    for (const AttributeSet& pair : schedule.selected->candidates) {
      ++pairs;
      candidates += domain.CellCount(pair).value_or(0);
    }
  }
  const int64_t cells = schedule.measured_cells + 1;
  const RecordBytes record = BytesOfARecord(domain, schedule.attributes);
  const int64_t stored = 8 * cells + most_records * record.stored_bits / 8 +
                         8 * std::ssize(schedule.attributes) +
                         views * 8 * (4 + std::ssize(schedule.attributes)) +
                         BytesOfLines(domain, views + 2, std::ssize(schedule.attributes));
  MethodMemory memory = ViewsModelMemory(domain, schedule.attributes, cells, most_records, stored);
  const int64_t sorted = made == RecordsMade::kSorted ? kPerSortedViewCell * cells : 0;
  memory.working = kPerViewCell * cells + sorted + kPerPairCell * candidates +
                   CountingBytes(views + pairs, std::max(cells, candidates), schedule.largest_view) +
                   kPerCellOfTheLargest * schedule.largest_view + most_records * (record.held + kPerPlace) +
                   kPerView * (views + pairs) + SharedBytes(views, widest);
  return MemoryOf(memory);
}

MethodMemory ViewsModelMemory(const Domain& domain, const AttributeSet& attributes, int64_t cells,
                              int64_t records, int64_t stored) {
  // A sampler of views holds the sums of their cells.
  return {.working = 0,
          .model = 8 * cells + records * BytesOfARecord(domain, attributes).held + stored / 4,
          .stored = stored,
          .sampling = 24 * cells};
}

int64_t DefaultMostRecords(const Domain& domain, const AttributeSet& attributes) {
  constexpr int64_t kMostByDefault = 4'000'000;
  constexpr int64_t kBytesByDefault = 500'000'000;
  const RecordBytes record = BytesOfARecord(domain, attributes);
  const int64_t each = std::max(record.held + kPerPlace, record.held + 6 * record.stored_bits / 8);
  return std::clamp<int64_t>(kBytesByDefault / std::max<int64_t>(1, each), 1, kMostByDefault);
}

}  // namespace curator::dp
