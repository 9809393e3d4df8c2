// What the kernel released, draw by draw, before any post-processing: each operator's public question and its
// noisy answer.
//
// A transcript is exactly what a claim is about, so it holds nothing that is not released. Thread-safe: plain
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/kernel/utility/utility.h"
#include "dp/workload/linear_queries.h"
#include "dp/workload/noise_spec.h"

namespace curator::dp {

// A candidate of a selection: a marginal, a public estimate of its cells (in the order of the marginal's
// cells) and a public handicap. All finite.
struct ApproximatedMarginal {
  AttributeSet attributes;
  std::vector<double> estimate;
  double penalty = 0;

  bool operator==(const ApproximatedMarginal&) const = default;
};

// A candidate of a selection: a group of queries, a public estimate of each of their answers, how a group's
// error is measured, and a public handicap. All numbers finite.
enum class GroupError { kSum, kLargest };  // of the absolute errors of its answers
struct ApproximatedGroup {
  QueryGroup group;
  std::vector<double> estimate;
  double penalty = 0;
  GroupError error = GroupError::kSum;

  bool operator==(const ApproximatedGroup&) const = default;
};

// Candidates of a selection over one table, in compact form: the marginal as a whole where the group asks for
// every cell, else each query of the group by itself. A public estimate of each answer of the group, and one
// public handicap for each candidate. All numbers finite.
//
// Where `at_least` is not 0, the group asks for every cell, and each cell y is a candidate by itself: the
// number of records that share at least so many of its values (dp/workload/threshold_counts.h).
struct CandidateFamily {
  QueryGroup group;
  std::vector<double> estimate;
  double penalty = 0;
  // Which of them are no candidates (any more), rising: queries of the group, or 0 for a whole marginal.
  std::vector<int64_t> excluded = {};
  int64_t at_least = 0;

  bool operator==(const CandidateFamily&) const = default;
};

// A candidate of families: the query `query` of the family at that position, or (0) its whole marginal.
struct FamilyChoice {
  size_t family = 0;
  size_t query = 0;
  bool operator==(const FamilyChoice&) const = default;
};

struct CountsDraw {
  std::vector<AttributeSet> marginals;
  NoiseSpec noise;
  std::vector<std::vector<int64_t>> values;
};
struct QueriesDraw {
  std::vector<QueryGroup> groups;
  NoiseSpec noise;
  std::vector<std::vector<int64_t>> values;
};
struct RecordCountDraw {
  NoiseSpec noise;
  int64_t value = 0;
};
struct SelectionDraw {
  std::vector<ApproximatedMarginal> candidates;
  Epsilon epsilon;
  size_t selected = 0;
};

struct GroupSelectionDraw {
  std::vector<ApproximatedGroup> candidates;
  Epsilon epsilon;
  size_t selected = 0;
};
struct FamilySelectionDraw {
  std::vector<CandidateFamily> families;
  Epsilon epsilon;
  FamilyChoice selected;
};
struct UtilityDraw {
  Utility utility;
  std::vector<double> bonuses;
  Epsilon epsilon;
  size_t selected = 0;
};
struct GroupSizesDraw {
  GroupRole role = GroupRole::kUnit;
  std::vector<int64_t> least_sizes;
  NoiseSpec noise;
  std::vector<int64_t> values;
};

using Draw = std::variant<CountsDraw, QueriesDraw, RecordCountDraw, SelectionDraw, GroupSelectionDraw,
                          FamilySelectionDraw, UtilityDraw, GroupSizesDraw>;
using Transcript = std::vector<Draw>;

}  // namespace curator::dp
