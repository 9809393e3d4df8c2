#include "base/errors.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DatasetConformance : public LedgerConformance {};

std::vector<std::string> KindsOf(Ledger& ledger, const Dataset& dataset) {
  std::vector<std::string> kinds;
  for (const Entry& entry : Must(ledger.ListEntries(dataset.id, {}))) kinds.push_back(entry.kind);
  return kinds;
}

TEST_P(DatasetConformance, KeepsEveryFieldOfADataset) {
  auto ledger = Open();
  DatasetSpec spec = SpecOf("census", 10);
  spec.privacy_unit = "PERSON";
  spec.max_records_per_unit = 3;
  spec.accounts = {{.scope_type = ScopeType::kDataset,
                    .rule = "r",
                    .rule_name = "ADVANCED",
                    .limits = {{"epsilon_squared", 5}, {"delta", 7}}},
                   {.scope_type = ScopeType::kAnalyst,
                    .scope_key = "änne",
                    .rule = "",
                    .rule_name = "PURE",
                    .limits = {{"epsilon", 9}}}};
  const Dataset made = Must(ledger->CreateDataset(spec));
  const Dataset found = Must(ledger->GetDataset("census"));
  EXPECT_EQ(found.id, made.id);
  EXPECT_EQ(found.owner, "olga");
  EXPECT_EQ(found.schema, spec.schema);
  EXPECT_EQ(found.schema_hash, spec.schema_hash);
  EXPECT_EQ(found.privacy_unit, "PERSON");
  EXPECT_EQ(found.max_records_per_unit, 3);
  EXPECT_EQ(found.partition_attribute, "");
  EXPECT_EQ(found.state, DatasetState::kCreated);
  EXPECT_EQ(found.version, 0);
  EXPECT_GT(found.created_at_us, 1'500'000'000'000'000);

  const std::vector<Account> accounts = Must(ledger->ListAccounts(made.id));
  ASSERT_EQ(accounts.size(), 2U);
  EXPECT_EQ(accounts[0].scope_type, ScopeType::kDataset);
  EXPECT_EQ(accounts[0].rule_name, "ADVANCED");
  EXPECT_THAT(accounts[0].counters,
              ElementsAre(CounterBalance{"epsilon_squared", 5, 0, 0}, CounterBalance{"delta", 7, 0, 0}));
  EXPECT_EQ(accounts[1].scope_key, "änne");
}

TEST_P(DatasetConformance, OneRequestIdMakesOneDataset) {
  auto ledger = Open();
  const Dataset first = Must(ledger->CreateDataset(SpecOf("census", 10)));
  const Dataset again = Must(ledger->CreateDataset(SpecOf("census", 10)));
  EXPECT_EQ(first.id, again.id);
  EXPECT_EQ(Must(ledger->ListDatasets()).size(), 1U);
  EXPECT_THAT(KindsOf(*ledger, first), ElementsAre("DATASET_CREATED"));
}

TEST_P(DatasetConformance, AnotherDatasetUnderTheSameRequestIdIsRefused) {
  auto ledger = Open();
  Must(ledger->CreateDataset(SpecOf("census", 10)));
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger->CreateDataset(SpecOf("census", 11)).status());
}

TEST_P(DatasetConformance, ANameIsTakenOnce) {
  auto ledger = Open();
  Must(ledger->CreateDataset(SpecOf("census", 10)));
  DatasetSpec other = SpecOf("census", 10);
  other.request_id = "another";
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger->CreateDataset(other).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->GetDataset("nowhere").status());
}

TEST_P(DatasetConformance, ASealIsMadeOnceAndMayBeRepeated) {
  auto ledger = Open();
  const Dataset created = Must(ledger->CreateDataset(SpecOf("census", 10)));
  const Dataset sealed = Must(ledger->SealDataset(created.id, "content", TestPrincipal("olga")));
  EXPECT_EQ(sealed.state, DatasetState::kSealed);
  EXPECT_EQ(sealed.version, 1);
  EXPECT_EQ(sealed.content_hash, "content");
  EXPECT_EQ(Must(ledger->SealDataset(created.id, "content", TestPrincipal("olga"))).version, 1);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger->SealDataset(created.id, "other content", TestPrincipal("olga")).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger->SealDataset("nothing", "content", TestPrincipal("olga")).status());
  EXPECT_THAT(KindsOf(*ledger, created), ElementsAre("DATASET_CREATED", "SEALED"));
}

TEST_P(DatasetConformance, TheContentHashNeverEntersTheHistory) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  for (const Entry& entry : Must(ledger->ListEntries(dataset.id, {}))) {
    EXPECT_EQ(entry.payload.find(dataset.content_hash), std::string::npos);
  }
}

TEST_P(DatasetConformance, EqualContentUnderAnotherNameLeavesNoTraceInTheHistory) {
  auto ledger = Open();
  const Dataset first = Must(ledger->CreateDataset(SpecOf("census", 10)));
  const Dataset twin = Must(ledger->CreateDataset(SpecOf("census-again", 10)));
  Must(ledger->SealDataset(first.id, "content", TestPrincipal("olga")));
  Must(ledger->SealDataset(twin.id, "content", TestPrincipal("olga")));
  EXPECT_THAT(KindsOf(*ledger, first), ElementsAre("DATASET_CREATED", "SEALED"));
  EXPECT_THAT(KindsOf(*ledger, twin), ElementsAre("DATASET_CREATED", "SEALED"));
}

TEST_P(DatasetConformance, ContentIsFoundAmongTheDatasetsOfItsOwnerOnly) {
  auto ledger = Open();
  const Dataset own = Must(ledger->CreateDataset(SpecOf("census", 10)));
  Must(ledger->SealDataset(own.id, "content", TestPrincipal("olga")));
  DatasetSpec spec = SpecOf("clinic", 10);
  spec.owner = TestPrincipal("alice");
  const Dataset of_another = Must(ledger->CreateDataset(spec));
  Must(ledger->SealDataset(of_another.id, "content", TestPrincipal("alice")));
  const auto names = [&](const std::string& owner, const std::vector<std::string>& hashes) {
    std::vector<std::string> found;
    for (const Dataset& dataset : Must(ledger->FindContent(TestPrincipal(owner), hashes)))
      found.push_back(dataset.name);
    return found;
  };
  EXPECT_THAT(names("olga", {"other", "content"}), ElementsAre("census"));
  EXPECT_THAT(names("alice", {"content"}), ElementsAre("clinic"));
  EXPECT_THAT(names("olga", {"other"}), ElementsAre());
  EXPECT_THAT(names("mallory", {"content"}), ElementsAre());
}

TEST_P(DatasetConformance, ASuccessorSharesTheAccounts) {
  auto ledger = Open();
  const Dataset first = MakeDataset(*ledger, "census", 10);
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = first.id;
  const Dataset second = Must(ledger->CreateDataset(spec));
  const Dataset sealed = Must(ledger->SealDataset(second.id, "newer content", TestPrincipal("olga")));
  EXPECT_EQ(sealed.lineage_id, first.lineage_id);
  const int64_t account = FirstAccount(*ledger, first);
  EXPECT_EQ(FirstAccount(*ledger, sealed), account);
  Must(ledger->Begin(RequestOf(first, "r1", account, 6)));
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted,
                   ledger->Begin(RequestOf(sealed, "r2", account, 5)).status());
  Must(ledger->Begin(RequestOf(sealed, "r3", account, 4)));
  EXPECT_EQ(BalanceOf(*ledger, first).spent, 10);
  const Verification verification = Must(ledger->Verify(sealed.id));
  EXPECT_THAT(verification.findings, ElementsAre());
}

TEST_P(DatasetConformance, AVerificationCountsTheEntriesOfOneDatasetOfALineage) {
  auto ledger = Open();
  const Dataset first = MakeDataset(*ledger, "census", 10);
  const int64_t before = Must(ledger->Verify(first.id)).entries_checked;
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = first.id;
  const Dataset second = Must(ledger->CreateDataset(spec));
  Must(ledger->SealDataset(second.id, "newer content", TestPrincipal("olga")));
  EXPECT_EQ(Must(ledger->Verify(first.id)).entries_checked, before);
  EXPECT_EQ(Must(ledger->Verify(second.id)).entries_checked, 2);
}

TEST_P(DatasetConformance, ASuccessorCountsItsPeopleAsItsPredecessorDid) {
  auto ledger = Open();
  const Dataset first = MakeDataset(*ledger, "census", 10);
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.successor_of = first.id;
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger->CreateDataset(spec).status());  // accounts of its own
  spec.accounts.clear();
  spec.neighbour_relation = "REPLACE_ONE";
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger->CreateDataset(spec).status());
  spec.successor_of = "nothing";
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger->CreateDataset(spec).status());
}

TEST_P(DatasetConformance, AGrantIsMadeOnce) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  ASSERT_TRUE(ledger->SetGrant(dataset.id, {.grantee = "zoe"}, TestPrincipal("olga")).ok());
  ASSERT_TRUE(ledger->SetGrant(dataset.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
  ASSERT_TRUE(ledger->SetGrant(dataset.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
  EXPECT_THAT(Must(ledger->GetDataset("census")).grants, GrantedTo("ana", "zoe"));
  EXPECT_THAT(KindsOf(*ledger, dataset), ElementsAre("DATASET_CREATED", "SEALED", "GRANTED", "GRANTED"));
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger->SetGrant("nothing", {.grantee = "ana"}, TestPrincipal("olga")));
}

TEST_P(DatasetConformance, AGrantReplacesTheOneBeforeAndTheHistorySaysWhich) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const auto set = [&](int64_t roles, int64_t expires_at_us) {
    return ledger->SetGrant(dataset.id, {"ana", roles, expires_at_us}, TestPrincipal("olga"));
  };
  ASSERT_TRUE(set(kGrantedAnalyst, 0).ok());
  const int64_t revision = Must(ledger->GetDataset("census")).revision;
  ASSERT_TRUE(set(kGrantedAnalyst | kGrantedService, 7).ok());
  EXPECT_THAT(Must(ledger->GetDataset("census")).grants,
              ElementsAre(Grant{"ana", kGrantedAnalyst | kGrantedService, 7}));
  EXPECT_GT(Must(ledger->GetDataset("census")).revision, revision) << "what is cached is outdated";
  ASSERT_TRUE(set(kGrantedFormer, 0).ok());
  EXPECT_THAT(Must(ledger->GetDataset("census")).grants, ElementsAre(Grant{"ana", kGrantedFormer, 0}));
  ASSERT_TRUE(set(0, 0).ok());
  EXPECT_THAT(Must(ledger->ListVisibleDatasets(TestPrincipal("ana"))).datasets, IsEmpty());
  EXPECT_THAT(KindsOf(*ledger, dataset),
              ElementsAre("DATASET_CREATED", "SEALED", "GRANTED", "GRANTED", "REVOKED", "REVOKED"));
  const std::vector<Entry> entries = Must(ledger->ListEntries(dataset.id, {}));
  EXPECT_EQ(Must(ParseGrant(entries.at(3).payload)), (Grant{"ana", kGrantedAnalyst | kGrantedService, 7}));
  EXPECT_TRUE(Must(ledger->Verify(dataset.id)).ok);
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, set(32, 0));
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, set(kGrantedAnalyst, -1));
}

TEST_P(DatasetConformance, ListsDatasetsOnWhichAPrincipalHasARoleElsewhere) {
  auto ledger = Open();
  const Dataset census = MakeDataset(*ledger, "census", 10);
  MakeDataset(*ledger, "survey", 10);
  const auto names = [&](const AlsoListed& also, const NamePage& page = {}) {
    std::vector<std::string> listed;
    for (const Dataset& each :
         Must(ledger->ListVisibleDatasets(TestPrincipal("vera"), page, also)).datasets) {
      listed.push_back(each.name);
    }
    return listed;
  };
  EXPECT_THAT(names({}), IsEmpty());
  EXPECT_THAT(names({.ids = {census.id, "nothing"}}), ElementsAre("census"));
  EXPECT_THAT(names({.all = true}), ElementsAre("census", "survey"));
  EXPECT_THAT(names({.all = true}, {.after = "census"}), ElementsAre("survey"));
  EXPECT_THAT(names({.all = true}, {.limit = 1}), ElementsAre("census"));
}

TEST_P(DatasetConformance, AnOwnersActionIsWrittenDownEachTimeAndMovesNoBudget) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  ASSERT_TRUE(ledger->RecordOwnerAction(dataset.id, "count rows", TestPrincipal("olga")).ok());
  ASSERT_TRUE(ledger->RecordOwnerAction(dataset.id, "count rows", TestPrincipal("olga")).ok());
  EXPECT_THAT(KindsOf(*ledger, dataset),
              ElementsAre("DATASET_CREATED", "SEALED", "OWNER_ACTION", "OWNER_ACTION"));
  const Verification verification = Must(ledger->Verify(dataset.id));
  EXPECT_TRUE(verification.ok);
  EXPECT_EQ(verification.anchored_seq, 4);
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger->RecordOwnerAction("nothing", "count rows", TestPrincipal("olga")));
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger->RecordOwnerAction(dataset.id, "", TestPrincipal("olga")));
}

TEST_P(DatasetConformance, AnArchivedDatasetTakesNoChargeAndStillReplays) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const int64_t account = FirstAccount(*ledger, dataset);
  const Attempt attempt = Must(ledger->Begin(RequestOf(dataset, "r1", account, 1)));
  Must(ledger->Store(attempt, "answer"));
  ASSERT_TRUE(ledger->ArchiveDataset(dataset.id, TestPrincipal("olga")).ok());
  ASSERT_TRUE(ledger->ArchiveDataset(dataset.id, TestPrincipal("olga")).ok());
  EXPECT_EQ(Must(ledger->GetDataset("census")).state, DatasetState::kArchived);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger->Begin(RequestOf(dataset, "r2", account, 1)).status());
  EXPECT_EQ(Must(ledger->Begin(RequestOf(dataset, "r1", account, 1))).release->payload, "answer");
}

TEST_P(DatasetConformance, APublicDatasetHasNoAccountsAndIsAnsweredForNothing) {
  auto ledger = Open();
  DatasetSpec spec = SpecOf("open-data", 0);
  spec.is_public = true;
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger->CreateDataset(spec).status());
  spec.accounts.clear();
  const Dataset created = Must(ledger->CreateDataset(spec));
  const Dataset dataset = Must(ledger->SealDataset(created.id, "content", TestPrincipal("olga")));
  EXPECT_TRUE(dataset.is_public);
  ChargeRequest request = RequestOf(dataset, "r1", 0, 0);
  request.postings.clear();
  EXPECT_TRUE(Must(ledger->Begin(request)).newly_charged);
}

TEST_P(DatasetConformance, APublicDatasetIsPublishedByAnotherPersonOnceItIsSealed) {
  auto ledger = Open();
  DatasetSpec spec = SpecOf("open-data", 0);
  spec.is_public = true;
  spec.accounts.clear();
  const Dataset created = Must(ledger->CreateDataset(spec));
  EXPECT_TRUE(created.awaits_publication);
  const auto publish = [&](const std::string& who, Approval approval = Approval::kByAnother) {
    return ledger->PublishDataset(created.id, TestPrincipal(who), approval);
  };
  // Its content can still change.
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, publish("vera"));
  Must(ledger->SealDataset(created.id, "content", TestPrincipal("olga")));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, publish("olga"));
  EXPECT_TRUE(Must(ledger->GetDataset("open-data")).awaits_publication);
  ASSERT_TRUE(publish("vera").ok());
  ASSERT_TRUE(publish("vera").ok()) << "repeating it changes nothing";
  EXPECT_FALSE(Must(ledger->GetDataset("open-data")).awaits_publication);
  const std::vector<Entry> entries = Must(ledger->ListEntries(created.id, {}));
  EXPECT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries.back().kind, kPublished);
  EXPECT_TRUE(Must(ledger->Verify(created.id)).ok);
  const Dataset census = Must(ledger->CreateDataset(SpecOf("census", 10)));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger->PublishDataset(census.id, TestPrincipal("vera"), Approval::kByAnother));
}

TEST_P(DatasetConformance, UnderSingleCustodyTheOwnerPublishesAndTheEntrySaysSo) {
  auto ledger = Open();
  DatasetSpec spec = SpecOf("open-data", 0);
  spec.is_public = true;
  spec.accounts.clear();
  const Dataset created = Must(ledger->CreateDataset(spec));
  Must(ledger->SealDataset(created.id, "content", TestPrincipal("olga")));
  ASSERT_TRUE(ledger->PublishDataset(created.id, TestPrincipal("olga"), Approval::kSingleCustody).ok());
  const Entry last = Must(ledger->ListEntries(created.id, {})).back();
  EXPECT_EQ(Must(ParseDatasetPublished(last.payload)).approval, Approval::kSingleCustody);
  EXPECT_TRUE(Must(ledger->Verify(created.id)).ok);
}

TEST_P(DatasetConformance, AMalformedDatasetIsRefusedByItsField) {
  auto ledger = Open();
  const auto violation = [&](const std::function<void(DatasetSpec&)>& spoil) {
    DatasetSpec spec = SpecOf("census", 10);
    spoil(spec);
    const absl::Status status = ledger->CreateDataset(spec).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return FieldViolationOf(status).value_or(FieldViolation()).field;
  };
  EXPECT_EQ(violation([](DatasetSpec& spec) { spec.name.clear(); }), "name");
  EXPECT_EQ(violation([](DatasetSpec& spec) { spec.name = std::string("a\0b", 3); }), "name");
  EXPECT_EQ(violation([](DatasetSpec& spec) { spec.owner = TestPrincipal("\xff"); }), "owner");
  EXPECT_EQ(violation([](DatasetSpec& spec) { spec.accounts.clear(); }), "accounts");
  EXPECT_EQ(violation([](DatasetSpec& spec) { spec.max_records_per_unit = 0; }), "max_records_per_unit");
  EXPECT_EQ(violation([](DatasetSpec& spec) { spec.accounts[0].limits[0].limit = -1; }), "accounts[0].limit");
  EXPECT_EQ(violation([](DatasetSpec& spec) { spec.accounts[0].limits[0].counter = "two words"; }),
            "accounts[0].counter");
  EXPECT_EQ(violation([](DatasetSpec& spec) { spec.accounts.push_back(spec.accounts[0]); }), "accounts[1]");
  EXPECT_TRUE(Must(ledger->ListDatasets()).empty());
}

TEST_P(DatasetConformance, EntriesArePagedInOrder) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  ASSERT_TRUE(ledger->SetGrant(dataset.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
  const std::vector<Entry> page = Must(ledger->ListEntries(dataset.id, {.after_seq = 1, .limit = 1}));
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(page[0].seq, 2);
  EXPECT_EQ(page[0].kind, "SEALED");
  EXPECT_EQ(page[0].actor, "olga");
  EXPECT_TRUE(Must(ledger->ListEntries(dataset.id, {.after_seq = 3})).empty());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger->ListEntries(dataset.id, {.limit = 0}).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->ListEntries("nothing", {}).status());
}

TEST_P(DatasetConformance, ListsDatasetsAndGranteesByTheBytesOfTheirNames) {
  auto ledger = Open();
  for (const char* const name : {"apple", "Zebra", "b-1", "b1", "ba"}) MakeDataset(*ledger, name, 10);
  const std::vector<Dataset> listed = Must(ledger->ListDatasets());
  std::vector<std::string> names;
  for (const Dataset& dataset : listed) names.push_back(dataset.name);
  EXPECT_THAT(names, ElementsAre("Zebra", "apple", "b-1", "b1", "ba"));
  for (const char* const grantee : {"ana", "Bob"}) {
    ASSERT_TRUE(ledger->SetGrant(listed.front().id, {.grantee = grantee}, TestPrincipal("olga")).ok());
  }
  EXPECT_THAT(Must(ledger->GetDataset("Zebra")).grants, GrantedTo("Bob", "ana"));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, DatasetConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
