// Every class of question over a real socket, against counts made from the CSV itself: a budget so large that
// no noise is left shows what is counted.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "base/errors.h"
#include "client/error.h"
#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

// A row of SmallCsv().
struct Row {
  bool is_male = false;
  int age = 0;
  int region = 0;
};

constexpr int kRows = 731;

int64_t CountIf(const std::function<bool(const Row&)>& holds) {
  std::istringstream csv(SmallCsv(kRows));
  std::string line;
  std::getline(csv, line);
  int64_t count = 0;
  while (std::getline(csv, line)) {
    std::istringstream fields(line);
    std::string sex;
    std::string age;
    std::string region;
    std::getline(fields, sex, ',');
    std::getline(fields, age, ',');
    std::getline(fields, region);
    count += holds({sex == "Male", std::stoi(age), std::stoi(region)}) ? 1 : 0;
  }
  return count;
}

v1::Workload WorkloadFrom(const std::string& json) {
  v1::Workload workload;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &workload);
  EXPECT_TRUE(status.ok()) << status.ToString() << json;
  return workload;
}

v1::Schema WithBits() {
  v1::Schema schema = SmallSchema();
  v1::Attribute* smokes = schema.add_attributes();
  smokes->set_name("smokes");
  smokes->mutable_coded()->set_size(2);
  return schema;
}

class QueryClasses : public ::testing::TestWithParam<Backend> {
 protected:
  QueryClasses() : server_(GetParam()), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "100000"), SmallCsv(kRows));
  }

  v1::AnswerWorkloadRequest Request(const std::string& json, const std::string& epsilon = "1000") const {
    v1::AnswerWorkloadRequest request;
    request.set_dataset("census");
    request.set_request_id(*client::NewRequestId());
    *request.mutable_workload() = WorkloadFrom(json);
    request.mutable_spend()->set_epsilon(epsilon);
    return request;
  }

  // The answers of the only query set, rounded: without noise they are whole up to rounding.
  std::vector<int64_t> Answers(const std::string& json) const {
    const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(Request(json));
    EXPECT_TRUE(answer.ok()) << answer.status() << json;
    if (!answer.ok() || answer->query_sets.size() != 1) return {};
    const QuerySetAnswer& set = answer->query_sets[0];
    EXPECT_EQ(set.labels.size(), set.size() * static_cast<size_t>(set.header.columns_size()));
    std::vector<int64_t> counts = set.counts;
    for (const double estimate : set.estimates) counts.push_back(std::llround(estimate));
    return counts;
  }

  std::string FieldOfError(const std::string& json) const {
    const absl::Status status = owner_.AnswerWorkload(Request(json)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    return std::string(status.message());
  }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, QueryClasses, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(QueryClasses, RangesAreCountedByEveryStrategy) {
  std::vector<int64_t> expected;
  for (int first = 0; first < 10; ++first) {
    for (int last = first; last < 10; ++last)
      expected.push_back(
          CountIf([&](const Row& row) { return row.age / 10 >= first && row.age / 10 <= last; }));
  }
  for (const std::string strategy : {"UNSPECIFIED", "DIRECT", "BASE_HISTOGRAM", "TREE"}) {
    EXPECT_EQ(Answers(R"({"query_sets":[{"ranges":{"attributes":["age"]},"strategy":"STRATEGY_)" + strategy +
                      "\"}]}"),
              expected)
        << strategy;
  }
}

TEST_P(QueryClasses, BoxesOfSeveralAttributesAreCounted) {
  const std::string boxes = R"({"query_sets":[{"ranges":{"attributes":["region","age"],"boxes":[
      {"sides":[{"from":1,"to":"2"},{"from":20,"to":49}]},
      {"sides":[{"to":0},{"from":"50"}]}]},"strategy":")";
  const std::vector<int64_t> expected = {
      CountIf(
          [](const Row& row) { return row.region >= 1 && row.region <= 2 && row.age >= 20 && row.age < 50; }),
      CountIf([](const Row& row) { return row.region == 0 && row.age >= 50; })};
  EXPECT_EQ(Answers(boxes + "STRATEGY_DIRECT\"}]}"), expected);
  EXPECT_EQ(Answers(boxes + "STRATEGY_BASE_HISTOGRAM\"}]}"), expected);
}

TEST_P(QueryClasses, PrefixesAreCumulativeCounts) {
  std::vector<int64_t> expected;
  for (int last = 0; last < 10; ++last)
    expected.push_back(CountIf([&](const Row& row) { return row.age / 10 <= last; }));
  for (const std::string strategy : {"UNSPECIFIED", "DIRECT", "BASE_HISTOGRAM", "TREE"})
    EXPECT_EQ(Answers(R"({"query_sets":[{"prefixes":{"attribute":"age"},"strategy":"STRATEGY_)" + strategy +
                      "\"}]}"),
              expected);
}

TEST_P(QueryClasses, ThresholdsCountRecordsThatFulfilEnoughConditions) {
  const auto fulfilled = [](const Row& row) {
    return (row.is_male ? 1 : 0) + (row.age < 30 ? 1 : 0) + (row.region == 1 || row.region == 3 ? 1 : 0);
  };
  const std::vector<int64_t> expected = {CountIf([&](const Row& row) { return fulfilled(row) >= 2; }),
                                         CountIf([&](const Row& row) { return fulfilled(row) >= 3; })};
  for (const std::string strategy : {"DIRECT", "BASE_HISTOGRAM"}) {
    EXPECT_EQ(Answers(R"({"query_sets":[{"thresholds":{"conditions":[{"attribute":"sex","in":["Male"]},
                          {"attribute":"age","between":{"to":29}},{"attribute":"region","in":[1,"3"]}],
                          "at_least":[2,3]},"strategy":"STRATEGY_)" +
                      strategy + "\"}]}"),
              expected);
  }
  EXPECT_EQ(Answers(R"({"query_sets":[{"thresholds":{"conditions":[{"attribute":"sex","in":["Male"]},
                        {"attribute":"age","between":{"to":29}},{"attribute":"region","in":[1,"3"]}],
                        "at_least":[1],"k":2}}]})")
                .size(),
            3u)
      << "one of two, for each two of the three";
}

TEST_P(QueryClasses, PredicatesAreCountedByOtherAttributes) {
  std::vector<int64_t> expected;
  for (int region = 0; region < 4; ++region) {
    expected.push_back(CountIf([&](const Row& row) {
      return row.age >= 30 && row.age <= 49 && !row.is_male && row.region == region;
    }));
  }
  const std::string where = R"({"query_sets":[{"predicates":{"predicates":[{"all_of":[
      {"attribute":"age","between":{"from":30,"to":49}},{"attribute":"sex","in":["Female"]}]}],
      "by":["region"]},"strategy":"STRATEGY_)";
  EXPECT_EQ(Answers(where + "DIRECT\"}]}"), expected);
  EXPECT_EQ(Answers(where + "BASE_HISTOGRAM\"}]}"), expected);
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(Request(where + "DIRECT\"}]}"));
  ASSERT_TRUE(answer.ok());
  const QuerySetAnswer& set = answer->query_sets[0];
  EXPECT_EQ(set.header.query_class(), "predicates");
  ASSERT_EQ(set.header.columns_size(), 2);
  EXPECT_EQ(set.header.columns(0), "where");
  EXPECT_EQ(set.header.columns(1), "region");
  EXPECT_EQ(set.labels[2], "sex = Female and age in [30, 50)");
  EXPECT_EQ(set.labels[3], "1");
}

TEST_P(QueryClasses, SetsOfValuesWithGapsAreCounted) {
  EXPECT_EQ(Answers(R"json({"query_sets":[{"predicates":{"predicates":[
                {"all_of":[{"attribute":"region","in":[0,3]},{"attribute":"age","in":["[10, 20)","[40, 50)"]}]},
                {"all_of":[{"attribute":"sex","in":["Male"]}]}]}}]})json"),
            (std::vector<int64_t>{CountIf([](const Row& row) {
                                    return (row.region == 0 || row.region == 3) &&
                                           (row.age / 10 == 1 || row.age / 10 == 4);
                                  }),
                                  CountIf([](const Row& row) { return row.is_male; })}));
}

TEST_P(QueryClasses, ParitiesAreCountedDirectlyAndFromTheirCells) {
  v1::CreateDatasetRequest bits = NewDataset("bits", v1::RULE_PURE, "100000");
  *bits.mutable_schema() = WithBits();
  std::ostringstream csv;
  csv << "sex,age,region,smokes\n";
  int64_t even_minus_odd = 0;
  for (int i = 0; i < 100; ++i) {
    const bool is_male = i % 3 == 0;
    const bool smokes = i % 7 == 0;
    csv << (is_male ? "Male" : "Female") << ",40,1," << (smokes ? 1 : 0) << '\n';
    even_minus_odd += is_male == smokes ? 1 : -1;
  }
  MakeSealed(owner_, bits, csv.str());
  for (const std::string strategy : {"DIRECT", "BASE_HISTOGRAM"}) {
    v1::AnswerWorkloadRequest request = Request(
        R"({"query_sets":[{"parities":{"up_to_k_way":{"k":2,"attributes":["sex","smokes"]}},"strategy":"STRATEGY_)" +
        strategy + "\"}]}");
    request.set_dataset("bits");
    const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(request);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->query_sets[0].counts,
              (std::vector<int64_t>{100 - 2 * 34, 100 - 2 * 15, even_minus_odd}));
    EXPECT_EQ(answer->query_sets[0].labels[2], "sex, smokes");
  }
}

TEST_P(QueryClasses, AMixtureIsOneChargeAndIsReplayedByteForByte) {
  v1::AnswerWorkloadRequest request = Request(R"({"query_sets":[{"marginals":{"sets":[{"names":["sex"]}]}},
      {"ranges":{"attributes":["age"]},"strategy":"STRATEGY_TREE"},
      {"predicates":{"predicates":[{"all_of":[{"attribute":"sex","in":["Male"]}]}],"by":["region"]}}]})",
                                              "0.5");
  const absl::StatusOr<Answer> first = owner_.AnswerWorkload(request);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->header.marginal_count(), 1);
  EXPECT_EQ(first->header.query_set_count(), 2);
  EXPECT_EQ(first->query_sets[0].header.query_set(), 1);
  EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), "0.5");
  const absl::StatusOr<Answer> again = owner_.AnswerWorkload(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->header.replayed());
  EXPECT_EQ(again->marginals[0].counts, first->marginals[0].counts);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again->query_sets[i].counts, first->query_sets[i].counts);
    EXPECT_EQ(again->query_sets[i].estimates, first->query_sets[i].estimates);
    EXPECT_EQ(again->query_sets[i].labels, first->query_sets[i].labels);
    EXPECT_EQ(again->query_sets[i].confidence_half_widths, first->query_sets[i].confidence_half_widths);
  }
  EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), "0.5");
}

TEST_P(QueryClasses, MarginalsOfSeveralSetsSayWhichSetTheyAreOf) {
  const v1::AnswerWorkloadRequest request =
      Request(R"({"query_sets":[{"marginals":{"sets":[{"names":["sex"]}]}},
      {"marginals":{"sets":[{"names":["age"]},{"names":["region"]}]}}]})");
  for (const bool is_replayed : {false, true}) {
    const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(request);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->header.replayed(), is_replayed);
    ASSERT_EQ(answer->marginals.size(), 3u);
    EXPECT_EQ(answer->marginals[0].header.query_set(), 0);
    EXPECT_EQ(answer->marginals[1].header.query_set(), 1);
    EXPECT_EQ(answer->marginals[2].header.query_set(), 1);
  }
}

TEST_P(QueryClasses, ATargetSpendsWhatTheEstimateSaysAndReachesIt) {
  v1::EstimateWorkloadRequest estimate;
  estimate.set_dataset("census");
  *estimate.mutable_workload() = WorkloadFrom(R"({"query_sets":[{"prefixes":{"attribute":"age"}}]})");
  estimate.mutable_target()->set_max_error(20);
  estimate.mutable_target()->set_confidence(0.9);
  const absl::StatusOr<v1::EstimateWorkloadResponse> forecast = owner_.EstimateWorkload(estimate);
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_EQ(forecast->max_error(), 20);
  EXPECT_EQ(forecast->query_sets_size(), 1);
  EXPECT_EQ(forecast->choices_size(), 5);
  EXPECT_GT(forecast->choices(0).max_error(), forecast->choices(4).max_error());

  v1::AnswerWorkloadRequest request = Request(R"({"query_sets":[{"prefixes":{"attribute":"age"}}]})");
  request.clear_spend();
  *request.mutable_target() = estimate.target();
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->header.costs(0).amount(), forecast->spend().epsilon());
}

TEST_P(QueryClasses, WhatAReleaseDeterminesIsFreeForWhoPaidForIt) {
  const absl::StatusOr<Answer> paid = owner_.AnswerWorkload(
      Request(R"({"query_sets":[{"marginals":{"sets":[{"names":["sex","age"]}]}}]})", "0.5"));
  ASSERT_TRUE(paid.ok()) << paid.status();
  EXPECT_EQ(paid->header.could_be_free_from_size(), 0);
  const std::string questions = R"({"query_sets":[{"marginals":{"sets":[{"names":["sex"]}]}},
      {"predicates":{"predicates":[{"all_of":[{"attribute":"sex","in":["Male"]},
                                               {"attribute":"age","between":{"to":29}}]}]}}]})";
  v1::AnswerWorkloadRequest request = Request(questions);
  request.clear_spend();
  request.set_prefer_free(true);
  const absl::StatusOr<Answer> free = owner_.AnswerWorkload(request);
  ASSERT_TRUE(free.ok()) << free.status();
  ASSERT_EQ(free->header.free_from_size(), 1);
  EXPECT_EQ(free->header.free_from(0), paid->header.release_id());
  EXPECT_EQ(free->header.charge_id(), "");
  const std::vector<int64_t>& cells = paid->marginals[0].counts;
  int64_t female = 0;
  for (size_t i = 0; i < 10; ++i) female += cells[i];
  EXPECT_EQ(free->marginals[0].counts[0], female);
  EXPECT_GT(free->marginals[0].confidence_half_widths[0],
            paid->marginals[0].header.noise().confidence_half_width());
  EXPECT_EQ(free->query_sets[0].counts, (std::vector<int64_t>{cells[10] + cells[11] + cells[12]}));
  EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), "0.5");

  // Told so, where it was not wished for.
  const absl::StatusOr<Answer> paid_again = owner_.AnswerWorkload(Request(questions, "0.5"));
  ASSERT_TRUE(paid_again.ok()) << paid_again.status();
  ASSERT_EQ(paid_again->header.could_be_free_from_size(), 1);
  EXPECT_EQ(paid_again->header.could_be_free_from(0), paid->header.release_id());
  EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), "1");
}

TEST_P(QueryClasses, WhatIsNotDeterminedIsPaidFor) {
  ASSERT_TRUE(owner_
                  .AnswerWorkload(
                      Request(R"({"query_sets":[{"marginals":{"sets":[{"names":["sex","age"]}]}}]})", "0.5"))
                  .ok());
  v1::AnswerWorkloadRequest request =
      Request(R"({"query_sets":[{"prefixes":{"attribute":"region"}}]})", "0.25");
  request.set_prefer_free(true);
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->header.free_from_size(), 0);
  EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), "0.75");

  Grant(owner_, "census", "ana");
  request.clear_spend();
  request.set_request_id(*client::NewRequestId());
  EXPECT_EQ(server_.ClientFor("ana").AnswerWorkload(request).status().code(),
            absl::StatusCode::kInvalidArgument)
      << "what another paid for is not ana's";
}

TEST_P(QueryClasses, AReleaseThatWasSharedAnswersFreeAlsoAfterARestart) {
  const absl::StatusOr<Answer> paid =
      owner_.AnswerWorkload(Request(R"({"query_sets":[{"marginals":{"sets":[{"names":["age"]}]}}]})", "0.5"));
  ASSERT_TRUE(paid.ok()) << paid.status();
  const auto share = [&](const std::string& principal, const std::string& grantee) {
    v1::ShareReleaseRequest request;
    request.set_release_id(paid->header.release_id());
    request.set_principal(grantee);
    return server_.ClientFor(principal).ShareRelease(request).status().code();
  };
  EXPECT_EQ(share("owner", "ana"), absl::StatusCode::kInvalidArgument) << "ana does not see the dataset";
  v1::GrantAccessRequest grant;
  grant.set_dataset("census");
  for (const std::string principal : {"ana", "bob"}) {
    grant.set_principal(principal);
    ASSERT_TRUE(owner_.GrantAccess(grant).ok());
  }
  EXPECT_EQ(share("ana", "bob"), absl::StatusCode::kNotFound);
  EXPECT_EQ(share("owner", "ana"), absl::StatusCode::kOk);
  EXPECT_EQ(share("owner", "ana"), absl::StatusCode::kOk);
  EXPECT_EQ(share("ana", "bob"), absl::StatusCode::kPermissionDenied);
  server_.Restart();
  v1::AnswerWorkloadRequest request = Request(R"({"query_sets":[{"prefixes":{"attribute":"age"}}]})");
  request.clear_spend();
  request.set_prefer_free(true);
  const absl::StatusOr<Answer> free = server_.ClientFor("ana").AnswerWorkload(request);
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_EQ(free->header.free_from(0), paid->header.release_id());
  EXPECT_EQ(server_.ClientFor("bob").AnswerWorkload(request).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(QueryClasses, WhatCutsABinOrIsNotThereIsNamedAndFree) {
  EXPECT_EQ(
      FieldOfError(R"({"query_sets":[{"predicates":{"predicates":[{"all_of":[
                {"attribute":"age","between":{"from":35,"to":49}}]}]}}]})"),
      "workload.query_sets[0].predicates.predicates[0].all_of[0].between.from: 35 cuts the bin [30, 40) of "
      "age; the nearest that does not: 30 and 40");
  EXPECT_EQ(FieldOfError(R"({"query_sets":[{"ranges":{"attributes":["age"],"boxes":[{"sides":[{},{}]}]}}]})"),
            "workload.query_sets[0].ranges.boxes[0].sides: has 2 intervals for 1 attributes");
  EXPECT_EQ(
      FieldOfError(R"({"query_sets":[{"ranges":{"attributes":["sex","age"]},"strategy":"STRATEGY_TREE"}]})"),
      "workload.query_sets[0].strategy: a tree answers ranges, prefixes, or intervals of one attribute, and "
      "nothing else");
  EXPECT_EQ(FieldOfError(R"({"query_sets":[{}]})"),
            "workload.query_sets[0]: needs marginals, ranges, prefixes, thresholds, parities, predicates or "
            "statistics");
  EXPECT_EQ(FieldOfError(R"({"query_sets":[{"parities":{"sets":[{"names":["region"]}]}}]})"),
            "workload.query_sets[0].parities: \"region\" has 4 values; parities are of attributes with two");
  EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), "0");
}

// What a plan makes least: on an account that takes Gaussian noise.
class Objectives : public ::testing::TestWithParam<Backend> {
 protected:
  Objectives() : server_(GetParam()), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, NewDataset("census", v1::RULE_ZCDP, "50", "1e-9"), SmallCsv(kRows));
  }

  // All pairs of attributes, and all ranges of age, for rho = 0.5.
  static v1::EstimateWorkloadRequest Question() {
    v1::EstimateWorkloadRequest request;
    request.set_dataset("census");
    *request.mutable_workload() = WorkloadFrom(
        R"({"query_sets":[{"marginals":{"all_k_way":{"k":2}}},{"ranges":{"attributes":["age"]}}]})");
    request.mutable_spend()->set_rho("0.5");
    return request;
  }

  v1::EstimateWorkloadResponse Forecast(const v1::EstimateWorkloadRequest& request) const {
    absl::StatusOr<v1::EstimateWorkloadResponse> forecast = owner_.EstimateWorkload(request);
    EXPECT_TRUE(forecast.ok()) << forecast.status();
    if (!forecast.ok() || forecast->query_sets_size() != 2) return {};
    return *std::move(forecast);
  }

  absl::StatusOr<Answer> Answered(const v1::EstimateWorkloadRequest& asked) const {
    v1::AnswerWorkloadRequest request;
    request.set_dataset(asked.dataset());
    request.set_request_id(*client::NewRequestId());
    *request.mutable_workload() = asked.workload();
    if (asked.has_spend()) *request.mutable_spend() = asked.spend();
    if (asked.has_target()) *request.mutable_target() = asked.target();
    request.set_objective(asked.objective());
    return owner_.AnswerWorkload(request);
  }

  std::string Spent() const { return owner_.GetBudget("census")->accounts(0).counters(0).spent(); }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Objectives, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

double WorstOf(const v1::EstimateWorkloadResponse& forecast) {
  double worst = 0;
  for (const auto& set : forecast.query_sets()) worst = std::max(worst, set.largest_standard_deviation());
  return worst;
}

TEST_P(Objectives, ASetOfMoreWeightIsMoreExactAtTheCostOfTheOther) {
  const v1::EstimateWorkloadRequest alike = Question();
  v1::EstimateWorkloadRequest weighted = Question();
  weighted.mutable_workload()->mutable_query_sets(1)->set_weight(100);
  const v1::EstimateWorkloadResponse before = Forecast(alike);
  const v1::EstimateWorkloadResponse after = Forecast(weighted);
  EXPECT_LT(after.query_sets(1).standard_deviation(), 0.9 * before.query_sets(1).standard_deviation());
  EXPECT_GT(after.query_sets(0).standard_deviation(), 1.1 * before.query_sets(0).standard_deviation());
  EXPECT_EQ(after.spend().rho(), before.spend().rho());

  const absl::StatusOr<Answer> first = Answered(alike);
  const absl::StatusOr<Answer> second = Answered(weighted);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  ASSERT_EQ(second->query_sets.size(), 1u);
  for (size_t i = 0; i < second->query_sets[0].size(); ++i) {
    EXPECT_LT(second->query_sets[0].confidence_half_widths[i], first->query_sets[0].confidence_half_widths[i])
        << i;
  }
  EXPECT_EQ(Spent(), "1");
}

TEST_P(Objectives, TheWorstAnswerIsBetterWhereItIsTheObjective) {
  v1::EstimateWorkloadRequest request = Question();
  const v1::EstimateWorkloadResponse by_default = Forecast(request);
  request.set_objective(v1::OBJECTIVE_SUM);
  EXPECT_EQ(WorstOf(Forecast(request)), WorstOf(by_default));
  request.set_objective(v1::OBJECTIVE_WORST);
  EXPECT_LT(WorstOf(Forecast(request)), 0.95 * WorstOf(by_default));
}

// The weighted mean over the sets of their mean squared errors; the weights are 1 and `weight`.
double RmseOf(const v1::EstimateWorkloadResponse& forecast, double weight) {
  const double first = forecast.query_sets(0).standard_deviation();
  const double second = forecast.query_sets(1).standard_deviation();
  return std::sqrt((first * first + weight * second * second) / (1 + weight));
}

TEST_P(Objectives, ARootMeanSquaredErrorIsReachedAtTheLeastSpend) {
  v1::EstimateWorkloadRequest request = Question();
  constexpr double kWeight = 3;
  constexpr double kMost = 12.5;
  request.mutable_workload()->mutable_query_sets(1)->set_weight(kWeight);
  request.mutable_target()->set_rmse(kMost);
  request.clear_spend();
  const v1::EstimateWorkloadResponse forecast = Forecast(request);
  EXPECT_LE(RmseOf(forecast, kWeight), kMost * (1 + 1e-9));

  const absl::StatusOr<Answer> answer = Answered(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->header.costs(0).amount(), forecast.spend().rho());
  EXPECT_EQ(Spent(), forecast.spend().rho());

  request.clear_target();
  std::ostringstream less;
  less << std::fixed << std::setprecision(12) << 0.999 * std::stod(forecast.spend().rho());
  request.mutable_spend()->set_rho(less.str());
  EXPECT_GT(RmseOf(Forecast(request), kWeight), kMost);
}

TEST_P(Objectives, WhatHasNoEffectOrIsNoNumberIsNamedAndFree) {
  using Request = v1::EstimateWorkloadRequest;
  const auto weigh = [](double weight) {
    return
        [weight](Request& request) { request.mutable_workload()->mutable_query_sets(1)->set_weight(weight); };
  };
  const auto ask_statistics = [](Request& request) {
    *request.mutable_workload() =
        WorkloadFrom(R"({"query_sets":[{"statistics":{"statistics":[{"count":{}}]}}]})");
  };
  const auto reach = [](double rmse) {
    return [rmse](Request& request) {
      request.clear_spend();
      request.mutable_target()->set_rmse(rmse);
    };
  };
  struct Case {
    std::vector<std::function<void(Request&)>> changes;
    std::string field;
  };
  const std::vector<Case> cases = {
      {{weigh(0)}, "workload.query_sets[1].weight"},
      {{weigh(-1)}, "workload.query_sets[1].weight"},
      {{weigh(std::numeric_limits<double>::quiet_NaN())}, "workload.query_sets[1].weight"},
      {{weigh(1e7)}, "workload.query_sets[1].weight"},
      {{weigh(9e-7)}, "workload.query_sets[1].weight"},
      {{ask_statistics,
        [](Request& request) { request.mutable_workload()->mutable_query_sets(0)->set_weight(2); }},
       "workload.query_sets[0].weight"},
      {{weigh(2),
        [](Request& request) {
          request.clear_spend();
          request.mutable_target()->set_max_error(50);
        }},
       "workload.query_sets[1].weight"},
      {{reach(20), [](Request& request) { request.set_objective(v1::OBJECTIVE_WORST); }}, "objective"},
      {{ask_statistics, [](Request& request) { request.set_objective(v1::OBJECTIVE_WORST); }}, "objective"},
      {{[](Request& request) { request.set_objective(static_cast<v1::Objective>(9)); }}, "objective"},
      {{reach(20), [](Request& request) { request.mutable_target()->set_max_error(50); }}, "target.rmse"},
      {{reach(20), [](Request& request) { request.mutable_target()->set_confidence(0.9); }}, "target.rmse"},
      {{reach(-1)}, "target.rmse"},
      {{reach(std::numeric_limits<double>::quiet_NaN())}, "target.rmse"},
      {{reach(std::numeric_limits<double>::infinity())}, "target.rmse"},
      {{[](Request& request) { request.mutable_target()->set_rmse(20); }}, "target"}};
  for (size_t i = 0; i < cases.size(); ++i) {
    Request request = Question();
    for (const auto& change : cases[i].changes) change(request);
    for (const absl::Status& status :
         {owner_.EstimateWorkload(request).status(), Answered(request).status()}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << i << status;
      const std::vector<client::FieldViolation> violations = client::FieldViolations(status);
      ASSERT_EQ(violations.size(), 1u) << i << status;
      EXPECT_EQ(violations[0].field, cases[i].field) << i << status;
    }
  }
  EXPECT_EQ(Spent(), "0");
}

}  // namespace
}  // namespace curator::testing
