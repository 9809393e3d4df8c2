// Long histories: a start goes on from checkpoints, and everything is read once the ledger serves.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/damage_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Histories that count as long: a start goes on from the checkpoints of the last whole pass, and makes a
// whole pass once it serves.
class CheckpointConformance : public DamageConformance {
 protected:
  void SetUp() override {
    DamageConformance::SetUp();
    OpenLong("histories_verified");  // leaves checkpoints
  }

  // Opens the ledger, keeps what was reported until it had opened, and then waits until `event` was reported.
  std::unique_ptr<sql::SqlLedger> OpenLong(const std::string& event) {
    auto awaited = std::make_shared<std::promise<void>>();
    auto events = std::make_shared<std::vector<std::string>>();
    auto mutex = std::make_shared<std::mutex>();
    auto progress = std::make_shared<std::vector<std::string>>();
    const auto report = [=](std::string_view reported, std::string_view detail) {
      const std::scoped_lock lock(*mutex);
      (reported == "verifying_histories" ? progress : events)
          ->emplace_back(reported == "verifying_histories" ? detail : reported);
      if (reported == event && std::ranges::count(*events, event) == 1) awaited->set_value();
    };
    auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                            {.report = report, .long_history = 1}));
    awaited->get_future().wait();
    const std::scoped_lock lock(*mutex);
    reported_ = *events;
    progress_ = *progress;
    return ledger;
  }
  // Of the lineage whose only dataset this is.
  std::string CheckpointOf(const Dataset& dataset) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(anchor_dir())) {
      const std::string name = file.path().filename();
      if (name.ends_with(".checkpoint") && name.find(dataset.id) != std::string::npos) return file.path();
    }
    return "";
  }
  // In the row of a charge that has ended, which no pass from a checkpoint reads.
  void DamageTheStoredCharge() { Tamper("UPDATE charges SET postings = '[x]' WHERE request_id = 'stored'"); }
  void ExpectACallFindsTheDamage(Ledger& ledger) {
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger.Begin(OnCensus("stored", 4)).status());
  }

  void ExpectFoundAtStart() {
    auto ledger = OpenLong("new_entries_verified");
    EXPECT_EQ(reported_.front(), "dataset_damaged");
    ExpectCensusIsReadOnly(*ledger);
    ExpectOthersAreServed(*ledger);
  }

  std::vector<std::string> reported_;
  std::vector<std::string> progress_;
};

TEST_P(CheckpointConformance, AStartReadsTheNewEntriesAndThenAll) {
  {
    auto ledger = Open();
    Must(ledger->Store(Must(ledger->Begin(OnCensus("after the checkpoint", 1))), "a third answer"));
  }
  auto ledger = OpenLong("histories_verified");
  EXPECT_THAT(reported_, ElementsAre("new_entries_verified", "histories_verified"));
  EXPECT_TRUE(Must(ledger->Begin(OnCensus("next", 1))).newly_charged);
  EXPECT_TRUE(Must(ledger->Verify(census_.id)).ok);
}

TEST_P(CheckpointConformance, AWholePassReportsHowFarItHasCome) {
  {
    auto ledger = Open();
    for (int i = 0; i < 300; ++i) {
      Must(ledger->Begin(OnSurvey(absl::StrCat("one of many ", i), 0)));
    }
  }
  OpenLong("histories_verified");
  EXPECT_THAT(reported_, ElementsAre("new_entries_verified", "histories_verified"));
  ASSERT_THAT(progress_, Not(IsEmpty()));
  EXPECT_THAT(progress_.front(), StartsWith("80% of ")) << "the new entries have a page of their own";
  EXPECT_THAT(progress_.back(), StartsWith("100% of "));
}

TEST_P(CheckpointConformance, AWholePassOverShortHistoriesReportsThatItHasComeToTheEnd) {
  OpenLong("histories_verified");
  ASSERT_THAT(progress_, Not(IsEmpty()));
  EXPECT_THAT(progress_.back(), StartsWith("100% of "));
}

TEST_P(CheckpointConformance, AnUpdatedCheckpointLeavesTheAnchorsFolderAsItWas) {
  auto ledger = OpenLong("histories_verified");
  const std::string checkpoint = CheckpointOf(census_);
  ASSERT_TRUE(std::filesystem::remove(checkpoint));
  // Servers list the folder again after a change of it.
  const auto long_ago = std::filesystem::last_write_time(anchor_dir()) - std::chrono::hours(1);
  std::filesystem::last_write_time(anchor_dir(), long_ago);
  Must(ledger->RaiseToAnchor(RepairOfNothing(*ledger, census_, "stored")));
  EXPECT_TRUE(std::filesystem::exists(checkpoint));
  EXPECT_EQ(std::filesystem::last_write_time(anchor_dir()), long_ago);
}

TEST_P(CheckpointConformance, WhatACallHasFoundIsReadByTheNextStart) {
  {
    auto ledger = OpenLong("histories_verified");
    DamageTheStoredCharge();
    ExpectACallFindsTheDamage(*ledger);
  }
  auto ledger = OpenLong("dataset_damaged");
  EXPECT_EQ(reported_.front(), "dataset_damaged") << "nothing was charged before";
  ExpectCensusIsReadOnly(*ledger);
}

TEST_P(CheckpointConformance, DamageThatACallFindsAfterAPassHasBegunIsNotEndedByThePass) {
  auto ledger = OpenLong("histories_verified");
  DamageTheStoredCharge();
  const std::string path = CheckpointOf(census_);
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), S_IRUSR | S_IWUSR), 0);
  std::thread pass([&] { EXPECT_TRUE(Must(ledger->Verify(census_.id)).ok) << "of what is newer"; });
  {
    std::ofstream checkpoint(path, std::ios::binary);  // waits until the pass reads it
    ExpectACallFindsTheDamage(*ledger);
    checkpoint << content.str();
  }
  pass.join();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->Begin(OnCensus("next", 1)).status());
}

TEST_P(CheckpointConformance, AWholePassBesideACallThatFindsDamageLeavesNoCheckpoint) {
  // The pass over everything that follows the start: damage comes when it has read the last lineage.
  const bool is_census_last = census_.id > survey_.id;
  std::promise<sql::SqlLedger*> opened;
  std::promise<void> is_verified;
  const auto report = [&](std::string_view event, std::string_view detail) {
    if (event == "histories_verified") is_verified.set_value();
    if (event != "verifying_histories" || !detail.starts_with("100%")) return;
    Tamper("UPDATE charges SET postings = '[x]' WHERE request_id IN ('stored', 'other')");
    const ChargeRequest again = is_census_last ? OnCensus("stored", 4) : OnSurvey("other", 4);
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, opened.get_future().get()->Begin(again).status());
  };
  auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                          {.report = report, .long_history = 1}));
  opened.set_value(ledger.get());
  is_verified.get_future().wait();
  EXPECT_EQ(CheckpointOf(is_census_last ? census_ : survey_), "");
  EXPECT_NE(CheckpointOf(is_census_last ? survey_ : census_), "");
  ledger.reset();
}

TEST_P(CheckpointConformance, ALoweredBalanceIsFoundBeforeTheFirstCharge) {
  Tamper(absl::StrCat("UPDATE account_counters SET spent = spent - 1 WHERE account_id = ", census_account_));
  ExpectFoundAtStart();
}

TEST_P(CheckpointConformance, ADoubledLimitIsFoundBeforeTheFirstCharge) {
  Tamper(absl::StrCat("UPDATE account_counters SET limit_value = 2 * limit_value WHERE account_id = ",
                      census_account_));
  ExpectFoundAtStart();
}

TEST_P(CheckpointConformance, AnEditedOwnerIsFoundBeforeTheFirstCharge) {
  Tamper(absl::StrCat("UPDATE datasets SET owner = 'eve' WHERE id = '", census_.id, "'"));
  ExpectFoundAtStart();
}

TEST_P(CheckpointConformance, AnOpenChargeThatWasClosedIsFoundBeforeTheFirstCharge) {
  Tamper(
      "DELETE FROM open_charges WHERE charge_id = (SELECT id FROM charges WHERE request_id = 'started'); "
      "INSERT INTO endings (charge_id, state, reason, postings, ended_at_us) "
      "SELECT id, 'CANCELLED', '', '', 0 FROM charges WHERE request_id = 'started'");
  ExpectFoundAtStart();
}

TEST_P(CheckpointConformance, AFlippedBitInAnOldAnswerIsFoundByTheWholePassAndByEveryLaterStart) {
  FlipABit("releases", "payload", absl::StrCat("id = '", census_release_, "'"));
  ExpectCensusIsReadOnly(*OpenLong("dataset_damaged"));
  auto ledger = OpenLong("dataset_damaged");
  EXPECT_EQ(reported_.front(), "dataset_damaged") << "nothing was charged before";
  ExpectCensusIsReadOnly(*ledger);
}

TEST_P(CheckpointConformance, ADamagedCheckpointCountsAsNone) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(anchor_dir())) {
    if (file.path().extension() == ".checkpoint") std::ofstream(file.path()) << "not a checkpoint";
  }
  auto ledger = OpenLong("histories_verified");
  EXPECT_THAT(reported_, ElementsAre("histories_verified"));
  EXPECT_TRUE(Must(ledger->Begin(OnCensus("next", 1))).newly_charged);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, CheckpointConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
