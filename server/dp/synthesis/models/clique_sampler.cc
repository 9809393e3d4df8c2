#include "dp/synthesis/models/clique_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

// The fractional parts of its multiples are spread evenly, whatever their number.
constexpr double kGoldenRatio = 0.61803398874989485;

double UnitOf(uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

double Fraction(double value) {
  return value - std::floor(value);
}

// Appends each cell of `cells` as often as `rows` records are expected in it, in proportion to its weight,
// rounded so that all are `rows` together; `offset`, in [0, 1), decides which way.
void Allot(std::span<const uint32_t> cells, std::span<const float> weights, int64_t rows, double offset,
           std::vector<uint32_t>& allotted) {
  double total = 0;
  for (const uint32_t cell : cells) total += static_cast<double>(weights[cell]);
  const bool is_uniform = !(total > 0);
  const double each = is_uniform ? static_cast<double>(rows) / static_cast<double>(cells.size())
                                 : static_cast<double>(rows) / total;
  // What rounding errors leave goes to the last cell that may have records.
  size_t last = cells.size() - 1;
  while (!is_uniform && !(weights[cells[last]] > 0)) --last;
  double expected = offset;
  int64_t given = 0;
  for (size_t i = 0; i <= last; ++i) {
    expected += is_uniform ? each : each * static_cast<double>(weights[cells[i]]);
    const int64_t up_to = i == last ? rows : std::min(rows, static_cast<int64_t>(std::floor(expected)));
    for (; given < up_to; ++given) allotted.push_back(cells[i]);
  }
}

void Shuffle(BitBuffer& words, std::vector<uint32_t>& numbers) {
  for (size_t left = numbers.size(); left > 1; --left)
    std::swap(numbers[left - 1], numbers[static_cast<size_t>(words.NextBelow(left))]);
}

}  // namespace

CliqueSampler::CliqueSampler(const Domain& domain, const CliqueTables& tables, const AttributeSet& attributes)
    : tables_(tables), width_(attributes.size()) {
  for (size_t i = 0; i < tables.tree().size(); ++i) {
    Ordered ordered = OrderOf(i);
    const CliqueNode& node = tables.tree()[i];
    for (const uint32_t attribute : node.attributes)
      ordered.columns.push_back(*PositionIn(attributes, attribute));
    for (const uint32_t attribute : node.separator)
      ordered.above.push_back(*PositionIn(node.attributes, attribute));
    ordered.sizes = domain.SizesOf(node.attributes);
    ordered.above_sizes = domain.SizesOf(node.separator);
    ordered_.push_back(std::move(ordered));
  }
}

CliqueSampler::Ordered CliqueSampler::OrderOf(size_t clique) const {
  const CliqueNode& node = tables_.tree()[clique];
  const std::vector<int64_t>& sizes = tables_.layout(clique).sizes();
  const std::vector<int64_t> strides = StridesWithin(node.attributes, sizes, node.separator);
  int64_t groups = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] > 0) groups *= sizes[i];
  }
  std::vector<uint32_t> group_of(static_cast<size_t>(node.cells));
  std::vector<uint32_t> codes(sizes.size());
  Ordered ordered;
  ordered.first.resize(static_cast<size_t>(groups) + 1);
  for (size_t cell = 0; cell < group_of.size(); ++cell) {
    CodesOfCell(sizes, static_cast<int64_t>(cell), codes);
    int64_t group = 0;
    for (size_t i = 0; i < codes.size(); ++i) group += strides[i] * codes[i];
    group_of[cell] = static_cast<uint32_t>(group);
    ++ordered.first[static_cast<size_t>(group) + 1];
  }
  std::partial_sum(ordered.first.begin(), ordered.first.end(), ordered.first.begin());
  std::vector<uint32_t> next(ordered.first.begin(), ordered.first.end() - 1);
  ordered.cells.resize(group_of.size());
  for (size_t cell = 0; cell < group_of.size(); ++cell)
    ordered.cells[next[group_of[cell]]++] = static_cast<uint32_t>(cell);
  return ordered;
}

CliqueSampler::Groups CliqueSampler::GroupsOf(const Ordered& own, std::span<const uint32_t> records) const {
  const size_t count = records.size() / width_;
  std::vector<uint32_t> group_of(count);
  Groups groups;
  groups.first.resize(own.first.size());
  for (size_t row = 0; row < count; ++row) {
    int64_t group = 0;
    for (size_t i = 0; i < own.above.size(); ++i)
      group = group * own.above_sizes[i] + records[row * width_ + own.columns[own.above[i]]];
    group_of[row] = static_cast<uint32_t>(group);
    ++groups.first[static_cast<size_t>(group) + 1];
  }
  std::partial_sum(groups.first.begin(), groups.first.end(), groups.first.begin());
  std::vector<uint32_t> next(groups.first.begin(), groups.first.end() - 1);
  groups.members.resize(count);
  for (size_t row = 0; row < count; ++row) groups.members[next[group_of[row]]++] = static_cast<uint32_t>(row);
  return groups;
}

void CliqueSampler::Deal(size_t clique, BitBuffer& words, std::vector<uint32_t>& records) const {
  const Ordered& own = ordered_[clique];
  const Groups groups = GroupsOf(own, records);
  const double start = UnitOf(words.NextWord());
  std::vector<uint32_t> allotted;
  std::vector<uint32_t> codes(own.columns.size());
  for (size_t group = 0; group + 1 < groups.first.size(); ++group) {
    const size_t size = groups.first[group + 1] - groups.first[group];
    if (size == 0) continue;
    allotted.clear();
    const std::span<const uint32_t> cells =
        std::span(own.cells).subspan(own.first[group], own.first[group + 1] - own.first[group]);
    const double offset = Fraction(start + static_cast<double>(group) * kGoldenRatio);
    Allot(cells, tables_.weights(clique), static_cast<int64_t>(size), offset, allotted);
    Shuffle(words, allotted);
    for (size_t i = 0; i < size; ++i) {
      CodesOfCell(own.sizes, static_cast<int64_t>(allotted[i]), codes);
      uint32_t* const record = records.data() + groups.members[groups.first[group] + i] * width_;
      for (size_t column = 0; column < codes.size(); ++column) record[own.columns[column]] = codes[column];
    }
  }
}

std::vector<uint32_t> CliqueSampler::Draw(BitSource& bits, int64_t rows) const {
  const auto count = static_cast<size_t>(rows);
  std::vector<uint32_t> records(count * width_);
  BitBuffer words(bits, count);
  for (size_t clique = 0; clique < ordered_.size(); ++clique) Deal(clique, words, records);
  const auto record_at = [&](size_t row) { return records.begin() + static_cast<ptrdiff_t>(row * width_); };
  for (size_t left = count; left > 1; --left) {
    const auto other = static_cast<size_t>(words.NextBelow(left));
    if (other != left - 1) std::swap_ranges(record_at(other), record_at(other + 1), record_at(left - 1));
  }
  return records;
}

}  // namespace curator::dp
