// A workload whose answer could not be stored.
#include "service/workloads/workloads.h"

#include "codec/release_codec.h"
#include "dp/workload/memory_forecast.h"
#include "service/releases/releases.h"
#include "service/testing/fixture.h"
#include "service/testing/wrapped_ledger.h"
#include "service/workloads/resolve_workload.h"

namespace curator::service {
namespace {

constexpr int64_t kSide = 256;
const std::string kLongName(1024, 'n');

// Half as many bytes of counts as a release may have: those of "code", of "a" by "b", and of "name".
dp::Schema WideSchema() {
  constexpr int64_t kMostCells = codec::kMostReleaseBytes / 2 / 8;
  std::vector<dp::Attribute> attributes = {
      dp::Attribute::Create("code", dp::CodedKind{kMostCells - kSide * kSide - 2}).value(),
      dp::Attribute::Create("a", dp::CodedKind{kSide}).value(),
      dp::Attribute::Create("b", dp::CodedKind{kSide}).value(),
      dp::Attribute::Create("name", dp::CategoricalKind{{kLongName, "n"}, std::nullopt}).value()};
  return dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit()).value();
}

Condition AllBut(const std::string& attribute, int64_t code) {
  Condition condition{.attribute = attribute, .values = {}, .between = std::nullopt};
  for (int64_t other = 0; other < kSide; ++other) {
    if (other != code) condition.values.push_back(std::to_string(other));
  }
  return condition;
}

// Each answer is measured itself. The counts of "code", and the terms of the thresholds, take nearly all that
// a release may hold; the names that the predicates repeat may be more than the rest.
std::vector<QuerySetRequest> LargeWorkload(int predicates) {
  std::vector<QuerySetRequest> sets = {
      {MarginalsQuery{.sets = {{"code"}}, .k = std::nullopt, .attributes = {}}, dp::Strategy::kAuto}};
  for (int64_t i = 0; i < 63; ++i) {
    sets.push_back({ThresholdsQuery{{AllBut("a", i), AllBut("b", i)}, {1}, 0, {}}, dp::Strategy::kDirect});
  }
  PredicatesQuery named;
  const Condition long_name{.attribute = "name", .values = {kLongName}, .between = std::nullopt};
  for (int i = 0; i < predicates; ++i) named.predicates.push_back({.all_of = {long_name}});
  sets.push_back({std::move(named), dp::Strategy::kDirect});
  return sets;
}

using WorkloadsTest = ServiceTest;

TEST_F(WorkloadsTest, AnAnswerThatCouldNotBeStoredIsRefusedBeforeTheCharge) {
  NewDataset wide = People("wide");
  wide.schema = WideSchema();
  const DatasetView dataset = MakeSealed(wide, "code,a,b,name\n");
  const auto estimate = [&](int predicates) {
    return EstimateWorkload(services_, {.principal = TestPrincipal("owner"),
                                        .dataset = DatasetName("wide"),
                                        .queries = LargeWorkload(predicates),
                                        .spend = {.epsilon = EpsilonOf(1000)},
                                        .target = std::nullopt,
                                        .mechanism = std::nullopt,
                                        .parts = {}})
        .status();
  };
  EXPECT_TRUE(estimate(100).ok()) << estimate(100);
  const absl::Status refused = estimate(8000);
  EXPECT_EQ(FieldOf(refused), "workload");
  EXPECT_THAT(std::string(refused.message()),
              ::testing::HasSubstr("at most " + std::to_string(codec::kMostReleaseBytes) + " are stored"));
}

TEST_F(WorkloadsTest, APostProcessingThatCannotBeDoneIsRefusedBeforeTheCharge) {
  NewDataset wide = People("wide");
  wide.schema = WideSchema();
  const DatasetView dataset = MakeSealed(wide, "code,a,b,name\n");
  const WorkloadRequest request{.principal = TestPrincipal("owner"),
                                .dataset = DatasetName("wide"),
                                .queries = {{MarginalsQuery{.sets = {{"code"}}}}},
                                .spend = {.epsilon = EpsilonOf(1000)}};
  const dp::PostProcessing steps{.non_negative = true, .consistent = true};
  for (const Intent intent : {Intent::kValidateOnly, Intent::kDo}) {
    EXPECT_EQ(FieldOf(AnswerWorkload(services_, request, steps, NewRequestId(), intent).status()),
              "post_processing");
  }
  EXPECT_EQ(Spent(dataset), 0);
}

TEST_F(WorkloadsTest, APaidAnswerNamesAReleaseThatWouldHaveAnsweredFree) {
  MakeSealed(People("census"));
  const WorkloadRequest request{.principal = TestPrincipal("owner"),
                                .dataset = DatasetName("census"),
                                .queries = {{MarginalsQuery{.sets = {{"sex"}}}}},
                                .spend = {.epsilon = EpsilonOf(1000)}};
  const auto first = AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(first->could_be_free_from.has_value());
  EXPECT_EQ(second->could_be_free_from, first->release.id);
  EXPECT_NE(second->release.id, first->release.id);
}

TEST_F(WorkloadsTest, AStatisticOfALongConditionIsAnsweredAndListedInShort) {
  MakeSealed(People("census"));
  Expression either{.kind = Expression::Kind::kAnyOf};
  for (int i = 0; i < 100; ++i) {
    either.operands.push_back(
        {.condition = {.attribute = "region", .compare = Comparison{dp::ComparisonOperator::kEqual, "1"}}});
    either.operands.push_back(
        {.condition = {.attribute = "age", .compare = Comparison{dp::ComparisonOperator::kLess, "30"}}});
  }
  const StatisticsQuery count{.statistics = {{.kind = dp::StatisticKind::kCount}},
                              .where = {.expression = either}};
  const WorkloadRequest request{.principal = TestPrincipal("owner"),
                                .dataset = DatasetName("census"),
                                .queries = {{count}},
                                .spend = {.epsilon = EpsilonOf(100)}};
  const auto answer = AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->release.label.size(), kMostSummaryBytes);
  EXPECT_TRUE(answer->release.label.starts_with("count where region = 1 or age < 30 or "));
}

class WorkloadMemoryTest : public ServiceTest {
 protected:
  static WorkloadRequest About(const std::string& dataset, QuerySetRequest queries) {
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName(dataset),
            .queries = {std::move(queries)},
            .spend = {.epsilon = EpsilonOf(100)}};
  }
  static WorkloadRequest BySex() {
    return About("census", {MarginalsQuery{.sets = {{"sex"}}, .k = std::nullopt, .attributes = {}}});
  }
};

TEST_F(WorkloadMemoryTest, ARequestWhoseMemoryOthersHoldIsUnavailableAndChargesNothing) {
  const DatasetView census = MakeSealed(People("census"));
  const RequestId request_id = NewRequestId();
  {
    const MemoryBudget::Lease others = memory_.Take(TestPrincipal("ana"), memory_.total()).value();
    EXPECT_EQ(EstimateWorkload(services_, BySex()).status().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(AnswerWorkload(services_, BySex(), {}, request_id, Intent::kDo).status().code(),
              absl::StatusCode::kUnavailable);
    EXPECT_EQ(Spent(census), 0);
  }
  EXPECT_TRUE(AnswerWorkload(services_, BySex(), {}, request_id, Intent::kDo).ok());
  EXPECT_EQ(memory_.taken(), 0) << "an answer gives back what it took";
}

// Its bytes are damaged, which only shows when they are read.
TEST_F(WorkloadMemoryTest, ALargeStoredAnswerIsReadWhenItsMemoryIsThere) {
  MakeSealed(People("census"));
  const RequestId request_id = NewRequestId();
  ASSERT_TRUE(AnswerWorkload(services_, BySex(), {}, request_id, Intent::kDo).ok());
  Corrupt("UPDATE releases SET payload = x'00', payload_size = 1000000");
  const auto again = [&] {
    return AnswerWorkload(services_, BySex(), {}, request_id, Intent::kDo).status().code();
  };
  {
    const MemoryBudget::Lease others = memory_.Take(TestPrincipal("ana"), memory_.total()).value();
    EXPECT_EQ(again(), absl::StatusCode::kUnavailable);
  }
  EXPECT_EQ(again(), absl::StatusCode::kDataLoss);
}

// A free answer is only a hint of an estimate.
TEST_F(WorkloadMemoryTest, AReleaseThatCannotBeReadFailsNoEstimate) {
  MakeSealed(People("census"));
  ASSERT_TRUE(AnswerWorkload(services_, BySex(), {}, NewRequestId(), Intent::kDo).ok());
  Corrupt("UPDATE releases SET payload = x'00'");
  const auto estimate = EstimateWorkload(services_, BySex());
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_FALSE(estimate->free_from.has_value());
}

TEST_F(WorkloadMemoryTest, AnAnswerHoldsItsMemoryUntilItIsSent) {
  MakeSealed(People("census"));
  const auto answer = AnswerWorkload(services_, BySex(), {}, NewRequestId(), Intent::kDo);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_GT(memory_.taken(), 0);
}

TEST_F(WorkloadMemoryTest, APlanThatWouldTakeTooMuchIsRefusedWithTheNumbersWhateverIsStored) {
  constexpr int64_t kBins = int64_t{1} << 20;
  NewDataset wide = People("wide");
  wide.schema =
      dp::CreateSchema(dp::Domain::Create({dp::Attribute::Create("a", dp::CodedKind{kBins}).value(),
                                           dp::Attribute::Create("b", dp::CodedKind{kBins}).value()})
                           .value(),
                       dp::RecordUnit())
          .value();
  Make(wide);
  const auto estimate = [&] {
    WorkloadRequest request = About("wide", {PrefixesQuery{"a"}});
    request.queries.push_back({PrefixesQuery{"b"}});
    return EstimateWorkload(services_, request).status();
  };
  const absl::Status empty = estimate();
  EXPECT_EQ(FieldOf(empty), "workload") << empty;
  EXPECT_THAT(std::string(empty.message()), ::testing::HasSubstr("at most 300 MB are given to one request"));
  FillAndSeal("wide", "a,b\n1,1\n2,0\n");
  EXPECT_EQ(estimate(), empty);
}

// Requests that were answered, and that this server would not plan: its memory is less than any plan takes.
class ReplayTest : public WorkloadMemoryTest {
 protected:
  static constexpr int64_t kLessThanAPlan = 1'000'000;

  absl::StatusOr<WorkloadAnswer> AskLater(const WorkloadRequest& request, const RequestId& id) {
    return AnswerWorkload(later_, request, {}, id, Intent::kDo);
  }

  // Whether the request was refused because it would have to be planned.
  static bool NeedsAPlan(const absl::Status& status) {
    return absl::IsInvalidArgument(status) && status.message().find("of memory") != std::string::npos;
  }

  MemoryBudget small_{kLessThanAPlan, absl::ZeroDuration()};
  Services later_{*ledger_,         *store_,   sealer_, signer_,      operations_,      work_,
                  OnlyThisThread(), requests_, late_,   datasets_,    recent_,          stored_,
                  repetitions_,     daily_,    small_,  comparisons_, absl::Minutes(10)};
};

TEST_F(ReplayTest, AnAnswerThatWasStoredIsReturnedThoughItsRequestIsNotPlannedAnyMore) {
  const DatasetView census = MakeSealed(People("census"));
  WorkloadRequest request = BySex();
  request.queries.push_back({MarginalsQuery{.sets = {{"sex", "age"}, {"age"}}}});
  const RequestId id = NewRequestId();
  const WorkloadAnswer first = AnswerWorkload(services_, request, {}, id, Intent::kDo).value();
  const int64_t spent = Spent(census);
  ASSERT_TRUE(NeedsAPlan(AskLater(request, NewRequestId()).status()));

  const auto again = AskLater(request, id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->release.id, first.release.id);
  EXPECT_EQ(again->answer, first.answer);
  EXPECT_EQ(again->request_id, id.text());
  EXPECT_EQ(again->price.Postings(), first.price.Postings());
  EXPECT_EQ(Spent(census), spent);
}

TEST_F(ReplayTest, AnAnswerOfOtherQueriesThanMarginalsIsReturnedAsItWasStored) {
  MakeSealed(People("census"));
  WorkloadRequest request = About("census", {PrefixesQuery{"age"}});
  request.queries.push_back({MarginalsQuery{.sets = {{"sex"}}}});
  const RequestId id = NewRequestId();
  const WorkloadAnswer first = AnswerWorkload(services_, request, {}, id, Intent::kDo).value();
  const auto again = AskLater(request, id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->answer, first.answer);
}

TEST_F(ReplayTest, AnAnswerOfStatisticsIsReadInTheMemoryThatItTakesOrInAllThereIs) {
  const DatasetView census = MakeSealed(People("census"));
  const WorkloadRequest request =
      About("census",
            {StatisticsQuery{.statistics = {{.kind = dp::StatisticKind::kCount}}, .by = {"age", "region"}}});
  const RequestId id = NewRequestId();
  const WorkloadAnswer first = AnswerWorkload(services_, request, {}, id, Intent::kDo).value();
  const int64_t bytes = dp::StoredAnswerBytes(first.release.payload_size) +
                        dp::StatisticsReadingBytes(census.schema.domain, dp::StatisticsOf(first.answer.asked),
                                                   first.answer.statistics.draws);
  const auto again = AnswerWorkload(services_, request, {}, id, Intent::kDo);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->replayed);
  EXPECT_GE(again->memory.bytes(), bytes);
  const auto view = GetRelease(services_, Method::kGetRelease, TestPrincipal("owner"), first.release.id);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->memory.bytes(), bytes);
  const auto later = AskLater(request, id);
  ASSERT_TRUE(later.ok()) << later.status();
  EXPECT_EQ(later->memory.bytes(), kLessThanAPlan);
}

TEST_F(ReplayTest, AnotherRequestUnderItsIdGetsNothingOfIt) {
  MakeSealed(People("census"));
  const RequestId id = NewRequestId();
  ASSERT_TRUE(AnswerWorkload(services_, BySex(), {}, id, Intent::kDo).ok());
  WorkloadRequest other = BySex();
  other.spend.epsilon = EpsilonOf(200);
  EXPECT_TRUE(NeedsAPlan(AskLater(other, id).status()));
  EXPECT_EQ(AnswerWorkload(services_, other, {}, id, Intent::kDo).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(ReplayTest, AnotherPrincipalGetsNothingOfItUnderTheSameId) {
  const DatasetView census = MakeSealed(People("census"));
  const RequestId id = NewRequestId();
  ASSERT_TRUE(AnswerWorkload(services_, BySex(), {}, id, Intent::kDo).ok());
  WorkloadRequest request = BySex();
  request.principal = TestPrincipal("mallory");
  EXPECT_EQ(AskLater(request, id).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(ledger_->SetGrant(census.record.id, {.grantee = "mallory"}, TestPrincipal("owner")).ok());
  EXPECT_TRUE(NeedsAPlan(AskLater(request, id).status())) << "this request was never charged";
}

// As after an edit of the tables under a running server: the row names another principal.
TEST_F(ReplayTest, AnAnswerOfADatasetThatThePrincipalDoesNotSeeIsNotReturned) {
  MakeSealed(People("census"));
  const RequestId id = NewRequestId();
  ASSERT_TRUE(AnswerWorkload(services_, BySex(), {}, id, Intent::kDo).ok());
  Corrupt("UPDATE charges SET principal = 'mallory'");
  WorkloadRequest request = BySex();
  request.principal = TestPrincipal("mallory");
  EXPECT_EQ(AskLater(request, id).status().code(), absl::StatusCode::kNotFound);
}

// Answers to conditions on few attributes, in sets whose first condition is on all of them: each set is
// summed up from the cells over all attributes, group after group.
QuerySetRequest SummedSet() {
  constexpr int kAttributes = 22;
  PredicatesQuery query;
  std::vector<Condition> all;
  for (int i = 0; i < kAttributes; ++i) {
    all.push_back({.attribute = "a" + std::to_string(i), .values = {"0"}, .between = std::nullopt});
  }
  query.predicates.push_back({.all_of = all});
  for (int i = 0; i < 40; ++i) query.predicates.push_back({.all_of = {all[static_cast<size_t>(i % 2)]}});
  return {std::move(query), dp::Strategy::kBaseHistogram};
}

TEST_F(WorkloadMemoryTest, AnAnswerThatWouldTakeTooLongToBeReadIsRefusedBeforeItsCharge) {
  std::vector<dp::Attribute> attributes;
  for (int i = 0; i < 22; ++i) {
    attributes.push_back(dp::Attribute::Create("a" + std::to_string(i), dp::CodedKind{2}).value());
  }
  NewDataset wide = People("wide");
  wide.schema = dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit()).value();
  Make(wide);
  WorkloadRequest request = About("wide", SummedSet());
  EXPECT_TRUE(EstimateWorkload(services_, request).ok()) << EstimateWorkload(services_, request).status();
  request.queries.push_back(SummedSet());
  const absl::Status refused = EstimateWorkload(services_, request).status();
  EXPECT_EQ(FieldOf(refused), "workload") << refused;
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("335544320 measured values"));
}

class RepetitionTest : public ServiceTest {
 protected:
  RepetitionTest() : ServiceTest(&OpenLedgerThrough<CountedReads>) {
    MakeSealed(People("census"));
    EXPECT_TRUE(Ask().ok());
  }

  // The same request each time.
  absl::StatusOr<WorkloadAnswer> Ask() {
    return AnswerWorkload(services_,
                          {.principal = TestPrincipal("owner"),
                           .dataset = DatasetName("census"),
                           .queries = {{MarginalsQuery{.sets = {{"sex"}}}}},
                           .spend = {.epsilon = EpsilonOf(100)}},
                          {}, id_, Intent::kDo);
  }

  const RequestId id_ = NewRequestId();
};

TEST_F(RepetitionTest, ReadsTheLedgerOnce) {
  ASSERT_TRUE(Ask().ok()) << "from then on it is looked up first";
  const int64_t before = CountedReads::count;
  const auto again = Ask();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(CountedReads::count - before, 1);
}

TEST_F(RepetitionTest, BeyondThePaceOfItsPrincipalItIsRefusedAfterOneRead) {
  while (repetitions_.Take(TestPrincipal("owner")).ok()) {
  }
  const int64_t before = CountedReads::count;
  const absl::Status refused = Ask().status();
  EXPECT_EQ(CountedReads::count - before, 1);
  EXPECT_TRUE(QuotaRetryOf(refused)) << refused;
}

TEST_F(RepetitionTest, BeyondThePaceOfItsPrincipalANewRequestIsAnswered) {
  while (repetitions_.Take(TestPrincipal("owner")).ok()) {
  }
  const auto fresh = AnswerWorkload(services_,
                                    {.principal = TestPrincipal("owner"),
                                     .dataset = DatasetName("census"),
                                     .queries = {{MarginalsQuery{.sets = {{"age"}}}}},
                                     .spend = {.epsilon = EpsilonOf(100)}},
                                    {}, NewRequestId(), Intent::kDo);
  EXPECT_TRUE(fresh.ok()) << fresh.status();
}

TEST_F(RepetitionTest, ItHoldsItsPlaceUntilItIsSent) {
  std::vector<WorkloadAnswer> unsent;
  for (int i = 0; i < RepetitionPace::kMostAtOnce; ++i) unsent.push_back(Ask().value());
  const absl::Status refused = Ask().status();
  EXPECT_TRUE(QuotaRetryOf(refused)) << refused;
  unsent.pop_back();
  EXPECT_TRUE(Ask().ok());
}

}  // namespace
}  // namespace curator::service
