#include "rpc/convert_constraint.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"

namespace curator::rpc {
namespace {

absl::StatusOr<uint32_t> FindAttribute(const dp::Domain& domain, std::string_view name,
                                       std::string_view field) {
  const absl::StatusOr<uint32_t> attribute = domain.IndexOf(name);
  if (!attribute.ok()) return InvalidField(field, std::string(attribute.status().message()));
  return *attribute;
}

absl::StatusOr<dp::OrderRule> OrderFromProto(const v1::Constraint::Order& proto, const dp::Domain& domain) {
  dp::OrderRule rule{.strict = proto.strict()};
  ASSIGN_OR_RETURN(rule.lower, FindAttribute(domain, proto.lower(), "order.lower"));
  ASSIGN_OR_RETURN(rule.upper, FindAttribute(domain, proto.upper(), "order.upper"));
  return rule;
}

absl::StatusOr<uint32_t> CodeOf(const dp::Attribute& attribute, std::string_view value,
                                const std::string& field) {
  if (const std::optional<uint32_t> code = attribute.CodeOfText(value)) return *code;
  return InvalidField(field, absl::StrCat("\"", std::string(value.substr(0, dp::kMaxTextLength)), "\" of \"",
                                          attribute.name(), "\" ", attribute.WhyTextOutside(value)));
}

absl::StatusOr<dp::PairsRule> PairsFromProto(const v1::Constraint::AllowedPairs& proto,
                                             const dp::Domain& domain) {
  if (proto.attributes_size() != 2) {
    return InvalidField("allowed_pairs.attributes",
                        absl::StrCat("has ", proto.attributes_size(), " names; 2 are needed"));
  }
  dp::PairsRule rule;
  for (int i = 0; i < 2; ++i) {
    ASSIGN_OR_RETURN(
        rule.attributes[static_cast<size_t>(i)],
        FindAttribute(domain, proto.attributes(i), absl::StrCat("allowed_pairs.attributes[", i, "]")));
  }
  for (int pair = 0; pair < proto.pairs_size(); ++pair) {
    const std::string field = absl::StrCat("allowed_pairs.pairs[", pair, "].values");
    const auto& values = proto.pairs(pair).values();
    if (values.size() != 2)
      return InvalidField(field,
                          absl::StrCat("has ", values.size(), " values; one of each attribute is needed"));
    std::array<uint32_t, 2>& codes = rule.allowed.emplace_back();
    for (int i = 0; i < 2; ++i) {
      const dp::Attribute& attribute = domain.attributes()[rule.attributes[static_cast<size_t>(i)]];
      ASSIGN_OR_RETURN(codes[static_cast<size_t>(i)],
                       CodeOf(attribute, values[i], absl::StrCat(field, "[", i, "]")));
    }
  }
  return rule;
}

// Which CodeOfText() reads.
std::string FirstValueOf(const dp::Attribute& attribute, uint32_t code) {
  if (const auto* numeric = std::get_if<dp::NumericKind>(&attribute.kind()))
    return dp::WriteNumber(numeric->edges[code]);
  return attribute.ValueInside(code, 0);
}

struct RuleToProto {
  const dp::Domain& domain;
  v1::Constraint& proto;

  void operator()(const dp::OrderRule& rule) const {
    proto.mutable_order()->set_lower(domain.attributes()[rule.lower].name());
    proto.mutable_order()->set_upper(domain.attributes()[rule.upper].name());
    proto.mutable_order()->set_strict(rule.strict);
  }
  void operator()(const dp::PairsRule& rule) const {
    v1::Constraint::AllowedPairs& pairs = *proto.mutable_allowed_pairs();
    for (const uint32_t attribute : rule.attributes)
      pairs.add_attributes(domain.attributes()[attribute].name());
    for (const std::array<uint32_t, 2>& codes : rule.allowed) {
      v1::Constraint::AllowedPairs::Pair& pair = *pairs.add_pairs();
      for (size_t i = 0; i < 2; ++i)
        pair.add_values(FirstValueOf(domain.attributes()[rule.attributes[i]], codes[i]));
    }
  }
};

}  // namespace

absl::StatusOr<dp::ConstraintRule> FromProto(const v1::Constraint& constraint, const dp::Domain& domain) {
  switch (constraint.rule_case()) {
    case v1::Constraint::kOrder:
      return OrderFromProto(constraint.order(), domain);
    case v1::Constraint::kAllowedPairs:
      return PairsFromProto(constraint.allowed_pairs(), domain);
    case v1::Constraint::RULE_NOT_SET:
      break;
  }
  return InvalidField("rule", "is missing: \"order\" or \"allowed_pairs\" is needed");
}

v1::Constraint ToProto(const dp::ConstraintRule& rule, const dp::Domain& domain) {
  v1::Constraint proto;
  std::visit(RuleToProto{domain, proto}, rule);
  return proto;
}

}  // namespace curator::rpc
