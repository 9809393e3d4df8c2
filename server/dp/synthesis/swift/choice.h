// Which sets to measure after a look at noisy errors.
//
// Thread-safe: pure functions of public noisy answers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/clique_tree.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// A candidate after a look.
struct SeenCandidate {
  AttributeSet attributes;  // two or more
  double gain = 0;          // how much error a measurement is expected to take away, in records
  int64_t cells = 1;
};

// What cliques may take.
struct RoomForCliques {
  int64_t max_cells = 1;
  int64_t max_separator = 1;
};

// Up to `count` of the candidates that fit together beside what `graph` connects, by positions, the best
// first: greedily those of the largest gains, less a price of each cell. A gain counts less the more of the
// candidate's pairs were chosen before it, because much of its error is theirs. Of several prices the one
// with which the gains add up to the most. Errors: CANCELLED as in Pacer.
absl::StatusOr<std::vector<size_t>> ChooseSets(std::span<const SeenCandidate> candidates,
                                               const CliqueGraph& graph, const RoomForCliques& room,
                                               int64_t count, Pacer& pacer);

}  // namespace curator::dp
