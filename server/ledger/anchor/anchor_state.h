// The state that an anchor covers: chain heads and spent counters.
//
// Thread-safe: plain values and pure functions.
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
  std::map<CounterKey, int64_t> spent;     // the highest value seen; never decreases
  bool operator==(const AnchorState&) const = default;
};

// Look-ups of single histories and counters, without copying a whole state. Thread-safe.
class AnchorView {
 public:
  virtual ~AnchorView() = default;
  // An empty head, or 0, for what the anchor does not cover. DATA_LOSS when its files contain two different
  // entries of the same seq.
  virtual absl::StatusOr<ChainHead> HeadOf(const std::string& dataset_id) const = 0;
  virtual int64_t SpentOf(const CounterKey& key) const = 0;
  // The seq up to which this server's own anchor file covers the history and everything that its entries have
  // spent, independently of other servers' files; 0 when it covers none.
  virtual int64_t OwnSeqOf(const std::string& dataset_id) const = 0;
};

// A view of a state, which must outlive it and not change.
class StateView final : public AnchorView {
 public:
  explicit StateView(const AnchorState& state) : state_(state) {}
  absl::StatusOr<ChainHead> HeadOf(const std::string& dataset_id) const override;
  int64_t SpentOf(const CounterKey& key) const override;
  int64_t OwnSeqOf(const std::string& dataset_id) const override;

 private:
  const AnchorState& state_;
};

// DATA_LOSS when the two are different entries of the same seq.
absl::Status CheckAgree(const std::string& dataset_id, const ChainHead& one, const ChainHead& other);

// Raises `state` to the maximum of both, in time proportional to the size of `other`. DATA_LOSS, with `state`
// unchanged, when the two cover different histories: the same dataset and seq with different hashes.
absl::Status Raise(AnchorState& state, const AnchorState& other);

// The part of `wanted` that `state` does not cover yet.
AnchorState Missing(const AnchorState& state, const AnchorState& wanted);

}  // namespace curator::ledger
