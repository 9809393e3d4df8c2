// Why a principal did something, for the history.
//
// Thread-safe: a pure function.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/text.h"

namespace curator::service {

// INVALID_ARGUMENT (reason) unless it is a line of 1 to `most_bytes` bytes.
inline absl::Status CheckReason(const std::string& reason, size_t most_bytes) {
  if (reason.empty()) return InvalidField("reason", "say why: it stays in the history");
  if (reason.size() > most_bytes) {
    return InvalidField("reason", absl::StrCat("is longer than ", most_bytes, " bytes"));
  }
  return CheckLine("reason", reason);
}

}  // namespace curator::service
