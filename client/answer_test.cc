#include "client/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace curator::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::AnswerChunk Header(int marginals) {
  v1::AnswerChunk chunk;
  chunk.mutable_header()->set_release_id("r1");
  chunk.mutable_header()->set_marginal_count(marginals);
  return chunk;
}

v1::AnswerChunk MarginalOf(std::vector<int64_t> sizes) {
  v1::AnswerChunk chunk;
  for (const int64_t size : sizes) {
    chunk.mutable_marginal()->add_attributes("a");
    chunk.mutable_marginal()->add_sizes(size);
  }
  return chunk;
}

v1::AnswerChunk Counts(int64_t offset, std::vector<int64_t> counts) {
  v1::AnswerChunk chunk;
  chunk.mutable_cells()->set_offset(offset);
  for (const int64_t count : counts) chunk.mutable_cells()->add_counts(count);
  return chunk;
}

v1::AnswerChunk Estimates(int64_t offset, std::vector<double> estimates) {
  v1::AnswerChunk chunk;
  chunk.mutable_cells()->set_offset(offset);
  for (const double estimate : estimates) chunk.mutable_cells()->add_estimates(estimate);
  return chunk;
}

v1::AnswerChunk HeaderOfSets(int marginals, int query_sets) {
  v1::AnswerChunk chunk = Header(marginals);
  chunk.mutable_header()->set_query_set_count(query_sets);
  return chunk;
}

v1::AnswerChunk QuerySetOf(int64_t answers) {
  v1::AnswerChunk chunk;
  chunk.mutable_query_set()->set_query_class("ranges");
  chunk.mutable_query_set()->add_columns("age");
  chunk.mutable_query_set()->set_answer_count(answers);
  return chunk;
}

v1::AnswerChunk Answers(int64_t offset, std::vector<std::pair<std::string, int64_t>> answers,
                        std::vector<double> deviations) {
  v1::AnswerChunk chunk;
  chunk.mutable_answers()->set_offset(offset);
  for (const auto& [label, count] : answers) {
    chunk.mutable_answers()->add_labels(label);
    chunk.mutable_answers()->add_counts(count);
  }
  for (const double deviation : deviations) {
    chunk.mutable_answers()->add_standard_deviations(deviation);
    chunk.mutable_answers()->add_confidence_half_widths(2 * deviation);
  }
  return chunk;
}

// An answer with the ends of its interval.
struct Ended {
  double estimate;
  double low;
  double high;
};

v1::AnswerChunk Statistics(int64_t offset, const std::vector<Ended>& answers) {
  v1::AnswerChunk chunk;
  v1::AnswerSlice& slice = *chunk.mutable_answers();
  slice.set_offset(offset);
  for (const Ended& answer : answers) {
    slice.add_labels("a");
    slice.add_estimates(answer.estimate);
    slice.add_interval_lows(answer.low);
    slice.add_interval_highs(answer.high);
  }
  return chunk;
}

v1::AnswerChunk WithEnds(v1::AnswerChunk cells, const std::vector<Ended>& ends) {
  for (const Ended& each : ends) {
    cells.mutable_cells()->add_interval_lows(each.low);
    cells.mutable_cells()->add_interval_highs(each.high);
  }
  return cells;
}

v1::AnswerChunk WithoutItsLastEnd(v1::AnswerChunk chunk) {
  chunk.mutable_answers()->mutable_interval_highs()->RemoveLast();
  return chunk;
}

v1::AnswerChunk WithoutIntervals(v1::AnswerChunk chunk) {
  chunk.mutable_answers()->clear_interval_lows();
  chunk.mutable_answers()->clear_interval_highs();
  return chunk;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

v1::AnswerChunk Unlabelled(int64_t offset, std::vector<int64_t> counts) {
  v1::AnswerChunk chunk;
  chunk.mutable_answers()->set_offset(offset);
  for (const int64_t count : counts) chunk.mutable_answers()->add_counts(count);
  return chunk;
}

absl::StatusOr<Answer> Assemble(const std::vector<v1::AnswerChunk>& chunks) {
  AnswerAssembler assembler;
  for (const v1::AnswerChunk& chunk : chunks) {
    if (absl::Status status = assembler.Add(chunk); !status.ok()) return status;
  }
  return assembler.Finish();
}

TEST(Answer, IsPutTogetherFromItsSlices) {
  const auto answer = Assemble({Header(2), MarginalOf({2, 2}), Counts(0, {1, -2, 3}), Counts(3, {4}),
                                MarginalOf({3}), Counts(0, {5, 6, 7})});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->header.release_id(), "r1");
  ASSERT_EQ(answer->marginals.size(), 2u);
  EXPECT_THAT(answer->marginals[0].counts, ElementsAre(1, -2, 3, 4));
  EXPECT_THAT(answer->marginals[1].counts, ElementsAre(5, 6, 7));
}

TEST(Answer, OfAModelHasEstimates) {
  const auto answer = Assemble({Header(1), MarginalOf({2}), Estimates(0, {0.5, 1.5})});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->marginals[0].estimates, ElementsAre(0.5, 1.5));
  EXPECT_EQ(answer->marginals[0].cells(), 2u);
}

TEST(Answer, OfQuerySetsHasLabelsAndErrors) {
  const auto answer = Assemble({HeaderOfSets(1, 1), QuerySetOf(4),
                                Answers(0, {{"17", 5}, {"18", -1}, {"[17, 18]", 4}}, {2, 2, 3}),
                                Answers(3, {{"all", 9}}, {4}), MarginalOf({1}), Counts(0, {8})});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->query_sets.size(), 1u);
  const QuerySetAnswer& ranges = answer->query_sets[0];
  EXPECT_EQ(ranges.header.query_class(), "ranges");
  EXPECT_THAT(ranges.counts, ElementsAre(5, -1, 4, 9));
  EXPECT_THAT(ranges.labels, ElementsAre("17", "18", "[17, 18]", "all"));
  EXPECT_THAT(ranges.standard_deviations, ElementsAre(2, 2, 3, 4));
  EXPECT_THAT(ranges.confidence_half_widths, ElementsAre(4, 4, 6, 8));
  EXPECT_THAT(answer->marginals[0].counts, ElementsAre(8));
}

TEST(Answer, OneErrorStandsForAWholeSlice) {
  const auto answer = Assemble({HeaderOfSets(0, 1), QuerySetOf(3), Answers(0, {{"a", 1}, {"b", 2}}, {5}),
                                Answers(2, {{"c", 3}}, {7})});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->query_sets[0].standard_deviations, ElementsAre(5, 5, 7));
}

TEST(Answer, OfStatisticsHasIntervalsWhichMayBeUnbounded) {
  const auto answer =
      Assemble({HeaderOfSets(0, 1), QuerySetOf(3), Statistics(0, {{5, 4, 7}, {kNaN, -kInfinity, kInfinity}}),
                Statistics(2, {{1, 0, kInfinity}})});
  ASSERT_TRUE(answer.ok()) << answer.status();
  const QuerySetAnswer& set = answer->query_sets[0];
  EXPECT_THAT(set.estimates, ElementsAre(5, ::testing::IsNan(), 1));
  EXPECT_THAT(set.interval_lows, ElementsAre(4, -kInfinity, 0));
  EXPECT_THAT(set.interval_highs, ElementsAre(7, kInfinity, kInfinity));
  EXPECT_TRUE(set.confidence_half_widths.empty());
}

TEST(Answer, OfProcessedMarginalsHasIntervals) {
  const auto answer = Assemble({Header(1), MarginalOf({3}),
                                WithEnds(Counts(0, {0, 2}), {{.low = 0, .high = 1}, {.low = 0, .high = 9}}),
                                WithEnds(Counts(2, {7}), {{.low = 3, .high = 7}})});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->marginals[0].interval_lows, ElementsAre(0, 0, 3));
  EXPECT_THAT(answer->marginals[0].interval_highs, ElementsAre(1, 9, 7));
}

TEST(Answer, WithoutMarginalsIsWholeToo) {
  EXPECT_TRUE(Assemble({Header(0)}).ok());
}

struct Broken {
  const char* what;
  std::vector<v1::AnswerChunk> chunks;
};

TEST(AnswerCanary, NothingIncompleteOrOutOfOrderIsHandedOut) {
  const std::vector<Broken> broken = {
      {"empty", {}},
      {"no header", {MarginalOf({1}), Counts(0, {1})}},
      {"two headers", {Header(0), Header(0)}},
      {"a marginal short of its announced number", {Header(2), MarginalOf({1}), Counts(0, {1})}},
      {"a marginal too many", {Header(0), MarginalOf({1}), Counts(0, {1})}},
      {"the last cell missing", {Header(1), MarginalOf({2}), Counts(0, {1})}},
      {"a middle cell missing", {Header(1), MarginalOf({3}), Counts(0, {1}), Counts(2, {3})}},
      {"the same cells twice", {Header(1), MarginalOf({2}), Counts(0, {1}), Counts(0, {1})}},
      {"intervals of some cells only",
       {Header(1), MarginalOf({2}), WithEnds(Counts(0, {1}), {{.low = 0, .high = 1}}), Counts(1, {2})}},
      {"a cell too many", {Header(1), MarginalOf({1}), Counts(0, {1, 2})}},
      {"cells of the first marginal missing", {Header(2), MarginalOf({1}), MarginalOf({1}), Counts(0, {1})}},
      {"cells before a marginal", {Header(1), Counts(0, {1})}},
      {"counts and estimates", {Header(1), MarginalOf({2}), Counts(0, {1}), Estimates(1, {1})}},
      {"estimates and counts", {Header(1), MarginalOf({2}), Estimates(0, {1}), Counts(1, {1})}},
      {"an empty size", {Header(1), MarginalOf({0})}},
      {"sizes beyond 64 bits", {Header(1), MarginalOf({int64_t{1} << 40, int64_t{1} << 40})}},
      {"a query set too few", {HeaderOfSets(0, 1)}},
      {"answers before a query set", {HeaderOfSets(0, 1), Answers(0, {{"a", 1}}, {})}},
      {"answers of a marginal", {HeaderOfSets(1, 0), MarginalOf({1}), Answers(0, {{"a", 1}}, {})}},
      {"cells of a query set", {HeaderOfSets(0, 1), QuerySetOf(1), Counts(0, {1})}},
      {"an answer missing", {HeaderOfSets(0, 1), QuerySetOf(2), Answers(0, {{"a", 1}}, {})}},
      {"answers without labels", {HeaderOfSets(0, 1), QuerySetOf(1), Unlabelled(0, {1})}},
      {"errors of some numbers only",
       {HeaderOfSets(0, 1), QuerySetOf(3), Answers(0, {{"a", 1}, {"b", 1}, {"c", 1}}, {1, 2})}},
      {"errors of one slice only",
       {HeaderOfSets(0, 1), QuerySetOf(2), Answers(0, {{"a", 1}}, {1}), Answers(1, {{"b", 1}}, {})}},
      {"an interval without its upper end",
       {HeaderOfSets(0, 1), QuerySetOf(2), WithoutItsLastEnd(Statistics(0, {{1, 0, 2}, {1, 0, 2}}))}},
      {"intervals of the first slice only",
       {HeaderOfSets(0, 1), QuerySetOf(2), Statistics(0, {{1, 0, 2}}),
        WithoutIntervals(Statistics(1, {{1, 0, 2}}))}},
      {"intervals of the last slice only",
       {HeaderOfSets(0, 1), QuerySetOf(2), WithoutIntervals(Statistics(0, {{1, 0, 2}})),
        Statistics(1, {{1, 0, 2}})}},
      {"an interval that is no number", {HeaderOfSets(0, 1), QuerySetOf(1), Statistics(0, {{1, kNaN, 2}})}},
      {"an interval that ends before it begins",
       {HeaderOfSets(0, 1), QuerySetOf(1), Statistics(0, {{1, 2, 0}})}},
      {"a negative number of answers", {HeaderOfSets(0, 1), QuerySetOf(-1)}},
      {"a part of no kind", {Header(0), v1::AnswerChunk()}}};
  for (const Broken& one : broken) {
    const auto answer = Assemble(one.chunks);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kDataLoss) << one.what;
  }
}

}  // namespace
}  // namespace curator::client
