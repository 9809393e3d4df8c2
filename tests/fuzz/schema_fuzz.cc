// The decoder of stored schemas: one schema has one encoding, and what is accepted can be used.
#include <algorithm>

#include "codec/schema_codec.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/messy_table.h"

namespace curator::fuzz {
namespace {

std::string Encoded(std::vector<std::pair<std::string, dp::AttributeKind>> declared, dp::PrivacyUnit unit,
                    std::optional<dp::Nesting> nesting = std::nullopt) {
  std::vector<dp::Attribute> attributes;
  for (auto& [name, kind] : declared) {
    attributes.push_back(dp::Attribute::Create(std::move(name), std::move(kind)).value());
  }
  dp::Domain domain = dp::Domain::Create(std::move(attributes)).value();
  return codec::EncodeSchema(
      dp::CreateSchema(std::move(domain), std::move(unit), std::move(nesting)).value());
}

// Each attribute by itself: inputs are at most some hundred bytes.
std::vector<std::string> MessySchemas() {
  std::vector<std::string> schemas;
  for (const dp::Attribute& attribute : MessyAttributes()) {
    dp::Schema schema = dp::CreateSchema(dp::Domain::Create({attribute}).value(), dp::RecordUnit{}).value();
    schema.separator = ";\t|,"[schemas.size() % 4];
    schema.domain_from_records = schemas.size() % 2 == 1;
    schemas.push_back(codec::EncodeSchema(schema));
  }
  for (const dp::Measure& measure : MessyMeasures()) {
    dp::Domain domain =
        dp::Domain::Create({dp::Attribute::Create("a", dp::CodedKind{2}).value()}, {measure}).value();
    schemas.push_back(codec::EncodeSchema(dp::CreateSchema(std::move(domain), dp::RecordUnit{}).value()));
  }
  return schemas;
}

std::string ConstrainedSchema() {
  const dp::Domain domain =
      dp::Domain::Create({dp::Attribute::Create("a", dp::IntegerKind{0, 9, 5}).value(),
                          dp::Attribute::Create("b", dp::NumericKind{{-1, 0, 7.5}}).value()})
          .value();
  absl::StatusOr<dp::Domain> constrained = domain.WithConstraints(
      {dp::OrderRule{.lower = 0, .upper = 1, .strict = true}, dp::PairsRule{{0, 1}, {{0, 1}, {1, 0}}}});
  return codec::EncodeSchema(dp::CreateSchema(*std::move(constrained), dp::RecordUnit{}).value());
}

}  // namespace

std::vector<std::string> Seeds() {
  const dp::AttributeKind sex = dp::CategoricalKind{{"F", "M"}, "?"};
  const dp::AttributeKind age = dp::IntegerKind{0, 99, 10};
  const dp::AttributeKind score =
      dp::NumericKind{.edges = {}, .even = dp::EvenSteps{.min = -2, .max = 4, .step = 0.5}};
  std::vector<std::string> seeds = {
      Encoded({{"sex", sex}, {"age", age}}, dp::RecordUnit{}),
      Encoded({{"income", dp::NumericKind{{-1e9, 0, 0.5, 1e9}}}, {"zone", dp::CodedKind{70'000}}},
              dp::PersonUnit{"pid", 3}),
      Encoded({{"sex", sex}}, dp::GroupUnit{"household", 12}),
      Encoded({{"score", score}, {"sex", sex}}, dp::RecordUnit{}, dp::Nesting{"school", 0, 50})};
  for (std::string& messy : MessySchemas()) seeds.push_back(std::move(messy));
  seeds.push_back(ConstrainedSchema());
  seeds.push_back(Encoded({{"score", score}, {"sex", sex}}, dp::GroupUnit{"school", 12},
                          dp::Nesting{"school", 0, dp::kNoRecordBound, {1}}));
  return seeds;
}

bool Try(std::string_view bytes) {
  const auto schema = codec::DecodeSchema(bytes);
  if (!schema.ok()) {
    if (!absl::IsDataLoss(schema.status())) Broken("what is refused is damaged", bytes);
    return false;
  }
  if (codec::EncodeSchema(*schema) != bytes) Broken("what is accepted is encoded to the same bytes", bytes);
  for (const dp::Attribute& attribute : schema->domain.attributes()) {
    if (attribute.size() < 1 || attribute.size() > dp::kMaxAttributeSize)
      Broken("an attribute has at least one code, and no more than a column can hold", bytes);
    if (attribute.run_size() < 1 || attribute.run_size() > attribute.size())
      Broken("ranges run over one code at least, and no more than there are", bytes);
  }
  for (const dp::Measure& measure : schema->domain.measures()) {
    if (measure.steps() < 1 || measure.steps() > dp::kMostMeasureSteps)
      Broken("a measure has a step at least, and no more than sums allow", bytes);
    if (measure.size() > dp::kMaxAttributeSize) Broken("a measure has no more codes than a column", bytes);
  }
  if (schema->nesting) {
    const dp::AttributeSet& described = schema->nesting->group_attributes;
    if (!schema->domain.CheckSet(described).ok() ||
        std::ranges::count(described, schema->nesting->response) > 0)
      Broken("attributes of groups are attributes, and not the response", bytes);
  }
  for (const dp::Constraint& constraint : schema->domain.constraints()) {
    const auto [first, second] = constraint.attributes();
    if (first >= second || second >= schema->domain.size())
      Broken("a constraint is between two attributes, in their order", bytes);
    const auto last = [&](uint32_t attribute) {
      return static_cast<uint32_t>(schema->domain.attributes()[attribute].size() - 1);
    };
    if (constraint.Forbids(0, 0) && constraint.Forbids(0, last(second)) &&
        constraint.Forbids(last(first), 0) && constraint.Forbids(last(first), last(second)) &&
        std::holds_alternative<dp::OrderRule>(constraint.rule()))
      Broken("an order allows a pair of bins at one of the four ends", bytes);
  }
  return true;
}

}  // namespace curator::fuzz
