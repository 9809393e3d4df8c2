// What an anchor vouches for.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/history/hash_chain.h"
#include "ledger/history/recount.h"

namespace curator::ledger {

struct AnchorState {
  std::map<std::string, ChainHead> heads;  // by dataset id
  std::map<CounterKey, int64_t> spent;     // the highest value seen; it never falls
  bool operator==(const AnchorState&) const = default;
};

// Answers for single histories and counters, so that nobody has to copy all that an anchor knows.
class AnchorView {
 public:
  virtual ~AnchorView() = default;
  // An empty head, or 0, where the anchor knows nothing. DATA_LOSS when it knows two different entries of the
  // same number.
  virtual absl::StatusOr<ChainHead> HeadOf(const std::string& dataset_id) const = 0;
  virtual int64_t SpentOf(const CounterKey& key) const = 0;
  // The entry up to which this server's own part of the anchor tells of the history and of all that its
  // entries have spent, whatever becomes of the others' parts; 0 when of none.
  virtual int64_t OwnSeqOf(const std::string& dataset_id) const = 0;
};

// Looks into a state that outlives it.
class StateView final : public AnchorView {
 public:
  explicit StateView(const AnchorState& state) : state_(state) {}
  absl::StatusOr<ChainHead> HeadOf(const std::string& dataset_id) const override;
  int64_t SpentOf(const CounterKey& key) const override;
  int64_t OwnSeqOf(const std::string& dataset_id) const override;

 private:
  const AnchorState& state_;
};

// DATA_LOSS when the two are different entries of the same number.
absl::Status CheckAgree(const std::string& dataset_id, const ChainHead& one, const ChainHead& other);

// Raises `state` to the maximum of both, at a price proportional to `other`. DATA_LOSS, with `state` as it
// was, when the two vouch for different histories: the same dataset and seq with different hashes.
absl::Status Raise(AnchorState& state, const AnchorState& other);

// The part of `wanted` that `state` does not vouch for yet.
AnchorState Missing(const AnchorState& state, const AnchorState& wanted);

}  // namespace curator::ledger
