// A synthetic population as weights of public records, one set of weights for each group.
//
// Immutable and thread-safe. Holds 2 bytes for every record and group, and the records once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/coded_columns.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Weights in two bytes each: a fraction of 11 bits and an exponent of 5, relative to the largest one.
//
// Their relative error is at most 2^-12, and what is below 2^-31 of the largest is 0. A model is made of the
// rounded weights, so that a stored one is the same model to the last bit. Immutable and thread-safe.
class CompactWeights {
 public:
  // Weights >= 0. All are equal where none is positive.
  explicit CompactWeights(std::span<const double> weights);

  // The weights that Bytes() wrote. DATA_LOSS for another number of them than `size`, or where all are 0.
  static absl::StatusOr<CompactWeights> FromBytes(std::string_view bytes, size_t size);
  std::string Bytes() const;

  size_t size() const { return codes_.size(); }
  double total() const { return total_; }  // of the weights relative to the largest
  double operator[](size_t i) const { return WeightOf(codes_[i]); }

 private:
  CompactWeights() = default;
  static double WeightOf(uint16_t code);
  void AddUp();

  std::vector<uint16_t> codes_;
  double total_ = 0;
};

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
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain, std::string_view bytes,
                                                                 Pacer& pacer);

  // As Synthesizer::ReadingBytes().
  static absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes);

  int64_t records() const override { return records_; }
  const AttributeSet& attributes() const override { return attributes_; }
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override;
  int64_t MarginalSteps(const AttributeSet& set) const override;
  // Each record lies in a group with the probability of the group's share of all records.
  absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const override;
  std::string Serialize() const override;
  std::vector<std::string> Transcript() const override { return parts_.transcript; }

 private:
  PriorModel(const Domain& domain, PriorModelParts parts);
  absl::Status AddUp(Pacer& pacer);

  // The group and the record that two numbers, uniform in [0, 1), select.
  std::pair<size_t, size_t> PointAt(double first, double second) const;

  PriorModelParts parts_;
  AttributeSet attributes_;
  std::vector<int64_t> sizes_;  // of each attribute of attributes_
  int64_t records_ = 0;
  std::vector<double> counts_;                   // of each record, in all groups together
  std::vector<int64_t> group_ends_;              // records in this group and all before it
  std::vector<std::vector<double>> block_ends_;  // for each group, the weight up to the end of each block
};

// Of a model of `records` records over `modelled`, weighted in `groups` groups, in `stored` bytes.
MethodMemory PriorModelMemory(const Domain& domain, const AttributeSet& modelled, int64_t records,
                              int64_t groups, int64_t stored);

// Bytes of the codes of one record over `attributes`.
int64_t BytesOfCodes(const Domain& domain, const AttributeSet& attributes);

}  // namespace curator::dp
