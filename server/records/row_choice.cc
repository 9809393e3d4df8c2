#include "records/row_choice.h"

#include <algorithm>
#include <utility>

#include "dp/data/coded_columns.h"

namespace curator::records {
namespace {

// One key serves several purposes: the first bytes of a hashed text say which.
constexpr std::string_view kPurpose = "curator row choice:";

}  // namespace

RowChoice::RowChoice(RowHash hash, const TableShape& shape) : hash_(std::move(hash)) {
  for (const int64_t size : shape.sizes) widths_.push_back(dp::BytesOf(dp::WidthFor(size)));
}

void RowChoice::Limit(const UnitKey& unit, int64_t kept) {
  limits_[unit].kept = static_cast<size_t>(std::max(kept, int64_t{0}));
}

void RowChoice::See(const RowBlock& block) {
  for (size_t row = 0; row < block.rows; ++row) {
    const auto found = limits_.find(block.groups[row]);
    if (found == limits_.end() || found->second.kept == 0) continue;
    std::vector<Rank>& lowest = found->second.lowest;
    const Rank rank = RankOf(block, row);
    if (lowest.size() == found->second.kept) {
      if (rank >= lowest.front()) continue;
      std::ranges::pop_heap(lowest);
      lowest.pop_back();
    }
    lowest.push_back(rank);
    std::ranges::push_heap(lowest);
  }
}

bool RowChoice::Keeps(const RowBlock& block, size_t row) {
  const auto found = limits_.find(block.groups[row]);
  if (found == limits_.end()) return true;
  Limited& limited = found->second;
  if (limited.kept == 0) return false;
  if (!limited.is_decided) Decide(limited);
  const Rank rank = RankOf(block, row);
  const Rank& highest = limited.lowest.front();
  if (rank != highest) return rank < highest;
  if (limited.at_highest == 0) return false;
  --limited.at_highest;
  return true;
}

void RowChoice::Decide(Limited& limited) {
  limited.at_highest = static_cast<size_t>(std::ranges::count(limited.lowest, limited.lowest.front()));
  limited.lowest.resize(1);
  limited.lowest.shrink_to_fit();
  limited.is_decided = true;
}

RowChoice::Rank RowChoice::RankOf(const RowBlock& block, size_t row) {
  bytes_ = kPurpose;
  bytes_.append(block.groups[row].data(), block.groups[row].size());
  for (size_t i = 0; i < widths_.size(); ++i) {
    bytes_.append(reinterpret_cast<const char*>(block.codes[i].data()) + row * widths_[i], widths_[i]);
  }
  const std::string hash = hash_(bytes_);
  Rank rank = {};
  std::copy_n(hash.begin(), std::min(hash.size(), rank.size()), rank.begin());
  return rank;
}

}  // namespace curator::records
