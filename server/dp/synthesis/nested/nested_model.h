// A synthetic population of groups: parameters that were drawn privately, noisy numbers of groups by size,
// and, where another method added further attributes, its model.
//
// Immutable and thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/nested/nested_settings.h"
#include "dp/synthesis/nested/response_law.h"
#include "dp/synthesis/nested/size_classes.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

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

// Groups get the draws of parameters in turn. Other attributes are drawn given the record's response code,
// from the joined model's records with this response (or the nearest that it has); a marginal of them is the
// joined model's, given the response, with the response distributed as here.
class NestedModel : public SynthesisModel {
 public:
  NestedModel(const Domain& domain, NestedModelParts parts);

  // The model that Serialize() wrote. Errors: DATA_LOSS for anything else.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain,
                                                                 std::string_view bytes);

  int64_t records() const override { return records_; }
  const AttributeSet& attributes() const override { return attributes_; }
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override;
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
  std::vector<double> group_ends_;  // numbers of groups in this class and those before
};

}  // namespace curator::dp
