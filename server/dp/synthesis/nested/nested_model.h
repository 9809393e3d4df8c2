// A synthetic population of groups: parameters that were drawn privately, noisy numbers of groups by size,
// and, where another method added further attributes, its model.
//
// Immutable and thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/noise/bit_source.h"
#include "dp/synthesis/nested/nested_settings.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Doubles, uniform in [0, 1), from blocks of words. Not thread-safe.
class UniformDoubles {
 public:
  explicit UniformDoubles(BitSource& bits) : bits_(bits) {}
  double Next();
  double NextNormal();  // of mean 0 and variance 1
  size_t Below(size_t count) {
    return std::min(count - 1, static_cast<size_t>(Next() * static_cast<double>(count)));
  }

 private:
  BitSource& bits_;
  std::array<uint64_t, 256> words_{};
  size_t next_ = words_.size();
};

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
  uint32_t DrawCode(double effect, UniformDoubles& uniform) const;

 private:
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
  std::vector<std::string> transcript;
};

// Synthetic groups take the drawn parameters in turn. Other attributes are drawn given the record's response
// code, from the joined model's records with this response (or the nearest that it has); a marginal of them
// is the joined model's, given the response, with the response distributed as here.
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
  // The joined model's counts of `set`, which has the response, scaled response by response to ours.
  absl::StatusOr<std::vector<double>> WithOurResponses(const AttributeSet& set) const;
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
// `joined` to be read.
MethodMemory NestedModelMemory(const Domain& domain, int64_t codes, int64_t draws, int64_t stored,
                               int64_t joined);

}  // namespace curator::dp
