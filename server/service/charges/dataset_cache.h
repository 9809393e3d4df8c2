// What requests need to know about a dataset, read once: a request on a dataset that was used before reads
// nothing before its charge. What is cached may be outdated, because another server may have changed the
// dataset: the ledger charges a request only while the dataset has the revision that it was priced with
// (ledger::ChargeRequest), and a refusal that rests on what is cached is checked against the ledger.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/lru_cache.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

// A private dataset as one principal sees it.
struct KnownDataset {
  DatasetView view;
  std::vector<ledger::Account> accounts;  // PayingAccounts(), with the balances of when they were read

  int64_t revision() const { return view.record.revision; }
};

class DatasetCache {
 public:
  explicit DatasetCache(size_t most_bytes = size_t{64} << 20) : known_(most_bytes) {}

  // Null when the dataset is not cached for this principal with roles that allow the method.
  std::shared_ptr<const KnownDataset> Find(Method method, const Principal& principal,
                                           const DatasetName& name);

  // Reads the dataset, and caches it. Errors: those of FindDataset() and of PayingAccounts().
  absl::StatusOr<std::shared_ptr<const KnownDataset>> Read(const Access& access, Method method,
                                                           const Principal& principal,
                                                           const DatasetName& name);
  // The same by the dataset's id; what one of them caches, both find.
  std::shared_ptr<const KnownDataset> FindById(Method method, const Principal& principal,
                                               const std::string& dataset_id);
  absl::StatusOr<std::shared_ptr<const KnownDataset>> ReadById(const Access& access, Method method,
                                                               const Principal& principal,
                                                               const std::string& dataset_id);

  // After a principal was forgotten: another one may have its name.
  void Clear() { known_.Clear(); }

 private:
  absl::StatusOr<std::shared_ptr<const KnownDataset>> Keep(const Access& access, const Principal& principal,
                                                           DatasetView view);

  LruCache<KnownDataset> known_;
};

}  // namespace curator::service
