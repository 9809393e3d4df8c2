#include "ledger/sql/combined_change.h"

#include "base/status_macros.h"

namespace curator::ledger::sql {
namespace {

absl::StatusOr<FoundCharges> FoundIn(const Answers& by_key, const Answers& by_id) {
  FoundCharges found;
  for (const Answers* const answers : {&by_key, &by_id}) {
    for (const std::vector<Row>& rows : *answers) {
      if (rows.empty()) continue;
      ASSIGN_OR_RETURN(StoredCharge stored, StoredChargeOf(rows.front()));
      found.Add(std::move(stored));
    }
  }
  return found;
}

}  // namespace

const StoredCharge* FoundCharges::ById(const std::string& charge_id) const {
  const auto found = by_id_.find(charge_id);
  return found == by_id_.end() ? nullptr : &found->second;
}

const StoredCharge* FoundCharges::ByKey(const ChargeKey& key) const {
  const auto found = ids_.find(key);
  return found == ids_.end() ? nullptr : ById(found->second);
}

void FoundCharges::Add(StoredCharge stored) {
  ids_.emplace(ChargeKeyOf(stored.charge), stored.charge.id);
  std::string id = stored.charge.id;
  by_id_.emplace(std::move(id), std::move(stored));
}

absl::StatusOr<std::vector<absl::Status>> DecideTogether(WriteSet& change,
                                                         const std::vector<CombinedChange*>& changes) {
  change.MarkChargesOnly();
  Needs needs;
  for (const CombinedChange* const each : changes) each->AddNeeds(needs);
  Statement by_key = SelectChargesByKey();
  for (const auto& [principal, request_id] : needs.keys) by_key.each.push_back({principal, request_id});
  Statement by_id = SelectChargesById();
  for (const std::string& id : needs.charge_ids) by_id.each.push_back({id});
  ASSIGN_OR_RETURN(const std::vector<Answers> answers,
                   change.LockAll(needs.dataset_ids, needs.account_ids, {by_key, by_id}));
  ASSIGN_OR_RETURN(const FoundCharges found, FoundIn(answers.at(0), answers.at(1)));
  std::vector<absl::Status> decided;
  decided.reserve(changes.size());
  for (CombinedChange* const each : changes) decided.push_back(each->Decide(change, found));
  return decided;
}

}  // namespace curator::ledger::sql
