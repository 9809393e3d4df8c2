#include "dp/kernel/owner_view.h"

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

}  // namespace curator::dp
