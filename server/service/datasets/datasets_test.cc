// Declarations of datasets that are refused by their field, and what reading datasets reports.
#include "service/datasets/datasets.h"

#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "dp/data/sealed_table.h"
#include "service/charges/request_scope.h"
#include "service/datasets/grants.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DatasetsTest : public ServiceTest {
 protected:
  static NewDataset PublicPeople(const std::string& name) {
    NewDataset dataset = People(name);
    dataset.limit.reset();
    dataset.is_public = true;
    return dataset;
  }

  static NewDataset Successor(const std::string& name, const std::string& predecessor) {
    NewDataset dataset = People(name);
    dataset.limit.reset();
    dataset.successor_of = predecessor;
    return dataset;
  }

  // The field by which a declaration is refused. Nothing may be created then.
  std::string RefusedField(const NewDataset& dataset) const {
    const size_t before = ledger_->ListDatasets()->size();
    const absl::Status refused = CreateDataset({*ledger_}, dataset, Intent::kDo).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << refused;
    EXPECT_EQ(ledger_->ListDatasets()->size(), before);
    return FieldOf(refused);
  }

  std::vector<std::string> NamesThatAreVisibleTo(const std::string& principal) const {
    std::vector<std::string> names;
    const DatasetViews visible = ListVisibleDatasets({*ledger_}, TestPrincipal(principal), {}).value();
    for (const DatasetView& dataset : visible.datasets) names.push_back(dataset.record.name);
    return names;
  }
};

// A seal that is refused: the same records are sealed under another budget.
class RefusedSealTest : public DatasetsTest {
 protected:
  void ExpectRefused(const std::string& part = "") const {
    const absl::Status refused = Seal("again", part).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
    EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("sum of both limits"));
  }
};

TEST_F(RefusedSealTest, LeavesTheDatasetOpenForFurtherImports) {
  MakeSealed(People("census"));
  Make(People("again"));
  Fill("again", PeopleCsv());
  ExpectRefused();
  ExpectRefused();
  Fill("again", "sex,age,region\nFemale,33,1\n");
  const absl::StatusOr<Sealed> sealed = Seal("again");
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  EXPECT_EQ(sealed->records, 81);
}

TEST_F(RefusedSealTest, LeavesAPartOpenForFurtherImports) {
  MakeSealed(People("census"), PeopleCsv(2));
  NewDataset divided = DividedPeople("again");
  divided.schema = PeopleSchema();
  Make(divided);
  Fill("again", PeopleCsv(2), "north");
  ExpectRefused("north");
  Fill("again", "sex,age,region\nFemale,33,1\n", "north");
  EXPECT_EQ(Seal("again", "north")->records, 41);
}

TEST_F(RefusedSealTest, LeavesADatasetThatIsArchivedOrSealedOnSecondThought) {
  MakeSealed(People("census"));
  for (const char* name : {"again", "another"}) Make(People(name));
  Fill("again", PeopleCsv());
  Fill("another", PeopleCsv());
  ExpectRefused();
  EXPECT_TRUE(
      ArchiveDataset({*ledger_}, *store_, TestPrincipal("owner"), DatasetName("again"), Intent::kDo).ok());
  EXPECT_FALSE(Seal("another").ok());
  EXPECT_EQ(Seal("another", "", true)->records, 80);
}

TEST_F(RefusedSealTest, OfAPublicCopyOfPrivateRecordsLeavesItOpen) {
  MakeSealed(People("census"));
  Make(PublicPeople("again"));
  Fill("again", PeopleCsv());
  EXPECT_EQ(Seal("again").status().code(), absl::StatusCode::kFailedPrecondition);
  Fill("again", "sex,age,region\nFemale,33,1\n");
  EXPECT_EQ(Seal("again")->records, 81);
}

// As after an edit of the tables under a running server.
TEST_F(DatasetsTest, ADatasetWhoseSchemaCannotBeReadIsNamedAndTheOthersAreListed) {
  for (const char* name : {"census", "survey", "visits"}) Make(People(name));
  Corrupt("UPDATE datasets SET schema_bytes = X'00' WHERE name = 'survey'");
  EXPECT_THAT(NamesThatAreVisibleTo("owner"), ::testing::ElementsAre("census", "visits"));
  EXPECT_THAT(ListVisibleDatasets({*ledger_}, TestPrincipal("owner"), {})->unreadable,
              ::testing::ElementsAre("survey"));
  EXPECT_THAT(ListVisibleDatasets({*ledger_}, TestPrincipal("bob"), {})->unreadable, IsEmpty());
  EXPECT_EQ(GetDataset({*ledger_}, TestPrincipal("owner"), DatasetName("survey")).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_TRUE(GetDataset({*ledger_}, TestPrincipal("owner"), DatasetName("visits")).ok());
}

TEST_F(DatasetsTest, ADatasetWhoseRowCannotBeReadDoesNotExistForThoseWhoMayNotSeeIt) {
  const std::string id = Make(People("survey")).record.id;
  ASSERT_TRUE(
      GrantAccess({*ledger_},
                  {.principal = TestPrincipal("owner"), .dataset = DatasetName("survey"), .grantee = "ana"},
                  Intent::kDo)
          .ok());
  Corrupt("PRAGMA ignore_check_constraints = ON; UPDATE datasets SET state = 'LOST'");
  const auto found = [&](const char* principal, const std::string& name) {
    return FindDataset({*ledger_}, Method::kGetDataset, TestPrincipal(principal), DatasetName(name)).status();
  };
  for (const char* principal : {"owner", "ana"}) {
    EXPECT_EQ(found(principal, "survey").code(), absl::StatusCode::kDataLoss) << principal;
    EXPECT_THAT(std::string(found(principal, "survey").message()), HasSubstr("dataset \"survey\""));
  }
  EXPECT_EQ(found("bob", "survey").ToString(),
            absl::StrReplaceAll(found("bob", "nothing").ToString(), {{"nothing", "survey"}}));
  EXPECT_EQ(FindDatasetById({*ledger_}, Method::kGetDataset, TestPrincipal("bob"), id).status(),
            FindDatasetById({*ledger_}, Method::kGetDataset, TestPrincipal("bob"), "nothing").status());
}

TEST_F(DatasetsTest, NamesAndLabelsThatATerminalWouldObeyAreRefusedByTheirPath) {
  const auto with = [](const std::string& name, const std::string& label) {
    NewDataset dataset = People("census");
    std::vector<dp::Attribute> attributes = {
        dp::Attribute::Create(name, dp::CategoricalKind{{"Female", label}, std::nullopt}).value()};
    dataset.schema =
        dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit()).value();
    return dataset;
  };
  EXPECT_EQ(RefusedField(with("s\u202Ex", "Male")), "schema.attributes[0].name");
  EXPECT_EQ(RefusedField(with("sex", "Ma\u2028le")), "schema.attributes[0].categorical.values[1]");
}

TEST_F(DatasetsTest, AnIdColumnThatATerminalWouldObeyIsRefusedByItsPath) {
  const std::string obeyed = "p\x1b]0;title\x07";
  const auto with = [](dp::PrivacyUnit unit, std::optional<dp::Nesting> nesting) {
    NewDataset dataset = People("census");
    dataset.schema = dp::CreateSchema(PeopleSchema().domain, std::move(unit), std::move(nesting)).value();
    return dataset;
  };
  EXPECT_EQ(RefusedField(with(dp::PersonUnit{.id_column = obeyed}, std::nullopt)),
            "schema.unit.person.id_column");
  EXPECT_EQ(RefusedField(with(dp::GroupUnit{.id_column = obeyed}, std::nullopt)),
            "schema.unit.group.id_column");
  EXPECT_EQ(RefusedField(with(dp::RecordUnit{},
                              dp::Nesting{.group_column = obeyed, .response = 1, .max_group_size = 9})),
            "schema.nesting.group_column");
}

TEST_F(DatasetsTest, ExactlyAPrivateDatasetWithoutAPredecessorHasALimitOfItsOwn) {
  NewDataset public_one = PublicPeople("open");
  public_one.limit = People("census").limit;
  EXPECT_EQ(RefusedField(public_one), "limit");
  Make(People("census"));
  NewDataset successor = Successor("census-2", "census");
  successor.limit = People("census").limit;
  EXPECT_EQ(RefusedField(successor), "limit");
  NewDataset without = People("visits");
  without.limit.reset();
  EXPECT_EQ(RefusedField(without), "limit");
}

TEST_F(DatasetsTest, ASuccessorProtectsTheSamePeopleInTheSameWay) {
  Make(People("census"));
  Make(PublicPeople("open"));
  EXPECT_EQ(RefusedField(Successor("census-2", "open")), "successor_of");
  NewDataset replacing = Successor("census-2", "census");
  replacing.relation = dp::NeighbourRelation::kReplaceOne;
  EXPECT_EQ(RefusedField(replacing), "neighbours");
  NewDataset of_persons = Successor("census-2", "census");
  of_persons.schema = PeopleSchema(dp::PersonUnit{.id_column = "pid", .max_records = 1});
  EXPECT_EQ(RefusedField(of_persons), "schema.unit");

  NewDataset of_three = People("visits");
  of_three.schema = PeopleSchema(dp::PersonUnit{.id_column = "pid", .max_records = 3});
  Make(of_three);
  NewDataset of_four = Successor("visits-2", "visits");
  of_four.schema = PeopleSchema(dp::PersonUnit{.id_column = "pid", .max_records = 4});
  EXPECT_EQ(RefusedField(of_four), "schema.unit");
  of_four.schema = PeopleSchema(dp::PersonUnit{.id_column = "visit", .max_records = 3});
  EXPECT_EQ(RefusedField(of_four), "schema.unit") << "another id column makes other persons";
  of_four.schema = of_three.schema;
  EXPECT_EQ(
      Make(of_four).record.lineage_id,
      FindDataset({*ledger_}, Method::kAddPart, TestPrincipal("owner"), DatasetName("visits"))->record.id);
}

TEST_F(DatasetsTest, ASuccessorsGroupsAreThoseOfThePredecessor) {
  NewDataset households = People("households");
  households.schema = PeopleSchema(dp::GroupUnit{.id_column = "household", .max_records = 8});
  Make(households);
  NewDataset rooms = Successor("rooms", "households");
  rooms.schema = PeopleSchema(dp::GroupUnit{.id_column = "room", .max_records = 8});
  EXPECT_EQ(RefusedField(rooms), "schema.unit");
}

TEST_F(DatasetsTest, RecordsThatAnotherDatasetHoldsAreSealedOnlyWhenThatIsAccepted) {
  MakeSealed(People("census"));
  Make(People("again"));
  Fill("again", PeopleCsv());
  const absl::Status refused = Seal("again").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_NE(refused.message().find("\"census\""), std::string_view::npos) << refused;
  EXPECT_NE(refused.message().find("sum of both limits"), std::string_view::npos) << refused;
  EXPECT_EQ(
      FindDataset({*ledger_}, Method::kAddPart, TestPrincipal("owner"), DatasetName("again"))->record.version,
      0);
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(Seal("again", "", true).ok());
  const std::string logged = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(logged, HasSubstr(R"("level":"warning","event":"second_budget_accepted","dataset":"again",)"
                                R"("other":"census","principal":"owner")"));
  EXPECT_TRUE(Seal("again").ok()) << "a repeated seal asks nothing";
}

TEST_F(DatasetsTest, AnEmptyDatasetHasNoRecordsToProtect) {
  MakeSealed(People("census"), "sex,age,region\n");
  Make(People("again"));
  EXPECT_TRUE(Seal("again").ok());
}

// A table of the first format keeps its hash: its seal repeats, and it is compared with the owner's own
// tables.
TEST_F(DatasetsTest, ATableThatWasSealedInTheFirstFormatKeepsItsHash) {
  const DatasetView made = Make(People("census"));
  Fill("census", PeopleCsv());
  const records::SealedContent content = store_->Seal(made.record.id, made.schema, "owner").value();
  ASSERT_NE(content.first_format_hash, content.content_hash);
  ASSERT_TRUE(ledger_->SealDataset(made.record.id, content.first_format_hash, TestPrincipal("owner")).ok());
  const auto repeated = Seal("census");
  ASSERT_TRUE(repeated.ok()) << repeated.status();
  EXPECT_EQ(repeated->dataset.record.content_hash, content.first_format_hash);
  EXPECT_TRUE(store_->Load({made.record.id, content.first_format_hash}).ok());

  NewDataset open = PublicPeople("open");
  Make(open);
  Fill("open", PeopleCsv());
  EXPECT_EQ(Seal("open").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(DatasetsTest, GroupsOfAnySizeAreNotDividedIntoParts) {
  NewDataset dataset = DividedPeople("pupils");
  dataset.schema = PeopleSchema(dp::GroupUnit{.id_column = "school", .max_records = dp::kNoRecordBound});
  EXPECT_EQ(RefusedField(dataset), "partition");
  dataset.schema = PeopleSchema(dp::GroupUnit{.id_column = "school", .max_records = 40});
  EXPECT_EQ(Make(dataset).record.parts.size(), 2u);
}

TEST_F(DatasetsTest, ADatasetThatIsOnlyCheckedIsShownAndNotCreated) {
  NewDataset dataset = People("census");
  dataset.relation = dp::NeighbourRelation::kReplaceOne;
  const auto shown = CreateDataset({*ledger_}, dataset, Intent::kValidateOnly);
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_EQ(shown->record.name, "census");
  EXPECT_EQ(shown->record.owner, "owner");
  EXPECT_EQ(shown->record.neighbour_relation, "REPLACE_ONE");
  EXPECT_FALSE(shown->record.is_public);
  EXPECT_EQ(shown->schema, dataset.schema);
  EXPECT_THAT(ledger_->ListDatasets().value(), IsEmpty());
  EXPECT_TRUE(CreateDataset({*ledger_}, PublicPeople("open"), Intent::kValidateOnly)->record.is_public);
}

TEST_F(DatasetsTest, OnlyOwnersAndGranteesSeeADatasetInTheList) {
  Make(People("census"));
  Make(People("visits"));
  ASSERT_TRUE(
      GrantAccess({*ledger_},
                  {.principal = TestPrincipal("owner"), .dataset = DatasetName("visits"), .grantee = "ana"},
                  Intent::kDo)
          .ok());
  EXPECT_THAT(NamesThatAreVisibleTo("owner"), ::testing::UnorderedElementsAre("census", "visits"));
  EXPECT_THAT(NamesThatAreVisibleTo("ana"), ::testing::ElementsAre("visits"));
  EXPECT_THAT(NamesThatAreVisibleTo("eve"), IsEmpty());
}

TEST_F(DatasetsTest, AnArchivedDatasetIsNotSealed) {
  Make(People("census"));
  ASSERT_TRUE(
      ArchiveDataset({*ledger_}, *store_, TestPrincipal("owner"), DatasetName("census"), Intent::kDo).ok());
  const absl::Status refused = Seal("census").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_EQ(
      FindDataset({*ledger_}, Method::kAddPart, TestPrincipal("owner"), DatasetName("census"))->record.state,
      ledger::DatasetState::kArchived);
}

TEST_F(DatasetsTest, ArchivingReleasesTheTablesOnceNoRequestUsesThem) {
  MakeSealed(People("census"));
  Make(DividedPeople("districts"));
  FillAndSeal("districts", PeopleCsv(2), "north");
  FillAndSeal("districts", "sex,age,region\nMale,3,2\n", "south");
  for (const std::string name : {"census", "districts"}) {
    const DatasetView dataset =
        FindDataset({*ledger_}, Method::kAddPart, TestPrincipal("owner"), DatasetName(name)).value();
    const RequestScope all{.version = dataset.record.version, .parts = dataset.record.parts, .accounts = {}};
    dp::SealedTableHandle of_a_request = store_->ready().Find(TablesOf(dataset, all))->Open().value();
    const std::weak_ptr<const dp::SealedTable> table = of_a_request;
    ASSERT_TRUE(
        ArchiveDataset({*ledger_}, *store_, TestPrincipal("owner"), DatasetName(name), Intent::kDo).ok());
    {
      const dp::ReadableScope readable(*of_a_request);
      EXPECT_EQ(readable.columns().columns.at(1)[0], 0u) << "the request goes on";
    }
    of_a_request.reset();
    EXPECT_TRUE(table.expired()) << name;
  }
}

TEST_F(DatasetsTest, CheckingWhetherADatasetCouldBeArchivedKeepsItsTable) {
  const DatasetView dataset = MakeSealed(People("census"));
  const std::weak_ptr<const dp::SealedTable> table =
      store_->ready().Find({{dataset.record.id, dataset.record.content_hash}})->Open().value();
  ASSERT_TRUE(ArchiveDataset({*ledger_}, *store_, TestPrincipal("owner"), DatasetName("census"),
                             Intent::kValidateOnly)
                  .ok());
  EXPECT_FALSE(table.expired());
}

}  // namespace
}  // namespace curator::service
