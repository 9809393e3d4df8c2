// What the projection onto tables without negative cells does to answers that were measured by residuals, how
// often the intervals of processed answers hold the truth, and the processor time.
//
//   residual_projection [DRAWS] [RHO] [WORKLOAD]
//
// Reads $CURATOR_SHARED/data/adult_pgm (default ../shared). DRAWS (default 10) of the noise from a fixed key,
// for requests of RHO (default 0.01) on the Adult table; of all workloads, or of one, from 0. The records are
// read to measure errors; no step sees them. Intervals are at 95%. "With weights of marginals": projected
// as if each marginal had independent noise of the mean variance of its cells; "in the metric of the noise":
// without sums being held firmer (residual_projection.h).
#include "dp/workload/residual/residual_projection.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/must.h"
#include "bench/real_tables.h"
#include "dp/noise/drbg.h"
#include "dp/noise/product_gaussian.h"
#include "dp/queries/marginals.h"
#include "dp/workload/post_processing.h"
#include "dp/workload/residual/residual_plan.h"
#include "dp/workload/residual/residual_reader.h"
#include "dp/workload/shown_interval.h"

namespace curator::bench {
namespace {

constexpr double kLevel = 0.95;

struct Asked {
  std::string name;
  std::vector<dp::QuerySet> sets;
};

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

std::vector<int64_t> CountsOf(const RealTable& table, const dp::AttributeSet& set) {
  std::vector<int64_t> counts(static_cast<size_t>(*table.domain.CellCount(set)), 0);
  for (const std::vector<uint32_t>& row : table.rows) {
    size_t cell = 0;
    for (const uint32_t attribute : set)
      cell = cell * static_cast<size_t>(table.domain.attributes()[attribute].size()) + row[attribute];
    ++counts[cell];
  }
  return counts;
}

dp::QuerySet Marginals(std::vector<dp::AttributeSet> sets) {
  dp::QuerySet all{.groups = {}, .strategy = dp::Strategy::kResidual};
  for (dp::AttributeSet& set : sets) all.groups.push_back({std::move(set), dp::EveryCell()});
  return all;
}

dp::QuerySet Prefixes(const dp::Domain& domain, uint32_t attribute) {
  dp::Boxes boxes;
  for (uint32_t code = 0; code < domain.attributes()[attribute].size(); ++code)
    boxes.sides.push_back({0, code});
  return {.groups = {{{attribute}, boxes}}, .strategy = dp::Strategy::kResidual};
}

std::vector<Asked> Workloads(const dp::Domain& domain) {
  std::vector<Asked> all;
  all.push_back({"1-way marginals", {Marginals(Must(dp::AllKWayMarginals(domain, 1, {})))}});
  all.push_back({"2-way marginals", {Marginals(Must(dp::AllKWayMarginals(domain, 2, {})))}});
  std::vector<dp::AttributeSet> both = Must(dp::AllKWayMarginals(domain, 1, {}));
  for (dp::AttributeSet& pair : Must(dp::AllKWayMarginals(domain, 2, {}))) both.push_back(std::move(pair));
  all.push_back({"1- and 2-way marginals", {Marginals(std::move(both))}});
  std::vector<dp::AttributeSet> triples = Must(dp::AllKWayMarginals(domain, 3, {}));
  std::erase_if(triples, [&](const dp::AttributeSet& set) { return *domain.CellCount(set) > 4000; });
  all.push_back({"3-way marginals of up to 4,000 cells", {Marginals(std::move(triples))}});
  std::vector<dp::QuerySet> mixed = {Marginals(Must(dp::AllKWayMarginals(domain, 2, {})))};
  for (uint32_t attribute = 0; attribute < domain.size(); ++attribute) {
    if (domain.attributes()[attribute].size() >= 85) mixed.push_back(Prefixes(domain, attribute));
  }
  all.push_back({"2-way marginals beside prefixes of the five widest", std::move(mixed)});
  return all;
}

// A request that was planned, and what is true of it.
struct Planned {
  dp::ResidualMeasurement measurement;
  std::vector<std::vector<int64_t>> exact;  // of each measured group
  std::vector<dp::AttributeSet> marginals;
  std::vector<std::vector<int64_t>> truth;  // of each marginal
};

Planned PlannedOf(const RealTable& table, const Asked& asked, double rho) {
  const dp::UnitBound unit{.relation = dp::NeighbourRelation::kReplaceOne, .max_records = 1};
  const dp::ResidualShape shape =
      Must(dp::ResidualShapeOf(table.domain, unit, asked.sets, dp::ErrorMeasure::kMean, {})).value();
  const auto units = static_cast<int64_t>(std::llround(rho * static_cast<double>(dp::kRhoUnitsPerOne)));
  Planned planned{.measurement = Must(dp::MeasurementFor(table.domain, unit, shape, dp::Rho(units)))};
  const dp::ProductQueries& queries = planned.measurement.queries;
  for (const dp::ProductGroup& group : queries.groups) {
    planned.exact.push_back(
        dp::AnswersFromCounts(table.domain, queries, group, CountsOf(table, group.attributes)));
  }
  for (const dp::QuerySet& set : asked.sets) {
    for (const dp::QueryGroup& group : set.groups) {
      if (!std::holds_alternative<dp::EveryCell>(group.queries)) continue;
      planned.marginals.push_back(group.attributes);
      planned.truth.push_back(CountsOf(table, group.attributes));
    }
  }
  return planned;
}

std::vector<std::vector<int64_t>> NoisyValues(const dp::Domain& domain, const Planned& planned,
                                              dp::Drbg& bits) {
  const dp::ProductQueries& queries = planned.measurement.queries;
  std::vector<std::vector<int64_t>> values = planned.exact;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto noise = Must(dp::ProductGaussian::Create(
        planned.measurement.sigma_squared[i], dp::VarianceFactors(domain, queries, queries.groups[i])));
    std::vector<int64_t> drawn(noise.cells());
    noise.Fill(bits, drawn);
    for (size_t c = 0; c < drawn.size(); ++c) values[i][c] += drawn[c];
  }
  return values;
}

// As if each marginal had independent noise of the mean variance of its cells.
dp::Tables WithWeightsOfMarginals(const dp::Domain& domain, const std::vector<dp::AttributeSet>& marginals,
                                  const dp::Tables& unbiased, const dp::ResidualErrors& errors) {
  std::vector<dp::MeasuredMarginal> measured;
  for (size_t i = 0; i < marginals.size(); ++i) {
    const double variance = errors.MeanVarianceOf({marginals[i], dp::EveryCell()});
    measured.push_back({{marginals[i], variance}, unbiased[i]});
  }
  return Must(dp::PostProcess(domain, std::move(measured), {.non_negative = true, .consistent = true}))
      .marginals;
}

// Of answers over all draws.
struct Tally {
  double answers = 0;
  double squares_before = 0;
  double squares_after = 0;
  double squares_in_metric_of_noise = 0;
  double squares_of_other_weights = 0;
  double held_before = 0;
  double held = 0;
  double widths = 0;  // of intervals, over those of before
};

struct Answers {
  const std::vector<double>& before;
  const std::vector<double>& after;
  const std::vector<double>& in_metric_of_noise;
  const std::vector<double>& with_other_weights;
  const std::vector<int64_t>& truth;
};

void Add(const Answers& answers, const std::vector<dp::ResidualError>& errors, Tally& tally) {
  std::vector<double> halves;
  for (const dp::ResidualError& error : errors)
    halves.push_back(dp::ResidualErrors::HalfWidthOf(error, kLevel));
  for (size_t i = 0; i < answers.before.size(); ++i) {
    const double half = halves[halves.size() == 1 ? 0 : i];
    const auto exact = static_cast<double>(answers.truth[i]);
    const dp::ShownInterval shown = dp::IntervalShown(answers.before[i], half, answers.after[i], 0);
    const auto square = [exact](double answer) { return (answer - exact) * (answer - exact); };
    tally.answers += 1;
    tally.squares_before += square(answers.before[i]);
    tally.squares_after += square(answers.after[i]);
    tally.squares_in_metric_of_noise += square(answers.in_metric_of_noise[i]);
    tally.squares_of_other_weights += square(answers.with_other_weights[i]);
    tally.held_before += std::abs(answers.before[i] - exact) <= half ? 1 : 0;
    tally.held += shown.low <= exact && exact <= shown.high ? 1 : 0;
    tally.widths += (shown.high - shown.low) / (2 * half);
  }
}

void Report(const RealTable& table, const Asked& asked, double rho, int draws) {
  const dp::Domain& domain = table.domain;
  const Planned planned = PlannedOf(table, asked, rho);
  const dp::WidestSets widest(planned.marginals);
  const dp::ResidualErrors errors = Must(dp::ResidualErrors::Create(domain, planned.measurement));
  dp::Drbg bits(dp::DrawKey(dp::DrawKey::Bytes{1}));
  std::map<size_t, Tally> tallies;  // by the number of attributes
  double seconds = 0;
  double disagreement = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<std::vector<int64_t>> values = NoisyValues(domain, planned, bits);
    dp::ResidualReader reader = Must(dp::ResidualReader::Create(domain, planned.measurement, values));
    const auto read = [&](const std::vector<dp::AttributeSet>& sets) {
      dp::Tables tables;
      for (const dp::AttributeSet& set : sets) tables.push_back(reader.AnswersOf({set, dp::EveryCell()}));
      return tables;
    };
    const dp::Tables unbiased = read(planned.marginals);
    const dp::Tables wide = read(widest.sets());
    const double start = CpuSeconds();
    const dp::ResidualProjection projection(planned.measurement, errors, widest.sets());
    const dp::NonNegativeTables nearest = Must(projection.Nearest(wide, {}));
    seconds += CpuSeconds() - start;
    disagreement = std::max(disagreement, nearest.disagreement);
    const dp::NonNegativeTables unfirm =
        Must(dp::ResidualProjection(planned.measurement, errors, widest.sets(), 1).Nearest(wide, {}));
    const dp::Tables others = WithWeightsOfMarginals(domain, planned.marginals, unbiased, errors);
    for (size_t i = 0; i < planned.marginals.size(); ++i) {
      const dp::AttributeSet& set = planned.marginals[i];
      const size_t place = widest.Containing(set);
      const auto summed = [&](const dp::NonNegativeTables& projected) {
        return dp::SumTo(domain, widest.sets()[place], projected.tables[place], set);
      };
      Add({unbiased[i], summed(nearest), summed(unfirm), others[i], planned.truth[i]},
          errors.ErrorsOf({set, dp::EveryCell()}), tallies[set.size()]);
    }
  }
  for (const auto& [size, tally] : tallies) {
    std::printf("| %s%s | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.3f | %.2f |\n",
                asked.name.c_str(), tallies.size() > 1 ? (": " + std::to_string(size) + "-way").c_str() : "",
                tally.answers / draws, std::sqrt(tally.squares_before / tally.answers),
                std::sqrt(tally.squares_after / tally.answers),
                std::sqrt(tally.squares_in_metric_of_noise / tally.answers),
                std::sqrt(tally.squares_of_other_weights / tally.answers),
                100 * tally.held_before / tally.answers, 100 * tally.held / tally.answers,
                tally.widths / tally.answers, disagreement, seconds / draws);
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  using namespace curator::bench;
  const int draws = argc > 1 ? std::atoi(argv[1]) : 10;
  const double rho = argc > 2 ? std::atof(argv[2]) : 0.01;
  const RealTable table = ReadNamedTable("adult");
  const std::vector<Asked> workloads = Workloads(table.domain);
  std::printf(
      "| answers | number | RMSE before | after | in the metric of the noise | with weights of marginals | "
      "held before, %% | held after, %% | width, share | disagreement | CPU s |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (size_t i = 0; i < workloads.size(); ++i) {
    if (argc <= 3 || std::atoi(argv[3]) == static_cast<int>(i)) Report(table, workloads[i], rho, draws);
  }
  return 0;
}
