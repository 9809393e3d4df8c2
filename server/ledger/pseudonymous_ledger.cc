#include "ledger/pseudonymous_ledger.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/pseudonyms/pseudonym.h"
#include "ledger/sql/request_checks.h"

namespace curator::ledger {
namespace {

// ---- The names in each type of result: `visit` is called with each, and may replace it. Lists of principals
// are in the order of what they then hold.

using Visit = std::function<void(std::string& name)>;

void NamesIn(Dataset& dataset, const Visit& visit) {
  visit(dataset.owner);
  for (Grant& grant : dataset.grants) visit(grant.grantee);
  std::ranges::sort(dataset.grants, {}, &Grant::grantee);
}

void NamesIn(Account& account, const Visit& visit) {
  if (account.scope_type == ScopeType::kAnalyst) visit(account.scope_key);
  for (std::string& member : account.members) visit(member);
  std::ranges::sort(account.members);
}

void NamesIn(Charge& charge, const Visit& visit) {
  if (charge.stored_principal.empty()) charge.stored_principal = charge.principal;
  visit(charge.principal);
}

void NamesIn(Release& release, const Visit& visit) {
  visit(release.principal);
  for (std::string& reader : release.shared_with) visit(reader);
  std::ranges::sort(release.shared_with);
}

void NamesIn(LimitProposal& proposal, const Visit& visit) {
  visit(proposal.proposed_by);
  visit(proposal.approved_by);
  visit(proposal.ended_by);
}

void NamesIn(Entry& entry, const Visit& visit) {
  if (entry.actor_name.empty()) entry.actor_name = entry.actor;
  visit(entry.actor_name);
  entry.named_payload = WithNamesReplaced(entry.kind, entry.payload, [&](std::string name) {
    visit(name);
    return name;
  });
}

void NamesIn(Attempt& attempt, const Visit& visit) {
  NamesIn(attempt.charge, visit);
  if (attempt.release.has_value()) NamesIn(*attempt.release, visit);
}

void NamesIn(EarlierRequest& earlier, const Visit& visit) {
  if (earlier.charge.has_value()) NamesIn(*earlier.charge, visit);
  if (earlier.entry.has_value()) NamesIn(*earlier.entry, visit);
  if (earlier.release.has_value()) NamesIn(*earlier.release, visit);
}

void NamesIn(Verification& verification, const Visit& visit) {
  for (std::string& finding : verification.findings) {
    finding = WithNames(finding, [&](std::string pseudonym) {
      visit(pseudonym);
      return pseudonym;
    });
  }
}

template <typename Value>
void NamesIn(std::vector<Value>& values, const Visit& visit) {
  for (Value& value : values) NamesIn(value, visit);
}

template <typename Value>
void NamesIn(std::optional<Value>& value, const Visit& visit) {
  if (value.has_value()) NamesIn(*value, visit);
}

void NamesIn(Balances& balances, const Visit& visit) {
  for (MeasuredAccount& each : balances.accounts) NamesIn(each.account, visit);
}

void NamesIn(DatasetList& list, const Visit& visit) {
  NamesIn(list.datasets, visit);
}

void NamesIn(ReleaseList& list, const Visit& visit) {
  NamesIn(list.releases, visit);
}

void SortByKey(absl::StatusOr<std::vector<Account>>& accounts) {
  if (accounts.ok()) std::ranges::sort(*accounts, std::less<>(), KeyOf);
}

}  // namespace

PseudonymousLedger::PseudonymousLedger(std::unique_ptr<Ledger> stored, PseudonymTable& table,
                                       std::function<std::string(size_t)> entropy)
    : stored_(std::move(stored)), names_(table, std::move(entropy)) {}

// ---- Of results

template <typename Result>
absl::StatusOr<Result> PseudonymousLedger::AsNamed(absl::StatusOr<Result> result) {
  if (!result.ok()) return AsNamed(result.status());
  std::vector<std::string> pseudonyms;
  NamesIn(*result, [&](const std::string& name) {
    if (IsPseudonym(name)) pseudonyms.push_back(name);
  });
  ASSIGN_OR_RETURN(const auto names, names_.NamesOf(pseudonyms));
  NamesIn(*result, [&](std::string& name) {
    if (const auto found = names.find(name); found != names.end()) name = found->second;
  });
  return result;
}

absl::Status PseudonymousLedger::AsNamed(const absl::Status& status) {
  std::vector<FullAccount> full = FullAccountsOf(status);
  const std::optional<FieldViolation> violation = FieldViolationOf(status);
  std::string text(status.message());
  for (const FullAccount& account : full) absl::StrAppend(&text, " ", account.account);
  const std::vector<std::string> pseudonyms = PseudonymsIn(text);
  if (pseudonyms.empty()) return status;
  const auto names = names_.NamesOf(pseudonyms);
  if (!names.ok()) return status;
  const auto named = [&](std::string_view words) {
    return WithNames(words, [&](const std::string& pseudonym) { return names->at(pseudonym); });
  };
  for (FullAccount& account : full) account.account = named(account.account);
  if (!full.empty()) return BudgetFull(full);
  if (violation.has_value()) return InvalidField(violation->field, named(violation->description));
  absl::Status renamed(status.code(), named(std::string(status.message())));
  status.ForEachPayload([&](const auto url, const auto& payload) { renamed.SetPayload(url, payload); });
  return renamed;
}

// ---- Of arguments

absl::StatusOr<Principal> PseudonymousLedger::AsStored(const Principal& principal) {
  ASSIGN_OR_RETURN(std::string stored, names_.Make(principal.name()));
  return Principal::OfStoredRow(std::move(stored));
}

absl::StatusOr<Principal> PseudonymousLedger::FindStored(const Principal& principal) {
  ASSIGN_OR_RETURN(std::string stored, names_.Find(principal.name()));
  return Principal::OfStoredRow(std::move(stored));
}

absl::StatusOr<AccountSpec> PseudonymousLedger::AsStored(AccountSpec account) {
  if (account.scope_type == ScopeType::kAnalyst) {
    ASSIGN_OR_RETURN(account.scope_key, names_.Make(account.scope_key));
  }
  for (std::string& member : account.members) {
    ASSIGN_OR_RETURN(member, names_.Make(member));
  }
  std::ranges::sort(account.members);
  return account;
}

absl::StatusOr<DatasetSpec> PseudonymousLedger::AsStored(DatasetSpec spec) {
  RETURN_IF_ERROR(sql::CheckDatasetSpec(spec));
  ASSIGN_OR_RETURN(spec.owner, AsStored(spec.owner));
  for (AccountSpec& account : spec.accounts) {
    ASSIGN_OR_RETURN(account, AsStored(std::move(account)));
  }
  return spec;
}

absl::StatusOr<NewPart> PseudonymousLedger::AsStored(NewPart part) {
  ASSIGN_OR_RETURN(part.actor, AsStored(part.actor));
  return part;
}

absl::StatusOr<NewAccount> PseudonymousLedger::AsStored(NewAccount account) {
  // That members are in ascending order, each once, can only be seen of their names.
  RETURN_IF_ERROR(sql::CheckNewAccount(account));
  ASSIGN_OR_RETURN(account.actor, AsStored(account.actor));
  ASSIGN_OR_RETURN(account.account, AsStored(std::move(account.account)));
  return account;
}

absl::StatusOr<DatasetDeletion> PseudonymousLedger::AsStored(DatasetDeletion deletion) {
  ASSIGN_OR_RETURN(deletion.actor, AsStored(deletion.actor));
  return deletion;
}

absl::StatusOr<UndoneImport> PseudonymousLedger::AsStored(UndoneImport undone) {
  ASSIGN_OR_RETURN(undone.actor, AsStored(undone.actor));
  return undone;
}

absl::StatusOr<Grant> PseudonymousLedger::AsStored(Grant grant) {
  ASSIGN_OR_RETURN(grant.grantee, names_.Make(grant.grantee));
  return grant;
}

absl::StatusOr<ChargeRequest> PseudonymousLedger::AsStored(ChargeRequest request) {
  ASSIGN_OR_RETURN(request.principal, AsStored(request.principal));
  return request;
}

absl::StatusOr<LimitProposalSpec> PseudonymousLedger::AsStored(LimitProposalSpec spec) {
  ASSIGN_OR_RETURN(spec.proposed_by, AsStored(spec.proposed_by));
  return spec;
}

absl::StatusOr<RepairOrder> PseudonymousLedger::AsStored(RepairOrder order) {
  ASSIGN_OR_RETURN(order.actor, AsStored(order.actor));
  ASSIGN_OR_RETURN(order.proposed_by, names_.Make(order.proposed_by));
  return order;
}

absl::StatusOr<DailyUse> PseudonymousLedger::AsStored(DailyUse use) {
  ASSIGN_OR_RETURN(use.principal, names_.Make(use.principal));
  return use;
}

absl::StatusOr<RefusalRulesChange> PseudonymousLedger::AsStored(RefusalRulesChange change) {
  ASSIGN_OR_RETURN(change.actor, AsStored(change.actor));
  return change;
}

absl::StatusOr<Attempt> PseudonymousLedger::AsStored(Attempt attempt) {
  // Also where the name was forgotten while the draw was made.
  ASSIGN_OR_RETURN(attempt.charge.principal, names_.Find(StoredPrincipal(attempt.charge)));
  return attempt;
}

// ---- The methods

std::string PseudonymousLedger::LedgerId() {
  return stored_->LedgerId();
}

absl::Status PseudonymousLedger::Health() {
  return stored_->Health();
}

bool PseudonymousLedger::AreHistoriesVerified() {
  return stored_->AreHistoriesVerified();
}

absl::Status PseudonymousLedger::DatasetHealth(std::string_view dataset_id) {
  return AsNamed(stored_->DatasetHealth(dataset_id));
}

int64_t PseudonymousLedger::ChangesInProgress() {
  return stored_->ChangesInProgress();
}

HistoryState PseudonymousLedger::StateOfHistory(std::string_view dataset_id) {
  return stored_->StateOfHistory(dataset_id);
}

absl::StatusOr<Balances> PseudonymousLedger::ReadBalances(const BalanceQuery& query) {
  return AsNamed(stored_->ReadBalances(query));
}

absl::StatusOr<Dataset> PseudonymousLedger::CreateDataset(const DatasetSpec& spec) {
  ASSIGN_OR_RETURN(const DatasetSpec stored, AsStored(spec));
  return AsNamed(stored_->CreateDataset(stored));
}

absl::StatusOr<Dataset> PseudonymousLedger::GetDataset(std::string_view name, std::string_view viewer) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(viewer));
  return AsNamed(stored_->GetDataset(name, stored));
}

absl::StatusOr<Dataset> PseudonymousLedger::GetDatasetById(std::string_view dataset_id,
                                                           std::string_view viewer) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(viewer));
  return AsNamed(stored_->GetDatasetById(dataset_id, stored));
}

absl::StatusOr<std::vector<Dataset>> PseudonymousLedger::ListDatasets() {
  return AsNamed(stored_->ListDatasets());
}

absl::StatusOr<std::vector<Dataset>> PseudonymousLedger::FindContent(
    const Principal& owner, const std::vector<std::string>& content_hashes) {
  ASSIGN_OR_RETURN(const Principal stored, FindStored(owner));
  return AsNamed(stored_->FindContent(stored, content_hashes));
}

absl::StatusOr<std::vector<std::string>> PseudonymousLedger::DatasetNames(
    const std::vector<std::string>& ids) {
  return stored_->DatasetNames(ids);
}

absl::StatusOr<DatasetList> PseudonymousLedger::ListVisibleDatasets(const Principal& principal,
                                                                    const NamePage& page,
                                                                    const AlsoListed& also) {
  ASSIGN_OR_RETURN(const Principal stored, FindStored(principal));
  return AsNamed(stored_->ListVisibleDatasets(stored, page, also));
}

absl::StatusOr<Dataset> PseudonymousLedger::SealDataset(std::string_view dataset_id,
                                                        std::string_view content_hash, const Principal& actor,
                                                        const DatasetFacts& facts) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->SealDataset(dataset_id, content_hash, stored, facts));
}

absl::StatusOr<Dataset> PseudonymousLedger::AddPart(const NewPart& part) {
  ASSIGN_OR_RETURN(const NewPart stored, AsStored(part));
  return AsNamed(stored_->AddPart(stored));
}

absl::StatusOr<Dataset> PseudonymousLedger::SealPart(std::string_view dataset_id, std::string_view part,
                                                     std::string_view content_hash, const Principal& actor,
                                                     const DatasetFacts& facts) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->SealPart(dataset_id, part, content_hash, stored, facts));
}

absl::Status PseudonymousLedger::ArchiveDataset(std::string_view dataset_id, const Principal& actor) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->ArchiveDataset(dataset_id, stored));
}

absl::StatusOr<std::string> PseudonymousLedger::DeleteDataset(const DatasetDeletion& deletion) {
  ASSIGN_OR_RETURN(const DatasetDeletion stored, AsStored(deletion));
  absl::StatusOr<std::string> deleted = stored_->DeleteDataset(stored);
  return deleted.ok() ? std::move(deleted) : AsNamed(deleted.status());
}

absl::StatusOr<std::vector<std::string>> PseudonymousLedger::ListDeletedDatasets() {
  return stored_->ListDeletedDatasets();
}

absl::Status PseudonymousLedger::RecordImportUndone(const UndoneImport& undone) {
  ASSIGN_OR_RETURN(const UndoneImport stored, AsStored(undone));
  return AsNamed(stored_->RecordImportUndone(stored));
}

absl::StatusOr<std::vector<std::string>> PseudonymousLedger::UndoneImports(std::string_view dataset_id,
                                                                           std::string_view part) {
  return stored_->UndoneImports(dataset_id, part);
}

absl::Status PseudonymousLedger::RememberSeen(const Principal& owner, const std::vector<SeenFile>& seen) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(owner));
  return AsNamed(stored_->RememberSeen(stored, seen));
}

absl::StatusOr<bool> PseudonymousLedger::HasSeen(const Principal& owner,
                                                 const std::vector<std::string>& file_hashes,
                                                 std::string_view values_hash) {
  ASSIGN_OR_RETURN(const Principal stored, FindStored(owner));
  return stored_->HasSeen(stored, file_hashes, values_hash);
}

absl::Status PseudonymousLedger::PublishDataset(std::string_view dataset_id, const Principal& actor,
                                                Approval approval) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->PublishDataset(dataset_id, stored, approval));
}

absl::Status PseudonymousLedger::SetGrant(std::string_view dataset_id, const Grant& grant,
                                          const Principal& actor) {
  ASSIGN_OR_RETURN(const Principal stored_actor, AsStored(actor));
  ASSIGN_OR_RETURN(const Grant stored, AsStored(grant));
  return AsNamed(stored_->SetGrant(dataset_id, stored, stored_actor));
}

absl::StatusOr<bool> PseudonymousLedger::HasGrantInLineage(std::string_view dataset_id, std::string_view name,
                                                           int64_t roles) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(name));
  return stored_->HasGrantInLineage(dataset_id, stored, roles);
}

absl::StatusOr<Dataset> PseudonymousLedger::SetRefusalRules(const RefusalRulesChange& change) {
  ASSIGN_OR_RETURN(const RefusalRulesChange stored, AsStored(change));
  return AsNamed(stored_->SetRefusalRules(stored));
}

absl::Status PseudonymousLedger::RecordOwnerAction(std::string_view dataset_id, std::string_view what,
                                                   const Principal& actor) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->RecordOwnerAction(dataset_id, what, stored));
}

absl::StatusOr<Account> PseudonymousLedger::CreateAccount(const NewAccount& account) {
  ASSIGN_OR_RETURN(const NewAccount stored, AsStored(account));
  return AsNamed(stored_->CreateAccount(stored));
}

absl::StatusOr<std::vector<Account>> PseudonymousLedger::GetAccounts(const std::vector<int64_t>& ids) {
  absl::StatusOr<std::vector<Account>> accounts = AsNamed(stored_->GetAccounts(ids));
  SortByKey(accounts);
  return accounts;
}

absl::StatusOr<Account> PseudonymousLedger::FindAccount(std::string_view dataset_id, ScopeType scope,
                                                        std::string_view scope_key) {
  std::string stored(scope_key);
  if (scope == ScopeType::kAnalyst) {
    ASSIGN_OR_RETURN(stored, FindStored(scope_key));
  }
  return AsNamed(stored_->FindAccount(dataset_id, scope, stored));
}

absl::StatusOr<std::vector<Account>> PseudonymousLedger::ListAccounts(std::string_view dataset_id,
                                                                      const AccountPage& page) {
  AccountPage stored = page;
  if (stored.after.has_value() && stored.after->scope_type == ScopeType::kAnalyst) {
    ASSIGN_OR_RETURN(stored.after->scope_key, FindStored(stored.after->scope_key));
  }
  return AsNamed(stored_->ListAccounts(dataset_id, stored));
}

absl::StatusOr<std::vector<Account>> PseudonymousLedger::ListPayingAccounts(std::string_view dataset_id,
                                                                            std::string_view principal) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(principal));
  absl::StatusOr<std::vector<Account>> accounts = AsNamed(stored_->ListPayingAccounts(dataset_id, stored));
  SortByKey(accounts);
  return accounts;
}

absl::StatusOr<std::vector<CounterPoint>> PseudonymousLedger::CounterPoints(const PointsQuery& query) {
  return stored_->CounterPoints(query);
}

absl::StatusOr<Attempt> PseudonymousLedger::Begin(const ChargeRequest& request) {
  ASSIGN_OR_RETURN(const ChargeRequest stored, AsStored(request));
  return AsNamed(stored_->Begin(stored));
}

absl::StatusOr<Attempt> PseudonymousLedger::TakeOver(std::string_view charge_id) {
  return AsNamed(stored_->TakeOver(charge_id));
}

absl::StatusOr<Release> PseudonymousLedger::Store(const Attempt& attempt, std::string_view payload,
                                                  const std::vector<Measure>& measures) {
  ASSIGN_OR_RETURN(const Attempt stored, AsStored(attempt));
  return AsNamed(stored_->Store(stored, payload, measures));
}

absl::Status PseudonymousLedger::Forfeit(const Attempt& attempt, std::string_view reason) {
  ASSIGN_OR_RETURN(const Attempt stored, AsStored(attempt));
  return AsNamed(stored_->Forfeit(stored, reason));
}

absl::StatusOr<Charge> PseudonymousLedger::Queue(const ChargeRequest& request, int64_t lifetime_us) {
  ASSIGN_OR_RETURN(const ChargeRequest stored, AsStored(request));
  return AsNamed(stored_->Queue(stored, lifetime_us));
}

absl::StatusOr<Attempt> PseudonymousLedger::StartQueued(std::string_view charge_id,
                                                        std::string_view sealed_key, std::string_view token) {
  return AsNamed(stored_->StartQueued(charge_id, sealed_key, token));
}

absl::StatusOr<std::vector<Charge>> PseudonymousLedger::Reserve(const std::vector<ChargeRequest>& requests,
                                                                int64_t lifetime_us, ReserveEffect* effect) {
  std::vector<ChargeRequest> stored;
  stored.reserve(requests.size());
  for (const ChargeRequest& request : requests) {
    ASSIGN_OR_RETURN(ChargeRequest each, AsStored(request));
    stored.push_back(std::move(each));
  }
  return AsNamed(stored_->Reserve(stored, lifetime_us, effect));
}

absl::StatusOr<Charge> PseudonymousLedger::StartReserved(std::string_view charge_id,
                                                         const std::vector<Posting>& final_cost,
                                                         const Principal& actor) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->StartReserved(charge_id, final_cost, stored));
}

absl::StatusOr<Charge> PseudonymousLedger::CommitReserved(std::string_view charge_id,
                                                          const Principal& actor) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->CommitReserved(charge_id, stored));
}

absl::StatusOr<Charge> PseudonymousLedger::CancelReserved(std::string_view charge_id, std::string_view reason,
                                                          const Principal& actor) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->CancelReserved(charge_id, reason, stored));
}

absl::StatusOr<Charge> PseudonymousLedger::ExtendReserved(std::string_view charge_id, int64_t lifetime_us,
                                                          const Principal& actor) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->ExtendReserved(charge_id, lifetime_us, stored));
}

absl::StatusOr<int64_t> PseudonymousLedger::ExpireReservations() {
  return stored_->ExpireReservations();
}

absl::StatusOr<int64_t> PseudonymousLedger::SweepStaged() {
  return stored_->SweepStaged();
}

absl::StatusOr<LimitProposal> PseudonymousLedger::ProposeLimit(const LimitProposalSpec& spec) {
  ASSIGN_OR_RETURN(const LimitProposalSpec stored, AsStored(spec));
  return AsNamed(stored_->ProposeLimit(stored));
}

absl::StatusOr<LimitProposal> PseudonymousLedger::ApproveLimit(std::string_view proposal_id,
                                                               const Principal& actor, Approval approval) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->ApproveLimit(proposal_id, stored, approval));
}

absl::StatusOr<LimitProposal> PseudonymousLedger::EndLimitProposal(std::string_view proposal_id,
                                                                   ProposalEnd end, std::string_view reason,
                                                                   const Principal& actor) {
  ASSIGN_OR_RETURN(const Principal stored, AsStored(actor));
  return AsNamed(stored_->EndLimitProposal(proposal_id, end, reason, stored));
}

absl::StatusOr<LimitProposal> PseudonymousLedger::GetLimitProposal(std::string_view proposal_id) {
  return AsNamed(stored_->GetLimitProposal(proposal_id));
}

absl::StatusOr<LimitProposal> PseudonymousLedger::FindLimitProposal(const Principal& proposed_by,
                                                                    std::string_view request_id) {
  ASSIGN_OR_RETURN(const Principal stored, FindStored(proposed_by));
  return AsNamed(stored_->FindLimitProposal(stored, request_id));
}

absl::StatusOr<std::vector<LimitProposal>> PseudonymousLedger::ListLimitProposals(
    std::string_view dataset_id, const std::vector<int64_t>& accounts, const ProposalPage& page) {
  ProposalPage stored = page;
  ASSIGN_OR_RETURN(stored.requests_of, FindStored(page.requests_of));
  return AsNamed(stored_->ListLimitProposals(dataset_id, accounts, stored));
}

absl::StatusOr<std::vector<LimitProposal>> PseudonymousLedger::ListOpenProposals(
    std::string_view dataset_id) {
  return AsNamed(stored_->ListOpenProposals(dataset_id));
}

absl::StatusOr<Charge> PseudonymousLedger::GetCharge(std::string_view charge_id) {
  return AsNamed(stored_->GetCharge(charge_id));
}

absl::StatusOr<Charge> PseudonymousLedger::FindCharge(const Principal& principal,
                                                      std::string_view request_id) {
  ASSIGN_OR_RETURN(const Principal stored, FindStored(principal));
  return AsNamed(stored_->FindCharge(stored, request_id));
}

absl::StatusOr<EarlierRequest> PseudonymousLedger::FindEarlier(const EarlierQuery& query) {
  EarlierQuery stored = query;
  ASSIGN_OR_RETURN(stored.principal, FindStored(query.principal));
  ASSIGN_OR_RETURN(stored.reader, FindStored(query.reader));
  return AsNamed(stored_->FindEarlier(stored));
}

absl::StatusOr<std::vector<Charge>> PseudonymousLedger::ListOperations(const Principal& principal,
                                                                       const NewestPage& page) {
  ASSIGN_OR_RETURN(const Principal stored, FindStored(principal));
  return AsNamed(stored_->ListOperations(stored, page));
}

absl::StatusOr<Charge> PseudonymousLedger::LatestCharge(std::string_view dataset_id,
                                                        const Principal& principal) {
  ASSIGN_OR_RETURN(const Principal stored, FindStored(principal));
  return AsNamed(stored_->LatestCharge(dataset_id, stored));
}

absl::StatusOr<std::vector<EventCount>> PseudonymousLedger::CountEvents(std::string_view dataset_id,
                                                                        std::string_view principal,
                                                                        int64_t most) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(principal));
  return stored_->CountEvents(dataset_id, stored, most);
}

absl::StatusOr<bool> PseudonymousLedger::AdvanceCounts() {
  return stored_->AdvanceCounts();
}

absl::StatusOr<Entry> PseudonymousLedger::ChargeEntry(std::string_view charge_id) {
  return AsNamed(stored_->ChargeEntry(charge_id));
}

absl::StatusOr<Release> PseudonymousLedger::GetRelease(std::string_view release_id) {
  return AsNamed(stored_->GetRelease(release_id));
}

absl::StatusOr<Release> PseudonymousLedger::GetReleaseWithoutPayload(std::string_view release_id) {
  return AsNamed(stored_->GetReleaseWithoutPayload(release_id));
}

absl::Status PseudonymousLedger::ShareRelease(std::string_view release_id, std::string_view grantee,
                                              const std::vector<Measure>& measures, const Principal& actor) {
  ASSIGN_OR_RETURN(const Principal stored_actor, AsStored(actor));
  ASSIGN_OR_RETURN(const std::string stored, names_.Make(grantee));
  return AsNamed(stored_->ShareRelease(release_id, stored, measures, stored_actor));
}

absl::StatusOr<ReleaseList> PseudonymousLedger::ListReleases(std::string_view dataset_id,
                                                             std::string_view reader,
                                                             const NewestPage& page) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(reader));
  return AsNamed(stored_->ListReleases(dataset_id, stored, page));
}

absl::StatusOr<std::vector<Release>> PseudonymousLedger::FindReleases(std::string_view dataset_id,
                                                                      std::string_view reader,
                                                                      const std::vector<Measure>& measures,
                                                                      int64_t most) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(reader));
  return AsNamed(stored_->FindReleases(dataset_id, stored, measures, most));
}

absl::StatusOr<std::vector<Entry>> PseudonymousLedger::ListEntries(std::string_view dataset_id,
                                                                   const EntryRange& range) {
  EntryRange stored = range;
  ASSIGN_OR_RETURN(stored.charges_of, FindStored(range.charges_of));
  return AsNamed(stored_->ListEntries(dataset_id, stored));
}

absl::StatusOr<std::vector<HistoryHead>> PseudonymousLedger::HistoryHeads(
    const std::vector<std::string>& dataset_ids) {
  return stored_->HistoryHeads(dataset_ids);
}

absl::StatusOr<EntryPlace> PseudonymousLedger::ServerHead() {
  return stored_->ServerHead();
}

absl::StatusOr<Entry> PseudonymousLedger::AppendServerEntry(const NewServerEntry& entry) {
  NewServerEntry stored = entry;
  ASSIGN_OR_RETURN(stored.actor, names_.Make(entry.actor));
  return AsNamed(stored_->AppendServerEntry(stored));
}

absl::StatusOr<std::vector<Entry>> PseudonymousLedger::ListServerEntries(const Page& page) {
  return AsNamed(stored_->ListServerEntries(page));
}

absl::StatusOr<Verification> PseudonymousLedger::VerifyServerHistory() {
  return stored_->VerifyServerHistory();
}

absl::StatusOr<std::optional<Entry>> PseudonymousLedger::RepairServerHistory(std::string_view actor,
                                                                             std::string_view reason) {
  ASSIGN_OR_RETURN(const std::string stored, names_.Make(actor));
  return AsNamed(stored_->RepairServerHistory(stored, reason));
}

absl::StatusOr<bool> PseudonymousLedger::KnowsPrincipal(std::string_view name) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(name));
  return stored_->KnowsPrincipal(stored);
}

absl::StatusOr<bool> PseudonymousLedger::OwnsOpenDataset(std::string_view name) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(name));
  return stored_->OwnsOpenDataset(stored);
}

absl::StatusOr<std::string> PseudonymousLedger::PseudonymOf(std::string_view name) {
  return names_.Make(name);
}

absl::StatusOr<std::string> PseudonymousLedger::FindPseudonym(std::string_view name) {
  return names_.Find(name);
}

absl::StatusOr<std::vector<std::string>> PseudonymousLedger::NamesOf(const std::vector<std::string>& stored) {
  std::vector<std::string> pseudonyms;
  std::ranges::copy_if(stored, std::back_inserter(pseudonyms), IsPseudonym);
  ASSIGN_OR_RETURN(const auto known, names_.NamesOf(pseudonyms));
  std::vector<std::string> names = stored;
  for (std::string& name : names) {
    if (const auto found = known.find(name); found != known.end()) name = found->second;
  }
  return names;
}

absl::Status PseudonymousLedger::ForgetName(std::string_view pseudonym) {
  return names_.Forget(pseudonym);
}

absl::StatusOr<bool> PseudonymousLedger::UseQuota(const DailyUse& use, int64_t most) {
  ASSIGN_OR_RETURN(const DailyUse stored, AsStored(use));
  return stored_->UseQuota(stored, most);
}

absl::Status PseudonymousLedger::ReturnQuota(const DailyUse& use) {
  ASSIGN_OR_RETURN(const DailyUse stored, AsStored(use));
  return stored_->ReturnQuota(stored);
}

absl::StatusOr<int64_t> PseudonymousLedger::QuotaUsed(std::string_view principal, std::string_view quota,
                                                      int64_t day) {
  ASSIGN_OR_RETURN(const std::string stored, FindStored(principal));
  return stored_->QuotaUsed(stored, quota, day);
}

absl::StatusOr<int64_t> PseudonymousLedger::SweepQuotaUse(int64_t before_day) {
  return stored_->SweepQuotaUse(before_day);
}

absl::StatusOr<Verification> PseudonymousLedger::Verify(std::string_view dataset_id) {
  return AsNamed(stored_->Verify(dataset_id));
}

absl::StatusOr<Verification> PseudonymousLedger::LastVerification(std::string_view dataset_id,
                                                                  std::optional<int64_t> most_age_us,
                                                                  const BeforePass& before_pass) {
  return AsNamed(stored_->LastVerification(dataset_id, most_age_us, before_pass));
}

absl::StatusOr<RepairReport> PseudonymousLedger::RaiseToAnchor(const RepairOrder& order) {
  ASSIGN_OR_RETURN(const RepairOrder stored, AsStored(order));
  absl::StatusOr<RepairReport> report = stored_->RaiseToAnchor(stored);
  if (!report.ok()) return AsNamed(report.status());
  report->still_read_only = AsNamed(report->still_read_only);
  return report;
}

}  // namespace curator::ledger
