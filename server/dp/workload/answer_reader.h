// Reads the answers of query groups from measured values, one group after another.
//
// What a group is answered from takes many steps: the sums of a marginal's cells over fewer attributes, and a
// tree with its estimates of the bins. It is made once for groups of one measurement that follow one another
// over the same attributes, in whatever sets they lie.
//
// Not thread-safe. The same groups get the same answers in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/product_queries.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/half_widths.h"
#include "dp/workload/interval_tree.h"
#include "dp/workload/measurement.h"
#include "dp/workload/residual/parity_reader.h"

namespace curator::dp {

// Answers are whole numbers (sums of measured values), or estimates. One of the two is filled.
struct GroupAnswers {
  std::vector<int64_t> counts;
  std::vector<double> estimates;
  bool operator==(const GroupAnswers&) const = default;
};

// The errors of groups that are answered from measured ones, of every strategy but kResidual. Not
// thread-safe.
class MeasuredErrors {
 public:
  // Holds references to both.
  MeasuredErrors(const Domain& domain, std::span<const QueryGroup> measured)
      : domain_(domain), measured_(measured) {}

  // One for each answer of `group`, which the measured group at `source` answers under `plan`, or a single
  // one that holds for all.
  std::vector<AnswerError> Of(const QueryGroup& group, const SetPlan& plan, size_t source);

  // Under kParity: the measured groups as parities, and the weights of the values in each cell of a whole
  // marginal; null for other queries. Both live as long as this, and the weights as long as the group.
  const ParityReader& parities();
  EstimateWeights WeightsOf(const QueryGroup& group);

 private:
  const Domain& domain_;
  const std::span<const QueryGroup> measured_;
  std::optional<ParityReader> parities_;  // once they were needed
};

class AnswerReader {
 public:
  // Holds references to all of these. `values` has those of each measured group.
  AnswerReader(const Domain& domain, std::span<const QueryGroup> measured,
               std::span<const std::vector<int64_t>> values)
      : domain_(domain), measured_(measured), values_(values), errors_(domain, measured) {}

  // The answers of `group`, which the measured group at `source` answers under `plan`.
  GroupAnswers AnswersOf(const QueryGroup& group, const SetPlan& plan, size_t source);

  // Their errors, as MeasuredErrors::Of().
  std::vector<AnswerError> ErrorsOf(const QueryGroup& group, const SetPlan& plan, size_t source);

  // The weights of the measured values in an estimate with one of these errors; null under plans that only
  // add measured values up, and where they are not known. Valid until another group is read.
  EstimateWeights WeightsOf(const QueryGroup& group, const SetPlan& plan, size_t source);

  // The measured values that were summed or estimated from so far, each as often as it was.
  int64_t steps() const { return steps_; }

 private:
  // What the groups over `attributes` are answered from. What `strategy` does not need is empty.
  struct Table {
    Strategy strategy = Strategy::kDirect;
    int64_t branching = 0;
    AttributeSet attributes;
    std::vector<int64_t> sums;
    std::optional<IntervalTree> tree;
    std::vector<double> estimates;
  };
  const Table& TableFor(const AttributeSet& attributes, const SetPlan& plan, size_t source);

  const Domain& domain_;
  const std::span<const QueryGroup> measured_;
  const std::span<const std::vector<int64_t>> values_;
  MeasuredErrors errors_;
  std::map<size_t, Table> tables_;  // the last one of each measured group
  int64_t steps_ = 0;
};

// The steps() of reading all groups of `asked` in order. Post-processing reads whole marginals once more.
// From public facts: the values are not needed.
int64_t ReadingSteps(const Domain& domain, std::span<const AskedSet> asked, std::span<const SetPlan> plans,
                     std::span<const QueryGroup> measured);

// The same of groups that are read from residuals (residual/residual_reader.h).
int64_t ResidualReadingSteps(const Domain& domain, std::span<const AskedSet> asked,
                             const ProductQueries& queries);

}  // namespace curator::dp
