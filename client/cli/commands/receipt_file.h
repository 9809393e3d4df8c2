// Receipts in a file, one a line: kept by the commands that charge, read by those that check.
//
// Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/commands/session.h"
#include "curator/v1/accountant.pb.h"
#include "curator/v1/budget.pb.h"

namespace curator::cli {

// All receipts of the file. INVALID_ARGUMENT names the line that is none; NOT_FOUND and the like the file.
absl::StatusOr<std::vector<v1::Receipt>> ReadReceipts(const std::string& path);

// Appends the receipt of a charge; nothing where `path` is empty. The charge stands whatever becomes of the
// file: the error says how to ask for the receipt again.
absl::Status AppendReceipt(const v1::Receipt& receipt, const std::string& charge_id, const std::string& path);

// The same for the session's charge, asked for by its request id.
absl::Status KeepReceipt(Session& session, const std::string& path);

}  // namespace curator::cli
