// The ledger over any sql::Database: keys, admission, states, chains and the anchor, once for all stores.
//
// Thread-safe. Errors and guarantees are those of ledger.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_directory.h"
#include "ledger/ledger.h"
#include "ledger/report.h"
#include "ledger/sql/charge_combiner.h"
#include "ledger/sql/clock_watch.h"
#include "ledger/sql/database.h"
#include "ledger/sql/head_cache.h"
#include "ledger/sql/repeating_principals.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/write_set.h"

namespace curator::ledger::sql {

// Returns the requested number of unpredictable bytes. Thread-safe.
using Entropy = std::function<std::string(size_t)>;

class SqlLedger final : public Ledger {
 public:
  // `database` has its schema. Compares all histories with the anchor; if they contradict it, the ledger
  // opens read-only, so that stored releases remain readable.
  static absl::StatusOr<std::unique_ptr<SqlLedger>> Open(std::unique_ptr<Database> database,
                                                         std::string_view anchor_directory, Entropy entropy,
                                                         Report report = {});

  // Recounts every history and compares it with the tables and the anchor. A contradiction turns the ledger
  // read-only. For a ledger whose schema has just changed, before it is charged.
  absl::Status VerifyAfterUpgrade();

  std::string LedgerId() override { return ledger_id_; }
  absl::Status Health() override;
  absl::StatusOr<Dataset> CreateDataset(const DatasetSpec& spec) override;
  absl::StatusOr<Dataset> GetDataset(std::string_view name) override;
  absl::StatusOr<std::vector<Dataset>> ListDatasets() override;
  absl::StatusOr<Dataset> SealDataset(std::string_view dataset_id, std::string_view content_hash,
                                      const Principal& actor) override;
  absl::StatusOr<Dataset> AddPart(const NewPart& part) override;
  absl::StatusOr<Dataset> SealPart(std::string_view dataset_id, std::string_view part,
                                   std::string_view content_hash, const Principal& actor) override;
  absl::Status ArchiveDataset(std::string_view dataset_id, const Principal& actor) override;
  absl::Status Grant(std::string_view dataset_id, std::string_view grantee, const Principal& actor) override;
  absl::Status RecordOwnerAction(std::string_view dataset_id, std::string_view what,
                                 const Principal& actor) override;
  absl::StatusOr<Account> CreateAccount(const NewAccount& account) override;
  absl::StatusOr<std::vector<Account>> ListAccounts(std::string_view dataset_id) override;
  absl::StatusOr<Attempt> Begin(const ChargeRequest& request) override;
  absl::StatusOr<Attempt> TakeOver(std::string_view charge_id) override;
  absl::StatusOr<Charge> Queue(const ChargeRequest& request, int64_t lifetime_us) override;
  absl::StatusOr<Attempt> StartQueued(std::string_view charge_id, std::string_view sealed_key) override;
  absl::StatusOr<Release> Store(const Attempt& attempt, std::string_view payload) override;
  absl::Status Forfeit(const Attempt& attempt, std::string_view reason) override;
  absl::StatusOr<std::vector<Charge>> Reserve(const std::vector<ChargeRequest>& requests,
                                              int64_t lifetime_us) override;
  absl::StatusOr<Charge> StartReserved(std::string_view charge_id, const std::vector<Posting>& final_cost,
                                       const Principal& actor) override;
  absl::StatusOr<Charge> CommitReserved(std::string_view charge_id, const Principal& actor) override;
  absl::StatusOr<Charge> CancelReserved(std::string_view charge_id, std::string_view reason,
                                        const Principal& actor) override;
  absl::StatusOr<Charge> ExtendReserved(std::string_view charge_id, int64_t lifetime_us,
                                        const Principal& actor) override;
  absl::StatusOr<int64_t> ExpireReservations() override;
  absl::StatusOr<LimitProposal> ProposeLimit(const LimitProposalSpec& spec) override;
  absl::StatusOr<LimitProposal> ApproveLimit(std::string_view proposal_id, const Principal& actor) override;
  absl::StatusOr<std::vector<LimitProposal>> ListLimitProposals(std::string_view dataset_id) override;
  absl::StatusOr<Charge> GetCharge(std::string_view charge_id) override;
  absl::StatusOr<Charge> FindCharge(const Principal& principal, std::string_view request_id) override;
  absl::StatusOr<std::vector<Charge>> ListCharges(const Principal& principal) override;
  absl::StatusOr<Charge> LatestCharge(std::string_view dataset_id, const Principal& principal) override;
  absl::StatusOr<std::vector<EventCount>> CountEvents(std::string_view dataset_id, std::string_view principal,
                                                      int64_t most) override;
  absl::StatusOr<Entry> ChargeEntry(std::string_view charge_id) override;
  absl::StatusOr<Release> GetRelease(std::string_view release_id) override;
  absl::Status ShareRelease(std::string_view release_id, std::string_view grantee,
                            const Principal& actor) override;
  absl::StatusOr<std::vector<Release>> ListReleases(std::string_view dataset_id) override;
  absl::StatusOr<std::vector<Entry>> ListEntries(std::string_view dataset_id, const Page& page) override;
  absl::StatusOr<Verification> Verify(std::string_view dataset_id) override;
  absl::StatusOr<RepairReport> RaiseToAnchor(const RepairOrder& order) override;

 private:
  using WriteBody = std::function<absl::Status(WriteSet&)>;

  SqlLedger(std::unique_ptr<Database> database, Entropy entropy, Report report);

  absl::StatusOr<std::string> ReadOrCreateIdentity();
  // Verify() against `anchored` instead of the anchor.
  absl::StatusOr<Verification> VerifyAgainst(std::string_view dataset_id, const AnchorState& anchored);
  // Compares every chain and counter with the anchor, and raises the anchor to chains that continue it.
  absl::Status CompareWithAnchor();

  // Runs `body` in a transaction until the outcome is known, then makes the anchor cover the change. `body`
  // may run several times, and a later run may find what an earlier one wrote: it looks up its key first.
  absl::Status Write(const WriteBody& body);
  // Write() without the last step: returns the anchor point that must be durable before the change is
  // reported.
  absl::StatusOr<int64_t> WriteToStore(const WriteBody& body);
  absl::Status Read(const Body& body);
  // Returns once the anchor covers the dataset's entry `seq` (0: no entry). The server that committed the
  // entry may have died before its anchor did.
  absl::Status EnsureAnchored(const std::string& dataset_id, int64_t seq);
  // DATA_LOSS once the ledger has turned read-only, Outdated() once it has another schema than this program.
  absl::Status CheckWritable();
  // After a write that the store refused: TurnReadOnly(Outdated()) when the schema was the reason.
  absl::Status CheckSchema();
  absl::Status TurnReadOnly(const absl::Status& reason);
  // CheckWritable(). A ledger that is read-only because it was behind its anchor compares again once its
  // histories have grown, because another server may have repaired them.
  absl::Status RecheckIfRepaired();
  absl::StatusOr<int64_t> CountEntries();

  // After `change` is committed: updates the head cache and returns the anchor point that covers the change.
  absl::StatusOr<int64_t> NoteCommitted(const WriteSet& change);

  // ChargeBatch() in one round trip from cached heads (head_cache.h); none when that did not succeed, after
  // which the batch is decided again under locks.
  std::optional<ChargeCombiner::BatchResult> ChargeOptimistically(std::vector<ProposedCharge>& proposed);
  // T1 of all of `proposed` under locks, without the anchor.
  ChargeCombiner::BatchResult ChargeUnderLocks(const std::vector<ProposedCharge>& proposed);
  // T1 of all of `proposed`, without the anchor.
  ChargeCombiner::BatchResult ChargeBatch(std::vector<ProposedCharge>& proposed);

  absl::StatusOr<StoredCharge> ReadStoredCharge(std::string_view charge_id);
  // One step of one reservation, with its chain and its counters locked and its expiry applied.
  using ReservationStep = std::function<absl::Status(WriteSet& change, const StoredCharge& stored)>;
  absl::StatusOr<Charge> ChangeReservation(std::string_view charge_id, const ReservationStep& step);
  // The charge in its present state: an overdue reservation is expired first.
  absl::StatusOr<Charge> ExpiredIfOverdue(Charge charge);
  // Whether a reservation's deadline has passed, by a reading of the database's clock that can be trusted.
  bool IsOverdue(const Charge& charge, int64_t now_us);
  bool TrustsClock(int64_t now_us);
  // Deadline, id and dataset of the reservations that are overdue and come after those of the last call.
  absl::StatusOr<std::vector<Row>> NextOverdue(int64_t most) ABSL_EXCLUSIVE_LOCKS_REQUIRED(sweep_mutex_);

  std::string NewUuid();
  // A UUID that sorts next to those of the charges made before and after it, so that new charges touch few
  // pages of an index.
  std::string NewChargeId();

  // T1 of one charge, in a batch unless its principal is known to repeat requests and this is one.
  absl::StatusOr<Attempt> Decide(ProposedCharge proposed);
  // T1 of a charge whose key exists.
  absl::StatusOr<Attempt> DecideRepeated(const ProposedCharge& proposed, StoredCharge stored);

  const std::unique_ptr<Database> database_;
  const int64_t schema_;  // that this program knows
  const Entropy entropy_;
  // 8 unpredictable bytes, so that no two servers and no two runs make the same ids.
  const std::string charge_id_start_;
  std::atomic<uint64_t> charge_ids_made_ = 0;
  std::string ledger_id_;
  std::unique_ptr<AnchorDirectory> anchor_;
  HeadCache head_cache_;
  RepeatingPrincipals repeating_;
  ChargeCombiner combiner_;
  std::atomic<int64_t> entries_at_last_check_ = -1;
  const Report report_;
  std::mutex clock_mutex_;
  ClockWatch clock_watch_ ABSL_GUARDED_BY(clock_mutex_);
  std::mutex sweep_mutex_;
  int64_t swept_until_us_ ABSL_GUARDED_BY(sweep_mutex_) = 0;
  std::string swept_until_id_ ABSL_GUARDED_BY(sweep_mutex_);
  std::mutex mutex_;
  absl::Status read_only_reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::ledger::sql
