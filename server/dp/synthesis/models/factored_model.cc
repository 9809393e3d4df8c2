#include "dp/synthesis/models/factored_model.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/models/alias_table.h"
#include "dp/synthesis/models/product_model.h"
#include "dp/synthesis/models/product_of_parts.h"

namespace curator::dp {
namespace {

constexpr std::string_view kFactoredTag = "curator.factored_model";
constexpr int64_t kFactoredVersion = 1;

// Draws the codes of one part's attributes into a record.
class PartSampler {
 public:
  // `places`: where the part's attributes are in a record.
  PartSampler(std::span<const float> weights, std::vector<int64_t> sizes, std::vector<size_t> places,
              BitSource& bits, int64_t expected)
      : table_(weights),
        sampler_(table_, bits, expected),
        sizes_(std::move(sizes)),
        places_(std::move(places)) {}

  void DrawInto(std::vector<uint32_t>& record) {
    size_t cell = sampler_.Draw();
    for (size_t i = sizes_.size(); i-- > 0;) {
      const auto size = static_cast<size_t>(sizes_[i]);
      record[places_[i]] = static_cast<uint32_t>(cell % size);
      cell /= size;
    }
  }

 private:
  AliasTable table_;
  AliasSampler sampler_;
  std::vector<int64_t> sizes_;
  std::vector<size_t> places_;
};

size_t PlaceIn(const AttributeSet& all, uint32_t attribute) {
  return static_cast<size_t>(std::lower_bound(all.begin(), all.end(), attribute) - all.begin());
}

// The attributes of no part.
AttributeSet Untouched(const FactoredModelParts& parts) {
  std::set<uint32_t> left(parts.attributes.begin(), parts.attributes.end());
  for (const FactoredPart& part : parts.parts) {
    for (const uint32_t attribute : part.attributes) left.erase(attribute);
  }
  return {left.begin(), left.end()};
}

absl::Status CheckParts(const Domain& domain, const FactoredModelParts& parts) {
  if (parts.attributes.empty() || parts.records < 1)
    return absl::InvalidArgumentError("a model has at least one attribute and one record");
  RETURN_IF_ERROR(domain.CheckSet(parts.attributes));
  std::set<uint32_t> seen;
  int64_t left = kMostDenseCells;
  for (const FactoredPart& part : parts.parts) {
    for (const uint32_t attribute : part.attributes) {
      if (!seen.insert(attribute).second || !std::ranges::binary_search(parts.attributes, attribute))
        return absl::InvalidArgumentError("parts of a model are disjoint and within its attributes");
    }
    const std::optional<int64_t> cells = domain.CellCount(part.attributes);
    if (part.attributes.empty() || !cells || *cells > left)
      return absl::InvalidArgumentError("a model's parts have no attribute, or too many cells");
    left -= *cells;
  }
  return absl::OkStatus();
}

}  // namespace

FactoredModel::FactoredModel(Domain domain, FactoredModelParts parts, std::vector<Table> tables)
    : domain_(std::move(domain)),
      parts_(std::move(parts)),
      tables_(std::move(tables)),
      untouched_(Untouched(parts_)) {}

absl::StatusOr<std::unique_ptr<SynthesisModel>> FactoredModel::Create(const Domain& domain,
                                                                      FactoredModelParts parts,
                                                                      Pacer& pacer) {
  RETURN_IF_ERROR(CheckParts(domain, parts));
  std::vector<Table> tables;
  for (const FactoredPart& part : parts.parts) {
    ASSIGN_OR_RETURN(DenseLayout layout, DenseLayout::Create(domain, part.attributes, kMostDenseCells));
    ASSIGN_OR_RETURN(std::vector<float> weights, WeightsOf(layout, part.product, pacer));
    ASSIGN_OR_RETURN(const DenseMarginal whole, DenseMarginal::Create(layout, {}, pacer));
    ASSIGN_OR_RETURN(const std::vector<double> sums, whole.Sum(weights, pacer));
    double total = sums[0];
    if (!(total > 0)) {
      weights.assign(weights.size(), 1.0F);
      total = static_cast<double>(weights.size());
    }
    tables.push_back({.layout = std::move(layout), .weights = std::move(weights), .total = total});
  }
  return std::unique_ptr<SynthesisModel>(new FactoredModel(domain, std::move(parts), std::move(tables)));
}

absl::StatusOr<std::vector<double>> FactoredModel::Marginal(const AttributeSet& set) const {
  RETURN_IF_ERROR(domain_.CheckSet(set));
  if (!std::ranges::includes(parts_.attributes, set))
    return absl::InvalidArgumentError("the set has an attribute that is not covered by this model");
  if (domain_.CellCount(set).value_or(kMostDenseCells + 1) > kMostDenseCells)
    return absl::InvalidArgumentError("the marginal has too many cells to be tabulated");
  Pacer pacer{std::stop_token()};
  std::list<std::vector<double>> sums;
  std::vector<IndependentPart> parts;
  auto scale = static_cast<double>(parts_.records);
  for (const uint32_t attribute : untouched_) {
    if (std::ranges::binary_search(set, attribute))
      scale /= static_cast<double>(domain_.attributes()[attribute].size());
  }
  for (const Table& table : tables_) {
    AttributeSet own;
    std::ranges::set_intersection(set, table.layout.attributes(), std::back_inserter(own));
    if (own.empty()) continue;
    ASSIGN_OR_RETURN(const DenseMarginal marginal, DenseMarginal::Create(table.layout, own, pacer));
    ASSIGN_OR_RETURN(std::vector<double> cells, marginal.Sum(table.weights, pacer));
    sums.push_back(std::move(cells));
    parts.push_back({.attributes = std::move(own), .cells = sums.back()});
    scale /= table.total;
  }
  return ProductOfParts(domain_, set, scale, parts, pacer);
}

absl::Status FactoredModel::Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const {
  if (rows < 0) return absl::InvalidArgumentError("the number of rows must not be negative");
  std::list<PartSampler> samplers;
  const auto add = [&](std::span<const float> weights, const AttributeSet& own) {
    std::vector<int64_t> sizes;
    std::vector<size_t> places;
    for (const uint32_t attribute : own) {
      sizes.push_back(domain_.attributes()[attribute].size());
      places.push_back(PlaceIn(parts_.attributes, attribute));
    }
    samplers.emplace_back(weights, std::move(sizes), std::move(places), bits, rows);
  };
  for (const Table& table : tables_) add(table.weights, table.layout.attributes());
  for (const uint32_t attribute : untouched_) {
    const std::vector<float> uniform(static_cast<size_t>(domain_.attributes()[attribute].size()), 1.0F);
    add(uniform, {attribute});
  }
  std::vector<uint32_t> record(parts_.attributes.size());
  for (int64_t row = 0; row < rows; ++row) {
    for (PartSampler& sampler : samplers) sampler.DrawInto(record);
    RETURN_IF_ERROR(sink(record));
  }
  return absl::OkStatus();
}

std::string FactoredModel::Serialize() const {
  CanonicalWriter writer(kFactoredTag, kFactoredVersion);
  WriteSet(writer, parts_.attributes);
  for (const uint32_t attribute : parts_.attributes) writer.Integer(domain_.attributes()[attribute].size());
  writer.Integer(parts_.records);
  writer.Integer(static_cast<int64_t>(parts_.parts.size()));
  for (const FactoredPart& part : parts_.parts) {
    WriteSet(writer, part.attributes);
    WriteComponent(writer, part.product);
  }
  WriteLines(writer, parts_.transcript);
  return std::move(writer).Take();
}

bool FactoredModel::Wrote(std::string_view bytes) {
  CanonicalReader reader(bytes, kFactoredTag, kFactoredVersion);
  return reader.ok();
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> FactoredModel::Restore(const Domain& domain,
                                                                       std::string_view bytes) {
  CanonicalReader reader(bytes, kFactoredTag, kFactoredVersion);
  FactoredModelParts parts;
  parts.attributes = ReadSet(reader, domain);
  for (const uint32_t attribute : parts.attributes) {
    if (reader.Integer() != domain.attributes()[attribute].size()) reader.Refuse();
  }
  parts.records = reader.Integer();
  const int64_t count = reader.Count();
  for (int64_t i = 0; i < count && reader.ok(); ++i) {
    FactoredPart part;
    part.attributes = ReadSet(reader, domain);
    part.product = ReadComponent(reader, domain);
    parts.parts.push_back(std::move(part));
  }
  parts.transcript = ReadLines(reader);
  RETURN_IF_ERROR(reader.Finish());
  Pacer pacer{std::stop_token()};
  auto model = Create(domain, std::move(parts), pacer);
  if (!model.ok()) return absl::DataLossError("the stored model does not fit its domain");
  return model;
}

}  // namespace curator::dp
