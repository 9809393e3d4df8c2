#include "dp/synthesis/models/clique_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/synthesis/models/clique_sampler.h"
#include "dp/synthesis/models/product_model.h"

namespace curator::dp {
namespace {

constexpr std::string_view kCliqueTag = "curator.clique_model";
constexpr int64_t kCliqueVersion = 1;

// A sample is rounded in batches of so many codes, so that its memory does not grow with it.
constexpr int64_t kCodesOfABatch = int64_t{1} << 22;

// What is held on the way to a marginal that no clique holds: two factors and their product, and copies of
// cells of the cliques.
constexpr int64_t kAssembledTables = 3;
constexpr int64_t kCopiesOfCliques = 3;

int64_t RowsOfABatch(size_t attributes) {
  return std::max<int64_t>(1, kCodesOfABatch / static_cast<int64_t>(attributes));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SynthesisModel>> CliqueModel::Create(const Domain& domain,
                                                                    CliqueModelParts parts, Pacer& pacer) {
  if (parts.attributes.empty() || parts.records < 1)
    return absl::InvalidArgumentError("a model has at least one attribute and one record");
  RETURN_IF_ERROR(domain.CheckSet(parts.attributes));
  RETURN_IF_ERROR(CheckTree(domain, parts.attributes, kMostDenseCells, parts.tree));
  for (const LogFactor& factor : parts.factors) {
    RETURN_IF_ERROR(domain.CheckSet(factor.set));
    if (domain.CellCount(factor.set) != static_cast<int64_t>(factor.logarithms.size()))
      return absl::InvalidArgumentError("a factor has not one value for each cell of its marginal");
  }
  std::unique_ptr<CliqueModel> model(new CliqueModel(domain, std::move(parts)));
  ASSIGN_OR_RETURN(CliqueTables tables, CliqueTables::Create(model->domain_, model->parts_.tree, pacer));
  model->tables_ = std::make_unique<CliqueTables>(std::move(tables));
  RETURN_IF_ERROR(model->tables_->Calibrate(0, model->parts_.factors, pacer));
  if (!(model->tables_->total() > 0)) RETURN_IF_ERROR(model->tables_->Calibrate(0, {}, pacer));
  return model;
}

absl::StatusOr<std::vector<double>> CliqueModel::Marginal(const AttributeSet& set) const {
  RETURN_IF_ERROR(domain_.CheckSet(set));
  if (!IsSubset(set, parts_.attributes))
    return absl::InvalidArgumentError("the set has an attribute that is not covered by this model");
  if (domain_.CellCount(set).value_or(kMostDenseCells + 1) > kMostDenseCells)
    return absl::InvalidArgumentError("the marginal has too many cells");
  Pacer pacer{std::stop_token()};
  ASSIGN_OR_RETURN(std::vector<std::vector<double>> marginals, tables_->Marginals(std::span(&set, 1), pacer));
  const double scale = static_cast<double>(parts_.records) / tables_->total();
  for (double& cell : marginals[0]) cell *= scale;
  return std::move(marginals[0]);
}

int64_t CliqueModel::MarginalSteps(const AttributeSet& set) const {
  if (!domain_.CheckSet(set).ok() || !IsSubset(set, parts_.attributes)) return 0;
  return tables_->EffortOf(set).steps;
}

absl::Status CliqueModel::Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const {
  if (rows < 0) return absl::InvalidArgumentError("the number of rows must not be negative");
  const CliqueSampler sampler(domain_, *tables_, parts_.attributes);
  const size_t width = parts_.attributes.size();
  for (int64_t batch = RowsOfABatch(width); rows > 0; rows -= batch) {
    const std::vector<uint32_t> records = sampler.Draw(bits, std::min(rows, batch));
    for (size_t first = 0; first < records.size(); first += width)
      RETURN_IF_ERROR(sink(std::span(records).subspan(first, width)));
  }
  return absl::OkStatus();
}

namespace {

absl::StatusOr<CliqueModelParts> ReadParts(const Domain& domain, std::string_view bytes) {
  CanonicalReader reader(bytes, kCliqueTag, kCliqueVersion);
  CliqueModelParts parts;
  parts.attributes = ReadSetThenSizes(reader, domain);
  parts.records = reader.Integer();
  const int64_t nodes = reader.Count();
  for (int64_t i = 0; i < nodes && reader.ok(); ++i) {
    CliqueNode node;
    node.attributes = ReadSet(reader, domain);
    const int64_t parent = reader.Integer();
    // The root is its own parent; that of another clique was read before it.
    if (parent < 0 || parent >= std::max<int64_t>(1, i)) {
      reader.Refuse();
      break;
    }
    node.parent = static_cast<size_t>(parent);
    if (i > 0) node.separator = Intersection(node.attributes, parts.tree[node.parent].attributes);
    node.cells = domain.CellCount(node.attributes).value_or(-1);
    parts.tree.push_back(std::move(node));
  }
  ProductComponent product = ReadComponent(reader, domain);
  if (product.base != 0 || std::signbit(product.base)) reader.Refuse();
  parts.factors = std::move(product.factors);
  parts.transcript = ReadLines(reader);
  RETURN_IF_ERROR(reader.Finish());
  return parts;
}

}  // namespace

std::string CliqueModel::Serialize() const {
  CanonicalWriter writer(kCliqueTag, kCliqueVersion);
  WriteSet(writer, parts_.attributes);
  for (const int64_t size : domain_.SizesOf(parts_.attributes)) writer.Integer(size);
  writer.Integer(parts_.records);
  writer.Integer(static_cast<int64_t>(parts_.tree.size()));
  for (const CliqueNode& node : parts_.tree) {
    WriteSet(writer, node.attributes);
    writer.Integer(static_cast<int64_t>(node.parent));
  }
  WriteComponent(writer, {.base = 0, .factors = parts_.factors});
  WriteLines(writer, parts_.transcript);
  return std::move(writer).Take();
}

bool CliqueModel::Wrote(std::string_view bytes) {
  CanonicalReader reader(bytes, kCliqueTag, kCliqueVersion);
  return reader.ok();
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> CliqueModel::Restore(const Domain& domain,
                                                                     std::string_view bytes, Pacer& pacer) {
  ASSIGN_OR_RETURN(CliqueModelParts parts, ReadParts(domain, bytes));
  RETURN_IF_ERROR(pacer.Check());
  auto model = Create(domain, std::move(parts), pacer);
  if (!model.ok() && !absl::IsCancelled(model.status()))
    return absl::DataLossError("the stored model does not fit its domain");
  return model;
}

absl::StatusOr<int64_t> CliqueModel::ReadingBytes(const Domain& domain, std::string_view bytes) {
  ASSIGN_OR_RETURN(const CliqueModelParts parts, ReadParts(domain, bytes));
  const int64_t cells = std::min(kMostDenseCells, CellsOfTree(parts.tree));
  return ReadingBytesOf(CliqueModelMemory(domain, parts.attributes, cells, std::ssize(bytes)));
}

MethodMemory CliqueModelMemory(const Domain& domain, const AttributeSet& attributes, int64_t cells,
                               int64_t stored) {
  int64_t largest = 1;
  for (const uint32_t attribute : attributes)
    largest = std::max(largest, domain.attributes()[attribute].size());
  const int64_t rows = RowsOfABatch(attributes.size());
  const int64_t of_a_batch =
      rows * CliqueSampler::kBytesOfARecord + kCodesOfABatch * CliqueSampler::kBytesOfACode;
  // The logarithms of one clique's cells, and an index of a factor, while the potentials are filled.
  const int64_t filling = 8 * cells + IndexBytes(cells, largest);
  const int64_t assembling =
      8 * (kAssembledTables * std::max(cells, std::min(kMostCellsOfATable, 16 * largest * cells)) +
           kCopiesOfCliques * cells);
  return {.working = 0,
          .model = 4 * cells + 2 * stored + 3 * IndexBytes(cells, largest),
          .stored = stored,
          .sampling = std::max({filling, CliqueSampler::kBytesOfACell * cells + of_a_batch, assembling})};
}

}  // namespace curator::dp
