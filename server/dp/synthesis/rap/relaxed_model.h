// A synthetic population as relaxed rows: each row is a distribution over each attribute's values, and stands
// for equally many records.
//
// Immutable and thread-safe. In memory and stored, it takes 4 bytes for each row and value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/rap/relaxed_layout.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// `shares` in another layout of the same rows and attributes.
AlignedFloats Relaid(const RelaxedLayout& from, const AlignedFloats& shares, const RelaxedLayout& to);

// The same shares, each row's of an attribute divided by their sum, which is taken in double and in the order
// of the codes: sums of single precision drift for attributes of many values.
AlignedFloats Normalized(const RelaxedLayout& layout, AlignedFloats shares);

class RelaxedModel : public SynthesisModel {
 public:
  // `shares` fill the layout: not negative, and each row's of an attribute sum to 1 up to rounding.
  // records >= 1.
  RelaxedModel(const Domain& domain, RelaxedLayout layout, AlignedFloats shares, int64_t records,
               std::vector<std::string> transcript);

  // The model that Serialize() wrote. Errors: DATA_LOSS for anything else.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain,
                                                                 std::string_view bytes);

  // As Synthesizer::ReadingBytes().
  static absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes);

  int64_t records() const override { return records_; }
  const AttributeSet& attributes() const override { return layout_.attributes(); }

  // The average over the rows of the product of the columns: for at most kMostFactors attributes and
  // kMostModelCells cells.
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override;
  int64_t MarginalSteps(const AttributeSet& set) const override;

  // Randomised rounding: each record takes a row, all equally likely, and a value of each attribute from that
  // row's distribution. So every row is drawn equally often on average, and the marginals of
  // the records are those of the model up to sampling.
  absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const override;

  std::string Serialize() const override;
  std::vector<std::string> Transcript() const override { return transcript_; }

 private:
  Domain domain_;
  RelaxedLayout layout_;
  AlignedFloats shares_;
  int64_t records_;
  std::vector<std::string> transcript_;
};

// Of a model in this layout, in `stored` bytes.
MethodMemory RelaxedModelMemory(const RelaxedLayout& layout, int64_t stored);

inline constexpr int64_t kMostModelCells = int64_t{1} << 26;

}  // namespace curator::dp
