// Simulated schools of pupils, for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "dp/accounting/rule.h"
#include "dp/data/sealed_table.h"
#include "dp/synthesis/mwem/mwem.h"
#include "dp/synthesis/nested/nested.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizer.h"
#include "dp/workload/marginals.h"
#include "dp/workload/testing_domain.h"

namespace curator::dp {

// Responses from 0 to 20 in steps of a quarter; and, where `k` is 2, whether a pupil passed (mostly those
// above 10).
inline SynthesisInput SchoolInput(NestedUnit unit, int64_t epsilon, int k = 1) {
  const Domain domain = k == 1 ? CodedDomain({81}) : CodedDomain({81, 2});
  RuleSpec rule;
  rule.kind = RuleKind::kPure;
  rule.epsilon = Epsilon(10'000 * kEpsilonUnitsPerOne);
  NestedFacts facts{.group_column = "school", .lower = 0, .upper = 20, .resolution = 0.25, .unit = unit};
  for (int i = 0; i <= 80; ++i) facts.numbers.push_back(0.25 * i);
  return {.domain = domain,
          .unit_bound = {NeighbourRelation::kAddRemove, unit == NestedUnit::kRecord ? 1 : kNoRecordBound},
          .rule = rule,
          .spend = {.epsilon = Epsilon(epsilon * kEpsilonUnitsPerOne)},
          .workload = WholeMarginals(AllKWayMarginals(domain, k, {}).value()),
          .nested = facts};
}

// The method with MWEM to join.
inline const Nested& NestedWithMwem() {
  static const Mwem mwem;
  static const Nested nested({&mwem});
  return nested;
}

struct School {
  double nu = 9;
  double tau = 2;
  double sigma = 3;
};

// `groups` schools of `size` pupils each.
inline SealedTableHandle Schools(const SynthesisInput& input, const School& truth, int groups, int size,
                                 uint64_t seed = 5) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const bool is_record = input.nested->unit == NestedUnit::kRecord;
  SealedTableBuilder builder(input.domain, is_record ? RowOwner::kItselfInGroup : RowOwner::kUnit);
  for (int g = 0; g < groups; ++g) {
    const double mu = truth.nu + truth.tau * normal(random);
    for (int i = 0; i < size; ++i) {
      const double response = std::clamp(mu + truth.sigma * normal(random), 0.0, 20.0);
      std::vector<uint32_t> codes = {static_cast<uint32_t>(std::lround(response * 4))};
      if (input.domain.size() > 1) codes.push_back(response > 10 ? 1 : 0);
      (void)builder.AppendRow(codes, static_cast<uint32_t>(g));
    }
  }
  return std::move(builder).Build().value();
}

}  // namespace curator::dp
