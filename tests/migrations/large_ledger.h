// A ledger as earlier programs left it, of any size: rows and a hash chain written directly, at schema 9.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "ledger/sql/database.h"

namespace curator::ledger {

// What a large ledger holds, for checks.
struct LargeLedger {
  int64_t entries = 0;
  int64_t spent = 0;
  int64_t held = 0;
  int64_t releases = 0;
};
inline constexpr char kLargeDataset[] =
    "00000000-0000-4000-8000-00000000ca11";  // its id; its name is "large"
inline constexpr int64_t kSchemaOfLargeLedgers = 9;

// Migrates the empty `database` to schema 9 and fills it: one dataset of "olga" with one account (id 1,
// counter "rho", limit twice the charges) and `charges` charges of 1 by ten analysts. Of each hundred one is
// reserved, half of the others are committed with a release of 100 bytes. In transactions of 5,000 charges.
absl::StatusOr<LargeLedger> WriteLargeLedger(sql::Database& database, int64_t charges);

}  // namespace curator::ledger
