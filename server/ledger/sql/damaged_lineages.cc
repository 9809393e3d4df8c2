// Verifying lineages, and what happens when damage is found in one: that lineage is read-only, and no other.
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

// The names of the lineage's datasets, by id.
absl::StatusOr<std::map<std::string, std::string>> NamesInLineage(Transaction& transaction,
                                                                  const std::string& lineage_id) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT id, name FROM datasets WHERE lineage_id = $1", {lineage_id}));
  std::map<std::string, std::string> names;
  for (const Row& row : rows) names.emplace(row.Text(0), row.Text(1));
  return names;
}

absl::StatusOr<int64_t> CountAllEntries(Transaction& transaction) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT CAST(COALESCE(SUM(seq), 0) AS BIGINT) FROM chain_heads", {}));
  return rows.at(0).Integer(0);
}

absl::StatusOr<int64_t> CountEntries(Transaction& transaction, const std::string& lineage_id) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT CAST(COALESCE(SUM(h.seq), 0) AS BIGINT) FROM datasets d JOIN chain_heads h "
                          "ON h.dataset_id = d.id WHERE d.lineage_id = $1",
                          {lineage_id}));
  return rows.at(0).Integer(0);
}

// How far a pass over a number of entries has come. Thread-compatible.
class PassProgress {
 public:
  // Returns the percentage that is to be reported after `entries` more; none most of the time.
  std::optional<int64_t> Add(int64_t entries, int64_t all_entries) {
    constexpr int64_t kStep = 10;
    read_ += entries;
    const int64_t percent = std::min<int64_t>(100, read_ * 100 / std::max<int64_t>(1, all_entries));
    if (percent < reported_ + kStep) return std::nullopt;
    reported_ = percent - percent % kStep;
    return reported_;
  }

 private:
  int64_t read_ = 0;
  int64_t reported_ = 0;
};

}  // namespace

absl::Status SqlLedger::VerifyAll(Depth depth) {
  // The anchor is read first: the store can only be further.
  ASSIGN_OR_RETURN(const AnchorState anchored, anchor_->Read());
  std::vector<std::string> lineage_ids;
  std::vector<std::string> lost;
  int64_t all_entries = 0;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(lineage_ids, LineageIds(transaction));
    ASSIGN_OR_RETURN(lost, LostDatasets(transaction, anchored));
    ASSIGN_OR_RETURN(all_entries, CountAllEntries(transaction));
    return absl::OkStatus();
  }));
  is_long_ = all_entries >= options_.long_history;
  for (const std::string& finding : lost) {
    Notify(options_.report, "dataset_lost", finding);
  }
  {
    const std::scoped_lock lock(mutex_);
    lost_datasets_ = std::move(lost);
  }
  RETURN_IF_ERROR(VerifyServerHistory().status());
  AnchorState reached;
  int64_t entries = 0;
  int64_t damaged = 0;
  bool is_whole = true;
  PassProgress progress;
  const EntriesRead report_progress = [&](int64_t read) {
    const std::optional<int64_t> percent = progress.Add(read, all_entries);
    if (!percent || !is_long_) return;
    Notify(options_.report, "verifying_histories", absl::StrCat(*percent, "% of ", all_entries, " entries"));
  };
  for (const std::string& lineage_id : lineage_ids) {
    ASSIGN_OR_RETURN(const VerifiedLineage verified,
                     VerifyAndRegister(lineage_id, anchored, depth, report_progress));
    entries += verified.entries_checked;
    is_whole = is_whole && verified.is_whole;
    damaged += verified.ok() ? 0 : 1;
    if (verified.ok()) RETURN_IF_ERROR(Raise(reached, verified.reached));
  }
  Notify(options_.report, is_whole ? "histories_verified" : "new_entries_verified",
         absl::StrCat(lineage_ids.size(), " lineages, ", entries, " entries, ", damaged, " damaged"));
  if (is_whole) are_histories_verified_ = true;
  return anchor_->RaiseTo(reached);
}

void SqlLedger::RunPasses() {
  using std::chrono::microseconds;
  using std::chrono::steady_clock;
  constexpr microseconds kAfterFailure = std::chrono::minutes(1);
  auto next = steady_clock::now() + (are_histories_verified_ ? options_.pass_interval : microseconds::zero());
  while (true) {
    std::set<std::string> asked;
    {
      std::unique_lock lock(mutex_);
      pass_asked_.wait_until(lock, next, [this] { return is_stopping_.load() || !asked_passes_.empty(); });
      if (is_stopping_) return;
      asked.swap(asked_passes_);
    }
    const bool is_all = steady_clock::now() >= next;
    const absl::Status passed = PassOver(is_all, asked);
    const auto soon = steady_clock::now() + std::min(options_.pass_interval, kAfterFailure);
    if (is_all) next = passed.ok() ? steady_clock::now() + options_.pass_interval : soon;
    if (!is_all && !passed.ok()) next = std::min(next, soon);
    if (passed.ok() || is_stopping_) continue;
    Notify(options_.report, "histories_not_verified", std::string(passed.message()));
  }
}

absl::Status SqlLedger::PassOver(bool is_all, const std::set<std::string>& asked) {
  try {
    return is_all ? VerifyAll(Depth::kWhole) : VerifyAsked(asked);
  } catch (const std::bad_alloc&) {
    return absl::UnavailableError("the server is short of memory");
  }
}

absl::Status SqlLedger::VerifyAsked(const std::set<std::string>& lineage_ids) {
  ASSIGN_OR_RETURN(const AnchorState anchored, anchor_->Read());
  for (const std::string& lineage_id : lineage_ids) {
    RETURN_IF_ERROR(VerifyAndRegister(lineage_id, anchored, Depth::kWhole).status());
  }
  return absl::OkStatus();
}

SqlLedger::~SqlLedger() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
  }
  pass_asked_.notify_all();
  if (passes_.joinable()) passes_.join();
}

int64_t SqlLedger::SteadyUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

absl::StatusOr<Turns::Turn> SqlLedger::TakeTurn() {
  std::optional<Turns::Turn> turn = turns_.TakeWithin(options_.longest_wait);
  if (turn.has_value()) return *std::move(turn);
  return absl::UnavailableError("another history is being verified, which takes long: ask again later");
}

absl::StatusOr<VerifiedLineage> SqlLedger::VerifyAndRegister(const std::string& lineage_id,
                                                             const AnchorState& anchored, Depth depth,
                                                             const EntriesRead& on_read) {
  const Turns::Turn turn = turns_.Take();
  return VerifyInTurn(lineage_id, anchored, depth, on_read);
}

CheckpointName SqlLedger::CheckpointOf(const std::string& lineage_id) const {
  return {anchor_->path(), ledger_id_, lineage_id};
}

void SqlLedger::KeepCheckpoint(const VerifiedLineage& verified) {
  const std::string& id = verified.lineage_id;
  absl::Status kept;
  {
    // A charge that finds damage has it registered, and then waits here to remove the checkpoint.
    const std::scoped_lock lock(checkpoints_mutex_);
    if (damage_.IsDamaged(id)) {
      kept = RemoveCheckpoint(CheckpointOf(id));
    } else if (verified.is_whole && is_long_) {
      kept = WriteCheckpoint(CheckpointOf(id), verified.state);
    }
  }
  if (!kept.ok()) Notify(options_.report, "checkpoint_not_kept", std::string(kept.message()));
}

void SqlLedger::ForgetCheckpoint(const std::string& lineage_id) {
  absl::Status removed;
  {
    const std::scoped_lock lock(checkpoints_mutex_);
    removed = RemoveCheckpoint(CheckpointOf(lineage_id));
  }
  if (!removed.ok()) Notify(options_.report, "checkpoint_not_kept", std::string(removed.message()));
}

absl::StatusOr<bool> SqlLedger::HasAnchorRisen(const VerifiedLineage& verified, const AnchorState& anchored) {
  if (!verified.is_behind_anchor) return false;
  RETURN_IF_ERROR(anchor_->Refresh());
  for (const auto& [id, head] : verified.reached.heads) {
    ASSIGN_OR_RETURN(const ChainHead newest, anchor_->HeadOf(id));
    const auto known = anchored.heads.find(id);
    if (known == anchored.heads.end() || newest.seq > known->second.seq) return true;
  }
  return false;
}

absl::StatusOr<VerifiedLineage> SqlLedger::VerifyInTurn(const std::string& lineage_id,
                                                        const AnchorState& anchored, Depth depth,
                                                        const EntriesRead& on_read) {
  // The pass ends the damage that is known when it starts, so it has to read all of that, which may be older
  // than the checkpoint.
  const uint64_t pass = damage_.StartPass();
  const bool was_damaged = damage_.IsDamaged(lineage_id);
  PassOptions pass_options{.amount_text = options_.amount_text, .on_read = on_read};
  if (depth == Depth::kSinceCheckpoint && is_long_ && !was_damaged) {
    pass_options.checkpoint = ReadCheckpoint(CheckpointOf(lineage_id));
  }
  const auto read = [this](const Body& body) -> absl::Status {
    if (is_stopping_) return absl::CancelledError("the ledger is being closed");
    return ReadLong(body);
  };
  ASSIGN_OR_RETURN(VerifiedLineage verified,
                   VerifyLineage(read, anchored, lineage_id, std::move(pass_options)));
  // Against the older state of the anchor, a lineage that was repaired meanwhile is behind it.
  std::optional<AnchorState> newer;
  ASSIGN_OR_RETURN(const bool has_risen, HasAnchorRisen(verified, anchored));
  if (has_risen) {
    ASSIGN_OR_RETURN(newer, anchor_->Read());
    ASSIGN_OR_RETURN(verified,
                     VerifyLineage(read, *newer, lineage_id, {.amount_text = options_.amount_text}));
  }
  if (!verified.ok()) ForgetCheckpoint(lineage_id);
  std::map<std::string, std::string> names;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(names, NamesInLineage(transaction, lineage_id));
    return absl::OkStatus();
  }));
  damage_.FinishPass(verified, names, pass);
  KeepCheckpoint(verified);
  for (const std::string& finding : verified.findings.kept()) {
    Notify(options_.report, "dataset_damaged", finding);
  }
  if (was_damaged && !damage_.IsDamaged(lineage_id)) {
    for (const auto& [id, name] : names) {
      Notify(options_.report, "dataset_sound_again", absl::StrCat("dataset \"", name, "\""));
    }
  }
  const int64_t made_at_us = std::chrono::duration_cast<std::chrono::microseconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, name] : names) {
    Verification verification = VerificationOf(verified, newer.has_value() ? *newer : anchored, id);
    verification.made_at_us = made_at_us;
    verifications_.insert_or_assign(id, MadeVerification{std::move(verification), options_.steady_us()});
  }
  return verified;
}

std::optional<Verification> SqlLedger::FindVerification(std::string_view dataset_id, int64_t most_age_us) {
  const std::scoped_lock lock(mutex_);
  const auto found = verifications_.find(dataset_id);
  if (found == verifications_.end()) return std::nullopt;
  if (options_.steady_us() - found->second.steady_us > most_age_us) return std::nullopt;
  return found->second.verification;
}

absl::StatusOr<Verification> SqlLedger::VerifyDatasetInTurn(std::string_view dataset_id) {
  // The anchor is read first: the store can only be further.
  ASSIGN_OR_RETURN(const AnchorState anchored, anchor_->Read());
  ASSIGN_OR_RETURN(const std::string lineage_id, LineageOf(dataset_id));
  RETURN_IF_ERROR(VerifyInTurn(lineage_id, anchored, Depth::kSinceCheckpoint).status());
  std::optional<Verification> made = FindVerification(dataset_id, std::numeric_limits<int64_t>::max());
  if (!made.has_value())
    return absl::AbortedError("the dataset has changed its lineage meanwhile: ask again");
  return *std::move(made);
}

absl::StatusOr<Verification> SqlLedger::Verify(std::string_view dataset_id) {
  const Turns::Turn turn = turns_.Take();
  return VerifyDatasetInTurn(dataset_id);
}

absl::Status SqlLedger::CheckIsShort(std::string_view dataset_id) {
  // The pass reads the whole lineage, but the caller may not know of its other datasets.
  int64_t entries = 0;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute("SELECT seq FROM chain_heads WHERE dataset_id = $1", {std::string(dataset_id)}));
    if (rows.empty()) return absl::NotFoundError("there is no such dataset");
    entries = rows.front().Integer(0);
    return absl::OkStatus();
  }));
  if (entries <= options_.short_history) return absl::OkStatus();
  return absl::UnavailableError(
      "this history has not been verified since the server was started: its owner may have it verified now, "
      "and the server does so daily");
}

absl::StatusOr<Verification> SqlLedger::LastVerification(std::string_view dataset_id,
                                                         std::optional<int64_t> most_age_us,
                                                         const BeforePass& before_pass) {
  const int64_t most_us = most_age_us.value_or(std::numeric_limits<int64_t>::max());
  std::optional<Verification> last = FindVerification(dataset_id, most_us);
  if (!last.has_value()) {
    ASSIGN_OR_RETURN(const Turns::Turn turn, TakeTurn());
    last = FindVerification(dataset_id, most_us);
    if (!last.has_value()) {
      if (!most_age_us.has_value()) RETURN_IF_ERROR(CheckIsShort(dataset_id));
      if (before_pass) RETURN_IF_ERROR(before_pass());
      return VerifyDatasetInTurn(dataset_id);
    }
  }
  // The history may have grown since: receipts are compared with its head as it is now.
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(
        const std::vector<Row> heads,
        transaction.Execute("SELECT hash FROM chain_heads WHERE dataset_id = $1", {std::string(dataset_id)}));
    last->head_hash = heads.empty() ? std::string() : heads.front().Blob(0);
    return absl::OkStatus();
  }));
  return *std::move(last);
}

absl::StatusOr<std::string> SqlLedger::LineageOf(std::string_view dataset_id) {
  std::string lineage_id;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute("SELECT lineage_id FROM datasets WHERE id = $1", {std::string(dataset_id)}));
    if (rows.empty()) return absl::NotFoundError("there is no such dataset");
    lineage_id = rows.front().Text(0);
    return absl::OkStatus();
  }));
  return lineage_id;
}

absl::Status SqlLedger::RefuseDamaged(const absl::Status& status, const WriteSet* change) {
  if (IsDatasetReadOnly(status)) return status;
  std::optional<DamageSite> site = DamageSiteOf(status);
  if (!site.has_value() && change != nullptr && change->datasets().size() == 1) {
    site = DamageSite{.dataset_id = change->datasets().begin()->first};
  }
  // Without a dataset that it concerns, only this change is refused.
  if (!site.has_value()) return status;
  if (site->lineage_id.empty()) {
    ASSIGN_OR_RETURN(site->lineage_id, LineageOf(site->dataset_id));
    std::map<std::string, std::string> names;
    RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(names, NamesInLineage(transaction, site->lineage_id));
      return absl::OkStatus();
    }));
    site->dataset_name = names[site->dataset_id];
  }
  Notify(options_.report, "dataset_damaged",
         absl::StrCat("dataset \"", site->dataset_name, "\": ", std::string(status.message())));
  damage_.Add(*site);
  // What a charge has found may be older than the checkpoint, so the next start reads everything.
  ForgetCheckpoint(site->lineage_id);
  return damage_.CheckDataset(site->dataset_id);
}

void SqlLedger::AskForPassIfGrown(const absl::Status& refusal) {
  const std::optional<DamageSite> site = DamageSiteOf(refusal);
  if (!site.has_value() || !site->is_behind_anchor) return;
  int64_t entries = 0;
  const absl::Status counted = Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(entries, CountEntries(transaction, site->lineage_id));
    return absl::OkStatus();
  });
  if (!counted.ok() || !damage_.HasGrown(site->lineage_id, entries)) return;
  {
    const std::scoped_lock lock(mutex_);
    asked_passes_.insert(site->lineage_id);
  }
  pass_asked_.notify_all();
}

absl::Status SqlLedger::CheckNoDatasetIsLost() {
  const std::scoped_lock lock(mutex_);
  if (lost_datasets_.empty()) return absl::OkStatus();
  return absl::DataLossError(
      "the anchor knows datasets that the database does not have, as after a restored backup: no dataset and "
      "no account can be created, because it could take the place of a lost one. The server's administrator "
      "restores the newest copy of the database");
}

// ---- Charges

absl::StatusOr<Attempt> SqlLedger::ReplayOnly(const ChargeRequest& request, const absl::Status& refusal) {
  std::vector<StoredCharge> found;
  const absl::Status read = Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(found, ReadCharges(transaction, "c.principal = $1 AND c.request_id = $2",
                                        {request.principal.name(), request.request_id}));
    return absl::OkStatus();
  });
  const bool is_stored = read.ok() && !found.empty() && !found.front().charge.release_id.empty() &&
                         IsSameRequest(found.front().charge, request);
  if (!is_stored) return refusal;
  Attempt attempt;
  attempt.charge = std::move(found.front().charge);
  ASSIGN_OR_RETURN(attempt.release, GetRelease(attempt.charge.release_id));
  return attempt;
}

}  // namespace curator::ledger::sql
