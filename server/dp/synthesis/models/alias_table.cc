#include "dp/synthesis/models/alias_table.h"

#include <algorithm>

#include "base/int128.h"

namespace curator::dp {

AliasTable::AliasTable(std::span<const float> weights) : kept_(weights.size(), 1.0F), alias_(weights.size()) {
  double total = 0;
  for (const float weight : weights) total += static_cast<double>(weight);
  const double scale = static_cast<double>(weights.size()) / total;
  // Columns below and above the average, in one array from both ends; what is left over at the end keeps its
  // own column whole.
  std::vector<uint32_t> waiting(weights.size());
  std::vector<double> height(weights.size());
  size_t below = 0;
  size_t above = weights.size();
  for (size_t cell = 0; cell < weights.size(); ++cell) {
    alias_[cell] = static_cast<uint32_t>(cell);
    height[cell] = static_cast<double>(weights[cell]) * scale;
    waiting[height[cell] < 1 ? below++ : --above] = static_cast<uint32_t>(cell);
  }
  size_t tall = weights.size();
  while (below > 0 && tall > above) {
    const uint32_t low = waiting[--below];
    const uint32_t high = waiting[tall - 1];
    kept_[low] = static_cast<float>(height[low]);
    alias_[low] = high;
    height[high] -= 1 - height[low];
    if (height[high] < 1) {
      --tall;
      waiting[below++] = high;
    }
  }
}

size_t AliasTable::CellAt(uint64_t first, uint64_t second) const {
  const auto column = static_cast<size_t>(static_cast<Uint128>(first) * kept_.size() >> 64);
  const auto height = static_cast<double>(second >> 11) * 0x1.0p-53;
  return height < static_cast<double>(kept_[column]) ? column : alias_[column];
}

AliasSampler::AliasSampler(const AliasTable& table, BitSource& bits, int64_t expected)
    : table_(table),
      bits_(bits),
      block_(2 * static_cast<size_t>(std::clamp<int64_t>(expected, 1, 256))),
      next_(block_) {}

size_t AliasSampler::Draw() {
  if (next_ == block_) {
    bits_.Fill(std::span(words_).first(block_));
    next_ = 0;
  }
  const uint64_t first = words_[next_];
  const uint64_t second = words_[next_ + 1];
  next_ += 2;
  return table_.CellAt(first, second);
}

}  // namespace curator::dp
