// The rules by which an owner refuses requests: kept, and in the history before they bind.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/damage_conformance.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Opaque to the ledger, with a zero byte.
const std::string kRules("ru\0les", 6);

class RefusalRulesConformance : public DamageConformance {
 protected:
  Dataset Census(Ledger& ledger) { return Must(ledger.GetDataset("census")); }
  std::vector<std::string> RulesIn(Ledger& ledger) const {
    std::vector<std::string> rules;
    for (const Entry& entry : Must(ledger.ListEntries(census_.id, {}))) {
      if (entry.kind == kRulesSet) rules.push_back(Must(ParseRulesSet(entry.payload)).rules);
    }
    return rules;
  }
  ChargeRequest UnderRules(const Dataset& dataset, const std::string& request_id) const {
    return RequestOf(dataset, request_id, census_account_, 1);
  }
};

TEST_P(RefusalRulesConformance, RulesAreKeptAndAreInTheHistory) {
  auto ledger = Open();
  const int64_t revision = Census(*ledger).revision;
  const Dataset ruled = Must(SetRules(*ledger, census_, kRules, "first"));
  EXPECT_EQ(ruled.refusal_rules, kRules);
  EXPECT_EQ(ruled.refusal_rules_hash, HashOfRules(kRules));
  EXPECT_GT(Census(*ledger).revision, revision) << "what is cached is outdated";
  EXPECT_EQ(Census(*Open()).refusal_rules, kRules) << "also to other servers";
  EXPECT_THAT(RulesIn(*ledger), ElementsAre(kRules));
  const Dataset without = Must(SetRules(*ledger, census_, "", "second"));
  EXPECT_EQ(without.refusal_rules, "");
  EXPECT_EQ(without.refusal_rules_hash, "");
  EXPECT_THAT(RulesIn(*ledger), ElementsAre(kRules, ""));
  EXPECT_TRUE(Must(ledger->Verify(census_.id)).ok);
}

TEST_P(RefusalRulesConformance, ARepeatedRequestChangesNothing) {
  auto ledger = Open();
  Must(SetRules(*ledger, census_, "one", "first"));
  Must(SetRules(*ledger, census_, "two", "second"));
  EXPECT_EQ(Must(SetRules(*ledger, census_, "one", "first")).refusal_rules, "two");
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, SetRules(*ledger, census_, "three", "first").status());
  EXPECT_THAT(RulesIn(*ledger), ElementsAre("one", "two"));
}

TEST_P(RefusalRulesConformance, RulesThatStayAsTheyAreGetNoEntry) {
  auto ledger = Open();
  Must(SetRules(*ledger, census_, "one", "first"));
  const int64_t revision = Census(*ledger).revision;
  Must(SetRules(*ledger, census_, "one", "second"));
  EXPECT_EQ(Census(*ledger).revision, revision);
  EXPECT_THAT(RulesIn(*ledger), ElementsAre("one"));
}

TEST_P(RefusalRulesConformance, AnEditSeesThePresentRulesAndItsErrorRefusesTheChange) {
  auto ledger = Open();
  Must(SetRules(*ledger, census_, "one", "first"));
  const absl::Status refused =
      ledger
          ->SetRefusalRules({.request_id = "second",
                             .dataset_id = census_.id,
                             .asked = "more",
                             .edit = [](std::string_view present) -> absl::StatusOr<EditedRules> {
                               return absl::NotFoundError(absl::StrCat("none in ", std::string(present)));
                             },
                             .actor = TestPrincipal("olga")})
          .status();
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, refused);
  EXPECT_EQ(refused.message(), "none in one");
  EXPECT_THAT(RulesIn(*ledger), ElementsAre("one"));
}

TEST_P(RefusalRulesConformance, OnlySoManyBytesAreStoredAndAPublicDatasetHasNone) {
  auto ledger = Open();
  EXPECT_TRUE(SetRules(*ledger, census_, std::string(kMostRefusalRulesBytes, 'r'), "most").ok());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   SetRules(*ledger, census_, std::string(kMostRefusalRulesBytes + 1, 'r'), "more").status());
  DatasetSpec spec = SpecOf("open", 0);
  spec.accounts.clear();
  spec.is_public = true;
  const Dataset open = Must(ledger->CreateDataset(spec));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, SetRules(*ledger, open, "r", "public").status());
}

TEST_P(RefusalRulesConformance, ARuleBindsFromItsEntryOnWhateverWasPricedBefore) {
  auto ledger = Open();
  auto other = Open();
  const Dataset before = Census(*ledger);
  Must(ledger->Begin(UnderRules(before, "warm")));  // so that the next charge is made from what is cached
  const Dataset after = Must(SetRules(*other, census_, kRules, "first"));
  EXPECT_TRUE(IsDatasetChanged(ledger->Begin(UnderRules(before, "late")).status()));
  EXPECT_TRUE(IsDatasetChanged(ledger->Reserve({UnderRules(before, "late")}, kOneHourUs).status()));
  ChargeRequest queued = UnderRules(before, "late");
  queued.draw_identity = "identity";
  queued.sealed_key = "";
  EXPECT_TRUE(IsDatasetChanged(ledger->Queue(queued, kOneHourUs).status()));
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->FindCharge(TestPrincipal("ana"), "late").status());
  EXPECT_TRUE(Must(ledger->Begin(UnderRules(after, "late"))).newly_charged);
}

TEST_P(RefusalRulesConformance, WhatWasChargedQueuedOrHeldBeforeARuleStays) {
  auto ledger = Open();
  ChargeRequest queued = UnderRules(Census(*ledger), "queued");
  queued.draw_identity = "identity";
  queued.sealed_key = "";
  const std::string queued_id = Must(ledger->Queue(queued, kOneHourUs)).id;
  Must(SetRules(*ledger, census_, kRules, "first"));
  EXPECT_EQ(Must(ledger->Begin(OnCensus("stored", 4))).release->payload, "an answer");
  EXPECT_EQ(Must(ledger->Queue(queued, kOneHourUs)).id, queued_id);
  EXPECT_TRUE(ledger->StartQueued(queued_id, "sealed key", "token").ok());
  const Charge held = Must(ledger->FindCharge(TestPrincipal("ana"), "reserved"));
  EXPECT_EQ(Must(ledger->Reserve({OnCensus("reserved", 2)}, kOneHourUs)).at(0).id, held.id);
  EXPECT_EQ(Must(ledger->StartReserved(held.id, held.postings, TestPrincipal("ana"))).state,
            ChargeState::kStarted);
}

TEST_P(RefusalRulesConformance, ASuccessorBeginsWithACopyThatIsInItsOwnHistory) {
  auto ledger = Open();
  Must(SetRules(*ledger, census_, kRules, "first"));
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = census_.id;
  const Dataset successor = Must(ledger->CreateDataset(spec));
  EXPECT_EQ(successor.refusal_rules, kRules);
  const std::vector<Entry> entries = Must(ledger->ListEntries(successor.id, {}));
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].kind, kRulesSet);
  EXPECT_EQ(Must(ParseRulesSet(entries[1].payload)).summary, "taken over from census");
  Must(SetRules(*ledger, successor, "", "second"));
  EXPECT_EQ(Census(*ledger).refusal_rules, kRules) << "the copy is the successor's own";
  EXPECT_TRUE(Must(ledger->Verify(successor.id)).ok);
}

TEST_P(RefusalRulesConformance, AChangedColumnIsFoundAndTheRulesShownAreThoseOfTheHistory) {
  Must(SetRules(*Open(), census_, "rules", "first"));
  FlipABit("datasets", "refusal_rules", absl::StrCat("id = '", census_.id, "'"));
  auto ledger = Open();
  EXPECT_EQ(Census(*ledger).refusal_rules, "rules");
  EXPECT_EQ(Census(*ledger).refusal_rules_hash, HashOfRules("rules"));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, SetRules(*ledger, census_, "more", "second").status());
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->Begin(OnCensus("next", 1)).status());
  EXPECT_THAT(Must(ledger->Verify(census_.id)).findings, Contains(HasSubstr("its refusal rules")));
  ExpectOthersAreServed(*ledger);
}

TEST_P(RefusalRulesConformance, RulesThatWereTakenOutOfTheColumnAreFound) {
  Must(SetRules(*Open(), census_, "rules", "first"));
  Tamper(absl::StrCat("UPDATE datasets SET refusal_rules = (SELECT refusal_rules FROM datasets WHERE id = '",
                      survey_.id, "') WHERE id = '", census_.id, "'"));
  auto ledger = Open();
  EXPECT_THAT(Must(ledger->Verify(census_.id)).findings, Contains(HasSubstr("its refusal rules")));
  EXPECT_EQ(Census(*ledger).refusal_rules, "rules");
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, RefusalRulesConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace curator::ledger
