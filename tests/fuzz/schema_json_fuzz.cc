// Schemas as people write them, in JSON: whatever the file holds, it is read or refused with words, and what
// is read can be written and read again.
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include "absl/strings/match.h"
#include "client/cli/output/files.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {

std::vector<std::string> Seeds() {
  return {R"({"attributes": [{"name": "sex", "categorical": {"values": ["F", "M"], "catchAll": "?"}},
               {"name": "age", "integer": {"min": 0, "max": "99", "bin_width": 10}}],
             "unit": {"person": {"id_column": "pid", "max_records": 3}}})",
          R"({"attributes": [{"name": "income", "numeric": {"edges": [-1e9, 0, 0.5, 1e9]}},
               {"name": "score", "numeric": {"min": -2, "max": 4, "step": 0.5}},
               {"name": "zone", "coded": {"size": 70000}}], "nesting": {"groupColumn": "school"}})",
          "{}", R"({"attributes": [{"name": "a", "colour": 1}]})", "[1, 2"};
}

bool Try(std::string_view text) {
  const auto schema = cli::ParseSchema(std::string(text), "schema.json");
  if (!schema.ok()) {
    if (!absl::IsInvalidArgument(schema.status()) ||
        !absl::StrContains(schema.status().message(), "schema.json"))
      Broken("a refusal names the file", text);
    return false;
  }
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(*schema, &json).ok()) return true;
  const auto again = cli::ParseSchema(json, "schema.json");
  // JSON has one text for 0 and -0, which are equal but not the same bytes.
  if (!again.ok() || (again->SerializeAsString() != schema->SerializeAsString() &&
                      !google::protobuf::util::MessageDifferencer::Equals(*again, *schema)))
    Broken("what is read can be written and read again", text);
  return true;
}

}  // namespace curator::fuzz
