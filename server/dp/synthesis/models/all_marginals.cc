#include "dp/synthesis/models/all_marginals.h"

#include <cstddef>
#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/models/block_loops.h"

namespace curator::dp {
namespace {

using Sets = std::vector<size_t>;  // indices of requested sets

// The recursion: a node holds a table over the attributes that its sets have kept so far (outermost) and all
// those not decided yet, from `next` on.
class Recursion {
 public:
  Recursion(const std::vector<int64_t>& sizes, std::vector<std::vector<uint8_t>> members, Pacer& pacer)
      : sizes_(sizes), members_(std::move(members)), pacer_(pacer), results_(members_.size()) {}

  template <typename Value>
  absl::Status Visit(std::span<const Value> table, size_t kept_cells, size_t next, const Sets& sets) {
    while (next < sizes_.size() && sizes_[next] == 1) ++next;
    if (next == sizes_.size()) {
      for (const size_t set : sets) results_[set].assign(table.begin(), table.end());
      return absl::OkStatus();
    }
    Sets with;
    Sets without;
    for (const size_t set : sets) (members_[set][next] != 0 ? with : without).push_back(set);
    if (!with.empty()) {
      RETURN_IF_ERROR(Visit(table, kept_cells * static_cast<size_t>(sizes_[next]), next + 1, with));
    }
    if (without.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::vector<double> summed,
                     SumOut(table, kept_cells, static_cast<size_t>(sizes_[next])));
    return Visit(std::span<const double>(summed), kept_cells, next + 1, without);
  }

  std::vector<std::vector<double>> TakeResults() { return std::move(results_); }

 private:
  template <typename Value>
  absl::StatusOr<std::vector<double>> SumOut(std::span<const Value> table, size_t kept_cells, size_t size) {
    const size_t rest = table.size() / kept_cells / size;
    std::vector<double> summed(kept_cells * rest);
    for (size_t kept = 0; kept < kept_cells; ++kept) {
      for (size_t code = 0; code < size; ++code) {
        RETURN_IF_ERROR(pacer_.InPieces(rest, [&](size_t start, size_t length) {
          AddBlock(table.subspan((kept * size + code) * rest + start, length),
                   std::span(summed).subspan(kept * rest + start, length));
        }));
      }
    }
    return summed;
  }

  const std::vector<int64_t>& sizes_;
  std::vector<std::vector<uint8_t>> members_;  // of each set: which attributes it has
  Pacer& pacer_;
  std::vector<std::vector<double>> results_;
};

}  // namespace

absl::StatusOr<std::vector<std::vector<double>>> AllMarginals(const DenseLayout& layout,
                                                              std::span<const float> weights,
                                                              std::span<const AttributeSet> sets,
                                                              Pacer& pacer) {
  std::vector<std::vector<uint8_t>> members;
  Sets all;
  for (const AttributeSet& set : sets) {
    ASSIGN_OR_RETURN(const std::vector<size_t> positions, layout.PositionsOf(set));
    std::vector<uint8_t> marks(layout.sizes().size());
    for (const size_t position : positions) marks[position] = 1;
    members.push_back(std::move(marks));
    all.push_back(all.size());
  }
  Recursion recursion(layout.sizes(), std::move(members), pacer);
  RETURN_IF_ERROR(recursion.Visit(weights, 1, 0, all));
  return recursion.TakeResults();
}

}  // namespace curator::dp
