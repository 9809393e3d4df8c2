// The fixture of tests of damage: two datasets with releases, one of which the test damages.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {

class DamageConformance : public LedgerConformance {
 protected:
  static constexpr int64_t kOneHourUs = 3'600'000'000;

  // Two datasets of olga, granted to ana: census, with a stored release (entries 4 and 5), a started charge
  // (6) and a reservation (7), and survey, with a stored release.
  void SetUp() override {
    LedgerConformance::SetUp();
    auto ledger = Open();
    census_ = MakeDataset(*ledger, "census", 20);
    survey_ = MakeDataset(*ledger, "survey", 20);
    for (const Dataset* const dataset : {&census_, &survey_}) {
      EXPECT_STATUS_IS(absl::StatusCode::kOk,
                       ledger->SetGrant(dataset->id, {.grantee = "ana"}, TestPrincipal("olga")));
    }
    census_account_ = FirstAccount(*ledger, census_);
    survey_account_ = FirstAccount(*ledger, survey_);
    const Attempt stored = Must(ledger->Begin(OnCensus("stored", 4)));
    census_release_ = Must(ledger->Store(stored, "an answer")).id;
    Must(ledger->Begin(OnCensus("started", 3)));
    Must(ledger->Reserve({OnCensus("reserved", 2)}, kOneHourUs));
    survey_release_ = Must(ledger->Store(Must(ledger->Begin(OnSurvey("other", 4))), "another answer")).id;
  }
  ChargeRequest OnCensus(const std::string& request_id, int64_t cost) const {
    return RequestOf(census_, request_id, census_account_, cost);
  }
  ChargeRequest OnSurvey(const std::string& request_id, int64_t cost) const {
    return RequestOf(survey_, request_id, survey_account_, cost);
  }
  // The request with the stored release of census, by a server that starts now.
  absl::StatusOr<EarlierRequest> FindStored(const std::string& principal) {
    return Open()->FindEarlier({.principal = TestPrincipal(principal),
                                .request_id = "stored",
                                .dataset_id = census_.id,
                                .account_ids = {},
                                .most_payload_bytes = 100});
  }
  std::string OfCensus() const { return absl::StrCat("dataset_id = '", census_.id, "'"); }

  // Flips one bit of the only value that `column` has where `condition` holds.
  void FlipABit(const std::string& table, const std::string& column, const std::string& condition) {
    Tamper("SELECT 1");
    const sql::Outcome flipped = OpenStore()->Write([&](sql::Transaction& transaction) -> absl::Status {
      const auto rows =
          transaction.Execute(absl::StrCat("SELECT ", column, " FROM ", table, " WHERE ", condition), {});
      if (!rows.ok()) return rows.status();
      std::string bytes = rows->at(0).Blob(0);
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
      return transaction
          .Execute(absl::StrCat("UPDATE ", table, " SET ", column, " = $1 WHERE ", condition),
                   {sql::Bytes{bytes}})
          .status();
    });
    ASSERT_TRUE(flipped.status.ok()) << flipped.status;
  }

  // No change of census is accepted, and the reason names it and nothing that is only ours.
  void ExpectCensusIsReadOnly(Ledger& ledger) {
    const absl::Status refused = ledger.Begin(OnCensus("next", 1)).status();
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, refused);
    EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("\"census\""));
    EXPECT_THAT(std::string(refused.message()), ::testing::Not(::testing::HasSubstr(census_.id)));
    EXPECT_THAT(std::string(refused.message()), ::testing::Not(::testing::HasSubstr("survey")));
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger.Reserve({OnCensus("held", 1)}, kOneHourUs).status());
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                     ledger.SetGrant(census_.id, {.grantee = "mallory"}, TestPrincipal("olga")));
    DatasetSpec successor = SpecOf("census-2", 0);
    successor.accounts.clear();
    successor.successor_of = census_.id;
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger.CreateDataset(successor).status());
    EXPECT_FALSE(Must(ledger.Verify(census_.id)).ok);
  }
  // Every other dataset, old and new, is charged and served as if there were no damage.
  void ExpectOthersAreServed(Ledger& ledger) {
    EXPECT_TRUE(Must(ledger.Begin(OnSurvey("next on survey", 1))).newly_charged);
    EXPECT_EQ(Must(ledger.GetRelease(survey_release_)).payload, "another answer");
    const Dataset fresh = MakeDataset(ledger, "fresh", 5);
    EXPECT_TRUE(Must(ledger.Begin(RequestOf(fresh, "first", FirstAccount(ledger, fresh), 1))).newly_charged);
    EXPECT_TRUE(Must(ledger.Verify(survey_.id)).ok);
  }
  // By its id and by the request that paid for it.
  void ExpectCensusAnswersAreServed(Ledger& ledger) {
    EXPECT_EQ(Must(ledger.GetRelease(census_release_)).payload, "an answer");
    const Attempt replay = Must(ledger.Begin(OnCensus("stored", 4)));
    EXPECT_FALSE(replay.newly_charged);
    ASSERT_TRUE(replay.release.has_value());
    EXPECT_EQ(replay.release->payload, "an answer");
  }
  void ExpectOnlyCensusIsReadOnly(bool are_its_answers_whole = true) {
    auto ledger = Open();
    ExpectCensusIsReadOnly(*ledger);
    ExpectOthersAreServed(*ledger);
    if (are_its_answers_whole) ExpectCensusAnswersAreServed(*ledger);
  }

  // A repair with the receipt of a charge that the history has: it makes its passes and changes nothing.
  static RepairOrder RepairOfNothing(Ledger& ledger, const Dataset& dataset, const std::string& request_id) {
    const Charge charge = Must(ledger.FindCharge(TestPrincipal("ana"), request_id));
    return {.dataset_id = dataset.id,
            .reason = "the disk failed",
            .actor = TestPrincipal("petra"),
            .proposed_by = "olga",
            .receipts = {{.dataset_id = dataset.id, .charge_id = charge.id, .seq = 1, .postings = {}}}};
  }

  Dataset census_;
  Dataset survey_;
  int64_t census_account_ = 0;
  int64_t survey_account_ = 0;
  std::string census_release_;
  std::string survey_release_;
};

}  // namespace curator::ledger
