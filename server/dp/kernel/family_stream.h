// Families of candidates that are made when they are asked for: for classes of queries that are too large to
// be held at once.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "dp/kernel/transcript.h"

namespace curator::dp {

// Public facts, all of it. The families are the same whenever they are asked for; how often that is, is not
// for anybody to conclude from (once in 2^30 draws it depends on the draw), so nothing that is released may
// depend on it.
class FamilyStream {
 public:
  virtual ~FamilyStream() = default;

  virtual size_t size() const = 0;

  // A family without its estimate.
  virtual CandidateFamily Candidates(size_t index) const = 0;

  // The same with its estimate. Errors end the selection; they must not depend on how often it was asked for,
  // but for CANCELLED.
  virtual absl::StatusOr<CandidateFamily> Family(size_t index) const = 0;
};

}  // namespace curator::dp
