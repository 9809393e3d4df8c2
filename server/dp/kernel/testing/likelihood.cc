#include "dp/kernel/testing/likelihood.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/kernel/group_sizes.h"
#include "dp/kernel/grouped_draws.h"
#include "dp/kernel/marginal_errors.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/substitution_score.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/kernel/utility/utility_scores.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

// ln sum over all integers x of exp(-x^2 / (2 sigma^2)). With t = exp(-1/(2 sigma^2)) the sum is
// 1 + 2 sum_{k >= 1} t^(k^2); by Poisson summation it is also sqrt(2 pi sigma^2) times the same series with
// t = exp(-2 pi^2 sigma^2). On its side of sigma^2 = 1/7 either has t < 0.06, so that what follows the eighth
// term, at most 2 t^81 / (1 - t), is below 2^-320.
Interval GaussianLogNormaliser(Rational sigma_squared) {
  const Interval variance = Interval::Of(sigma_squared);
  const bool wide = static_cast<Int128>(7) * sigma_squared.numerator >= sigma_squared.denominator;
  const Interval log_t = wide ? -(Interval(2) * Interval::Pi() * Interval::Pi() * variance)
                              : -(Interval(1) / (Interval(2) * variance));
  constexpr int64_t kTerms = 8;
  Interval sum(1);
  for (int64_t k = 1; k <= kTerms; ++k) sum = sum + Interval(2) * Exp(Interval(k * k) * log_t);
  const Interval rest = Interval(2) * Exp(Interval((kTerms + 1) * (kTerms + 1)) * log_t) / -Expm1(log_t);
  sum = sum + Interval::ZeroUpTo(rest);
  return wide ? Log(sum) + Log(Interval(2) * Interval::Pi() * variance) / Interval(2) : Log(sum);
}

// ln P(noise = 0), with P(x) = P(0) exp(-|x|/scale) or P(0) exp(-x^2/(2 sigma^2)).
Interval LogProbabilityOfNoNoise(const NoiseSpec& noise) {
  if (noise.mechanism == Mechanism::kDiscreteGaussian) return -GaussianLogNormaliser(noise.parameter);
  return Log(Tanh(Interval(1) / (Interval(2) * Interval::Of(noise.parameter))));
}

// |value - count| or (value - count)^2: what the exponent of the noise is proportional to. Exact.
Interval Deviation(Mechanism mechanism, int64_t value, int64_t count) {
  const Interval difference = Interval(value) - Interval(count);
  if (mechanism == Mechanism::kDiscreteGaussian) return difference * difference;
  return value < count ? -difference : difference;
}

Interval LogProbabilityOf(const NoiseSpec& noise, const Interval& deviations, int64_t cells) {
  const Interval spread = Interval::Of(noise.parameter);
  const Interval exponent = noise.mechanism == Mechanism::kDiscreteGaussian
                                ? deviations / (Interval(2) * spread)
                                : deviations / spread;
  return Interval(cells) * LogProbabilityOfNoNoise(noise) - exponent;
}

struct Context {
  const SealedTable& table;
  const Domain& domain;
  const UnitBound& unit;
};

absl::StatusOr<Interval> Of(const CountsDraw& draw, const Context& context) {
  RETURN_IF_ERROR(Validate(draw.noise));
  RETURN_IF_ERROR(ValidateMarginals(context.domain, draw.marginals));
  ASSIGN_OR_RETURN(const auto counts, CountMarginals(context.table, context.domain, draw.marginals));
  if (draw.values.size() != counts.size())
    return absl::InvalidArgumentError("a draw has not one answer for each of its marginals");
  Interval deviations(0);
  int64_t cells = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (draw.values[i].size() != counts[i].size())
      return absl::InvalidArgumentError("an answer has not one value for each cell of its marginal");
    for (size_t cell = 0; cell < counts[i].size(); ++cell) {
      deviations = deviations + Deviation(draw.noise.mechanism, draw.values[i][cell], counts[i][cell]);
      ++cells;
    }
  }
  return LogProbabilityOf(draw.noise, deviations, cells);
}

absl::StatusOr<Interval> Of(const RecordCountDraw& draw, const Context& context) {
  RETURN_IF_ERROR(Validate(draw.noise));
  return NoiseLogProbability(draw.noise, draw.value, context.table.rows());
}

// ln P of these values of these numbers, each with noise of its own.
absl::StatusOr<Interval> OfNumbers(const NoiseSpec& noise, std::span<const int64_t> values,
                                   std::span<const int64_t> numbers) {
  if (values.size() != numbers.size())
    return absl::InvalidArgumentError("a draw has not one value for each of its numbers");
  Interval deviations(0);
  for (size_t i = 0; i < numbers.size(); ++i)
    deviations = deviations + Deviation(noise.mechanism, values[i], numbers[i]);
  return LogProbabilityOf(noise, deviations, static_cast<int64_t>(numbers.size()));
}

absl::StatusOr<Interval> Of(const SumsDraw& draw, const Context& context) {
  RETURN_IF_ERROR(Validate(draw.noise));
  RETURN_IF_ERROR(Validate(context.domain, draw.sum));
  ASSIGN_OR_RETURN(const std::vector<int64_t> sums, ExactSums(context.table, context.domain, draw.sum));
  return OfNumbers(draw.noise, draw.values, sums);
}

absl::StatusOr<Interval> Of(const ErrorsDraw& draw, const Context& context) {
  RETURN_IF_ERROR(Validate(draw.noise));
  RETURN_IF_ERROR(CheckCandidates(context.domain, draw.candidates));
  ASSIGN_OR_RETURN(const std::vector<int64_t> errors,
                   ExactErrors(context.table, context.domain, draw.candidates));
  return OfNumbers(draw.noise, draw.values, errors);
}

absl::StatusOr<Interval> Of(const UnitCountsDraw& draw, const Context& context) {
  RETURN_IF_ERROR(Validate(draw.noise));
  RETURN_IF_ERROR(Validate(context.domain, draw.groups));
  RETURN_IF_ERROR(CheckUnits(context.table, context.unit));
  ASSIGN_OR_RETURN(const std::vector<int64_t> counts,
                   ExactUnitCounts(context.table, context.domain, draw.groups));
  return OfNumbers(draw.noise, draw.values, counts);
}

absl::StatusOr<Interval> Of(const QuantilesDraw& draw, const Context& context) {
  RETURN_IF_ERROR(Validate(context.domain, draw.quantile));
  const auto codes = static_cast<size_t>(CodesOf(context.domain, draw.quantile.column));
  const auto is_code = [codes](int64_t code) { return code >= 0 && static_cast<size_t>(code) < codes; };
  if (draw.epsilon.units() <= 0 || std::ssize(draw.selected) != draw.quantile.groups.groups ||
      !std::ranges::all_of(draw.selected, is_code))
    return absl::InvalidArgumentError("a selection without an epsilon, or of none of its candidates");
  ASSIGN_OR_RETURN(const int64_t range,
                   QuantileRange(context.unit, draw.quantile.numerator, draw.quantile.denominator));
  ASSIGN_OR_RETURN(const std::vector<int64_t> counts,
                   ExactCodeCounts(context.table, context.domain, draw.quantile));
  Interval sum(0);
  for (size_t group = 0; group < draw.selected.size(); ++group) {
    const std::vector<int64_t> scores = QuantileScores({draw.quantile.numerator, draw.quantile.denominator},
                                                       std::span(counts).subspan(group * codes, codes));
    sum = sum + SelectionLogProbability(scores, FactorForRange(draw.epsilon, range),
                                        static_cast<size_t>(draw.selected[group]));
  }
  return sum;
}

absl::StatusOr<Interval> Of(const GroupSizesDraw& draw, const Context& context) {
  RETURN_IF_ERROR(Validate(draw.noise));
  RETURN_IF_ERROR(CheckSizeBins(draw.least_sizes));
  RETURN_IF_ERROR(CheckRole(draw.role, context.table));
  return OfNumbers(draw.noise, draw.values, GroupSizes(context.table, draw.least_sizes));
}

absl::StatusOr<Interval> Of(const GroupMarginalsDraw& draw, const Context& context) {
  RETURN_IF_ERROR(Validate(draw.noise));
  RETURN_IF_ERROR(ValidateGroupMarginals(context.domain, draw.marginals));
  RETURN_IF_ERROR(CheckRole(GroupRole::kUnit, context.table));
  ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> counts,
                   GroupMarginals(context.table, context.domain, draw.marginals));
  if (draw.values.size() != counts.size())
    return absl::InvalidArgumentError("a draw has not the values of each of its marginals");
  Interval sum(0);
  for (size_t i = 0; i < counts.size(); ++i) {
    ASSIGN_OR_RETURN(const Interval of_marginal, OfNumbers(draw.noise, draw.values[i], counts[i]));
    sum = sum + of_marginal;
  }
  return sum;
}

absl::StatusOr<Interval> Of(const ProductsDraw& draw, const Context& context) {
  RETURN_IF_ERROR(ValidateProducts(context.domain, draw.queries));
  if (draw.values.size() != draw.queries.groups.size() || draw.sigma_squared.size() != draw.values.size())
    return absl::InvalidArgumentError("a draw has not one part for each of its groups");
  Interval sum(0);
  for (size_t i = 0; i < draw.values.size(); ++i) {
    const ProductGroup& group = draw.queries.groups[i];
    std::vector<int64_t> counts = {context.table.rows()};
    if (!group.attributes.empty()) {
      ASSIGN_OR_RETURN(counts, CountMarginal(context.table, context.domain, group.attributes));
    }
    const std::vector<int64_t> answers = AnswersFromCounts(context.domain, draw.queries, group, counts);
    if (draw.values[i].size() != answers.size())
      return absl::InvalidArgumentError("a draw has not one value for each query of a group");
    std::vector<int64_t> factors = {1};  // of all products, the last attribute running fastest
    for (const std::vector<int64_t>& axis : VarianceFactors(context.domain, draw.queries, group)) {
      std::vector<int64_t> products;
      for (const int64_t factor : factors) {
        for (const int64_t own : axis) products.push_back(factor * own);
      }
      factors = std::move(products);
    }
    for (size_t q = 0; q < answers.size(); ++q) {
      const NoiseSpec noise{
          Mechanism::kDiscreteGaussian,
          {draw.sigma_squared[i].numerator * factors[q], draw.sigma_squared[i].denominator}};
      sum = sum + NoiseLogProbability(noise, draw.values[i][q], answers[q]);
    }
  }
  return sum;
}

// The exact answers of one group.
absl::StatusOr<std::vector<int64_t>> AnswersOf(const QueryGroup& group, const Context& context) {
  RETURN_IF_ERROR(ValidateQueries(context.domain, std::span(&group, 1)));
  ASSIGN_OR_RETURN(const std::vector<int64_t> counts,
                   CountMarginal(context.table, context.domain, group.attributes));
  return AnswersFromCounts(context.domain, group, counts);
}

absl::StatusOr<Interval> Of(const QueriesDraw& draw, const Context& context) {
  RETURN_IF_ERROR(Validate(draw.noise));
  if (draw.values.size() != draw.groups.size())
    return absl::InvalidArgumentError("a draw has not one part for each of its groups");
  Interval deviations(0);
  int64_t queries = 0;
  for (size_t i = 0; i < draw.groups.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> answers, AnswersOf(draw.groups[i], context));
    if (draw.values[i].size() != answers.size())
      return absl::InvalidArgumentError("a draw has not one value for each query of a group");
    for (size_t q = 0; q < answers.size(); ++q)
      deviations = deviations + Deviation(draw.noise.mechanism, draw.values[i][q], answers[q]);
    queries += static_cast<int64_t>(answers.size());
  }
  return LogProbabilityOf(draw.noise, deviations, queries);
}

absl::StatusOr<Interval> Of(const FamilySelectionDraw& draw, const Context& context) {
  if (draw.epsilon.units() <= 0) return absl::InvalidArgumentError("a selection without an epsilon");
  ASSIGN_OR_RETURN(const int64_t range, CandidateRange(context.domain, context.unit, draw.families));
  ScoredCandidates scored;
  for (size_t i = 0; i < draw.families.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> counts,
                     CountMarginal(context.table, context.domain, draw.families[i].group.attributes));
    const std::vector<int64_t> answers = AnswersOf(context.domain, draw.families[i], counts);
    ASSIGN_OR_RETURN(const LatticeEstimate estimate, RoundFamily(context.domain, draw.families[i]));
    AddScores(i, draw.families[i], answers, estimate, scored);
  }
  const auto selected = std::ranges::find(scored.candidates, draw.selected);
  if (selected == scored.candidates.end())
    return absl::InvalidArgumentError("a selection of none of its candidates");
  return SelectionLogProbability(scored.scores, FactorForRange(draw.epsilon, range),
                                 static_cast<size_t>(selected - scored.candidates.begin()));
}

absl::StatusOr<Interval> Of(const SubstitutionDraw& draw, const Context& context) {
  if (draw.epsilon.units() <= 0) return absl::InvalidArgumentError("a selection without an epsilon");
  ASSIGN_OR_RETURN(const int64_t range, SubstitutionRange(context.domain, context.unit, draw.candidates));
  ScoredSubstitutions scored;
  for (size_t i = 0; i < draw.candidates.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> counts,
                     CountMarginal(context.table, context.domain, draw.candidates[i].attributes));
    ASSIGN_OR_RETURN(const LatticeSubstitution rounded,
                     RoundSubstitution(context.domain, draw.candidates[i]));
    AddScores(i, draw.candidates[i], counts, rounded, scored);
  }
  const auto selected = std::ranges::find(scored.choices, draw.selected);
  if (selected == scored.choices.end())
    return absl::InvalidArgumentError("a selection of none of its candidates");
  return SelectionLogProbability(scored.scores, FactorForRange(draw.epsilon, range),
                                 static_cast<size_t>(selected - scored.choices.begin()));
}

absl::StatusOr<Interval> Of(const UtilityDraw& draw, const Context& context) {
  ASSIGN_OR_RETURN(const LatticeUtility utility,
                   ToLattice(draw.utility, draw.bonuses, context.domain, context.unit));
  if (draw.epsilon.units() <= 0 || draw.selected >= utility.candidates)
    return absl::InvalidArgumentError("a selection without an epsilon, or of none of its candidates");
  RETURN_IF_ERROR(CheckGrouping(utility, context.table, context.unit));
  ASSIGN_OR_RETURN(const std::vector<int64_t> scores, ScoresOf(utility, context.table, context.domain));
  return SelectionLogProbability(scores, FactorForRange(draw.epsilon, utility.range), draw.selected);
}

}  // namespace

Interval NoiseLogProbability(const NoiseSpec& noise, int64_t value, int64_t count) {
  return LogProbabilityOf(noise, Deviation(noise.mechanism, value, count), 1);
}

Interval SelectionLogProbability(std::span<const int64_t> scores, Rational factor, size_t selected) {
  const Interval best(*std::max_element(scores.begin(), scores.end()));
  const Interval slope = Interval::Of(factor);
  Interval sum(0);
  for (const int64_t score : scores) sum = sum + Exp(slope * (Interval(score) - best));
  return slope * (Interval(scores[selected]) - best) - Log(sum);
}

absl::StatusOr<Interval> LogProbability(const Draw& draw, const SealedTable& table, const Domain& domain,
                                        const UnitBound& unit) {
  const Context context{table, domain, unit};
  return std::visit([&context](const auto& kind) { return Of(kind, context); }, draw);
}

absl::StatusOr<Interval> LogProbability(const Transcript& transcript, const SealedTable& table,
                                        const Domain& domain, const UnitBound& unit) {
  Interval sum(0);
  for (const Draw& draw : transcript) {
    ASSIGN_OR_RETURN(const Interval one, LogProbability(draw, table, domain, unit));
    sum = sum + one;
  }
  return sum;
}

}  // namespace curator::dp
