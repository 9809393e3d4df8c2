#include "dp/synthesis/models/clique_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "dp/domain/testing_domain.h"
#include "dp/queries/marginals.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

class CliqueModelTest : public testing::Test {
 protected:
  // A chain: attribute 1 follows 0, 2 follows 1; attribute 3 is by itself.
  CliqueModelParts Chain() const {
    CliqueGraph graph(domain_, {0, 1, 2, 3});
    graph.Connect({0, 1});
    graph.Connect({1, 2});
    const double e = std::log(9);
    return {.attributes = {0, 1, 2, 3},
            .records = 1000,
            .tree = graph.Tree(),
            .factors = {{{0, 1}, {e, 0, 0, e}}, {{1, 2}, {e, 0, 0, 0, e, 0}}, {{3}, {1, 0, -1, 0.5}}},
            .transcript = {"a line"}};
  }

  std::unique_ptr<SynthesisModel> Make(CliqueModelParts parts) const {
    Pacer pacer{std::stop_token()};
    return CliqueModel::Create(domain_, std::move(parts), pacer).value();
  }

  absl::Status StatusOf(CliqueModelParts parts) const {
    Pacer pacer{std::stop_token()};
    return CliqueModel::Create(domain_, std::move(parts), pacer).status();
  }

  absl::StatusOr<std::unique_ptr<SynthesisModel>> Restored(std::string_view bytes) const {
    Pacer pacer{std::stop_token()};
    return CliqueModel::Restore(domain_, bytes, pacer);
  }

  Domain domain_ = CodedDomain({2, 2, 3, 4});
};

TEST_F(CliqueModelTest, AnswersWithinAndAcrossCliques) {
  const auto model = Make(Chain());
  const std::vector<double> pair = model->Marginal({0, 1}).value();
  EXPECT_NEAR(pair[0], 450, 0.01);
  EXPECT_NEAR(pair[1], 50, 0.01);
  // Attribute 2, given 1, is 9/11 of the time the same, and 1/11 each of the others.
  const std::vector<double> across = model->Marginal({0, 2}).value();
  EXPECT_NEAR(across[0], 500 * (0.9 * 9 / 11 + 0.1 / 11), 0.01);
  double total = 0;
  const std::vector<double> whole = model->Marginal({0, 1, 2, 3}).value();
  for (const double cell : whole) total += cell;
  EXPECT_NEAR(total, 1000, 0.01);
  EXPECT_EQ(model->Marginal({4}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CliqueModelTest, IsUniformWithoutFactors) {
  CliqueModelParts parts = Chain();
  parts.factors.clear();
  const std::vector<double> marginal = Make(parts)->Marginal({0, 2}).value();
  for (const double cell : marginal) EXPECT_NEAR(cell, 1000.0 / 6, 1e-3);
}

TEST_F(CliqueModelTest, IsRestoredFromWhatItStores) {
  const auto model = Make(Chain());
  const std::string bytes = model->Serialize();
  EXPECT_TRUE(CliqueModel::Wrote(bytes));
  const auto again = Restored(bytes).value();
  EXPECT_EQ(again->Serialize(), bytes);
  EXPECT_EQ(again->Marginal({0, 2, 3}).value(), model->Marginal({0, 2, 3}).value());
  EXPECT_EQ(again->Transcript(), model->Transcript());
}

TEST_F(CliqueModelTest, RefusesBytesThatItDidNotWrite) {
  const std::string bytes = Make(Chain())->Serialize();
  for (size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_EQ(Restored(bytes.substr(0, length)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Restored(bytes + "x").status().code(), absl::StatusCode::kDataLoss);
  Pacer pacer{std::stop_token()};
  EXPECT_EQ(CliqueModel::Restore(CodedDomain({2, 2, 3, 5}), bytes, pacer).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(CliqueModelTest, ReadsFactorsOfAnySizeInOneStep) {
  for (const double logarithm : {-1e6, -3e6, -1e300, -1.7e308, 1.7e308}) {
    CliqueModelParts parts = Chain();
    parts.factors.push_back({{0, 1}, {logarithm, logarithm, logarithm, logarithm}});
    parts.factors.push_back(parts.factors.back());
    const auto restored = Restored(Make(std::move(parts))->Serialize());
    ASSERT_TRUE(restored.ok()) << logarithm;
    EXPECT_TRUE((*restored)->Marginal({0, 2}).ok());
  }
}

TEST_F(CliqueModelTest, RefusesPartsThatFitNoDomain) {
  CliqueModelParts parts = Chain();
  parts.records = 0;
  EXPECT_EQ(StatusOf(parts).code(), absl::StatusCode::kInvalidArgument);
  parts = Chain();
  parts.factors[0].logarithms.pop_back();
  EXPECT_EQ(StatusOf(parts).code(), absl::StatusCode::kInvalidArgument);
  parts = Chain();
  parts.factors.push_back({{0, 2}, std::vector<double>(6)});
  EXPECT_EQ(StatusOf(parts).code(), absl::StatusCode::kInvalidArgument) << "no clique holds it";
  parts = Chain();
  parts.tree.pop_back();
  EXPECT_EQ(StatusOf(parts).code(), absl::StatusCode::kInvalidArgument);
}

std::vector<std::vector<uint32_t>> SampleOf(const SynthesisModel& model, uint64_t seed, int64_t rows) {
  seeded::SeededBits bits(seed);
  std::vector<std::vector<uint32_t>> records;
  EXPECT_TRUE(model
                  .Sample(bits, rows,
                          [&](std::span<const uint32_t> codes) {
                            records.emplace_back(codes.begin(), codes.end());
                            return absl::OkStatus();
                          })
                  .ok());
  return records;
}

// Independent draws would be off by about 15 in each cell.
TEST_F(CliqueModelTest, RoundsTheCellsOfItsCliques) {
  const auto model = Make(Chain());
  const auto records = SampleOf(*model, 1, 1000);
  ASSERT_EQ(records.size(), 1000U);
  for (const AttributeSet& set : std::vector<AttributeSet>{{0, 1}, {1, 2}, {3}}) {
    const std::vector<double> expected = model->Marginal(set).value();
    std::vector<double> counts(expected.size());
    for (const auto& record : records) {
      size_t cell = 0;
      for (const uint32_t attribute : set)
        cell = cell * static_cast<size_t>(domain_.attributes()[attribute].size()) + record[attribute];
      ++counts[cell];
    }
    for (size_t i = 0; i < counts.size(); ++i) EXPECT_NEAR(counts[i], expected[i], 2.001) << i;
  }
}

// Attributes of different cliques are dealt to records independently of each other.
TEST_F(CliqueModelTest, DrawsAcrossCliquesAsItAnswers) {
  const auto model = Make(Chain());
  std::map<std::pair<uint32_t, uint32_t>, double> counts;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const auto& record : SampleOf(*model, seed, 1000)) ++counts[{record[0], record[3]}];
  }
  const std::vector<double> expected = model->Marginal({0, 3}).value();
  for (uint32_t a = 0; a < 2; ++a) {
    for (uint32_t b = 0; b < 4; ++b) {
      const double mean = 20 * expected[a * 4 + b];
      const double chance = counts[{a, b}] - mean;
      EXPECT_LE(std::abs(chance), 5 * std::sqrt(mean)) << a << " " << b;
    }
  }
}

// The first record of many samples, each of a few records: a draw with the shares of the model.
TEST_F(CliqueModelTest, DrawsEachRecordByItselfAtRandom) {
  const auto model = Make(Chain());
  constexpr int kSamples = 4000;
  std::vector<double> counts(6);
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    const auto records = SampleOf(*model, seed, 3);
    ++counts[records[0][0] * 3 + records[0][2]];
  }
  const std::vector<double> expected = model->Marginal({0, 2}).value();
  for (size_t i = 0; i < counts.size(); ++i) {
    const double share = expected[i] / 1000;
    EXPECT_NEAR(counts[i] / kSamples, share, 5 * std::sqrt(share * (1 - share) / kSamples)) << i;
  }
}

// More records than are rounded at once.
TEST_F(CliqueModelTest, DrawsMoreRecordsThanItHolds) {
  const auto model = Make(Chain());
  seeded::SeededBits bits(2);
  int64_t rows = 0;
  const int64_t asked = (int64_t{1} << 20) + 5;
  ASSERT_TRUE(model
                  ->Sample(bits, asked,
                           [&](std::span<const uint32_t>) {
                             ++rows;
                             return absl::OkStatus();
                           })
                  .ok());
  EXPECT_EQ(rows, asked);
  EXPECT_FALSE(model->Sample(bits, -1, [](std::span<const uint32_t>) { return absl::OkStatus(); }).ok());
}

// Among them a clique that is its own parent, which was read beyond the cliques that there are.
TEST_F(CliqueModelTest, RestoresStoredBytesOfWhichOneIsChangedAsTheseBytesOrNotAtAll) {
  const std::string bytes = Make(Chain())->Serialize();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char other : {'\0', '\1', '\2', '\377'}) {
      std::string changed = bytes;
      changed[i] = other;
      const auto restored = Restored(changed);
      if (restored.ok()) {
        EXPECT_EQ((*restored)->Serialize(), changed) << i;
      } else {
        EXPECT_EQ(restored.status().code(), absl::StatusCode::kDataLoss) << i;
      }
    }
  }
}

}  // namespace
}  // namespace curator::dp
