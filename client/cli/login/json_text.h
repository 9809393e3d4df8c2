// Texts in JSON that another program wrote.
//
// Thread-safe: a pure function.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace curator::cli {

// Empty when the member is missing, or no text.
inline std::string TextOf(const nlohmann::json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace curator::cli
