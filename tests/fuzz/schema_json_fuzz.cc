// Schemas as people write them, in JSON: whatever the file holds, it is read or refused with words, and what
// is read can be written and read again.
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include "absl/strings/match.h"
#include "client/cli/schema/schema_file.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {

std::vector<std::string> Seeds() {
  return {
      R"({"attributes": [{"name": "sex", "categorical": {"values": ["F", "M"], "catchAll": "?"}},
               {"name": "age", "integer": {"min": 0, "max": "99", "bin_width": 10}}],
             "unit": {"person": {"id_column": "pid", "max_records": 3}}})",
      R"({"attributes": [{"name": "income", "numeric": {"edges": [-1e9, 0, 0.5, 1e9]}},
               {"name": "score", "numeric": {"min": -2, "max": 4, "step": 0.5}},
               {"name": "zone", "coded": {"size": 70000}}], "nesting": {"groupColumn": "school"}})",
      R"({"attributes": [{"name": "born", "date": {"from": "1990-01-01", "to": "2020-12-31", "bins": "MONTH",
               "timeZone": "Europe/Berlin"}, "missing": {"bin": "unknown"}, "reading": {"dateFormats": ["D.M.YYYY"]}},
               {"name": "seen", "date": {"edges": ["2019-01-01", "2019-03-31T12:00:00", "2020-01-01"]}}]})",
      R"({"attributes": [{"name": "size", "categorical": {"values": ["S", "M"], "ordered": true},
               "missing": {"tokens": ["-"]}, "reading": {"foldCase": true,
               "synonyms": [{"value": "S", "texts": ["small"]}]}},
               {"name": "pay", "numeric": {"edges": [0, 1]}, "reading": {"column": "Pay", "decimalSign": ",",
               "thousandsSeparator": "."}}], "format": {"separator": ";"}, "domainFromRecords": true})",
      R"(// from a template
{"attributes": [{"name": "a // b", "coded": {"size": 2}} // the last one
], "domainFromRecords": true, "looks": [{"time": "2026-11-28T04:00:00Z", "acceptedDomain": true,
    "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}]})",
      R"({"attributes": [{"name": "income", "integer": {"min": 0, "max": 9}}], "measures": [{"name": "income",
               "low": 0, "high": 200000, "resolution": 100, "missing": {"tokens": ["", "?"]},
               "reading": {"column": "Income", "decimalSign": ","}}]})",
      "{}",
      R"({"attributes": [{"name": "a", "colour": 1}]})",
      "[1, 2"};
}

bool Try(std::string_view text) {
  const auto schema = cli::ParseSchemaFile(text, "schema.json");
  if (!schema.ok()) {
    if (!absl::IsInvalidArgument(schema.status()) ||
        !absl::StrContains(schema.status().message(), "schema.json"))
      Broken("a refusal names the file", text);
    return false;
  }
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(schema->schema, &json).ok()) return true;
  const auto again = cli::ParseSchemaFile(json, "schema.json");
  // JSON has one text for 0 and -0, which are equal but not the same bytes.
  if (!again.ok() || (again->schema.SerializeAsString() != schema->schema.SerializeAsString() &&
                      !google::protobuf::util::MessageDifferencer::Equals(again->schema, schema->schema)))
    Broken("what is read can be written and read again", text);
  return true;
}

}  // namespace curator::fuzz
