#include "dp/synthesis/rap/relaxed_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/synthesis/rap/relaxed_layout.h"

namespace curator::dp {
namespace {

constexpr std::string_view kRelaxedTag = "curator.relaxed_model";
constexpr int64_t kRelaxedVersion = 1;

// Four bytes, the lowest first.
void AppendFloat(float value, std::string& bytes) {
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(bits >> shift & 0xFF));
}

float FloatAt(const std::string& bytes, size_t index) {
  uint32_t bits = 0;
  for (size_t i = 0; i < 4; ++i)
    bits |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[4 * index + i])) << (8 * i);
  return std::bit_cast<float>(bits);
}

std::string PackShares(const RelaxedLayout& layout, const AlignedFloats& shares) {
  std::string bytes;
  bytes.reserve(4 * layout.rows() * layout.columns());
  for (size_t row = 0; row < layout.rows(); ++row) {
    for (size_t column = 0; column < layout.columns(); ++column)
      AppendFloat(shares[layout.ElementAt(row, column)], bytes);
  }
  return bytes;
}

// Nothing unless the bytes are distributions.
std::optional<AlignedFloats> UnpackShares(const RelaxedLayout& layout, const std::string& bytes) {
  if (bytes.size() != 4 * layout.rows() * layout.columns()) return std::nullopt;
  AlignedFloats shares(layout.elements());
  for (size_t row = 0; row < layout.rows(); ++row) {
    for (size_t i = 0; i < layout.sizes().size(); ++i) {
      double sum = 0;
      for (size_t code = 0; code < layout.sizes()[i]; ++code) {
        const size_t column = layout.first_columns()[i] + code;
        const float share = FloatAt(bytes, row * layout.columns() + column);
        if (!(share >= 0 && share <= 1.001F)) return std::nullopt;
        shares[layout.ElementAt(row, column)] = share;
        sum += static_cast<double>(share);
      }
      if (!(std::abs(sum - 1) < 1e-3)) return std::nullopt;
    }
  }
  return shares;
}

// The rows' distributions summed up, side by side for drawing.
class Rounding {
 public:
  Rounding(const RelaxedLayout& layout, const AlignedFloats& shares)
      : layout_(layout), sums_(layout.rows() * layout.columns()) {
    for (size_t row = 0; row < layout.rows(); ++row) {
      for (size_t i = 0; i < layout.sizes().size(); ++i) {
        double sum = 0;
        for (size_t code = 0; code < layout.sizes()[i]; ++code) {
          const size_t column = layout.first_columns()[i] + code;
          sum += static_cast<double>(shares[layout.ElementAt(row, column)]);
          sums_[row * layout.columns() + column] = static_cast<float>(sum);
        }
      }
    }
  }

  size_t RowFor(uint64_t word) const {
    return static_cast<size_t>(static_cast<Uint128>(word) * layout_.rows() >> 64);
  }

  // The value of the attribute at `position`; one of a positive share.
  uint32_t CodeFor(size_t row, size_t position, uint64_t word) const {
    const float* first = sums_.data() + row * layout_.columns() + layout_.first_columns()[position];
    const float* last = first + layout_.sizes()[position];
    const auto height =
        static_cast<float>(static_cast<double>(word >> 40) * 0x1.0p-24 * static_cast<double>(last[-1]));
    const float* found = std::upper_bound(first, last, height);
    if (found == last) found = std::lower_bound(first, last, last[-1]);
    return static_cast<uint32_t>(found - first);
  }

 private:
  const RelaxedLayout& layout_;
  std::vector<float> sums_;
};

}  // namespace

AlignedFloats Relaid(const RelaxedLayout& from, const AlignedFloats& shares, const RelaxedLayout& to) {
  AlignedFloats moved(to.elements());
  for (size_t row = 0; row < to.rows(); ++row) {
    for (size_t column = 0; column < to.columns(); ++column)
      moved[to.ElementAt(row, column)] = shares[from.ElementAt(row, column)];
  }
  return moved;
}

AlignedFloats Normalized(const RelaxedLayout& layout, AlignedFloats shares) {
  for (size_t row = 0; row < layout.rows(); ++row) {
    for (size_t i = 0; i < layout.sizes().size(); ++i) {
      const size_t first = layout.first_columns()[i];
      double sum = 0;
      for (size_t code = 0; code < layout.sizes()[i]; ++code)
        sum += static_cast<double>(shares[layout.ElementAt(row, first + code)]);
      for (size_t code = 0; code < layout.sizes()[i]; ++code) {
        float& share = shares[layout.ElementAt(row, first + code)];
        share = static_cast<float>(static_cast<double>(share) / sum);
      }
    }
  }
  return shares;
}

RelaxedModel::RelaxedModel(const Domain& domain, RelaxedLayout layout, AlignedFloats shares, int64_t records,
                           std::vector<std::string> transcript)
    : domain_(domain),
      layout_(std::move(layout)),
      shares_(std::move(shares)),
      records_(records),
      transcript_(std::move(transcript)) {}

absl::StatusOr<std::vector<double>> RelaxedModel::Marginal(const AttributeSet& set) const {
  RETURN_IF_ERROR(domain_.CheckSet(set));
  ASSIGN_OR_RETURN(const std::vector<size_t> positions, layout_.PositionsOf(set));
  if (positions.empty()) return std::vector<double>{static_cast<double>(records_)};
  if (positions.size() > kMostFactors ||
      domain_.CellCount(set).value_or(kMostModelCells + 1) > kMostModelCells)
    return absl::InvalidArgumentError(absl::StrCat("a marginal of a relaxed model has at most ", kMostFactors,
                                                   " attributes and ", kMostModelCells, " cells"));
  const FlushToZero flush;
  const MarginalIndex index(layout_, positions);
  AlignedFloats work = MarginalWork(layout_, index.inner_size());
  std::vector<double> cells =
      SumsOver(layout_, shares_, index, RowMask(layout_), work, *AvailableProjectionLoops().front());
  double total = 0;
  for (const double cell : cells) total += cell;
  for (double& cell : cells) cell *= static_cast<double>(records_) / total;
  return cells;
}

int64_t RelaxedModel::MarginalSteps(const AttributeSet& set) const {
  constexpr int64_t kAtOnce = 4;   // rows of a vector, on the slowest machine
  constexpr int64_t kAround = 16;  // for each cell, in each block of rows
  constexpr int64_t kBefore = 256;
  const auto rows = static_cast<int64_t>(layout_.blocks() * layout_.block_rows());
  const int64_t cells = CellsUpTo(domain_, set, kMostModelCells);
  return kBefore + rows + cells * (rows / kAtOnce + kAround * static_cast<int64_t>(layout_.blocks()));
}

absl::Status RelaxedModel::Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const {
  if (rows < 0) return absl::InvalidArgumentError("the number of rows must not be negative");
  const Rounding rounding(layout_, shares_);
  std::vector<uint32_t> codes(layout_.sizes().size());
  std::vector<uint64_t> words(codes.size() + 1);
  for (int64_t record = 0; record < rows; ++record) {
    bits.Fill(words);
    const size_t row = rounding.RowFor(words[0]);
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = rounding.CodeFor(row, i, words[i + 1]);
    RETURN_IF_ERROR(sink(codes));
  }
  return absl::OkStatus();
}

std::string RelaxedModel::Serialize() const {
  CanonicalWriter writer(kRelaxedTag, kRelaxedVersion);
  writer.Integer(static_cast<int64_t>(layout_.attributes().size()));
  for (const uint32_t attribute : layout_.attributes()) writer.Integer(attribute);
  for (const size_t size : layout_.sizes()) writer.Integer(static_cast<int64_t>(size));
  writer.Integer(static_cast<int64_t>(layout_.rows()));
  writer.Integer(records_);
  writer.Text(PackShares(layout_, shares_));
  writer.Integer(static_cast<int64_t>(transcript_.size()));
  for (const std::string& line : transcript_) writer.Text(line);
  return std::move(writer).Take();
}

namespace {

absl::Status DoesNotFit() {
  return absl::DataLossError("the stored model does not fit its domain");
}

// What a stored model begins with.
struct RelaxedHead {
  AttributeSet attributes;
  int64_t rows = 0;
  int64_t records = 0;
};

RelaxedHead ReadRelaxedHead(CanonicalReader& reader, const Domain& domain) {
  RelaxedHead head;
  const int64_t count = reader.Count();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t attribute = reader.Integer();
    if (attribute < 0 || attribute >= static_cast<int64_t>(domain.size())) reader.Refuse();
    head.attributes.push_back(static_cast<uint32_t>(attribute));
  }
  for (int64_t i = 0; i < count && reader.ok(); ++i) {
    if (reader.Integer() != domain.attributes()[head.attributes[static_cast<size_t>(i)]].size())
      reader.Refuse();
  }
  head.rows = reader.Integer();
  head.records = reader.Integer();
  return head;
}

absl::StatusOr<RelaxedLayout> LayoutOf(const Domain& domain, const RelaxedHead& head) {
  // Rows of no attribute take no bytes, so nothing else would bound their number.
  if (head.attributes.empty() || head.rows > kMostRelaxedRows || head.records < 1) return DoesNotFit();
  absl::StatusOr<RelaxedLayout> layout = RelaxedLayout::Create(domain, head.attributes, head.rows);
  if (!layout.ok()) return DoesNotFit();
  return layout;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SynthesisModel>> RelaxedModel::Restore(const Domain& domain,
                                                                      std::string_view bytes) {
  CanonicalReader reader(bytes, kRelaxedTag, kRelaxedVersion);
  const RelaxedHead head = ReadRelaxedHead(reader, domain);
  const std::string packed = reader.Text();
  std::vector<std::string> transcript;
  const int64_t lines = reader.Count();
  for (int64_t i = 0; i < lines && reader.ok(); ++i) transcript.push_back(reader.Text());
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(RelaxedLayout layout, LayoutOf(domain, head));
  std::optional<AlignedFloats> shares = UnpackShares(layout, packed);
  if (!shares) return DoesNotFit();
  return std::make_unique<RelaxedModel>(domain, std::move(layout), *std::move(shares), head.records,
                                        std::move(transcript));
}

absl::StatusOr<int64_t> RelaxedModel::ReadingBytes(const Domain& domain, std::string_view bytes) {
  CanonicalReader reader(bytes, kRelaxedTag, kRelaxedVersion);
  const RelaxedHead head = ReadRelaxedHead(reader, domain);
  if (!reader.ok()) return DoesNotFit();
  ASSIGN_OR_RETURN(const RelaxedLayout layout, LayoutOf(domain, head));
  return ReadingBytesOf(RelaxedModelMemory(layout, std::ssize(bytes)));
}

MethodMemory RelaxedModelMemory(const RelaxedLayout& layout, int64_t stored) {
  // Each share, and while records are drawn the sums of a row's.
  const auto shares = static_cast<int64_t>(sizeof(float) * layout.elements());
  return {.working = 0, .model = shares + stored, .stored = stored, .sampling = shares};
}

}  // namespace curator::dp
