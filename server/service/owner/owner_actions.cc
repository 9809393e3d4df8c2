#include "service/owner/owner_actions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "service/charges/request_scope.h"
#include "service/tables.h"

namespace curator::service {

absl::StatusOr<dp::OwnerView> OwnerActions::Open(Services& services, const DatasetView& dataset,
                                                 const Principal& principal, std::string_view what) {
  RETURN_IF_ERROR(CheckIsOwner(dataset.record, principal));
  if (dataset.record.is_public)
    return absl::FailedPreconditionError(absl::StrCat("dataset \"", dataset.record.name, "\" is public"));
  if (dataset.record.version < 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("dataset \"", dataset.record.name, "\" is not sealed: it has no records yet"));
  }
  ASSIGN_OR_RETURN(const RequestScope scope, ScopeOf(services.ledger, dataset, principal, "", {}));
  ASSIGN_OR_RETURN(const records::ReadyTable ready, TableForOwner(services.store, TablesOf(dataset, scope)));
  RETURN_IF_ERROR(services.ledger.RecordOwnerAction(dataset.record.id, what, principal));
  dp::OwnerWarrant warrant;
  ASSIGN_OR_RETURN(dp::SealedTableHandle table, ready.Open());
  return dp::OwnerView(std::move(warrant), std::move(table), dataset.schema.domain);
}

}  // namespace curator::service
