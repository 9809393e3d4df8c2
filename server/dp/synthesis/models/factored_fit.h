// Weights over a domain too large to hold, as a product over components: sets of attributes that measured
// queries have joined (Hardt, Ligett, McSherry 2012, section 4). Attributes of different components are
// independent, and untouched ones uniform, in the multiplicative weights of these queries; so memory depends
// on what was measured, not on the domain. With one component over all attributes this is the dense form.
//
// Each component is fitted to the noisy number of records on its own.
//
// Not thread-safe. Everything here is a function of public noisy answers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/models/product_fit.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// A noisy number of records.
struct NoisyRecords {
  double answer = 0;
  double standard_deviation = 1;
};

class FactoredFit {
 public:
  // Without components: uniform. `domain` must outlive it. `max_cells`: of all components' tables together.
  FactoredFit(const Domain& domain, NoisyRecords records, int64_t max_cells);

  // Whether a measurement over `set` would leave the tables within max_cells. Once it would not, it
  // never will again.
  bool Fits(const AttributeSet& set) const;

  // Makes the set's attributes part of one component; nothing changes but the form. Errors: INVALID_ARGUMENT
  // when it does not fit, or for a set that is not valid; CANCELLED as in Pacer.
  absl::Status Join(const AttributeSet& set, Pacer& pacer);

  // Adds a measurement, which counts from the next replay on. Errors: those of Join().
  absl::Status Add(NoisyAnswers measurement, Pacer& pacer);

  // Replays in every component, or in those with measurements since its last replay.
  enum class Which { kAll, kWithNewMeasurements };
  struct Outcome {
    Replayed replayed;     // the most sweeps and the largest move of all components
    AttributeSet changed;  // the attributes of the components that were replayed
  };
  absl::StatusOr<Outcome> Replay(const ReplayRule& rule, Which which, Pacer& pacer);

  // Estimated counts of the cells of each set, row-major, as of the last replay. Sums of components are
  // cached until they change. Errors: INVALID_ARGUMENT for a set of more than 2^26 cells; CANCELLED as in
  // Pacer.
  absl::StatusOr<std::vector<std::vector<double>>> Marginals(std::span<const AttributeSet> sets,
                                                             Pacer& pacer);

  // The number of records: the mean of the components' weights, the noisy answer without components.
  double records() const;

  // The factors of each component, in the order in which the components were made.
  struct Part {
    AttributeSet attributes;
    double base = 1;
    std::vector<LogFactor> factors;
  };
  std::vector<Part> parts() const;

 private:
  struct Component {
    explicit Component(DenseLayout table) : layout(std::move(table)) {}

    DenseLayout layout;
    std::unique_ptr<ProductFit> fit;
    double total = 0;  // of the weights
    bool has_new_measurements = true;
    std::map<AttributeSet, std::vector<double>> sums;  // of the weights, by set
  };
  using SetOfComponents = std::vector<size_t>;

  // Positions in components_ of those that have attributes of `set`, rising.
  SetOfComponents Touched(const AttributeSet& set) const;
  AttributeSet JoinedAttributes(const AttributeSet& set, const SetOfComponents& touched) const;
  absl::Status CacheSums(Component& component, const std::vector<AttributeSet>& sets, Pacer& pacer);
  absl::StatusOr<std::vector<double>> Assemble(const AttributeSet& set, Pacer& pacer) const;
  absl::Status Retotal(Component& component, Pacer& pacer) const;

  static constexpr int32_t kNone = -1;

  const Domain& domain_;
  const NoisyRecords count_;
  const int64_t max_cells_;
  int64_t cells_ = 0;  // of all components
  std::vector<std::unique_ptr<Component>> components_;
  std::vector<int32_t> component_of_;  // of each attribute of the domain: a position in components_, or kNone
};

// The tables that a workload can make, by public structure alone: its sets join attributes into components.
// No table has more cells than `largest`, nor have all of them together more than `all`, both at most
// `max_cells`.
struct ComponentCells {
  int64_t largest = 1;
  int64_t all = 0;
};
ComponentCells CellsOfComponents(const Domain& domain, std::span<const AttributeSet> sets, int64_t max_cells);

}  // namespace curator::dp
