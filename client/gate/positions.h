// Places in the histories of datasets, as a page names them: "demo:57,census:0".
//
// Thread-safe: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace curator::gate {

// By dataset: the sequence number of the last entry that is known.
using Positions = std::map<std::string, int64_t>;

inline constexpr size_t kMostWatched = 100;

// An empty text names none. Errors: INVALID_ARGUMENT (the parameter "watch") for another form, a dataset that
// occurs twice, and more than kMostWatched.
absl::StatusOr<Positions> ParsePositions(std::string_view text);
// The sequence numbers in the order of the datasets' names: "0.57". What a page resumes with.
std::string SequencesOf(const Positions& positions);
// Sets the sequence numbers of `positions` to those of SequencesOf(). False, and nothing is set, for a text
// that is not of these datasets.
bool Resume(std::string_view sequences, Positions& positions);

}  // namespace curator::gate
