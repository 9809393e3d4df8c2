// The pages of listings from the audit, which go on after a time and an id.
//
// Thread-safe: pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "audit/audit_store.h"
#include "rpc/page.h"

namespace curator::rpc {

// INVALID_ARGUMENT (page_token) for a token that TokenAfter() did not make.
absl::StatusOr<audit::AuditPlace> PlaceOf(const PageAsked& page);

std::string TokenAfter(const PageAsked& page, const audit::AuditPlace& place);

}  // namespace curator::rpc
