#include "tests/golden/schema_from_json.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace curator::golden {
namespace {

using nlohmann::json;

dp::AttributeKind KindFrom(const json& attribute) {
  if (attribute.contains("categorical")) {
    const json& kind = attribute["categorical"];
    dp::CategoricalKind categorical{.values = kind["values"].get<std::vector<std::string>>(),
                                    .catch_all = {}};
    if (kind.contains("catchAll")) categorical.catch_all = kind["catchAll"].get<std::string>();
    return categorical;
  }
  if (attribute.contains("integer")) {
    const json& kind = attribute["integer"];
    return dp::IntegerKind{kind["min"].get<int64_t>(), kind["max"].get<int64_t>(),
                           kind.value("binWidth", int64_t{1})};
  }
  if (attribute.contains("coded")) return dp::CodedKind{attribute["coded"]["size"].get<int64_t>()};
  return dp::NumericKind{attribute["numeric"]["edges"].get<std::vector<double>>()};
}

}  // namespace

dp::Schema SchemaFromJson(const std::string& text) {
  const json schema = json::parse(text);
  std::vector<dp::Attribute> attributes;
  for (const json& attribute : schema["attributes"]) {
    attributes.push_back(
        dp::Attribute::Create(attribute["name"].get<std::string>(), KindFrom(attribute)).value());
  }
  return dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit{}).value();
}

}  // namespace curator::golden
