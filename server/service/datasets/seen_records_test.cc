// A schema that was changed after its owner had seen a report on the same records.
#include "service/datasets/seen_records.h"

#include <optional>
#include <string>
#include <vector>

#include "service/testing/fixture.h"

namespace curator::service {
namespace {

constexpr char kPeopleOfTwoAges[] = "sex,age,region\nFemale,33,1\nMale,120,2\n";

// The schema of people with ages up to `oldest`.
dp::Schema PeopleUpTo(int64_t oldest, std::optional<dp::Missing> missing = std::nullopt,
                      dp::Reading reading = {}) {
  std::vector<dp::Attribute> attributes = PeopleSchema().domain.attributes();
  attributes[1] = dp::Attribute::Create("age", dp::IntegerKind{.min = 0, .max = oldest, .bin_width = 10},
                                        std::move(missing), std::move(reading))
                      .value();
  return dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit()).value();
}

TEST(ValuesHash, IsOfWhatASchemaSaysAboutValues) {
  const std::string hash = ValuesHash(PeopleUpTo(99));
  EXPECT_NE(ValuesHash(PeopleUpTo(129)), hash);
  EXPECT_NE(ValuesHash(PeopleUpTo(99, dp::Missing{.tokens = {}, .bin = "unknown"})), hash);
  EXPECT_EQ(ValuesHash(PeopleUpTo(99, std::nullopt, {.column = "Age", .thousands_separator = ','})), hash);
  EXPECT_EQ(ValuesHash(PeopleUpTo(99, dp::Missing{.tokens = {"?"}})),
            ValuesHash(PeopleUpTo(99, dp::Missing{.tokens = {"none", "NA"}})));
  dp::Schema written = PeopleUpTo(99);
  written.separator = ';';
  written.unit = dp::PersonUnit{"pid", 3};
  EXPECT_EQ(ValuesHash(written), hash);
}

TEST(ValuesHash, IsOfTheBoundsOfMeasuresAndOfWhetherTheyMayBeMissing) {
  const auto hash = [](dp::EvenSteps bounds, std::optional<dp::Missing> missing = std::nullopt,
                       dp::Reading reading = {}) {
    std::vector<dp::Measure> measures = {
        dp::Measure::Create("hours", bounds, std::move(missing), std::move(reading)).value()};
    return ValuesHash(
        dp::CreateSchema(dp::Domain::Create(PeopleSchema().domain.attributes(), std::move(measures)).value(),
                         dp::RecordUnit())
            .value());
  };
  const std::string declared = hash({0, 80, 1});
  EXPECT_NE(declared, ValuesHash(PeopleSchema()));
  EXPECT_NE(hash({0, 90, 1}), declared);
  EXPECT_NE(hash({0, 80, 0.5}), declared);
  EXPECT_NE(hash({0, 80, 1}, dp::Missing{}), declared);
  EXPECT_EQ(hash({0, 80, 1}, dp::Missing{.tokens = {"none"}}), hash({0, 80, 1}, dp::Missing{}));
  EXPECT_EQ(hash({0, 80, 1}, std::nullopt, {.column = "Stunden", .decimal_sign = ','}), declared);
}

TEST(ValuesHash, IsOfTheConstraints) {
  const auto hash = [](std::vector<dp::ConstraintRule> rules) {
    dp::Schema schema = PeopleSchema();
    schema.domain = schema.domain.WithConstraints(std::move(rules)).value();
    return ValuesHash(schema);
  };
  EXPECT_EQ(hash({}), ValuesHash(PeopleSchema()));
  EXPECT_NE(hash({dp::PairsRule{{0, 1}, {{0, 0}}}}), hash({}));
  EXPECT_NE(hash({dp::PairsRule{{0, 1}, {{0, 0}}}}), hash({dp::PairsRule{{0, 1}, {{0, 1}}}}));
}

class SeenRecordsTest : public ServiceTest {
 protected:
  void MakeUnder(const std::string& name, const dp::Schema& schema) const {
    NewDataset dataset = People(name);
    dataset.schema = schema;
    Make(dataset);
  }

  absl::StatusOr<Sealed> SealIt(const std::string& name, bool accept) const {
    return SealDataset({*ledger_}, *store_,
                       {.principal = TestPrincipal("owner"),
                        .dataset = DatasetName(name),
                        .accept_domain_from_records = accept},
                       Intent::kDo);
  }

  void Check(const dp::Schema& schema, const std::string& csv, const std::string& principal = "owner") const {
    const auto check = CheckFile(*ledger_, *store_, TestPrincipal(principal), schema, {});
    ASSERT_TRUE(check->Append(csv).ok());
    ASSERT_TRUE(check->Finish().ok());
  }

  void ExpectAsked(const std::string& name) const {
    EXPECT_EQ(AcceptanceNeededBy(SealIt(name, false).status()), "DOMAIN_FROM_RECORDS");
    EXPECT_TRUE(SealIt(name, true)->dataset.record.facts.domain_from_records);
    EXPECT_TRUE(SealIt(name, false)->dataset.record.facts.domain_from_records) << "it is sealed already";
  }

  void ExpectNotAsked(const std::string& name) const {
    EXPECT_FALSE(SealIt(name, false)->dataset.record.facts.domain_from_records);
  }
};

TEST_F(SeenRecordsTest, TheSameSchemaIsNotAskedAbout) {
  MakeUnder("census", PeopleUpTo(99));
  Check(PeopleUpTo(99), kPeopleOfTwoAges);
  Fill("census", kPeopleOfTwoAges);
  ExpectNotAsked("census");
}

TEST_F(SeenRecordsTest, ACheckUnderAnotherSchemaIsAskedAbout) {
  Check(PeopleUpTo(99), kPeopleOfTwoAges);
  MakeUnder("census", PeopleUpTo(129));
  Fill("census", kPeopleOfTwoAges);
  ExpectAsked("census");
}

TEST_F(SeenRecordsTest, AnImportUnderAnotherSchemaIsAskedAboutAlsoWhenItWasUndone) {
  MakeUnder("first", PeopleUpTo(99));
  Fill("first", kPeopleOfTwoAges);
  const std::string import =
      ListImports({*ledger_}, *store_, TestPrincipal("owner"), DatasetName("first"), "", 1)
          ->imports.at(0)
          .stored.request_id;
  ASSERT_TRUE(UndoImport({*ledger_}, *store_,
                         {.request_id = NewRequestId(),
                          .principal = TestPrincipal("owner"),
                          .dataset = DatasetName("first"),
                          .import_request_id = import},
                         Intent::kDo)
                  .ok());
  MakeUnder("census", PeopleUpTo(129));
  Fill("census", kPeopleOfTwoAges);
  ExpectAsked("census");
}

TEST_F(SeenRecordsTest, OtherWaysOfWritingOtherFilesAndOtherOwnersAreNotAskedAbout) {
  Check(PeopleUpTo(129, std::nullopt, {.thousands_separator = ','}), kPeopleOfTwoAges);
  Check(PeopleUpTo(99), std::string(kPeopleOfTwoAges) + "Male,3,1\n");
  Check(PeopleUpTo(99), kPeopleOfTwoAges, "bob");
  MakeUnder("census", PeopleUpTo(129));
  Fill("census", kPeopleOfTwoAges);
  ExpectNotAsked("census");
}

TEST_F(SeenRecordsTest, AnImportThatIsOnlyCheckedIsAReportToo) {
  MakeUnder("first", PeopleUpTo(99));
  const auto check = BeginImport({*ledger_}, *store_,
                                 {.request_id = NewRequestId(),
                                  .principal = TestPrincipal("owner"),
                                  .dataset = DatasetName("first"),
                                  .part = {},
                                  .options = {}},
                                 Intent::kValidateOnly)
                         .value();
  ASSERT_TRUE(check->Append(kPeopleOfTwoAges).ok());
  ASSERT_TRUE(check->Finish().ok());
  MakeUnder("census", PeopleUpTo(129));
  Fill("census", kPeopleOfTwoAges);
  ExpectAsked("census");
}

}  // namespace
}  // namespace curator::service
