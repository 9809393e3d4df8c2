#include "rpc/convert_schema.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/convert_attribute.h"
#include "rpc/convert_constraint.h"
#include "service/datasets/parts.h"

namespace curator::rpc {
namespace {

// What a unit declares is checked by dp::CreateSchema().
dp::PrivacyUnit UnitFromProto(const v1::PrivacyUnit& unit) {
  switch (unit.unit_case()) {
    case v1::PrivacyUnit::kPerson:
      return dp::PersonUnit{unit.person().id_column(), unit.person().max_records()};
    case v1::PrivacyUnit::kGroup:
      return dp::GroupUnit{unit.group().id_column(),
                           unit.group().has_max_records() ? unit.group().max_records() : dp::kNoRecordBound};
    case v1::PrivacyUnit::kRecord:
    case v1::PrivacyUnit::UNIT_NOT_SET:
      break;
  }
  return dp::RecordUnit{};
}

// In the order of the domain. A name that is unknown or stands twice is an error of its own place.
absl::StatusOr<dp::AttributeSet> GroupAttributesFromProto(const v1::Nesting& nesting,
                                                          const dp::Domain& domain) {
  dp::AttributeSet set;
  for (int i = 0; i < nesting.group_attributes_size(); ++i) {
    const std::string field = absl::StrCat("nesting.group_attributes[", i, "]");
    const absl::StatusOr<uint32_t> attribute = domain.IndexOf(nesting.group_attributes(i));
    if (!attribute.ok()) return InvalidField(field, std::string(attribute.status().message()));
    const auto place = std::ranges::lower_bound(set, *attribute);
    if (place != set.end() && *place == *attribute)
      return InvalidField(field, absl::StrCat("names \"", nesting.group_attributes(i), "\" a second time"));
    set.insert(place, *attribute);
  }
  return set;
}

absl::StatusOr<std::optional<dp::Nesting>> NestingFromProto(const v1::Schema& schema,
                                                            const dp::Domain& domain) {
  if (!schema.has_nesting()) return std::nullopt;
  const v1::Nesting& proto = schema.nesting();
  const absl::StatusOr<uint32_t> response = domain.IndexOf(proto.response());
  if (!response.ok()) return InvalidField("nesting.response", std::string(response.status().message()));
  ASSIGN_OR_RETURN(dp::AttributeSet group_attributes, GroupAttributesFromProto(proto, domain));
  return dp::Nesting{
      .group_column = proto.group_column(),
      .response = *response,
      .max_group_size = proto.has_max_group_size() ? proto.max_group_size() : dp::kNoRecordBound,
      .group_attributes = std::move(group_attributes)};
}

// The domain with the constraints of the schema.
absl::StatusOr<dp::Domain> ConstrainedDomain(const v1::Schema& schema, dp::Domain domain) {
  if (schema.constraints().empty()) return domain;
  if (static_cast<size_t>(schema.constraints_size()) > dp::kMaxConstraints) {
    return InvalidField("constraints",
                        absl::StrCat("has ", schema.constraints_size(), " constraints; at most ",
                                     dp::kMaxConstraints, " are allowed"));
  }
  std::vector<dp::ConstraintRule> rules;
  for (int i = 0; i < schema.constraints_size(); ++i) {
    absl::StatusOr<dp::ConstraintRule> rule = FromProto(schema.constraints(i), domain);
    if (!rule.ok()) return WithinField(absl::StrCat("constraints[", i, "]"), rule.status());
    rules.push_back(*std::move(rule));
  }
  return domain.WithConstraints(std::move(rules));
}

absl::StatusOr<char> SeparatorFromProto(const v1::TextFormat& format) {
  if (format.separator().empty()) return ',';
  constexpr std::string_view kSeparators = ",;|\t";
  if (format.separator().size() == 1 && kSeparators.find(format.separator()) != std::string_view::npos)
    return format.separator().front();
  return InvalidField("format.separator", "must be \",\", \";\", \"|\" or a tab (\"\\t\")");
}

struct UnitToProto {
  v1::PrivacyUnit& unit;

  void operator()(const dp::RecordUnit&) const { unit.mutable_record(); }
  void operator()(const dp::PersonUnit& person) const {
    unit.mutable_person()->set_id_column(person.id_column);
    unit.mutable_person()->set_max_records(person.max_records);
  }
  void operator()(const dp::GroupUnit& group) const {
    unit.mutable_group()->set_id_column(group.id_column);
    if (group.max_records != dp::kNoRecordBound) unit.mutable_group()->set_max_records(group.max_records);
  }
};

v1::DatasetState StateProto(ledger::DatasetState state) {
  switch (state) {
    case ledger::DatasetState::kCreated:
      return v1::DATASET_STATE_CREATED;
    case ledger::DatasetState::kSealed:
      return v1::DATASET_STATE_SEALED;
    case ledger::DatasetState::kArchived:
      return v1::DATASET_STATE_ARCHIVED;
    case ledger::DatasetState::kDeleted:
      break;  // never shown
  }
  return v1::DATASET_STATE_UNSPECIFIED;
}

}  // namespace

absl::StatusOr<dp::Schema> FromProto(const v1::Schema& schema) {
  std::vector<dp::Attribute> attributes;
  for (int i = 0; i < schema.attributes_size(); ++i) {
    const std::string path = absl::StrCat("attributes[", i, "]");
    absl::StatusOr<dp::Attribute> attribute = FromProto(schema.attributes(i));
    if (!attribute.ok()) return WithinField(path, attribute.status());
    attributes.push_back(*std::move(attribute));
  }
  std::vector<dp::Measure> measures;
  for (int i = 0; i < schema.measures_size(); ++i) {
    absl::StatusOr<dp::Measure> measure = FromProto(schema.measures(i));
    if (!measure.ok()) return WithinField(absl::StrCat("measures[", i, "]"), measure.status());
    measures.push_back(*std::move(measure));
  }
  ASSIGN_OR_RETURN(dp::Domain domain, dp::Domain::Create(std::move(attributes), std::move(measures)));
  ASSIGN_OR_RETURN(domain, ConstrainedDomain(schema, std::move(domain)));
  ASSIGN_OR_RETURN(std::optional<dp::Nesting> nesting, NestingFromProto(schema, domain));
  ASSIGN_OR_RETURN(dp::Schema converted,
                   dp::CreateSchema(std::move(domain), UnitFromProto(schema.unit()), std::move(nesting)));
  ASSIGN_OR_RETURN(converted.separator, SeparatorFromProto(schema.format()));
  converted.domain_from_records = schema.domain_from_records();
  return converted;
}

v1::Schema ToProto(const dp::Schema& schema) {
  v1::Schema proto;
  for (const dp::Attribute& attribute : schema.domain.attributes()) {
    *proto.add_attributes() = ToProto(attribute);
  }
  for (const dp::Measure& measure : schema.domain.measures()) *proto.add_measures() = ToProto(measure);
  for (const dp::Constraint& constraint : schema.domain.constraints())
    *proto.add_constraints() = ToProto(constraint.rule(), schema.domain);
  std::visit(UnitToProto{*proto.mutable_unit()}, schema.unit);
  if (schema.nesting) {
    v1::Nesting& nesting = *proto.mutable_nesting();
    nesting.set_group_column(schema.nesting->group_column);
    nesting.set_response(schema.domain.attributes()[schema.nesting->response].name());
    if (schema.nesting->max_group_size != dp::kNoRecordBound)
      nesting.set_max_group_size(schema.nesting->max_group_size);
    for (const uint32_t attribute : schema.nesting->group_attributes)
      nesting.add_group_attributes(schema.domain.attributes()[attribute].name());
  }
  if (schema.separator != ',') proto.mutable_format()->set_separator(std::string(1, schema.separator));
  proto.set_domain_from_records(schema.domain_from_records);
  return proto;
}

absl::StatusOr<dp::NeighbourRelation> FromProto(v1::NeighbourRelation relation) {
  switch (relation) {
    case v1::NEIGHBOUR_RELATION_UNSPECIFIED:
    case v1::NEIGHBOUR_RELATION_ADD_REMOVE:
      return dp::NeighbourRelation::kAddRemove;
    case v1::NEIGHBOUR_RELATION_REPLACE_ONE:
      return dp::NeighbourRelation::kReplaceOne;
    default:
      return InvalidField("neighbours",
                          "must be NEIGHBOUR_RELATION_ADD_REMOVE or NEIGHBOUR_RELATION_REPLACE_ONE");
  }
}

absl::StatusOr<dp::RuleSpec> FromProto(const v1::BudgetLimit& limit) {
  dp::RuleSpec rule;
  switch (limit.rule()) {
    case v1::RULE_PURE:
      rule.kind = dp::RuleKind::kPure;
      break;
    case v1::RULE_ADVANCED:
      rule.kind = dp::RuleKind::kAdvanced;
      break;
    case v1::RULE_ZCDP:
      rule.kind = dp::RuleKind::kZcdp;
      break;
    default:
      return InvalidField("rule", "must be RULE_PURE, RULE_ADVANCED or RULE_ZCDP");
  }
  ASSIGN_OR_RETURN(rule.epsilon, dp::Epsilon::Parse(limit.epsilon(), "epsilon"));
  if (!limit.delta().empty()) {
    ASSIGN_OR_RETURN(rule.delta, dp::Delta::Parse(limit.delta(), "delta"));
  }
  return rule;
}

v1::Rule ToProto(dp::RuleKind kind) {
  switch (kind) {
    case dp::RuleKind::kPure:
      return v1::RULE_PURE;
    case dp::RuleKind::kAdvanced:
      return v1::RULE_ADVANCED;
    case dp::RuleKind::kZcdp:
      return v1::RULE_ZCDP;
    case dp::RuleKind::kRdp:
      break;
  }
  return v1::RULE_UNSPECIFIED;
}

v1::BudgetLimit ToProto(const dp::RuleSpec& rule) {
  v1::BudgetLimit limit;
  limit.set_rule(ToProto(rule.kind));
  limit.set_epsilon(rule.epsilon.ToString());
  if (rule.delta.units() > 0) limit.set_delta(rule.delta.ToString());
  return limit;
}

v1::Dataset ToProto(const service::DatasetView& dataset, const Principal& viewer) {
  const ledger::Dataset& record = dataset.record;
  v1::Dataset proto;
  proto.set_name(record.name);
  proto.set_owner(record.owner);
  proto.set_state(StateProto(record.state));
  *proto.mutable_schema() = ToProto(dataset.schema);
  proto.set_neighbours(dataset.unit_bound.relation == dp::NeighbourRelation::kReplaceOne
                           ? v1::NEIGHBOUR_RELATION_REPLACE_ONE
                           : v1::NEIGHBOUR_RELATION_ADD_REMOVE);
  proto.set_public_(record.is_public);
  proto.set_awaits_publication(record.awaits_publication);
  proto.set_id(record.id);
  proto.set_version(record.version);
  SetFacts(record.facts, proto);
  *proto.mutable_create_time() =
      google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(record.created_at_us);
  if (!record.parts.empty()) proto.mutable_partition()->set_attribute(record.partition_attribute);
  for (const ledger::Part& part : record.parts) {
    v1::Part& each = *proto.mutable_partition()->add_parts();
    each.set_name(part.name);
    for (const std::string& label : service::LabelsOf(dataset, part)) each.add_labels(label);
    each.set_state(part.sealed_version > 0 ? v1::DATASET_STATE_SEALED : v1::DATASET_STATE_CREATED);
  }
  if (viewer.name() == record.owner) {
    for (const ledger::Grant& grant : record.grants) {
      if ((grant.roles & ~ledger::kGrantedFormer) != 0) proto.add_grantees(grant.grantee);
    }
  }
  return proto;
}

}  // namespace curator::rpc
