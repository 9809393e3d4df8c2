#include "rpc/convert_attribute.h"

#include <utility>
#include <variant>

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

absl::StatusOr<dp::AttributeKind> KindFromProto(const v1::Attribute& attribute) {
  switch (attribute.kind_case()) {
    case v1::Attribute::kCategorical: {
      dp::CategoricalKind kind;
      kind.values.assign(attribute.categorical().values().begin(), attribute.categorical().values().end());
      if (attribute.categorical().has_catch_all()) kind.catch_all = attribute.categorical().catch_all();
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
    case v1::Attribute::KIND_NOT_SET:
      break;
  }
  return InvalidField("", "needs one of categorical, integer, numeric or coded");
}

struct KindToProto {
  v1::Attribute& attribute;

  void operator()(const dp::CategoricalKind& kind) const {
    for (const std::string& value : kind.values) attribute.mutable_categorical()->add_values(value);
    if (kind.catch_all) attribute.mutable_categorical()->set_catch_all(*kind.catch_all);
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
};

}  // namespace

absl::StatusOr<dp::Attribute> FromProto(const v1::Attribute& attribute) {
  ASSIGN_OR_RETURN(dp::AttributeKind kind, KindFromProto(attribute));
  return dp::Attribute::Create(attribute.name(), std::move(kind));
}

v1::Attribute ToProto(const dp::Attribute& attribute) {
  v1::Attribute proto;
  proto.set_name(attribute.name());
  std::visit(KindToProto{proto}, attribute.kind());
  return proto;
}

}  // namespace curator::rpc
