// Nested data: what a private draw of (nu, tau, sigma) keeps of the non-private fit, by way of weighing and
// epsilon, as the exact distribution of the draw; the slides' table of sensitivities; the time of large
// grids.
//
//   bench_nested slides              sensitivities on data simulated as in the slides
//   bench_nested real [file.svg]     hsb82, exam, radon, sleepstudy (CURATOR_SHARED), and the plot
//   bench_nested grid                CPU seconds of a million points
//   bench_nested records             what synthetic records of hsb82 are good for
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "bench/nested_data.h"
#include "bench/nested_plot.h"
#include "bench/nested_posterior.h"
#include "bench/nested_records.h"
#include "bench/nested_slides.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/noise/drbg.h"
#include "dp/noise/exponential_mechanism.h"

namespace curator::bench {
namespace {

const std::vector<double> kEpsilonsOfRecords = {0.5, 1, 2, 5, 10};
const std::vector<double> kEpsilonsOfGroups = {5, 50, 500};

std::vector<Weighting> WeightingsOfRecords() {
  using dp::RecordWeights;
  return {{.name = "none", .records = RecordWeights::kOne},
          {.name = "scalar", .records = RecordWeights::kScalar},
          {.name = "vector", .records = RecordWeights::kVector},
          {.name = "vector, width / 4", .records = RecordWeights::kVector, .width_factor = 0.25},
          {.name = "whole group, clip 4", .clip = 4, .pays_for_group = true},
          {.name = "whole group, clip 8", .clip = 8, .pays_for_group = true},
          {.name = "whole group, clip 16", .clip = 16, .pays_for_group = true}};
}

std::vector<Weighting> WeightingsOfGroups() {
  using dp::GroupWeight;
  using dp::RecordWeights;
  return {{.name = "none, clip 2", .protects_groups = true, .clip = 2},
          {.name = "none, clip 8", .protects_groups = true, .clip = 8},
          {.name = "none, clip 32", .protects_groups = true, .clip = 32},
          {.name = "vector, clip 8", .protects_groups = true, .records = RecordWeights::kVector, .clip = 8},
          {.name = "group A, clip 8", .protects_groups = true, .group = GroupWeight::kOutside, .clip = 8},
          {.name = "group B, clip 8", .protects_groups = true, .group = GroupWeight::kInside, .clip = 8},
          {.name = "group C, clip 8",
           .protects_groups = true,
           .records = RecordWeights::kVector,
           .group = GroupWeight::kInside,
           .clip = 8}};
}

PlottedPanel PrintTable(const NestedTable& table, const std::vector<Weighting>& weightings,
                        const std::vector<double>& epsilons) {
  PlottedPanel panel{.title = table.name, .epsilons = epsilons, .lines = {}};
  std::printf(
      "| weights | exponent at 1 | epsilon | nu | tau | sigma | group share / REML's | its error | edge |\n");
  std::printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Weighting& weighting : weightings) {
    const Scored scored = Score(table, weighting);
    PlottedLine line{.label = weighting.name, .values = {}};
    for (const double epsilon : epsilons) {
      const Summary of = Summarise(scored, table.reference, epsilon);
      const double kept = of.group_share / table.reference.group_share();
      std::printf("| %s | %.3g | %g | %+.3g (%.2g) | %+.3g (%.2g) | %+.3g (%.2g) | %.2f | %.3f | %.2f |\n",
                  weighting.name.c_str(), 1 / scored.range, epsilon, of.nu_mean - table.reference.nu,
                  of.nu_deviation, of.tau_mean - table.reference.tau, of.tau_deviation,
                  of.sigma_mean - table.reference.sigma, of.sigma_deviation, kept, of.share_error,
                  of.at_the_edge);
      line.values.push_back(kept);
    }
    panel.lines.push_back(std::move(line));
  }
  return panel;
}

void PrintReal(const char* svg_path) {
  std::vector<PlottedPanel> panels;
  for (const NestedTable& table : RealNestedTables()) {
    size_t records = 0;
    for (const std::vector<uint32_t>& group : table.groups) records += group.size();
    std::printf("\n### %s: %zu records in %zu groups; REML nu %.4g, tau %.4g, sigma %.4g, group share %.3f\n",
                table.name.c_str(), records, table.groups.size(), table.reference.nu, table.reference.tau,
                table.reference.sigma, table.reference.group_share());
    std::printf("\nA record is protected.\n\n");
    panels.push_back(PrintTable(table, WeightingsOfRecords(), kEpsilonsOfRecords));
    std::printf("\nA group is protected.\n\n");
    PrintTable(table, WeightingsOfGroups(), kEpsilonsOfGroups);
    std::fflush(stdout);
  }
  if (svg_path == nullptr) return;
  std::ofstream(svg_path) << PlotPanels(
      "Mean group-level share of a private draw over REML's, by epsilon (a record is protected)", panels, 4,
      1);
}

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

std::vector<double> Between(double least, double most, int points) {
  std::vector<double> axis;
  for (int i = 0; i < points; ++i) axis.push_back(least + (most - least) * i / (points - 1));
  return axis;
}

void PrintGridTimes() {
  const NestedTable table = RealNestedTables().front();
  dp::NormalGroups grid = GridFor(table);
  grid.means = Between(table.low, table.high, 101);
  grid.betweens = Between(0.5, 14, 100);
  grid.withins = Between(1.75, 14, 100);
  const dp::UnitBound unit;
  const auto codes = static_cast<int64_t>(table.numbers.size());
  const auto run = [&](const char* name, const dp::QuestionOnGroups& question) {
    const double start = CpuSeconds();
    std::vector<dp::GroupSums> groups;
    for (const std::vector<uint32_t>& group : table.groups)
      groups.push_back(dp::SumsOf(question.lattice.grid, question.lattice.weights, group));
    const std::vector<int64_t> scores = dp::ScoresOfGroups(question.lattice, groups, OnlyThisThread());
    const double scored = CpuSeconds();
    dp::Drbg bits{dp::DrawKey(dp::DrawKey::Bytes{})};
    const size_t drawn = dp::DrawExponential(bits, scores, {1, question.range}).value();
    std::printf("%s: %zu points, %zu groups: scores %.2f s, draw %.3f s of one core (drawn: %zu)\n", name,
                scores.size(), groups.size(), scored - start, CpuSeconds() - scored, drawn);
  };
  run("record",
      dp::OnLattice(dp::RecordsInGroups{.attribute = 0, .model = grid, .width = 10}, codes, unit).value());
  run("group",
      dp::OnLattice(dp::ClippedGroups{.attribute = 0, .model = grid, .clip = 8}, codes, unit).value());
}

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "slides") {
    curator::bench::PrintSlidesTable(1, 3);
  } else if (what == "real") {
    curator::bench::PrintReal(argc > 2 ? argv[2] : nullptr);
  } else if (what == "grid") {
    curator::bench::PrintGridTimes();
  } else if (what == "records") {
    curator::bench::PrintRecords();
  } else {
    std::fprintf(stderr, "usage: bench_nested slides | real [file.svg] | grid | records\n");
    return 2;
  }
  return 0;
}
