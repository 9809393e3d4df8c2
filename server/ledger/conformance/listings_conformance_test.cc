// Listings in pages: each page continues where the one before it ended, and shows only what its reader may
// see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ListingConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    ledger_ = Open();
  }

  ChargeRequest Request(const Dataset& dataset, const std::string& request_id, const std::string& principal) {
    ChargeRequest request = RequestOf(dataset, request_id, FirstAccount(*ledger_, dataset), 1);
    request.principal = TestPrincipal(principal);
    return request;
  }
  Release Released(const Dataset& dataset, const std::string& request_id, const std::string& principal,
                   const std::vector<Measure>& measures = {}) {
    return Must(ledger_->Store(Must(ledger_->Begin(Request(dataset, request_id, principal))),
                               "the answer to " + request_id, measures));
  }
  std::vector<int64_t> Sequences(const Dataset& dataset, const EntryRange& range) {
    std::vector<int64_t> sequences;
    for (const Entry& entry : Must(ledger_->ListEntries(dataset.id, range))) sequences.push_back(entry.seq);
    return sequences;
  }
  // The payload names what was asked; here the charge does.
  std::vector<std::string> Asked(const std::vector<Release>& releases) {
    std::vector<std::string> asked;
    for (const Release& release : releases) {
      asked.push_back(Must(ledger_->GetCharge(release.charge_id)).request_id);
    }
    return asked;
  }
  std::vector<std::string> NamesSeenBy(const std::string& principal, const NamePage& page) {
    std::vector<std::string> names;
    for (const Dataset& dataset :
         Must(ledger_->ListVisibleDatasets(TestPrincipal(principal), page)).datasets) {
      names.push_back(dataset.name);
    }
    return names;
  }

  static constexpr int kManyCharges = 260;
  void ReserveMany(const Dataset& dataset, const std::string& request_ids) {
    std::vector<ChargeRequest> requests;
    const ChargeRequest request = Request(dataset, "", "ana");
    for (int i = 0; i < kManyCharges; ++i) {
      requests.push_back(request);
      requests.back().request_id = absl::StrCat(request_ids, " ", i);
      requests.back().sealed_key.clear();
    }
    Must(ledger_->Reserve(requests, 1'000'000'000));
  }
  // A dataset with so many charges that its stored counts of events are behind.
  Dataset BehindInCounts(const std::string& name) {
    const Dataset dataset = MakeDataset(*ledger_, name, kManyCharges);
    ReserveMany(dataset, name);
    Must(ledger_->CountEvents(dataset.id, "", 10));
    return dataset;
  }

  std::unique_ptr<Ledger> ledger_;
};

TEST_P(ListingConformance, AReleaseIsFoundWithoutItsPayload) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 10);
  const std::string id = Released(dataset, "one", "ana").id;
  ASSERT_TRUE(ledger_->ShareRelease(id, "bob", {}, TestPrincipal("ana")).ok());
  Release whole = Must(ledger_->GetRelease(id));
  const Release head = Must(ledger_->GetReleaseWithoutPayload(id));
  EXPECT_TRUE(head.payload.empty());
  EXPECT_EQ(head.payload_size, std::ssize(whole.payload));
  EXPECT_EQ(head.payload_hash, whole.payload_hash);
  EXPECT_EQ(head.charge_id, whole.charge_id);
  EXPECT_EQ(head.principal, whole.principal);
  EXPECT_EQ(head.shared_with, whole.shared_with);
  EXPECT_EQ(ledger_->GetReleaseWithoutPayload(dataset.id).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(ListingConformance, DatasetsAreListedByNameForThoseWhoOwnOrWereGrantedThem) {
  std::vector<Dataset> datasets;
  for (const char* name : {"d", "B", "c", "a"}) datasets.push_back(MakeDataset(*ledger_, name, 10));
  for (const Dataset& dataset : {datasets[0], datasets[2]}) {
    ASSERT_TRUE(ledger_->SetGrant(dataset.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
    ASSERT_TRUE(ledger_->SetGrant(dataset.id, {.grantee = "ben"}, TestPrincipal("olga")).ok());
  }
  EXPECT_THAT(NamesSeenBy("olga", {}), ElementsAre("B", "a", "c", "d")) << "by bytes, in every store";
  EXPECT_THAT(NamesSeenBy("olga", {.after = "B", .limit = 2}), ElementsAre("a", "c"));
  EXPECT_THAT(NamesSeenBy("ana", {.limit = 1}), ElementsAre("c"));
  EXPECT_THAT(NamesSeenBy("ana", {.after = "c"}), ElementsAre("d"));
  EXPECT_THAT(NamesSeenBy("eve", {}), IsEmpty());
  EXPECT_FALSE(Must(ledger_->ListVisibleDatasets(TestPrincipal("ana"), {})).has_more);
  EXPECT_TRUE(Must(ledger_->ListVisibleDatasets(TestPrincipal("ana"), {.limit = 1})).has_more);

  const DatasetList seen = Must(ledger_->ListVisibleDatasets(TestPrincipal("ana"), {}));
  EXPECT_THAT(seen.datasets.at(0).grants, GrantedTo("ana")) << "not who else may see it";
  EXPECT_THAT(Must(ledger_->GetDataset("c", "ben")).grants, GrantedTo("ben"));
  EXPECT_THAT(Must(ledger_->GetDataset("c", "eve")).grants, IsEmpty());
  EXPECT_THAT(Must(ledger_->GetDatasetById(datasets[2].id)).grants, GrantedTo("ana", "ben"));
}

TEST_P(ListingConformance, APageOfDatasetsEndsWhereItsSchemasAreLarge) {
  for (const char* name : {"a", "b", "c"}) MakeDataset(*ledger_, name, 10);
  const auto schema_bytes = static_cast<int64_t>(Must(ledger_->GetDataset("a")).schema.size());
  const DatasetList two =
      Must(ledger_->ListVisibleDatasets(TestPrincipal("olga"), {.most_bytes = 2 * schema_bytes}));
  EXPECT_EQ(two.datasets.size(), 2U);
  EXPECT_TRUE(two.has_more);
  const DatasetList one = Must(ledger_->ListVisibleDatasets(TestPrincipal("olga"), {.most_bytes = 0}));
  EXPECT_EQ(one.datasets.size(), 1U) << "the one that fits no page has a page of its own";
}

TEST_P(ListingConformance, OperationsAreThoseOfOnePrincipalWithoutReservations) {
  const Dataset first = MakeDataset(*ledger_, "first", 100);
  const Dataset second = MakeDataset(*ledger_, "second", 100);
  Must(ledger_->Begin(Request(first, "r1", "ana")));
  Must(ledger_->Begin(Request(second, "r2", "ana")));
  Must(ledger_->Begin(Request(second, "other", "ben")));
  ChargeRequest reserved = Request(first, "reserved", "ana");
  reserved.kind = "reservation";
  reserved.sealed_key.clear();
  Must(ledger_->Reserve({reserved}, 1'000'000'000));
  Must(ledger_->Begin(Request(first, "r3", "ana")));

  const std::vector<Charge> newest = Must(ledger_->ListOperations(TestPrincipal("ana"), {.limit = 2}));
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].request_id, "r3");
  EXPECT_EQ(newest[1].request_id, "r2");
  const std::vector<Charge> rest =
      Must(ledger_->ListOperations(TestPrincipal("ana"), {.after_id = newest[1].id}));
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].request_id, "r1");
  EXPECT_THAT(Must(ledger_->DatasetNames({second.id, first.id})), ElementsAre("second", "first"));
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger_->DatasetNames({"nothing"}).status());
}

TEST_P(ListingConformance, ReleasesAreThoseThatTheirReaderPaidForOrWasGiven) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 100);
  const Release first = Released(dataset, "r1", "ana", {"x"});
  Released(dataset, "r2", "ben", {"x", "y"});
  Released(dataset, "r3", "ana", {"y"});
  Released(dataset, "r4", "ben");

  EXPECT_THAT(Asked(Must(ledger_->ListReleases(dataset.id)).releases), ElementsAre("r4", "r3", "r2", "r1"));
  const std::vector<Release> newest = Must(ledger_->ListReleases(dataset.id, "", {.limit = 2})).releases;
  EXPECT_THAT(Asked(newest), ElementsAre("r4", "r3"));
  EXPECT_THAT(Asked(Must(ledger_->ListReleases(dataset.id, "", {.after_id = newest[1].id})).releases),
              ElementsAre("r2", "r1"));
  EXPECT_THAT(Asked(Must(ledger_->ListReleases(dataset.id, "ben")).releases), ElementsAre("r4", "r2"));
  EXPECT_THAT(Asked(Must(ledger_->ListReleases(dataset.id, "eve")).releases), IsEmpty());

  EXPECT_THAT(Asked(Must(ledger_->FindReleases(dataset.id, "", {"x"}, 10))), ElementsAre("r2", "r1"));
  EXPECT_THAT(Asked(Must(ledger_->FindReleases(dataset.id, "", {"x", "y"}, 10))),
              ElementsAre("r3", "r2", "r1"));
  EXPECT_THAT(Asked(Must(ledger_->FindReleases(dataset.id, "", {"y"}, 1))), ElementsAre("r3"));
  EXPECT_THAT(Asked(Must(ledger_->FindReleases(dataset.id, "ben", {"x", "y"}, 10))), ElementsAre("r2"));

  ASSERT_TRUE(ledger_->ShareRelease(first.id, "ben", {"x"}, TestPrincipal("ana")).ok());
  EXPECT_THAT(Asked(Must(ledger_->ListReleases(dataset.id, "ben")).releases), ElementsAre("r4", "r2", "r1"));
  EXPECT_THAT(Asked(Must(ledger_->FindReleases(dataset.id, "ben", {"x"}, 10))), ElementsAre("r2", "r1"));
  ASSERT_TRUE(ledger_->ShareRelease(first.id, "ana", {"x"}, TestPrincipal("olga")).ok());
  EXPECT_THAT(Asked(Must(ledger_->ListReleases(dataset.id, "ana")).releases), ElementsAre("r3", "r1"))
      << "shared with the principal who paid for it";
}

TEST_P(ListingConformance, SharesOfOneReleaseHideNoOtherFromTheOwner) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 100);
  Released(dataset, "r1", "ana", {"x"});
  const Release shared = Released(dataset, "r2", "ana", {"x"});
  for (const char* const grantee : {"ben", "eve", "zoe"}) {
    ASSERT_TRUE(ledger_->ShareRelease(shared.id, grantee, {"x"}, TestPrincipal("ana")).ok());
  }
  EXPECT_THAT(Asked(Must(ledger_->FindReleases(dataset.id, "", {"x"}, 2))), ElementsAre("r2", "r1"));
  const std::vector<Release> of_eve = Must(ledger_->FindReleases(dataset.id, "eve", {"x"}, 2));
  ASSERT_EQ(of_eve.size(), 1u);
  EXPECT_THAT(of_eve[0].shared_with, ElementsAre("eve"));
}

TEST_P(ListingConformance, AccountsAreListedByTheirKeysAndThoseThatPayByPrincipal) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 100);
  const auto open = [&](const std::string& request_id, ScopeType scope, const std::string& key,
                        const std::vector<std::string>& members) {
    return Must(ledger_->CreateAccount({.request_id = request_id,
                                        .dataset_id = dataset.id,
                                        .account = {.scope_type = scope,
                                                    .scope_key = key,
                                                    .rule = "the rule",
                                                    .rule_name = "ZCDP",
                                                    .limits = {{"rho", 5}},
                                                    .members = members},
                                        .actor = TestPrincipal("olga")}))
        .id;
  };
  const int64_t whole = FirstAccount(*ledger_, dataset);
  const int64_t group = open("a3", ScopeType::kAnalystGroup, "interns", {"ana", "eve"});
  const int64_t ben = open("a2", ScopeType::kAnalyst, "ben", {});
  const int64_t ana = open("a1", ScopeType::kAnalyst, "ana", {});
  const auto after = [](ScopeType scope, const std::string& key) {
    return AccountPage{.after = AccountKey{scope, key}};
  };
  const auto ids = [](const std::vector<Account>& accounts) {
    std::vector<int64_t> found;
    for (const Account& account : accounts) found.push_back(account.id);
    return found;
  };
  EXPECT_THAT(ids(Must(ledger_->ListAccounts(dataset.id, {.limit = 2}))), ElementsAre(whole, ana));
  EXPECT_THAT(ids(Must(ledger_->ListAccounts(dataset.id, after(ScopeType::kAnalyst, "ana")))),
              ElementsAre(ben, group));
  EXPECT_THAT(ids(Must(ledger_->ListAccounts(dataset.id, after(ScopeType::kAnalyst, "zoe")))),
              ElementsAre(group));
  EXPECT_THAT(ids(Must(ledger_->ListAccounts(dataset.id, after(ScopeType::kAnalystGroup, "interns")))),
              ElementsAre());
  EXPECT_THAT(ids(Must(ledger_->ListPayingAccounts(dataset.id, "ana"))), ElementsAre(whole, ana, group));
  EXPECT_THAT(ids(Must(ledger_->ListPayingAccounts(dataset.id, "eve"))), ElementsAre(whole, group));
  EXPECT_THAT(ids(Must(ledger_->GetAccounts({ben, whole}))), ElementsAre(whole, ben));
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger_->GetAccounts({ben, 9999}).status());
  EXPECT_EQ(Must(ledger_->FindAccount(dataset.id, ScopeType::kAnalyst, "ben")).id, ben);
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger_->FindAccount(dataset.id, ScopeType::kAnalyst, "zoe").status());
}

std::vector<std::string> IdsOf(const std::vector<LimitProposal>& proposals) {
  std::vector<std::string> ids;
  for (const LimitProposal& proposal : proposals) ids.push_back(proposal.id);
  return ids;
}

TEST_P(ListingConformance, ProposalsAreListedNewestFirstForSomeAccountsOrForAll) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 100);
  const int64_t whole = FirstAccount(*ledger_, dataset);
  const int64_t ana = Must(ledger_->CreateAccount({.request_id = "a1",
                                                   .dataset_id = dataset.id,
                                                   .account = {.scope_type = ScopeType::kAnalyst,
                                                               .scope_key = "ana",
                                                               .rule = "the rule",
                                                               .rule_name = "ZCDP",
                                                               .limits = {{"rho", 5}}},
                                                   .actor = TestPrincipal("olga")}))
                          .id;
  const auto propose = [&](const std::string& request_id, int64_t account, int64_t limit) {
    return Must(ledger_->ProposeLimit({.request_id = request_id,
                                       .account_id = account,
                                       .counter = "rho",
                                       .new_limit = limit,
                                       .reason = "more",
                                       .proposed_by = TestPrincipal("olga")}));
  };
  const LimitProposal first = propose("p1", whole, 200);
  const LimitProposal second = propose("p2", ana, 6);
  const LimitProposal third = propose("p3", whole, 300);
  const std::vector<std::string> all = {third.id, second.id, first.id};
  EXPECT_EQ(IdsOf(Must(ledger_->ListLimitProposals(dataset.id))), all);
  EXPECT_THAT(IdsOf(Must(ledger_->ListLimitProposals(dataset.id, {ana}))), ElementsAre(second.id));
  EXPECT_THAT(IdsOf(Must(ledger_->ListLimitProposals(dataset.id, {whole, ana}, {.limit = 2}))),
              ElementsAre(all[0], all[1]));
  const ProposalPage after_newest{.before_us = third.proposed_at_us, .before_id = third.id};
  EXPECT_THAT(IdsOf(Must(ledger_->ListLimitProposals(dataset.id, {}, after_newest))),
              ElementsAre(all[1], all[2]));
  EXPECT_EQ(Must(ledger_->GetLimitProposal(second.id)).request_id, "p2");
  EXPECT_EQ(Must(ledger_->FindLimitProposal(TestPrincipal("olga"), "p1")).id, first.id);
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger_->GetLimitProposal("nothing").status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger_->FindLimitProposal(TestPrincipal("ana"), "p1").status());
}

TEST_P(ListingConformance, ProposalsAreInTheirOrderHoweverFastTheyAreMade) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 100);
  std::vector<std::string> made;
  for (int i = 0; i < 60; ++i) {
    made.push_back(Must(ledger_->ProposeLimit({.request_id = absl::StrCat("p", i),
                                               .account_id = FirstAccount(*ledger_, dataset),
                                               .counter = "rho",
                                               .new_limit = 200 + i,
                                               .reason = "more",
                                               .proposed_by = TestPrincipal("olga")}))
                       .id);
  }
  EXPECT_EQ(IdsOf(Must(ledger_->ListOpenProposals(dataset.id))), made);
  std::ranges::reverse(made);
  EXPECT_EQ(IdsOf(Must(ledger_->ListLimitProposals(dataset.id))), made);
}

TEST_P(ListingConformance, ADatasetWhoseEventsCannotBeCountedStopsTheCountsOfNoOther) {
  std::vector<std::string> ids = {BehindInCounts("census").id, BehindInCounts("survey").id};
  std::ranges::sort(ids);
  const std::string event = RequestOf(Dataset(), "", 0, 0).event;
  const sql::Outcome spoiled = OpenStore()->Write([&](sql::Transaction& transaction) {
    return transaction
        .Execute(
            "INSERT INTO event_counts (dataset_id, principal, event_hash, event, charges) VALUES ($1, "
            "'', $2, $3, 9223372036854775807)",
            {ids[0], sql::Bytes{Sha256(event)}, sql::Bytes{event}})
        .status();
  });
  ASSERT_TRUE(spoiled.status.ok()) << spoiled.status;
  EXPECT_FALSE(ledger_->AdvanceCounts().ok());
  EXPECT_FALSE(Must(ledger_->AdvanceCounts()));
  EXPECT_EQ(AskStore(absl::StrCat("SELECT COUNT(*) FROM event_counts_upto WHERE dataset_id = '", ids[1],
                                  "' AND counted_seq > 260")),
            1);
}

TEST_P(ListingConformance, WhileCountsOfEventsAreFarBehindTheyAreUnavailable) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 4 * kManyCharges);
  for (const char* const request_ids : {"a", "b", "c", "d"}) ReserveMany(dataset, request_ids);
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger_->CountEvents(dataset.id, "", 10).status());
  while (Must(ledger_->AdvanceCounts())) continue;
  EXPECT_EQ(Must(ledger_->CountEvents(dataset.id, "", 10)).at(0).charges, 4 * kManyCharges);
}

TEST_P(ListingConformance, AfterAnUpgradeNoEventsAreCounted) {
  BehindInCounts("census");
  ASSERT_TRUE(TryInStore("INSERT INTO schema_migrations (version, name, sha256, applied_at_us) SELECT "
                         "MAX(version) + 1, 'a later one', 'x', 0 FROM schema_migrations")
                  .ok());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->AdvanceCounts().status());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->Health());
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM event_counts_upto"), 0);
}

// Charges of two events, by two principals, and a cancelled reservation: as they are counted by a reader, and
// after the stored counts were brought forward.
TEST_P(ListingConformance, EventsAreCountedTheSameFromEntriesAndFromStoredCounts) {
  constexpr int kCharges = 300;
  const Dataset dataset = MakeDataset(*ledger_, "census", 2 * kCharges);
  for (int i = 0; i < kCharges; ++i) {
    ChargeRequest request = Request(dataset, absl::StrCat("r", i), i % 3 == 0 ? "ben" : "ana");
    if (i % 2 == 0) request.event = "another event";
    Must(ledger_->Begin(request));
  }
  ChargeRequest reserved = Request(dataset, "reserved", "ana");
  reserved.kind = "reservation";
  reserved.sealed_key.clear();
  const Charge held = Must(ledger_->Reserve({reserved}, 1'000'000'000)).at(0);
  const auto counts_of = [&](const std::string& principal) {
    std::map<std::string, int64_t> counts;
    for (const EventCount& count : Must(ledger_->CountEvents(dataset.id, principal, 10))) {
      counts[count.event] = count.charges;
    }
    return counts;
  };
  const std::string event = reserved.event;
  const std::map<std::string, int64_t> of_all = {{event, 151}, {"another event", 150}};
  const std::map<std::string, int64_t> of_ana = {{event, 101}, {"another event", 100}};
  EXPECT_EQ(counts_of(""), of_all);
  EXPECT_EQ(counts_of("ana"), of_ana);

  const std::string behind = "SELECT COALESCE((SELECT counted_seq FROM event_counts_upto), 0)";
  EXPECT_EQ(AskStore(behind), 0);
  EXPECT_FALSE(Must(ledger_->AdvanceCounts()));
  EXPECT_GT(AskStore(behind), kCharges);
  EXPECT_EQ(counts_of(""), of_all);
  EXPECT_EQ(counts_of("ana"), of_ana);

  Must(ledger_->CancelReserved(held.id, "not needed", TestPrincipal("ana")));
  EXPECT_EQ(counts_of("ana")[event], 100) << "the cancelled one is taken off the stored count";
  EXPECT_FALSE(Must(ledger_->AdvanceCounts())) << "few entries are left to the reader";
}

TEST_P(ListingConformance, ARangeOfAHistoryIsReadFromEitherEnd) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 100);
  for (const char* request : {"one", "two", "three"}) Released(dataset, request, "ana");
  const int64_t head = Must(ledger_->ListEntries(dataset.id, {})).back().seq;
  ASSERT_GT(head, 6);
  EXPECT_THAT(Sequences(dataset, {.after_seq = 1, .before_seq = 4}), ElementsAre(2, 3));
  EXPECT_THAT(Sequences(dataset, {.after_seq = 1, .limit = 2}), ElementsAre(2, 3));
  EXPECT_THAT(Sequences(dataset, {.limit = 2, .newest = true}), ElementsAre(head - 1, head));
  EXPECT_THAT(Sequences(dataset, {.before_seq = head - 1, .limit = 2, .newest = true}),
              ElementsAre(head - 3, head - 2));
  EXPECT_THAT(Sequences(dataset, {.after_seq = head - 1, .limit = 5, .newest = true}), ElementsAre(head));
  EXPECT_THAT(Sequences(dataset, {.after_seq = 3, .before_seq = 4}), IsEmpty());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger_->ListEntries(dataset.id, {.limit = 10'001, .newest = true}).status());
}

TEST_P(ListingConformance, TheEntriesOfOnesOwnChargesAreReadWithoutThoseOfOthers) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 100);
  for (const char* request : {"one", "two", "three"}) {
    Released(dataset, absl::StrCat("of ana, ", request), "ana");
    Released(dataset, absl::StrCat("of bob, ", request), "bob");
  }
  std::vector<int64_t> of_ana;
  for (const Entry& entry : Must(ledger_->ListEntries(dataset.id, {}))) {
    if (!entry.charge_id.empty() && ActorName(entry) == "ana") of_ana.push_back(entry.seq);
  }
  ASSERT_EQ(of_ana.size(), 6u);
  EXPECT_EQ(Sequences(dataset, {.charges_of = "ana"}), of_ana);
  EXPECT_THAT(Sequences(dataset, {.limit = 2, .newest = true, .charges_of = "ana"}),
              ElementsAre(of_ana[4], of_ana[5]));
  EXPECT_THAT(Sequences(dataset, {.before_seq = of_ana[4], .limit = 1, .newest = true, .charges_of = "ana"}),
              ElementsAre(of_ana[3]));
  EXPECT_THAT(Sequences(dataset, {.after_seq = of_ana[1], .limit = 1, .charges_of = "ana"}),
              ElementsAre(of_ana[2]));
  EXPECT_THAT(Sequences(dataset, {.charges_of = "olga"}), IsEmpty()) << "who made entries and no charge";
  EXPECT_THAT(Sequences(dataset, {.charges_of = "nobody"}), IsEmpty());
}

TEST_P(ListingConformance, HeadsOfHistoriesMoveWithEntriesAndSayWhatChangedBesideCharges) {
  const Dataset census = MakeDataset(*ledger_, "census", 100);
  const Dataset schools = MakeDataset(*ledger_, "schools", 100);
  const auto heads = [&] {
    std::map<std::string, HistoryHead> by_id;
    for (HistoryHead& head : Must(ledger_->HistoryHeads({census.id, "none", schools.id}))) {
      by_id[head.dataset_id] = head;
    }
    return by_id;
  };
  const auto before = heads();
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(before.at(census.id).seq, Must(ledger_->ListEntries(census.id, {})).back().seq);
  EXPECT_EQ(before.at(census.id).revision, Must(ledger_->GetDataset("census")).revision);
  Released(census, "one", "ana");
  EXPECT_EQ(heads().at(census.id).seq, before.at(census.id).seq + 2);
  EXPECT_EQ(heads().at(census.id).revision, before.at(census.id).revision) << "no right has changed";
  ASSERT_TRUE(ledger_->SetGrant(census.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
  EXPECT_GT(heads().at(census.id).revision, before.at(census.id).revision);
  EXPECT_EQ(heads().at(schools.id).seq, before.at(schools.id).seq);
  EXPECT_THAT(Must(ledger_->HistoryHeads({})), IsEmpty());
}

TEST_P(ListingConformance, APageHoldsAtLeastOneAndAtMostAThousand) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 100);
  for (const int64_t limit : {int64_t{0}, int64_t{-1}, int64_t{1001}}) {
    for (const absl::Status& refused :
         {ledger_->ListVisibleDatasets(TestPrincipal("olga"), {.limit = limit}).status(),
          ledger_->ListOperations(TestPrincipal("olga"), {.limit = limit}).status(),
          ledger_->ListReleases(dataset.id, "", {.limit = limit}).status(),
          ledger_->ListAccounts(dataset.id, {.limit = limit}).status(),
          ledger_->ListLimitProposals(dataset.id, {}, {.limit = limit}).status()}) {
      EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, refused);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, ListingConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
