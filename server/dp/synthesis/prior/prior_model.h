// A synthetic population as weights of public records, one set of weights for each group.
//
// Immutable and thread-safe. Holds 2 bytes for every record and group, and the records once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/coded_columns.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/prior/compact_weights.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// The records that share the codes of the key attributes.
struct PriorGroup {
  std::vector<uint32_t> key_codes;  // of PriorModelParts::keys
  int64_t records = 0;              // estimated, at least 1
  CompactWeights weights;           // of each record
};

struct PriorModelParts {
  AttributeSet modelled;           // the records' attributes; not empty
  AttributeSet keys;               // disjoint from those; empty without groups
  CodedColumns columns;            // of `modelled`
  bool is_full_domain = false;     // all cells in row-major order: then they need not be stored
  std::vector<PriorGroup> groups;  // at least one
  std::vector<std::string> transcript;
};

class PriorModel : public SynthesisModel {
 public:
  // Errors: DATA_LOSS when the groups have 2^63 records or more; CANCELLED as in Pacer.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Create(const Domain& domain, PriorModelParts parts,
                                                                Pacer& pacer);

  // The model that Serialize() wrote. Errors: DATA_LOSS for anything else.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain,
                                                                 std::string_view bytes);

  int64_t records() const override { return records_; }
  const AttributeSet& attributes() const override { return attributes_; }
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override;
  // Each record lies in a group with the probability of the group's share of all records.
  absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const override;
  std::string Serialize() const override;
  std::vector<std::string> Transcript() const override { return parts_.transcript; }

 private:
  PriorModel(const Domain& domain, PriorModelParts parts);
  absl::Status AddUp(Pacer& pacer);

  // The group and the record that two numbers, uniform in [0, 1), point at.
  std::pair<size_t, size_t> PointAt(double first, double second) const;

  PriorModelParts parts_;
  AttributeSet attributes_;
  std::vector<int64_t> sizes_;  // of each attribute of attributes_
  int64_t records_ = 0;
  std::vector<double> counts_;                   // of each record, in all groups together
  std::vector<int64_t> group_ends_;              // records in this group and those before
  std::vector<std::vector<double>> block_ends_;  // for each group, the weight up to the end of each block
};

}  // namespace curator::dp
