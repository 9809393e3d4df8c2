#include "metrics/ledger_readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "ledger/open_ledger.h"
#include "tests/testing/scratch_folder.h"

namespace curator::metrics {
namespace {

using ledger::ScopeType;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A ledger with the dataset "census", of whose limit 10 four are spent, and an account of the analyst ana.
class ReadLedger : public ::testing::Test {
 protected:
  ReadLedger() {
    auto opened = ledger::OpenLedger({.url = absl::StrCat("sqlite:", scratch_.path(), "/ledger.db"),
                                      .entropy =
                                          [this](size_t bytes) {
                                            std::string text(bytes, 'x');
                                            const std::string number = std::to_string(++drawn_);
                                            return text.replace(bytes - number.size(), number.size(), number);
                                          },
                                      .observer = &work_});
    EXPECT_TRUE(opened.ok()) << opened.status();
    ledger_ = *std::move(opened);
    const auto dataset = ledger_->CreateDataset({.request_id = "create",
                                                 .name = "census",
                                                 .owner = TestPrincipal("olga"),
                                                 .schema = "schema",
                                                 .schema_hash = Sha256("schema"),
                                                 .neighbour_relation = "ADD_REMOVE",
                                                 .privacy_unit = "RECORD",
                                                 .accounts = {{.scope_type = ScopeType::kDataset,
                                                               .rule = "rule",
                                                               .rule_name = "ZCDP",
                                                               .limits = {{"rho", 10}}}}});
    EXPECT_TRUE(dataset.ok()) << dataset.status();
    id_ = dataset->id;
    EXPECT_TRUE(ledger_->SealDataset(id_, "content", TestPrincipal("olga")).ok());
    const auto charged = ledger_->Begin(Request("first", 4));
    EXPECT_TRUE(charged.ok()) << charged.status();
    const auto account = ledger_->CreateAccount({.request_id = "account",
                                                 .dataset_id = id_,
                                                 .account = {.scope_type = ScopeType::kAnalyst,
                                                             .scope_key = "ana",
                                                             .rule = "rule",
                                                             .rule_name = "ZCDP",
                                                             .limits = {{"rho", 5}}},
                                                 .actor = TestPrincipal("olga")});
    EXPECT_TRUE(account.ok()) << account.status();
  }

  ledger::ChargeRequest Request(const std::string& request_id, int64_t cost) {
    const auto dataset = ledger_->GetDatasetById(id_);
    const auto accounts = ledger_->ListAccounts(id_);
    return {.dataset_id = id_,
            .dataset_version = dataset->version,
            .refusal_rules_hash = dataset->refusal_rules_hash,
            .principal = TestPrincipal("ben"),
            .request_id = request_id,
            .fingerprint = "fingerprint of " + request_id,
            .kind = "workload",
            .event = "event",
            .label = "a label",
            .sealed_key = "key",
            .postings = {{accounts->front().id, "rho", cost}}};
  }

  std::string TextOf(LedgerReadings::Options options) {
    MetricSet set;
    options.backend = "sqlite";
    options.amount = [](std::string_view, int64_t amount) { return static_cast<double>(amount) / 100; };
    LedgerReadings readings(*ledger_, work_, std::move(options));
    readings.AddTo(set);
    return set.Text();
  }

  // As somebody would who has the file.
  void InStore(const char* statement) const {
    sqlite3* store = nullptr;
    EXPECT_EQ(sqlite3_open(absl::StrCat(scratch_.path(), "/ledger.db").c_str(), &store), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(store, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(store);
    sqlite3_close(store);
  }

  const testing::ScratchFolder scratch_;
  int64_t drawn_ = 100'000;
  MetricSet counted_;
  LedgerMetrics work_{counted_, "sqlite"};
  std::unique_ptr<ledger::Ledger> ledger_;
  std::string id_;
};

TEST_F(ReadLedger, HasTheBalancesAndTheStateOfEachDataset) {
  const std::string labels =
      "{dataset=\"census\",account_kind=\"dataset\",account=\"census\",counter=\"rho\"}";
  EXPECT_THAT(TextOf({}), AllOf(HasSubstr(absl::StrCat("curator_account_limit", labels, " 0.1")),
                                HasSubstr(absl::StrCat("curator_account_spent", labels, " 0.04")),
                                HasSubstr(absl::StrCat("curator_account_held", labels, " 0\n")),
                                HasSubstr(absl::StrCat("curator_account_remaining_ratio", labels, " 0.6")),
                                HasSubstr("curator_ledger_sound{dataset=\"census\"} 1\n"),
                                HasSubstr("curator_anchor_behind_entries{dataset=\"census\"} 0\n"),
                                HasSubstr("curator_ledger_waiting{backend=\"sqlite\"} 0\n"),
                                HasSubstr("curator_metrics_cut 0\n")));
}

TEST_F(ReadLedger, CountsChargesByTheNameOfTheDatasetAlsoWhenItIsArchived) {
  const std::string series =
      "curator_charges_total{dataset=\"census\",kind=\"workload\",outcome=\"admitted\"} 1\n";
  EXPECT_THAT(TextOf({}), HasSubstr(series));
  ASSERT_TRUE(ledger_->ArchiveDataset(id_, TestPrincipal("olga")).ok());
  EXPECT_THAT(TextOf({}), HasSubstr(series));
  EXPECT_THAT(TextOf({}), Not(HasSubstr("curator_account_limit")));
}

TEST_F(ReadLedger, NamesAnalystsOnlyWhereThatIsAskedFor) {
  EXPECT_THAT(TextOf({}), Not(HasSubstr("\"ana\"")));
  EXPECT_THAT(TextOf({.per_analyst = true}),
              HasSubstr("curator_account_limit{dataset=\"census\",account_kind=\"analyst\",account=\"ana\","
                        "counter=\"rho\"} 0.05"));
}

TEST_F(ReadLedger, ReadsBalancesAgainWhenTheyAreOldAndNotBefore) {
  MetricSet set;
  LedgerReadings often(
      *ledger_, work_,
      {.backend = "sqlite",
       .amount = [](std::string_view, int64_t amount) { return static_cast<double>(amount); },
       .most_age = std::chrono::milliseconds(0)});
  often.AddTo(set);
  MetricSet kept_set;
  LedgerReadings seldom(
      *ledger_, work_,
      {.backend = "sqlite",
       .amount = [](std::string_view, int64_t amount) { return static_cast<double>(amount); },
       .most_age = std::chrono::hours(1)});
  seldom.AddTo(kept_set);
  EXPECT_THAT(set.Text(), HasSubstr("counter=\"rho\"} 4\n"));
  EXPECT_THAT(kept_set.Text(), HasSubstr("counter=\"rho\"} 4\n"));
  ASSERT_TRUE(ledger_->Begin(Request("second", 3)).ok());
  EXPECT_THAT(set.Text(), HasSubstr("counter=\"rho\"} 7\n"));
  EXPECT_THAT(kept_set.Text(), HasSubstr("counter=\"rho\"} 4\n"));
}

TEST_F(ReadLedger, HasTheStateOfHistoriesAlsoWhileBalancesCannotBeRead) {
  MetricSet set;
  LedgerReadings readings(
      *ledger_, work_,
      {.backend = "sqlite",
       .amount = [](std::string_view, int64_t amount) { return static_cast<double>(amount); },
       .most_age = std::chrono::milliseconds(0)});
  readings.AddTo(set);
  EXPECT_THAT(set.Text(), AllOf(HasSubstr("curator_account_spent{dataset=\"census\""),
                                HasSubstr("curator_metrics_read_errors_total 0\n")));
  InStore("ALTER TABLE account_counters RENAME TO away");
  EXPECT_THAT(set.Text(), AllOf(Not(HasSubstr("curator_account_spent{")),
                                HasSubstr("curator_ledger_sound{dataset=\"census\"} 1\n"),
                                HasSubstr("curator_anchor_behind_entries{dataset=\"census\"} 0\n"),
                                Not(HasSubstr("curator_metrics_read_errors_total 0\n"))));
}

TEST_F(ReadLedger, NamesADatasetOfWhichThereAreChargesThoughAnotherOneIsUnknown) {
  work_.OnCharge("a dataset that the store has lost", "workload", ledger::ChargeOutcome::kAdmission);
  EXPECT_THAT(TextOf({}), HasSubstr("curator_charges_total{dataset=\"census\",kind=\"workload\""));
}

TEST_F(ReadLedger, HasNoRatioOfALimitOfZero) {
  InStore("UPDATE account_counters SET limit_value = 0, spent = 0");
  EXPECT_THAT(TextOf({}), AllOf(HasSubstr("curator_account_limit{dataset=\"census\""),
                                Not(HasSubstr("curator_account_remaining_ratio{"))));
}

}  // namespace
}  // namespace curator::metrics
