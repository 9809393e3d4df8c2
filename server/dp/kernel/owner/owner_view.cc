#include "dp/kernel/owner/owner_view.h"

#include <algorithm>

#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sealed_table.h"

namespace curator::dp {

OwnerView::OwnerView(OwnerWarrant&& warrant, SealedTableHandle table, Domain domain)
    : table_(std::move(table)), domain_(std::move(domain)) {
  [[maybe_unused]] const OwnerWarrant used = std::move(warrant);
}

int64_t OwnerView::Records() const {
  return table_->rows();
}

absl::StatusOr<std::vector<std::vector<int64_t>>> OwnerView::Counts(
    const std::vector<AttributeSet>& sets) const {
  return CountMarginals(*table_, domain_, sets);
}

absl::StatusOr<std::vector<RiskGroup>> OwnerView::Responses(uint32_t response,
                                                            std::span<const double> numbers) const {
  if (!table_->groups()) return absl::FailedPreconditionError("the records are not in groups");
  if (response >= domain_.size() ||
      static_cast<int64_t>(numbers.size()) != domain_.attributes()[response].size()) {
    return absl::InvalidArgumentError("the response needs one number for each of its codes");
  }
  const ReadableScope readable(*table_);
  const ColumnView& codes = readable.columns().columns[response];
  std::vector<std::vector<uint32_t>> codes_of_group(static_cast<size_t>(*table_->groups()));
  for (int64_t row = 0; row < table_->rows(); ++row)
    codes_of_group[readable.group_of_row()[static_cast<size_t>(row)]].push_back(codes[row]);
  std::vector<RiskGroup> groups(codes_of_group.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    std::ranges::sort(codes_of_group[g]);
    for (const uint32_t code : codes_of_group[g]) {
      if (groups[g].values.empty() || groups[g].values.back() != numbers[code]) {
        groups[g].values.push_back(numbers[code]);
        groups[g].counts.push_back(0);
      }
      ++groups[g].counts.back();
    }
  }
  return groups;
}

}  // namespace curator::dp
