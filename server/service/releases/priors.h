// Public data that a synthesis may start from: a public dataset, or an earlier synthetic release.
//
// Either is public or has been paid for: no private record is read here. Thread-safe.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "dp/data/public_table.h"
#include "dp/domain/domain.h"
#include "service/services.h"

namespace curator::service {

struct Prior {
  std::shared_ptr<const dp::PublicTable> table;  // over the domain that it was resolved for
  // Identifies the records permanently: "dataset ID version 1", "release ID". For fingerprints.
  std::string identity;
  RequestMemory memory = {};  // that reading and holding the records takes
};

// `name` names a sealed public dataset that `principal` may see, or is the id of a synthetic release that
// they may read. It must have each attribute of `domain`, with the same name and bins; further attributes are
// left out. A release gives as many sampled records as its own number, at least 100,000 and at most
// 1,000,000; the same release gives the same records.
//
// Errors, all INVALID_ARGUMENT ("settings.prior"): no such dataset or release that `principal` may see; a
// private dataset; one that is not sealed; a release that is not a model; an attribute that is missing or
// has other bins; records that would take more than kMostFreeBytes. What it takes is added to `memory`: the
// errors of RequestMemory::Add(). CANCELLED when the client has gone, which is asked before each record that
// a release gives, and before the records of a dataset are read.
absl::StatusOr<Prior> ResolvePrior(Services& services, const Principal& principal, const dp::Domain& domain,
                                   const std::string& name, RequestMemory memory,
                                   const std::stop_token& client_left);

// The identity of the prior that `name` names, without its records. Errors: those of ResolvePrior() that do
// not depend on attributes or sizes.
absl::StatusOr<std::string> PriorIdentity(Services& services, const Principal& principal,
                                          const std::string& name);

}  // namespace curator::service
