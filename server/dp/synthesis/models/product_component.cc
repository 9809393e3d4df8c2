#include "dp/synthesis/models/product_component.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

double ReadFinite(CanonicalReader& reader) {
  const double value = reader.Real();
  if (!std::isfinite(value)) reader.Refuse();
  return value;
}

}  // namespace

absl::StatusOr<std::vector<float>> WeightsOf(const DenseLayout& layout, const ProductComponent& component,
                                             Pacer& pacer) {
  std::vector<DenseMarginal> marginals;
  for (const LogFactor& factor : component.factors) {
    ASSIGN_OR_RETURN(DenseMarginal marginal, DenseMarginal::Create(layout, factor.set, pacer));
    if (marginal.cells() != static_cast<int64_t>(factor.logarithms.size())) {
      return absl::InvalidArgumentError("a factor has not one value for each cell of its marginal");
    }
    marginals.push_back(std::move(marginal));
  }
  return ProductWeights(layout, component.base, component.factors, marginals, pacer);
}

void WriteSet(CanonicalWriter& writer, const AttributeSet& set) {
  writer.Integer(static_cast<int64_t>(set.size()));
  for (const uint32_t attribute : set) writer.Integer(attribute);
}

void WriteComponent(CanonicalWriter& writer, const ProductComponent& component) {
  writer.Real(component.base);
  writer.Integer(static_cast<int64_t>(component.factors.size()));
  for (const LogFactor& factor : component.factors) {
    WriteSet(writer, factor.set);
    writer.Integer(static_cast<int64_t>(factor.logarithms.size()));
    for (const double logarithm : factor.logarithms) writer.Real(logarithm);
  }
}

void WriteLines(CanonicalWriter& writer, const std::vector<std::string>& lines) {
  writer.Integer(static_cast<int64_t>(lines.size()));
  for (const std::string& line : lines) writer.Text(line);
}

AttributeSet ReadSet(CanonicalReader& reader, const Domain& domain) {
  AttributeSet set;
  const int64_t size = reader.Count();
  for (int64_t i = 0; i < size; ++i) {
    const int64_t attribute = reader.Integer();
    if (attribute < 0 || attribute >= static_cast<int64_t>(domain.size()) ||
        (i > 0 && attribute <= set.back())) {
      reader.Refuse();
      return {};
    }
    set.push_back(static_cast<uint32_t>(attribute));
  }
  return set;
}

AttributeSet ReadSetThenSizes(CanonicalReader& reader, const Domain& domain) {
  AttributeSet set = ReadSet(reader, domain);
  for (const uint32_t attribute : set) {
    if (reader.Integer() != domain.attributes()[attribute].size()) reader.Refuse();
  }
  return set;
}

ProductComponent ReadComponent(CanonicalReader& reader, const Domain& domain) {
  ProductComponent component;
  component.base = ReadFinite(reader);
  const int64_t factors = reader.Count();
  for (int64_t i = 0; i < factors && reader.ok(); ++i) {
    LogFactor factor;
    factor.set = ReadSet(reader, domain);
    const int64_t cells = reader.Count();
    for (int64_t cell = 0; cell < cells; ++cell) factor.logarithms.push_back(ReadFinite(reader));
    component.factors.push_back(std::move(factor));
  }
  return component;
}

std::vector<std::string> ReadLines(CanonicalReader& reader) {
  std::vector<std::string> lines;
  const int64_t count = reader.Count();
  for (int64_t i = 0; i < count && reader.ok(); ++i) lines.push_back(reader.Text());
  return lines;
}

absl::StatusOr<std::vector<float>> ProductWeights(const DenseLayout& layout, double base,
                                                  std::span<const LogFactor> factors,
                                                  std::span<const DenseMarginal> marginals, Pacer& pacer) {
  // Some blocks at a time, so that their logarithms stay in the cache while all factors are added.
  const int64_t group = std::max<int64_t>(1, 4096 / layout.block_cells());
  std::vector<float> weights(static_cast<size_t>(layout.cells()));
  std::vector<double> logarithms;
  for (int64_t first = 0; first < layout.blocks(); first += group) {
    const int64_t blocks = std::min(group, layout.blocks() - first);
    logarithms.assign(static_cast<size_t>(blocks * layout.block_cells()), 0);
    for (size_t i = 0; i < factors.size(); ++i) {
      RETURN_IF_ERROR(marginals[i].AddTo(factors[i].logarithms, first, logarithms, pacer));
    }
    const std::span<float> made =
        std::span(weights).subspan(static_cast<size_t>(first * layout.block_cells()), logarithms.size());
    RETURN_IF_ERROR(pacer.InPieces(made.size(), [&](size_t start, size_t length) {
      ExpBlock(base, std::span<const double>(logarithms).subspan(start, length), made.subspan(start, length));
    }));
  }
  return weights;
}

}  // namespace curator::dp
