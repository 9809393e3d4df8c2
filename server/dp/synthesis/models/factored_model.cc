#include "dp/synthesis/models/factored_model.h"

#include <algorithm>
#include <list>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"
#include "dp/synthesis/models/alias_table.h"
#include "dp/synthesis/models/product_model.h"

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
        places_(std::move(places)),
        codes_(places_.size()) {}

  void DrawInto(std::vector<uint32_t>& record) {
    CodesOfCell(sizes_, sampler_.Draw(), codes_);
    for (size_t i = 0; i < codes_.size(); ++i) record[places_[i]] = codes_[i];
  }

 private:
  AliasTable table_;
  AliasSampler sampler_;
  std::vector<int64_t> sizes_;
  std::vector<size_t> places_;
  std::vector<uint32_t> codes_;
};

// One independent part of a marginal: which attributes of the whole set are its own, rising, and the weight
// of each of its cells, row-major.
struct IndependentPart {
  AttributeSet attributes;
  std::span<const double> cells;
};

// scale times the product of the parts' weights, for every cell of `set`, row-major. The parts are disjoint
// and within `set`; attributes of none of them weigh 1 in each cell. The set's cells fit int64. Errors:
// CANCELLED as in Pacer.
absl::StatusOr<std::vector<double>> ProductOfParts(const Domain& domain, const AttributeSet& set,
                                                   double scale, std::span<const IndependentPart> parts,
                                                   Pacer& pacer) {
  const auto count = static_cast<size_t>(domain.CellCount(set).value_or(0));
  std::vector<double> cells(count, scale);
  std::vector<size_t> codes(set.size());
  for (const IndependentPart& part : parts) {
    const std::vector<int64_t> part_strides = StridesWithin(set, domain.SizesOf(set), part.attributes);
    const std::vector<size_t> strides(part_strides.begin(), part_strides.end());
    std::ranges::fill(codes, 0);
    size_t own = 0;  // the part's cell
    RETURN_IF_ERROR(pacer.InPieces(count, [&](size_t start, size_t length) {
      for (size_t cell = start; cell < start + length; ++cell) {
        cells[cell] *= part.cells[own];
        for (size_t i = set.size(); i-- > 0;) {
          const auto size = static_cast<size_t>(domain.attributes()[set[i]].size());
          own += strides[i];
          if (++codes[i] < size) break;
          codes[i] = 0;
          own -= strides[i] * size;
        }
      }
    }));
  }
  return cells;
}

// The attributes of no part.
AttributeSet Untouched(const FactoredModelParts& parts) {
  AttributeSet left = parts.attributes;
  for (const FactoredPart& part : parts.parts) left = Difference(left, part.attributes);
  return left;
}

absl::Status CheckParts(const Domain& domain, const FactoredModelParts& parts) {
  if (parts.attributes.empty() || parts.records < 1)
    return absl::InvalidArgumentError("a model has at least one attribute and one record");
  RETURN_IF_ERROR(domain.CheckSet(parts.attributes));
  std::set<uint32_t> seen;
  int64_t left = kMostDenseCells;
  for (const FactoredPart& part : parts.parts) {
    for (const uint32_t attribute : part.attributes) {
      if (!seen.insert(attribute).second || !Contains(parts.attributes, attribute))
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
  if (!IsSubset(set, parts_.attributes))
    return absl::InvalidArgumentError("the set has an attribute that is not covered by this model");
  if (domain_.CellCount(set).value_or(kMostDenseCells + 1) > kMostDenseCells)
    return absl::InvalidArgumentError("the marginal has too many cells to be tabulated");
  Pacer pacer{std::stop_token()};
  std::list<std::vector<double>> sums;
  std::vector<IndependentPart> parts;
  auto scale = static_cast<double>(parts_.records);
  for (const uint32_t attribute : untouched_) {
    if (Contains(set, attribute)) scale /= static_cast<double>(domain_.attributes()[attribute].size());
  }
  for (const Table& table : tables_) {
    AttributeSet own = Intersection(set, table.layout.attributes());
    if (own.empty()) continue;
    ASSIGN_OR_RETURN(const DenseMarginal marginal, DenseMarginal::Create(table.layout, own, pacer));
    ASSIGN_OR_RETURN(std::vector<double> cells, marginal.Sum(table.weights, pacer));
    sums.push_back(std::move(cells));
    parts.push_back({.attributes = std::move(own), .cells = sums.back()});
    scale /= table.total;
  }
  return ProductOfParts(domain_, set, scale, parts, pacer);
}

int64_t FactoredModel::MarginalSteps(const AttributeSet& set) const {
  constexpr int64_t kPerProduct = 3;
  const int64_t cells = CellsUpTo(domain_, set, kMostDenseCells);
  int64_t steps = cells + static_cast<int64_t>(tables_.size() + untouched_.size());
  for (const Table& table : tables_) {
    const AttributeSet own = Intersection(set, table.layout.attributes());
    if (!own.empty()) steps += DenseMarginal::StepsToSum(table.layout, own) + kPerProduct * cells;
  }
  return steps;
}

absl::Status FactoredModel::Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const {
  if (rows < 0) return absl::InvalidArgumentError("the number of rows must not be negative");
  std::list<PartSampler> samplers;
  const auto add = [&](std::span<const float> weights, const AttributeSet& own) {
    std::vector<size_t> places;
    for (const uint32_t attribute : own) places.push_back(*PositionIn(parts_.attributes, attribute));
    samplers.emplace_back(weights, domain_.SizesOf(own), std::move(places), bits, rows);
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

namespace {

absl::StatusOr<FactoredModelParts> ReadFactored(const Domain& domain, std::string_view bytes) {
  CanonicalReader reader(bytes, kFactoredTag, kFactoredVersion);
  FactoredModelParts parts;
  parts.attributes = ReadSetThenSizes(reader, domain);
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
  return parts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SynthesisModel>> FactoredModel::Restore(const Domain& domain,
                                                                       std::string_view bytes, Pacer& pacer) {
  ASSIGN_OR_RETURN(FactoredModelParts parts, ReadFactored(domain, bytes));
  RETURN_IF_ERROR(pacer.Check());
  auto model = Create(domain, std::move(parts), pacer);
  if (!model.ok() && !absl::IsCancelled(model.status()))
    return absl::DataLossError("the stored model does not fit its domain");
  return model;
}

absl::StatusOr<int64_t> FactoredModel::ReadingBytes(const Domain& domain, std::string_view bytes) {
  ASSIGN_OR_RETURN(const FactoredModelParts parts, ReadFactored(domain, bytes));
  int64_t cells = 0;
  size_t factors = 0;
  for (const FactoredPart& part : parts.parts) {
    cells = std::min(kMostDenseCells, cells + CellsUpTo(domain, part.attributes, kMostDenseCells));
    factors += part.product.factors.size();
  }
  return ReadingBytesOf(
      DenseModelMemory(domain, parts.attributes, cells, 4, static_cast<int64_t>(factors), std::ssize(bytes)));
}

}  // namespace curator::dp
