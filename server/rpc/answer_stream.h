// Answers as they are streamed: marginals as their cells, other query sets as tables of labelled answers.
//
// Every message stays below 1 MiB. Errors: CANCELLED when `write` returns false. Thread-safe: functions of
// their arguments.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "curator/v1/query.pb.h"
#include "dp/domain/domain.h"
#include "dp/workload/asked_set.h"
#include "service/releases/releases.h"
#include "service/workloads/answers.h"
#include "service/workloads/selection.h"

namespace curator::rpc {

// Sends one message; returns false when the client has left.
using ChunkWriter = std::function<bool(const v1::AnswerChunk&)>;

// Fills the header's numbers of marginals and of other query sets.
void CountSets(std::span<const dp::AskedSet> asked, v1::AnswerHeader& header);

// All sets of a release, in order; of a set of statistics what `selection`, which was checked, shows. Errors:
// also those of ReleaseAnswers.
absl::Status WriteAnswers(const dp::Domain& domain, std::span<const dp::AskedSet> asked,
                          service::ReleaseAnswers& answers,
                          const std::optional<service::Selection>& selection, const ChunkWriter& write);

// A set that a model answered; `position` is its place in the workload.
absl::Status WriteModelAnswer(const dp::Domain& domain, const service::ModelAnswer& answer, int position,
                              const ChunkWriter& write);

}  // namespace curator::rpc
