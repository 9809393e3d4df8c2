#include "service/tables.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "host/logging.h"
#include "service/datasets/deletion.h"

namespace curator::service {
namespace {

constexpr absl::Duration kPauseAfterFailure = absl::Seconds(1);

// Whether more of the same request's draw may follow.
bool IsOpen(const ledger::Charge& charge) {
  return charge.state == ledger::ChargeState::kReserved || charge.state == ledger::ChargeState::kStarted;
}

absl::StatusOr<records::LoadedTable> Load(const records::DatasetStore& store, const records::SealedId& id,
                                          const std::stop_token& stop) {
  try {
    return store.Load(id, stop);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("no memory for a table");
  }
}

// Whether the cause lies in the stored files, and not in what this process may open or allocate now.
bool IsPermanent(const absl::Status& failure) {
  return absl::IsNotFound(failure) || absl::IsDataLoss(failure);
}

void LogFailure(const records::SealedId& id, const absl::Status& failure) {
  host::Log(host::LogLevel::kWarning, "table_not_ready",
            {{"table", id.dataset_id},
             {"status", absl::StatusCodeToString(failure.code())},
             {"reason", std::string(failure.message())}});
}

// All tables of a dataset that requests can read.
std::vector<records::SealedId> SealedTablesOf(const ledger::Dataset& dataset) {
  if (dataset.is_public || dataset.version < 1) return {};
  if (dataset.parts.empty()) return {{dataset.id, dataset.content_hash}};
  std::vector<records::SealedId> tables;
  for (const ledger::Part& part : dataset.parts) {
    if (part.sealed_version < 1) continue;
    tables.push_back(
        {.dataset_id = StoredIdOf(dataset, part), .content_hash = part.content_hash, .is_part = true});
  }
  return tables;
}

absl::Status ChargedAndNotAnswered(absl::StatusCode code) {
  return {
      code,
      "this server cannot read the records of the dataset now; the request is charged and not answered yet: "
      "the same request id repeats its draw when they can be read"};
}

}  // namespace

absl::StatusOr<records::ReadyTable> TableForOwner(records::DatasetStore& store,
                                                  const std::vector<records::SealedId>& tables) {
  absl::StatusOr<records::ReadyTable> ready = store.ready().Find(tables);
  if (ready.ok() || tables.empty()) return ready;
  std::vector<records::LoadedTable> loaded;
  for (const records::SealedId& id : tables) {
    absl::StatusOr<records::LoadedTable> table = Load(store, id, {});
    if (!table.ok()) {
      LogFailure(id, table.status());
      return IsPermanent(table.status()) ? records::UnreadableRecords() : ready.status();
    }
    loaded.push_back(*std::move(table));
  }
  return store.ready().Holding(tables, std::move(loaded));
}

absl::StatusOr<std::optional<records::ReadyTable>> TableFor(
    ledger::Ledger& ledger, records::DatasetStore& store, const DatasetView& dataset,
    const RequestScope& scope, const Principal& principal, std::string_view request_id) {
  const std::vector<records::SealedId> tables = TablesOf(dataset, scope);
  absl::StatusOr<records::ReadyTable> ready = store.ready().Find(tables);
  if (ready.ok()) return *std::move(ready);
  const absl::StatusOr<ledger::Charge> charge = ledger.FindCharge(principal, request_id);
  if (absl::IsNotFound(charge.status())) return ready.status();
  RETURN_IF_ERROR(charge.status());
  if (!IsOpen(*charge)) return std::nullopt;
  const bool has_paid = charge->state == ledger::ChargeState::kStarted;
  if (!has_paid) return ready.status();
  if (dataset.record.state == ledger::DatasetState::kArchived) ready = TableForOwner(store, tables);
  if (!ready.ok()) return ChargedAndNotAnswered(ready.status().code());
  return *std::move(ready);
}

// Lists the ledger's datasets once and loads what is not ready, beside a thread that publishes.
class TableLoader::Pass {
 public:
  Pass(TableLoader& loader, const std::stop_token& stop) : loader_(loader), stop_(stop) {}

  absl::Status Run() {
    RemoveDeletedRecords();
    ASSIGN_OR_RETURN(const std::vector<ledger::Dataset> datasets, loader_.ledger_.ListDatasets());
    const std::jthread publisher([this] { PublishInSteps(); });
    // Also when memory runs out: the publisher, which is joined then, waits for it.
    const OnExit complete(*this);
    for (const ledger::Dataset& dataset : datasets) {
      for (const records::SealedId& id : SealedTablesOf(dataset)) {
        if (stop_.stop_requested()) break;
        if (dataset.state == ledger::DatasetState::kArchived) {
          loader_.store_.ready().Forget({id.dataset_id});
        } else if (!loader_.store_.ready().IsReady(id)) {
          Examine(id);
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  // Of datasets that were deleted here, before an earlier process ended, or by another server.
  void RemoveDeletedRecords() {
    const absl::Status removed = RemoveDeleted(loader_.ledger_, loader_.store_, loader_.removed_);
    if (removed.ok()) return;
    host::Log(host::LogLevel::kWarning, "deleted_records_not_removed",
              {{"status", absl::StatusCodeToString(removed.code())}});
  }

  struct OnExit {
    explicit OnExit(Pass& of) : pass(of) {}
    OnExit(const OnExit&) = delete;
    OnExit& operator=(const OnExit&) = delete;
    ~OnExit() {
      const std::lock_guard lock(pass.loader_.mutex_);
      pass.is_complete_ = true;
    }
    Pass& pass;
  };

  void Examine(const records::SealedId& id) {
    absl::StatusOr<records::LoadedTable> table = Load(loader_.store_, id, stop_);
    if (stop_.stop_requested()) return;
    if (!table.ok()) LogFailure(id, table.status());
    // A table that could not be opened or allocated now is as one that is still being read.
    if (!table.ok() && !IsPermanent(table.status())) return;
    const std::lock_guard lock(loader_.mutex_);
    examined_.emplace_back(id, std::move(table));
  }

  void PublishInSteps() {
    const auto begun = std::chrono::steady_clock::now();
    bool is_over = false;
    for (absl::Duration step = kFirstStep; !is_over; step *= 2) {
      if (!loader_.WaitUntil(begun + absl::ToChronoNanoseconds(step), stop_)) return;
      const std::lock_guard lock(loader_.mutex_);
      PublishExamined();
      is_over = is_complete_;
    }
  }

  // What is not published for lack of memory is read again by the next pass.
  void PublishExamined() {
    try {
      for (auto& [id, table] : examined_) Publish(id, std::move(table));
    } catch (const std::bad_alloc&) {
    }
    examined_.clear();
  }

  void Publish(const records::SealedId& id, absl::StatusOr<records::LoadedTable> table) {
    if (table.ok()) {
      loader_.store_.ready().Publish(id, *std::move(table));
    } else {
      loader_.store_.ready().PublishUnreadable(id);
    }
  }

  TableLoader& loader_;
  const std::stop_token& stop_;
  // Guarded by the loader's mutex.
  std::vector<std::pair<records::SealedId, absl::StatusOr<records::LoadedTable>>> examined_;
  bool is_complete_ = false;
};

TableLoader::TableLoader(ledger::Ledger& ledger, records::DatasetStore& store, absl::Duration period)
    : ledger_(ledger),
      store_(store),
      period_(period),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

TableLoader::~TableLoader() {
  thread_.request_stop();
  thread_.join();
}

void TableLoader::AwaitFirstPass(absl::Duration longest) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(longest), [this] { return is_first_pass_done_; });
}

absl::Status TableLoader::RunPass(const std::stop_token& stop) {
  try {
    return Pass(*this, stop).Run();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("no memory");
  }
}

void TableLoader::Run(const std::stop_token& stop) {
  absl::Duration pause;
  do {
    const absl::Status done = RunPass(stop);
    if (!done.ok()) {
      host::Log(host::LogLevel::kWarning, "tables_not_listed",
                {{"status", absl::StatusCodeToString(done.code())}});
    }
    {
      const std::lock_guard lock(mutex_);
      is_first_pass_done_ = true;
      changed_.notify_all();
    }
    pause = done.ok() ? period_ : std::min(period_, kPauseAfterFailure);
  } while (WaitUntil(std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(pause), stop));
}

bool TableLoader::WaitUntil(std::chrono::steady_clock::time_point time, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace curator::service
