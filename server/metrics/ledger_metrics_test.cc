#include "metrics/ledger_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"

namespace curator::metrics {
namespace {

using ledger::ChargeOutcome;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(LedgerMetrics, TransactionsAreCountedByTheirDurationAndSize) {
  MetricSet metrics;
  LedgerMetrics ledger(metrics, "sqlite");
  ledger.OnCommit(milliseconds(3), 5, absl::OkStatus());
  ledger.OnAnchored(milliseconds(30), absl::OkStatus());
  EXPECT_THAT(metrics.Text(),
              AllOf(HasSubstr("curator_ledger_commit_seconds_bucket{backend=\"sqlite\",le=\"0.0025\"} 0\n"),
                    HasSubstr("curator_ledger_commit_seconds_bucket{backend=\"sqlite\",le=\"0.005\"} 1\n"),
                    HasSubstr("curator_ledger_batch_charges_bucket{backend=\"sqlite\",le=\"4\"} 0\n"),
                    HasSubstr("curator_ledger_batch_charges_bucket{backend=\"sqlite\",le=\"8\"} 1\n"),
                    HasSubstr("curator_anchor_append_seconds_bucket{backend=\"sqlite\",le=\"0.05\"} 1\n"),
                    HasSubstr("curator_ledger_errors_total{backend=\"sqlite\"} 0\n")));
}

TEST(LedgerMetrics, ATransactionWithoutChargesIsNoBatchOfThem) {
  MetricSet metrics;
  LedgerMetrics ledger(metrics, "sqlite");
  ledger.OnCommit(milliseconds(3), 0, absl::OkStatus());
  EXPECT_THAT(metrics.Text(), AllOf(HasSubstr("curator_ledger_commit_seconds_count{backend=\"sqlite\"} 1\n"),
                                    HasSubstr("curator_ledger_batch_charges_count{backend=\"sqlite\"} 0\n")));
}

TEST(LedgerMetrics, AnErrorIsWhatTheStoreOrTheAnchorFailsWithAndNoRefusal) {
  MetricSet metrics;
  LedgerMetrics ledger(metrics, "postgresql");
  ledger.OnCommit(milliseconds(1), 1, absl::ResourceExhaustedError("full"));
  ledger.OnCommit(milliseconds(1), 1, absl::AlreadyExistsError("there"));
  EXPECT_THAT(metrics.Text(), HasSubstr("curator_ledger_errors_total{backend=\"postgresql\"} 0\n"));
  ledger.OnCommit(milliseconds(1), 1, absl::UnavailableError("lost"));
  ledger.OnAnchored(milliseconds(1), absl::UnavailableError("no disk"));
  EXPECT_THAT(metrics.Text(), HasSubstr("curator_ledger_errors_total{backend=\"postgresql\"} 2\n"));
}

auto Is(double value, const std::string& dataset, const std::string& kind, const std::string& outcome) {
  return AllOf(Field(&Reading::value, value),
               Field(&Reading::labels,
                     ElementsAre(Pair("dataset", dataset), Pair("kind", kind), Pair("outcome", outcome))));
}

TEST(LedgerMetrics, ChargesAreCountedByTheNameOfTheirDataset) {
  MetricSet metrics;
  LedgerMetrics ledger(metrics, "sqlite");
  ledger.OnCharge("id-1", "workload", ChargeOutcome::kAdmission);
  ledger.OnCharge("id-1", "workload", ChargeOutcome::kAdmission);
  ledger.OnCharge("id-1", "synthesis", ChargeOutcome::kForfeit);
  ledger.OnCharge("id-2", "a kind of a later version", ChargeOutcome::kRefusal);
  EXPECT_THAT(ledger.UnnamedDatasets(), ElementsAre("id-1", "id-2"));
  ledger.Name("id-1", "census");
  EXPECT_THAT(ledger.UnnamedDatasets(), ElementsAre("id-2"));
  EXPECT_THAT(ledger.Charges(), ElementsAre(Is(1, "census", "synthesis", "forfeited"),
                                            Is(2, "census", "workload", "admitted")));
  ledger.Name("id-2", "schools");
  EXPECT_THAT(ledger.Charges(),
              ElementsAre(Is(1, "census", "synthesis", "forfeited"), Is(2, "census", "workload", "admitted"),
                          Is(1, "schools", "other", "refused")));
}

TEST(LedgerMetrics, NoCountFallsWhenADatasetGetsItsName) {
  MetricSet metrics;
  LedgerMetrics ledger(metrics, "sqlite");
  ledger.OnCharge("id-1", "workload", ChargeOutcome::kAdmission);
  EXPECT_THAT(ledger.Charges(), IsEmpty());
  ledger.Name("id-1", "census");
  EXPECT_THAT(ledger.Charges(), ElementsAre(Is(1, "census", "workload", "admitted")));
}

TEST(LedgerMetrics, DatasetsBeyondTheBoundAreCountedTogether) {
  MetricSet metrics;
  LedgerMetrics ledger(metrics, "sqlite");
  for (int i = 0; i < 1200; ++i)
    ledger.OnCharge(absl::StrCat("id-", i), "workload", ChargeOutcome::kAdmission);
  for (const std::string& id : ledger.UnnamedDatasets()) ledger.Name(id, absl::StrCat("name-of-", id));
  const std::vector<Reading> charges = ledger.Charges();
  EXPECT_EQ(charges.size(), 1001u);
  EXPECT_THAT(charges.back(), Is(200, "other", "workload", "admitted"));
}

}  // namespace
}  // namespace curator::metrics
