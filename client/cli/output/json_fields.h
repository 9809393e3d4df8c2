// Fields of a JSON text that the message has not, which it is read into.
//
// Thread-safe: pure functions.
#pragma once

#include <google/protobuf/descriptor.h>

#include <nlohmann/json.hpp>
#include <string>

namespace curator::cli {

// "attributes[0] has no field \"date2\"; there are: name, categorical, ...; did you mean date?" for the first
// field of `json` that a message of this type cannot have, in proto3's JSON form; empty when it has none.
std::string UnknownField(const nlohmann::ordered_json& json, const google::protobuf::Descriptor& type);

}  // namespace curator::cli
