// Known releases for tests: of marginals, of intervals and predicates, of residuals, and of parities.
#pragma once

#include <vector>

#include "dp/queries/testing/all_intervals.h"
#include "dp/workload/release.h"
#include "dp/workload/residual/parity_reader.h"

namespace curator::codec {

inline const dp::NoiseSpec kExampleNoise{dp::Mechanism::kDiscreteLaplace, {3, 2}};

// Of one attribute and of two others, measured as asked.
inline dp::WorkloadRelease ExampleMarginals() {
  dp::WorkloadRelease release{
      .asked = {dp::AskedSet()},
      .plans = {{.strategy = dp::Strategy::kDirect, .branching = 0, .sources = {0, 1}}},
      .measured = {{{0}, dp::EveryCell()}, {{1, 2}, dp::EveryCell()}},
      .noise = kExampleNoise,
      .values = {{5, -1}, {7, 8, 9}},
      .event = "noise"};
  release.asked[0].queries.groups = release.measured;
  return release;
}

// Ranges by a tree, and predicates by a histogram of two attributes.
inline dp::WorkloadRelease ExampleMixture() {
  dp::WorkloadRelease release{
      .asked = {dp::AskedSet(), dp::AskedSet()},
      .plans = {{dp::Strategy::kTree, 2, {0}}, {dp::Strategy::kBaseHistogram, 0, {1, 1}}},
      .measured = {{{0}, dp::Boxes{{{0, 0}, {1, 1}}}}, {{1, 2}, dp::EveryCell()}},
      .noise = kExampleNoise,
      .values = {{5, -1}, {7, 8, 9, 10}},
      .event = "noise"};
  release.asked[0].query_class = dp::QueryClass::kRanges;
  release.asked[0].queries = {{{{0}, dp::AllIntervals(2)}}, dp::Strategy::kTree};
  release.asked[1].query_class = dp::QueryClass::kPredicates;
  release.asked[1].queries.groups = {{{1}, std::vector<dp::LinearQuery>{{{0, 1}, {1, -1}}}},
                                     {{1, 2}, dp::Boxes{{{0, 0}, {1, 1}}}}};
  release.asked[1].words = {"one", "another"};
  return release;
}

// Ranges of an attribute of 3 codes by weights, beside one of 2 codes by Helmert contrasts.
inline dp::WorkloadRelease ExampleResiduals() {
  dp::WorkloadRelease release{
      .asked = {dp::AskedSet(), dp::AskedSet()},
      .plans = {{.strategy = dp::Strategy::kResidual}, {.strategy = dp::Strategy::kResidual}},
      .values = {{40}, {-3, 1}, {7}, {2, -9}},
      .residual = dp::ResidualMeasurement(),
      .event = "noise"};
  release.asked[0].queries.groups = {{{0, 1}, dp::EveryCell()}};
  release.asked[1].query_class = dp::QueryClass::kRanges;
  release.asked[1].queries = {{{{0}, dp::AllIntervals(3)}}, dp::Strategy::kResidual};
  release.residual->queries.axes = {{.weights = {1, -1, 0, 1, 1, -70'000}, .variance_factor = 9}, {}};
  release.residual->queries.groups = {{.attributes = {}, .axes = {}},
                                      {.attributes = {0}, .axes = {0}},
                                      {.attributes = {1}, .axes = {1}, .multiplier = 16},
                                      {.attributes = {0, 1}, .axes = {0, 1}, .multiplier = 3}};
  release.residual->sigma_squared = {{5, 1}, {3, 2}, {7, 4}, {1, 9}};
  return release;
}

// Two marginals over two attributes of two codes.
inline dp::WorkloadRelease ExampleParities() {
  dp::WorkloadRelease release{.asked = {dp::AskedSet(), dp::AskedSet()},
                              .plans = {{dp::Strategy::kParity, 0, {3}}, {dp::Strategy::kParity, 0, {2}}},
                              .measured = {dp::ParityGroup({}, 50, 0), dp::ParityGroup({0}, 40, 0),
                                           dp::ParityGroup({1}, 40, 0), dp::ParityGroup({0, 1}, 32, 0)},
                              .noise = kExampleNoise,
                              .values = {{5000}, {-70}, {123}, {9}},
                              .event = "noise"};
  release.asked[0].queries = {{{{0, 1}, dp::EveryCell()}}, dp::Strategy::kParity};
  release.asked[1].queries.groups = {{{1}, dp::EveryCell()}};
  return release;
}

}  // namespace curator::codec
