// The stored bytes of a views model.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/synthesis/dpsyn/views_model.h"

namespace curator::dp {

std::string EncodeViewsModel(const ViewsModelParts& parts);

// Errors: DATA_LOSS for anything that was not encoded so, or for another domain.
absl::StatusOr<ViewsModelParts> DecodeViewsModel(const Domain& domain, std::string_view bytes);

}  // namespace curator::dp
