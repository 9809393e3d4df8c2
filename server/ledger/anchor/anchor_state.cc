#include "ledger/anchor/anchor_state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::ledger {

absl::StatusOr<ChainHead> StateView::HeadOf(const std::string& dataset_id) const {
  const auto known = state_.heads.find(dataset_id);
  return known == state_.heads.end() ? ChainHead() : known->second;
}

int64_t StateView::SpentOf(const CounterKey& key) const {
  const auto known = state_.spent.find(key);
  return known == state_.spent.end() ? 0 : known->second;
}

int64_t StateView::OwnSeqOf(const std::string& dataset_id) const {
  const auto known = state_.heads.find(dataset_id);
  return known == state_.heads.end() ? 0 : known->second.seq;
}

absl::Status CheckAgree(const std::string& dataset_id, const ChainHead& one, const ChainHead& other) {
  if (one.seq != other.seq || one.hash == other.hash) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("two anchor files contradict each other: dataset ", dataset_id,
                                          " has two different entries ", one.seq));
}

absl::Status Raise(AnchorState& state, const AnchorState& other) {
  for (const auto& [dataset_id, head] : other.heads) {
    const auto mine = state.heads.find(dataset_id);
    if (mine != state.heads.end()) RETURN_IF_ERROR(CheckAgree(dataset_id, mine->second, head));
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
