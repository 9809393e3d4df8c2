// Stored releases that free answers were looked for in, kept in memory: what a release holds never changes.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/lru_cache.h"
#include "base/principal.h"
#include "dp/workload/release.h"
#include "ledger/types.h"

namespace curator::service {

// What the numbers and queries of a release take in memory; an upper estimate.
size_t BytesHeldBy(const dp::WorkloadRelease& release);

class StoredAnswers {
 public:
  struct Stored {
    ledger::Release head;   // as its reader found it, without its payload
    ledger::Charge charge;  // empty unless `head` is of a workload
    // Null: it was not read yet, or it is too large to be kept.
    std::shared_ptr<const dp::WorkloadRelease> answer = nullptr;
  };

  explicit StoredAnswers(size_t most_bytes = size_t{64} << 20) : stored_(most_bytes) {}

  // What was kept for this reader of the release with this number (Release::number); null when nothing was.
  std::shared_ptr<const Stored> Find(const Principal& reader, const std::string& dataset_id, int64_t number);

  // Returns what is kept now, without the answer if that is large.
  std::shared_ptr<const Stored> Keep(const Principal& reader, Stored stored);
  // After a principal was forgotten: another one may have its name.
  void Clear() { stored_.Clear(); }

 private:
  LruCache<Stored> stored_;
};

}  // namespace curator::service
