// Marginals over attributes of two codes each, and queries over their cells, read from measured parities.
//
// The parity y_B of a set B of such attributes is the sum of (-1)^(the codes over B, added up) over all
// records; that of no attributes is the number of records. A cell x of the marginal over A is
//
//   2^-|A| times the sum over the subsets B of A of (-1)^(the codes of x over B, added up) y_B
//
// (the inverse of the Walsh-Hadamard transform). Every parity is measured as W_B y_B, with a weight W_B that
// is a whole number, and noise X_B of one distribution for all. So all cells of a marginal have errors of one
// distribution, that of 2^-|A| times the sum of X_B / W_B: noise is symmetric. Any other query over the cells
// is 2^-|A| times the sum over B of q_B y_B, where q_B is the same transform of its weights.
//
// Source: Barak, Chaudhuri, Dwork, Kale, McSherry, Talwar 2007, with equal weights.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/measurement.h"
#include "dp/workload/noise_combination.h"
#include "dp/workload/residual/set_positions.h"

namespace curator::dp {

// What is measured of `set`, rising: Parity, or the number of records, of no attributes, as a query over
// `attribute`.
QueryGroup ParityGroup(const AttributeSet& set, int32_t weight, uint32_t attribute);

// Immutable: thread-safe.
class ParityReader {
 public:
  // None unless `measured` are the parities of distinct attribute sets, with each set all of its subsets,
  // each as ParityGroup() has it.
  static std::optional<ParityReader> Create(std::span<const QueryGroup> measured);

  // Whether the group is of queries over the cells of a marginal whose attributes' parity was measured.
  bool CanRead(const QueryGroup& group) const;

  // The position among the measured groups of the parity of a marginal that can be read.
  uint32_t PositionOf(const AttributeSet& marginal) const;

  // Of each cell of a marginal that can be read: its error, and the weights of the measured values in it,
  // Compacted().
  AnswerError ErrorOfCells(const AttributeSet& marginal) const;
  std::vector<WeightedValues> WeightsInCells(const AttributeSet& marginal) const;

  // The errors of the answers of a group that can be read: one for each, or one for all cells. Takes, for
  // each subset of its attributes, what answering it from its marginal takes.
  std::vector<AnswerError> ErrorsOf(const Domain& domain, const QueryGroup& group) const;

  // Its answers. `values` has one list of one value for each measured group.
  std::vector<double> AnswersOf(const Domain& domain, const QueryGroup& group,
                                std::span<const std::vector<int64_t>> values) const;

 private:
  ParityReader(SetPositions positions, std::vector<double> weights)
      : positions_(std::move(positions)), weights_(std::move(weights)) {}

  SetPositions positions_;       // of the parities
  std::vector<double> weights_;  // W_B
};

}  // namespace curator::dp
