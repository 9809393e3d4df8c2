// What a server's ledger stores of principals: pseudonyms, which its callers never see, and which are
// nobody's once a name is forgotten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/history/entry_payload.h"
#include "ledger/history/hash_chain.h"
#include "ledger/inspect_ledger.h"
#include "ledger/pseudonyms/pseudonym.h"

namespace curator::ledger {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class PseudonymConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    ledger_ = OpenNamed();
  }
  // As a server does.
  std::unique_ptr<Ledger> OpenNamed() {
    return Must(OpenLedger({.url = url(), .anchor_dir = anchor_dir(), .entropy = SeededEntropy(NextSeed())}));
  }
  // Of an account that everybody pays from.
  ChargeRequest Request(const Dataset& dataset, const std::string& request_id, const std::string& principal) {
    ChargeRequest request = RequestOf(dataset, request_id, FirstAccount(*ledger_, dataset), 1);
    request.principal = TestPrincipal(principal);
    return request;
  }
  Release Released(const Dataset& dataset, const std::string& request_id, const std::string& principal) {
    return Must(ledger_->Store(Must(ledger_->Begin(Request(dataset, request_id, principal))), "an answer"));
  }
  NewAccount AccountOf(const Dataset& dataset, const std::string& key,
                       std::vector<std::string> members = {}) {
    return {.request_id = absl::StrCat("open ", ++accounts_),
            .dataset_id = dataset.id,
            .account = {.scope_type = members.empty() ? ScopeType::kAnalyst : ScopeType::kAnalystGroup,
                        .scope_key = key,
                        .rule = "rule",
                        .rule_name = "ZCDP",
                        .limits = {{"rho", 2}},
                        .members = std::move(members)},
            .actor = TestPrincipal("olga")};
  }
  Dataset Granted(const std::string& name, const std::vector<std::string>& grantees) {
    const Dataset dataset = MakeDataset(*ledger_, name, 100);
    for (const std::string& grantee : grantees) {
      EXPECT_TRUE(ledger_->SetGrant(dataset.id, {.grantee = grantee}, TestPrincipal("olga")).ok());
    }
    return Must(ledger_->GetDatasetById(dataset.id));
  }

  // How often the store has `word` in any column of any table, as text or as bytes. Closes the ledger.
  int64_t CountInStore(const std::string& word) {
    ledger_.reset();
    if (url().starts_with("sqlite:")) {
      std::ostringstream file;
      file << std::ifstream(url().substr(7), std::ios::binary).rdbuf();
      const std::string bytes = file.str();
      int64_t count = 0;
      for (size_t at = bytes.find(word); at != std::string::npos; at = bytes.find(word, at + 1)) ++count;
      return count;
    }
    int64_t count = 0;
    for (const std::string& table : Tables()) {
      count += AskStore(absl::StrCat("SELECT COUNT(*) FROM ", table,
                                     " AS each WHERE CAST(each AS TEXT) LIKE '%", word,
                                     "%' OR CAST(each AS TEXT) LIKE '%", absl::BytesToHexString(word), "%'"));
    }
    return count;
  }
  std::vector<std::string> Tables() {
    std::vector<std::string> tables;
    const sql::Outcome outcome = OpenStore()->Read([&](sql::Transaction& transaction) -> absl::Status {
      tables.clear();
      const auto rows = transaction.Execute(
          "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public'", {});
      if (!rows.ok()) return rows.status();
      for (const sql::Row& row : *rows) tables.push_back(row.Text(0));
      return absl::OkStatus();
    });
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return tables;
  }

  int accounts_ = 0;
  std::unique_ptr<Ledger> ledger_;
};

INSTANTIATE_TEST_SUITE_P(Backends, PseudonymConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& backend) { return backend.param; });

// ---- Names go in and come out

TEST_P(PseudonymConformance, DatasetsAndGrantsHaveTheNamesThatWereGiven) {
  const Dataset dataset = Granted("census", {"zoe", "bob", "ana"});
  EXPECT_EQ(dataset.owner, "olga");
  EXPECT_THAT(dataset.grants, GrantedTo("ana", "bob", "zoe"));
  EXPECT_THAT(Must(ledger_->GetDataset("census", "bob")).grants, GrantedTo("bob"));
  EXPECT_THAT(Must(ledger_->GetDatasetById(dataset.id, "zoe")).grants, GrantedTo("zoe"));
  EXPECT_THAT(Must(ledger_->GetDataset("census", "eve")).grants, IsEmpty());
  EXPECT_EQ(Must(ledger_->ListDatasets()).at(0).owner, "olga");
  EXPECT_THAT(Must(ledger_->ListVisibleDatasets(TestPrincipal("ana"))).datasets, SizeIs(1));
  EXPECT_THAT(Must(ledger_->ListVisibleDatasets(TestPrincipal("eve"))).datasets, IsEmpty());
  EXPECT_THAT(Must(ledger_->FindContent(TestPrincipal("olga"), {"content of census"})), SizeIs(1));
  EXPECT_THAT(Must(ledger_->FindContent(TestPrincipal("ana"), {"content of census"})), IsEmpty());
  EXPECT_TRUE(Must(ledger_->HasGrantInLineage(dataset.id, "ana", kGrantedAnalyst)));
  EXPECT_FALSE(Must(ledger_->HasGrantInLineage(dataset.id, "eve", kGrantedAnalyst)));
  EXPECT_TRUE(Must(ledger_->KnowsPrincipal("ana")));
  EXPECT_FALSE(Must(ledger_->KnowsPrincipal("eve")));
  EXPECT_TRUE(Must(ledger_->OwnsOpenDataset("olga")));
  EXPECT_FALSE(Must(ledger_->OwnsOpenDataset("ana")));
  ASSERT_TRUE(ledger_->ArchiveDataset(dataset.id, TestPrincipal("olga")).ok());
  EXPECT_FALSE(Must(ledger_->OwnsOpenDataset("olga")));
}

TEST_P(PseudonymConformance, AccountsHaveTheNamesOfAnalystsAndMembersInTheirOrder) {
  const Dataset dataset = Granted("census", {"ana", "bob", "zoe"});
  for (const char* analyst : {"zoe", "ana"}) {
    EXPECT_EQ(Must(ledger_->CreateAccount(AccountOf(dataset, analyst))).scope_key, analyst);
  }
  const Account group = Must(ledger_->CreateAccount(AccountOf(dataset, "team", {"ana", "bob", "zoe"})));
  EXPECT_EQ(group.scope_key, "team");
  EXPECT_THAT(group.members, ElementsAre("ana", "bob", "zoe"));
  EXPECT_EQ(Must(ledger_->FindAccount(dataset.id, ScopeType::kAnalyst, "zoe")).scope_key, "zoe");
  EXPECT_TRUE(absl::IsNotFound(ledger_->FindAccount(dataset.id, ScopeType::kAnalyst, "bob").status()));
  std::vector<int64_t> ids;
  std::vector<std::string> keys;
  for (const Account& account : Must(ledger_->ListAccounts(dataset.id))) ids.push_back(account.id);
  for (const Account& account : Must(ledger_->GetAccounts(ids))) keys.push_back(account.scope_key);
  EXPECT_THAT(keys, ElementsAre("", "ana", "zoe", "team"));
  keys.clear();
  for (const Account& account : Must(ledger_->ListPayingAccounts(dataset.id, "zoe"))) {
    keys.push_back(account.scope_key);
  }
  EXPECT_THAT(keys, ElementsAre("", "zoe", "team"));
}

TEST_P(PseudonymConformance, MembersThatAreNotAscendingAreRefusedWhateverTheirPseudonyms) {
  const Dataset dataset = Granted("census", {});
  for (const std::vector<std::string>& members :
       {std::vector<std::string>{"zoe", "ana"}, {"ana", "ana"}, {"bob", "ana", "zoe"}}) {
    const absl::Status refused = ledger_->CreateAccount(AccountOf(dataset, "team", members)).status();
    EXPECT_EQ(FieldViolationOf(refused).value_or(FieldViolation()).field, "members") << refused;
  }
}

TEST_P(PseudonymConformance, PagesOfAccountsLoseAndRepeatNone) {
  const Dataset dataset = Granted("census", {});
  std::set<std::string> made;
  for (int i = 0; i < 12; ++i) {
    made.insert(absl::StrCat("analyst", i));
    Must(ledger_->CreateAccount(AccountOf(dataset, absl::StrCat("analyst", i))));
  }
  std::set<std::string> seen;
  AccountPage page{.limit = 1};
  for (auto accounts = Must(ledger_->ListAccounts(dataset.id, page)); !accounts.empty();
       accounts = Must(ledger_->ListAccounts(dataset.id, page))) {
    page.after = KeyOf(accounts.back());
    if (accounts.back().scope_type == ScopeType::kDataset) continue;
    EXPECT_TRUE(seen.insert(accounts.back().scope_key).second);
  }
  EXPECT_EQ(seen, made);
}

TEST_P(PseudonymConformance, ChargesAndReleasesHaveTheNameOfTheirPrincipal) {
  const Dataset dataset = Granted("census", {"ana", "bob", "zoe"});
  const Attempt attempt = Must(ledger_->Begin(Request(dataset, "r1", "ana")));
  EXPECT_EQ(attempt.charge.principal, "ana");
  EXPECT_EQ(attempt.charge.stored_principal, Must(ledger_->PseudonymOf("ana")));
  EXPECT_EQ(Must(ledger_->TakeOver(attempt.charge.id)).charge.principal, "ana");
  const Attempt again = Must(ledger_->Begin(Request(dataset, "r1", "ana")));
  EXPECT_EQ(Must(ledger_->Store(again, "an answer")).principal, "ana");
  EXPECT_EQ(Must(ledger_->GetCharge(attempt.charge.id)).principal, "ana");
  EXPECT_EQ(Must(ledger_->FindCharge(TestPrincipal("ana"), "r1")).id, attempt.charge.id);
  EXPECT_TRUE(absl::IsNotFound(ledger_->FindCharge(TestPrincipal("bob"), "r1").status()));
  EXPECT_THAT(Must(ledger_->ListOperations(TestPrincipal("ana"))), SizeIs(1));
  EXPECT_THAT(Must(ledger_->ListOperations(TestPrincipal("bob"))), IsEmpty());
  EXPECT_EQ(Must(ledger_->LatestCharge(dataset.id, TestPrincipal("ana"))).principal, "ana");
  EXPECT_THAT(Must(ledger_->CountEvents(dataset.id, "ana", 10)), SizeIs(1));
  EXPECT_THAT(Must(ledger_->CountEvents(dataset.id, "bob", 10)), IsEmpty());

  const std::string release = Must(ledger_->GetCharge(attempt.charge.id)).release_id;
  for (const char* reader : {"zoe", "bob"}) {
    ASSERT_TRUE(ledger_->ShareRelease(release, reader, {}, TestPrincipal("ana")).ok());
  }
  EXPECT_THAT(Must(ledger_->GetRelease(release)).shared_with, ElementsAre("bob", "zoe"));
  EXPECT_EQ(Must(ledger_->GetReleaseWithoutPayload(release)).principal, "ana");
  EXPECT_THAT(Must(ledger_->ListReleases(dataset.id, "bob")).releases, SizeIs(1));
  EXPECT_THAT(Must(ledger_->ListReleases(dataset.id, "eve")).releases, IsEmpty());
  EXPECT_EQ(Must(ledger_->FindReleases(dataset.id, "ana", {std::string(kUnknownMeasure)}, 10)).size(),
            Must(ledger_->FindReleases(dataset.id, "", {std::string(kUnknownMeasure)}, 10)).size());
  const EarlierRequest earlier = Must(ledger_->FindEarlier({.principal = TestPrincipal("ana"),
                                                            .request_id = "r1",
                                                            .dataset_id = dataset.id,
                                                            .account_ids = {},
                                                            .reader = "ana"}));
  EXPECT_EQ(earlier.charge->principal, "ana");
  EXPECT_EQ(ActorName(*earlier.entry), "ana");
  EXPECT_EQ(earlier.release->principal, "ana");
}

TEST_P(PseudonymConformance, ReservationsAndQueuedDrawsHaveTheNameOfTheirPrincipal) {
  const Dataset dataset = Granted("census", {"ana"});
  const Principal ana = TestPrincipal("ana");
  std::vector<ChargeRequest> requests;
  for (const char* id : {"started", "cancelled"}) {
    requests.push_back(Request(dataset, id, "ana"));
    requests.back().sealed_key.clear();
  }
  const std::vector<Charge> reserved = Must(ledger_->Reserve(requests, 1'000'000'000));
  EXPECT_EQ(reserved.at(1).principal, "ana");
  EXPECT_EQ(Must(ledger_->ExtendReserved(reserved.at(0).id, 2'000'000'000, ana)).principal, "ana");
  EXPECT_EQ(Must(ledger_->StartReserved(reserved.at(0).id, reserved.at(0).postings, ana)).principal, "ana");
  EXPECT_EQ(Must(ledger_->CommitReserved(reserved.at(0).id, ana)).principal, "ana");
  EXPECT_EQ(Must(ledger_->CancelReserved(reserved.at(1).id, "not needed", ana)).principal, "ana");
  ChargeRequest draw = Request(dataset, "queued", "ana");
  draw.sealed_key.clear();
  draw.draw_identity = "identity";
  const Charge queued = Must(ledger_->Queue(draw, 1'000'000'000));
  EXPECT_EQ(queued.principal, "ana");
  const Attempt begun = Must(ledger_->StartQueued(queued.id, "key", "token"));
  EXPECT_EQ(begun.charge.principal, "ana");
  EXPECT_TRUE(ledger_->Forfeit(begun, "stopped").ok());
  for (const Entry& entry : Must(ledger_->ListEntries(dataset.id, {}))) {
    EXPECT_EQ(entry.actor_name, entry.charge_id.empty() ? "olga" : "ana") << entry.kind;
  }
  EXPECT_TRUE(Must(ledger_->Verify(dataset.id)).ok);
}

TEST_P(PseudonymConformance, ProposalsHaveTheNamesOfThoseWhoMadeAndDecidedThem) {
  const Dataset dataset = Granted("census", {"ana"});
  const int64_t account = FirstAccount(*ledger_, dataset);
  LimitProposalSpec spec{.request_id = "more",
                         .account_id = account,
                         .counter = "rho",
                         .new_limit = 200,
                         .reason = "a second study",
                         .proposed_by = TestPrincipal("ana"),
                         .is_request = true};
  const LimitProposal asked = Must(ledger_->ProposeLimit(spec));
  EXPECT_EQ(asked.proposed_by, "ana");
  EXPECT_THAT(Must(ledger_->ListLimitProposals(dataset.id, {}, {.requests_of = "ana"})), SizeIs(1));
  EXPECT_THAT(Must(ledger_->ListLimitProposals(dataset.id, {}, {.requests_of = "bob"})), IsEmpty());
  EXPECT_EQ(Must(ledger_->FindLimitProposal(TestPrincipal("ana"), "more")).id, asked.id);
  EXPECT_EQ(
      Must(ledger_->EndLimitProposal(asked.id, ProposalEnd::kRejected, "no", TestPrincipal("vera"))).ended_by,
      "vera");
  spec.proposed_by = TestPrincipal("olga");
  spec.is_request = false;
  const LimitProposal proposed = Must(ledger_->ProposeLimit(spec));
  EXPECT_EQ(Must(ledger_->ListOpenProposals(dataset.id)).at(0).proposed_by, "olga");
  EXPECT_TRUE(absl::IsFailedPrecondition(ledger_->ApproveLimit(proposed.id, TestPrincipal("olga")).status()))
      << "by whom it was proposed";
  EXPECT_EQ(Must(ledger_->ApproveLimit(proposed.id, TestPrincipal("vera"))).approved_by, "vera");
  EXPECT_EQ(Must(ledger_->GetLimitProposal(proposed.id)).approved_by, "vera");
}

TEST_P(PseudonymConformance, EntriesHaveTheActorAsHashedAndItsNameBesideIt) {
  const Dataset dataset = Granted("census", {"ana"});
  const Release release = Released(dataset, "r1", "ana");
  Must(ledger_->CreateAccount(AccountOf(dataset, "bob")));
  Must(ledger_->CreateAccount(AccountOf(dataset, "team", {"ana", "bob"})));
  ASSERT_TRUE(ledger_->ShareRelease(release.id, "bob", {}, TestPrincipal("ana")).ok());
  ASSERT_TRUE(ledger_->RecordOwnerAction(dataset.id, "counted rows", TestPrincipal("olga")).ok());
  std::map<std::string, Entry> last;
  ChainHead head;
  for (const Entry& entry : Must(ledger_->ListEntries(dataset.id, {}))) {
    EXPECT_THAT(BrokenLinks(head, entry), IsEmpty());
    EXPECT_TRUE(IsPseudonym(entry.actor)) << entry.kind;
    head = {entry.seq, entry.hash};
    last[entry.kind] = entry;
  }
  EXPECT_EQ(ActorName(last[kCharged]), "ana");
  EXPECT_EQ(ActorName(last[kGranted]), "olga");
  EXPECT_EQ(Must(ParseGrant(NamedPayload(last[kGranted]))).grantee, "ana");
  EXPECT_EQ(Must(ParseGrant(last[kGranted].payload)).grantee, Must(ledger_->PseudonymOf("ana")));
  EXPECT_EQ(Must(ParseDatasetCreated(NamedPayload(last[kDatasetCreated]))).owner, "olga");
  EXPECT_THAT(Must(ParseOpenedAccount(NamedPayload(last[kAccountOpened]))).spec.members,
              ElementsAre("ana", "bob"));
  EXPECT_EQ(Must(ParseNote(NamedPayload(last[kReleaseShared]))), absl::StrCat(release.id, " bob"));
  EXPECT_EQ(ActorName(Must(ledger_->ChargeEntry(release.charge_id))), "ana");
  const Entry appended = Must(ledger_->AppendServerEntry({0, "PRINCIPAL_CREATED", "payload", "ada"}));
  EXPECT_EQ(appended.actor, Must(ledger_->PseudonymOf("ada")));
  EXPECT_EQ(ActorName(Must(ledger_->ListServerEntries({})).at(0)), "ada");
  EXPECT_EQ(Must(ledger_->AppendServerEntry({1, "PRINCIPAL_CREATED", "payload", "@host"})).actor, "@host");
}

TEST_P(PseudonymConformance, MessagesNamePrincipals) {
  const Dataset dataset = Granted("census", {"ana"});
  const Account account = Must(ledger_->CreateAccount(AccountOf(dataset, "ana")));
  ChargeRequest request = Request(dataset, "r1", "ana");
  request.postings.push_back({account.id, "rho", 3});
  const absl::Status full = ledger_->Begin(request).status();
  ASSERT_THAT(FullAccountsOf(full), SizeIs(1)) << full;
  EXPECT_EQ(FullAccountsOf(full).at(0).account, "dataset/census/analyst/ana");
  EXPECT_THAT(std::string(full.message()), HasSubstr("dataset/census/analyst/ana"));
  EXPECT_THAT(std::string(full.message()), Not(HasSubstr("~")));
}

// ---- What is stored

TEST_P(PseudonymConformance, TablesAndEntriesHaveNoNameBesideTheTableOfPseudonyms) {
  const Dataset dataset = Granted("census", {"anabella"});
  Must(ledger_->CreateAccount(AccountOf(dataset, "anabella")));
  Must(ledger_->CreateAccount(AccountOf(dataset, "team", {"anabella", "bob"})));
  ChargeRequest request = Request(dataset, "r1", "anabella");
  for (const Account& account : Must(ledger_->ListPayingAccounts(dataset.id, "anabella"))) {
    if (account.scope_type != ScopeType::kDataset) request.postings.push_back({account.id, "rho", 1});
  }
  const Release release = Must(ledger_->Store(Must(ledger_->Begin(request)), "an answer"));
  ASSERT_TRUE(ledger_->ShareRelease(release.id, "anabella", {}, TestPrincipal("olga")).ok());
  Must(ledger_->ProposeLimit({.request_id = "more",
                              .account_id = FirstAccount(*ledger_, dataset),
                              .counter = "rho",
                              .new_limit = 200,
                              .reason = "a second study",
                              .proposed_by = TestPrincipal("anabella"),
                              .is_request = true}));
  Must(ledger_->AppendServerEntry({0, "PRINCIPAL_CREATED", "payload", "anabella"}));
  const std::string pseudonym = Must(ledger_->PseudonymOf("anabella"));
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM pseudonyms WHERE name = 'anabella'"), 1);
  EXPECT_GE(CountInStore("anabella"), 1) << "in the table of pseudonyms";

  ledger_ = OpenNamed();
  ASSERT_TRUE(ledger_->ForgetName(pseudonym).ok());
  EXPECT_EQ(CountInStore("anabella"), 0) << "nowhere else";
  EXPECT_GE(CountInStore(pseudonym), 1);
}

// Without this the test above could be looking at nothing.
TEST_P(PseudonymConformance, TheCanaryLedgerWithoutPseudonymsHasTheNameInItsTables) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 10);
  ledger_.reset();
  ASSERT_EQ(CountInStore("anabella"), 0);
  ledger_ = Open();
  ASSERT_TRUE(ledger_->RecordOwnerAction(dataset.id, "counted rows", TestPrincipal("anabella")).ok());
  EXPECT_GE(CountInStore("anabella"), 1);
}

TEST_P(PseudonymConformance, ServersThatMeetANameAtOnceGiveItOnePseudonym) {
  std::vector<std::unique_ptr<Ledger>> servers;
  for (int i = 0; i < 4; ++i) servers.push_back(OpenNamed());
  std::vector<std::string> pseudonyms(servers.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < servers.size(); ++i) {
    threads.emplace_back([&, i] { pseudonyms[i] = Must(servers[i]->PseudonymOf("ana")); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(pseudonyms, Each(pseudonyms.front()));
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM pseudonyms"), 1);
}

// Nobody gets the rights or charges of another by a row that was edited.
TEST_P(PseudonymConformance, ARowWhoseNameWasChangedNamesNobodyAndLetsNobodyAct) {
  const Dataset dataset = Granted("census", {"ana", "bob"});
  const Release release = Released(dataset, "r1", "ana");
  const std::string pseudonym = Must(ledger_->PseudonymOf("ana"));
  ledger_.reset();
  Tamper("UPDATE pseudonyms SET name = 'eve' WHERE name = 'ana'");
  ledger_ = OpenNamed();
  EXPECT_TRUE(absl::IsDataLoss(ledger_->GetDataset("census", "eve").status()));
  EXPECT_TRUE(absl::IsDataLoss(ledger_->Begin(Request(dataset, "r2", "eve")).status()));
  EXPECT_EQ(Must(ledger_->GetRelease(release.id)).principal, pseudonym);
  EXPECT_THAT(Must(ledger_->GetDataset("census")).grants, GrantedTo("bob", pseudonym));
  EXPECT_EQ(Must(ledger_->Begin(Request(dataset, "r3", "bob"))).charge.principal, "bob");
  const Inspection inspection = Must(InspectLedger(url(), anchor_dir()));
  EXPECT_FALSE(inspection.ok());
  EXPECT_THAT(inspection.findings, ElementsAre(HasSubstr("the table of pseudonyms was changed")));
}

TEST_P(PseudonymConformance, WhatNoPrincipalIsCalledGetsNoPseudonym) {
  for (const char* name : {"two words", "~", "a/b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ledger_->PseudonymOf(name).status())) << name;
  }
  EXPECT_EQ(Must(ledger_->PseudonymOf("@host")), "@host");
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM pseudonyms"), 0);
}

TEST_P(PseudonymConformance, AskingAboutANameStoresNothing) {
  const Dataset dataset = MakeDataset(*ledger_, "census", 10);
  Must(ledger_->GetDataset("census", "eve"));
  Must(ledger_->KnowsPrincipal("eve"));
  Must(ledger_->ListReleases(dataset.id, "eve"));
  EXPECT_TRUE(absl::IsNotFound(ledger_->FindCharge(TestPrincipal("eve"), "r1").status()));
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM pseudonyms WHERE name = 'eve'"), 0);
}

// ---- Forgetting

TEST_P(PseudonymConformance, OfAForgottenNameEverythingElseStays) {
  const Dataset dataset = Granted("census", {"ana", "bob"});
  Must(ledger_->CreateAccount(AccountOf(dataset, "ana")));
  ChargeRequest request = Request(dataset, "r1", "ana");
  request.postings.push_back(
      {Must(ledger_->FindAccount(dataset.id, ScopeType::kAnalyst, "ana")).id, "rho", 1});
  const Release release = Must(ledger_->Store(Must(ledger_->Begin(request)), "an answer"));
  const std::string pseudonym = Must(ledger_->PseudonymOf("ana"));
  const std::string head = Must(ledger_->Verify(dataset.id)).head_hash;
  ASSERT_TRUE(ledger_->ForgetName(pseudonym).ok());
  ASSERT_TRUE(ledger_->ForgetName(pseudonym).ok()) << "again";

  for (const bool is_opened_again : {false, true}) {
    if (is_opened_again) {
      ledger_.reset();
      ledger_ = OpenNamed();
    }
    const Verification verification = Must(ledger_->Verify(dataset.id));
    EXPECT_THAT(verification.findings, IsEmpty());
    EXPECT_EQ(verification.head_hash, head);
    EXPECT_EQ(BalanceOf(*ledger_, dataset).spent, 1);
    EXPECT_EQ(Must(ledger_->GetRelease(release.id)).principal, pseudonym);
    EXPECT_THAT(Must(ledger_->GetDatasetById(dataset.id)).grants, GrantedTo("bob", pseudonym));
    EXPECT_EQ(Must(ledger_->FindAccount(dataset.id, ScopeType::kAnalyst, pseudonym)).counters.at(0).spent, 1);
    EXPECT_EQ(ActorName(Must(ledger_->ChargeEntry(release.charge_id))), pseudonym);
  }
}

TEST_P(PseudonymConformance, AForgottenNameIsAnotherPrincipalsAfterwards) {
  const Dataset dataset = Granted("census", {"ana"});
  Released(dataset, "r1", "ana");
  const std::string pseudonym = Must(ledger_->PseudonymOf("ana"));
  ASSERT_TRUE(ledger_->ForgetName(pseudonym).ok());
  EXPECT_FALSE(Must(ledger_->KnowsPrincipal("ana")));
  EXPECT_NE(Must(ledger_->PseudonymOf("ana")), pseudonym);
  EXPECT_THAT(Must(ledger_->GetDataset("census", "ana")).grants, IsEmpty());
  EXPECT_FALSE(Must(ledger_->HasGrantInLineage(dataset.id, "ana", kAllGrantedRoles)));
  EXPECT_TRUE(absl::IsNotFound(ledger_->FindCharge(TestPrincipal("ana"), "r1").status()));
  EXPECT_THAT(Must(ledger_->ListReleases(dataset.id, "ana")).releases, IsEmpty());
  EXPECT_TRUE(Must(ledger_->Begin(Request(dataset, "r1", "ana"))).newly_charged)
      << "the request of another principal";
}

TEST_P(PseudonymConformance, ADrawThatANameWasForgottenDuringIsStoredAsItsOwn) {
  const Dataset dataset = Granted("census", {"ana"});
  const Attempt stored = Must(ledger_->Begin(Request(dataset, "stored", "ana")));
  const Attempt forfeited = Must(ledger_->Begin(Request(dataset, "forfeited", "ana")));
  const std::string pseudonym = Must(ledger_->PseudonymOf("ana"));
  ASSERT_TRUE(ledger_->ForgetName(pseudonym).ok());
  Must(ledger_->PseudonymOf("ana"));  // another one
  EXPECT_EQ(Must(ledger_->Store(stored, "an answer")).principal, pseudonym);
  EXPECT_TRUE(ledger_->Forfeit(forfeited, "stopped").ok());
  EXPECT_EQ(Must(ledger_->ListEntries(dataset.id, {})).back().actor, pseudonym);
  EXPECT_THAT(Must(ledger_->Verify(dataset.id)).findings, IsEmpty());
}

TEST_P(PseudonymConformance, ANameThatIsLookedUpIsNotMade) {
  EXPECT_EQ(Must(ledger_->FindPseudonym("ana")), "ana");
  EXPECT_EQ(Must(ledger_->FindPseudonym("ana")), "ana");
  EXPECT_EQ(Must(ledger_->FindPseudonym("no name!")), "no name!");
  const std::string pseudonym = Must(ledger_->PseudonymOf("ana"));
  EXPECT_EQ(Must(ledger_->FindPseudonym("ana")), pseudonym);
  EXPECT_EQ(Must(ledger_->FindPseudonym(pseudonym)), pseudonym);
}

TEST_P(PseudonymConformance, AnotherServerForgetsANameWhenItIsTold) {
  const Dataset dataset = Granted("census", {"ana"});
  const auto other = OpenNamed();
  const std::string pseudonym = Must(other->PseudonymOf("ana"));
  ASSERT_TRUE(ledger_->ForgetName(pseudonym).ok());
  EXPECT_EQ(Must(other->NamesOf({pseudonym})).at(0), "ana") << "from its cache";
  ASSERT_TRUE(other->ForgetName(pseudonym).ok());
  EXPECT_THAT(Must(other->NamesOf({pseudonym, "@host", "bob"})), ElementsAre(pseudonym, "@host", "bob"));
  EXPECT_THAT(Must(other->GetDataset("census")).grants, GrantedTo(pseudonym));
  EXPECT_EQ(Must(other->PseudonymOf("ana")), Must(ledger_->PseudonymOf("ana")));
}

}  // namespace
}  // namespace curator::ledger
