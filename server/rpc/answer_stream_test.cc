// Answers cut into messages.
#include "rpc/answer_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dp/domain/testing_domain.h"

namespace curator::rpc {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr int64_t kSlice = 16 * 1024;  // answers in one message

ChunkWriter CollectInto(std::vector<v1::AnswerChunk>& chunks) {
  return [&chunks](const v1::AnswerChunk& chunk) {
    chunks.push_back(chunk);
    return true;
  };
}

service::ModelAnswer EveryCellOf(const dp::Domain& domain, std::optional<double> deviation) {
  service::ModelAnswer answer;
  answer.asked.queries.groups = {{{0}, dp::EveryCell()}};
  answer.estimates = {std::vector<double>(domain.attributes()[0].size(), 0.5)};
  answer.deviations = {deviation};
  return answer;
}

TEST(AnswerStream, CutsAMarginalIntoSlicesThatEachStateTheSharedError) {
  const dp::Domain domain = dp::CodedDomain({kSlice + 1});
  std::vector<v1::AnswerChunk> chunks;
  ASSERT_TRUE(WriteModelAnswer(domain, EveryCellOf(domain, 2.0), 3, CollectInto(chunks)).ok());
  ASSERT_THAT(chunks, SizeIs(3));
  EXPECT_EQ(chunks[0].marginal().query_set(), 3);
  EXPECT_THAT(chunks[0].marginal().sizes(), ElementsAre(kSlice + 1));
  EXPECT_FALSE(chunks[0].marginal().has_noise());
  EXPECT_EQ(chunks[1].cells().estimates_size(), kSlice);
  EXPECT_THAT(chunks[1].cells().standard_deviations(), ElementsAre(2.0));
  EXPECT_EQ(chunks[2].cells().offset(), kSlice);
  EXPECT_THAT(chunks[2].cells().estimates(), ElementsAre(0.5));
  EXPECT_THAT(chunks[2].cells().standard_deviations(), ElementsAre(2.0));
}

TEST(AnswerStream, StatesNoErrorThatIsNotKnown) {
  const dp::Domain domain = dp::CodedDomain({2});
  std::vector<v1::AnswerChunk> chunks;
  ASSERT_TRUE(WriteModelAnswer(domain, EveryCellOf(domain, std::nullopt), 0, CollectInto(chunks)).ok());
  EXPECT_EQ(chunks.at(1).cells().standard_deviations_size(), 0);
}

// The marginal of a0, measured itself, and the interval 0..1 of a0, a sum of two of its cells.
dp::WorkloadRelease CellsAndASum() {
  dp::WorkloadRelease release;
  release.asked = {dp::AskedSet(), dp::AskedSet()};
  release.asked[0].queries.groups = {{{0}, dp::EveryCell()}};
  release.asked[1].query_class = dp::QueryClass::kRanges;
  release.asked[1].queries.groups = {{{0}, dp::Boxes{{{0, 1}}}}};
  release.plans = {{.strategy = dp::Strategy::kDirect, .sources = {0}},
                   {.strategy = dp::Strategy::kBaseHistogram, .sources = {0}}};
  release.measured = {{{0}, dp::EveryCell()}};
  release.noise = {dp::Mechanism::kDiscreteLaplace, {1, 1}};
  release.values = {{4, 5, 6}};
  return release;
}

TEST(AnswerStream, WritesMarginalsAsCellsAndOtherSetsAsLabelledRows) {
  const dp::Domain domain = dp::CodedDomain({3});
  const dp::WorkloadRelease release = CellsAndASum();
  auto answers = service::ReleaseAnswers::Create(domain, release, 0.95, {}).value();
  std::vector<v1::AnswerChunk> chunks;
  ASSERT_TRUE(WriteAnswers(domain, release.asked, answers, std::nullopt, CollectInto(chunks)).ok());
  ASSERT_THAT(chunks, SizeIs(4));
  EXPECT_EQ(chunks[0].marginal().noise().scale(), "1");
  EXPECT_THAT(chunks[1].cells().counts(), ElementsAre(4, 5, 6));
  EXPECT_EQ(chunks[1].cells().confidence_half_widths_size(), 0);
  EXPECT_EQ(chunks[2].query_set().query_class(), "ranges");
  EXPECT_EQ(chunks[2].query_set().answer_count(), 1);
  EXPECT_EQ(chunks[2].query_set().measurement_count(), 3);
  EXPECT_THAT(chunks[3].answers().counts(), ElementsAre(9));
  EXPECT_EQ(chunks[3].answers().labels_size(), 1);
  EXPECT_EQ(chunks[3].answers().confidence_half_widths_size(), 1);
}

TEST(AnswerStream, ProcessedAnswersHaveTheEndsOfTheirIntervals) {
  const dp::Domain domain = dp::CodedDomain({3});
  const dp::WorkloadRelease release = CellsAndASum();
  auto answers = service::ReleaseAnswers::Create(domain, release, 0.95, {.integer = true}).value();
  std::vector<v1::AnswerChunk> chunks;
  ASSERT_TRUE(WriteAnswers(domain, release.asked, answers, std::nullopt, CollectInto(chunks)).ok());
  EXPECT_THAT(chunks[1].cells().interval_lows(), ElementsAre(1, 2, 3));
  EXPECT_THAT(chunks[1].cells().interval_highs(), ElementsAre(7, 8, 9));
  EXPECT_EQ(chunks[3].answers().interval_lows_size(), 1);
  EXPECT_EQ(chunks[3].answers().interval_highs_size(), 1);
  EXPECT_EQ(chunks[3].answers().confidence_half_widths_size(), 0);
}

TEST(AnswerStream, StopsWhenTheClientHasLeft) {
  const dp::Domain domain = dp::CodedDomain({3});
  const dp::WorkloadRelease release = CellsAndASum();
  auto answers = service::ReleaseAnswers::Create(domain, release, 0.95, {}).value();
  int written = 0;
  const ChunkWriter leaves = [&](const v1::AnswerChunk&) { return ++written < 2; };
  EXPECT_EQ(WriteAnswers(domain, release.asked, answers, std::nullopt, leaves).code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(written, 2);
}

TEST(AnswerStream, TheHeaderCountsMarginalsAndOtherSets) {
  v1::AnswerHeader header;
  CountSets(CellsAndASum().asked, header);
  EXPECT_EQ(header.marginal_count(), 1);
  EXPECT_EQ(header.query_set_count(), 1);
}

}  // namespace
}  // namespace curator::rpc
