#include "base/request_names.h"

#include "absl/strings/ascii.h"
#include "base/errors.h"
#include "base/text.h"

namespace curator {

absl::StatusOr<RequestId> RequestId::Parse(std::string_view text) {
  if (IsUuid(text) && absl::AsciiStrToLower(std::string(text)) == text) return RequestId(std::string(text));
  return InvalidField("request_id",
                      "must be a UUID in lower case, such as \"3f2504e0-4f89-41d3-9a0c-0305e82c3301\"");
}

}  // namespace curator
