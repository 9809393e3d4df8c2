#include "client/cli/output/json_fields.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/similar.h"

namespace curator::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

const FieldDescriptor* FieldNamed(const Descriptor& type, const std::string& name) {
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->json_name() == name || type.field(i)->name() == name) return type.field(i);
  }
  return nullptr;
}

std::string DescribeUnknown(const std::string& path, const std::string& name, const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->json_name());
  return absl::StrCat(path.empty() ? "it" : path, " has no field \"", name, "\"",
                      names.empty() ? "" : "; there are: " + absl::StrJoin(names, ", "),
                      DidYouMean(name, names));
}

// Types of protobuf itself have JSON forms of their own, and the keys of a map are free.
bool HasFields(const FieldDescriptor& field) {
  return field.message_type() != nullptr && !field.is_map() &&
         field.message_type()->file()->package() != "google.protobuf";
}

// `depth` bounds the recursion; protobuf refuses deeper texts itself.
std::string UnknownIn(const nlohmann::ordered_json& json, const Descriptor& type, const std::string& path,
                      int depth) {
  if (!json.is_object() || depth == 0) return "";
  for (const auto& [name, value] : json.items()) {
    const FieldDescriptor* field = FieldNamed(type, name);
    if (field == nullptr) return DescribeUnknown(path, name, type);
    if (!HasFields(*field)) continue;
    const std::string own_path = path.empty() ? name : absl::StrCat(path, ".", name);
    if (!field->is_repeated()) {
      if (std::string unknown = UnknownIn(value, *field->message_type(), own_path, depth - 1);
          !unknown.empty())
        return unknown;
      continue;
    }
    for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
      if (std::string unknown =
              UnknownIn(value[i], *field->message_type(), absl::StrCat(own_path, "[", i, "]"), depth - 1);
          !unknown.empty())
        return unknown;
    }
  }
  return "";
}

}  // namespace

std::string UnknownField(const nlohmann::ordered_json& json, const Descriptor& type) {
  constexpr int kDeepest = 100;
  return UnknownIn(json, type, "", kDeepest);
}

}  // namespace curator::cli
