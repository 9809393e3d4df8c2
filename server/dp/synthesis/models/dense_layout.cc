#include "dp/synthesis/models/dense_layout.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/processor.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/models/portable_math.h"

namespace curator::dp {
namespace {

// Blocks at least this long make the vector loops worth their overhead.
constexpr int64_t kLeastBlock = 256;
// Rows laid out whole stay within the second-level cache, about.
constexpr int64_t kMostExpandedCells = int64_t{1} << 19;

// For every cell of the product of `sizes`, row-major, the cell of the marginal that keeps the marked
// attributes.
absl::StatusOr<std::vector<uint32_t>> KeptCells(std::span<const int64_t> sizes, std::span<const uint8_t> kept,
                                                Pacer& pacer) {
  std::vector<uint32_t> cells = {0};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto size = static_cast<size_t>(sizes[i]);
    std::vector<uint32_t> longer(cells.size() * size);
    RETURN_IF_ERROR(pacer.InPieces(longer.size(), [&](size_t start, size_t length) {
      for (size_t cell = start; cell < start + length; ++cell) {
        const size_t prefix = cells[cell / size];
        longer[cell] = static_cast<uint32_t>(kept[i] != 0 ? prefix * size + cell % size : prefix);
      }
    }));
    cells = std::move(longer);
  }
  return cells;
}

// Whether one row of a block's cells for each outer cell of a marginal is small enough to be laid out whole.
bool FitsExpandedIn(const DenseLayout& layout, int64_t outer_cells) {
  return outer_cells * layout.block_cells() <= std::min(kMostExpandedCells, layout.cells() / 2);
}

}  // namespace

absl::StatusOr<DenseLayout> DenseLayout::Create(const Domain& domain, AttributeSet attributes,
                                                int64_t max_cells) {
  const std::optional<int64_t> cells = domain.CellCount(attributes);
  if (!cells || *cells > max_cells) {
    return InvalidField(
        "workload", absl::StrCat("spans a domain of ", cells ? absl::StrCat(*cells) : "more than 2^62",
                                 " cells (", NamesOf(domain, attributes),
                                 "); this method holds every cell in memory and takes at most ", max_cells));
  }
  DenseLayout layout;
  layout.sizes_ = domain.SizesOf(attributes);
  layout.attributes_ = std::move(attributes);
  layout.cells_ = *cells;
  layout.first_inner_ = layout.sizes_.size();
  while (layout.first_inner_ > 0 && layout.block_cells_ < kLeastBlock) {
    layout.block_cells_ *= layout.sizes_[--layout.first_inner_];
  }
  return layout;
}

absl::StatusOr<std::vector<size_t>> DenseLayout::PositionsOf(const AttributeSet& set) const {
  std::vector<size_t> positions;
  for (const uint32_t attribute : set) {
    const std::optional<size_t> position = PositionIn(attributes_, attribute);
    if (!position) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute ", attribute, " is not covered by this model"));
    }
    positions.push_back(*position);
  }
  return positions;
}

absl::StatusOr<DenseMarginal> DenseMarginal::Create(const DenseLayout& layout, AttributeSet set,
                                                    Pacer& pacer) {
  ASSIGN_OR_RETURN(const std::vector<size_t> positions, layout.PositionsOf(set));
  std::vector<uint8_t> kept(layout.sizes().size());
  DenseMarginal marginal(layout);
  for (const size_t position : positions) {
    kept[position] = 1;
    marginal.cells_ *= layout.sizes()[position];
    if (position >= layout.first_inner()) marginal.inner_cells_ *= layout.sizes()[position];
  }
  const std::span<const int64_t> sizes = layout.sizes();
  const std::span<const uint8_t> marks = kept;
  const size_t outer = layout.first_inner();
  ASSIGN_OR_RETURN(marginal.outer_cell_, KeptCells(sizes.first(outer), marks.first(outer), pacer));
  ASSIGN_OR_RETURN(marginal.inner_index_, KeptCells(sizes.subspan(outer), marks.subspan(outer), pacer));
  marginal.set_ = std::move(set);
  return marginal;
}

bool DenseMarginal::FitsExpanded() const {
  return FitsExpandedIn(*layout_, outer_cells());
}

int64_t DenseMarginal::StepsToSum(const DenseLayout& layout, const AttributeSet& set) {
  constexpr int64_t kPerIndex = 8;  // divisions; an index is made attribute by attribute
  int64_t outer = 1;
  int64_t inner = 1;
  for (size_t i = 0; i < layout.sizes().size(); ++i) {
    if (Contains(set, layout.attributes()[i]))
      (i < layout.first_inner() ? outer : inner) *= layout.sizes()[i];
  }
  const int64_t index = kPerIndex * (layout.blocks() + layout.block_cells());
  const int64_t sums = 4 * outer * inner;  // whose memory is touched first
  if (!FitsExpandedIn(layout, outer)) return index + sums + 2 * layout.cells();
  return index + sums + layout.cells() / 2 + 2 * outer * layout.block_cells();  // as vectors, then folded
}

absl::StatusOr<std::vector<double>> DenseMarginal::Sum(std::span<const float> weights, Pacer& pacer) const {
  const auto block = static_cast<size_t>(layout_->block_cells());
  const auto inner = static_cast<size_t>(inner_cells_);
  std::vector<double> sums(static_cast<size_t>(cells_));
  const auto fold = [&](size_t outer, const auto* values) {
    return pacer.InPieces(block, [&](size_t start, size_t length) {
      double* const row = sums.data() + outer * inner;
      for (size_t i = start; i < start + length; ++i) row[inner_index_[i]] += static_cast<double>(values[i]);
    });
  };
  if (!FitsExpanded()) {
    for (size_t b = 0; b < outer_cell_.size(); ++b)
      RETURN_IF_ERROR(fold(outer_cell_[b], weights.data() + b * block));
    return sums;
  }
  // Blocks of one outer cell are added up first, as vectors, and folded once.
  std::vector<double> rows(static_cast<size_t>(outer_cells()) * block);
  for (size_t b = 0; b < outer_cell_.size(); ++b) {
    RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
      AddBlock(weights.subspan(b * block + start, length),
               std::span(rows).subspan(outer_cell_[b] * block + start, length));
    }));
  }
  for (size_t outer = 0; outer * block < rows.size(); ++outer)
    RETURN_IF_ERROR(fold(outer, rows.data() + outer * block));
  return sums;
}

absl::StatusOr<std::vector<double>> DenseMarginal::Largest(std::span<const double> numbers,
                                                           Pacer& pacer) const {
  const auto block = static_cast<size_t>(layout_->block_cells());
  const auto inner = static_cast<size_t>(inner_cells_);
  std::vector<double> largest(static_cast<size_t>(cells_), -std::numeric_limits<double>::infinity());
  for (size_t b = 0; b < outer_cell_.size(); ++b) {
    double* const row = largest.data() + outer_cell_[b] * inner;
    RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
      for (size_t i = start; i < start + length; ++i) {
        double& cell = row[inner_index_[i]];
        cell = std::max(cell, numbers[b * block + i]);
      }
    }));
  }
  return largest;
}

absl::Status DenseMarginal::Scale(std::span<const float> factors, std::span<float> weights,
                                  Pacer& pacer) const {
  const auto block = static_cast<size_t>(layout_->block_cells());
  const auto inner = static_cast<size_t>(inner_cells_);
  if (!FitsExpanded()) {
    const std::span<const uint32_t> index = inner_index_;
    for (size_t b = 0; b < outer_cell_.size(); ++b) {
      RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
        MultiplyGathered(factors.subspan(outer_cell_[b] * inner, inner), index.subspan(start, length),
                         weights.subspan(b * block + start, length));
      }));
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<float> rows, Expanded(factors, pacer));
  const std::span<const float> all_rows = rows;
  for (size_t b = 0; b < outer_cell_.size(); ++b) {
    RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
      MultiplyBlock(all_rows.subspan(outer_cell_[b] * block + start, length),
                    weights.subspan(b * block + start, length));
    }));
  }
  return absl::OkStatus();
}

absl::Status DenseMarginal::AddTo(std::span<const double> values, int64_t first_block,
                                  std::span<double> logarithms, Pacer& pacer) const {
  const auto block = static_cast<size_t>(layout_->block_cells());
  const auto inner = static_cast<size_t>(inner_cells_);
  for (size_t done = 0; done < logarithms.size(); done += block) {
    const double* const row =
        values.data() + outer_cell_[static_cast<size_t>(first_block) + done / block] * inner;
    RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
      for (size_t i = start; i < start + length; ++i) logarithms[done + i] += row[inner_index_[i]];
    }));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>> DenseMarginal::Expanded(std::span<const float> values,
                                                           Pacer& pacer) const {
  const auto block = static_cast<size_t>(layout_->block_cells());
  const auto inner = static_cast<size_t>(inner_cells_);
  std::vector<float> rows(static_cast<size_t>(outer_cells()) * block);
  for (size_t outer = 0; outer * block < rows.size(); ++outer) {
    RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
      for (size_t i = start; i < start + length; ++i) {
        rows[outer * block + i] = values[outer * inner + inner_index_[i]];
      }
    }));
  }
  return rows;
}

int64_t IndexBytes(int64_t cells, int64_t largest) {
  // An entry of 4 bytes for each block and each of a block's cells.
  return 4 * (cells / kLeastBlock + std::min(cells, kLeastBlock * largest) + 2);
}

namespace {

constexpr float kSmallestWeight = 1e-30F;
constexpr double kLargestLogarithm = 60;

// Written once, compiled for each instruction set: `inline` functions take over the target of their caller.
template <typename Value>
[[gnu::always_inline]] inline void Add(const Value* __restrict values, double* __restrict sums,
                                       size_t count) {
  for (size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(values[i]);
}

[[gnu::always_inline]] inline void Multiply(const float* __restrict factors, float* __restrict weights,
                                            size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float product = weights[i] * factors[i];
    weights[i] = product < kSmallestWeight ? 0.0F : product;
  }
}

[[gnu::always_inline]] inline void Gather(const float* __restrict factors, const uint32_t* __restrict index,
                                          float* __restrict weights, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float product = weights[i] * factors[index[i]];
    weights[i] = product < kSmallestWeight ? 0.0F : product;
  }
}

[[gnu::always_inline]] inline void Exponentials(double base, const double* __restrict logarithms,
                                                float* __restrict weights, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const double bounded = std::min(std::max(logarithms[i], -kLargestLogarithm), kLargestLogarithm);
    const auto weight = static_cast<float>(base * PortableExp(bounded));
    weights[i] = weight < kSmallestWeight ? 0.0F : weight;
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void AddFloatsAvx2(const float* values, double* sums, size_t count) {
  Add(values, sums, count);
}
[[gnu::target("avx2")]] void AddDoublesAvx2(const double* values, double* sums, size_t count) {
  Add(values, sums, count);
}
[[gnu::target("avx2")]] void MultiplyAvx2(const float* factors, float* weights, size_t count) {
  Multiply(factors, weights, count);
}
[[gnu::target("avx2")]] void GatherAvx2(const float* factors, const uint32_t* index, float* weights,
                                        size_t count) {
  Gather(factors, index, weights, count);
}
[[gnu::target("avx2")]] void ExponentialsAvx2(double base, const double* logarithms, float* weights,
                                              size_t count) {
  Exponentials(base, logarithms, weights, count);
}
#endif

}  // namespace

void AddBlock(std::span<const float> values, std::span<double> sums) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return AddFloatsAvx2(values.data(), sums.data(), values.size());
#endif
  Add(values.data(), sums.data(), values.size());
}

void AddBlock(std::span<const double> values, std::span<double> sums) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return AddDoublesAvx2(values.data(), sums.data(), values.size());
#endif
  Add(values.data(), sums.data(), values.size());
}

void MultiplyBlock(std::span<const float> factors, std::span<float> weights) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return MultiplyAvx2(factors.data(), weights.data(), weights.size());
#endif
  Multiply(factors.data(), weights.data(), weights.size());
}

void MultiplyGathered(std::span<const float> factors, std::span<const uint32_t> index,
                      std::span<float> weights) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return GatherAvx2(factors.data(), index.data(), weights.data(), weights.size());
#endif
  Gather(factors.data(), index.data(), weights.data(), weights.size());
}

void ExpBlock(double base, std::span<const double> logarithms, std::span<float> weights) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return ExponentialsAvx2(base, logarithms.data(), weights.data(), weights.size());
#endif
  Exponentials(base, logarithms.data(), weights.data(), weights.size());
}

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
