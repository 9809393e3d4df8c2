// Receipts, and the links of the hash chain, checked by whoever holds them: nothing here asks the server.
//
// The formula of a link's hash is that of server/ledger/history/hash_chain.h, written a second time.
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "curator/v1/budget.pb.h"

namespace curator::client {

// What a receipt states.
struct ReceiptStatement {
  std::string ledger_id;
  std::string dataset_id;
  int64_t sequence = 0;
  std::string entry_hash;  // 32 bytes
  std::string charge_id;
};

// INVALID_ARGUMENT, saying why, when the receipt is not signed by `public_key` (32 bytes) or states nothing.
absl::StatusOr<ReceiptStatement> CheckReceipt(const v1::Receipt& receipt, std::string_view public_key);

// A receipt as one line of a file: a JSON object of "statement", "signature" and "public_key"; and back.
// INVALID_ARGUMENT for a line that is none.
std::string LineOf(const v1::Receipt& receipt);
absl::StatusOr<v1::Receipt> ReceiptOfLine(const std::string& line);

// The hash that an entry must have.
std::string HashOf(const v1::LedgerEntry& entry);

// The bytes of hexadecimal digits; empty when they are none.
std::string BytesOfHex(std::string_view digits);

}  // namespace curator::client
