// A synthetic population of groups: parameters that were drawn privately, noisy numbers of groups by size,
// and, where another method added further attributes, its model.
//
// Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/noise/bit_source.h"
#include "dp/synthesis/nested/group_description.h"
#include "dp/synthesis/nested/nested_settings.h"
#include "dp/synthesis/nested/uniform_doubles.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// The distribution of synthetic responses under given parameters, which are public: draws need accuracy, not
// exactness. Immutable and thread-safe. Normal: a member's code is that of the number nearest to mu + e.
// Binomial: code 1 with the group's probability.
class ResponseLaw {
 public:
  // `numbers` rise strictly. `edge` is that of the binomial model; 0 for the normal one.
  ResponseLaw(std::span<const double> numbers, double edge, const NestedParameters& parameters);

  // The share of each code among all members of all groups.
  std::vector<double> Shares() const;

  // The effect of a group: its mean, or its probability.
  double DrawEffect(UniformDoubles& uniform) const;
  // That which this share of groups lies below: from 0 to 1.
  double EffectAt(double share) const;
  // The shares of each code among the members of a group with this effect.
  std::vector<double> SharesGiven(double effect) const;
  uint32_t DrawCode(double effect, UniformDoubles& uniform) const;

 private:
  std::vector<double> SharesOfNormal(double mean, double deviation) const;

  std::vector<double> ends_;  // of each code but the last: halfway to the next
  double edge_;
  NestedParameters parameters_;
  std::vector<double> points_;      // of the binomial model
  std::vector<double> cumulative_;  // shares of those
};

// About `groups` groups with `least` to `most` records each.
struct SizeClass {
  int64_t least = 1;
  int64_t most = 1;
  double groups = 0;
};

// The non-negative numbers of groups nearest to the noisy ones, in squared error, among those with the same
// sum (at least one group). The last class reaches to `largest`.
std::vector<SizeClass> EstimateSizes(std::span<const int64_t> least_sizes, int64_t largest,
                                     std::span<const int64_t> noisy_counts);

// The same among those that hold about `records` records: where that number is known better than the classes,
// noise in a class of large groups does not add thousands of records.
std::vector<SizeClass> EstimateSizesOf(double records, std::span<const int64_t> least_sizes, int64_t largest,
                                       std::span<const int64_t> noisy_counts);

double GroupsIn(std::span<const SizeClass> classes);
double RecordsIn(std::span<const SizeClass> classes);

struct NestedModelParts {
  uint32_t response = 0;
  std::vector<double> numbers;          // that its codes stand for
  double edge = 0;                      // of the binomial model; 0 for the normal one
  std::vector<NestedParameters> draws;  // at least one
  std::vector<SizeClass> sizes;         // at least one group
  std::string joined_method;            // empty where no other attributes are covered
  std::unique_ptr<SynthesisModel> joined;
  std::optional<GroupDescription> description;  // of groups, by attributes that the joined model covers, too
  std::vector<std::string> transcript;
};

// Synthetic groups take the drawn parameters in turn. Other attributes are drawn given the record's response
// code, from the joined model's records with this response (or the nearest that it has); a marginal of them
// is the joined model's, given the response, with the response distributed as here.
//
// Where groups have a description, all records of a group share it, and take their other attributes from
// records of the joined model that have it, too. A marginal of attributes of groups, or of these and the
// response, is then that of groups; one that has others as well is the joined model's.
class NestedModel : public SynthesisModel {
 public:
  NestedModel(const Domain& domain, NestedModelParts parts);

  // The model that Serialize() wrote, whose joined model one of `joinable` wrote. Errors: DATA_LOSS for
  // anything else.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain, std::string_view bytes,
                                                                 std::span<const Synthesizer* const> joinable,
                                                                 Pacer& pacer);

  // As Synthesizer::ReadingBytes().
  static absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes,
                                              std::span<const Synthesizer* const> joinable);

  int64_t records() const override { return records_; }
  const AttributeSet& attributes() const override { return attributes_; }
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override;
  int64_t MarginalSteps(const AttributeSet& set) const override;
  absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const override;
  bool DrawsGroups() const override { return true; }
  absl::Status SampleGroups(BitSource& bits, int64_t rows, const GroupedRecordSink& sink) const override;
  std::string Serialize() const override;
  std::vector<std::string> Transcript() const override { return parts_.transcript; }

 private:
  class GroupDraws;

  // The joined model's counts of `set`, which has the response, scaled response by response to ours.
  absl::StatusOr<std::vector<double>> WithOurResponses(const AttributeSet& set) const;
  // Counts of `set`, which is of attributes of groups and the response, from the description.
  absl::StatusOr<std::vector<double>> OfGroups(const AttributeSet& set) const;
  bool IsOfGroups(const AttributeSet& set) const;
  // The share of each code in each bin of the description, bin by bin.
  std::vector<double> SharesByBin() const;
  int64_t DrawSize(UniformDoubles& uniform) const;

  Domain domain_;
  NestedModelParts parts_;
  AttributeSet attributes_;
  int64_t records_ = 1;
  std::vector<ResponseLaw> laws_;   // of each draw
  std::vector<double> shares_;      // of each code of the response
  std::vector<double> group_ends_;  // numbers of groups in this class and all before it
};

// Of a model of `draws` draws over a response of `codes` codes, in `stored` bytes, whose joined model takes
// `joined` to be read, and whose description of groups takes `description` to be read; none without one.
MethodMemory NestedModelMemory(const Domain& domain, int64_t codes, int64_t draws, int64_t stored,
                               int64_t joined, std::optional<int64_t> description);

}  // namespace curator::dp
