#include "dp/synthesis/prior/prior_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/prior/prior_records.h"
#include "dp/synthesis/prior/prior_schedule.h"

namespace curator::dp {
namespace {

constexpr std::string_view kPriorTag = "curator.prior_model";
constexpr int64_t kPriorVersion = 1;
// Weights are found by a search among blocks of this size, then one by one.
constexpr size_t kBlock = 64;
constexpr int64_t kMostMarginalCells = WorkloadLimits{}.max_cells;

AttributeSet ReadSizedSet(CanonicalReader& reader, const Domain& domain) {
  AttributeSet set;
  const int64_t size = reader.Count(16);
  for (int64_t i = 0; i < size && reader.ok(); ++i) {
    const int64_t attribute = reader.Integer();
    const bool is_next = attribute >= 0 && attribute < static_cast<int64_t>(domain.size()) &&
                         (i == 0 || attribute > static_cast<int64_t>(set.back()));
    if (!is_next || reader.Integer() != domain.attributes()[static_cast<size_t>(attribute)].size()) {
      reader.Refuse();
      return {};
    }
    set.push_back(static_cast<uint32_t>(attribute));
  }
  return set;
}

absl::StatusOr<CodedColumns> AllCellsOf(const Domain& domain, const AttributeSet& set) {
  const std::optional<int64_t> cells = domain.CellCount(set);
  if (!cells || *cells > kMostPriorWeights) return absl::DataLossError("too many cells");
  CodedColumns columns(domain.SizesOf(set));
  std::vector<uint32_t> codes(set.size());
  for (int64_t cell = 0; cell < *cells; ++cell) {
    CodesOfCell(columns.sizes(), cell, codes);
    RETURN_IF_ERROR(columns.AppendRow(codes));
  }
  return columns;
}

absl::StatusOr<CodedColumns> ReadColumns(CanonicalReader& reader, const Domain& domain,
                                         const AttributeSet& set) {
  CodedColumns columns(domain.SizesOf(set));
  for (size_t i = 0; i < set.size(); ++i) {
    const std::string codes = reader.Text();
    columns.AppendCodes(i, std::as_bytes(std::span(codes)));
  }
  if (!reader.ok() || !columns.Check().ok() || columns.rows() < 1 || columns.rows() > kMostPriorWeights)
    return absl::DataLossError("records that do not fit their domain");
  return columns;
}

absl::StatusOr<PriorGroup> ReadGroup(CanonicalReader& reader, const PriorModelParts& parts,
                                     const Domain& domain) {
  std::vector<uint32_t> key_codes;
  for (const uint32_t attribute : parts.keys) {
    const int64_t code = reader.Integer();
    if (code < 0 || code >= domain.attributes()[attribute].size())
      return absl::DataLossError("a group outside of the domain");
    key_codes.push_back(static_cast<uint32_t>(code));
  }
  const int64_t records = reader.Integer();
  if (records < 1) return absl::DataLossError("a group without records");
  ASSIGN_OR_RETURN(CompactWeights weights,
                   CompactWeights::FromBytes(reader.Text(), static_cast<size_t>(parts.columns.rows())));
  return PriorGroup{.key_codes = std::move(key_codes), .records = records, .weights = std::move(weights)};
}

// What a stored model begins with.
struct PriorHead {
  AttributeSet modelled;
  AttributeSet keys;
  bool is_full_domain = false;
};

absl::StatusOr<PriorHead> ReadPriorHead(CanonicalReader& reader, const Domain& domain) {
  PriorHead head;
  head.modelled = ReadSizedSet(reader, domain);
  head.keys = ReadSizedSet(reader, domain);
  const int64_t whole = reader.Integer();  // 1: every cell of the domain, 0: the records that follow
  if (whole != 0 && whole != 1) reader.Refuse();
  head.is_full_domain = whole == 1;
  if (!reader.ok() || head.modelled.empty()) return absl::DataLossError("a model without attributes");
  if (Union(head.modelled, head.keys).size() != head.modelled.size() + head.keys.size())
    return absl::DataLossError("a model with an attribute that is modelled and a key");
  return head;
}

absl::StatusOr<PriorModelParts> ReadParts(const Domain& domain, std::string_view bytes) {
  CanonicalReader reader(bytes, kPriorTag, kPriorVersion);
  ASSIGN_OR_RETURN(PriorHead head, ReadPriorHead(reader, domain));
  ASSIGN_OR_RETURN(CodedColumns columns, head.is_full_domain ? AllCellsOf(domain, head.modelled)
                                                             : ReadColumns(reader, domain, head.modelled));
  PriorModelParts parts{.modelled = std::move(head.modelled),
                        .keys = std::move(head.keys),
                        .columns = std::move(columns),
                        .is_full_domain = head.is_full_domain,
                        .groups = {},
                        .transcript = {}};
  const int64_t groups = reader.Count();
  for (int64_t i = 0; i < groups; ++i) {
    ASSIGN_OR_RETURN(PriorGroup group, ReadGroup(reader, parts, domain));
    parts.groups.push_back(std::move(group));
  }
  const int64_t lines = reader.Count();
  for (int64_t i = 0; i < lines && reader.ok(); ++i) parts.transcript.push_back(reader.Text());
  RETURN_IF_ERROR(reader.Finish());
  if (parts.groups.empty()) return absl::DataLossError("a model without groups");
  return parts;
}

}  // namespace

PriorModel::PriorModel(const Domain& domain, PriorModelParts parts)
    : parts_(std::move(parts)),
      attributes_(Union(parts_.modelled, parts_.keys)),
      sizes_(domain.SizesOf(attributes_)) {}

absl::StatusOr<std::unique_ptr<SynthesisModel>> PriorModel::Create(const Domain& domain,
                                                                   PriorModelParts parts, Pacer& pacer) {
  std::unique_ptr<PriorModel> model(new PriorModel(domain, std::move(parts)));
  RETURN_IF_ERROR(model->AddUp(pacer));
  return model;
}

absl::Status PriorModel::AddUp(Pacer& pacer) {
  const auto rows = static_cast<size_t>(parts_.columns.rows());
  counts_.assign(rows, 0.0);
  for (const PriorGroup& group : parts_.groups) {
    if (__builtin_add_overflow(records_, group.records, &records_))
      return absl::DataLossError("the groups have more records than can be counted");
    group_ends_.push_back(records_);
    const double scale = static_cast<double>(group.records) / group.weights.total();
    std::vector<double> ends((rows + kBlock - 1) / kBlock);
    double sum = 0;
    RETURN_IF_ERROR(pacer.InPieces(rows, [&](size_t start, size_t length) {
      for (size_t i = start; i < start + length; ++i) {
        counts_[i] += scale * group.weights[i];
        sum += group.weights[i];
        ends[i / kBlock] = sum;
      }
    }));
    block_ends_.push_back(std::move(ends));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> PriorModel::Marginal(const AttributeSet& set) const {
  const bool rises = std::ranges::adjacent_find(set, std::greater_equal<>()) == set.end();
  if (!rises || !IsSubset(set, attributes_))
    return absl::InvalidArgumentError("the model does not cover this set of attributes");
  int64_t cells = 1;
  for (const uint32_t attribute : set) {
    const int64_t size = sizes_[*PositionIn(attributes_, attribute)];
    if (size > kMostMarginalCells / cells)
      return absl::InvalidArgumentError("the marginal's table would be too large");
    cells *= size;
  }
  const std::vector<int64_t> strides = StridesWithin(attributes_, sizes_, set);
  const auto stride_of = [&](uint32_t attribute) { return strides[*PositionIn(attributes_, attribute)]; };
  const ColumnsView view = parts_.columns.View();
  std::vector<int64_t> offset(static_cast<size_t>(view.rows));
  for (size_t i = 0; i < parts_.modelled.size(); ++i) {
    const int64_t step = stride_of(parts_.modelled[i]);
    if (step == 0) continue;
    for (int64_t row = 0; row < view.rows; ++row)
      offset[static_cast<size_t>(row)] += step * int64_t{view.columns[i][row]};
  }
  std::vector<double> counts(static_cast<size_t>(cells));
  const bool by_group = std::ranges::any_of(parts_.keys, [&](uint32_t key) { return stride_of(key) > 0; });
  if (!by_group) {
    for (size_t row = 0; row < offset.size(); ++row) counts[static_cast<size_t>(offset[row])] += counts_[row];
    return counts;
  }
  for (const PriorGroup& group : parts_.groups) {
    int64_t start = 0;
    for (size_t i = 0; i < parts_.keys.size(); ++i)
      start += stride_of(parts_.keys[i]) * int64_t{group.key_codes[i]};
    const double scale = static_cast<double>(group.records) / group.weights.total();
    for (size_t row = 0; row < offset.size(); ++row)
      counts[static_cast<size_t>(start + offset[row])] += scale * group.weights[row];
  }
  return counts;
}

int64_t PriorModel::MarginalSteps(const AttributeSet& set) const {
  constexpr int64_t kPerWeight = 3;
  int64_t cells = 1;
  for (size_t i = 0; i < attributes_.size(); ++i) {
    if (Contains(set, attributes_[i])) cells = std::min(kMostMarginalCells, cells * sizes_[i]);
  }
  const bool by_group = !Intersection(set, parts_.keys).empty();
  const auto passes = by_group ? std::ssize(parts_.groups) : int64_t{1};
  const auto columns = std::ssize(Intersection(set, parts_.modelled));
  return cells + parts_.columns.rows() * (1 + columns + kPerWeight * passes);
}

std::pair<size_t, size_t> PriorModel::PointAt(double first, double second) const {
  const auto record = static_cast<int64_t>(first * static_cast<double>(records_));
  const auto found = static_cast<size_t>(std::ranges::upper_bound(group_ends_, record) - group_ends_.begin());
  const size_t chosen = std::min(found, parts_.groups.size() - 1);
  const CompactWeights& weights = parts_.groups[chosen].weights;
  const std::vector<double>& ends = block_ends_[chosen];
  const double aim = second * ends.back();
  const auto block = static_cast<size_t>(std::ranges::upper_bound(ends, aim) - ends.begin());
  double sum = block == 0 ? 0 : ends[block - 1];
  size_t last = 0;  // a record with weight, should rounding let the aim pass the end
  for (size_t row = std::min(block * kBlock, (ends.size() - 1) * kBlock); row < weights.size(); ++row) {
    sum += weights[row];
    if (weights[row] > 0) last = row;
    if (sum > aim) break;
  }
  return {chosen, last};
}

absl::Status PriorModel::Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const {
  if (rows < 0) return absl::InvalidArgumentError("the number of rows must not be negative");
  const ColumnsView view = parts_.columns.View();
  std::vector<uint32_t> codes(attributes_.size());
  std::vector<size_t> key_positions;
  std::vector<size_t> modelled_positions;
  for (size_t i = 0; i < attributes_.size(); ++i)
    (Contains(parts_.keys, attributes_[i]) ? key_positions : modelled_positions).push_back(i);
  std::array<uint64_t, 256> words{};
  size_t next = words.size();
  for (int64_t drawn = 0; drawn < rows; ++drawn) {
    if (next == words.size()) {
      bits.Fill(words);
      next = 0;
    }
    const auto [group, row] = PointAt(static_cast<double>(words[next] >> 11) * 0x1.0p-53,
                                      static_cast<double>(words[next + 1] >> 11) * 0x1.0p-53);
    next += 2;
    for (size_t i = 0; i < key_positions.size(); ++i)
      codes[key_positions[i]] = parts_.groups[group].key_codes[i];
    for (size_t i = 0; i < modelled_positions.size(); ++i)
      codes[modelled_positions[i]] = view.columns[i][static_cast<int64_t>(row)];
    RETURN_IF_ERROR(sink(codes));
  }
  return absl::OkStatus();
}

std::string PriorModel::Serialize() const {
  CanonicalWriter writer(kPriorTag, kPriorVersion);
  const auto write_set = [&](const AttributeSet& set) {
    writer.Integer(static_cast<int64_t>(set.size()));
    for (const uint32_t attribute : set) {
      writer.Integer(attribute);
      writer.Integer(sizes_[*PositionIn(attributes_, attribute)]);
    }
  };
  write_set(parts_.modelled);
  write_set(parts_.keys);
  writer.Integer(parts_.is_full_domain ? 1 : 0);
  for (size_t i = 0; i < parts_.modelled.size() && !parts_.is_full_domain; ++i) {
    const std::span<const std::byte> codes = parts_.columns.codes(i);
    writer.Text({reinterpret_cast<const char*>(codes.data()), codes.size()});
  }
  writer.Integer(static_cast<int64_t>(parts_.groups.size()));
  for (const PriorGroup& group : parts_.groups) {
    for (const uint32_t code : group.key_codes) writer.Integer(code);
    writer.Integer(group.records);
    writer.Text(group.weights.Bytes());
  }
  writer.Integer(static_cast<int64_t>(parts_.transcript.size()));
  for (const std::string& line : parts_.transcript) writer.Text(line);
  return std::move(writer).Take();
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> PriorModel::Restore(const Domain& domain,
                                                                    std::string_view bytes, Pacer& pacer) {
  ASSIGN_OR_RETURN(PriorModelParts parts, ReadParts(domain, bytes));
  RETURN_IF_ERROR(pacer.Check());
  return Create(domain, std::move(parts), pacer);
}

absl::StatusOr<int64_t> PriorModel::ReadingBytes(const Domain& domain, std::string_view bytes) {
  CanonicalReader reader(bytes, kPriorTag, kPriorVersion);
  ASSIGN_OR_RETURN(const PriorHead head, ReadPriorHead(reader, domain));
  int64_t records = CellsUpTo(domain, head.modelled, kMostPriorWeights);
  if (!head.is_full_domain) {
    for (const uint32_t attribute : head.modelled)
      records = std::ssize(reader.Text()) / BytesOfCodes(domain, {attribute});
  }
  const int64_t groups = reader.Count();
  if (!reader.ok()) return absl::DataLossError("a model without groups");
  return ReadingBytesOf(PriorModelMemory(domain, head.modelled, records, groups, std::ssize(bytes)));
}

MethodMemory PriorModelMemory(const Domain& domain, const AttributeSet& modelled, int64_t records,
                              int64_t groups, int64_t stored) {
  constexpr int64_t kPerGroup = 200;
  const int64_t of_a_group = 2 * records + 8 * records / static_cast<int64_t>(kBlock) + kPerGroup;
  return {.working = 0,
          .model = records * (2 * BytesOfCodes(domain, modelled) + 8) + 2 * of_a_group * groups,
          .stored = stored,
          .sampling = 0};
}

int64_t BytesOfCodes(const Domain& domain, const AttributeSet& attributes) {
  int64_t bytes = 0;
  for (const uint32_t attribute : attributes)
    bytes += static_cast<int64_t>(BytesOf(WidthFor(domain.attributes()[attribute].size())));
  return bytes;
}

namespace {

constexpr int kFractionBits = 11;
constexpr int kLargestWeightExponent = 31;
constexpr int kDoubleFractionBits = 52;
constexpr uint64_t kBias = 1023;
constexpr uint16_t kOne = kLargestWeightExponent << kFractionBits;  // the code of the largest weight

// The code of a share 0 <= x <= 1 of the largest weight. The codes rise with the shares: 0 is 0, and any
// other code is the upper bits of the share's own representation, rounded to nearest.
uint16_t CodeOf(double x) {
  const uint64_t rounded =
      (std::bit_cast<uint64_t>(x) + (uint64_t{1} << (kDoubleFractionBits - kFractionBits - 1))) >>
      (kDoubleFractionBits - kFractionBits);
  constexpr uint64_t kSmallest = (kBias - kLargestWeightExponent) << kFractionBits;
  if (rounded <= kSmallest) return 0;
  return static_cast<uint16_t>(std::min<uint64_t>(rounded - kSmallest, kOne));
}

}  // namespace

double CompactWeights::WeightOf(uint16_t code) {
  if (code == 0) return 0;
  const uint64_t bits = (uint64_t{code} + ((kBias - kLargestWeightExponent) << kFractionBits))
                        << (kDoubleFractionBits - kFractionBits);
  return std::bit_cast<double>(bits);
}

CompactWeights::CompactWeights(std::span<const double> weights) : codes_(weights.size(), kOne) {
  const double largest = weights.empty() ? 0 : *std::ranges::max_element(weights);
  if (largest > 0) {
    for (size_t i = 0; i < weights.size(); ++i) codes_[i] = CodeOf(std::max(0.0, weights[i]) / largest);
  }
  AddUp();
}

absl::StatusOr<CompactWeights> CompactWeights::FromBytes(std::string_view bytes, size_t size) {
  CompactWeights weights;
  if (bytes.size() != 2 * size) return absl::DataLossError("weights of another length");
  for (size_t i = 0; i < size; ++i) {
    const auto high = static_cast<unsigned char>(bytes[2 * i]);
    const auto low = static_cast<unsigned char>(bytes[2 * i + 1]);
    weights.codes_.push_back(static_cast<uint16_t>(high << 8 | low));
    if (weights.codes_.back() > kOne) return absl::DataLossError("a weight above the largest");
  }
  weights.AddUp();
  if (!(weights.total_ > 0)) return absl::DataLossError("there is no weight");
  return weights;
}

std::string CompactWeights::Bytes() const {
  std::string bytes;
  bytes.reserve(2 * codes_.size());
  for (const uint16_t code : codes_) {
    bytes.push_back(static_cast<char>(code >> 8));
    bytes.push_back(static_cast<char>(code & 0xFF));
  }
  return bytes;
}

void CompactWeights::AddUp() {
  total_ = 0;
  for (const uint16_t code : codes_) total_ += WeightOf(code);
}

}  // namespace curator::dp
