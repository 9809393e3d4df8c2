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
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_directory.h"
#include "ledger/ledger.h"
#include "ledger/sql/charge_combiner.h"
#include "ledger/sql/damage.h"
#include "ledger/sql/database.h"
#include "ledger/sql/head_cache.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/verify.h"
#include "ledger/sql/write_set.h"

namespace curator::ledger::sql {

// Returns the requested number of unpredictable bytes. Thread-safe.
using Entropy = std::function<std::string(size_t)>;

class SqlLedger final : public Ledger {
 public:
  struct Options {
    AmountText amount_text = IntegerText;
    Notify notify = [](const Notice&) {};
    // Microseconds of a clock that never jumps.
    std::function<int64_t()> steady_us = SteadyUs;
    // From the end of one pass over all lineages to the beginning of the next.
    std::chrono::microseconds pass_interval = std::chrono::hours(24);
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
  absl::Status DatasetHealth(std::string_view dataset_id) override {
    return damage_.CheckDataset(dataset_id);
  }
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
  absl::StatusOr<Verification> LastVerification(std::string_view dataset_id, int64_t most_age_us) override;
  absl::StatusOr<RepairReport> RaiseToAnchor(const RepairOrder& order) override;

 private:
  using WriteBody = std::function<absl::Status(WriteSet&)>;

  SqlLedger(std::unique_ptr<Database> database, Entropy entropy, Options options);

  absl::StatusOr<std::string> ReadOrCreateIdentity();

  // ---- Damage (damaged_lineages.cc)

  // Verifies every lineage, and raises the anchor to the histories that continue it. CANCELLED once the
  // ledger is being destroyed.
  absl::Status VerifyAll();
  // Runs on `passes_`: VerifyAll() at every interval.
  void RunPasses();
  // Verifies one lineage against `anchored`. It is read-only from then on exactly if something was found.
  absl::StatusOr<VerifiedLineage> VerifyAndRegister(const std::string& lineage_id,
                                                    const AnchorState& anchored);
  // VerifyAndRegister() of the dataset's lineage under `pass_mutex_`, which the caller holds.
  absl::StatusOr<Verification> VerifyDataset(std::string_view dataset_id);
  absl::StatusOr<VerifiedLineage> VerifyUnderLock(const std::string& lineage_id, const AnchorState& anchored);
  // The last result about the dataset if it is not older.
  std::optional<Verification> FindVerification(std::string_view dataset_id, int64_t most_age_us);
  // The lineage of a dataset; NOT_FOUND.
  absl::StatusOr<std::string> LineageOf(std::string_view dataset_id);
  // For a transaction that ended with DATA_LOSS: makes the lineage where the damage is read-only, and returns
  // the refusal for clients. `change` is what the transaction had locked; it may be null.
  absl::Status RefuseDamaged(const absl::Status& status, const WriteSet* change);
  // Whether the lineage that `refusal` concerns has been repaired by another server: one that was behind its
  // anchor is verified again once its history has grown.
  bool IsRepaired(const absl::Status& refusal);
  // Per charge, the refusal if its dataset is read-only.
  std::vector<absl::Status> RefusalsOf(const std::vector<ProposedCharge>& proposed);
  // Finds the stored release of a request that `refusal` refuses to charge; else returns `refusal`.
  absl::StatusOr<Attempt> ReplayOnly(const ChargeRequest& request, const absl::Status& refusal);
  // DATA_LOSS when the anchor knows datasets that the database does not have: new datasets and accounts could
  // then take the place of lost ones, whose spent budget would be forgotten.
  absl::Status CheckNoDatasetIsLost();

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

  // After `change` is committed: updates the head cache and returns the anchor point that covers the change.
  absl::StatusOr<int64_t> NoteCommitted(const WriteSet& change);

  // ChargeBatch() in one round trip from cached heads (head_cache.h); none when that did not succeed, after
  // which the batch is decided again under locks.
  std::optional<ChargeCombiner::BatchResult> ChargeOptimistically(std::vector<ProposedCharge>& proposed);
  // T1 of all of `proposed`, without the anchor. Charges on read-only datasets are refused, each by itself.
  ChargeCombiner::BatchResult ChargeBatch(std::vector<ProposedCharge>& proposed);
  // ChargeBatch() without those that `refusals`, one per charge, refuses.
  ChargeCombiner::BatchResult ChargeAccepted(const std::vector<ProposedCharge>& proposed,
                                             const std::vector<absl::Status>& refusals);
  // ChargeBatch() where any damage fails all.
  ChargeCombiner::BatchResult ChargeTogether(std::vector<ProposedCharge>& proposed);

  // One step of one reservation, with its chain and its counters locked and its expiry applied.
  using ReservationStep = std::function<absl::Status(WriteSet& change, const Charge& charge)>;
  absl::StatusOr<Charge> ChangeReservation(std::string_view charge_id, const ReservationStep& step);
  // The charge in its present state: an overdue reservation is expired first.
  absl::StatusOr<Charge> ExpiredIfOverdue(Charge charge);

  std::string NewUuid();
  // A UUID that sorts next to those of the charges made before and after it, so that new charges touch few
  // pages of an index.
  std::string NewChargeId();

  const std::unique_ptr<Database> database_;
  const Entropy entropy_;
  const Options options_;
  // 8 unpredictable bytes, so that no two servers and no two runs make the same ids.
  const std::string charge_id_start_;
  std::atomic<uint64_t> charge_ids_made_ = 0;
  std::string ledger_id_;
  std::unique_ptr<AnchorDirectory> anchor_;
  HeadCache head_cache_;
  DamageRegister damage_;
  ChargeCombiner combiner_;
  std::mutex mutex_;
  std::vector<std::string> lost_datasets_ ABSL_GUARDED_BY(mutex_);  // findings
  struct MadeVerification {
    Verification verification;
    int64_t steady_us = 0;
  };
  std::map<std::string, MadeVerification, std::less<>> verifications_ ABSL_GUARDED_BY(mutex_);  // by dataset
  std::mutex pass_mutex_;  // held while a lineage is verified; taken before mutex_
  std::condition_variable stopped_;
  std::atomic<bool> is_stopping_ = false;
  std::thread passes_;
};

}  // namespace curator::ledger::sql
