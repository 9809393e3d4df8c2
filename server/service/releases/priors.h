// Public data that a synthesis may start from: a public dataset, or an earlier synthetic release.
//
// All of it is public, or has been paid for: no private record is read here. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/data/public_table.h"
#include "dp/domain/domain.h"
#include "service/services.h"

namespace curator::service {

struct Prior {
  std::shared_ptr<const dp::PublicTable> table;  // over the domain that it was resolved for
  // Which records these are, for ever: "dataset ID version 1", "release ID". For fingerprints.
  std::string identity;
};

// `name` is that of a public dataset that `principal` may see and that is sealed, or the id of a synthetic
// release of theirs. Each attribute of `domain` must be there, by name, with the same bins; others are left
// out. A release gives as many sampled records as it has, at least 100,000 and at most 1,000,000: a function
// of the release.
//
// Errors, all INVALID_ARGUMENT ("settings.prior"): nothing of that name that one may see; a private dataset;
// one that is not sealed; a release that is no model; an attribute that is missing or has other bins.
absl::StatusOr<Prior> ResolvePrior(Curator& curator, std::string_view principal, const dp::Domain& domain,
                                   const std::string& name);

}  // namespace curator::service
