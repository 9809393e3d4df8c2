// Reference values in the shared folder: published numbers, computed independently with 60 digits.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace curator::shared {

// The cases of `name` ("vectors/filters.json"), then those of the file beside it whose name starts with
// "heldout_", where there is one. Infinity, which is no JSON, becomes the text "inf". The file must exist:
// see REQUIRE_SHARED().
nlohmann::json ReferenceCases(const std::string& name);

}  // namespace curator::shared
