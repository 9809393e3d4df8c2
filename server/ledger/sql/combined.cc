// Changes that share transactions: how a batch is committed, and what becomes of a change that fits none.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

// A larger one would hold up its batch for longer than a commit takes.
constexpr size_t kMostCombinedBytes = size_t{1} << 20;

Needs NeedsOf(const std::vector<CombinedChange*>& changes) {
  Needs needs;
  for (const CombinedChange* const each : changes) each->AddNeeds(needs);
  return needs;
}

}  // namespace

absl::Status SqlLedger::MakeCombined(CombinedChange& change) {
  // On the caller's thread: what a read-only dataset costs delays no batch, which has changes of others.
  if (const absl::Status refusal = damage_.CheckDataset(change.dataset_id()); !refusal.ok()) {
    AskForPassIfGrown(refusal);
    return refusal;
  }
  ASSIGN_OR_RETURN(const std::string lane, LaneOf(change.dataset_id()));
  return change.bytes() > kMostCombinedBytes ? MakeAlone(lane, change) : combiner_.Make(lane, change);
}

absl::Status SqlLedger::MakeAlone(std::string_view lane, CombinedChange& change) {
  ChangeCombiner::BatchResult alone;
  {
    ASSIGN_OR_RETURN(const WriterPlaces::Place place, EnterLane(lane));
    const auto began = std::chrono::steady_clock::now();
    alone = CommitUnderLocks({&change});
    if (options_.observer != nullptr) {
      options_.observer->OnCommit(std::chrono::steady_clock::now() - began, 1, alone.anchor_point.status());
    }
  }
  RETURN_IF_ERROR(alone.anchor_point.status());
  RETURN_IF_ERROR(MakeDurable(*alone.anchor_point));
  return alone.results.front();
}

std::vector<absl::Status> SqlLedger::RefusalsOf(const std::vector<CombinedChange*>& changes) {
  std::vector<absl::Status> refusals;
  refusals.reserve(changes.size());
  for (const CombinedChange* const each : changes) {
    refusals.push_back(damage_.CheckDataset(each->dataset_id()));
  }
  return refusals;
}

ChangeCombiner::BatchResult SqlLedger::CommitBatch(const std::vector<CombinedChange*>& changes) {
  // Damage that a transaction finds fails all of it; it runs again without the changes that this concerns.
  for (size_t runs = 1;; ++runs) {
    const std::vector<absl::Status> refusals = RefusalsOf(changes);
    const bool is_any_refused = !std::ranges::all_of(refusals, &absl::Status::ok);
    ChangeCombiner::BatchResult together =
        is_any_refused ? CommitAccepted(changes, refusals) : CommitTogether(changes);
    if (!IsDatasetReadOnly(together.anchor_point.status()) || runs > changes.size()) return together;
  }
}

ChangeCombiner::BatchResult SqlLedger::CommitAccepted(const std::vector<CombinedChange*>& changes,
                                                      const std::vector<absl::Status>& refusals) {
  std::vector<CombinedChange*> accepted;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (refusals[i].ok()) accepted.push_back(changes[i]);
  }
  ChangeCombiner::BatchResult together{{}, int64_t{0}};
  if (!accepted.empty()) together = CommitTogether(accepted);
  if (!together.anchor_point.ok()) return together;
  ChangeCombiner::Results results = refusals;
  size_t next = 0;
  for (absl::Status& result : results) {
    if (result.ok()) result = std::move(together.results[next++]);
  }
  return {std::move(results), std::move(together.anchor_point)};
}

ChangeCombiner::BatchResult SqlLedger::CommitTogether(const std::vector<CombinedChange*>& changes) {
  if (auto result = CommitOptimistically(changes); result.has_value()) return *std::move(result);
  return CommitUnderLocks(changes);
}

ChangeCombiner::BatchResult SqlLedger::CommitUnderLocks(const std::vector<CombinedChange*>& changes) {
  ChangeCombiner::Results results;
  absl::StatusOr<int64_t> point = WriteToStore([&](WriteSet& change) -> absl::Status {
    ASSIGN_OR_RETURN(results, DecideTogether(change, changes));
    return absl::OkStatus();
  });
  return {std::move(results), std::move(point)};
}

std::optional<ChangeCombiner::BatchResult> SqlLedger::CommitOptimistically(
    const std::vector<CombinedChange*>& changes) {
  const Needs needs = NeedsOf(changes);
  const std::optional<CachedHeads> cached = head_cache_.Find(needs.dataset_ids, needs.account_ids);
  if (!cached.has_value() || !CheckWritable().ok() || !anchor_->Refresh().ok()) return std::nullopt;
  for (const auto& [id, dataset] : cached->datasets) {
    const DamageSite site{.dataset_id = id, .dataset_name = dataset.name, .lineage_id = dataset.lineage_id};
    if (!damage_.CheckLineage(site).ok()) return std::nullopt;
  }
  std::unique_ptr<WriteSet> change;
  const Outcome outcome = database_->Write([&](Transaction& transaction) -> absl::Status {
    change = std::make_unique<WriteSet>(transaction, database_->dialect(), *anchor_, schema_, &damage_);
    RETURN_IF_ERROR(change->StartFromCache(*cached));
    change->MarkChargesOnly();
    for (CombinedChange* const each : changes) {
      if (!each->DecideOptimistically(*change).ok())
        return absl::AbortedError("a change is not decided by what is cached");
    }
    return change->Flush();
  });
  if (outcome.ending == Ending::kDone) {
    head_cache_.RecordHit(needs.dataset_ids);
    return ChangeCombiner::BatchResult{ChangeCombiner::Results(changes.size()), NoteCommitted(*change)};
  }
  // A batch that was refused before anything was sent has cost no round trip. A conflict is about a key that
  // was charged before, and says nothing about heads: under locks that charge is found, and the others are
  // made.
  const bool is_miss = outcome.ending != Ending::kRefused && outcome.ending != Ending::kConflict;
  if (is_miss) head_cache_.RecordMiss(needs.dataset_ids);
  const bool cannot_write = outcome.ending == Ending::kFailed && absl::IsUnavailable(outcome.status);
  if (!cannot_write) return std::nullopt;
  return ChangeCombiner::BatchResult{{}, outcome.status};
}

}  // namespace curator::ledger::sql
