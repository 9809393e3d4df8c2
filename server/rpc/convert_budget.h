// Accounts, limits, history, receipts and repairs on the wire.
//
// Thread-safe: pure functions.
#pragma once

#include <string_view>

#include "audit/audit_record.h"
#include "curator/v1/budget.pb.h"
#include "ledger/ledger.h"
#include "service/accounts/accounts.h"
#include "service/accounts/budgets.h"
#include "service/accounts/burn_down.h"
#include "service/accounts/limits.h"
#include "service/charges/repairs.h"

namespace curator::rpc {

v1::Account ToProto(const service::AccountView& account);
v1::GetBudgetResponse ToProto(const service::BudgetView& budget);
v1::GetBurnDownResponse ToProto(const service::BurnDown& burn_down);
// Of a charge that did not fit.
v1::Refusal ToProto(const audit::AuditRecord& record);
v1::LimitProposal ToProto(const service::LimitView& view);
// `dataset` is the name.
v1::LedgerEntry ToProto(const ledger::Entry& entry, std::string_view dataset);
v1::ChainLink ToProto(const service::LinkView& link, std::string_view dataset);
v1::Receipt ToProto(const service::Receipt& receipt);
v1::RepairProposal ToProto(const service::RepairProposal& proposal);
v1::RepairReport ToProto(const service::RepairView& view);

}  // namespace curator::rpc
