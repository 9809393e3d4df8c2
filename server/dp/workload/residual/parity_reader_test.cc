// Marginals read from parities, held against marginals that are counted.
#include "dp/workload/residual/parity_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/workload/sum_out.h"

namespace curator::dp {
namespace {

constexpr uint32_t kAttributes = 4;
const AttributeSet kAll = {0, 1, 2, 3};

// All subsets of four attributes, as bits, in the order of their numbers; each with a weight of its own.
std::vector<QueryGroup> AllParities() {
  std::vector<QueryGroup> parities;
  for (uint32_t bits = 0; bits < (1U << kAttributes); ++bits) {
    AttributeSet set;
    for (uint32_t attribute = 0; attribute < kAttributes; ++attribute) {
      if ((bits >> attribute & 1) != 0) set.push_back(attribute);
    }
    parities.push_back(ParityGroup(set, static_cast<int32_t>(3 + bits), 2));
  }
  return parities;
}

// Counts of four binary attributes, and the parities of them.
class ParityReaderTest : public ::testing::Test {
 protected:
  ParityReaderTest() {
    std::mt19937 random(7);
    for (int64_t& count : counts_) count = static_cast<int64_t>(random() % 1000);
    for (const QueryGroup& parity : parities_)
      values_.push_back(
          AnswersFromCounts(domain_, parity, SumOut(domain_, kAll, counts_, parity.attributes)));
  }

  std::vector<QueryGroup> Without(size_t position) const {
    std::vector<QueryGroup> fewer = parities_;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(position));
    return fewer;
  }

  const Domain domain_ = CodedDomain(std::vector<int64_t>(kAttributes, 2));
  const std::vector<QueryGroup> parities_ = AllParities();
  std::vector<int64_t> counts_ = std::vector<int64_t>(16);
  std::vector<std::vector<int64_t>> values_;
};

TEST_F(ParityReaderTest, ReadsEachMarginalAsItIsCounted) {
  const ParityReader reader = ParityReader::Create(parities_).value();
  for (const AttributeSet& marginal : std::vector<AttributeSet>{{0}, {3}, {1, 2}, {0, 3}, {0, 1, 3}, kAll}) {
    const std::vector<int64_t> counted = SumOut(domain_, kAll, counts_, marginal);
    const std::vector<double> read = reader.AnswersOf(domain_, {marginal, EveryCell()}, values_);
    ASSERT_EQ(read.size(), counted.size());
    for (size_t cell = 0; cell < read.size(); ++cell)
      EXPECT_NEAR(read[cell], static_cast<double>(counted[cell]), 1e-9);
  }
}

// Each value's noise alone, as large as one: what it moves a cell by is its weight in the cell.
TEST_F(ParityReaderTest, KnowsTheWeightOfEachValueInEachCell) {
  const ParityReader reader = ParityReader::Create(parities_).value();
  const AttributeSet marginal = {0, 2};
  double squares = 0;
  double fourths = 0;
  std::vector<WeightedValues> moved;
  for (size_t i = 0; i < parities_.size(); ++i) {
    std::vector<std::vector<int64_t>> one(parities_.size(), {0});
    one[i] = {1};
    const double weight = std::abs(reader.AnswersOf(domain_, {marginal, EveryCell()}, one)[3]);
    squares += weight * weight;
    fourths += weight * weight * weight * weight;
    moved.push_back({.weight = weight, .count = 1});
  }
  const AnswerError error = reader.ErrorOfCells(marginal);
  EXPECT_NEAR(error.variance_factor / squares, 1, 1e-12);
  EXPECT_NEAR(error.fourth_factor / fourths, 1, 1e-12);
  EXPECT_EQ(error.terms, 0) << "weights are not all one";
  EXPECT_EQ(reader.WeightsInCells(marginal), Compacted(moved));
}

TEST_F(ParityReaderTest, KnowsWhereEachParityIsAndWhatItCanRead) {
  const ParityReader reader = ParityReader::Create(parities_).value();
  EXPECT_EQ(reader.PositionOf({0, 2}), 0b101u);
  EXPECT_TRUE(reader.CanRead({{0, 2}, EveryCell()}));
  EXPECT_TRUE(reader.CanRead({{0}, Boxes{{{0, 0}}}}));
  EXPECT_FALSE(reader.CanRead({{0, 4}, EveryCell()}));
}

// As from the marginal's counts; and each error is the sum over the values of what each moves the answer by.
TEST_F(ParityReaderTest, ReadsOtherQueriesOverTheCells) {
  const ParityReader reader = ParityReader::Create(parities_).value();
  const AttributeSet set = {0, 1, 3};
  for (const QueryGroup& group :
       {QueryGroup{set, Boxes{{{0, 0}, {0, 1}, {1, 1}, {0, 1}, {0, 0}, {0, 0}}}},
        QueryGroup{set, std::vector<LinearQuery>{{{2, 3}, {5, -1}}, {{7, 1}}, {{0, 1}, {1, -1}}}}}) {
    const std::vector<int64_t> counted =
        AnswersFromCounts(domain_, group, SumOut(domain_, kAll, counts_, set));
    const std::vector<double> read = reader.AnswersOf(domain_, group, values_);
    const std::vector<AnswerError> errors = reader.ErrorsOf(domain_, group);
    ASSERT_EQ(read.size(), counted.size());
    ASSERT_EQ(errors.size(), counted.size());
    std::vector<double> squares(read.size());
    for (size_t i = 0; i < parities_.size(); ++i) {
      std::vector<std::vector<int64_t>> one(parities_.size(), {0});
      one[i] = {1};
      const std::vector<double> moved = reader.AnswersOf(domain_, group, one);
      for (size_t j = 0; j < moved.size(); ++j) squares[j] += moved[j] * moved[j];
    }
    for (size_t j = 0; j < read.size(); ++j) {
      EXPECT_NEAR(read[j], static_cast<double>(counted[j]), 1e-9);
      EXPECT_NEAR(errors[j].variance_factor / squares[j], 1, 1e-9);
    }
  }
}

// One query of its own in each answer: a parity that is asked has the error of its measured value.
TEST_F(ParityReaderTest, KnowsThatAParityIsMeasuredItself) {
  const ParityReader reader = ParityReader::Create(parities_).value();
  const QueryGroup asked{{0, 2}, std::vector<LinearQuery>{{{0, 1}, {1, -1}, {2, -1}, {3, 1}}}};
  const double weight = std::get<Parity>(parities_[0b101].queries).weight;
  EXPECT_NEAR(reader.ErrorsOf(domain_, asked)[0].variance_factor * weight * weight, 1, 1e-12);
}

TEST_F(ParityReaderTest, NeedsAllSubsetsOnce) {
  for (const size_t position : {size_t{0}, size_t{1}, size_t{0b110}})
    EXPECT_FALSE(ParityReader::Create(Without(position)).has_value()) << position;
  EXPECT_TRUE(ParityReader::Create(Without(0b1111)).has_value());
  std::vector<QueryGroup> twice = parities_;
  twice.push_back(ParityGroup({0, 2}, 5, 0));
  EXPECT_FALSE(ParityReader::Create(twice).has_value());
  EXPECT_FALSE(ParityReader::Create({}).has_value());
}

// Each of these would be read as what it is not.
TEST_F(ParityReaderTest, TakesNothingElseForParities) {
  const auto is_refused = [&](size_t position, QueryGroup other) {
    std::vector<QueryGroup> measured = parities_;
    measured[position] = std::move(other);
    return !ParityReader::Create(measured).has_value();
  };
  const auto query = [](AttributeSet set, LinearQuery terms) {
    return QueryGroup{std::move(set), std::vector<LinearQuery>{std::move(terms)}};
  };
  EXPECT_FALSE(is_refused(0, query({3}, {{0, 7}, {1, 7}}))) << "the number of records";
  EXPECT_TRUE(is_refused(0, query({3}, {{0, 7}, {1, 6}})));
  EXPECT_TRUE(is_refused(0, query({3}, {{0, 7}, {1, -7}})));
  EXPECT_TRUE(is_refused(0, query({3}, {{0, -7}, {1, -7}})));
  EXPECT_TRUE(is_refused(0, query({3}, {{0, 7}})));
  EXPECT_TRUE(is_refused(0, query({2, 3}, {{0, 7}, {1, 7}})));
  EXPECT_TRUE(is_refused(0, QueryGroup{{3}, std::vector<LinearQuery>{{{0, 7}, {1, 7}}, {{0, 1}}}}));
  const AttributeSet set = {0, 2};
  EXPECT_FALSE(is_refused(0b101, {set, Parity{1}}));
  EXPECT_TRUE(is_refused(0b101, {set, EveryCell()}));
  EXPECT_TRUE(is_refused(0b101, {set, Boxes{{{0, 0}, {0, 1}}}}));
  EXPECT_TRUE(is_refused(0b101, {{}, Parity{1}}));
}

}  // namespace
}  // namespace curator::dp
