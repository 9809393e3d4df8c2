// A ledger whose tables and entries have pseudonyms (pseudonyms/pseudonym.h) in the place of the names of
// principals.
//
// Callers know nothing of that: names go in and come out, also in the messages of errors. Only what hashes
// cover stays as it is stored: Entry::actor and Entry::payload, beside which are the same with names, and
// Charge::stored_principal. Of a forgotten principal all results have the pseudonym where the name was.
//
// Lists that a result holds whole (grants, members, readers of a release, the accounts that somebody pays
// from) are in the order of names. Pages of accounts are in the order of pseudonyms, in which they are
// stored: it says nothing about anybody, and no page is lost.
//
// A new method of Ledger is added here by three words at most (pseudonymous_ledger.cc): AsStored() of each
// argument that has names, AsNamed() of its result, and NamesIn() of a type that is new.
//
// Thread-safe. Errors are those of ledger.h, and of the look-up of a name, which is cached.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/ledger.h"
#include "ledger/pseudonyms/known_names.h"

namespace curator::ledger {

class PseudonymousLedger final : public Ledger {
 public:
  // `table` is part of `stored`, or outlives this object. `entropy` as of LedgerOptions.
  PseudonymousLedger(std::unique_ptr<Ledger> stored, PseudonymTable& table,
                     std::function<std::string(size_t)> entropy);

  std::string LedgerId() override;
  absl::Status Health() override;
  bool AreHistoriesVerified() override;
  absl::Status DatasetHealth(std::string_view dataset_id) override;
  int64_t ChangesInProgress() override;
  HistoryState StateOfHistory(std::string_view dataset_id) override;
  absl::StatusOr<Balances> ReadBalances(const BalanceQuery& query) override;

  absl::StatusOr<Dataset> CreateDataset(const DatasetSpec& spec) override;
  absl::StatusOr<Dataset> GetDataset(std::string_view name, std::string_view viewer) override;
  absl::StatusOr<Dataset> GetDatasetById(std::string_view dataset_id, std::string_view viewer) override;
  absl::StatusOr<std::vector<Dataset>> ListDatasets() override;
  absl::StatusOr<std::vector<std::string>> ListDeletedDatasets() override;
  absl::StatusOr<std::vector<Dataset>> FindContent(const Principal& owner,
                                                   const std::vector<std::string>& content_hashes) override;
  absl::StatusOr<std::vector<std::string>> DatasetNames(const std::vector<std::string>& ids) override;
  absl::StatusOr<DatasetList> ListVisibleDatasets(const Principal& principal, const NamePage& page,
                                                  const AlsoListed& also) override;
  absl::StatusOr<Dataset> SealDataset(std::string_view dataset_id, std::string_view content_hash,
                                      const Principal& actor, const DatasetFacts& facts) override;
  absl::StatusOr<Dataset> AddPart(const NewPart& part) override;
  absl::StatusOr<Dataset> SealPart(std::string_view dataset_id, std::string_view part,
                                   std::string_view content_hash, const Principal& actor,
                                   const DatasetFacts& facts) override;
  absl::Status PublishDataset(std::string_view dataset_id, const Principal& actor,
                              Approval approval) override;
  absl::Status ArchiveDataset(std::string_view dataset_id, const Principal& actor) override;
  absl::StatusOr<std::string> DeleteDataset(const DatasetDeletion& deletion) override;
  absl::Status SetGrant(std::string_view dataset_id, const Grant& grant, const Principal& actor) override;
  absl::StatusOr<bool> HasGrantInLineage(std::string_view dataset_id, std::string_view name,
                                         int64_t roles) override;
  absl::StatusOr<Dataset> SetRefusalRules(const RefusalRulesChange& change) override;
  absl::Status RecordOwnerAction(std::string_view dataset_id, std::string_view what,
                                 const Principal& actor) override;
  absl::Status RecordImportUndone(const UndoneImport& undone) override;
  absl::StatusOr<std::vector<std::string>> UndoneImports(std::string_view dataset_id,
                                                         std::string_view part) override;
  absl::Status RememberSeen(const Principal& owner, const std::vector<SeenFile>& seen) override;
  absl::StatusOr<bool> HasSeen(const Principal& owner, const std::vector<std::string>& file_hashes,
                               std::string_view values_hash) override;

  absl::StatusOr<Account> CreateAccount(const NewAccount& account) override;
  absl::StatusOr<std::vector<Account>> GetAccounts(const std::vector<int64_t>& ids) override;
  absl::StatusOr<Account> FindAccount(std::string_view dataset_id, ScopeType scope,
                                      std::string_view scope_key) override;
  absl::StatusOr<std::vector<Account>> ListAccounts(std::string_view dataset_id,
                                                    const AccountPage& page) override;
  absl::StatusOr<std::vector<Account>> ListPayingAccounts(std::string_view dataset_id,
                                                          std::string_view principal) override;
  absl::StatusOr<std::vector<CounterPoint>> CounterPoints(const PointsQuery& query) override;

  absl::StatusOr<Attempt> Begin(const ChargeRequest& request) override;
  absl::StatusOr<Attempt> TakeOver(std::string_view charge_id) override;
  absl::StatusOr<Release> Store(const Attempt& attempt, std::string_view payload,
                                const std::vector<Measure>& measures) override;
  absl::Status Forfeit(const Attempt& attempt, std::string_view reason) override;
  absl::StatusOr<Charge> Queue(const ChargeRequest& request, int64_t lifetime_us) override;
  absl::StatusOr<Attempt> StartQueued(std::string_view charge_id, std::string_view sealed_key,
                                      std::string_view token) override;

  absl::StatusOr<std::vector<Charge>> Reserve(const std::vector<ChargeRequest>& requests, int64_t lifetime_us,
                                              ReserveEffect* effect) override;
  absl::StatusOr<Charge> StartReserved(std::string_view charge_id, const std::vector<Posting>& final_cost,
                                       const Principal& actor) override;
  absl::StatusOr<Charge> CommitReserved(std::string_view charge_id, const Principal& actor) override;
  absl::StatusOr<Charge> CancelReserved(std::string_view charge_id, std::string_view reason,
                                        const Principal& actor) override;
  absl::StatusOr<Charge> ExtendReserved(std::string_view charge_id, int64_t lifetime_us,
                                        const Principal& actor) override;
  absl::StatusOr<int64_t> ExpireReservations() override;
  absl::StatusOr<int64_t> SweepStaged() override;

  absl::StatusOr<LimitProposal> ProposeLimit(const LimitProposalSpec& spec) override;
  absl::StatusOr<LimitProposal> ApproveLimit(std::string_view proposal_id, const Principal& actor,
                                             Approval approval) override;
  absl::StatusOr<LimitProposal> EndLimitProposal(std::string_view proposal_id, ProposalEnd end,
                                                 std::string_view reason, const Principal& actor) override;
  absl::StatusOr<LimitProposal> GetLimitProposal(std::string_view proposal_id) override;
  absl::StatusOr<LimitProposal> FindLimitProposal(const Principal& proposed_by,
                                                  std::string_view request_id) override;
  absl::StatusOr<std::vector<LimitProposal>> ListLimitProposals(std::string_view dataset_id,
                                                                const std::vector<int64_t>& accounts,
                                                                const ProposalPage& page) override;
  absl::StatusOr<std::vector<LimitProposal>> ListOpenProposals(std::string_view dataset_id) override;

  absl::StatusOr<Charge> GetCharge(std::string_view charge_id) override;
  absl::StatusOr<Charge> FindCharge(const Principal& principal, std::string_view request_id) override;
  absl::StatusOr<EarlierRequest> FindEarlier(const EarlierQuery& query) override;
  absl::StatusOr<std::vector<Charge>> ListOperations(const Principal& principal,
                                                     const NewestPage& page) override;
  absl::StatusOr<Charge> LatestCharge(std::string_view dataset_id, const Principal& principal) override;
  absl::StatusOr<std::vector<EventCount>> CountEvents(std::string_view dataset_id, std::string_view principal,
                                                      int64_t most) override;
  absl::StatusOr<bool> AdvanceCounts() override;
  absl::StatusOr<Entry> ChargeEntry(std::string_view charge_id) override;
  absl::StatusOr<Release> GetRelease(std::string_view release_id) override;
  absl::StatusOr<Release> GetReleaseWithoutPayload(std::string_view release_id) override;
  absl::Status ShareRelease(std::string_view release_id, std::string_view grantee,
                            const std::vector<Measure>& measures, const Principal& actor) override;
  absl::StatusOr<ReleaseList> ListReleases(std::string_view dataset_id, std::string_view reader,
                                           const NewestPage& page) override;
  absl::StatusOr<std::vector<Release>> FindReleases(std::string_view dataset_id, std::string_view reader,
                                                    const std::vector<Measure>& measures,
                                                    int64_t most) override;

  absl::StatusOr<std::vector<Entry>> ListEntries(std::string_view dataset_id,
                                                 const EntryRange& range) override;
  absl::StatusOr<std::vector<HistoryHead>> HistoryHeads(const std::vector<std::string>& dataset_ids) override;
  absl::StatusOr<EntryPlace> ServerHead() override;
  absl::StatusOr<Entry> AppendServerEntry(const NewServerEntry& entry) override;
  absl::StatusOr<std::vector<Entry>> ListServerEntries(const Page& page) override;
  absl::StatusOr<Verification> VerifyServerHistory() override;
  absl::StatusOr<std::optional<Entry>> RepairServerHistory(std::string_view actor,
                                                           std::string_view reason) override;
  absl::StatusOr<bool> KnowsPrincipal(std::string_view name) override;
  absl::StatusOr<bool> OwnsOpenDataset(std::string_view name) override;
  absl::StatusOr<std::string> PseudonymOf(std::string_view name) override;
  absl::StatusOr<std::string> FindPseudonym(std::string_view name) override;
  absl::StatusOr<std::vector<std::string>> NamesOf(const std::vector<std::string>& stored) override;
  absl::Status ForgetName(std::string_view pseudonym) override;

  absl::StatusOr<bool> UseQuota(const DailyUse& use, int64_t most) override;
  absl::Status ReturnQuota(const DailyUse& use) override;
  absl::StatusOr<int64_t> QuotaUsed(std::string_view principal, std::string_view quota, int64_t day) override;
  absl::StatusOr<int64_t> SweepQuotaUse(int64_t before_day) override;

  absl::StatusOr<Verification> Verify(std::string_view dataset_id) override;
  absl::StatusOr<Verification> LastVerification(std::string_view dataset_id,
                                                std::optional<int64_t> most_age_us,
                                                const BeforePass& before_pass) override;
  absl::StatusOr<RepairReport> RaiseToAnchor(const RepairOrder& order) override;

 private:
  // ---- Of arguments

  // Of whom the ledger is to know from now on.
  absl::StatusOr<Principal> AsStored(const Principal& principal);
  absl::StatusOr<DatasetSpec> AsStored(DatasetSpec spec);
  absl::StatusOr<NewPart> AsStored(NewPart part);
  absl::StatusOr<NewAccount> AsStored(NewAccount account);
  absl::StatusOr<DatasetDeletion> AsStored(DatasetDeletion deletion);
  absl::StatusOr<UndoneImport> AsStored(UndoneImport undone);
  absl::StatusOr<AccountSpec> AsStored(AccountSpec account);
  absl::StatusOr<Grant> AsStored(Grant grant);
  absl::StatusOr<ChargeRequest> AsStored(ChargeRequest request);
  absl::StatusOr<LimitProposalSpec> AsStored(LimitProposalSpec spec);
  absl::StatusOr<RepairOrder> AsStored(RepairOrder order);
  absl::StatusOr<RefusalRulesChange> AsStored(RefusalRulesChange change);
  absl::StatusOr<DailyUse> AsStored(DailyUse use);
  absl::StatusOr<Attempt> AsStored(Attempt attempt);
  // Of whom something is asked, and nothing is written.
  absl::StatusOr<Principal> FindStored(const Principal& principal);
  absl::StatusOr<std::string> FindStored(std::string_view name) { return names_.Find(name); }

  // ---- Of results

  template <typename Result>
  absl::StatusOr<Result> AsNamed(absl::StatusOr<Result> result);
  absl::Status AsNamed(const absl::Status& status);

  const std::unique_ptr<Ledger> stored_;
  KnownNames names_;
};

}  // namespace curator::ledger
