// The owner's own access to private records: exact counts, outside of every guarantee.
//
// The owner of the records may compare them with a release. Nothing that is learned here may reach anyone
// else, or decide what is queried next: that would void the guarantee, and every display of it says so. The
// view opens only with a warrant, and a warrant is made in one place only, service/owner_actions, after an
// entry in the history has recorded the owner's access. `.ci/tidy` keeps all other code from including this
// header.
//
// Thread-safe: immutable once made.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/sealed_table_handle.h"
#include "dp/domain/domain.h"
#include "dp/kernel/owner/nested_risk.h"

namespace curator::service {
class OwnerActions;
}  // namespace curator::service

namespace curator::dp {

// Permission for one view. Cannot be copied: one entry, one access.
class OwnerWarrant {
 public:
  OwnerWarrant(OwnerWarrant&&) = default;
  OwnerWarrant& operator=(OwnerWarrant&&) = default;

 private:
  friend class curator::service::OwnerActions;
  OwnerWarrant() = default;
};

class OwnerView {
 public:
  // `table` was sealed under `domain`. Consumes the warrant.
  OwnerView(OwnerWarrant&& warrant, SealedTableHandle table, Domain domain);

  // The exact number of records.
  int64_t Records() const;

  // The exact counts of every cell of every set, row-major. Errors: INVALID_ARGUMENT for sets that are not
  // well-formed or have too many cells (dp/data/count_marginals.h).
  absl::StatusOr<std::vector<std::vector<int64_t>>> Counts(const std::vector<AttributeSet>& sets) const;

  // The responses of each group, by what the codes of `response` stand for. Errors: FAILED_PRECONDITION when
  // the rows lie in no groups; INVALID_ARGUMENT when there is not one number for each code.
  absl::StatusOr<std::vector<RiskGroup>> Responses(uint32_t response, std::span<const double> numbers) const;

 private:
  SealedTableHandle table_;
  Domain domain_;
};

}  // namespace curator::dp
