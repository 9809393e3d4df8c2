#include "service/charges/dataset_cache.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "service/charges/pricing.h"

namespace curator::service {
namespace {

// Neither name holds a line break.
std::string KeyOf(const Principal& principal, const DatasetName& name) {
  return absl::StrCat(principal.name(), "\n", name.text());
}

std::string KeyOfId(const Principal& principal, const std::string& dataset_id) {
  return absl::StrCat(principal.name(), "\n\n", dataset_id);
}

// An upper estimate: a decoded schema takes several times its bytes.
size_t BytesOf(const KnownDataset& dataset) {
  constexpr size_t kFixed = 4096;
  constexpr size_t kTimesSchema = 16;
  constexpr size_t kOfAnItem = 512;
  const ledger::Dataset& record = dataset.view.record;
  size_t bytes = kFixed + kTimesSchema * record.schema.size() + record.refusal_rules.size();
  for (const ledger::Part& part : record.parts) bytes += kOfAnItem + part.bins.size() * sizeof(int64_t);
  for (const ledger::Account& account : dataset.accounts) bytes += kOfAnItem * (1 + account.members.size());
  return bytes;
}

std::shared_ptr<const KnownDataset> IfAllowed(Method method, std::shared_ptr<const KnownDataset> known) {
  const bool is_allowed =
      known != nullptr && known->view.ExtentOf(method) != Extent::kNone && AreRolesCurrent(known->view);
  return is_allowed ? known : nullptr;
}

}  // namespace

std::shared_ptr<const KnownDataset> DatasetCache::Find(Method method, const Principal& principal,
                                                       const DatasetName& name) {
  return IfAllowed(method, known_.Find(KeyOf(principal, name)));
}

absl::StatusOr<std::shared_ptr<const KnownDataset>> DatasetCache::Read(const Access& access, Method method,
                                                                       const Principal& principal,
                                                                       const DatasetName& name) {
  ASSIGN_OR_RETURN(DatasetView view, FindDataset(access, method, principal, name));
  return Keep(access, principal, std::move(view));
}

std::shared_ptr<const KnownDataset> DatasetCache::FindById(Method method, const Principal& principal,
                                                           const std::string& dataset_id) {
  return IfAllowed(method, known_.Find(KeyOfId(principal, dataset_id)));
}

absl::StatusOr<std::shared_ptr<const KnownDataset>> DatasetCache::ReadById(const Access& access,
                                                                           Method method,
                                                                           const Principal& principal,
                                                                           const std::string& dataset_id) {
  ASSIGN_OR_RETURN(DatasetView view, FindDatasetById(access, method, principal, dataset_id));
  return Keep(access, principal, std::move(view));
}

absl::StatusOr<std::shared_ptr<const KnownDataset>> DatasetCache::Keep(const Access& access,
                                                                       const Principal& principal,
                                                                       DatasetView view) {
  // The accounts after the revision: where they have changed in between, the revision is outdated.
  ASSIGN_OR_RETURN(std::vector<ledger::Account> accounts,
                   PayingAccounts(access.ledger, view, principal.name()));
  auto known = std::make_shared<const KnownDataset>(KnownDataset{std::move(view), std::move(accounts)});
  const ledger::Dataset& record = known->view.record;
  const size_t bytes = BytesOf(*known);  // for each key: one may be dropped before the other
  known_.Keep(KeyOf(principal, DatasetName(record.name)), known, bytes);
  known_.Keep(KeyOfId(principal, record.id), known, bytes);
  return known;
}

}  // namespace curator::service
