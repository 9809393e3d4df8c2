// How far apart neighbouring tables move the probabilities of a selection's choices, from exact scores: for
// tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "dp/accounting/units.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/units.h"

namespace curator::dp {

struct SelectionLoss {
  bool exceeds = false;  // a likelihood ratio of two choices certainly spans more than epsilon
  double largest = 0;    // of these spans
};

// Of every pair of choices on every pair of NeighboursInOneUnit(), when scores are divided by `range`.
// `scores_of`: the scores of all choices on a table, in steps of the lattice.
inline SelectionLoss LossOfSelection(
    const Domain& domain, const UnitBound& unit, Epsilon epsilon, int64_t range,
    const std::function<std::vector<int64_t>(const SealedTable&)>& scores_of) {
  const auto log_probabilities = [&](const Units& units) {
    const std::vector<int64_t> scores = scores_of(*SealUnits(domain, units));
    std::vector<Interval> result;
    for (size_t i = 0; i < scores.size(); ++i)
      result.push_back(SelectionLogProbability(scores, FactorForRange(epsilon, range), i));
    return result;
  };
  SelectionLoss loss;
  for (const NeighbouringUnits& pair : NeighboursInOneUnit(domain, unit, 20, 4)) {
    const std::vector<Interval> one = log_probabilities(pair.one);
    const std::vector<Interval> other = log_probabilities(pair.other);
    for (size_t i = 0; i < one.size(); ++i) {
      for (size_t j = 0; j < one.size(); ++j) {
        const Interval span = (one[i] - other[i]) - (one[j] - other[j]);
        loss.exceeds = loss.exceeds || span.CertainlyAbove(Interval::Of(epsilon));
        loss.largest = std::max(loss.largest, span.Upper());
      }
    }
  }
  return loss;
}

}  // namespace curator::dp
