// A synthetic population as independent parts: a dense product over each of some disjoint sets of attributes,
// and uniform over each attribute of none of them.
//
// Immutable and thread-safe. Holds 4 bytes for every cell of every part; only the factors are stored.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/models/product_component.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

struct FactoredPart {
  AttributeSet attributes;
  ProductComponent product;

  bool operator==(const FactoredPart&) const = default;
};

// Everything that a model is made of. The parts are disjoint and within `attributes`.
struct FactoredModelParts {
  AttributeSet attributes;
  int64_t records = 1;
  std::vector<FactoredPart> parts;
  std::vector<std::string> transcript;

  bool operator==(const FactoredModelParts&) const = default;
};

class FactoredModel : public SynthesisModel {
 public:
  // A part whose weights all vanish is uniform. Errors: INVALID_ARGUMENT for parts that do not fit `domain`,
  // overlap, or have more than 2^26 cells together; CANCELLED as in Pacer.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Create(const Domain& domain,
                                                                FactoredModelParts parts, Pacer& pacer);

  // Whether the bytes claim to be such a model.
  static bool Wrote(std::string_view bytes);

  // The model that Serialize() wrote. Errors: DATA_LOSS for anything else.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain, std::string_view bytes,
                                                                 Pacer& pacer);

  // As Synthesizer::ReadingBytes().
  static absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes);

  int64_t records() const override { return parts_.records; }
  const AttributeSet& attributes() const override { return parts_.attributes; }
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override;
  int64_t MarginalSteps(const AttributeSet& set) const override;
  absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const override;
  std::string Serialize() const override;
  std::vector<std::string> Transcript() const override { return parts_.transcript; }

 private:
  struct Table {
    DenseLayout layout;
    std::vector<float> weights;
    double total = 1;  // of the weights
  };

  FactoredModel(Domain domain, FactoredModelParts parts, std::vector<Table> tables);

  Domain domain_;
  FactoredModelParts parts_;
  std::vector<Table> tables_;  // of each part
  AttributeSet untouched_;     // the attributes of none of them
};

}  // namespace curator::dp
