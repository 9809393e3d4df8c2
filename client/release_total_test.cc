// What a relative error is a share of.
#include "client/release_total.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace curator::client {
namespace {

using ::testing::HasSubstr;

Marginal MarginalOf(const std::vector<std::string>& attributes, std::vector<int64_t> counts) {
  Marginal marginal;
  for (const std::string& name : attributes) marginal.header.add_attributes(name);
  marginal.counts = std::move(counts);
  return marginal;
}

ReleaseContent ContentOf(Answer answer) {
  ReleaseContent content;
  content.release.set_id("r1");
  content.answer = std::move(answer);
  return content;
}

Answer AnswerOf(const std::string& query_class, const std::vector<std::string>& columns,
                std::vector<std::string> labels, std::vector<double> estimates) {
  QuerySetAnswer set;
  set.header.set_query_class(query_class);
  for (const std::string& column : columns) set.header.add_columns(column);
  set.labels = std::move(labels);
  set.estimates = std::move(estimates);
  Answer answer;
  answer.query_sets.push_back(std::move(set));
  return answer;
}

TEST(ReleaseTotal, OfMarginalsIsTheSumOfTheSmallest) {
  Answer answer;
  answer.marginals = {MarginalOf({"age"}, {1, 2, 3, 400}), MarginalOf({"sex"}, {60, -10})};
  const absl::StatusOr<ReleaseTotal> total = TotalOf(ContentOf(answer));
  ASSERT_TRUE(total.ok()) << total.status();
  EXPECT_EQ(total->records, 50) << "it has the least noise";
  EXPECT_EQ(total->words, "the sum of the marginal over sex");
}

TEST(ReleaseTotal, OfStatisticsIsTheSumOfTheCountsOfGroups) {
  const absl::StatusOr<ReleaseTotal> total = TotalOf(ContentOf(AnswerOf(
      "statistics", {"sex", "statistic"},
      {"f", "count", "f", "mean(income)", "m", "count", "m", "mean(income)"}, {40.5, 9000, 60, 8000})));
  ASSERT_TRUE(total.ok()) << total.status();
  EXPECT_EQ(total->records, 100.5);
  EXPECT_EQ(total->words, "the sum of its 2 counts");
}

TEST(ReleaseTotal, OfOneCountIsThat) {
  EXPECT_EQ(TotalOf(ContentOf(AnswerOf("predicates", {"where"}, {"age in [30, 40)"}, {123})))->records, 123);
}

TEST(ReleaseTotal, OfAModelIsItsNumberOfRecords) {
  ReleaseContent model;
  model.synthesis.emplace().set_records(5000);
  EXPECT_EQ(TotalOf(model)->records, 5000);
}

TEST(ReleaseTotal, IsRefusedWhereThereIsNoneOrNoiseHasMadeItNothing) {
  for (const Answer& answer :
       {AnswerOf("predicates", {"where"}, {"a", "b"}, {1, 2}), AnswerOf("ranges", {"age"}, {"[0, 5)"}, {7}),
        AnswerOf("statistics", {"statistic"}, {"mean(income)"}, {7}), Answer()}) {
    const absl::Status refused = TotalOf(ContentOf(answer)).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("release r1 measured no number of records"));
  }
  Answer negative;
  negative.marginals = {MarginalOf({"sex"}, {-3, 1})};
  EXPECT_THAT(std::string(TotalOf(ContentOf(negative)).status().message()), HasSubstr("above 0"));
}

}  // namespace
}  // namespace curator::client
