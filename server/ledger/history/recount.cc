#include "ledger/history/recount.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace curator::ledger {

std::string IntegerText(std::string_view, int64_t amount) {
  return absl::StrCat(amount);
}

std::string Recount::NameOfDataset(const std::string& dataset_id) const {
  const auto found = state_.datasets.find(dataset_id);
  // Before its first entry a dataset has no name.
  const bool has_name = found != state_.datasets.end() && !found->second.created.name.empty();
  return has_name ? absl::StrCat("dataset \"", found->second.created.name, "\"") : "a dataset";
}

std::string Recount::NameOfAccount(int64_t account_id) const {
  const auto found = state_.accounts.find(account_id);
  if (found == state_.accounts.end()) return absl::StrCat("the unknown account ", account_id);
  const auto dataset = state_.datasets.find(found->second.dataset_id);
  const AccountSpec& spec = found->second.spec;
  return absl::StrCat("account ", AccountName(dataset->second.created.name, spec.scope_type, spec.scope_key));
}

void Recount::AddFinding(const std::string& charge_id, std::string finding) {
  findings_.Add(std::move(finding));
  if (!charge_id.empty() && damaged_charges_.size() <= RecountFindings::kMostKept)
    damaged_charges_.insert(charge_id);
}

void Recount::Report(const Entry& entry, std::string_view finding) {
  AddFinding(entry.charge_id, absl::StrCat(NameOfDataset(entry.dataset_id), ": entry ", entry.seq, " (",
                                           entry.kind, ") ", std::string(finding)));
}

std::optional<RecountedCharge> Recount::Add(const Entry& entry) {
  ++state_.entries;
  last_changes_.clear();
  RecountedDataset& dataset = state_.datasets[entry.dataset_id];
  ++dataset.entries;
  const std::vector<std::string> broken = BrokenLinks(dataset.head, entry);
  for (const std::string& finding : broken) {
    AddFinding(entry.charge_id, absl::StrCat(NameOfDataset(entry.dataset_id), ": ", finding));
  }
  dataset.is_whole = dataset.is_whole && broken.empty();
  dataset.head = {entry.seq, entry.hash};
  // A repair says only which entries are lost.
  if (dataset.state == DatasetState::kDeleted && entry.kind != kRepaired)
    Report(entry, "follows the entry that deletes the dataset");

  const Handler handler = HandlerOf(entry.kind);
  if (handler == nullptr) {
    Report(entry, "is of an unknown kind");
  } else {
    (this->*handler)(entry);
  }
  return std::exchange(ended_, std::nullopt);
}

Recount::Handler Recount::HandlerOf(std::string_view kind) {
  static const std::unordered_map<std::string_view, Handler> kHandlers = {
      {kDatasetCreated, &Recount::CreateDataset},
      {kAccountOpened, &Recount::OpenLaterAccount},
      {kPartAdded, &Recount::AddPart},
      {kPartSealed, &Recount::SealPart},
      {kCharged, &Recount::AddCharge},
      {kReserved, &Recount::AddCharge},
      {kStarted, &Recount::ChangeCharge},
      {kExtended, &Recount::ChangeCharge},
      {kCommitted, &Recount::ChangeCharge},
      {kExpired, &Recount::ChangeCharge},
      {kCancelled, &Recount::ChangeCharge},
      {kForfeited, &Recount::ChangeCharge},
      {kLimitChanged, &Recount::ChangeLimit},
      {kRepaired, &Recount::AddRepair},
      {kSealed, &Recount::Seal},
      {kLimitProposed, &Recount::CountProposal},
      {kLimitRequested, &Recount::CountProposal},
      {kLimitRejected, &Recount::CountEndedProposal},
      {kLimitWithdrawn, &Recount::CountEndedProposal},
      {kLimitTakenUp, &Recount::CountEndedProposal},
      {kEqualContent, &Recount::CheckNote},
      {kPublished, &Recount::Publish},
      {kArchived, &Recount::Archive},
      {kGranted, &Recount::SetGrant},
      {kRevoked, &Recount::SetGrant},
      {kRulesSet, &Recount::SetRefusalRules},
      {kReleaseShared, &Recount::ShareRelease},
      {kOwnerAction, &Recount::CheckNote},
      {kOwnerLooked, &Recount::AddLook},
      {kImportUndone, &Recount::UndoImport},
      {kDatasetDeleted, &Recount::DeleteDataset}};
  const auto found = kHandlers.find(kind);
  return found == kHandlers.end() ? nullptr : found->second;
}

void Recount::Seal(const Entry& entry) {
  const absl::StatusOr<DatasetSealed> sealed = ParseDatasetSealed(entry.payload);
  if (!sealed.ok()) return Report(entry, "is malformed");
  RecountedDataset& dataset = state_.datasets[entry.dataset_id];
  if (dataset.state != DatasetState::kCreated) Report(entry, "seals what was sealed or archived before");
  dataset.state = DatasetState::kSealed;
  dataset.version = sealed->version;
  dataset.content_commitment = sealed->content_commitment;
  dataset.facts = dataset.facts | sealed->facts;
}

void Recount::Publish(const Entry& entry) {
  const absl::StatusOr<DatasetPublished> published = ParseDatasetPublished(entry.payload);
  if (!published.ok()) return Report(entry, "is malformed");
  DatasetCreated& created = state_.datasets[entry.dataset_id].created;
  if (created.is_public != kAwaitsPublication) Report(entry, "publishes what did not wait for it");
  if (published->approval == Approval::kByAnother && entry.actor == created.owner)
    Report(entry, "is approved by the owner alone, and does not say so");
  created.is_public = 1;
}

void Recount::Archive(const Entry& entry) {
  CheckNote(entry);
  state_.datasets[entry.dataset_id].state = DatasetState::kArchived;
}

void Recount::SetGrant(const Entry& entry) {
  const absl::StatusOr<Grant> grant = ParseGrant(entry.payload);
  if (!grant.ok()) return Report(entry, "is malformed");
  RecountedDataset& dataset = state_.datasets[entry.dataset_id];
  if (dataset.is_whole) dataset.grants[grant->grantee] = *grant;
}

void Recount::SetRefusalRules(const Entry& entry) {
  absl::StatusOr<RulesSet> set = ParseRulesSet(entry.payload);
  if (!set.ok()) return Report(entry, "is malformed");
  RecountedDataset& dataset = state_.datasets[entry.dataset_id];
  if (dataset.is_whole) dataset.refusal_rules = std::move(set->rules);
}

void Recount::ShareRelease(const Entry& entry) {
  const absl::StatusOr<std::string> note = ParseNote(entry.payload);
  const size_t blank = note.ok() ? note->find(' ') : std::string::npos;
  if (blank == std::string::npos) return Report(entry, "is malformed");
  RecountedDataset& dataset = state_.datasets[entry.dataset_id];
  if (dataset.is_whole) dataset.shares[note->substr(0, blank)].insert(note->substr(blank + 1));
}

void Recount::CountProposal(const Entry& entry) {
  if (!ParseLimitChange(entry.payload).ok()) return Report(entry, "is malformed");
  ++state_.datasets[entry.dataset_id].proposals;
}

void Recount::CountEndedProposal(const Entry& entry) {
  if (!ParseLimitEnded(entry.payload).ok()) return Report(entry, "is malformed");
  ++state_.datasets[entry.dataset_id].ended_proposals;
}

void Recount::CheckNote(const Entry& entry) {
  if (!ParseNote(entry.payload).ok()) Report(entry, "is malformed");
}

void Recount::AddLook(const Entry& entry) {
  const absl::StatusOr<OwnerLook> look = ParseOwnerLook(entry.payload);
  if (!look.ok()) return Report(entry, "is malformed");
  state_.datasets[entry.dataset_id].looks.insert(look->file_hash);
}

void Recount::UndoImport(const Entry& entry) {
  const absl::StatusOr<ImportUndone> undone = ParseImportUndone(entry.payload);
  if (!undone.ok()) return Report(entry, "is malformed");
  const RecountedDataset& dataset = state_.datasets[entry.dataset_id];
  const auto part = std::ranges::find(dataset.parts, undone->part,
                                      [](const RecountedPart& each) { return each.part.name; });
  const bool is_sealed = part == dataset.parts.end() ? dataset.version > 0 : part->part.sealed_version > 0;
  if (is_sealed) Report(entry, "undoes an import of what was sealed before");
}

void Recount::DeleteDataset(const Entry& entry) {
  CheckNote(entry);
  RecountedDataset& dataset = state_.datasets[entry.dataset_id];
  if (dataset.charges > 0) Report(entry, "deletes a dataset that has charges");
  dataset.state = DatasetState::kDeleted;
}

void Recount::Finish() {
  for (const auto& [key, counter] : state_.counters) CheckWithinLimit(key, counter);
}

void Recount::CheckWithinLimit(const CounterKey& key, const RecountedCounter& counter) {
  if (counter.spent >= 0 && counter.held >= 0 && counter.spent <= counter.limit - counter.held) return;
  AddFinding(absl::StrCat(NameOfAccount(key.first), ", counter ", key.second, ": spent ",
                          TextOf(key.second, counter.spent), " and held ", TextOf(key.second, counter.held),
                          " do not fit its limit ", TextOf(key.second, counter.limit)));
}

void Recount::CreateDataset(const Entry& entry) {
  absl::StatusOr<DatasetCreated> created = ParseDatasetCreated(entry.payload);
  if (!created.ok()) return Report(entry, "is malformed");
  if (entry.seq != 1) Report(entry, "is not the first of its dataset");
  const std::vector<OpenedAccount> accounts = std::exchange(created->accounts, {});
  RecountedDataset& dataset = state_.datasets[entry.dataset_id];
  dataset.created = *std::move(created);
  dataset.facts = dataset.created.facts;
  if (!dataset.is_whole) dataset.created.owner.clear();
  for (const OpenedAccount& account : accounts) OpenAccount(entry, account);
}

void Recount::OpenLaterAccount(const Entry& entry) {
  const absl::StatusOr<OpenedAccount> opened = ParseOpenedAccount(entry.payload);
  if (!opened.ok()) return Report(entry, "is malformed");
  OpenAccount(entry, *opened);
}

void Recount::OpenAccount(const Entry& entry, const OpenedAccount& account) {
  if (!state_.accounts.try_emplace(account.id, entry.dataset_id, account.spec).second) {
    return Report(entry, absl::StrCat("opens account ", account.id, " again"));
  }
  for (const CounterLimit& limit : account.spec.limits) {
    RecountedCounter& counter = state_.counters[{account.id, limit.counter}];
    counter.limit = limit.limit;
    NoteChange({account.id, limit.counter}, counter);
  }
}

void Recount::AddPart(const Entry& entry) {
  const absl::StatusOr<PartAdded> added = ParsePartAdded(entry.payload);
  if (!added.ok()) return Report(entry, "is malformed");
  std::vector<RecountedPart>& parts = state_.datasets[entry.dataset_id].parts;
  if (added->number != static_cast<int64_t>(parts.size()) + 1) Report(entry, "is not the next part");
  for (const RecountedPart& other : parts) {
    if (other.part.name == added->account.spec.scope_key) Report(entry, "names a part that exists already");
    for (const int64_t bin : added->bins) {
      if (std::binary_search(other.part.bins.begin(), other.part.bins.end(), bin)) {
        Report(entry, absl::StrCat("takes bin ", bin, ", which belongs to another part"));
      }
    }
  }
  parts.push_back({.part = {.number = added->number,
                            .name = added->account.spec.scope_key,
                            .bins = added->bins,
                            .account_id = added->account.id,
                            .sealed_version = 0}});
  OpenAccount(entry, added->account);
}

void Recount::SealPart(const Entry& entry) {
  const absl::StatusOr<PartSealed> sealed = ParsePartSealed(entry.payload);
  if (!sealed.ok()) return Report(entry, "is malformed");
  std::vector<RecountedPart>& parts = state_.datasets[entry.dataset_id].parts;
  int64_t version = 0;
  for (const RecountedPart& part : parts) version = std::max(version, part.part.sealed_version);
  if (sealed->version != version + 1) Report(entry, "does not make the next version");
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const RecountedPart& part) {
    return part.part.number == sealed->number;
  });
  if (found == parts.end()) return Report(entry, "seals a part that was never added");
  if (found->part.sealed_version != 0) return Report(entry, "seals a part again");
  found->part.sealed_version = sealed->version;
  found->content_commitment = sealed->content_commitment;
  DatasetFacts& facts = state_.datasets[entry.dataset_id].facts;
  facts = facts | sealed->facts;
  found->part.facts = sealed->facts;
  DatasetState& state = state_.datasets[entry.dataset_id].state;
  if (state == DatasetState::kArchived) Report(entry, "seals a part of an archived dataset");
  state = DatasetState::kSealed;
}

void Recount::AddCharge(const Entry& entry) {
  const absl::StatusOr<ChargeMade> made = ParseChargeMade(entry.payload);
  if (!made.ok()) return Report(entry, "is malformed");
  const bool reserved = entry.kind == kReserved;
  const auto [charge, is_new] = state_.open_charges.try_emplace(entry.charge_id);
  if (!is_new) return Report(entry, "makes a charge that was made before");
  ++state_.datasets[entry.dataset_id].charges;
  charge->second = {.dataset_id = entry.dataset_id,
                    .state = reserved ? ChargeState::kReserved : ChargeState::kStarted,
                    .draw_identity = made->draw_identity,
                    .postings = made->postings};
  Post(entry, made->postings, reserved ? 0 : 1, reserved ? 1 : 0);
}

void Recount::ChangeCharge(const Entry& entry) {
  const absl::StatusOr<ChargeChanged> changed = ParseChargeChanged(entry.payload);
  if (!changed.ok()) return Report(entry, "is malformed");
  const auto found = state_.open_charges.find(entry.charge_id);
  if (found == state_.open_charges.end() || found->second.dataset_id != entry.dataset_id) {
    return Report(entry, "changes a charge that was never made, or that has ended");
  }
  RecountedCharge& charge = found->second;
  const bool reserved = charge.state == ChargeState::kReserved;
  const bool reserved_outside = reserved && charge.draw_identity.empty();
  const bool started = charge.state == ChargeState::kStarted;
  if (entry.kind == kStarted && reserved) {
    StartReserved(entry, charge, changed->postings);
  } else if (entry.kind == kExtended && reserved_outside) {
    return;
  } else if ((entry.kind == kCommitted || entry.kind == kExpired) && reserved_outside) {
    Post(entry, charge.postings, 1, -1);
    EndCharge(entry, ChargeState::kCommitted, changed->reason);
  } else if (entry.kind == kCommitted && started) {
    charge.release_id = changed->release_id;
    charge.payload_hash = changed->payload_hash;
    if (!charge.release_id.empty()) ++state_.datasets[entry.dataset_id].releases;
    EndCharge(entry, ChargeState::kCommitted, changed->reason);
  } else if (entry.kind == kCancelled && reserved) {
    Post(entry, charge.postings, 0, -1);
    EndCharge(entry, ChargeState::kCancelled, changed->reason);
  } else if (entry.kind == kForfeited && started) {
    EndCharge(entry, ChargeState::kForfeited, changed->reason);
  } else {
    Report(entry, absl::StrCat("cannot follow the state ", std::string(StateName(charge.state))));
  }
}

void Recount::EndCharge(const Entry& entry, ChargeState state, const std::string& reason) {
  const auto found = state_.open_charges.find(entry.charge_id);
  ended_ = std::move(found->second);
  ended_->state = state;
  ended_->reason = reason;
  state_.open_charges.erase(found);
}

void Recount::StartReserved(const Entry& entry, RecountedCharge& charge,
                            const std::vector<Posting>& final_cost) {
  for (const Posting& posting : final_cost) {
    const bool covered =
        std::any_of(charge.postings.begin(), charge.postings.end(), [&](const Posting& held) {
          return held.account_id == posting.account_id && held.counter == posting.counter &&
                 posting.cost <= held.cost;
        });
    if (!covered) Report(entry, "costs more than was reserved");
  }
  Post(entry, charge.postings, 0, -1);
  Post(entry, final_cost, 1, 0);
  charge.postings = final_cost;
  charge.state = ChargeState::kStarted;
}

void Recount::ChangeLimit(const Entry& entry) {
  const absl::StatusOr<LimitChange> change = ParseLimitChange(entry.payload);
  if (!change.ok()) return Report(entry, "is malformed");
  ++state_.datasets[entry.dataset_id].approvals;
  const auto counter = state_.counters.find({change->account_id, change->counter});
  if (counter == state_.counters.end()) return Report(entry, "changes the limit of an unknown account");
  if (counter->second.limit != change->old_limit)
    Report(entry, "does not start from the limit that held before");
  counter->second.limit = change->new_limit;
  NoteChange(counter->first, counter->second);
}

void Recount::AddRepair(const Entry& entry) {
  const absl::StatusOr<Repair> repair = ParseRepair(entry.payload);
  if (!repair.ok()) return Report(entry, "is malformed");
  if (repair->approval == Approval::kByAnother && entry.actor == repair->proposed_by)
    Report(entry, "is approved by who proposed it, and does not say so");
  for (const RaisedBy& raised : repair->raised) {
    const auto counter = state_.counters.find({raised.account_id, raised.counter});
    if (counter == state_.counters.end()) {
      Report(entry, absl::StrCat("raises the unknown account ", raised.account_id));
      continue;
    }
    if (counter->second.limit != raised.old_limit) {
      Report(entry, "does not start from the limit that held before");
    }
    counter->second.limit = raised.new_limit;
    NoteChange(counter->first, counter->second);
  }
  for (const RaisedBy& raised : repair->raised) {
    Post(entry, {{raised.account_id, raised.counter, raised.amount}}, 1, 0);
  }
}

void Recount::Post(const Entry& entry, const std::vector<Posting>& postings, int spent_factor,
                   int held_factor) {
  for (const Posting& posting : postings) {
    const auto counter = state_.counters.find({posting.account_id, posting.counter});
    if (counter == state_.counters.end()) {
      Report(entry, absl::StrCat("posts to the unknown account ", posting.account_id));
      continue;
    }
    const int64_t spent_change = spent_factor == 0 ? 0 : posting.cost;
    const int64_t held_change = held_factor < 0 ? -posting.cost : held_factor == 0 ? 0 : posting.cost;
    if (posting.cost < 0 ||
        __builtin_add_overflow(counter->second.spent, spent_change, &counter->second.spent) ||
        __builtin_add_overflow(counter->second.held, held_change, &counter->second.held)) {
      Report(entry, "has a cost that is negative or too large");
      continue;
    }
    NoteChange(counter->first, counter->second);
    if (datasets_in_lineage_ == 1) CheckWithinLimit(counter->first, counter->second);
  }
}

}  // namespace curator::ledger
