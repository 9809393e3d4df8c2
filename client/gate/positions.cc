#include "client/gate/positions.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace curator::gate {
namespace {

absl::Status Bad(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("watch: ", std::string(what)));
}

bool IsDatasetName(absl::string_view name) {
  constexpr size_t kLongest = 63;
  constexpr absl::string_view kCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  return !name.empty() && name.size() <= kLongest && name.find_first_not_of(kCharacters) == name.npos;
}

}  // namespace

absl::StatusOr<Positions> ParsePositions(std::string_view text) {
  Positions positions;
  if (text.empty()) return positions;
  for (const absl::string_view piece : absl::StrSplit(absl::string_view(text.data(), text.size()), ',')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(piece, absl::MaxSplits(':', 1));
    int64_t sequence = -1;
    if (!IsDatasetName(pair.first) || !absl::SimpleAtoi(pair.second, &sequence) || sequence < 0) {
      return Bad("is DATASET:SEQUENCE, several with commas between them, such as demo:57,census:0");
    }
    if (!positions.emplace(std::string(pair.first), sequence).second) return Bad("names a dataset twice");
    if (positions.size() > kMostWatched) return Bad("names more than 100 datasets");
  }
  return positions;
}

std::string SequencesOf(const Positions& positions) {
  return absl::StrJoin(positions, ".",
                       [](std::string* out, const auto& position) { absl::StrAppend(out, position.second); });
}

bool Resume(std::string_view sequences, Positions& positions) {
  const std::vector<absl::string_view> pieces =
      absl::StrSplit(absl::string_view(sequences.data(), sequences.size()), '.');
  if (pieces.size() != positions.size()) return false;
  Positions resumed = positions;
  size_t next = 0;
  for (auto& [dataset, sequence] : resumed) {
    if (!absl::SimpleAtoi(pieces[next++], &sequence) || sequence < 0) return false;
  }
  positions = std::move(resumed);
  return true;
}

}  // namespace curator::gate
