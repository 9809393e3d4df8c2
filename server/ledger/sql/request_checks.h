// Checks of requests before the store is asked. Errors: INVALID_ARGUMENT, which names the field.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ledger/ledger.h"

namespace curator::ledger::sql {

// OK for text that both stores keep unchanged: 1 to 1,000 bytes of UTF-8 without zero bytes.
absl::Status CheckText(std::string_view field, std::string_view text);
// CheckText(), or empty.
absl::Status CheckOptionalText(std::string_view field, std::string_view text);

// OK for the keyed hash of a file.
absl::Status CheckFileHash(std::string_view hash);
absl::Status CheckDatasetSpec(const DatasetSpec& spec);
absl::Status CheckNewPart(const NewPart& part);
// FAILED_PRECONDITION when `parts` is more than a dataset may have.
absl::Status CheckPartCount(size_t parts);
absl::Status CheckNewAccount(const NewAccount& account);
absl::Status CheckChargeRequest(const ChargeRequest& request);
// OK within 1 and 1,000.
absl::Status CheckPageLimit(int64_t limit);
absl::Status CheckPostings(const std::vector<Posting>& postings);

}  // namespace curator::ledger::sql
