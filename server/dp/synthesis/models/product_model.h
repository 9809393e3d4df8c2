// A synthetic population as dense weights that are an average of products of marginals' factors.
//
// Immutable and thread-safe. Holds 4 bytes for every cell; only the factors are stored.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/models/product_component.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// No dense table has more cells.
inline constexpr int64_t kMostDenseCells = int64_t{1} << 26;

// Everything that a model is made of.
struct ProductModelParts {
  AttributeSet attributes;
  int64_t records = 1;
  std::vector<ProductComponent> components;  // equally weighted; at least one
  std::vector<std::string> transcript;

  bool operator==(const ProductModelParts&) const = default;
};

class ProductModel : public SynthesisModel {
 public:
  // Where every weight vanishes (answers that deny all cells: an empty table), the model is uniform.
  // Errors: INVALID_ARGUMENT for parts that do not fit `domain`; CANCELLED as in Pacer.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Create(const Domain& domain, ProductModelParts parts,
                                                                Pacer& pacer);

  // The model that Serialize() wrote. Errors: DATA_LOSS for anything else.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain, std::string_view bytes,
                                                                 Pacer& pacer);

  // As Synthesizer::ReadingBytes().
  static absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes);

  int64_t records() const override { return parts_.records; }
  const AttributeSet& attributes() const override { return layout_.attributes(); }
  absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const override;
  int64_t MarginalSteps(const AttributeSet& set) const override;
  absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const override;
  std::string Serialize() const override;
  std::vector<std::string> Transcript() const override { return parts_.transcript; }

 private:
  ProductModel(ProductModelParts parts, DenseLayout layout, std::vector<float> weights, double total);

  ProductModelParts parts_;
  DenseLayout layout_;
  std::vector<float> weights_;
  double total_;  // of the weights
};

// Of a model of `attributes` with tables of `cells` cells, at `of_a_cell` bytes each, and `factors` factors
// that are evaluated at once, in `stored` bytes.
MethodMemory DenseModelMemory(const Domain& domain, const AttributeSet& attributes, int64_t cells,
                              int64_t of_a_cell, int64_t factors, int64_t stored);

}  // namespace curator::dp
