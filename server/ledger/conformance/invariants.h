// The ledger's invariants, checked from outside: from the rows of its tables alone, by queries and sums of
// its own, so that a mistake in the ledger's own verification does not hide one in the ledger.
#pragma once

#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::ledger {

// What a client was told about a charge. From then on it is true, whatever happens.
struct Acknowledged {
  std::string principal;
  std::string request_id;
  ChargeState state = ChargeState::kStarted;
  std::string payload;  // of its release; empty when none was told of
};

// What the tables show against the invariants, in words; empty when nothing:
//   0 <= spent, 0 <= held, spent + held <= limit; spent and held are the sums of the postings that count
//   one charge per (principal, request id); one release per charge, of a committed charge, with its hash
//   each dataset's entries are chained without a gap and end at its head; each charge has its entry
//   the draw's key is there exactly as long as a draw may happen
//   all that was acknowledged is there
std::vector<std::string> ViolationsIn(sql::Database& store,
                                      const std::vector<Acknowledged>& acknowledged = {});

// The same, and what the ledger's own verification finds, for all of its datasets; and anchors that are
// ahead of their histories.
std::vector<std::string> ViolationsIn(Ledger& ledger, sql::Database& store,
                                      const std::vector<Acknowledged>& acknowledged = {});

}  // namespace curator::ledger
