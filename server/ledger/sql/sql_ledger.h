// The ledger over any sql::Database: keys, admission, states, chains and the anchor, once for all stores.
//
// Thread-safe. Errors and guarantees are those of ledger.h.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_directory.h"
#include "ledger/anchor/checkpoint_file.h"
#include "ledger/ledger.h"
#include "ledger/pseudonyms/known_names.h"
#include "ledger/report.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/change_combiner.h"
#include "ledger/sql/clock_watch.h"
#include "ledger/sql/damage.h"
#include "ledger/sql/database.h"
#include "ledger/sql/head_cache.h"
#include "ledger/sql/held_charges.h"
#include "ledger/sql/repeating_principals.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/turns.h"
#include "ledger/sql/verify.h"
#include "ledger/sql/write_set.h"
#include "ledger/sql/writer_places.h"

namespace curator::ledger::sql {

// Returns the requested number of unpredictable bytes. Thread-safe.
using Entropy = std::function<std::string(size_t)>;

// It takes, stores and returns what it is given as names: a server gives it pseudonyms
// (pseudonymous_ledger.h), and keeps their table here.
class SqlLedger final : public Ledger, public PseudonymTable {
 public:
  struct Options {
    AmountText amount_text = IntegerText;
    Report report = {};
    Observer* observer = nullptr;  // null: nobody observes
    // Microseconds of a clock that never jumps.
    std::function<int64_t()> steady_us = SteadyUs;
    // From the end of one pass over all lineages to the beginning of the next.
    std::chrono::microseconds pass_interval = std::chrono::hours(24);
    // From this many entries on, of all histories together, a start goes on from checkpoints, and reads the
    // older entries after it has begun to serve.
    int64_t long_history = 100'000;
    // The entries up to which anybody who may see a dataset may have a first pass made over its lineage.
    int64_t short_history = 10'000;
    // How long a caller waits for a pass over another lineage: as long as it holds a thread.
    std::chrono::milliseconds longest_wait = std::chrono::seconds(5);
    // From the last piece of a staged payload until SweepStaged() deletes it.
    std::chrono::microseconds staged_for = std::chrono::minutes(10);
  };
  static int64_t SteadyUs();
  // `database` has its schema. Verifies all histories; a lineage that contradicts itself or the anchor is
  // read-only from the start, and its stored releases remain readable.
  static absl::StatusOr<std::unique_ptr<SqlLedger>> Open(std::unique_ptr<Database> database,
                                                         std::string_view anchor_directory, Entropy entropy,
                                                         Options options);
  static absl::StatusOr<std::unique_ptr<SqlLedger>> Open(std::unique_ptr<Database> database,
                                                         std::string_view anchor_directory, Entropy entropy) {
    return Open(std::move(database), anchor_directory, std::move(entropy), Options());
  }

  ~SqlLedger() override;

  std::string LedgerId() override { return ledger_id_; }
  absl::Status Health() override;
  bool AreHistoriesVerified() override { return are_histories_verified_; }
  absl::Status DatasetHealth(std::string_view dataset_id) override {
    return damage_.CheckDataset(dataset_id);
  }
  int64_t ChangesInProgress() override { return static_cast<int64_t>(combiner_.waiting()); }
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
  absl::StatusOr<Dataset> SetRefusalRules(const RefusalRulesChange& change) override;
  absl::StatusOr<bool> HasGrantInLineage(std::string_view dataset_id, std::string_view name,
                                         int64_t roles) override;
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
  absl::StatusOr<Charge> Queue(const ChargeRequest& request, int64_t lifetime_us) override;
  absl::StatusOr<Attempt> StartQueued(std::string_view charge_id, std::string_view sealed_key,
                                      std::string_view token) override;
  absl::StatusOr<Release> Store(const Attempt& attempt, std::string_view payload,
                                const std::vector<Measure>& measures) override;
  absl::Status Forfeit(const Attempt& attempt, std::string_view reason) override;
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
                                             Approval approval = Approval::kByAnother) override;
  absl::StatusOr<LimitProposal> EndLimitProposal(std::string_view proposal_id, ProposalEnd end,
                                                 std::string_view reason, const Principal& actor) override;
  absl::StatusOr<LimitProposal> GetLimitProposal(std::string_view proposal_id) override;
  absl::StatusOr<std::vector<LimitProposal>> ListOpenProposals(std::string_view dataset_id) override;
  absl::StatusOr<LimitProposal> FindLimitProposal(const Principal& proposed_by,
                                                  std::string_view request_id) override;
  absl::StatusOr<std::vector<LimitProposal>> ListLimitProposals(std::string_view dataset_id,
                                                                const std::vector<int64_t>& accounts,
                                                                const ProposalPage& page) override;
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
  absl::StatusOr<std::string> PseudonymOf(std::string_view name) override { return std::string(name); }
  absl::StatusOr<std::string> FindPseudonym(std::string_view name) override { return std::string(name); }
  absl::StatusOr<std::vector<std::string>> NamesOf(const std::vector<std::string>& stored) override {
    return stored;
  }
  absl::Status ForgetName(std::string_view pseudonym) override { return DeletePseudonym(pseudonym); }
  absl::StatusOr<Verification> Verify(std::string_view dataset_id) override;
  absl::StatusOr<Verification> LastVerification(std::string_view dataset_id,
                                                std::optional<int64_t> most_age_us,
                                                const BeforePass& before_pass) override;
  absl::StatusOr<bool> UseQuota(const DailyUse& use, int64_t most) override;
  absl::Status ReturnQuota(const DailyUse& use) override;
  absl::StatusOr<int64_t> QuotaUsed(std::string_view principal, std::string_view quota, int64_t day) override;
  absl::StatusOr<int64_t> SweepQuotaUse(int64_t before_day) override;
  absl::StatusOr<RepairReport> RaiseToAnchor(const RepairOrder& order) override;

  // ---- The table of pseudonyms (pseudonym_rows.cc)

  absl::StatusOr<std::vector<PseudonymRow>> FindByName(const std::vector<std::string>& names) override;
  absl::StatusOr<std::vector<PseudonymRow>> FindByPseudonym(
      const std::vector<std::string>& pseudonyms) override;
  absl::StatusOr<PseudonymRow> AddPseudonym(const PseudonymRow& row) override;
  absl::Status DeletePseudonym(std::string_view pseudonym) override;

 private:
  using WriteBody = std::function<absl::Status(WriteSet&)>;

  SqlLedger(std::unique_ptr<Database> database, Entropy entropy, Options options);

  absl::StatusOr<std::string> ReadOrCreateIdentity();

  // ---- Damage (damaged_lineages.cc)

  // How much of a history a pass reads.
  enum class Depth {
    kWhole,
    // From checkpoints on, in a long history: what decides what is charged and who is let in.
    kSinceCheckpoint,
  };
  // Verifies every lineage, and raises the anchor to the histories that continue it. CANCELLED once the
  // ledger is being destroyed.
  absl::Status VerifyAll(Depth depth);
  // Runs on `passes_`: VerifyAll(Depth::kWhole) at every interval, and the passes that are asked for.
  void RunPasses();
  // VerifyAll(), or VerifyAsked(); UNAVAILABLE where there is too little memory.
  absl::Status PassOver(bool is_all, const std::set<std::string>& asked);
  absl::Status VerifyAsked(const std::set<std::string>& lineage_ids);
  CheckpointName CheckpointOf(const std::string& lineage_id) const;
  // After FinishPass(): the next start goes on from what a whole pass has verified, and from nothing while
  // the lineage is damaged.
  void KeepCheckpoint(const VerifiedLineage& verified);
  void ForgetCheckpoint(const std::string& lineage_id);
  // Verifies one lineage against `anchored`. It is read-only from then on exactly if something was found.
  absl::StatusOr<VerifiedLineage> VerifyAndRegister(const std::string& lineage_id,
                                                    const AnchorState& anchored, Depth depth,
                                                    const EntriesRead& on_read = {});
  // A turn at passes for a call, which does not wait for longer than `longest_wait`: UNAVAILABLE.
  absl::StatusOr<Turns::Turn> TakeTurn();
  // Whether a lineage that is behind `anchored` has an anchor that is further now, as after a repair.
  absl::StatusOr<bool> HasAnchorRisen(const VerifiedLineage& verified, const AnchorState& anchored);
  // VerifyAndRegister() in the caller's turn, and of the dataset's lineage.
  absl::StatusOr<VerifiedLineage> VerifyInTurn(const std::string& lineage_id, const AnchorState& anchored,
                                               Depth depth, const EntriesRead& on_read = {});
  absl::StatusOr<Verification> VerifyDatasetInTurn(std::string_view dataset_id);
  // The last result about the dataset if it is not older.
  std::optional<Verification> FindVerification(std::string_view dataset_id, int64_t most_age_us);
  // UNAVAILABLE unless the history of the dataset is short.
  absl::Status CheckIsShort(std::string_view dataset_id);
  // The lineage of a dataset; NOT_FOUND.
  absl::StatusOr<std::string> LineageOf(std::string_view dataset_id);
  // For a transaction that ended with DATA_LOSS: makes the lineage where the damage is read-only, and returns
  // the refusal for clients. `change` is what the transaction had locked; it may be null.
  absl::Status RefuseDamaged(const absl::Status& status, const WriteSet* change);
  // Where the lineage that `refusal` concerns is behind its anchor and has grown, as a repair by another
  // server makes it: has RunPasses() verify it. No request waits for that.
  void AskForPassIfGrown(const absl::Status& refusal);
  // DATA_LOSS while the last verification of the server's own history had findings.
  absl::Status CheckServerHistory();
  // Finds the stored release of a request that `refusal` refuses to charge; else returns `refusal`.
  absl::StatusOr<Attempt> ReplayOnly(const ChargeRequest& request, const absl::Status& refusal);
  // DATA_LOSS when the anchor knows datasets that the database does not have: new datasets and accounts could
  // then take the place of lost ones, whose spent budget would be forgotten.
  absl::Status CheckNoDatasetIsLost();

  // Runs `body` in a transaction until the outcome is known, then makes the anchor cover the change. `body`
  // may run several times, and a later run may find what an earlier one wrote: it looks up its key first.
  // No more than a few changes of one lineage are in the store at once, here that of `dataset_id` (empty: of
  // none). UNAVAILABLE when those before it take too long.
  absl::Status Write(std::string_view dataset_id, const WriteBody& body);
  // A place among the changes of this lane; UNAVAILABLE when it takes too long to get one.
  absl::StatusOr<WriterPlaces::Place> EnterLane(std::string_view lane);
  // Write() of a change that belongs to this lane.
  absl::Status WriteInLane(std::string_view lane, const WriteBody& body);
  // The lane of a dataset's changes. What shares a lane waits for the same rows: the lineage of the dataset;
  // the same for all in a store with one writer. A dataset that does not exist, and an empty id, have a lane.
  absl::StatusOr<std::string> LaneOf(std::string_view dataset_id);
  // Write() without the last step: returns the anchor point that must be durable before the change is
  // reported.
  absl::StatusOr<int64_t> WriteToStore(const WriteBody& body);
  absl::Status Read(const Body& body);
  // Read() of one message (Database::ReadOnce()).
  absl::Status ReadOnce(const Body& body);
  // Read() of a history: takes long and delays no other.
  absl::Status ReadLong(const Body& body);
  // Returns once the anchor covers the dataset's entry `seq` (0: no entry). The server that committed the
  // entry may have died before its anchor did.
  absl::Status EnsureAnchored(const std::string& dataset_id, int64_t seq);
  // Outdated() once the ledger has another schema than this program.
  absl::Status CheckWritable();
  // After a write that the store refused: RefuseChanges(Outdated()) when the schema was the reason.
  absl::Status CheckSchema();
  // Refuses every change from now on, for this reason, and returns it.
  absl::Status RefuseChanges(const absl::Status& reason);
  // The dataset with the names that a verified history gives a damaged one; with `viewer` alone among the
  // grants unless that is empty.
  Dataset Restored(Dataset dataset, std::string_view viewer) const;
  // The only dataset for which `condition` (as in ReadDatasets()) holds of `key`; `missing` when there is
  // none. Where its row cannot be read: the refusal of its lineage, but `missing` for a viewer that may not
  // see it.
  absl::StatusOr<Dataset> FindDataset(std::string_view condition, std::string_view key,
                                      std::string_view viewer, const absl::Status& missing);
  // Those that the principal owns or was granted, with the grants that it may know.
  std::vector<Dataset> VisibleTo(const Principal& principal, std::vector<Dataset> datasets,
                                 const AlsoListed& also) const;
  // Those that do not contradict a verified history, shared as it says.
  std::vector<Release> Sound(std::vector<Release> releases) const;

  // Waits for the anchor, as AnchorDirectory::MakeDurable().
  absl::Status MakeDurable(int64_t point) noexcept;
  // For Options::observer.
  void NoteCharge(std::string_view dataset_id, std::string_view kind, ChargeOutcome outcome);
  void NoteDecided(const ChargeRequest& request, const absl::StatusOr<Attempt>& attempt);
  // `effect` of requests that were held, unless `made` refuses them.
  void NoteHeld(const std::vector<ChargeRequest>& requests, const absl::Status& made,
                const ReserveEffect& effect);
  // After `change` is committed: updates the head cache and returns the anchor point that covers the change.
  absl::StatusOr<int64_t> NoteCommitted(const WriteSet& change);

  // ---- Changes that share transactions (combined.cc)

  // Makes `change` together with others, or alone where it is large; on return it is durable and anchored.
  // Errors: its refusal; that of a read-only dataset; the store's.
  absl::Status MakeCombined(CombinedChange& change);
  // Makes `change` in a transaction of its own, in this lane.
  absl::Status MakeAlone(std::string_view lane, CombinedChange& change);
  // Commits the changes of one batch, without the anchor. Those of read-only datasets are refused, each by
  // itself.
  ChangeCombiner::BatchResult CommitBatch(const std::vector<CombinedChange*>& changes);
  // Per change, the refusal if its dataset is read-only.
  std::vector<absl::Status> RefusalsOf(const std::vector<CombinedChange*>& changes);
  // CommitBatch() without those that `refusals`, one per change, refuses.
  ChangeCombiner::BatchResult CommitAccepted(const std::vector<CombinedChange*>& changes,
                                             const std::vector<absl::Status>& refusals);
  // CommitBatch() where any damage fails all.
  ChangeCombiner::BatchResult CommitTogether(const std::vector<CombinedChange*>& changes);
  // In one round trip from cached heads (head_cache.h); none when that did not succeed, after which the batch
  // is decided again under locks.
  std::optional<ChangeCombiner::BatchResult> CommitOptimistically(
      const std::vector<CombinedChange*>& changes);
  ChangeCombiner::BatchResult CommitUnderLocks(const std::vector<CombinedChange*>& changes);

  absl::StatusOr<StoredCharge> ReadStoredCharge(std::string_view charge_id);
  // One step of one reservation, after its expiry if it is overdue.
  absl::StatusOr<StoredCharge> ChangeReservation(
      std::string_view charge_id, const ReservationChange::Step& step,
      ReservationChange::Reads reads = ReservationChange::Reads::kNothing);
  // The only charge that `select` finds by `key`, in its present state; `missing` when there is none.
  // `select_head` finds the newest entry of its chain by the same key.
  absl::StatusOr<Charge> FindOneCharge(Statement select, std::string_view select_head, const Parameters& key,
                                       const absl::Status& missing);
  // The charge once the anchor covers the entry by which it was started (0: it is not started), expired if it
  // is overdue at `now_us`.
  absl::StatusOr<Charge> Reportable(Charge charge, int64_t started_at_seq, int64_t now_us);
  // The charge in its present state: an overdue reservation is expired first, unless its dataset is
  // read-only. By the store's clock, which is read where `now_us` is not given.
  absl::StatusOr<Charge> ExpiredIfOverdue(Charge charge, std::optional<int64_t> now_us = std::nullopt);
  // Whether a reservation's deadline has passed, by a reading of the database's clock that can be trusted.
  bool IsOverdue(const Charge& charge, int64_t now_us);
  bool TrustsClock(int64_t now_us);
  // Deadline, id and dataset of the reservations that are overdue and come after those of the last call.
  absl::StatusOr<std::vector<Row>> NextOverdue(int64_t most) ABSL_EXCLUSIVE_LOCKS_REQUIRED(sweep_mutex_);

  absl::StatusOr<std::vector<PseudonymRow>> FindPseudonyms(std::string_view select,
                                                           const std::vector<std::string>& keys);

  std::string NewUuid();
  // A UUID of version 7: the time in milliseconds, so that new charges touch few pages of an index, and 74
  // random bits. Nothing counts charges: two ids show nothing of what was charged between them.
  std::string NewChargeId();

  // 2^51 to 2^52 - 1: random, of one length in every text, and below what a double can hold, so that every
  // reader of JSON keeps it.
  int64_t DrawAccountId();

  // Writes the payload before its T2 (staged_releases.h), which finds out when its place was lost meanwhile.
  // False when it has no place.
  absl::StatusOr<bool> Stage(const Attempt& attempt, std::string_view payload, std::string_view payload_hash);
  // Write() of a step of staging.
  absl::Status WriteStaged(const WriteBody& body);

  // T1 of one charge, in a batch unless its principal is known to repeat requests and this is one.
  absl::StatusOr<Attempt> Decide(const ChargeRequest& request, const ChargeIdentity& identity);
  // T1 of a charge whose key exists.
  absl::StatusOr<Attempt> DecideRepeated(const ChargeRequest& request, const ChargeIdentity& identity,
                                         const StoredCharge& stored);

  const std::unique_ptr<Database> database_;
  const int64_t schema_;  // that this program knows
  const Entropy entropy_;
  const Options options_;
  std::string ledger_id_;
  std::unique_ptr<AnchorDirectory> anchor_;
  HeadCache head_cache_;
  RepeatingPrincipals repeating_;
  DamageRegister damage_;
  ChangeCombiner combiner_;
  WriterPlaces writer_places_;  // of the changes that are not batches
  std::shared_mutex lanes_mutex_;
  std::map<std::string, std::string, std::less<>> lanes_ ABSL_GUARDED_BY(lanes_mutex_);  // by dataset id
  std::mutex uncounted_mutex_;
  // Datasets with many entries after their stored counts of events (event_counts.cc).
  std::set<std::string> uncounted_ ABSL_GUARDED_BY(uncounted_mutex_);
  std::mutex clock_mutex_;
  ClockWatch clock_watch_ ABSL_GUARDED_BY(clock_mutex_);
  std::mutex sweep_mutex_;
  int64_t swept_until_us_ ABSL_GUARDED_BY(sweep_mutex_) = 0;
  std::string swept_until_id_ ABSL_GUARDED_BY(sweep_mutex_);
  std::mutex mutex_;
  absl::Status refuses_changes_ ABSL_GUARDED_BY(mutex_);            // OK unless it does
  std::vector<std::string> lost_datasets_ ABSL_GUARDED_BY(mutex_);  // findings
  absl::Status server_damage_ ABSL_GUARDED_BY(mutex_);              // OK unless its history has findings
  struct MadeVerification {
    Verification verification;
    int64_t steady_us = 0;
  };
  std::map<std::string, MadeVerification, std::less<>> verifications_ ABSL_GUARDED_BY(mutex_);  // by dataset
  Turns turns_;                                                 // at passes: one is made at a time
  std::mutex checkpoints_mutex_;                                // held while one is written or removed
  std::condition_variable pass_asked_;                          // or the ledger is being destroyed
  std::set<std::string> asked_passes_ ABSL_GUARDED_BY(mutex_);  // over these lineages
  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> is_long_ = false;                 // the histories, when all were last verified
  std::atomic<bool> are_histories_verified_ = false;  // by a pass over everything since the start
  std::thread passes_;
};

}  // namespace curator::ledger::sql
