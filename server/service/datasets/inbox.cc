#include "service/datasets/inbox.h"

#include <utility>

#include "base/status_macros.h"
#include "service/datasets/datasets.h"

namespace curator::service {

namespace {

// Of a dataset whose owner has sealed it as public.
absl::StatusOr<bool> WaitsToBePublished(const Access& access, const DatasetView& dataset,
                                        const Principal& principal) {
  const ledger::Dataset& record = dataset.record;
  if (!record.awaits_publication || record.state != ledger::DatasetState::kSealed) return false;
  ASSIGN_OR_RETURN(const Roles roles, RolesOn(access, record, principal.name()));
  if (!roles.Has(Role::kApprover)) return false;
  return MayApproveOf(access, record.owner, principal);
}

}  // namespace

absl::StatusOr<Inbox> ReadInbox(const Access& access, const Principal& principal, const std::string& after,
                                int64_t most) {
  ASSIGN_OR_RETURN(const DatasetViews visible,
                   ListVisibleDatasets(access, principal, {.after = after, .limit = most}));
  Inbox inbox{.items = {}, .has_more = visible.has_more, .last = visible.last};
  for (const DatasetView& dataset : visible.datasets) {
    ASSIGN_OR_RETURN(const bool waits, WaitsToBePublished(access, dataset, principal));
    if (waits) inbox.items.push_back({dataset.record.name, std::nullopt});
    ASSIGN_OR_RETURN(std::vector<LimitView> waiting, ListWaiting(access, principal, dataset));
    for (LimitView& view : waiting) inbox.items.push_back({dataset.record.name, std::move(view)});
    if (static_cast<int64_t>(inbox.items.size()) < most) continue;
    inbox.has_more = inbox.has_more || &dataset != &visible.datasets.back();
    inbox.last = dataset.record.name;
    break;
  }
  return inbox;
}

}  // namespace curator::service
