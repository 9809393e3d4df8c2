// Layer 4 of the audit: whatever is made from the kernel's answers is a function of them. After a release was
// made from one table, it is made again from the same answers beside another table, and must be the same
// bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "dp/kernel/kernel.h"

namespace curator::statistics {

// Makes what leaves the server. A sound release asks the kernel alone; a broken one, made in a test, looks
// through `table`, the hole in its wall.
using Release =
    std::function<absl::StatusOr<std::string>(dp::PrivateQueries& kernel, const dp::SealedTable& table)>;

struct Audited {
  dp::Domain domain;
  dp::UnitBound unit;
  std::vector<dp::CountedEvent> schedule;  // what the release may draw
};

// Why the release interferes with the table, in a sentence, and empty when nothing was found: over the tables
// empty, of one record, of many equal records and of random ones (from AuditSeed(seed)), each beside each
// other.
std::string InterferenceOf(const Release& release, const Audited& audited, uint64_t seed);

}  // namespace curator::statistics
