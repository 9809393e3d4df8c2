// What the tests of use cases share: services over a ledger and a store of their own, and a small table.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "host/entropy.h"
#include "host/server_key.h"
#include "ledger/open_ledger.h"
#include "records/dataset_store.h"
#include "service/datasets/datasets.h"
#include "service/datasets/imports.h"
#include "service/operations/operations.h"
#include "service/release_once.h"
#include "service/services.h"
#include "tests/testing/scratch_folder.h"

namespace curator::service {

inline RequestId NewRequestId() {
  return TestRequestId(host::NewUuid());
}

inline dp::Epsilon EpsilonOf(int64_t thousandths) {
  return dp::Epsilon(thousandths * (dp::kEpsilonUnitsPerOne / 1000));
}

// The field that a status names; empty when it names none.
inline std::string FieldOf(const absl::Status& status) {
  return FieldViolationOf(status).value_or(FieldViolation()).field;
}

// sex (Female, Male), age (0 to 99 in bins of ten), region (codes 0 to 3).
inline dp::Schema PeopleSchema(dp::PrivacyUnit unit = dp::RecordUnit()) {
  std::vector<dp::Attribute> attributes = {
      dp::Attribute::Create("sex", dp::CategoricalKind{{"Female", "Male"}, std::nullopt}).value(),
      dp::Attribute::Create("age", dp::IntegerKind{.min = 0, .max = 99, .bin_width = 10}).value(),
      dp::Attribute::Create("region", dp::CodedKind{4}).value()};
  return dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), std::move(unit)).value();
}

// One record in each cell of the regions below `regions`.
inline std::string PeopleCsv(int regions = 4) {
  std::string csv = "sex,age,region\n";
  for (int cell = 0; cell < 20 * regions; ++cell) {
    csv += cell % 2 == 0 ? "Female," : "Male,";
    csv += std::to_string(cell / 2 % 10 * 10 + 3) + "," + std::to_string(cell / 20) + "\n";
  }
  return csv;
}

// Returns when the operation has ended, or as it is at `deadline`.
inline absl::StatusOr<OperationView> WaitOperation(Services& services, const Principal& principal,
                                                   std::string_view id, absl::Time deadline) {
  services.operations.AwaitEnd(id, deadline);
  return GetOperation(services, principal, id);
}

// Returns when so many requests wait for memory.
inline void AwaitWaiting(const MemoryBudget& budget, int64_t requests) {
  while (budget.waiting() < requests) std::this_thread::yield();
}

// A new ledger over SQLite, whose files are in `folder`.
inline std::unique_ptr<ledger::Ledger> OpenSqliteLedger(const std::string& folder) {
  return ledger::OpenLedger({.url = "sqlite:" + folder + "/ledger.db",
                             .anchor_dir = folder + "/anchor",
                             .entropy = host::RandomBytes})
      .value();
}

// Each dataset belongs to "owner" unless its test says otherwise.
class ServiceTest : public ::testing::Test {
 protected:
  using LedgerOpener = std::unique_ptr<ledger::Ledger> (*)(const std::string& folder);
  explicit ServiceTest(LedgerOpener open_ledger = &OpenSqliteLedger) : ledger_(open_ledger(folder_.path())) {}

  // Keeps the only thread of the background busy, from now on until it is notified. The work owns the
  // notification, too: a test may end before the thread has woken.
  std::shared_ptr<absl::Notification> OccupyWorker() {
    const auto may_end = std::make_shared<absl::Notification>();
    absl::Notification began;
    RunInBackground([may_end, &began] {
      began.Notify();
      may_end->WaitForNotification();
    });
    began.WaitForNotification();
    return may_end;
  }

  // Queues work of a principal that no test has.
  void RunInBackground(std::function<void()> work) {
    work_.Run(work_.Reserve(TestPrincipal("somebody")).value(), {.id = "work", .run = std::move(work)});
  }

  // With the schema of people and a total limit of `epsilon` under PURE.
  static NewDataset People(const std::string& name, int64_t epsilon = 10) {
    return {.request_id = NewRequestId(),
            .principal = TestPrincipal("owner"),
            .name = DatasetName(name),
            .schema = PeopleSchema(),
            .limit = dp::RuleSpec{.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(1000 * epsilon)},
            .is_public = false,
            .successor_of = {}};
  }

  // "north": regions 0 and 1, "south": region 2. Region 3 waits for a part.
  static NewDataset DividedPeople(const std::string& name) {
    NewDataset dataset = People(name);
    dataset.partition = Partition{"region", {{"north", {"0..1"}}, {"south", {"2"}}}};
    return dataset;
  }

  // The owner may charge it for mechanisms outside, too.
  DatasetView Make(const NewDataset& dataset) const {
    const std::string id = CreateDataset({*ledger_}, dataset, Intent::kDo).value().record.id;
    const ledger::Grant grant{.grantee = dataset.principal.name(), .roles = ledger::kGrantedService};
    EXPECT_TRUE(ledger_->SetGrant(id, grant, dataset.principal).ok());
    return FindDataset({*ledger_}, Method::kGetDataset, dataset.principal, dataset.name).value();
  }

  void Fill(const std::string& dataset, const std::string& csv, const std::string& part = "") const {
    const auto import = BeginImport({*ledger_}, *store_,
                                    {.request_id = NewRequestId(),
                                     .principal = TestPrincipal("owner"),
                                     .dataset = DatasetName(dataset),
                                     .part = part,
                                     .options = {.accept_same_file = true}},
                                    Intent::kDo);
    ASSERT_TRUE(import.ok()) << import.status();
    ASSERT_TRUE((*import)->Append(csv).ok());
    ASSERT_TRUE((*import)->Finish().ok());
  }

  absl::StatusOr<Sealed> Seal(const std::string& dataset, const std::string& part = "",
                              bool accept_equal_content = false) const {
    return SealDataset({*ledger_}, *store_,
                       {.principal = TestPrincipal("owner"),
                        .dataset = DatasetName(dataset),
                        .part = part,
                        .accept_equal_content = accept_equal_content,
                        .accept_no_records = true},
                       Intent::kDo);
  }

  // Also with records that another dataset holds.
  void FillAndSeal(const std::string& dataset, const std::string& csv, const std::string& part = "") const {
    Fill(dataset, csv, part);
    const absl::StatusOr<Sealed> sealed = Seal(dataset, part, true);
    ASSERT_TRUE(sealed.ok()) << sealed.status();
  }

  DatasetView MakeSealed(const NewDataset& dataset, const std::string& csv = PeopleCsv()) const {
    Make(dataset);
    FillAndSeal(dataset.name.text(), csv);
    return FindDataset({*ledger_}, Method::kGetDataset, TestPrincipal("owner"), dataset.name).value();
  }

  // Starts a charge of a thousandth of the limit on a sealed dataset without parts.
  ledger::Attempt Started(const DatasetView& dataset, const std::string& kind,
                          const std::string& request_id = host::NewUuid()) {
    const auto started = ledger_->Begin(DrawOf(dataset, kind, request_id));
    EXPECT_TRUE(started.ok()) << started.status();
    return started.value();
  }

  ledger::ChargeRequest DrawOf(const DatasetView& dataset, const std::string& kind,
                               const std::string& request_id = host::NewUuid()) const {
    const ledger::Account account = ledger_->ListAccounts(dataset.record.id)->at(0);
    const std::string identity = Sha256("what is drawn for " + request_id);
    return {.dataset_id = dataset.record.id,
            .dataset_version = dataset.record.version,
            .principal = TestPrincipal("owner"),
            .request_id = request_id,
            .fingerprint = Sha256(request_id),
            .draw_identity = identity,
            .kind = kind,
            .event = "event",
            .label = "label",
            .sealed_key = sealer_.Seal(host::NewDrawKey(), identity),
            .postings = {{account.id, "epsilon", account.counters.at(0).limit / 1000}}};
  }

  // The id of a release that holds `payload`.
  std::string Released(const DatasetView& dataset, const std::string& kind, const std::string& payload) {
    return ledger_->Store(Started(dataset, kind), payload)->id;
  }

  // Of the first counter of the dataset's first account.
  int64_t Spent(const DatasetView& dataset) const {
    return ledger_->ListAccounts(dataset.record.id)->at(0).counters.at(0).spent;
  }

  // Runs `sql` on the ledger's own file, where references are not checked and charges may be changed.
  void Corrupt(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder_.path() + "/ledger.db").c_str(), &database), SQLITE_OK);
    const std::string script = "DROP TRIGGER IF EXISTS charges_are_never_changed; " + sql;
    EXPECT_EQ(sqlite3_exec(database, script.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  const curator::testing::ScratchFolder folder_;
  const host::ServerKey key_ = host::ServerKey::OpenOrCreate(folder_.path() + "/server.key").value();
  const host::KeySealer sealer_{key_};
  const host::ReceiptSigner signer_{key_};
  const std::unique_ptr<ledger::Ledger> ledger_;
  const std::unique_ptr<records::DatasetStore> store_ =
      records::DatasetStore::Open(folder_.path() + "/datasets", Sha256).value();
  RunningOperations operations_;
  RequestLocks requests_;
  LateEndings late_{*ledger_};
  DatasetCache datasets_;
  RecentReleases recent_;
  StoredAnswers stored_;
  // Of a clock that stands still.
  RepetitionPace repetitions_{[] { return RepetitionPace::Time(); }};
  static constexpr int64_t kMostChargesADay = 10'000;
  DailyCharges daily_{kMostChargesADay};
  MemoryBudget memory_{int64_t{4} << 30, absl::ZeroDuration()};
  ComparisonCache comparisons_;
  Services services_{*ledger_,         *store_,   sealer_, signer_,      operations_,      work_,
                     OnlyThisThread(), requests_, late_,   datasets_,    recent_,          stored_,
                     repetitions_,     daily_,    memory_, comparisons_, absl::Minutes(10)};
  // Ends before what its work uses.
  WorkQueue work_{1, 4,
                  [this](const std::vector<std::string>& moved) {
                    for (const std::string& id : moved) operations_.Notify(id);
                  },
                  /*between_positions=*/std::chrono::hours(1)};
};

}  // namespace curator::service
