// How much of what is measured where a request does not say: rules from public facts. Sums, products and
// square roots only, so that every machine finds the same.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/synthesis/dpsyn/view_choice.h"

namespace curator::dp {

// The number of records that is assumed where the request assumes none.
inline constexpr int64_t kViewGuessedRecords = 20'000;

// Above this PairNoise() of a design its pairs hold more noise than dependence between attributes, so that a
// few pairs are selected instead: a half (between Adult at epsilon 1 and at 10), and less of more than 14
// attributes, of which each depends on a smaller share of the others.
double MostPairNoise(size_t attributes);

// Pairs to select, and the share of the budget for the counts of single attributes beside them.
struct SelectionRule {
  int64_t selections = 0;  // 0: what is left for pairs is so little that single attributes should have it
  int64_t single_percent = 0;
};

// `whole` is what all views may cost together, `candidates` the pairs to select from. The number of pairs
// rises with the number of attributes, of which each depends on a few others, and slowly with the budget, as
// what more money finds is less and less dependent. No more are selected than leave the smallest with noise
// of a quarter of the records, and each selection able to find a strongly dependent pair among all. Where few
// of all pairs are measured, independence answers the others, so single attributes get up to 85% of the
// budget; they get less the larger the share of pairs that is measured.
SelectionRule RuleOfSelections(const Domain& domain, const AttributeSet& attributes,
                               const std::vector<AttributeSet>& candidates, const ViewBudget& whole,
                               double records, int64_t selection_percent);

}  // namespace curator::dp
