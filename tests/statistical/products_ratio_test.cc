// Layer 1 of the audit, products of queries: the exact loss of each draw on neighbouring tables stays below
// the largest that its distance from the answers allows, and exact Renyi divergences below alpha rho, where
// rho is what the meter took. All records of small tables are tried, so that the price is also reached.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "dp/accounting/interval.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sealed_table.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/sensitivity/product_cost.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/neighbours.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

using dp::AxisQueries;
using dp::Interval;
using dp::NeighbourRelation;
using dp::ProductQueries;
using dp::UnitBound;

using Row = std::vector<uint32_t>;
using Rows = std::vector<Row>;

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplacedRecord{NeighbourRelation::kReplaceOne, 1};
constexpr UnitBound kThreeRecords{NeighbourRelation::kAddRemove, 3};
constexpr UnitBound kTwoReplacedRecords{NeighbourRelation::kReplaceOne, 2};
const std::vector<UnitBound> kUnits = {kRecord, kThreeRecords, kReplacedRecord, kTwoReplacedRecords};

const AxisQueries kContrasts;
// Columns of squared norms 4, 10 and 10, of which the last two are opposite.
const AxisQueries kWeights{.weights = {2, -1, -1, 0, 3, -3}};

// Products and their noise, over a domain of these sizes.
struct Measured {
  std::vector<int64_t> sizes;
  ProductQueries queries;
  std::vector<dp::Rational> sigma_squared;

  dp::Domain domain() const { return dp::CodedDomain(sizes); }
};

dp::Rho PriceOf(const Measured& measured, const UnitBound& unit) {
  return dp::CostOfProducts(measured.domain(), unit, measured.queries, measured.sigma_squared).value();
}

// Every way in which all records of a unit can be in one cell, entering or replacing those of another cell;
// and some of the pairs that others audit.
std::vector<Neighbours> AllNeighboursOf(const dp::Domain& domain, const UnitBound& unit) {
  Rows cells = {{}};
  for (const int64_t size : dp::SizesOf(domain)) {
    Rows longer;
    for (const Row& cell : cells) {
      for (uint32_t code = 0; code < size; ++code) {
        longer.push_back(cell);
        longer.back().push_back(code);
      }
    }
    cells = std::move(longer);
  }
  const Rows others = {cells.front(), cells.back()};
  const auto sealed = [&](const Row* cell) {
    Rows rows = others;
    if (cell != nullptr) rows.insert(rows.end(), static_cast<size_t>(unit.max_records), *cell);
    return dp::SealRows(domain, rows).value();
  };
  std::vector<Neighbours> pairs = NeighboursOf(domain, unit, 4, 60);
  for (size_t one = 0; one < cells.size(); ++one) {
    pairs.push_back({"entering " + std::to_string(one), sealed(nullptr), sealed(&cells[one])});
    for (size_t other = 0; other < one && unit.relation == NeighbourRelation::kReplaceOne; ++other) {
      pairs.push_back({std::to_string(one) + " replaced by " + std::to_string(other), sealed(&cells[one]),
                       sealed(&cells[other])});
    }
  }
  return pairs;
}

std::vector<std::vector<int64_t>> ExactAnswers(const Measured& measured, const dp::SealedTable& table) {
  const dp::Domain domain = measured.domain();
  std::vector<std::vector<int64_t>> answers;
  for (const dp::ProductGroup& group : measured.queries.groups) {
    answers.push_back(dp::AnswersFromCounts(domain, measured.queries, group,
                                            dp::CountMarginal(table, domain, group.attributes).value()));
  }
  return answers;
}

// The variance factors of a group's products, the last attribute running fastest.
std::vector<int64_t> Factors(const Measured& measured, const dp::ProductGroup& group) {
  std::vector<int64_t> factors = {1};
  for (const auto& axis : dp::VarianceFactors(measured.domain(), measured.queries, group)) {
    std::vector<int64_t> longer;
    for (const int64_t factor : factors) {
      for (const int64_t own : axis) longer.push_back(factor * own);
    }
    factors = std::move(longer);
  }
  return factors;
}

// |noise|^2 of a draw, where each number is divided by the parameter of its own noise.
Interval SquaredNoise(const Measured& measured, const dp::ProductsDraw& draw, const dp::SealedTable& table) {
  const auto answers = ExactAnswers(measured, table);
  Interval squares(0);
  for (size_t g = 0; g < answers.size(); ++g) {
    const std::vector<int64_t> factors = Factors(measured, measured.queries.groups[g]);
    for (size_t q = 0; q < answers[g].size(); ++q) {
      const int64_t noise = draw.values[g][q] - answers[g][q];
      squares = squares +
                Interval(noise * noise) / (Interval::Of(measured.sigma_squared[g]) * Interval(factors[q]));
    }
  }
  return squares;
}

// What the kernel drew, and the exact answers as if no noise had come up.
std::vector<dp::ProductsDraw> DrawsOf(const Measured& measured, const UnitBound& unit,
                                      const dp::SealedTableHandle& table) {
  constexpr int kTimes = 2;
  seeded::SeededBits bits(AuditSeed(61));
  dp::Kernel door(table, measured.domain(), unit,
                  dp::Meter({{{dp::ZcdpEvent{PriceOf(measured, unit)}}, kTimes}}), bits);
  dp::Transcript transcript;
  dp::RecordingQueries kernel(door, transcript);
  for (int i = 0; i < kTimes; ++i)
    EXPECT_TRUE(kernel.NoisyProducts(measured.queries, measured.sigma_squared).ok());
  std::vector<dp::ProductsDraw> draws;
  for (const dp::Draw& draw : transcript) draws.push_back(std::get<dp::ProductsDraw>(draw));
  draws.push_back({measured.queries, measured.sigma_squared, ExactAnswers(measured, *table)});
  return draws;
}

struct Finding {
  bool exceeds = false;
  bool reaches = false;  // to nine digits
  std::string where;
};

// In the norm that divides by the parameters, ln P - ln P' = |d|^2 / 2 + z.d for noise z and neighbours whose
// answers differ by d. With rho = |d|^2 / 2 that is at most rho + |z| sqrt(2 rho) (Cauchy-Schwarz).
Finding AuditLosses(const UnitBound& unit, const Measured& measured, dp::Rho priced) {
  const dp::Domain domain = measured.domain();
  const Interval rho = Interval::Of(priced);
  const Interval slope = Sqrt(Interval(2) * rho);
  const Interval nearly = rho * Interval::Of(dp::Rational{999'999'999, 1'000'000'000});
  Finding finding;
  for (const Neighbours& pair : AllNeighboursOf(domain, unit)) {
    for (const dp::ProductsDraw& draw : DrawsOf(measured, unit, pair.table)) {
      const Interval loss = dp::LogProbability(draw, *pair.table, domain, unit).value() -
                            dp::LogProbability(draw, *pair.neighbour, domain, unit).value();
      const Interval distance = Sqrt(SquaredNoise(measured, draw, *pair.table));
      const Interval bound = rho + slope * distance;
      if (loss.CertainlyAbove(bound) || (-loss).CertainlyAbove(bound)) {
        finding.exceeds = true;
        finding.where = pair.what;
      }
      if (!distance.CertainlyAbove(Interval(0)) && loss.CertainlyAbove(nearly)) finding.reaches = true;
    }
  }
  return finding;
}

// Each has some neighbours whose answers move by as much as is paid for.
const std::vector<Measured>& TightOnes() {
  static const std::vector<Measured> measured = {
      {{2}, {.axes = {kContrasts}, .groups = {{{0}, {0}}}}, {{2, 1}}},
      {{5}, {.axes = {kContrasts}, .groups = {{{0}, {0}, 3}}}, {{5, 2}}},
      {{2, 3}, {.axes = {kContrasts}, .groups = {{{0, 1}, {0, 0}}}}, {{1, 1}}},
      {{3}, {.axes = {kWeights}, .groups = {{{0}, {0}}}}, {{20, 1}}},
      {{3},
       {.axes = {{.weights = kWeights.weights, .variance_factor = 4}}, .groups = {{{0}, {0}}}},
       {{5, 1}}},
      {{3, 2}, {.axes = {kWeights, kContrasts}, .groups = {{{0, 1}, {0, 1}, 2}}}, {{13, 1}}},
      {{2, 2, 2},
       {.axes = {kContrasts}, .groups = {{{0}, {0}}, {{0, 1}, {0, 0}}, {{0, 1, 2}, {0, 0, 0}, 2}}},
       {{3, 1}, {2, 1}, {3, 2}}}};
  return measured;
}

TEST(ExactRatioOfProducts, NoDrawLosesMoreThanItsDistanceAllowsAndTheBoundIsReached) {
  for (const UnitBound& unit : kUnits) {
    for (const Measured& measured : TightOnes()) {
      const Finding finding = AuditLosses(unit, measured, PriceOf(measured, unit));
      EXPECT_FALSE(finding.exceeds) << finding.where;
      EXPECT_TRUE(finding.reaches) << "the price is higher than it need be";
    }
  }
}

TEST(ExactRatioOfProducts, TheNumberOfRecordsAndItsPartsLoseNoMoreThanTheirPrice) {
  const Measured measured{
      {3, 2},
      {.axes = {kContrasts, kWeights}, .groups = {{{}, {}, 2}, {{0}, {1}}, {{1}, {0}}, {{0, 1}, {0, 0}}}},
      {{7, 2}, {9, 1}, {2, 1}, {1, 1}}};
  for (const UnitBound& unit : kUnits) {
    const Finding finding = AuditLosses(unit, measured, PriceOf(measured, unit));
    EXPECT_FALSE(finding.exceeds) << finding.where;
  }
  Measured contrasts = measured;
  contrasts.queries.groups[1].axes = {0};
  EXPECT_TRUE(AuditLosses(kThreeRecords, contrasts, PriceOf(contrasts, kThreeRecords)).reaches);
}

// The broken variants: each is priced as the name says.

dp::Rho Times(dp::Rho rho, int64_t factor) {
  return dp::Rho(rho.units() * factor);
}

const Measured& Binary() {
  return TightOnes().front();
}

TEST(ExactRatioOfProductsCanary, TwiceAColumnUnderReplacementIsCaught) {
  for (const UnitBound& unit : {kReplacedRecord, kTwoReplacedRecords}) {
    const UnitBound entering{NeighbourRelation::kAddRemove, unit.max_records};
    EXPECT_TRUE(AuditLosses(unit, Binary(), Times(PriceOf(Binary(), entering), 2)).exceeds);
    EXPECT_FALSE(AuditLosses(unit, Binary(), Times(PriceOf(Binary(), entering), 4)).exceeds);
  }
}

TEST(ExactRatioOfProductsCanary, TheLargestRowInPlaceOfTheLargestColumnIsCaught) {
  const auto with = [](AxisQueries axis) {
    return Measured{{2}, {.axes = {std::move(axis)}, .groups = {{{0}, {0}}}}, {{3, 1}}};
  };
  const Measured three = with({.weights = {1, 0, 1, 0, 1, -1}});  // columns 3 and 1, rows 1, 1 and 2
  const Measured as_rows = with({.weights = {1, 0, 0, 1, 1, 0}});
  EXPECT_TRUE(AuditLosses(kRecord, three, PriceOf(as_rows, kRecord)).exceeds);
  EXPECT_FALSE(AuditLosses(kRecord, three, PriceOf(three, kRecord)).exceeds);
}

TEST(ExactRatioOfProductsCanary, AForgottenVarianceFactorIsCaught) {
  // The same contrasts, whose noise has the factor 1.
  const Measured drawn{{3}, {.axes = {{.weights = {1, -1, 0, 1, 1, -2}}}, .groups = {{{0}, {0}}}}, {{4, 1}}};
  const Measured priced{{3}, {.axes = {kContrasts}, .groups = {{{0}, {0}}}}, {{4, 1}}};
  EXPECT_TRUE(AuditLosses(kRecord, drawn, PriceOf(priced, kRecord)).exceeds);
}

TEST(ExactRatioOfProductsCanary, TheRecordsOfAUnitInPlaceOfTheirSquareAreCaught) {
  EXPECT_TRUE(AuditLosses(kThreeRecords, Binary(), Times(PriceOf(Binary(), kRecord), 3)).exceeds);
}

TEST(ExactRatioOfProductsCanary, AForgottenMultiplierIsCaught) {
  // Twice the contrast, with the noise of the contrast itself.
  const Measured drawn{{2}, {.axes = {{.weights = {2, -2}}}, .groups = {{{0}, {0}}}}, {{4, 1}}};
  Measured priced = Binary();
  priced.queries.groups[0].multiplier = 2;
  EXPECT_TRUE(AuditLosses(kRecord, drawn, PriceOf(priced, kRecord)).exceeds);
  EXPECT_FALSE(AuditLosses(kRecord, priced, PriceOf(priced, kRecord)).exceeds);
}

TEST(ExactRatioOfProductsCanary, GroupsThatAreNotAddedUpAreCaught) {
  Measured one = TightOnes().back();
  one.queries.groups.resize(1);
  one.sigma_squared.resize(1);
  EXPECT_TRUE(AuditLosses(kRecord, TightOnes().back(), PriceOf(one, kRecord)).exceeds);
}

// Both contrasts of an attribute of three codes, of parameters 1 and 3, within 8 sigma of the centres of all
// sums below. A sum over them is at most the sum over all answers, so what exceeds a bound here truly exceeds
// it; what is left out is below 1e-13.
const Measured& ThreeCodes() {
  static const Measured measured{{3}, {.axes = {kContrasts}, .groups = {{{0}, {0}}}}, {{1, 2}}};
  return measured;
}

std::vector<dp::ProductsDraw> AllAnswers(const Measured& measured) {
  std::vector<dp::ProductsDraw> answers;
  for (int64_t first = -12; first <= 12; ++first) {
    for (int64_t second = -21; second <= 21; ++second)
      answers.push_back({measured.queries, measured.sigma_squared, {{first, second}}});
  }
  return answers;
}

// Of each table of at most one record, the first of which is empty, the log-probabilities of all answers.
using Logs = std::vector<std::vector<Interval>>;

Logs LogsOf(const Measured& measured) {
  const dp::Domain domain = measured.domain();
  std::vector<Rows> tables = {{}};
  for (uint32_t code = 0; code < 3; ++code) tables.push_back({{code}});
  Logs logs;
  for (const Rows& rows : tables) {
    const dp::SealedTableHandle table = dp::SealRows(domain, rows).value();
    std::vector<Interval>& own = logs.emplace_back();
    for (const dp::ProductsDraw& answer : AllAnswers(measured))
      own.push_back(dp::LogProbability(answer, *table, domain, kRecord).value());
  }
  return logs;
}

// exp((alpha - 1) D_alpha) = sum over answers of P^alpha P'^(1 - alpha), against exp((alpha - 1) alpha rho),
// for all pairs of tables.
Finding AuditRenyi(const UnitBound& unit, const Logs& logs, dp::Rational alpha, dp::Rho priced) {
  const Interval order = Interval::Of(alpha);
  const Interval bound = (order - Interval(1)) * order * Interval::Of(priced);
  const Interval nearly(bound - Interval::Of(dp::Rational{1, 1'000'000'000}));
  Finding finding;
  for (size_t one = 0; one < logs.size(); ++one) {
    for (size_t other = 0; other < logs.size(); ++other) {
      const bool is_replaced = one > 0 && other > 0;
      if (one == other || (is_replaced && unit.relation == NeighbourRelation::kAddRemove)) continue;
      Interval sum(0);
      for (size_t i = 0; i < logs[one].size(); ++i)
        sum = sum + Exp(order * logs[one][i] + (Interval(1) - order) * logs[other][i]);
      if (Log(sum).CertainlyAbove(bound)) finding.exceeds = true;
      if (Log(sum).CertainlyAbove(nearly)) finding.reaches = true;
    }
  }
  return finding;
}

TEST(ExactRenyiOfProducts, DivergencesStayBelowAlphaRhoAndReachItAtWholeOrders) {
  const Logs logs = LogsOf(ThreeCodes());
  for (const UnitBound& unit : {kRecord, kReplacedRecord}) {
    for (const dp::Rational order : {dp::Rational{3, 2}, dp::Rational{2, 1}}) {
      const Finding finding = AuditRenyi(unit, logs, order, PriceOf(ThreeCodes(), unit));
      EXPECT_FALSE(finding.exceeds);
      if (order.denominator == 1) {
        EXPECT_TRUE(finding.reaches);
      }
    }
  }
}

TEST(ExactRenyiOfProductsCanary, TwiceAColumnUnderReplacementIsCaught) {
  EXPECT_TRUE(
      AuditRenyi(kReplacedRecord, LogsOf(ThreeCodes()), {2, 1}, Times(PriceOf(ThreeCodes(), kRecord), 2))
          .exceeds);
}

TEST(ExactRenyiOfProductsCanary, AForgottenVarianceFactorIsCaught) {
  Measured drawn = ThreeCodes();
  drawn.queries.axes = {{.weights = {1, -1, 0, 1, 1, -2}}};
  drawn.sigma_squared = {{1, 1}};  // below the parameters 1 and 3 of the contrasts
  EXPECT_TRUE(AuditRenyi(kRecord, LogsOf(drawn), {2, 1}, PriceOf(ThreeCodes(), kRecord)).exceeds);
}

}  // namespace
}  // namespace curator::statistics
