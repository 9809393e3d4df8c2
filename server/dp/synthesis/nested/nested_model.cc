#include "dp/synthesis/nested/nested_model.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "dp/data/coded_columns.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"
#include "dp/kernel/utility/group_models.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/models/product_component.h"
#include "dp/synthesis/nested/joined_records.h"

namespace curator::dp {
namespace {

constexpr std::string_view kNestedTag = "curator.nested_model";
constexpr int64_t kNestedVersion = 1;
// It ends with the description of groups. A model without one is written in the first version.
constexpr int64_t kDescribedVersion = 2;
constexpr int64_t kMostCellsWithResponse = int64_t{1} << 24;

std::vector<SizeClass> ReadSizes(CanonicalReader& reader) {
  std::vector<SizeClass> sizes;
  const int64_t count = reader.Count(24);
  for (int64_t i = 0; i < count && reader.ok(); ++i) {
    SizeClass each{.least = reader.Integer(), .most = reader.Integer(), .groups = reader.Real()};
    const bool is_sound = each.least >= 1 && each.least <= each.most && each.most <= kMaxRecordsPerUnit * 2 &&
                          each.groups >= 0 && each.groups < 0x1p62;
    if (!is_sound) reader.Refuse();
    sizes.push_back(each);
  }
  if (!(GroupsIn(sizes) > 0)) reader.Refuse();
  return sizes;
}

bool IsSound(const NestedParameters& draw, double edge) {
  const bool is_finite =
      std::isfinite(draw.mean) && std::isfinite(draw.between) && std::isfinite(draw.within);
  if (edge > 0) {
    return is_finite && edge <= 0.25 && draw.mean >= edge && draw.mean <= 1 - edge && draw.between >= 1e-6 &&
           draw.between <= 1 - 1e-6;
  }
  return is_finite && edge == 0 && draw.between >= 0 && draw.within > 0;
}

NestedModelParts ReadParts(CanonicalReader& reader, const Domain& domain) {
  NestedModelParts parts;
  const int64_t response = reader.Integer();
  if (response < 0 || response >= static_cast<int64_t>(domain.size())) {
    reader.Refuse();
    return parts;
  }
  parts.response = static_cast<uint32_t>(response);
  const int64_t numbers = reader.Count();
  for (int64_t i = 0; i < numbers; ++i) parts.numbers.push_back(reader.Real());
  const bool rises = std::ranges::adjacent_find(parts.numbers, std::greater_equal<>()) == parts.numbers.end();
  if (numbers != domain.attributes()[parts.response].size() || !rises) reader.Refuse();
  parts.edge = reader.Real();
  const int64_t draws = reader.Count(24);
  for (int64_t i = 0; i < draws && reader.ok(); ++i) {
    parts.draws.push_back({.mean = reader.Real(), .between = reader.Real(), .within = reader.Real()});
    if (!IsSound(parts.draws.back(), parts.edge)) reader.Refuse();
  }
  if (parts.draws.empty() || (parts.edge > 0 && numbers != 2)) reader.Refuse();
  parts.sizes = ReadSizes(reader);
  return parts;
}

}  // namespace

NestedModel::NestedModel(const Domain& domain, NestedModelParts parts)
    : domain_(domain), parts_(std::move(parts)), attributes_({parts_.response}) {
  if (parts_.joined != nullptr) attributes_ = Union(parts_.joined->attributes(), {parts_.response});
  if (parts_.description) attributes_ = Union(attributes_, parts_.description->attributes());
  // What noise in large classes invents may exceed any table.
  records_ = std::llround(std::clamp(RecordsIn(parts_.sizes), 1.0, static_cast<double>(kMaxRows)));
  double groups = 0;
  for (const SizeClass& each : parts_.sizes) group_ends_.push_back(groups += each.groups);
  shares_.assign(parts_.numbers.size(), 0.0);
  for (const NestedParameters& draw : parts_.draws) {
    laws_.emplace_back(parts_.numbers, parts_.edge, draw);
    const std::vector<double> shares = laws_.back().Shares();
    for (size_t code = 0; code < shares.size(); ++code)
      shares_[code] += shares[code] / static_cast<double>(parts_.draws.size());
  }
}

absl::StatusOr<std::vector<double>> NestedModel::WithOurResponses(const AttributeSet& set) const {
  ASSIGN_OR_RETURN(std::vector<double> cells, parts_.joined->Marginal(set));
  // Cells run through the codes of the response with this stride.
  const auto stride =
      static_cast<size_t>(RowMajorStrides(domain_.SizesOf(set))[*PositionIn(set, parts_.response)]);
  const size_t codes = shares_.size();
  std::vector<double> of_code(codes);
  for (size_t cell = 0; cell < cells.size(); ++cell) of_code[cell / stride % codes] += cells[cell];
  const size_t others = cells.size() / codes;
  std::vector<double> of_others(others);
  const auto other_of = [&](size_t cell) { return cell / stride / codes * stride + cell % stride; };
  double total = 0;
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    of_others[other_of(cell)] += cells[cell];
    total += cells[cell];
  }
  const auto records = static_cast<double>(records_);
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    const size_t code = cell / stride % codes;
    // A response that the joined model does not have: as all others.
    const double given = of_code[code] > 0 ? cells[cell] / of_code[code]
                         : total > 0       ? of_others[other_of(cell)] / total
                                           : 1 / static_cast<double>(others);
    cells[cell] = records * shares_[code] * given;
  }
  return cells;
}

bool NestedModel::IsOfGroups(const AttributeSet& set) const {
  return parts_.description && set != AttributeSet{parts_.response} &&
         IsSubset(set, Union(parts_.description->attributes(), {parts_.response}));
}

std::vector<double> NestedModel::SharesByBin() const {
  constexpr int kPoints = 16;  // of the effects in a bin, each for the same share of groups
  const auto bins = static_cast<size_t>(parts_.description->bins());
  const size_t codes = shares_.size();
  std::vector<double> shares(bins * codes);
  std::vector<double> sums(codes);
  for (size_t bin = 0; bin < bins; ++bin) {
    const double below = parts_.description->Below(bin);
    const double in_bin = parts_.description->Below(bin + 1) - below;
    for (int point = 0; point < kPoints; ++point) {
      for (const ResponseLaw& law : laws_) {
        const std::vector<double> given =
            law.SharesGiven(law.EffectAt(below + in_bin * (point + 0.5) / kPoints));
        for (size_t code = 0; code < codes; ++code) {
          shares[bin * codes + code] += given[code] / kPoints / static_cast<double>(laws_.size());
          sums[code] += in_bin * given[code] / kPoints / static_cast<double>(laws_.size());
        }
      }
    }
  }
  // Over all groups they are the response's own.
  for (size_t i = 0; i < shares.size(); ++i) {
    if (sums[i % codes] > 0) shares[i] *= shares_[i % codes] / sums[i % codes];
  }
  return shares;
}

absl::StatusOr<std::vector<double>> NestedModel::OfGroups(const AttributeSet& set) const {
  const AttributeSet described = Difference(set, {parts_.response});
  const bool has_response = described.size() < set.size();
  ASSIGN_OR_RETURN(const std::vector<double> shares, parts_.description->Shares(described, has_response));
  std::vector<double> cells(static_cast<size_t>(*domain_.CellCount(set)));
  const auto records = static_cast<double>(records_);
  if (!has_response) {
    for (size_t cell = 0; cell < cells.size(); ++cell) cells[cell] = records * shares[cell];
    return cells;
  }
  const std::vector<double> by_bin = SharesByBin();
  const auto bins = static_cast<size_t>(parts_.description->bins());
  const size_t codes = shares_.size();
  const auto stride =
      static_cast<size_t>(RowMajorStrides(domain_.SizesOf(set))[*PositionIn(set, parts_.response)]);
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    const size_t code = cell / stride % codes;
    const size_t other = cell / stride / codes * stride + cell % stride;
    for (size_t bin = 0; bin < bins; ++bin)
      cells[cell] += records * shares[other * bins + bin] * by_bin[bin * codes + code];
  }
  return cells;
}

absl::StatusOr<std::vector<double>> NestedModel::Marginal(const AttributeSet& set) const {
  RETURN_IF_ERROR(domain_.CheckSet(set));
  if (!IsSubset(set, attributes_))
    return absl::InvalidArgumentError("the model does not cover this set of attributes");
  const auto records = static_cast<double>(records_);
  if (set.empty()) return std::vector<double>{records};
  if (set == AttributeSet{parts_.response}) {
    std::vector<double> counts = shares_;
    for (double& count : counts) count *= records;
    return counts;
  }
  if (IsOfGroups(set)) return OfGroups(set);
  if (Contains(set, parts_.response)) return WithOurResponses(set);
  const AttributeSet with_response = Union(set, {parts_.response});
  if (domain_.CellCount(with_response).value_or(kMostCellsWithResponse + 1) > kMostCellsWithResponse) {
    ASSIGN_OR_RETURN(std::vector<double> cells, parts_.joined->Marginal(set));
    const double scale = records / static_cast<double>(parts_.joined->records());
    for (double& cell : cells) cell *= scale;
    return cells;
  }
  ASSIGN_OR_RETURN(const std::vector<double> cells, WithOurResponses(with_response));
  const auto stride = static_cast<size_t>(
      RowMajorStrides(domain_.SizesOf(with_response))[*PositionIn(with_response, parts_.response)]);
  std::vector<double> sums(cells.size() / shares_.size());
  for (size_t cell = 0; cell < cells.size(); ++cell)
    sums[cell / stride / shares_.size() * stride + cell % stride] += cells[cell];
  return sums;
}

int64_t NestedModel::MarginalSteps(const AttributeSet& set) const {
  constexpr int64_t kPerCell = 32;  // three passes with divisions, and the sums over the responses
  const AttributeSet with_response = Union(set, {parts_.response});
  const int64_t cells = CellsUpTo(domain_, with_response, kMostCellsWithResponse + 1);
  if (!set.empty() && IsOfGroups(set)) {
    const bool has_response = Contains(set, parts_.response);
    constexpr int64_t kPerCodeOfABin = 16 * 64;  // at each point the end of a normal distribution
    const int64_t bins = parts_.description->bins();
    return parts_.description->StepsOfShares(Difference(set, {parts_.response}), has_response) +
           CellsUpTo(domain_, set, kMostCellsWithResponse) * (has_response ? 2 * bins : 2) +
           (has_response ? bins * std::ssize(shares_) * std::ssize(laws_) * kPerCodeOfABin : 0);
  }
  if (parts_.joined == nullptr) return cells;
  if (cells > kMostCellsWithResponse && !Contains(set, parts_.response))
    return parts_.joined->MarginalSteps(set) + CellsUpTo(domain_, set, kMostCellsWithResponse);
  return parts_.joined->MarginalSteps(with_response) + kPerCell * cells;
}

int64_t NestedModel::DrawSize(UniformDoubles& uniform) const {
  const double aim = uniform.Next() * group_ends_.back();
  const auto found = static_cast<size_t>(std::ranges::upper_bound(group_ends_, aim) - group_ends_.begin());
  const SizeClass& drawn = parts_.sizes[std::min(found, parts_.sizes.size() - 1)];
  return drawn.least + static_cast<int64_t>(uniform.Below(static_cast<size_t>(drawn.most - drawn.least + 1)));
}

// Draws of synthetic groups. Not thread-safe.
class NestedModel::GroupDraws {
 public:
  // All must outlive it.
  GroupDraws(const NestedModel& model, BitSource& bits)
      : model_(model), bits_(bits), uniform_(bits), response_place_(PlaceOf(model.parts_.response)) {}

  // For about so many records. Errors: those of the joined model.
  absl::Status Begin(int64_t rows) {
    const NestedModelParts& parts = model_.parts_;
    const AttributeSet described = parts.description ? parts.description->attributes() : AttributeSet();
    if (parts.joined != nullptr && rows > 0) {
      ASSIGN_OR_RETURN(joined_, JoinedRecords::Draw(*parts.joined, parts.response, described, rows, bits_));
      for (const uint32_t attribute : parts.joined->attributes())
        joined_places_.push_back(PlaceOf(attribute));
    }
    for (const uint32_t attribute : described) described_places_.push_back(PlaceOf(attribute));
    if (parts.description) {
      const double size = RecordsIn(parts.sizes) / GroupsIn(parts.sizes);
      described_.emplace(*parts.description, std::llround(static_cast<double>(rows) / size), bits_);
    }
    codes_.resize(model_.attributes_.size());
    return absl::OkStatus();
  }

  // The number of records of the next group, whose description and effect are drawn.
  absl::StatusOr<int64_t> NextGroup(const ResponseLaw& law) {
    const int64_t size = model_.DrawSize(uniform_);
    if (!described_) {
      effect_ = law.DrawEffect(uniform_);
      return size;
    }
    ASSIGN_OR_RETURN(const std::span<const uint32_t> drawn, described_->Next());
    description_.assign(drawn.begin(), drawn.end() - 1);
    const double below = model_.parts_.description->Below(drawn.back());
    const double end = model_.parts_.description->Below(drawn.back() + 1);
    effect_ = law.EffectAt(below + (end - below) * uniform_.Next());
    if (joined_) alike_ = joined_->Find(description_);
    return size;
  }

  // A record of this group; valid until the next call.
  std::span<const uint32_t> NextRecord(const ResponseLaw& law) {
    const uint32_t code = law.DrawCode(effect_, uniform_);
    if (joined_) {
      const std::span<const uint32_t> like = joined_->Like(alike_, code, uniform_);
      for (size_t i = 0; i < like.size(); ++i) codes_[joined_places_[i]] = like[i];
    }
    for (size_t i = 0; i < description_.size(); ++i) codes_[described_places_[i]] = description_[i];
    codes_[response_place_] = code;
    return codes_;
  }

 private:
  size_t PlaceOf(uint32_t attribute) const { return *PositionIn(model_.attributes_, attribute); }

  const NestedModel& model_;
  BitSource& bits_;
  UniformDoubles uniform_;
  size_t response_place_;
  std::optional<JoinedRecords> joined_;
  std::vector<size_t> joined_places_;  // in a record
  std::optional<DescribedGroups> described_;
  std::vector<size_t> described_places_;
  // Of the present group:
  double effect_ = 0;
  std::vector<uint32_t> description_;
  JoinedRecords::Alike alike_;
  std::vector<uint32_t> codes_;  // of the record
};

absl::Status NestedModel::SampleGroups(BitSource& bits, int64_t rows, const GroupedRecordSink& sink) const {
  if (rows < 0) return absl::InvalidArgumentError("the number of rows must not be negative");
  GroupDraws draws(*this, bits);
  RETURN_IF_ERROR(draws.Begin(rows));
  int64_t drawn = 0;
  for (int64_t group = 0; drawn < rows; ++group) {
    const ResponseLaw& law = laws_[static_cast<size_t>(group) % laws_.size()];
    ASSIGN_OR_RETURN(const int64_t size, draws.NextGroup(law));
    for (int64_t member = 0; member < size && drawn < rows; ++member, ++drawn)
      RETURN_IF_ERROR(sink(group, draws.NextRecord(law)));
  }
  return absl::OkStatus();
}

absl::Status NestedModel::Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const {
  return SampleGroups(bits, rows,
                      [&](int64_t /*group*/, std::span<const uint32_t> codes) { return sink(codes); });
}

std::string NestedModel::Serialize() const {
  CanonicalWriter writer(kNestedTag, parts_.description ? kDescribedVersion : kNestedVersion);
  writer.Integer(parts_.response);
  writer.Integer(static_cast<int64_t>(parts_.numbers.size()));
  for (const double number : parts_.numbers) writer.Real(number);
  writer.Real(parts_.edge);
  writer.Integer(static_cast<int64_t>(parts_.draws.size()));
  for (const NestedParameters& draw : parts_.draws) {
    writer.Real(draw.mean);
    writer.Real(draw.between);
    writer.Real(draw.within);
  }
  writer.Integer(static_cast<int64_t>(parts_.sizes.size()));
  for (const SizeClass& each : parts_.sizes) {
    writer.Integer(each.least);
    writer.Integer(each.most);
    writer.Real(each.groups);
  }
  writer.Text(parts_.joined_method);
  writer.Text(parts_.joined == nullptr ? std::string() : parts_.joined->Serialize());
  writer.Integer(static_cast<int64_t>(parts_.transcript.size()));
  for (const std::string& line : parts_.transcript) writer.Text(line);
  if (parts_.description) {
    WriteSet(writer, parts_.description->attributes());
    writer.Integer(parts_.description->bins());
    writer.Text(parts_.description->model().Serialize());
  }
  return std::move(writer).Take();
}

namespace {

// A description of groups, still in bytes.
struct StoredDescription {
  AttributeSet attributes;
  int64_t bins = 1;
  std::string model;
};

// A stored model, its joined one and the description of groups still in bytes.
struct StoredNested {
  NestedModelParts parts;
  std::string joined;
  const Synthesizer* method = nullptr;  // that made it; null without one
  std::optional<StoredDescription> description;
};

StoredDescription ReadDescription(CanonicalReader& reader, const Domain& domain, uint32_t response) {
  StoredDescription stored;
  stored.attributes = ReadSet(reader, domain);
  stored.bins = reader.Integer();
  stored.model = reader.Text();
  const bool is_sound = !stored.attributes.empty() && !Contains(stored.attributes, response) &&
                        stored.bins >= 1 && stored.bins <= static_cast<int64_t>(kMostMeanBins);
  if (!is_sound) reader.Refuse();
  return stored;
}

absl::StatusOr<StoredNested> ReadNested(const Domain& domain, std::string_view bytes,
                                        std::span<const Synthesizer* const> joinable) {
  const bool is_described = CanonicalReader(bytes, kNestedTag, kDescribedVersion).ok();
  CanonicalReader reader(bytes, kNestedTag, is_described ? kDescribedVersion : kNestedVersion);
  StoredNested read{.parts = ReadParts(reader, domain), .joined = {}, .description = {}};
  read.parts.joined_method = reader.Text();
  read.joined = reader.Text();
  const int64_t lines = reader.Count();
  for (int64_t i = 0; i < lines && reader.ok(); ++i) read.parts.transcript.push_back(reader.Text());
  if (is_described) read.description = ReadDescription(reader, domain, read.parts.response);
  RETURN_IF_ERROR(reader.Finish());
  if (read.parts.joined_method.empty()) {
    if (!read.joined.empty()) return absl::DataLossError("a model was joined by no method");
    return read;
  }
  const auto method = std::ranges::find(joinable, read.parts.joined_method, &Synthesizer::name);
  if (method == joinable.end())
    return absl::DataLossError("the joined model is of no method that may be joined");
  read.method = *method;
  return read;
}

absl::StatusOr<GroupDescription> RestoreDescription(const Domain& domain, const StoredDescription& stored,
                                                    Pacer& pacer) {
  const Domain of_groups = GroupDescription::DomainOf(domain, stored.attributes, stored.bins);
  ASSIGN_OR_RETURN(std::unique_ptr<SynthesisModel> model,
                   CliqueModel::Restore(of_groups, stored.model, pacer));
  absl::StatusOr<GroupDescription> restored =
      GroupDescription::Create(stored.attributes, stored.bins, std::move(model));
  if (!restored.ok()) return absl::DataLossError(restored.status().message());
  return restored;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SynthesisModel>> NestedModel::Restore(
    const Domain& domain, std::string_view bytes, std::span<const Synthesizer* const> joinable,
    Pacer& pacer) {
  ASSIGN_OR_RETURN(StoredNested read, ReadNested(domain, bytes, joinable));
  RETURN_IF_ERROR(pacer.Check());
  if (read.method != nullptr) {
    ASSIGN_OR_RETURN(read.parts.joined, read.method->RestoreWith(domain, read.joined, pacer));
  }
  if (read.description) {
    const AttributeSet& described = read.description->attributes;
    if (read.parts.joined != nullptr && !IsSubset(described, read.parts.joined->attributes()))
      return absl::DataLossError("the joined model does not cover an attribute of groups");
    ASSIGN_OR_RETURN(read.parts.description, RestoreDescription(domain, *read.description, pacer));
  }
  return std::make_unique<NestedModel>(domain, std::move(read.parts));
}

absl::StatusOr<int64_t> NestedModel::ReadingBytes(const Domain& domain, std::string_view bytes,
                                                  std::span<const Synthesizer* const> joinable) {
  ASSIGN_OR_RETURN(const StoredNested read, ReadNested(domain, bytes, joinable));
  int64_t joined = 0;
  if (read.method != nullptr) {
    ASSIGN_OR_RETURN(joined, read.method->ReadingBytes(domain, read.joined));
  }
  std::optional<int64_t> description;
  if (read.description) {
    const Domain of_groups =
        GroupDescription::DomainOf(domain, read.description->attributes, read.description->bins);
    ASSIGN_OR_RETURN(const int64_t model, CliqueModel::ReadingBytes(of_groups, read.description->model));
    description = model + DescribedGroups::Bytes(std::ssize(read.description->attributes));
  }
  return ReadingBytesOf(NestedModelMemory(domain, std::ssize(read.parts.numbers),
                                          std::ssize(read.parts.draws), std::ssize(bytes), joined,
                                          description));
}

MethodMemory NestedModelMemory(const Domain& domain, int64_t codes, int64_t draws, int64_t stored,
                               int64_t joined, std::optional<int64_t> description) {
  constexpr int64_t kPerPointOfALaw = 32;
  // A law holds a number for each code, and points of a group's effect.
  const int64_t laws =
      draws * (16 * codes + kPerPointOfALaw * static_cast<int64_t>(kEffectPoints)) + 16 * codes;
  const auto width = static_cast<int64_t>(domain.size());
  // By bins of the description: the shares of a marginal with the response.
  const int64_t by_bin = description ? 8 * codes * static_cast<int64_t>(kMostMeanBins) : 0;
  return {.working = 0,
          .model = laws + joined + stored + description.value_or(0),
          .stored = stored,
          .sampling = JoinedRecords::Bytes(width, description.has_value()) + by_bin};
}

double UniformDoubles::Next() {
  if (next_ == words_.size()) {
    bits_.Fill(words_);
    next_ = 0;
  }
  return static_cast<double>(words_[next_++] >> 11) * 0x1p-53;
}

double UniformDoubles::NextNormal() {
  const double radius = std::sqrt(-2 * std::log1p(-Next()));  // of 1 - U, which is above 0
  return radius * std::cos(2 * std::numbers::pi * Next());
}

namespace {

// What this share of a standard normal distribution lies below, within 2^-40, and within [-8, 8].
double StandardNormalAt(double share) {
  double below = -8;
  double above = 8;
  for (int i = 0; i < 44; ++i) {
    const double middle = below + (above - below) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < share ? below : above) = middle;
  }
  return below;
}

}  // namespace

ResponseLaw::ResponseLaw(std::span<const double> numbers, double edge, const NestedParameters& parameters)
    : edge_(edge), parameters_(parameters) {
  for (size_t i = 1; i < numbers.size(); ++i)
    ends_.push_back(numbers[i - 1] + (numbers[i] - numbers[i - 1]) / 2);
  if (edge <= 0) return;
  const GroupGrid grid = GridOf(BinomialGroups{
      .successes = {0, 1}, .edge = edge, .means = {parameters.mean}, .correlations = {parameters.between}});
  const auto& binomial = std::get<BinomialGroupGrid>(grid);
  double sum = 0;
  for (size_t q = 0; q < kEffectPoints; ++q) {
    points_.push_back(std::exp(binomial.log_success[q]));
    cumulative_.push_back(sum += binomial.shares[q]);
  }
}

std::vector<double> ResponseLaw::Shares() const {
  if (edge_ > 0) {
    double successes = 0;
    for (size_t q = 0; q < points_.size(); ++q)
      successes += points_[q] * (cumulative_[q] - (q == 0 ? 0 : cumulative_[q - 1]));
    return {1 - successes, successes};
  }
  return SharesOfNormal(parameters_.mean, std::hypot(parameters_.between, parameters_.within));
}

std::vector<double> ResponseLaw::SharesOfNormal(double mean, double deviation) const {
  std::vector<double> shares;
  double below = 0;
  for (const double end : ends_) {
    const double up_to = std::erfc((mean - end) / deviation / std::numbers::sqrt2) / 2;
    shares.push_back(std::max(0.0, up_to - below));
    below = up_to;
  }
  shares.push_back(std::max(0.0, 1 - below));
  return shares;
}

double ResponseLaw::DrawEffect(UniformDoubles& uniform) const {
  if (edge_ <= 0) return parameters_.mean + parameters_.between * uniform.NextNormal();
  const double aim = uniform.Next() * cumulative_.back();
  const auto found = static_cast<size_t>(std::ranges::upper_bound(cumulative_, aim) - cumulative_.begin());
  return points_[std::min(found, points_.size() - 1)];
}

double ResponseLaw::EffectAt(double share) const {
  if (edge_ <= 0) return parameters_.mean + parameters_.between * StandardNormalAt(share);
  const double aim = share * cumulative_.back();
  const auto found = static_cast<size_t>(std::ranges::upper_bound(cumulative_, aim) - cumulative_.begin());
  return points_[std::min(found, points_.size() - 1)];
}

std::vector<double> ResponseLaw::SharesGiven(double effect) const {
  if (edge_ > 0) return {1 - effect, effect};
  return SharesOfNormal(effect, parameters_.within);
}

uint32_t ResponseLaw::DrawCode(double effect, UniformDoubles& uniform) const {
  if (edge_ > 0) return uniform.Next() < effect ? 1 : 0;
  const double response = effect + parameters_.within * uniform.NextNormal();
  return static_cast<uint32_t>(std::ranges::lower_bound(ends_, response) - ends_.begin());
}

namespace {

std::vector<SizeClass> EmptyClasses(std::span<const int64_t> least_sizes, int64_t largest) {
  std::vector<SizeClass> classes;
  for (size_t i = 0; i < least_sizes.size(); ++i) {
    const int64_t most = i + 1 < least_sizes.size() ? least_sizes[i + 1] - 1 : largest;
    classes.push_back({.least = least_sizes[i], .most = std::max(least_sizes[i], most)});
  }
  if (least_sizes.size() == 1) classes.front().least = largest;  // all groups have the same, public size
  return classes;
}

double MeanSize(const SizeClass& each) {
  return static_cast<double>(each.least + each.most) / 2;
}

// By the conditions of Karush, Kuhn and Tucker, the nearest numbers are what is left of the noisy ones when
// each record costs `price`.
void SetGroups(std::vector<SizeClass>& classes, std::span<const int64_t> noisy_counts, double price) {
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i].groups = std::max(0.0, static_cast<double>(noisy_counts[i]) - price * MeanSize(classes[i]));
}

}  // namespace

std::vector<SizeClass> EstimateSizes(std::span<const int64_t> least_sizes, int64_t largest,
                                     std::span<const int64_t> noisy_counts) {
  double total = 0;
  for (const int64_t count : noisy_counts) total += static_cast<double>(count);
  total = std::max(1.0, total);
  // The projection onto the simplex of this sum: what exceeds a common level.
  std::vector<double> sorted(noisy_counts.begin(), noisy_counts.end());
  std::ranges::sort(sorted, std::greater<>());
  double level = 0;
  double sum = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double of_these = (sum - total) / static_cast<double>(i + 1);
    if (i == 0 || sorted[i] > of_these) level = of_these;
  }
  std::vector<SizeClass> classes = EmptyClasses(least_sizes, largest);
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i].groups = std::max(0.0, static_cast<double>(noisy_counts[i]) - level);
  return classes;
}

std::vector<SizeClass> EstimateSizesOf(double records, std::span<const int64_t> least_sizes, int64_t largest,
                                       std::span<const int64_t> noisy_counts) {
  std::vector<SizeClass> classes = EmptyClasses(least_sizes, largest);
  // At the lowest price each class alone holds enough; at the highest none is left.
  double lowest = 0;
  double highest = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    const double size = MeanSize(classes[i]);
    const double count = static_cast<double>(noisy_counts[i]);
    lowest = std::min(lowest, (count - records / size) / size);
    highest = std::max(highest, count / size);
  }
  constexpr int kHalvings = 100;
  for (int i = 0; i < kHalvings; ++i) {
    const double price = lowest + (highest - lowest) / 2;
    SetGroups(classes, noisy_counts, price);
    (RecordsIn(classes) > records ? lowest : highest) = price;
  }
  SetGroups(classes, noisy_counts, lowest);
  return classes;
}

double GroupsIn(std::span<const SizeClass> classes) {
  double groups = 0;
  for (const SizeClass& each : classes) groups += each.groups;
  return groups;
}

double RecordsIn(std::span<const SizeClass> classes) {
  double records = 0;
  for (const SizeClass& each : classes) records += each.groups * MeanSize(each);
  return records;
}

}  // namespace curator::dp
