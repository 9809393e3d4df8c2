#include "rpc/convert_attribute.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::rpc {
namespace {

absl::StatusOr<dp::AttributeKind> NumericFromProto(const v1::Numeric& numeric) {
  dp::NumericKind kind{.edges = {numeric.edges().begin(), numeric.edges().end()}};
  if (!numeric.has_min() && !numeric.has_max() && !numeric.has_step()) return kind;
  if (!numeric.has_min()) return InvalidField("numeric.min", "is missing beside max or step");
  if (!numeric.has_max()) return InvalidField("numeric.max", "is missing beside min or step");
  if (!numeric.has_step()) return InvalidField("numeric.step", "is missing beside min and max");
  kind.even = {numeric.min(), numeric.max(), numeric.step()};
  return kind;
}

absl::StatusOr<dp::DeclaredTime> TimeOf(const std::string& field, const std::string& text) {
  if (text.empty()) return InvalidField(field, "is missing");
  absl::StatusOr<dp::DeclaredTime> time = dp::ParseDeclaredTime(text);
  if (!time.ok()) return InvalidField(field, std::string(time.status().message()));
  return time;
}

absl::StatusOr<dp::AttributeKind> ListedDatesFromProto(const v1::Date& date) {
  if (!date.from().empty() || !date.to().empty() || date.bins() != v1::Date::BINS_UNSPECIFIED)
    return InvalidField("date.edges", "are given beside from, to and bins");
  dp::DateKind kind{.bins = dp::DateBins::kListed, .zone = date.time_zone()};
  for (int i = 0; i < date.edges_size(); ++i) {
    ASSIGN_OR_RETURN(const dp::DeclaredTime edge, TimeOf(absl::StrCat("date.edges[", i, "]"), date.edges(i)));
    kind.edges.push_back(edge.seconds);
  }
  kind.from = kind.edges.front();
  kind.until = kind.edges.back();
  return kind;
}

absl::StatusOr<dp::DateBins> BinsFromProto(v1::Date::Bins bins) {
  switch (bins) {
    case v1::Date::DAY:
      return dp::DateBins::kDay;
    case v1::Date::WEEK:
      return dp::DateBins::kWeek;
    case v1::Date::MONTH:
      return dp::DateBins::kMonth;
    case v1::Date::QUARTER:
      return dp::DateBins::kQuarter;
    case v1::Date::YEAR:
      return dp::DateBins::kYear;
    default:
      return InvalidField("date.bins", "must be DAY, WEEK, MONTH, QUARTER or YEAR, or edges are listed");
  }
}

v1::Date::Bins ToProto(dp::DateBins bins) {
  switch (bins) {
    case dp::DateBins::kDay:
      return v1::Date::DAY;
    case dp::DateBins::kWeek:
      return v1::Date::WEEK;
    case dp::DateBins::kMonth:
      return v1::Date::MONTH;
    case dp::DateBins::kQuarter:
      return v1::Date::QUARTER;
    case dp::DateBins::kYear:
      return v1::Date::YEAR;
    case dp::DateBins::kListed:
      break;
  }
  return v1::Date::BINS_UNSPECIFIED;
}

constexpr int64_t kSecondsOfDay = 86'400;

absl::StatusOr<dp::AttributeKind> DateFromProto(const v1::Date& date) {
  if (date.edges_size() > 0) return ListedDatesFromProto(date);
  dp::DateKind kind{.zone = date.time_zone()};
  ASSIGN_OR_RETURN(const dp::DeclaredTime from, TimeOf("date.from", date.from()));
  ASSIGN_OR_RETURN(const dp::DeclaredTime to, TimeOf("date.to", date.to()));
  ASSIGN_OR_RETURN(kind.bins, BinsFromProto(date.bins()));
  kind.from = from.seconds;
  kind.until = to.seconds + (to.is_day ? kSecondsOfDay : 0);
  return kind;
}

// The last day of a range that ends at midnight.
std::string EndOfRange(int64_t until) {
  const bool is_midnight = until % kSecondsOfDay == 0;
  return dp::WriteDeclaredTime(is_midnight ? until - kSecondsOfDay : until);
}

absl::StatusOr<dp::AttributeKind> KindFromProto(const v1::Attribute& attribute) {
  switch (attribute.kind_case()) {
    case v1::Attribute::kCategorical: {
      dp::CategoricalKind kind;
      kind.values.assign(attribute.categorical().values().begin(), attribute.categorical().values().end());
      if (attribute.categorical().has_catch_all()) kind.catch_all = attribute.categorical().catch_all();
      kind.ordered = attribute.categorical().ordered();
      return kind;
    }
    case v1::Attribute::kInteger:
      return dp::IntegerKind{
          .min = attribute.integer().min(),
          .max = attribute.integer().max(),
          .bin_width = attribute.integer().has_bin_width() ? attribute.integer().bin_width() : 1};
    case v1::Attribute::kNumeric:
      return NumericFromProto(attribute.numeric());
    case v1::Attribute::kCoded:
      return dp::CodedKind{attribute.coded().size()};
    case v1::Attribute::kDate:
      return DateFromProto(attribute.date());
    case v1::Attribute::KIND_NOT_SET:
      break;
  }
  return InvalidField("", "needs one of categorical, integer, numeric, coded or date");
}

// Of an attribute or a measure.
template <typename Column>
std::optional<dp::Missing> MissingFromProto(const Column& column) {
  if (!column.has_missing()) return std::nullopt;
  const v1::Missing& proto = column.missing();
  dp::Missing missing{.tokens = {proto.tokens().begin(), proto.tokens().end()}, .bin = std::nullopt};
  if (proto.has_bin()) missing.bin = proto.bin();
  return missing;
}

// A character, of which dp knows the allowed ones; `otherwise` where the text is empty.
absl::StatusOr<char> CharacterOf(const std::string& field, const std::string& text, char otherwise,
                                 const std::string& allowed) {
  if (text.empty()) return otherwise;
  if (text.size() == 1 && text.front() != '\0') return text.front();
  return InvalidField(field, "must be " + allowed);
}

absl::StatusOr<dp::Reading> ReadingFromProto(const v1::Reading& proto) {
  dp::Reading reading{.column = proto.column(), .fold_case = proto.fold_case()};
  for (const v1::Synonym& synonym : proto.synonyms())
    reading.synonyms.push_back({synonym.value(), {synonym.texts().begin(), synonym.texts().end()}});
  ASSIGN_OR_RETURN(reading.decimal_sign,
                   CharacterOf("reading.decimal_sign", proto.decimal_sign(), '.', "\".\" or \",\""));
  ASSIGN_OR_RETURN(reading.thousands_separator,
                   CharacterOf("reading.thousands_separator", proto.thousands_separator(), '\0',
                               "one of . , ' _ and a blank: ' also stands for a right quotation mark, and a "
                               "blank for a no-break space"));
  reading.date_formats.assign(proto.date_formats().begin(), proto.date_formats().end());
  return reading;
}

v1::Missing ToProto(const dp::Missing& missing) {
  v1::Missing proto;
  for (const std::string& token : missing.tokens) proto.add_tokens(token);
  if (missing.bin) proto.set_bin(*missing.bin);
  return proto;
}

v1::Reading ToProto(const dp::Reading& reading) {
  v1::Reading proto;
  proto.set_column(reading.column);
  proto.set_fold_case(reading.fold_case);
  for (const dp::Synonym& synonym : reading.synonyms) {
    v1::Synonym& added = *proto.add_synonyms();
    added.set_value(synonym.value);
    for (const std::string& text : synonym.texts) added.add_texts(text);
  }
  if (reading.decimal_sign != '.') proto.set_decimal_sign(std::string(1, reading.decimal_sign));
  if (reading.thousands_separator != '\0')
    proto.set_thousands_separator(std::string(1, reading.thousands_separator));
  for (const std::string& format : reading.date_formats) proto.add_date_formats(format);
  return proto;
}

struct KindToProto {
  v1::Attribute& attribute;

  void operator()(const dp::CategoricalKind& kind) const {
    for (const std::string& value : kind.values) attribute.mutable_categorical()->add_values(value);
    if (kind.catch_all) attribute.mutable_categorical()->set_catch_all(*kind.catch_all);
    attribute.mutable_categorical()->set_ordered(kind.ordered);
  }
  void operator()(const dp::IntegerKind& kind) const {
    attribute.mutable_integer()->set_min(kind.min);
    attribute.mutable_integer()->set_max(kind.max);
    attribute.mutable_integer()->set_bin_width(kind.bin_width);
  }
  void operator()(const dp::NumericKind& kind) const {
    v1::Numeric& numeric = *attribute.mutable_numeric();
    if (kind.even) {
      numeric.set_min(kind.even->min);
      numeric.set_max(kind.even->max);
      numeric.set_step(kind.even->step);
      return;
    }
    for (const double edge : kind.edges) numeric.add_edges(edge);
  }
  void operator()(const dp::CodedKind& kind) const { attribute.mutable_coded()->set_size(kind.size); }
  void operator()(const dp::DateKind& kind) const {
    v1::Date& date = *attribute.mutable_date();
    date.set_time_zone(kind.zone);
    for (const int64_t edge : kind.edges) date.add_edges(dp::WriteDeclaredTime(edge));
    if (kind.bins == dp::DateBins::kListed) return;
    date.set_from(dp::WriteDeclaredTime(kind.from));
    date.set_to(EndOfRange(kind.until));
    date.set_bins(ToProto(kind.bins));
  }
};

}  // namespace

absl::StatusOr<dp::Attribute> FromProto(const v1::Attribute& attribute) {
  ASSIGN_OR_RETURN(dp::AttributeKind kind, KindFromProto(attribute));
  ASSIGN_OR_RETURN(dp::Reading reading, ReadingFromProto(attribute.reading()));
  return dp::Attribute::Create(attribute.name(), std::move(kind), MissingFromProto(attribute),
                               std::move(reading));
}

v1::Attribute ToProto(const dp::Attribute& attribute) {
  v1::Attribute proto;
  proto.set_name(attribute.name());
  std::visit(KindToProto{proto}, attribute.kind());
  if (attribute.missing()) *proto.mutable_missing() = ToProto(*attribute.missing());
  if (attribute.reading() != dp::Reading{}) *proto.mutable_reading() = ToProto(attribute.reading());
  return proto;
}

absl::StatusOr<dp::Measure> FromProto(const v1::Measure& measure) {
  ASSIGN_OR_RETURN(dp::Reading reading, ReadingFromProto(measure.reading()));
  return dp::Measure::Create(measure.name(), {measure.low(), measure.high(), measure.resolution()},
                             MissingFromProto(measure), std::move(reading));
}

v1::Measure ToProto(const dp::Measure& measure) {
  v1::Measure proto;
  proto.set_name(measure.name());
  proto.set_low(measure.bounds().min);
  proto.set_high(measure.bounds().max);
  proto.set_resolution(measure.bounds().step);
  if (measure.missing()) *proto.mutable_missing() = ToProto(*measure.missing());
  if (measure.reading() != dp::Reading{}) *proto.mutable_reading() = ToProto(measure.reading());
  return proto;
}

}  // namespace curator::rpc
