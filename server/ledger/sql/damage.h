// Which lineages are read-only because their stored history contradicts itself or its anchor, and what may
// still be served from them. Damage in one lineage never concerns another.
//
// DamageRegister is thread-safe; the functions are pure.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "ledger/sql/verify.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

// Where damage was found. Only the dataset's id is always known.
struct DamageSite {
  std::string dataset_id;
  std::string dataset_name;
  std::string lineage_id;
  bool is_behind_anchor = false;  // so raising it to the anchor may repair it
};

// DATA_LOSS from code that has found damage: `finding` is for the operator, not for a client.
absl::Status DamageAt(const DamageSite& site, std::string_view finding);
// Of DamageAt() and of a refusal by DamageRegister; none for any other status.
std::optional<DamageSite> DamageSiteOf(const absl::Status& status);

class DamageRegister {
 public:
  // OK, or the refusal for clients: DATA_LOSS (IsDatasetReadOnly(), base/errors.h), which names the dataset
  // and says nothing about another.
  absl::Status CheckDataset(std::string_view dataset_id) const;
  // CheckDataset() of a dataset of this lineage, which is learnt from the call.
  absl::Status CheckLineage(const DamageSite& dataset);

  // The lineage of `site`, whose fields are all known, is read-only from now on.
  void Add(const DamageSite& site);
  // Passes over a lineage begin with StartPass() and end with FinishPass(): the lineage is read-only exactly
  // if the pass found something, or if Add() was called meanwhile. `dataset_names` has the names by id.
  uint64_t StartPass() const;
  void FinishPass(const VerifiedLineage& verified, const std::map<std::string, std::string>& dataset_names,
                  uint64_t pass);
  // Whether the damaged lineage has grown to `entries` entries since it was last examined, as a repair by
  // another server makes it; true at most once for each number.
  bool HasGrown(const std::string& lineage_id, int64_t entries);
  bool IsDamaged(const std::string& lineage_id) const;
  // The ids of the datasets that are known to be read-only, ascending, at most `most`.
  std::vector<std::string> DatasetIds(size_t most) const;

  // In a damaged lineage rows may let in anybody. These replace what the tables say about owner, grants,
  // refusal rules and shares by what the verified history says, where a pass has read it.
  void RestoreNames(Dataset& dataset) const;
  void RestoreNames(Release& release) const;
  // DATA_LOSS for a charge whose row contradicts the history, and for its release.
  absl::Status CheckCharge(std::string_view dataset_id, std::string_view charge_id) const;

 private:
  struct Damage {
    bool is_behind_anchor = false;
    uint64_t added = 0;                                // the number of the last Add()
    int64_t entries = -1;                              // at the last examination
    std::map<std::string, std::string> dataset_names;  // by id
    std::optional<std::map<std::string, VerifiedNames>> names;
    std::set<std::string> damaged_charges;
  };

  const Damage* FindByDataset(std::string_view dataset_id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const VerifiedNames* FindNames(std::string_view dataset_id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable std::mutex mutex_;
  std::map<std::string, Damage> damages_ ABSL_GUARDED_BY(mutex_);                     // by lineage
  std::map<std::string, std::string, std::less<>> lineages_ ABSL_GUARDED_BY(mutex_);  // by dataset
  std::atomic<bool> is_any_ = false;
  uint64_t adds_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace curator::ledger::sql
