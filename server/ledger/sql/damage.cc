#include "ledger/sql/damage.h"

#include <algorithm>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger::sql {
namespace {

constexpr char kSiteUrl[] = "curator.ledger/damage";

void SetSite(absl::Status& status, const DamageSite& site) {
  CanonicalWriter writer(kSiteUrl, 1);
  writer.Text(site.dataset_id);
  writer.Text(site.dataset_name);
  writer.Text(site.lineage_id);
  writer.Integer(site.is_behind_anchor ? 1 : 0);
  status.SetPayload(kSiteUrl, absl::Cord(std::move(writer).Take()));
}

absl::Status Refusal(const DamageSite& site) {
  const std::string subject = absl::StrCat("dataset \"", site.dataset_name, "\" is read-only: ");
  const std::string reason =
      site.is_behind_anchor
          ? absl::StrCat(
                "its history in the database contradicts the anchor, as after a restored backup, which would "
                "reset its budget. Stop the server, restore the newest copy of the database and start again; "
                "if there is none, its owner proposes to raise what is spent to the anchor's values, and an "
                "approver approves it: curator ledger repair propose ",
                site.dataset_name, " --reason TEXT --out FILE.json")
          : absl::StrCat(
                "its tables contradict its history, or a row of it cannot be read. Its owner sees "
                "what contradicts what: curator ledger verify ",
                site.dataset_name,
                ". Stop the server, restore a sound copy of the database and "
                "start again");
  absl::Status status = DatasetReadOnly(absl::StrCat(subject, reason, ". Stored releases can still be read"));
  SetSite(status, site);
  return status;
}

}  // namespace

absl::Status DamageAt(const DamageSite& site, std::string_view finding) {
  absl::Status status = absl::DataLossError(std::string(finding));
  SetSite(status, site);
  return status;
}

std::optional<DamageSite> DamageSiteOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kSiteUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string bytes(*payload);
  CanonicalReader reader(bytes, kSiteUrl, 1);
  DamageSite site;
  site.dataset_id = reader.Text();
  site.dataset_name = reader.Text();
  site.lineage_id = reader.Text();
  site.is_behind_anchor = reader.Integer() != 0;
  if (!reader.Finish().ok()) return std::nullopt;
  return site;
}

const DamageRegister::Damage* DamageRegister::FindByDataset(std::string_view dataset_id) const {
  const auto lineage = lineages_.find(dataset_id);
  if (lineage == lineages_.end()) return nullptr;
  const auto found = damages_.find(lineage->second);
  return found == damages_.end() ? nullptr : &found->second;
}

absl::Status DamageRegister::CheckDataset(std::string_view dataset_id) const {
  if (!is_any_) return absl::OkStatus();
  const std::scoped_lock lock(mutex_);
  const Damage* const damage = FindByDataset(dataset_id);
  if (damage == nullptr) return absl::OkStatus();
  const std::string id(dataset_id);
  return Refusal({.dataset_id = id,
                  .dataset_name = damage->dataset_names.at(id),
                  .lineage_id = lineages_.find(dataset_id)->second,
                  .is_behind_anchor = damage->is_behind_anchor});
}

absl::Status DamageRegister::CheckLineage(const DamageSite& dataset) {
  if (!is_any_) return absl::OkStatus();
  {
    const std::scoped_lock lock(mutex_);
    const auto found = damages_.find(dataset.lineage_id);
    if (found == damages_.end()) return absl::OkStatus();
    lineages_[dataset.dataset_id] = dataset.lineage_id;
    found->second.dataset_names[dataset.dataset_id] = dataset.dataset_name;
  }
  return CheckDataset(dataset.dataset_id);
}

void DamageRegister::Add(const DamageSite& site) {
  const std::scoped_lock lock(mutex_);
  Damage& damage = damages_[site.lineage_id];
  damage.is_behind_anchor = damage.is_behind_anchor || site.is_behind_anchor;
  damage.added = ++adds_;
  damage.dataset_names[site.dataset_id] = site.dataset_name;
  lineages_[site.dataset_id] = site.lineage_id;
  is_any_ = true;
}

uint64_t DamageRegister::StartPass() const {
  const std::scoped_lock lock(mutex_);
  return adds_;
}

void DamageRegister::FinishPass(const VerifiedLineage& verified,
                                const std::map<std::string, std::string>& dataset_names, uint64_t pass) {
  const std::scoped_lock lock(mutex_);
  const auto known = damages_.find(verified.lineage_id);
  if (verified.ok()) {
    if (known == damages_.end() || known->second.added > pass) return;
    damages_.erase(known);
    std::erase_if(lineages_, [&](const auto& one) { return one.second == verified.lineage_id; });
    is_any_ = !damages_.empty();
    return;
  }
  Damage& damage = damages_[verified.lineage_id];
  const bool was_added_meanwhile = damage.added > pass;
  damage.is_behind_anchor = verified.is_behind_anchor || (was_added_meanwhile && damage.is_behind_anchor);
  damage.entries = 0;
  for (const auto& [id, head] : verified.reached.heads) damage.entries += head.seq;
  damage.names = verified.names;
  damage.damaged_charges = verified.damaged_charges;
  for (const auto& [id, name] : dataset_names) {
    damage.dataset_names[id] = name;
    lineages_[id] = verified.lineage_id;
  }
  is_any_ = true;
}

bool DamageRegister::HasGrown(const std::string& lineage_id, int64_t entries) {
  const std::scoped_lock lock(mutex_);
  const auto found = damages_.find(lineage_id);
  return found != damages_.end() && std::exchange(found->second.entries, entries) != entries;
}

bool DamageRegister::IsDamaged(const std::string& lineage_id) const {
  const std::scoped_lock lock(mutex_);
  return damages_.count(lineage_id) > 0;
}

std::vector<std::string> DamageRegister::DatasetIds(size_t most) const {
  std::vector<std::string> ids;
  if (!is_any_) return ids;
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, lineage] : lineages_) {
    if (ids.size() >= most) break;
    if (damages_.count(lineage) > 0) ids.push_back(id);
  }
  return ids;
}

const VerifiedNames* DamageRegister::FindNames(std::string_view dataset_id) const {
  static const VerifiedNames kNone;
  const Damage* const damage = FindByDataset(dataset_id);
  if (damage == nullptr || !damage->names.has_value()) return nullptr;
  const auto found = damage->names->find(std::string(dataset_id));
  return found == damage->names->end() ? &kNone : &found->second;
}

void DamageRegister::RestoreNames(Dataset& dataset) const {
  if (!is_any_) return;
  const std::scoped_lock lock(mutex_);
  const VerifiedNames* const names = FindNames(dataset.id);
  if (names == nullptr) return;
  dataset.owner = names->owner;
  dataset.grants.clear();
  for (const auto& [grantee, grant] : names->grants) dataset.grants.push_back(grant);
  dataset.refusal_rules = names->refusal_rules;
  dataset.refusal_rules_hash = HashOfRules(dataset.refusal_rules);
  dataset.facts = names->facts;
  dataset.is_public = names->is_public != 0;
  dataset.awaits_publication = names->is_public == kAwaitsPublication;
}

void DamageRegister::RestoreNames(Release& release) const {
  if (!is_any_) return;
  const std::scoped_lock lock(mutex_);
  const VerifiedNames* const names = FindNames(release.dataset_id);
  if (names == nullptr) return;
  release.shared_with.clear();
  const auto shared = names->shares.find(release.id);
  if (shared != names->shares.end()) release.shared_with.assign(shared->second.begin(), shared->second.end());
}

absl::Status DamageRegister::CheckCharge(std::string_view dataset_id, std::string_view charge_id) const {
  if (!is_any_) return absl::OkStatus();
  const std::scoped_lock lock(mutex_);
  const Damage* const damage = FindByDataset(dataset_id);
  const bool is_list_complete =
      damage == nullptr || damage->damaged_charges.size() <= RecountFindings::kMostKept;
  // Its row may name the dataset of another lineage.
  const std::string id(charge_id);
  const bool is_damaged = std::any_of(damages_.begin(), damages_.end(), [&](const auto& one) {
    return one.second.damaged_charges.count(id) > 0;
  });
  if (is_list_complete && !is_damaged) return absl::OkStatus();
  return absl::DataLossError(
      "what is stored about this charge contradicts the dataset's history: neither the charge nor its "
      "release is shown");
}

}  // namespace curator::ledger::sql
