// What is read of releases: samples as CSV, and what is no model.
#include "service/releases/releases.h"

#include "codec/release_codec.h"
#include "service/operations/synthesis.h"
#include "service/releases/priors.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class ReleasesTest : public ServiceTest {
 protected:
  ReleaseView Read(const std::string& release) {
    return GetRelease(services_, Method::kGetRelease, TestPrincipal("owner"), release).value();
  }

  ReleaseView ModelOf(const std::string& dataset, const std::map<std::string, std::string>& settings = {}) {
    const auto started = CreateSynthesis(services_,
                                         {.principal = TestPrincipal("owner"),
                                          .dataset = DatasetName(dataset),
                                          .method = "mwem",
                                          .spend = {.epsilon = EpsilonOf(1'000'000)},
                                          .settings = settings,
                                          .workload = {},
                                          .assume_records = std::nullopt,
                                          .parts = {}},
                                         NewRequestId(), Intent::kDo);
    EXPECT_TRUE(started.ok()) << started.status();
    return Read(
        WaitOperation(services_, TestPrincipal("owner"), started->id, absl::InfiniteFuture())->release_id);
  }

  ReleaseView AnswerOf(const DatasetView& dataset) {
    dp::WorkloadRelease answer;
    answer.asked.emplace_back();
    answer.plans.emplace_back();
    return Read(Released(dataset, "workload", codec::EncodeRelease(answer)));
  }

  static std::string Csv(ReleaseView& release, int64_t rows, BinStyle style) {
    std::string csv;
    const absl::Status sampled = SampleModel(release, rows, style, [&](std::string_view piece) {
      csv.append(piece);
      return absl::OkStatus();
    });
    EXPECT_TRUE(sampled.ok()) << sampled;
    return csv;
  }
};

// Those who read the file get back what was written, whatever characters are in it.
TEST_F(ReleasesTest, ASampledValueIsQuotedWhereCsvNeedsThat) {
  const std::vector<std::string> values = {"3\" pipe", "pipe, other", "plain"};
  NewDataset dataset = People("pipes", 2000);
  dataset.schema =
      dp::CreateSchema(
          dp::Domain::Create(
              {dp::Attribute::Create("kind, size", dp::CategoricalKind{values, std::nullopt}).value(),
               dp::Attribute::Create("age", dp::IntegerKind{0, 99, 50}).value()})
              .value(),
          dp::RecordUnit())
          .value();
  std::string records = "\"kind, size\",age\n";
  for (int i = 0; i < 50; ++i) records += "\"3\"\" pipe\",60\n\"pipe, other\",60\nplain,1\n";
  MakeSealed(dataset, records);
  ReleaseView release = ModelOf("pipes");
  const std::string csv = Csv(release, 200, BinStyle::kValueInside);
  EXPECT_TRUE(csv.starts_with("\"kind, size\",age\n"));
  EXPECT_NE(csv.find("\n\"3\"\" pipe\","), std::string::npos);
  EXPECT_NE(csv.find("\n\"pipe, other\","), std::string::npos);
  EXPECT_NE(csv.find("\nplain,"), std::string::npos);
  const std::unique_ptr<records::RecordImport> check = records::CheckRecords(dataset.schema, {});
  ASSERT_TRUE(check->Append(csv).ok());
  EXPECT_EQ(check->Finish()->rows_accepted, 200);

  EXPECT_NE(Csv(release, 200, BinStyle::kInterval).find("plain,\"[0, 50)\"\n"), std::string::npos);
}

TEST_F(ReleasesTest, NoMoreAndNoFewerRowsAreSampledThanThereCanBe) {
  MakeSealed(People("census", 2000));
  ReleaseView release = ModelOf("census");
  const auto ignore_csv = [](std::string_view) { return absl::OkStatus(); };
  const auto ignore_codes = [](std::span<const uint32_t>) { return absl::OkStatus(); };
  for (const int64_t rows : {int64_t{-1}, kMaxSampledRows + 1}) {
    EXPECT_EQ(FieldOf(SampleModel(release, rows, BinStyle::kInterval, ignore_csv)), "rows");
    EXPECT_EQ(FieldOf(SampleRecords(release, rows, ignore_codes)), "rows");
  }
  EXPECT_EQ(Csv(release, 0, BinStyle::kInterval), "sex,age,region\n");
}

TEST_F(ReleasesTest, TheAnswerToAWorkloadIsNoModelAndNoPrior) {
  const DatasetView census = MakeSealed(People("census"));
  ReleaseView answer = AnswerOf(census);
  EXPECT_EQ(RestoreModel(answer).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(QueryModel(answer, {}, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  const auto prior =
      ResolvePrior(services_, TestPrincipal("owner"), census.schema.domain, answer.release.id, {}, {});
  EXPECT_EQ(FieldOf(prior.status()), "settings.prior");
}

TEST_F(ReleasesTest, AModelIsNotAskedForAClientThatHasGone) {
  MakeSealed(People("census", 2000));
  ReleaseView model = ModelOf("census");
  const std::vector<QuerySetRequest> ages = {{PrefixesQuery{"age"}}};
  std::stop_source client;
  const Principal owner = TestPrincipal("owner");
  EXPECT_TRUE(QueryModel(model, ages, client.get_token()).ok());
  client.request_stop();
  EXPECT_EQ(QueryModel(model, ages, client.get_token()).status().code(), absl::StatusCode::kCancelled);
}

TEST_F(ReleasesTest, AModelIsNotMadeForAClientThatHasGone) {
  MakeSealed(People("census", 2000));
  ReleaseView model = ModelOf("census");
  std::stop_source client;
  client.request_stop();
  EXPECT_EQ(RestoreModel(model, client.get_token()).status().code(), absl::StatusCode::kCancelled);
  const auto ignore = [](std::string_view) { return absl::OkStatus(); };
  EXPECT_EQ(SampleModel(model, 5, BinStyle::kInterval, ignore, client.get_token()).code(),
            absl::StatusCode::kCancelled);
}

TEST_F(ReleasesTest, AModelOfAMethodThatTheServerDoesNotHaveCanBeShownButNotSampled) {
  const DatasetView census = MakeSealed(People("census"));
  const std::string payload = codec::EncodeRelease(dp::SynthesisRelease{.method = "withdrawn",
                                                                        .settings = {},
                                                                        .attributes = {0, 1, 2},
                                                                        .records = 80,
                                                                        .transcript = {},
                                                                        .event = "",
                                                                        .model = ""});
  ReleaseView release = Read(Released(census, "synthesis", payload));
  const absl::Status refused = RestoreModel(release).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.message(), "this server has no method \"withdrawn\"");
}

TEST_F(ReleasesTest, APriorIsNotReadForAClientThatHasGone) {
  const DatasetView census = MakeSealed(People("census", 2000));
  NewDataset open = People("open", 2000);
  open.limit.reset();
  open.is_public = true;
  const DatasetView sealed = MakeSealed(open, PeopleCsv(/*regions=*/3));
  ASSERT_TRUE(
      ledger_->PublishDataset(sealed.record.id, TestPrincipal("vera"), ledger::Approval::kByAnother).ok());
  std::stop_source client;
  client.request_stop();
  for (const std::string& name : {ModelOf("census").release.id, std::string("open")}) {
    const auto resolve = [&](const std::stop_token& client_left) {
      return ResolvePrior(services_, TestPrincipal("owner"), census.schema.domain, name, {}, client_left)
          .status();
    };
    EXPECT_TRUE(resolve({}).ok()) << resolve({});
    EXPECT_EQ(resolve(client.get_token()).code(), absl::StatusCode::kCancelled);
  }
}

// A dense model of 2^22 cells, which every marginal sums.
TEST_F(ReleasesTest, NoMoreMarginalsAreAskedOfAModelThanASecondSumsAndTheRefusalSaysHowManyFit) {
  constexpr int kAttributes = 22;
  std::vector<dp::Attribute> attributes;
  std::string header;
  std::string record;
  for (int i = 0; i < kAttributes; ++i) {
    attributes.push_back(dp::Attribute::Create(absl::StrCat("a", i), dp::CodedKind{2}).value());
    absl::StrAppend(&header, i > 0 ? "," : "", "a", i);
    absl::StrAppend(&record, i > 0 ? "," : "", i % 2);
  }
  NewDataset large = People("large", 2000);
  large.schema = dp::CreateSchema(dp::Domain::Create(attributes).value(), dp::RecordUnit()).value();
  MakeSealed(large, absl::StrCat(header, "\n", record, "\n"));
  const Principal owner = TestPrincipal("owner");
  ReleaseView model = ModelOf("large", {{"form", "dense"}, {"rounds", "1"}});

  const auto refused = QueryModel(model, {{MarginalsQuery{.k = 3}}}, {});
  EXPECT_EQ(FieldOf(refused.status()), "workload") << refused.status();
  EXPECT_THAT(std::string(refused.status().message()),
              ::testing::AllOf(::testing::HasSubstr("more than 1073741824 steps"),
                               ::testing::ContainsRegex("the first [1-9][0-9]* of its 1540 marginals fit")));
  EXPECT_TRUE(QueryModel(model, {{MarginalsQuery{.k = 1}}}, {}).ok());
}

using ReleaseMemoryTest = ReleasesTest;

TEST_F(ReleaseMemoryTest, ReadingARequestsMemoryFirstAndGivesItBack) {
  MakeSealed(People("census", 2000));
  const std::string id = ModelOf("census").release.id;
  EXPECT_EQ(memory_.taken(), 0) << "a view that is gone holds none";
  {
    ReleaseView view = Read(id);
    EXPECT_GT(memory_.taken(), 0);
    const int64_t of_the_view = memory_.taken();
    const auto restored = RestoreModel(view);
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_GT(memory_.taken(), of_the_view);
  }
  EXPECT_EQ(memory_.taken(), 0);
  const MemoryBudget::Lease others = memory_.Take(TestPrincipal("ana"), memory_.total()).value();
  EXPECT_EQ(GetRelease(services_, Method::kGetRelease, TestPrincipal("owner"), id).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(ReleaseMemoryTest, ASampleAndAnAnswerOfAModelWaitForTheMemoryOfOthers) {
  MakeSealed(People("census", 2000));
  ReleaseView view = ModelOf("census");
  const MemoryBudget::Lease others =
      memory_.Take(TestPrincipal("ana"), memory_.total() - memory_.taken()).value();
  const auto ignore = [](std::string_view) { return absl::OkStatus(); };
  EXPECT_EQ(SampleModel(view, 5, BinStyle::kInterval, ignore).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(QueryModel(view, {}, {}).status().code(), absl::StatusCode::kUnavailable);
}

// Two attributes of 2^12 values make a marginal that no free request holds.
TEST_F(ReleaseMemoryTest, AnAnswerOfAModelThatWouldTakeTooMuchIsRefusedWithTheNumbers) {
  constexpr int64_t kValues = int64_t{1} << 12;
  NewDataset wide = People("wide", 2000);
  wide.schema =
      dp::CreateSchema(dp::Domain::Create({dp::Attribute::Create("a", dp::CodedKind{kValues}).value(),
                                           dp::Attribute::Create("b", dp::CodedKind{kValues}).value()})
                           .value(),
                       dp::RecordUnit())
          .value();
  MakeSealed(wide, "a,b\n1,1\n2,0\n");
  const auto started = CreateSynthesis(services_,
                                       {.principal = TestPrincipal("owner"),
                                        .dataset = DatasetName("wide"),
                                        .method = "mwem",
                                        .spend = {.epsilon = EpsilonOf(1000)},
                                        .settings = {{"form", "factored"}, {"max_cells", "10000"}},
                                        .workload = {{MarginalsQuery{.sets = {{"a"}, {"b"}}}}},
                                        .assume_records = std::nullopt,
                                        .parts = {}},
                                       NewRequestId(), Intent::kDo);
  ASSERT_TRUE(started.ok()) << started.status();
  ReleaseView view =
      Read(WaitOperation(services_, TestPrincipal("owner"), started->id, absl::InfiniteFuture())->release_id);
  const auto refused = QueryModel(view, {{MarginalsQuery{.sets = {{"a", "b"}}}}}, {});
  EXPECT_EQ(FieldOf(refused.status()), "workload") << refused.status();
  EXPECT_THAT(std::string(refused.status().message()),
              ::testing::HasSubstr("at most 300 MB are given to one request"));
  EXPECT_TRUE(QueryModel(view, {{MarginalsQuery{.sets = {{"a"}}}}}, {}).ok());
}

}  // namespace
}  // namespace curator::service
