#include "base/request_names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "base/errors.h"
#include "base/text.h"

namespace curator {

absl::StatusOr<RequestId> RequestId::Parse(std::string_view text) {
  // A program that forgot to make an id sends zeros: two of its requests would be one.
  static constexpr std::string_view kNil = "00000000-0000-0000-0000-000000000000";
  if (text == kNil) return InvalidField("request_id", "must be a new UUID, not the one of zeros");
  if (IsUuid(text) && std::ranges::none_of(text, absl::ascii_isupper)) return RequestId(std::string(text));
  return InvalidField("request_id",
                      "must be a UUID in lower case, such as \"3f2504e0-4f89-41d3-9a0c-0305e82c3301\"");
}

}  // namespace curator
