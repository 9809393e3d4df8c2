// Answers as they are streamed: marginals as their cells, other query sets as tables of labelled answers.
//
// Every message stays below 1 MiB. Thread-safe: functions of their arguments.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "codec/release_codec.h"
#include "curator/v1/query.pb.h"
#include "dp/domain/domain.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/post_processing.h"

namespace curator::rpc {

// False when the other side has left.
using ChunkWriter = std::function<bool(const v1::AnswerChunk&)>;

// CANCELLED: the error for a chunk that could not be written.
absl::Status ClientLeft();

// What an answer's header says of its parts.
void CountParts(std::span<const dp::AskedSet> asked, v1::AnswerHeader& header);

// INVALID_ARGUMENT ("post_processing") when the answers of `asked` cannot be processed so; before they are
// paid.
absl::Status CheckProcessable(const dp::Domain& domain, std::span<const dp::AskedSet> asked,
                              std::span<const dp::SetPlan> plans, const std::vector<dp::QueryGroup>& measured,
                              const dp::NoiseSpec& noise, const dp::PostProcessing& steps);

// All sets of a release, in order: the same numbers each time. `level` is that of the confidence intervals,
// which are those of the answers before any of `steps`. Errors: CANCELLED when `write` says that the other
// side has left; those of CheckProcessable().
absl::Status WriteAnswers(const dp::Domain& domain, const codec::WorkloadRelease& release, double level,
                          const dp::PostProcessing& steps, const ChunkWriter& write);

// A set that a model answered, `position` in its workload: estimates for each of its groups, and the standard
// deviation of all cells of a group where it is known.
absl::Status WriteEstimates(const dp::Domain& domain, const dp::AskedSet& asked, int position,
                            std::span<const std::vector<double>> estimates,
                            std::span<const std::optional<double>> deviations, const ChunkWriter& write);

}  // namespace curator::rpc
