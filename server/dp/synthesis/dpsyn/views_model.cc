#include "dp/synthesis/dpsyn/views_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/dpsyn/reconstruction.h"
#include "dp/synthesis/dpsyn/view_choice.h"
#include "dp/synthesis/dpsyn/views_memory.h"
#include "dp/synthesis/models/product_component.h"

namespace curator::dp {
namespace {

constexpr double kFitted = 1e-9;
constexpr int kMostSweeps = 200;

absl::Status CheckParts(const Domain& domain, const ViewsModelParts& parts) {
  if (parts.attributes.empty() || parts.views.empty())
    return absl::InvalidArgumentError("a model has at least one attribute and one view");
  RETURN_IF_ERROR(domain.CheckSet(parts.attributes));
  if (parts.records < 1) return absl::InvalidArgumentError("a model has at least one record");
  std::vector<AttributeSet> sets;
  for (const ViewTable& view : parts.views) {
    RETURN_IF_ERROR(domain.CheckSet(view.set));
    if (view.sizes != domain.SizesOf(view.set) ||
        static_cast<int64_t>(view.cells.size()) != CellsOf(domain, view.set) || !(view.variance > 0) ||
        !std::isfinite(view.variance))
      return absl::InvalidArgumentError("a view has not one count for each of its cells");
    if (std::ranges::any_of(view.cells, [](double cell) { return !(cell >= 0) || !std::isfinite(cell); }))
      return absl::InvalidArgumentError("a view has a count that is not a number from 0 upwards");
    sets.push_back(view.set);
  }
  if (Union(sets) != parts.attributes)
    return absl::InvalidArgumentError("the views have not the model's attributes");
  const bool needs_table = parts.answers == AnswerFrom::kRecords;
  if (needs_table && (!parts.table || parts.table->rows() < 1))
    return absl::InvalidArgumentError("a model that answers from its records needs some");
  if (parts.table && (parts.table->attributes() != parts.attributes ||
                      parts.table->sizes() != domain.SizesOf(parts.attributes)))
    return absl::InvalidArgumentError("the records have not the model's attributes");
  return absl::OkStatus();
}

}  // namespace

ViewsModel::ViewsModel(const Domain& domain, ViewsModelParts parts)
    : domain_(domain), parts_(std::move(parts)) {}

absl::StatusOr<std::unique_ptr<SynthesisModel>> ViewsModel::Create(const Domain& domain,
                                                                   ViewsModelParts parts) {
  RETURN_IF_ERROR(CheckParts(domain, parts));
  return std::unique_ptr<SynthesisModel>(new ViewsModel(domain, std::move(parts)));
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> ViewsModel::Restore(const Domain& domain,
                                                                    std::string_view bytes) {
  ASSIGN_OR_RETURN(ViewsModelParts parts, DecodeViewsModel(domain, bytes));
  auto model = Create(domain, std::move(parts));
  if (!model.ok()) return absl::DataLossError("the stored model does not fit its domain");
  return model;
}

std::string ViewsModel::Serialize() const {
  return EncodeViewsModel(parts_);
}

absl::Status ViewsModel::CheckCovered(const AttributeSet& set) const {
  RETURN_IF_ERROR(domain_.CheckSet(set));
  if (!IsSubset(set, parts_.attributes))
    return absl::InvalidArgumentError("the model does not cover all of these attributes");
  if (const int64_t cells = CellsOf(domain_, set); cells > kMostAnswerCells) {
    return absl::InvalidArgumentError(
        absl::StrCat("the marginal has ", cells, " cells; at most ", kMostAnswerCells, " are computed"));
  }
  return absl::OkStatus();
}

std::vector<double> ViewsModel::CountsOf(const AttributeSet& set) const {
  Pacer pacer{std::stop_token()};
  ViewTable table = MakeView(domain_, set, 0, 1);
  if (parts_.answers == AnswerFrom::kRecords) {
    const auto cells = parts_.table->CellsOf(set, pacer);
    for (const uint32_t cell : *cells) table.cells[cell] += 1;
    return table.cells;
  }
  const std::vector<ViewTable> known = KnownMarginals(parts_.views, set);
  if (parts_.answers == AnswerFrom::kLeastSquares) {
    (void)FitLeastSquares(known, table, pacer);
    return table.cells;
  }
  std::ranges::fill(table.cells, 1.0);
  (void)FitProportionally(known, kFitted, kMostSweeps, table, pacer);
  return table.cells;
}

absl::StatusOr<std::vector<double>> ViewsModel::Marginal(const AttributeSet& set) const {
  RETURN_IF_ERROR(CheckCovered(set));
  std::vector<double> counts = CountsOf(set);
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto records = static_cast<double>(parts_.records);
  if (total > 0) {
    for (double& count : counts) count *= records / total;
  } else {
    std::ranges::fill(counts, records / static_cast<double>(counts.size()));
  }
  return counts;
}

int64_t ViewsModel::MarginalSteps(const AttributeSet& set) const {
  constexpr int64_t kPerView = 512;       // its intersection with the set, and the noise there
  constexpr int64_t kPerComparison = 16;  // of two intersections
  constexpr int64_t kPerTurn = 64;
  constexpr int64_t kPerFittedCell = 6;
  constexpr int64_t kPerSortedCell = 32;
  const int64_t cells = CellsUpTo(domain_, set, kMostAnswerCells);
  const auto views = std::ssize(parts_.views);
  int64_t steps = cells + kPerView * views;
  if (parts_.answers == AnswerFrom::kRecords)
    return steps + (2 + std::ssize(set)) * static_cast<int64_t>(parts_.table->rows());
  const int64_t intersections = std::min(views, int64_t{1} << std::min<size_t>(set.size(), 16));
  steps += kPerComparison * intersections * intersections;
  const std::vector<std::pair<AttributeSet, size_t>> known = KnownSets(parts_.views, set);
  for (const auto& [shared, view] : known) steps += 2 * std::ssize(parts_.views[view].cells);
  if (parts_.answers == AnswerFrom::kEntropy) {
    const int64_t sweeps = known.size() == 1 ? 1 : kMostSweeps;
    return steps + sweeps * std::ssize(known) * (kPerTurn + kPerFittedCell * cells);
  }
  for (const auto& [shared, view] : known) {
    int64_t below = 1;  // subsets whose interactions are added; those of an attribute of one value are none
    for (const int64_t size : domain_.SizesOf(shared)) below *= size > 1 ? 2 : 1;
    steps += below * (kPerTurn + kPerFittedCell * cells);
  }
  return steps + kPerSortedCell * cells;
}

absl::StatusOr<std::optional<double>> ViewsModel::CellNoise(const AttributeSet& set) const {
  RETURN_IF_ERROR(CheckCovered(set));
  double weights = 0;
  for (const ViewTable& view : parts_.views) {
    if (IsSubset(set, view.set))
      weights +=
          1 / (view.variance * static_cast<double>(Marginalization(view.set, view.sizes, set).ratio()));
  }
  if (!(weights > 0)) return std::optional<double>();
  return std::optional(std::sqrt(1 / weights));
}

absl::Status ViewsModel::Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const {
  if (rows < 0) return absl::InvalidArgumentError("the number of rows must not be negative");
  if (parts_.table) return Deal(bits, rows, sink);
  const ViewSampler sampler(parts_.views, parts_.attributes);
  WordStream words(bits, static_cast<size_t>(std::min<int64_t>(rows, 512)) * sampler.words_per_record());
  std::vector<uint32_t> codes(parts_.attributes.size());
  for (int64_t row = 0; row < rows; ++row) {
    sampler.Draw(words, codes);
    RETURN_IF_ERROR(sink(codes));
  }
  return absl::OkStatus();
}

absl::Status ViewsModel::Deal(BitSource& bits, int64_t rows, const RecordSink& sink) const {
  const auto records = static_cast<uint64_t>(parts_.table->rows());
  // row -> start + row * step, modulo the number of records: all of them, when the two have no common factor.
  std::array<uint64_t, 2> words{};
  bits.Fill(words);
  const uint64_t start = words[0] % records;
  uint64_t step = 1 + words[1] % records;
  while (std::gcd(step, records) != 1) ++step;
  std::vector<uint32_t> codes(parts_.attributes.size());
  uint64_t at = start;
  for (int64_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < codes.size(); ++column) codes[column] = parts_.table->Code(column, at);
    RETURN_IF_ERROR(sink(codes));
    at = (at + step) % records;
  }
  return absl::OkStatus();
}

namespace {

constexpr std::string_view kViewsTag = "curator.views_model";
constexpr int64_t kViewsVersion = 1;

ViewTable ReadView(CanonicalReader& reader, const Domain& domain) {
  const AttributeSet set = ReadSet(reader, domain);
  const double variance = reader.Real();
  const int64_t cells = reader.Count();
  if (cells != CellsOf(domain, set)) {
    reader.Refuse();
    return {};
  }
  ViewTable view = MakeView(domain, set, 0, variance);
  for (double& cell : view.cells) cell = reader.Real();
  return view;
}

}  // namespace

std::string EncodeViewsModel(const ViewsModelParts& parts) {
  CanonicalWriter writer(kViewsTag, kViewsVersion);
  WriteSet(writer, parts.attributes);
  writer.Integer(parts.records);
  writer.Integer(static_cast<int64_t>(parts.answers));
  writer.Integer(static_cast<int64_t>(parts.views.size()));
  for (const ViewTable& view : parts.views) {
    WriteSet(writer, view.set);
    writer.Real(view.variance);
    writer.Integer(static_cast<int64_t>(view.cells.size()));
    for (const double cell : view.cells) writer.Real(cell);
  }
  writer.Integer(parts.table ? parts.table->rows() : 0);
  writer.Text(parts.table ? parts.table->Packed() : "");
  writer.Integer(static_cast<int64_t>(parts.transcript.size()));
  for (const std::string& line : parts.transcript) writer.Text(line);
  return std::move(writer).Take();
}

namespace {

// What comes before the records; and how many of them follow.
int64_t ReadViews(CanonicalReader& reader, const Domain& domain, ViewsModelParts& parts) {
  parts.attributes = ReadSet(reader, domain);
  parts.records = reader.Integer();
  const int64_t answers = reader.Integer();
  if (answers < 0 || answers > static_cast<int64_t>(AnswerFrom::kLeastSquares)) reader.Refuse();
  parts.answers = static_cast<AnswerFrom>(answers);
  const int64_t views = reader.Count();
  for (int64_t i = 0; i < views && reader.ok(); ++i) parts.views.push_back(ReadView(reader, domain));
  return reader.Integer();
}

}  // namespace

absl::StatusOr<ViewsModelParts> DecodeViewsModel(const Domain& domain, std::string_view bytes) {
  CanonicalReader reader(bytes, kViewsTag, kViewsVersion);
  ViewsModelParts parts;
  const int64_t rows = ReadViews(reader, domain, parts);
  const std::string packed = reader.Text();
  if (rows == 0 && !packed.empty()) reader.Refuse();
  const int64_t lines = reader.Count();
  for (int64_t i = 0; i < lines && reader.ok(); ++i) parts.transcript.push_back(reader.Text());
  RETURN_IF_ERROR(reader.Finish());
  if (rows != 0) {
    ASSIGN_OR_RETURN(parts.table,
                     RecordTable::Unpacked(parts.attributes, domain.SizesOf(parts.attributes), rows, packed));
  }
  return parts;
}

absl::StatusOr<int64_t> ViewsModel::ReadingBytes(const Domain& domain, std::string_view bytes) {
  CanonicalReader reader(bytes, kViewsTag, kViewsVersion);
  ViewsModelParts parts;
  const int64_t rows = ReadViews(reader, domain, parts);
  if (!reader.ok() || rows < 0 || rows > kMostRecords)
    return absl::DataLossError("the stored model does not fit its domain");
  int64_t cells = 0;
  for (const ViewTable& view : parts.views) cells += std::ssize(view.cells);
  return ReadingBytesOf(ViewsModelMemory(domain, parts.attributes, cells, rows, std::ssize(bytes)));
}

}  // namespace curator::dp
