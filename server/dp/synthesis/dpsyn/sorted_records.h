// STS: records from topologically sorted views, the most frequent first (Li, Zhang, Wang 2018, section 3.3).
//
// Functions of public noisy answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/int128.h"
#include "dp/noise/bit_source.h"
#include "dp/synthesis/dpsyn/record_table.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// Makes records one by one: in each view of the order, the combination of the largest count that agrees with
// the known attributes gives the new ones; then all these counts are decremented. Of equal counts the first
// combination is taken. Counts may fall below 0 where views contradict each other.
//
// Not thread-safe: it consumes its counts. A combination is found in time logarithmic in the view's cells.
class SortedRecords {
 public:
  // `views` are counts of as many records as will be made. `attributes`: those of a record.
  SortedRecords(std::span<const ViewTable> views, const std::vector<OrderedView>& order,
                const AttributeSet& attributes);

  // The next record, in the order of the attributes.
  void Next(std::span<uint32_t> codes);

 private:
  struct Step {
    std::vector<size_t> places;   // of the view's attributes in the record
    std::vector<size_t> strides;  // in the view
    std::vector<size_t> sizes;
    std::vector<bool> known;
    std::vector<double> left;
    std::vector<size_t> slice_of;              // the combination of known attributes, of each cell
    std::vector<std::vector<size_t>> largest;  // of each such combination, a heap of its cells
  };

  static void SiftDown(const std::vector<double>& left, std::vector<size_t>& heap);

  std::vector<Step> steps_;
};

// `rows` records by STS. To reduce the influence of the first view, the counts are divided among `repeats`
// runs in equal shares, each of which starts with another view. Errors: CANCELLED as in Pacer.
absl::StatusOr<RecordTable> MakeSortedRecords(std::span<const ViewTable> views,
                                              const AttributeSet& attributes,
                                              const std::vector<int64_t>& sizes, int64_t rows,
                                              int64_t repeats, Pacer& pacer);

// A pseudo-random sequence with a fixed seed (SplitMix64: Steele, Lea, Flood 2014): breaks ties and shuffles
// public data, the same way on every machine. No privacy rests on it. Not thread-safe.
class FixedOrder : public BitSource {
 public:
  explicit FixedOrder(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
  }

  // From 0 to count - 1, count >= 1.
  size_t Below(size_t count) { return static_cast<size_t>(static_cast<Uint128>(Next()) * count >> 64); }

  // For samplers whose bits need not be private: records drawn from public views.
  void Fill(std::span<uint64_t> words) override {
    for (uint64_t& word : words) word = Next();
  }

  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace curator::dp
