// The names that a request carries, as types of their own: the compiler refuses a dataset's name where a
// request id is expected, and the reverse. The caller's name is a Principal (base/principal.h).
//
// Value types: copyable, comparable, thread-safe to read.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace curator {

// A dataset's name as a request gives it. Any text is allowed: one that no dataset can have finds none, so a
// caller learns nothing from the kind of error.
class DatasetName {
 public:
  explicit DatasetName(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }

  bool operator==(const DatasetName&) const = default;
  std::strong_ordering operator<=>(const DatasetName&) const = default;

 private:
  std::string text_;
};

// The id under which a client makes a request, and repeats it: a UUID in its 36-character form with
// lower-case digits, because upper case would be another key for the same id.
class RequestId {
 public:
  // Errors: INVALID_ARGUMENT (request_id).
  static absl::StatusOr<RequestId> Parse(std::string_view text);

  const std::string& text() const { return text_; }

  bool operator==(const RequestId&) const = default;
  std::strong_ordering operator<=>(const RequestId&) const = default;

 private:
  explicit RequestId(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

}  // namespace curator
