// Early return on absl::Status, as an expression statement.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define CURATOR_CONCAT_INNER(a, b) a##b
#define CURATOR_CONCAT(a, b) CURATOR_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expression`, an absl::Status, is not OK.
#define RETURN_IF_ERROR(expression)                                                 \
  do {                                                                              \
    if (absl::Status status_macro_value = (expression); !status_macro_value.ok()) { \
      return status_macro_value;                                                    \
    }                                                                               \
  } while (false)

// Declares or assigns `target` from the value of an absl::StatusOr, or returns its status.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_INNER(CURATOR_CONCAT(status_macro_or_, __LINE__), target, expression)

#define ASSIGN_OR_RETURN_INNER(status_or, target, expression) \
  auto status_or = (expression);                              \
  if (!status_or.ok()) return std::move(status_or).status();  \
  target = *std::move(status_or)
