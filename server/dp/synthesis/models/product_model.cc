#include "dp/synthesis/models/product_model.h"

#include <algorithm>
#include <utility>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "dp/domain/row_major.h"
#include "dp/synthesis/models/alias_table.h"
#include "dp/synthesis/models/dense_layout.h"

namespace curator::dp {
namespace {

constexpr std::string_view kProductTag = "curator.product_model";
constexpr int64_t kProductVersion = 1;

absl::StatusOr<std::vector<float>> AverageWeights(const DenseLayout& layout,
                                                  const std::vector<ProductComponent>& components,
                                                  Pacer& pacer) {
  ASSIGN_OR_RETURN(std::vector<float> weights, WeightsOf(layout, components.front(), pacer));
  if (components.size() == 1) return weights;
  std::vector<double> sums(weights.begin(), weights.end());
  for (size_t i = 1; i < components.size(); ++i) {
    ASSIGN_OR_RETURN(weights, WeightsOf(layout, components[i], pacer));
    RETURN_IF_ERROR(pacer.InPieces(weights.size(), [&](size_t start, size_t length) {
      AddBlock(std::span<const float>(weights).subspan(start, length),
               std::span(sums).subspan(start, length));
    }));
  }
  for (size_t cell = 0; cell < sums.size(); ++cell) {
    weights[cell] = static_cast<float>(sums[cell] / static_cast<double>(components.size()));
  }
  return weights;
}

}  // namespace

ProductModel::ProductModel(ProductModelParts parts, DenseLayout layout, std::vector<float> weights,
                           double total)
    : parts_(std::move(parts)), layout_(std::move(layout)), weights_(std::move(weights)), total_(total) {}

absl::StatusOr<std::unique_ptr<SynthesisModel>> ProductModel::Create(const Domain& domain,
                                                                     ProductModelParts parts, Pacer& pacer) {
  if (parts.components.empty() || parts.records < 1) {
    return absl::InvalidArgumentError("a model has at least one component and one record");
  }
  ASSIGN_OR_RETURN(DenseLayout layout, DenseLayout::Create(domain, parts.attributes, kMostDenseCells));
  ASSIGN_OR_RETURN(std::vector<float> weights, AverageWeights(layout, parts.components, pacer));
  ASSIGN_OR_RETURN(const DenseMarginal whole, DenseMarginal::Create(layout, {}, pacer));
  ASSIGN_OR_RETURN(const std::vector<double> sums, whole.Sum(weights, pacer));
  double total = sums[0];
  if (!(total > 0)) {
    weights.assign(weights.size(), 1.0F);
    total = static_cast<double>(weights.size());
  }
  return std::unique_ptr<SynthesisModel>(
      new ProductModel(std::move(parts), std::move(layout), std::move(weights), total));
}

absl::StatusOr<std::vector<double>> ProductModel::Marginal(const AttributeSet& set) const {
  Pacer pacer{std::stop_token()};
  ASSIGN_OR_RETURN(const DenseMarginal marginal, DenseMarginal::Create(layout_, set, pacer));
  ASSIGN_OR_RETURN(std::vector<double> counts, marginal.Sum(weights_, pacer));
  const double scale = static_cast<double>(parts_.records) / total_;
  for (double& count : counts) count *= scale;
  return counts;
}

int64_t ProductModel::MarginalSteps(const AttributeSet& set) const {
  return DenseMarginal::StepsToSum(layout_, set);
}

absl::Status ProductModel::Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const {
  if (rows < 0) return absl::InvalidArgumentError("the number of rows must not be negative");
  const AliasTable cells(weights_);
  std::vector<uint32_t> codes(layout_.sizes().size());
  AliasSampler sampler(cells, bits, rows);
  for (int64_t row = 0; row < rows; ++row) {
    CodesOfCell(layout_.sizes(), sampler.Draw(), codes);
    RETURN_IF_ERROR(sink(codes));
  }
  return absl::OkStatus();
}

std::string ProductModel::Serialize() const {
  CanonicalWriter writer(kProductTag, kProductVersion);
  WriteSet(writer, parts_.attributes);
  for (const int64_t size : layout_.sizes()) writer.Integer(size);
  writer.Integer(parts_.records);
  writer.Integer(static_cast<int64_t>(parts_.components.size()));
  for (const ProductComponent& component : parts_.components) WriteComponent(writer, component);
  WriteLines(writer, parts_.transcript);
  return std::move(writer).Take();
}

namespace {

absl::StatusOr<ProductModelParts> ReadProduct(const Domain& domain, std::string_view bytes) {
  CanonicalReader reader(bytes, kProductTag, kProductVersion);
  ProductModelParts parts;
  parts.attributes = ReadSetThenSizes(reader, domain);
  parts.records = reader.Integer();
  const int64_t components = reader.Count();
  for (int64_t i = 0; i < components && reader.ok(); ++i)
    parts.components.push_back(ReadComponent(reader, domain));
  parts.transcript = ReadLines(reader);
  RETURN_IF_ERROR(reader.Finish());
  return parts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SynthesisModel>> ProductModel::Restore(const Domain& domain,
                                                                      std::string_view bytes, Pacer& pacer) {
  ASSIGN_OR_RETURN(ProductModelParts parts, ReadProduct(domain, bytes));
  RETURN_IF_ERROR(pacer.Check());
  auto model = Create(domain, std::move(parts), pacer);
  if (!model.ok() && !absl::IsCancelled(model.status()))
    return absl::DataLossError("the stored model does not fit its domain");
  return model;
}

absl::StatusOr<int64_t> ProductModel::ReadingBytes(const Domain& domain, std::string_view bytes) {
  ASSIGN_OR_RETURN(const ProductModelParts parts, ReadProduct(domain, bytes));
  const int64_t cells = CellsUpTo(domain, parts.attributes, kMostDenseCells);
  size_t factors = 0;
  for (const ProductComponent& component : parts.components)
    factors = std::max(factors, component.factors.size());
  // An average holds sums and the next component's weights beside its own.
  const int64_t of_a_cell = parts.components.size() > 1 ? 16 : 4;
  return ReadingBytesOf(DenseModelMemory(domain, parts.attributes, cells, of_a_cell,
                                         static_cast<int64_t>(factors), std::ssize(bytes)));
}

MethodMemory DenseModelMemory(const Domain& domain, const AttributeSet& attributes, int64_t cells,
                              int64_t of_a_cell, int64_t factors, int64_t stored) {
  int64_t largest = 1;
  int64_t all = 0;  // values of attributes, of which the untouched ones are tables by themselves
  for (const uint32_t attribute : attributes) {
    const int64_t size = domain.attributes()[attribute].size();
    largest = std::max(largest, size);
    all += size;
  }
  const int64_t index = (factors + 1) * IndexBytes(cells, largest);
  return {.working = 0,
          .model = of_a_cell * cells + 2 * stored,
          .stored = stored,
          .sampling = std::max(index, kAliasBytes * cells + (kAliasBytes + 4) * all)};
}

}  // namespace curator::dp
