// Verification of receipts and of the links of the hash chain, without the server.
//
// An independent implementation of the hash of server/ledger/history/hash_chain.h, so that the client can
// check it. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "curator/v1/budget.pb.h"

namespace curator::client {

// The content of a receipt's statement.
struct ReceiptStatement {
  std::string ledger_id;
  std::string dataset_id;
  int64_t sequence = 0;
  std::string entry_hash;  // 32 bytes
  std::string charge_id;
};

// INVALID_ARGUMENT when the receipt is not signed by `public_key` (32 bytes) or its statement is malformed.
absl::StatusOr<ReceiptStatement> CheckReceipt(const v1::Receipt& receipt, std::string_view public_key);

// Converts a receipt to one line of a file, and back. The line is a JSON object of "statement" (the text that
// was signed, byte by byte), "signature" and "public_key" (hexadecimal), and "content": the same statement as
// an object, for readers. INVALID_ARGUMENT for a malformed line, and for one whose content, where it has any,
// is not that of its statement.
std::string LineOf(const v1::Receipt& receipt);
absl::StatusOr<v1::Receipt> ReceiptOfLine(const std::string& line);

// Recomputes the hash of an entry.
std::string HashOf(const v1::LedgerEntry& entry);

// Decodes hexadecimal digits; empty when they are malformed.
std::string BytesOfHex(std::string_view digits);

}  // namespace curator::client
