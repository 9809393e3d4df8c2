// What describes groups (a school's type and region), and how it goes with their mean response: a model of
// groups, not of records, from noisy numbers of groups.
//
// The model is over the attributes of groups and one more, the bin of the group's mean response. Bins divide
// the order of the means: groups in a bin that holds those between two shares of all have the effects between
// the same shares of the effects' distribution. So the effects of all groups have the distribution that was
// drawn for them, and a description's are as low or high among them as its means were.
//
// Models are immutable and thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"
#include "dp/noise/bit_source.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/group_marginals.h"
#include "dp/synthesis/models/clique_fit.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// What is counted of groups: each attribute with the bins of the mean, and pairs of attributes.
struct DescriptionPlan {
  AttributeSet attributes;  // at least one
  int64_t bins = 1;         // of the mean response
  std::vector<AttributeSet> pairs;
  NoiseSpec noise;           // of every count
  int64_t clique_cells = 0;  // of all cliques of the model
  int64_t measured = 0;      // cells of all marginals

  int64_t marginals() const { return std::ssize(attributes) + std::ssize(pairs); }
};

// An attribute with more codes is not counted: there are hardly more groups.
inline constexpr int64_t kMostCodesOfGroups = int64_t{1} << 16;

// The bins and pairs whose noise leaves something of about `groups` groups. `noise_of`: the noise of so many
// marginals. Errors: those of `noise_of`; INVALID_ARGUMENT for more cells than are counted or held.
absl::StatusOr<DescriptionPlan> PlanDescription(
    const Domain& domain, AttributeSet attributes, double groups,
    const std::function<absl::StatusOr<NoiseSpec>(int64_t marginals)>& noise_of);

// The memory of its fit and model, and the time of the fit in seconds.
MethodMemory DescriptionMemory(const Domain& domain, const DescriptionPlan& plan);
double DescriptionSeconds(const DescriptionPlan& plan);

class GroupDescription {
 public:
  // The domain of a model: the attributes in their order, then the bins.
  static Domain DomainOf(const Domain& domain, const AttributeSet& attributes, int64_t bins);

  // Draws what `plan` counts, where the mean's bins are `mean` and there are about `groups` groups, and fits
  // it. Adds lines to `transcript`. Errors: those of the kernel; CANCELLED as in Pacer.
  static absl::StatusOr<GroupDescription> Measure(const Domain& domain, const DescriptionPlan& plan,
                                                  const MeanBins& mean, const NoisyRecords& groups,
                                                  PrivateQueries& kernel, Pacer& pacer,
                                                  std::vector<std::string>& transcript);

  // Of a model over DomainOf(). Errors: INVALID_ARGUMENT for any other.
  static absl::StatusOr<GroupDescription> Create(AttributeSet attributes, int64_t bins,
                                                 std::unique_ptr<SynthesisModel> model);

  const AttributeSet& attributes() const { return attributes_; }
  int64_t bins() const { return bins_; }
  const SynthesisModel& model() const { return *model_; }

  // The share of groups in each cell of `set`, which is among the attributes; `by_mean`: in each cell by the
  // bins of the mean, which run fastest. Errors: those of the model.
  absl::StatusOr<std::vector<double>> Shares(const AttributeSet& set, bool by_mean) const;
  int64_t StepsOfShares(const AttributeSet& set, bool by_mean) const;

  // The share of groups in the bins below this one; of bins(): 1.
  double Below(size_t bin) const { return below_[bin]; }

 private:
  GroupDescription() = default;

  AttributeSet InModel(const AttributeSet& set, bool by_mean) const;

  AttributeSet attributes_;
  int64_t bins_ = 1;
  std::unique_ptr<SynthesisModel> model_;
  std::vector<double> below_;
};

// Groups of a description, one after another, in constant memory. Not thread-safe.
class DescribedGroups {
 public:
  // Of about `groups` groups. Both must outlive it.
  DescribedGroups(const GroupDescription& description, int64_t groups, BitSource& bits);

  // The codes of the next group's attributes, then its bin; valid until the next call. Errors: the model's.
  absl::StatusOr<std::span<const uint32_t>> Next();

  // Bytes, beside those of the model's Sample().
  static int64_t Bytes(int64_t attributes);

 private:
  const GroupDescription& description_;
  BitSource& bits_;
  int64_t at_once_;
  std::vector<uint32_t> codes_;
  size_t next_ = 0;
};

}  // namespace curator::dp
