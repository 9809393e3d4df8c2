// Early return on absl::Status, as an expression statement.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define CURATOR_CONCAT_INNER(a, b) a##b
#define CURATOR_CONCAT(a, b) CURATOR_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expression`, an absl::Status, is not OK. The expression may be a
// call that takes a lambda in which these macros are used again.
#define RETURN_IF_ERROR(expression) \
  RETURN_IF_ERROR_INNER(CURATOR_CONCAT(status_macro_value_, __COUNTER__), expression)

#define RETURN_IF_ERROR_INNER(status_value, expression)                 \
  do {                                                                  \
    if (absl::Status status_value = (expression); !status_value.ok()) { \
      return status_value;                                              \
    }                                                                   \
  } while (false)

// Declares or assigns `target` from the value of an absl::StatusOr, or returns its status.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_INNER(CURATOR_CONCAT(status_macro_or_, __COUNTER__), target, expression)

#define ASSIGN_OR_RETURN_INNER(status_or, target, expression) \
  auto status_or = (expression);                              \
  if (!status_or.ok()) return std::move(status_or).status();  \
  target = *std::move(status_or)
