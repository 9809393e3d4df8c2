#include "client/cli/schema/schema_file.h"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/output/files.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

using nlohmann::ordered_json;

// Blanks instead of comments, so that every other character keeps its place. JSON has no slash outside of
// texts, so that a file without comments is unchanged.
std::string WithoutComments(std::string_view text) {
  std::string plain(text);
  bool in_text = false;
  for (size_t i = 0; i < plain.size(); ++i) {
    if (in_text && plain[i] == '\\') {
      ++i;
    } else if (plain[i] == '"') {
      in_text = !in_text;
    } else if (!in_text && plain.compare(i, 2, "//") == 0) {
      for (; i < plain.size() && plain[i] != '\n'; ++i) plain[i] = ' ';
    } else if (plain[i] == '\n') {
      in_text = false;  // JSON has no text over several lines; its reader says so
    }
  }
  return plain;
}

absl::StatusOr<v1::OwnerLook> LookIn(const ordered_json& json) {
  const auto wrong = [](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat("\"looks\": ", what));
  };
  if (!json.is_object()) return wrong("each look is an object");
  for (const auto& [key, value] : json.items()) {
    if (key != "sha256" && key != "time" && key != "acceptedDomain")
      return wrong(absl::StrCat("\"", key, "\" is none of \"sha256\", \"time\" and \"acceptedDomain\""));
  }
  const auto text = [&json](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  v1::OwnerLook look;
  constexpr size_t kHexDigits = 64;
  const std::string hash = text("sha256");
  if (hash.size() != kHexDigits || hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    return wrong("\"sha256\" has 64 hexadecimal digits, a to f in lower case");
  look.set_content_hash(absl::HexStringToBytes(hash));
  if (!google::protobuf::util::TimeUtil::FromString(text("time"), look.mutable_time()))
    return wrong("\"time\" is a time such as \"2026-11-26T00:00:00Z\"");
  const auto accepted = json.find("acceptedDomain");
  if (accepted != json.end() && !accepted->is_boolean()) return wrong("\"acceptedDomain\" is true or false");
  look.set_accepted_domain(accepted != json.end() && accepted->get<bool>());
  return look;
}

absl::StatusOr<std::vector<v1::OwnerLook>> LooksIn(const ordered_json& json) {
  if (!json.is_array()) return absl::InvalidArgumentError("\"looks\" is a list");
  std::vector<v1::OwnerLook> looks;
  for (const ordered_json& each : json) {
    ASSIGN_OR_RETURN(looks.emplace_back(), LookIn(each));
  }
  return looks;
}

ordered_json TextsOf(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  ordered_json list = ordered_json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

void AddTo(ordered_json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

ordered_json ObjectOf(const v1::Categorical& kind) {
  ordered_json json = ordered_json::object();
  if (kind.values_size() > 0) json["values"] = TextsOf(kind.values());
  if (kind.has_catch_all()) json["catchAll"] = kind.catch_all();
  if (kind.ordered()) json["ordered"] = true;
  return json;
}

ordered_json ObjectOf(const v1::Integer& kind) {
  ordered_json json = ordered_json::object();
  if (kind.min() != 0 || kind.max() != 0) json = {{"min", kind.min()}, {"max", kind.max()}};
  if (kind.has_bin_width()) json["binWidth"] = kind.bin_width();
  return json;
}

// Whole numbers without a point, "5000" and not "5000.0".
ordered_json NumberOf(double number) {
  constexpr double kExact = 1e15;
  if (number >= -kExact && number <= kExact && number == static_cast<double>(static_cast<int64_t>(number)))
    return static_cast<int64_t>(number);
  return number;
}

ordered_json ObjectOf(const v1::Numeric& kind) {
  ordered_json json = ordered_json::object();
  for (const double edge : kind.edges()) json["edges"].push_back(NumberOf(edge));
  if (kind.has_min()) json["min"] = NumberOf(kind.min());
  if (kind.has_max()) json["max"] = NumberOf(kind.max());
  if (kind.has_step()) json["step"] = NumberOf(kind.step());
  return json;
}

ordered_json ObjectOf(const v1::Date& kind) {
  ordered_json json = ordered_json::object();
  AddTo(json, "from", kind.from());
  AddTo(json, "to", kind.to());
  if (kind.bins() != v1::Date::BINS_UNSPECIFIED) json["bins"] = v1::Date::Bins_Name(kind.bins());
  if (kind.edges_size() > 0) json["edges"] = TextsOf(kind.edges());
  AddTo(json, "timeZone", kind.time_zone());
  return json;
}

ordered_json ObjectOf(const v1::Missing& missing) {
  ordered_json json = ordered_json::object();
  if (missing.tokens_size() > 0) json["tokens"] = TextsOf(missing.tokens());
  if (missing.has_bin()) json["bin"] = missing.bin();
  return json;
}

ordered_json ObjectOf(const v1::Reading& reading) {
  ordered_json json = ordered_json::object();
  AddTo(json, "column", reading.column());
  if (reading.fold_case()) json["foldCase"] = true;
  for (const v1::Synonym& synonym : reading.synonyms()) {
    json["synonyms"].push_back({{"value", synonym.value()}, {"texts", TextsOf(synonym.texts())}});
  }
  AddTo(json, "decimalSign", reading.decimal_sign());
  AddTo(json, "thousandsSeparator", reading.thousands_separator());
  if (reading.date_formats_size() > 0) json["dateFormats"] = TextsOf(reading.date_formats());
  return json;
}

ordered_json ObjectOf(const v1::Nesting& nesting) {
  ordered_json json = ordered_json::object();
  AddTo(json, "groupColumn", nesting.group_column());
  AddTo(json, "response", nesting.response());
  if (nesting.has_max_group_size()) json["maxGroupSize"] = nesting.max_group_size();
  if (!nesting.group_attributes().empty()) json["groupAttributes"] = TextsOf(nesting.group_attributes());
  return json;
}

ordered_json ObjectOf(const v1::Attribute& attribute) {
  ordered_json json = {{"name", attribute.name()}};
  if (attribute.has_categorical()) json["categorical"] = ObjectOf(attribute.categorical());
  if (attribute.has_integer()) json["integer"] = ObjectOf(attribute.integer());
  if (attribute.has_numeric()) json["numeric"] = ObjectOf(attribute.numeric());
  if (attribute.has_coded()) json["coded"] = {{"size", attribute.coded().size()}};
  if (attribute.has_date()) json["date"] = ObjectOf(attribute.date());
  if (attribute.has_missing()) json["missing"] = ObjectOf(attribute.missing());
  if (attribute.has_reading()) json["reading"] = ObjectOf(attribute.reading());
  return json;
}

ordered_json ObjectOf(const v1::Measure& measure) {
  ordered_json json = {{"name", measure.name()},
                       {"low", NumberOf(measure.low())},
                       {"high", NumberOf(measure.high())},
                       {"resolution", NumberOf(measure.resolution())}};
  if (measure.has_missing()) json["missing"] = ObjectOf(measure.missing());
  if (measure.has_reading()) json["reading"] = ObjectOf(measure.reading());
  return json;
}

ordered_json ObjectOf(const v1::Constraint& constraint) {
  if (constraint.has_order()) {
    ordered_json order = {{"lower", constraint.order().lower()}, {"upper", constraint.order().upper()}};
    if (constraint.order().strict()) order["strict"] = true;
    return {{"order", order}};
  }
  ordered_json pairs = ordered_json::array();
  for (const v1::Constraint::AllowedPairs::Pair& pair : constraint.allowed_pairs().pairs())
    pairs.push_back({{"values", TextsOf(pair.values())}});
  return {
      {"allowedPairs", {{"attributes", TextsOf(constraint.allowed_pairs().attributes())}, {"pairs", pairs}}}};
}

ordered_json ObjectOf(const v1::PrivacyUnit& unit) {
  if (unit.has_person()) {
    return {
        {"person", {{"idColumn", unit.person().id_column()}, {"maxRecords", unit.person().max_records()}}}};
  }
  if (!unit.has_group()) return {{"record", ordered_json::object()}};
  ordered_json group = {{"idColumn", unit.group().id_column()}};
  if (unit.group().has_max_records()) group["maxRecords"] = unit.group().max_records();
  return {{"group", group}};
}

// On one line, with a blank after each colon and comma.
std::string LineOf(const ordered_json& json) {
  const std::string dense = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string line;
  bool in_text = false;
  for (size_t i = 0; i < dense.size(); ++i) {
    line.push_back(dense[i]);
    if (in_text && dense[i] == '\\') {
      line.push_back(dense[++i]);
    } else if (dense[i] == '"') {
      in_text = !in_text;
    } else if (!in_text && (dense[i] == ':' || dense[i] == ',')) {
      line.push_back(' ');
    }
  }
  return line;
}

std::string UnfilledKind(const v1::Attribute& attribute) {
  switch (attribute.kind_case()) {
    case v1::Attribute::kCategorical:
      return attribute.categorical().values().empty() ? "categorical, without its values" : "";
    case v1::Attribute::kInteger:
      return attribute.integer().min() == 0 && attribute.integer().max() == 0 ? "integer, without min and max"
                                                                              : "";
    case v1::Attribute::kNumeric: {
      const v1::Numeric& numeric = attribute.numeric();
      const bool has_range = numeric.has_min() || numeric.has_max() || numeric.has_step();
      return numeric.edges().empty() && !has_range ? "numeric, without edges or min, max and step" : "";
    }
    case v1::Attribute::kCoded:
      return attribute.coded().size() == 0 ? "coded, without its size" : "";
    case v1::Attribute::kDate: {
      const v1::Date& date = attribute.date();
      const bool is_empty = date.from().empty() && date.to().empty() && date.edges().empty();
      return is_empty ? "date, without from and to" : "";
    }
    case v1::Attribute::KIND_NOT_SET:
      break;
  }
  return "no kind";
}

}  // namespace

absl::StatusOr<SchemaFile> ParseSchemaFile(std::string_view text, const std::string& path) {
  std::string json = WithoutComments(text);
  ASSIGN_OR_RETURN(ordered_json document, ParseJson(json, path));
  SchemaFile file;
  if (document.is_object() && document.contains("looks")) {
    absl::StatusOr<std::vector<v1::OwnerLook>> looks = LooksIn(document["looks"]);
    if (!looks.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", looks.status().message()));
    file.looks = *std::move(looks);
    document.erase("looks");
    json = document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  RETURN_IF_ERROR(ParseMessage(json, path, "a schema", file.schema));
  const bool accepted = std::any_of(file.looks.begin(), file.looks.end(),
                                    [](const v1::OwnerLook& look) { return look.accepted_domain(); });
  if (accepted && !file.schema.domain_from_records()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": a look took ranges, categories or bins from the records: \"domainFromRecords\" must be true"));
  }
  return file;
}

absl::StatusOr<SchemaFile> ReadSchemaFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  return ParseSchemaFile(text, path);
}

std::string WhatIsUnfilled(const v1::Attribute& attribute) {
  return UnfilledKind(attribute);
}

absl::Status CheckFilled(const v1::Schema& schema, const std::string& path) {
  constexpr int kMostNamed = 8;
  std::string unfilled;
  int count = 0;
  for (const v1::Attribute& attribute : schema.attributes()) {
    const std::string lacks = UnfilledKind(attribute);
    if (lacks.empty() || ++count > kMostNamed) continue;
    absl::StrAppend(&unfilled, unfilled.empty() ? "" : "; ", "\"", attribute.name(), "\" (", lacks, ")");
  }
  if (count == 0) return absl::OkStatus();
  if (count > kMostNamed) absl::StrAppend(&unfilled, "; and ", count - kMostNamed, " more");
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": ", count, count == 1 ? " attribute is" : " attributes are", " not filled in: ", unfilled,
      ". Write the kind of each and its range or values beside its name, or answer the questions of: "
      "curator schema edit ",
      path));
}

std::string JsonOf(const v1::Attribute& attribute) {
  return LineOf(ObjectOf(attribute));
}

std::string JsonOf(const v1::Measure& measure) {
  return LineOf(ObjectOf(measure));
}

std::string JsonOf(const v1::Constraint& constraint) {
  return LineOf(ObjectOf(constraint));
}

std::string JsonOf(const v1::PrivacyUnit& unit) {
  return LineOf(ObjectOf(unit));
}

std::string JsonOf(const v1::OwnerLook& look) {
  return LineOf({{"sha256", Hex(look.content_hash())},
                 {"time", FormatTime(look.time())},
                 {"acceptedDomain", look.accepted_domain()}});
}

std::string JsonOf(std::string_view text) {
  return LineOf(ordered_json(std::string(text)));
}

std::string TextOf(const SchemaFile& file) {
  const v1::Schema& schema = file.schema;
  std::string text =
      "// A schema of curator: everything in it is public. See: curator schema check --help\n"
      "{\n  \"attributes\": [";
  for (int i = 0; i < schema.attributes_size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", "    ", JsonOf(schema.attributes(i)));
  }
  for (int i = 0; i < schema.measures_size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n  ],\n  \"measures\": [\n" : ",\n", "    ",
                    JsonOf(schema.measures(i)));
  }
  for (int i = 0; i < schema.constraints_size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n  ],\n  \"constraints\": [\n" : ",\n", "    ",
                    JsonOf(schema.constraints(i)));
  }
  absl::StrAppend(&text, "\n  ],\n  \"unit\": ", JsonOf(schema.unit()));
  if (schema.has_nesting()) absl::StrAppend(&text, ",\n  \"nesting\": ", LineOf(ObjectOf(schema.nesting())));
  if (!schema.format().separator().empty()) {
    absl::StrAppend(&text, ",\n  \"format\": {\"separator\": ", JsonOf(schema.format().separator()), "}");
  }
  if (schema.domain_from_records()) absl::StrAppend(&text, ",\n  \"domainFromRecords\": true");
  for (size_t i = 0; i < file.looks.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? ",\n  \"looks\": [\n    " : ",\n    ", JsonOf(file.looks[i]));
  }
  absl::StrAppend(&text, file.looks.empty() ? "" : "\n  ]", "\n}\n");
  return text;
}

}  // namespace curator::cli
