// Pseudonyms: what the ledger's tables and entries have in the place of a principal's name.
//
// pseudonym = "~" and the first 128 bits, as 32 lower-case hexadecimal digits, of HMAC-SHA-256(key, the
// canonical document "curator.ledger.pseudonym", version 1, of Text(name))
//
// Each principal has a key of its own, 32 random bytes, which stand beside the name and the pseudonym in the
// table of pseudonyms. The pseudonym commits the table to the name: a row with another name has another one.
// Without the row nobody can tell whose a pseudonym is, also who guesses the name: hashes that cover the
// pseudonym stay as they are. No principal's name has a "~" (base/principal.h), so a pseudonym is never taken
// for a name.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace curator::ledger {

inline constexpr size_t kPseudonymKeyBytes = 32;

std::string MakePseudonym(std::string_view key, std::string_view name);
bool IsPseudonym(std::string_view text);

// A row of the table of pseudonyms. A principal whose name stands in tables and entries from before there
// were pseudonyms keeps it there: its key is empty, and its pseudonym is its name.
struct PseudonymRow {
  std::string name;
  std::string pseudonym;
  std::string key;
};
// DATA_LOSS unless the pseudonym is that of the name.
absl::Status CheckPseudonymRow(const PseudonymRow& row);

// The pseudonyms within a text, such as a message.
std::vector<std::string> PseudonymsIn(std::string_view text);
// The text with `name_of` each pseudonym in its place.
using NameOfPseudonym = std::function<std::string(const std::string& pseudonym)>;
std::string WithNames(std::string_view text, const NameOfPseudonym& name_of);

}  // namespace curator::ledger
