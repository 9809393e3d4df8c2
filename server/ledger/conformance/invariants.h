// The ledger's invariants, checked independently: from the rows of its tables alone, by separate queries and
// sums, so that a mistake in the ledger's own verification does not hide one in the ledger.
#pragma once

#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::ledger {

// An acknowledgment of a charge to a client. From then on it must hold, whatever happens.
struct Acknowledged {
  std::string principal;
  std::string request_id;
  ChargeState state = ChargeState::kStarted;
  std::string payload;  // of its release; empty when none was acknowledged
};

// One sentence for each violation of the invariants; empty when there is none:
//   0 <= spent, 0 <= held, spent + held <= limit; spent and held are the sums of the postings that count
//   one charge per (principal, request id); one release per charge, of a committed charge, with its hash
//   each dataset's entries are chained without a gap and end at its head; each charge has its entry
//   the draw's key is stored exactly as long as a draw may happen
//   everything that was acknowledged is stored
std::vector<std::string> ViolationsIn(sql::Database& store,
                                      const std::vector<Acknowledged>& acknowledged = {});

// These, the findings of the ledger's own verification for all of its datasets, and anchors that are ahead of
// their histories.
std::vector<std::string> ViolationsIn(Ledger& ledger, sql::Database& store,
                                      const std::vector<Acknowledged>& acknowledged = {});

}  // namespace curator::ledger
