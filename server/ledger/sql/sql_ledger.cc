#include "ledger/sql/sql_ledger.h"

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "ledger/sql/migrations.h"

namespace curator::ledger::sql {
namespace {

// The first 16 of `bytes`.
std::string UuidOf(std::string_view bytes, int version) {
  std::array<uint8_t, 16> uuid;
  std::memcpy(uuid.data(), bytes.data(), uuid.size());
  return UuidText(uuid, version);
}

// A read that was lost, or that lost against another transaction, has changed nothing.
absl::Status ReadTwiceIfLost(const std::function<Outcome()>& read) {
  Outcome outcome = read();
  if (outcome.ending == Ending::kUnknown || outcome.ending == Ending::kConflict) outcome = read();
  return outcome.status;
}

// In the store at once. PostgreSQL has as many connections for writers as both together, and two for repairs
// and the counts of events.
constexpr size_t kMostBatches = 6;
constexpr size_t kMostChanges = 6;
constexpr size_t kMostChangesOfALane = 2;
constexpr size_t kNoBound = std::numeric_limits<size_t>::max();

}  // namespace

SqlLedger::SqlLedger(std::unique_ptr<Database> database, Entropy entropy, Options options)
    : database_(std::move(database)),
      schema_(NewestSchema(database_->dialect(), EmbeddedMigrations())),
      entropy_(std::move(entropy)),
      options_(std::move(options)),
      combiner_(
          ChangeCombiner::Bounds{.most_in_store = HasOneWriter(database_->dialect()) ? 1 : kMostBatches},
          [this](const std::vector<CombinedChange*>& changes) {
            const auto began = std::chrono::steady_clock::now();
            ChangeCombiner::BatchResult result = CommitBatch(changes);
            if (options_.observer != nullptr) {
              options_.observer->OnCommit(std::chrono::steady_clock::now() - began, changes.size(),
                                          result.anchor_point.status());
            }
            return result;
          },
          [this](int64_t point) { return MakeDurable(point); }),
      // One writer has a queue of its own, in the order of the requests.
      writer_places_(HasOneWriter(database_->dialect()) ? kNoBound : kMostChangesOfALane,
                     HasOneWriter(database_->dialect()) ? kNoBound : kMostChanges) {}

absl::StatusOr<std::unique_ptr<SqlLedger>> SqlLedger::Open(std::unique_ptr<Database> database,
                                                           std::string_view anchor_directory, Entropy entropy,
                                                           Options options) {
  std::unique_ptr<SqlLedger> ledger(
      new SqlLedger(std::move(database), std::move(entropy), std::move(options)));
  ASSIGN_OR_RETURN(ledger->ledger_id_, ledger->ReadOrCreateIdentity());
  ASSIGN_OR_RETURN(ledger->anchor_, AnchorDirectory::Open(anchor_directory, ledger->ledger_id_));
  RETURN_IF_ERROR(ledger->VerifyAll(Depth::kSinceCheckpoint));
  ledger->passes_ = std::thread([opened = ledger.get()] { opened->RunPasses(); });
  return ledger;
}

absl::StatusOr<std::string> SqlLedger::ReadOrCreateIdentity() {
  const std::string new_id = NewUuid();
  const std::string insert = absl::StrCat(
      "INSERT INTO ledger_identity (only_row, ledger_uuid, created_at_us) SELECT 1, $1, ",
      std::string(database_->dialect().now_us), " WHERE NOT EXISTS (SELECT 1 FROM ledger_identity)");
  std::string uuid;
  const auto read = [&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute("SELECT ledger_uuid FROM ledger_identity", {}));
    uuid = rows.empty() ? std::string() : rows.front().Text(0);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(Read(read));
  if (!uuid.empty()) return uuid;
  // A conflict means that another server created it meanwhile: it is read below either way.
  const Outcome made = database_->Write(
      [&](Transaction& transaction) { return transaction.Execute(insert, {new_id}).status(); });
  if (made.ending != Ending::kConflict) RETURN_IF_ERROR(made.status);
  RETURN_IF_ERROR(Read(read));
  return uuid;
}

absl::StatusOr<std::string> SqlLedger::LaneOf(std::string_view dataset_id) {
  if (dataset_id.empty() || HasOneWriter(database_->dialect())) return std::string();
  {
    const std::shared_lock lock(lanes_mutex_);
    if (const auto known = lanes_.find(dataset_id); known != lanes_.end()) return known->second;
  }
  absl::StatusOr<std::string> lineage = LineageOf(dataset_id);
  if (absl::IsNotFound(lineage.status())) return std::string();
  RETURN_IF_ERROR(lineage.status());
  // A dataset never changes its lineage. Beyond the bound all are read again.
  constexpr size_t kMostLanes = 10'000;
  const std::scoped_lock lock(lanes_mutex_);
  if (lanes_.size() >= kMostLanes) lanes_.clear();
  lanes_.emplace(dataset_id, *lineage);
  return lineage;
}

absl::StatusOr<WriterPlaces::Place> SqlLedger::EnterLane(std::string_view lane) {
  constexpr std::chrono::milliseconds kLongestWait = std::chrono::seconds(10);
  std::optional<WriterPlaces::Place> place = writer_places_.Enter(lane, kLongestWait);
  if (place.has_value()) return *std::move(place);
  return absl::UnavailableError("too many changes of the ledger are waiting: ask again");
}

absl::Status SqlLedger::WriteInLane(std::string_view lane, const WriteBody& body) {
  absl::StatusOr<int64_t> point;
  {
    ASSIGN_OR_RETURN(const WriterPlaces::Place place, EnterLane(lane));
    const auto began = std::chrono::steady_clock::now();
    point = WriteToStore(body);
    if (options_.observer != nullptr) {
      options_.observer->OnCommit(std::chrono::steady_clock::now() - began, 0, point.status());
    }
  }
  RETURN_IF_ERROR(point.status());
  return MakeDurable(*point);
}

absl::Status SqlLedger::MakeDurable(int64_t point) noexcept {
  const auto began = std::chrono::steady_clock::now();
  absl::Status durable = anchor_->MakeDurable(point);
  if (options_.observer != nullptr) {
    options_.observer->OnAnchored(std::chrono::steady_clock::now() - began, durable);
  }
  return durable;
}

HistoryState SqlLedger::StateOfHistory(std::string_view dataset_id) {
  HistoryState state{.unanchored_entries = anchor_->EntriesBehind(std::string(dataset_id))};
  const std::scoped_lock lock(mutex_);
  if (const auto made = verifications_.find(dataset_id); made != verifications_.end())
    state.verified_at_us = made->second.verification.made_at_us;
  return state;
}

void SqlLedger::NoteCharge(std::string_view dataset_id, std::string_view kind, ChargeOutcome outcome) {
  if (options_.observer != nullptr) options_.observer->OnCharge(dataset_id, kind, outcome);
}

absl::Status SqlLedger::Write(std::string_view dataset_id, const WriteBody& body) {
  ASSIGN_OR_RETURN(const std::string lane, LaneOf(dataset_id));
  return WriteInLane(lane, body);
}

absl::StatusOr<int64_t> SqlLedger::WriteToStore(const WriteBody& body) {
  // Of a conflict some transaction is the winner, so retries make progress; a lost connection is retried
  // once.
  constexpr int kMostConflicts = 50;
  constexpr int kMostLostConnections = 2;
  int conflicts = 0;
  int lost_connections = 0;
  while (true) {
    RETURN_IF_ERROR(CheckWritable());
    RETURN_IF_ERROR(anchor_->Refresh());
    std::unique_ptr<WriteSet> change;
    const Outcome outcome = database_->Write([&](Transaction& transaction) -> absl::Status {
      change = std::make_unique<WriteSet>(transaction, database_->dialect(), *anchor_, schema_, &damage_);
      RETURN_IF_ERROR(body(*change));
      return change->Flush();
    });
    if (outcome.ending == Ending::kDone) return NoteCommitted(*change);
    if (outcome.ending == Ending::kConflict && ++conflicts < kMostConflicts) continue;
    if (outcome.ending == Ending::kUnknown && ++lost_connections < kMostLostConnections) continue;
    if (IsOutdated(outcome.status)) return RefuseChanges(outcome.status);
    const bool may_be_outdated = outcome.ending == Ending::kFailed && !absl::IsUnavailable(outcome.status);
    if (may_be_outdated) RETURN_IF_ERROR(CheckSchema());
    if (!absl::IsDataLoss(outcome.status)) return outcome.status;
    absl::Status refusal = RefuseDamaged(outcome.status, change.get());
    AskForPassIfGrown(refusal);
    return refusal;
  }
}

absl::Status SqlLedger::CheckSchema() {
  const absl::Status checked =
      Read([this](Transaction& transaction) { return CheckSchemaIs(transaction, schema_); });
  return IsOutdated(checked) ? RefuseChanges(checked) : absl::OkStatus();
}

absl::Status SqlLedger::CheckWritable() {
  const std::scoped_lock lock(mutex_);
  return refuses_changes_;
}

absl::Status SqlLedger::RefuseChanges(const absl::Status& reason) {
  const std::scoped_lock lock(mutex_);
  if (refuses_changes_.ok()) refuses_changes_ = reason;
  return refuses_changes_;
}

Dataset SqlLedger::Restored(Dataset dataset, std::string_view viewer) const {
  damage_.RestoreNames(dataset);
  if (!viewer.empty())
    std::erase_if(dataset.grants, [&](const Grant& each) { return each.grantee != viewer; });
  return dataset;
}

absl::StatusOr<int64_t> SqlLedger::NoteCommitted(const WriteSet& change) {
  head_cache_.Update(change);
  return anchor_->Add(change.reached());
}

absl::Status SqlLedger::Read(const Body& body) {
  return ReadTwiceIfLost([&] { return database_->Read(body); });
}

absl::Status SqlLedger::ReadOnce(const Body& body) {
  return ReadTwiceIfLost([&] { return database_->ReadOnce(body); });
}

absl::Status SqlLedger::ReadLong(const Body& body) {
  return ReadTwiceIfLost([&] { return database_->ReadLong(body); });
}

absl::Status SqlLedger::Health() {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(anchor_->Refresh());
  return Read([](Transaction& transaction) {
    return transaction.Execute("SELECT ledger_uuid FROM ledger_identity", {}).status();
  });
}

std::string SqlLedger::NewUuid() {
  return UuidOf(entropy_(16), 4);
}

int64_t SqlLedger::DrawAccountId() {
  constexpr uint64_t kLeast = uint64_t{1} << 51;
  uint64_t bits = 0;
  for (const char byte : entropy_(8)) bits = bits << 8 | static_cast<uint8_t>(byte);
  return static_cast<int64_t>(kLeast | (bits & (kLeast - 1)));
}

std::string SqlLedger::NewChargeId() {
  const int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count();
  std::string bytes;
  for (int shift = 40; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((now_ms >> shift) & 0xff));
  return UuidOf(bytes + entropy_(10), 7);
}

}  // namespace curator::ledger::sql
