#include "dp/synthesis/rap/relaxed_layout.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/rap/aligned_floats.h"

namespace curator::dp {
namespace {

size_t RoundedUp(size_t value, size_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

absl::StatusOr<RelaxedLayout> RelaxedLayout::Create(const Domain& domain, AttributeSet attributes,
                                                    int64_t rows, size_t most_block_rows) {
  RETURN_IF_ERROR(domain.CheckSet(attributes));
  if (rows < 1) return absl::InvalidArgumentError("a relaxed dataset has at least one row");
  RelaxedLayout layout;
  for (const uint32_t attribute : attributes) {
    const auto size = static_cast<size_t>(domain.attributes()[attribute].size());
    layout.sizes_.push_back(size);
    layout.firsts_.push_back(layout.columns_);
    layout.columns_ += size;
  }
  layout.attributes_ = std::move(attributes);
  layout.rows_ = static_cast<size_t>(rows);
  layout.block_rows_ = RoundedUp(std::min(most_block_rows, layout.rows_), AlignedFloats::kLine);
  layout.blocks_ = (layout.rows_ + layout.block_rows_ - 1) / layout.block_rows_;
  const size_t padded_rows = layout.blocks_ * layout.block_rows_;
  if (layout.columns_ > kMostRelaxedElements / padded_rows) {
    return absl::InvalidArgumentError(absl::StrCat(rows, " relaxed rows of ", layout.columns_,
                                                   " columns exceed the limit of ", kMostRelaxedElements));
  }
  return layout;
}

absl::StatusOr<std::vector<size_t>> RelaxedLayout::PositionsOf(const AttributeSet& set) const {
  std::vector<size_t> positions;
  for (const uint32_t attribute : set) {
    const auto found = std::lower_bound(attributes_.begin(), attributes_.end(), attribute);
    if (found == attributes_.end() || *found != attribute)
      return absl::InvalidArgumentError(absl::StrCat("attribute ", attribute, " is not in the model"));
    positions.push_back(static_cast<size_t>(found - attributes_.begin()));
  }
  return positions;
}

int64_t OneHotColumns(const Domain& domain, const AttributeSet& attributes) {
  int64_t columns = 0;
  for (const uint32_t attribute : attributes) columns += domain.attributes()[attribute].size();
  return columns;
}

}  // namespace curator::dp
