// The latest releases of each principal on each dataset, kept in memory: whether one of them would have
// answered a new request for nothing is known without reading the ledger.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/lru_cache.h"
#include "base/principal.h"
#include "dp/workload/release.h"
#include "service/access.h"

namespace curator::service {

class RecentReleases {
 public:
  struct Recent {
    std::string release_id;
    std::vector<int64_t> parts;  // by number; none of a dataset without parts
    dp::WorkloadRelease release;
  };
  using List = std::vector<std::shared_ptr<const Recent>>;  // the newest first

  explicit RecentReleases(size_t most_bytes = size_t{64} << 20) : lists_(most_bytes) {}

  // What was kept since the dataset has its present revision. Null: nothing is known, and the ledger is to be
  // searched once.
  std::shared_ptr<const List> Find(const Principal& principal, const ledger::Dataset& dataset);

  // Begins a list: with what the ledger was found to have.
  void Begin(const Principal& principal, const ledger::Dataset& dataset, std::optional<Recent> found);
  // Whether Add() would keep such a release: it is not large.
  static bool MayKeep(const dp::WorkloadRelease& release);

  // Adds to a list that was begun, unless the release is large. Of two that are added at the same time, one
  // may be missing.
  void Add(const Principal& principal, const ledger::Dataset& dataset, Recent recent);
  // After a principal was forgotten: another one may have its name.
  void Clear() { lists_.Clear(); }

 private:
  LruCache<List> lists_;
};

// The id of the newest of `list` that answers all of `asked` about these parts.
std::optional<std::string> FindAmong(const RecentReleases::List& list, const dp::Domain& domain,
                                     const std::vector<int64_t>& parts,
                                     const std::vector<dp::AskedSet>& asked,
                                     const std::stop_token& client_left);

}  // namespace curator::service
