#include "client/cli/output/labels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/output/numeric_edges.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

int64_t WidthOf(const v1::Integer& integer) {
  return integer.has_bin_width() ? integer.bin_width() : 1;
}

int64_t BinsOf(const v1::Integer& integer) {
  const int64_t width = WidthOf(integer);
  if (integer.max() < integer.min() || width < 1) return 0;
  // The span of two 64-bit integers fits only unsigned.
  const uint64_t span = static_cast<uint64_t>(integer.max()) - static_cast<uint64_t>(integer.min());
  return static_cast<int64_t>(std::min<uint64_t>(span / static_cast<uint64_t>(width), INT64_MAX - 1)) + 1;
}

// The last integer of the bin that starts at `low`.
int64_t BinEnd(const v1::Integer& integer, int64_t low) {
  const uint64_t left = static_cast<uint64_t>(integer.max()) - static_cast<uint64_t>(low);
  return low + static_cast<int64_t>(std::min(left, static_cast<uint64_t>(WidthOf(integer)) - 1));
}

std::string LabelOf(const v1::Integer& integer, int64_t code) {
  // Unsigned: min + code * width lies between min and max, though code * width may not fit a signed integer.
  const int64_t low =
      static_cast<int64_t>(static_cast<uint64_t>(integer.min()) +
                           static_cast<uint64_t>(code) * static_cast<uint64_t>(WidthOf(integer)));
  const int64_t last = BinEnd(integer, low);
  if (low == last) return absl::StrCat(low);
  if (last == integer.max()) return absl::StrCat("[", low, ", ", last, "]");
  return absl::StrCat("[", low, ", ", last + 1, ")");
}

// A negative zero is zero, as it is for the server.
std::string TextOfEdge(double edge) {
  return ExactText(edge == 0 ? 0 : edge);
}

std::string LabelOf(const v1::Numeric& numeric, int64_t code) {
  const bool closed = code + 2 == EdgeCount(numeric);
  return absl::StrCat("[", TextOfEdge(EdgeAt(numeric, code)), ", ", TextOfEdge(EdgeAt(numeric, code + 1)),
                      closed ? "]" : ")");
}

std::string LabelOf(const v1::Categorical& categorical, int64_t code) {
  if (code < categorical.values_size()) return categorical.values(static_cast<int>(code));
  return categorical.catch_all();
}

// Marginals with more cells than this do not exist; a larger size is refused before labels are made for it.
constexpr int64_t kMostLabels = int64_t{1} << 24;

}  // namespace

int64_t BinsOf(const v1::Attribute& attribute) {
  switch (attribute.kind_case()) {
    case v1::Attribute::kCategorical:
      return attribute.categorical().values_size() + (attribute.categorical().has_catch_all() ? 1 : 0);
    case v1::Attribute::kInteger:
      return BinsOf(attribute.integer());
    case v1::Attribute::kNumeric:
      return std::max<int64_t>(EdgeCount(attribute.numeric()) - 1, 0);
    case v1::Attribute::kCoded:
      return std::max<int64_t>(attribute.coded().size(), 0);
    default:
      return 0;
  }
}

std::string LabelOf(const v1::Attribute& attribute, int64_t code) {
  switch (attribute.kind_case()) {
    case v1::Attribute::kCategorical:
      return LabelOf(attribute.categorical(), code);
    case v1::Attribute::kInteger:
      return LabelOf(attribute.integer(), code);
    case v1::Attribute::kNumeric:
      return LabelOf(attribute.numeric(), code);
    default:
      return absl::StrCat(code);
  }
}

std::string KindOf(const v1::Attribute& attribute) {
  switch (attribute.kind_case()) {
    case v1::Attribute::kCategorical: {
      const v1::Categorical& categorical = attribute.categorical();
      const std::string others =
          categorical.has_catch_all() ? absl::StrCat(" and \"", categorical.catch_all(), "\"") : "";
      return absl::StrCat("categorical, ", categorical.values_size(), " values", others);
    }
    case v1::Attribute::kInteger: {
      const v1::Integer& integer = attribute.integer();
      const std::string bins = WidthOf(integer) == 1 ? "" : absl::StrCat(" by ", WidthOf(integer));
      return absl::StrCat("integer, ", integer.min(), " to ", integer.max(), bins);
    }
    case v1::Attribute::kNumeric: {
      const std::string words = WordsOf(attribute.numeric());
      return words.empty() ? "numeric" : absl::StrCat("numeric, ", words);
    }
    case v1::Attribute::kCoded:
      return absl::StrCat("coded, 0 to ", attribute.coded().size() - 1);
    default:
      return "unknown";
  }
}

absl::StatusOr<CellLabels> CellLabels::Create(const v1::Schema& schema, const v1::MarginalHeader& marginal) {
  CellLabels result;
  for (int i = 0; i < marginal.attributes_size(); ++i) {
    const std::string& name = marginal.attributes(i);
    const auto attribute =
        std::find_if(schema.attributes().begin(), schema.attributes().end(),
                     [&name](const v1::Attribute& candidate) { return candidate.name() == name; });
    const int64_t bins = attribute == schema.attributes().end() ? 0 : BinsOf(*attribute);
    if (bins < 1 || bins > kMostLabels || bins != marginal.sizes(i)) {
      return absl::DataLossError(absl::StrCat("the answer's attribute ", name, " with ", marginal.sizes(i),
                                              " bins is not the schema's"));
    }
    std::vector<std::string>& labels = result.labels_.emplace_back();
    labels.reserve(static_cast<size_t>(bins));
    for (int64_t code = 0; code < bins; ++code) labels.push_back(LabelOf(*attribute, code));
  }
  result.strides_.assign(result.labels_.size(), 1);
  for (size_t i = result.labels_.size(); i-- > 1;) {
    result.strides_[i - 1] = result.strides_[i] * result.labels_[i].size();
  }
  return result;
}

}  // namespace curator::cli
