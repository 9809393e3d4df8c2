// A schema from the JSON form of curator.v1.Schema, without protobuf.
#pragma once

#include <string>

#include "dp/domain/domain.h"

namespace curator::golden {

// Each record is a unit. The JSON is one of ours and right; anything else ends the program.
dp::Schema SchemaFromJson(const std::string& json);

}  // namespace curator::golden
