// A synthetic population as a product over the cliques of a junction tree.
//
// Immutable and thread-safe. Holds 4 bytes for every cell of every clique; only the factors are stored.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/clique_tables.h"
#include "dp/synthesis/models/clique_tree.h"
#include "dp/synthesis/models/product_component.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Everything that a model is made of.
struct CliqueModelParts {
  AttributeSet attributes;
  int64_t records = 1;
  CliqueTree tree;
  std::vector<LogFactor> factors;  // each within a clique
  std::vector<std::string> transcript;

  bool operator==(const CliqueModelParts&) const = default;
};

class CliqueModel : public SynthesisModel {
 public:
  // Where every weight vanishes (answers that deny all cells: an empty table), the model is uniform.
  // Errors: INVALID_ARGUMENT for parts that do not fit `domain`; CANCELLED as in Pacer.
  static absl::StatusOr<std::unique_ptr<SynthesisModel>> Create(const Domain& domain, CliqueModelParts parts,
                                                                Pacer& pacer);

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
  CliqueModel(Domain domain, CliqueModelParts parts) : domain_(std::move(domain)), parts_(std::move(parts)) {}

  Domain domain_;
  CliqueModelParts parts_;
  std::unique_ptr<CliqueTables> tables_;
};

// Of a model whose cliques have `cells` cells together, in `stored` bytes, `factors` of them evaluated at
// once.
MethodMemory CliqueModelMemory(const Domain& domain, const AttributeSet& attributes, int64_t cells,
                               int64_t stored);

}  // namespace curator::dp
