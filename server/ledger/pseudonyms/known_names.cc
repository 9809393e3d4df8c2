#include "ledger/pseudonyms/known_names.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/principal.h"
#include "base/status_macros.h"

namespace curator::ledger {
namespace {

constexpr size_t kMostCachedBytes = size_t{16} << 20;
// Of an entry of a cache beside its texts.
constexpr size_t kBytesOfEntry = 256;

bool StandsForItself(std::string_view name) {
  return name.empty() || name.front() == '@' || IsPseudonym(name);
}

}  // namespace

KnownNames::Cache::Cache() : pseudonyms(kMostCachedBytes), names(kMostCachedBytes) {}

void KnownNames::Cache::Keep(const PseudonymRow& row) {
  const size_t bytes = kBytesOfEntry + row.name.size() + row.pseudonym.size();
  pseudonyms.Keep(row.name, std::make_shared<const std::string>(row.pseudonym), bytes);
  names.Keep(row.pseudonym, std::make_shared<const std::string>(row.name), bytes);
}

KnownNames::KnownNames(PseudonymTable& table, std::function<std::string(size_t)> entropy)
    : table_(table), entropy_(std::move(entropy)) {}

std::shared_ptr<KnownNames::Cache> KnownNames::cache() {
  const std::scoped_lock lock(mutex_);
  return cache_;
}

absl::StatusOr<std::string> KnownNames::Find(std::string_view name) {
  if (StandsForItself(name)) return std::string(name);
  const std::shared_ptr<Cache> known = cache();
  const std::string key(name);
  if (const auto found = known->pseudonyms.Find(key); found != nullptr) return *found;
  ASSIGN_OR_RETURN(const std::vector<PseudonymRow> rows, table_.FindByName({key}));
  if (rows.empty()) return key;
  RETURN_IF_ERROR(CheckPseudonymRow(rows.front()));
  known->Keep(rows.front());
  return rows.front().pseudonym;
}

absl::StatusOr<std::string> KnownNames::Make(std::string_view name) {
  if (StandsForItself(name)) return std::string(name);
  const std::shared_ptr<Cache> known = cache();
  const std::string key(name);
  if (const auto found = known->pseudonyms.Find(key); found != nullptr) return *found;
  ASSIGN_OR_RETURN(std::vector<PseudonymRow> rows, table_.FindByName({key}));
  if (rows.empty()) {
    RETURN_IF_ERROR(CheckPrincipalName(name));
    const std::string secret = entropy_(kPseudonymKeyBytes);
    ASSIGN_OR_RETURN(
        PseudonymRow added,
        table_.AddPseudonym({.name = key, .pseudonym = MakePseudonym(secret, name), .key = secret}));
    rows.push_back(std::move(added));
  }
  RETURN_IF_ERROR(CheckPseudonymRow(rows.front()));
  known->Keep(rows.front());
  return rows.front().pseudonym;
}

absl::StatusOr<std::map<std::string, std::string>> KnownNames::NamesOf(
    const std::vector<std::string>& pseudonyms) {
  const std::shared_ptr<Cache> known = cache();
  std::map<std::string, std::string> names;
  std::vector<std::string> unknown;
  for (const std::string& pseudonym : pseudonyms) {
    if (names.contains(pseudonym)) continue;
    const auto found = known->names.Find(pseudonym);
    if (found == nullptr) unknown.push_back(pseudonym);
    names[pseudonym] = found == nullptr ? pseudonym : *found;
  }
  if (unknown.empty()) return names;
  ASSIGN_OR_RETURN(const std::vector<PseudonymRow> rows, table_.FindByPseudonym(unknown));
  for (const PseudonymRow& row : rows) {
    // A row that was changed names nobody; all others are as they were.
    if (!CheckPseudonymRow(row).ok()) continue;
    known->Keep(row);
    names[row.pseudonym] = row.name;
  }
  return names;
}

absl::Status KnownNames::Forget(std::string_view pseudonym) {
  if (!IsPseudonym(pseudonym)) {
    return absl::FailedPreconditionError(absl::StrCat(
        std::string(pseudonym), " is no pseudonym: entries that an earlier version wrote have this name"));
  }
  RETURN_IF_ERROR(table_.DeletePseudonym(pseudonym));
  const std::scoped_lock lock(mutex_);
  cache_ = std::make_shared<Cache>();
  return absl::OkStatus();
}

}  // namespace curator::ledger
