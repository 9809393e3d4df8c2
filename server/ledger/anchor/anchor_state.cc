#include "ledger/anchor/anchor_state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace curator::ledger {

absl::Status Raise(AnchorState& state, const AnchorState& other) {
  for (const auto& [dataset_id, head] : other.heads) {
    const auto mine = state.heads.find(dataset_id);
    if (mine != state.heads.end() && mine->second.seq == head.seq && mine->second.hash != head.hash) {
      return absl::DataLossError(absl::StrCat("two anchors vouch for different histories: dataset ",
                                              dataset_id, " has two different entries ", head.seq));
    }
  }
  for (const auto& [dataset_id, head] : other.heads) {
    ChainHead& mine = state.heads[dataset_id];
    if (mine.seq < head.seq) mine = head;
  }
  for (const auto& [key, spent] : other.spent) {
    int64_t& mine = state.spent[key];
    mine = std::max(mine, spent);
  }
  return absl::OkStatus();
}

AnchorState Missing(const AnchorState& state, const AnchorState& wanted) {
  AnchorState missing;
  for (const auto& [dataset_id, head] : wanted.heads) {
    const auto mine = state.heads.find(dataset_id);
    if (mine == state.heads.end() || mine->second.seq < head.seq) missing.heads.emplace(dataset_id, head);
  }
  for (const auto& [key, spent] : wanted.spent) {
    const auto mine = state.spent.find(key);
    if (mine == state.spent.end() || mine->second < spent) missing.spent.emplace(key, spent);
  }
  return missing;
}

}  // namespace curator::ledger
