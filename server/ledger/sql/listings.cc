// Listings, a page at a time. Each reads about as many rows as it returns, by index, whatever the ledger
// holds (tests/ledger/rows_read_test.cc counts them).
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

// The number before which a page begins: of the row that `statement` finds by the id, the last of the page
// before.
absl::StatusOr<int64_t> StartOf(Transaction& transaction, const NewestPage& page, std::string_view statement,
                                std::string_view listing) {
  if (page.after_id.empty()) return std::numeric_limits<int64_t>::max();
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(statement, {page.after_id, std::string(listing)}));
  return rows.empty() ? 0 : rows.front().Integer(0);
}

// The names after `page.after`, with the sizes of the schemas, of the datasets of `also`.
absl::Status AddAlsoListed(Transaction& transaction, const NamePage& page, const AlsoListed& also,
                           std::map<std::string, int64_t>& sizes) {
  if (also.all) {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute("SELECT name, length(schema_bytes) FROM datasets WHERE name > $1 "
                                         "AND name < '~' ORDER BY name LIMIT $2",
                                         {page.after, page.limit}));
    for (const Row& row : rows) sizes.emplace(row.Text(0), row.Integer(1));
    return absl::OkStatus();
  }
  std::vector<Parameters> keys;
  for (const std::string& id : also.ids) keys.push_back({id});
  ASSIGN_OR_RETURN(
      const Answers answers,
      transaction.ExecuteEach(
          "SELECT name, length(schema_bytes) FROM datasets WHERE id = $1 AND deleted_name = ''", keys));
  for (const std::vector<Row>& rows : answers) {
    for (const Row& row : rows) {
      if (row.Text(0) > page.after) sizes.emplace(row.Text(0), row.Integer(1));
    }
  }
  return absl::OkStatus();
}

std::vector<int64_t> IntegersOf(const std::vector<Row>& rows) {
  std::vector<int64_t> integers;
  integers.reserve(rows.size());
  for (const Row& row : rows) integers.push_back(row.Integer(0));
  return integers;
}

bool IsSeenBy(const Dataset& dataset, std::string_view name) {
  return dataset.owner == name || std::ranges::any_of(dataset.grants, [&](const Grant& grant) {
           return grant.grantee == name && grant.roles != 0;
         });
}

constexpr char kNumberOfRelease[] = "SELECT number FROM releases WHERE id = $1 AND dataset_id = $2";

// The next releases below the number `start`: of all, or of one reader. A release that was moved here from
// another dataset may have the number of one that is here.
absl::StatusOr<std::vector<int64_t>> NumbersBelow(Transaction& transaction, std::string_view dataset_id,
                                                  std::string_view reader, int64_t start, int64_t limit) {
  constexpr char kOfAll[] =
      "SELECT DISTINCT number FROM releases WHERE dataset_id = $1 AND number < $2 ORDER BY number DESC LIMIT "
      "$3";
  constexpr char kOfReader[] =
      "SELECT number FROM release_readers WHERE dataset_id = $1 AND number < $2 AND reader = $4 "
      "ORDER BY number DESC LIMIT $3";
  Parameters parameters = {std::string(dataset_id), start, limit};
  if (!reader.empty()) parameters.emplace_back(std::string(reader));
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(reader.empty() ? kOfAll : kOfReader, parameters));
  return IntegersOf(rows);
}

// A page, which may have none of its releases where they are left out.
absl::StatusOr<ReleaseList> ReadReleasePage(Transaction& transaction, std::string_view dataset_id,
                                            std::string_view reader, const NewestPage& page) {
  ReleaseList list;
  ASSIGN_OR_RETURN(int64_t start, StartOf(transaction, page, kNumberOfRelease, dataset_id));
  do {
    ASSIGN_OR_RETURN(const std::vector<int64_t> numbers,
                     NumbersBelow(transaction, dataset_id, reader, start, page.limit));
    ASSIGN_OR_RETURN(NumberedReleases found, ReadReleasesWithoutPayloads(transaction, dataset_id, numbers));
    list = {.releases = std::move(found.releases),
            .has_more = static_cast<int64_t>(numbers.size()) == page.limit,
            .last = std::move(found.last)};
    if (!numbers.empty()) start = numbers.back();
    // A page without a row has no id that the next one could come after.
  } while (list.has_more && list.last.empty());
  return list;
}

// Newest first. A release that several principals may read has a row for each of them.
absl::StatusOr<std::vector<int64_t>> AccountsOfPage(Transaction& transaction, const std::string& lineage_id,
                                                    const AccountPage& page) {
  std::vector<int64_t> ids;
  for (const ScopeType scope : kScopesAsListed) {
    const auto left = page.limit - static_cast<int64_t>(ids.size());
    const bool is_begun = page.after.has_value() && page.after->scope_type == scope;
    const bool is_passed = page.after.has_value() && !is_begun && AccountKey{scope, ""} < *page.after;
    if (is_passed || left == 0) continue;
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute(absl::StrCat("SELECT id FROM accounts WHERE lineage_id = $1 AND scope_type = $2 "
                                         "AND scope_key ",
                                         is_begun ? ">" : ">=", " $3 ORDER BY scope_key LIMIT $4"),
                            {lineage_id, std::string(ScopeName(scope)),
                             is_begun ? page.after->scope_key : std::string(), left}));
    for (const Row& row : rows) ids.push_back(row.Integer(0));
  }
  return ids;
}

}  // namespace

absl::StatusOr<Dataset> SqlLedger::FindDataset(std::string_view condition, std::string_view key,
                                               std::string_view viewer, const absl::Status& missing) {
  std::optional<FoundDataset> found;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(found, sql::FindDataset(transaction, condition, {std::string(key)}, viewer));
    return absl::OkStatus();
  }));
  if (!found.has_value()) return missing;
  Dataset dataset = Restored(std::move(found->dataset), viewer);
  if (found->row.ok()) return dataset;
  if (!viewer.empty() && !IsSeenBy(dataset, viewer)) return missing;
  RETURN_IF_ERROR(damage_.CheckDataset(dataset.id));
  RETURN_IF_ERROR(RefuseDamaged(found->row, nullptr));
  return found->row;  // A pass has ended the damage meanwhile.
}

absl::StatusOr<Dataset> SqlLedger::GetDataset(std::string_view name, std::string_view viewer) {
  return FindDataset("d.name = $1 AND d.deleted_name = ''", name, viewer,
                     absl::NotFoundError(absl::StrCat("there is no dataset named ", std::string(name))));
}

absl::StatusOr<Dataset> SqlLedger::GetDatasetById(std::string_view dataset_id, std::string_view viewer) {
  return FindDataset("d.id = $1", dataset_id, viewer, absl::NotFoundError("there is no such dataset"));
}

absl::StatusOr<std::vector<Dataset>> SqlLedger::ListDatasets() {
  std::vector<Dataset> datasets;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(datasets, ReadReadableDatasets(transaction));
    return absl::OkStatus();
  }));
  for (Dataset& dataset : datasets) damage_.RestoreNames(dataset);
  return datasets;
}

absl::StatusOr<std::vector<std::string>> SqlLedger::DatasetNames(const std::vector<std::string>& ids) {
  std::vector<Parameters> keys;
  for (const std::string& id : ids) keys.push_back({id});
  std::vector<std::string> names;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const Answers answers,
                     transaction.ExecuteEach(
                         "SELECT CASE WHEN deleted_name = '' THEN name ELSE deleted_name || ' (deleted)' END "
                         "FROM datasets WHERE id = $1",
                         keys));
    names.clear();
    for (const std::vector<Row>& rows : answers) {
      if (rows.empty()) return absl::NotFoundError("there is no such dataset");
      names.push_back(rows.front().Text(0));
    }
    return absl::OkStatus();
  }));
  return names;
}

std::vector<Dataset> SqlLedger::VisibleTo(const Principal& principal, std::vector<Dataset> datasets,
                                          const AlsoListed& also) const {
  // In a damaged lineage a row may name anybody: the verified history decides.
  for (Dataset& dataset : datasets) damage_.RestoreNames(dataset);
  std::erase_if(datasets, [&](const Dataset& dataset) {
    const bool is_also = also.all || std::ranges::find(also.ids, dataset.id) != also.ids.end();
    return !is_also && !IsSeenBy(dataset, principal.name());
  });
  for (Dataset& dataset : datasets) {
    if (dataset.owner == principal.name()) continue;
    std::erase_if(dataset.grants, [&](const Grant& grant) { return grant.grantee != principal.name(); });
  }
  return datasets;
}

absl::StatusOr<DatasetList> SqlLedger::ListVisibleDatasets(const Principal& principal, const NamePage& page,
                                                           const AlsoListed& also) {
  RETURN_IF_ERROR(CheckPageLimit(page.limit));
  const Parameters keys = {principal.name(), page.after, page.limit};
  DatasetList list;
  NamedDatasets named;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(
        const std::vector<Row> owned,
        transaction.Execute("SELECT name, length(schema_bytes) FROM datasets WHERE owner = $1 AND "
                            "name > $2 AND name < '~' ORDER BY name LIMIT $3",
                            keys));
    ASSIGN_OR_RETURN(
        const std::vector<Row> granted,
        transaction.Execute(
            "SELECT g.dataset_name, length(d.schema_bytes) FROM grants g JOIN datasets d ON "
            "d.id = g.dataset_id WHERE g.grantee = $1 AND g.dataset_name > $2 AND g.dataset_name < '~' "
            "AND g.roles <> 0 "
            "ORDER BY g.dataset_name LIMIT $3",
            keys));
    // Ordered by bytes, as the rows are.
    std::map<std::string, int64_t> sizes;
    for (const Row& row : owned) sizes.emplace(row.Text(0), row.Integer(1));
    for (const Row& row : granted) sizes.emplace(row.Text(0), row.Integer(1));
    RETURN_IF_ERROR(AddAlsoListed(transaction, page, also, sizes));
    std::vector<std::string> names;
    int64_t bytes = 0;
    for (const auto& [name, size] : sizes) {
      bytes += size;
      const bool is_full = static_cast<int64_t>(names.size()) == page.limit || bytes > page.most_bytes;
      if (is_full && !names.empty()) break;
      names.push_back(name);
    }
    list.has_more = names.size() < sizes.size() || static_cast<int64_t>(names.size()) == page.limit;
    list.last = names.empty() ? std::string() : names.back();
    ASSIGN_OR_RETURN(named, ReadDatasetsByName(transaction, names, principal.name()));
    return absl::OkStatus();
  }));
  list.datasets = VisibleTo(principal, std::move(named.datasets), also);
  for (const Dataset& dataset : VisibleTo(principal, std::move(named.unreadable), also)) {
    list.unreadable.push_back(dataset.name);
  }
  return list;
}

absl::StatusOr<std::vector<Account>> SqlLedger::GetAccounts(const std::vector<int64_t>& ids) {
  std::vector<Account> accounts;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(accounts, ReadAccountsById(transaction, ids));
    return absl::OkStatus();
  }));
  if (accounts.size() != ids.size()) return absl::NotFoundError("there is no such account");
  return accounts;
}

absl::StatusOr<Account> SqlLedger::FindAccount(std::string_view dataset_id, ScopeType scope,
                                               std::string_view scope_key) {
  std::vector<Account> accounts;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::string lineage, ReadLineageId(transaction, dataset_id));
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute("SELECT id FROM accounts WHERE lineage_id = $1 AND scope_type = $2 "
                                         "AND scope_key = $3",
                                         {lineage, std::string(ScopeName(scope)), std::string(scope_key)}));
    ASSIGN_OR_RETURN(accounts, ReadAccountsById(transaction, IntegersOf(rows)));
    return absl::OkStatus();
  }));
  if (accounts.empty()) return absl::NotFoundError("there is no such account");
  return std::move(accounts.front());
}

absl::StatusOr<std::vector<Account>> SqlLedger::ListAccounts(std::string_view dataset_id,
                                                             const AccountPage& page) {
  RETURN_IF_ERROR(CheckPageLimit(page.limit));
  std::vector<Account> accounts;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::string lineage, ReadLineageId(transaction, dataset_id));
    ASSIGN_OR_RETURN(const std::vector<int64_t> ids, AccountsOfPage(transaction, lineage, page));
    ASSIGN_OR_RETURN(accounts, ReadAccountsById(transaction, ids));
    return absl::OkStatus();
  }));
  return accounts;
}

absl::StatusOr<std::vector<Account>> SqlLedger::ListPayingAccounts(std::string_view dataset_id,
                                                                   std::string_view principal) {
  std::vector<Account> accounts;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::string lineage, ReadLineageId(transaction, dataset_id));
    const std::string name(principal);
    ASSIGN_OR_RETURN(
        const Answers shared,
        transaction.ExecuteEach("SELECT id FROM accounts WHERE lineage_id = $1 AND scope_type = $2",
                                {{lineage, std::string(ScopeName(ScopeType::kDataset))},
                                 {lineage, std::string(ScopeName(ScopeType::kPart))}}));
    ASSIGN_OR_RETURN(const std::vector<Row> own,
                     transaction.Execute("SELECT id FROM accounts WHERE lineage_id = $1 AND scope_type = "
                                         "'ANALYST' AND scope_key = $2",
                                         {lineage, name}));
    ASSIGN_OR_RETURN(
        const std::vector<Row> of_groups,
        transaction.Execute("SELECT a.id FROM accounts a WHERE a.lineage_id = $2 AND a.scope_type = "
                            "'ANALYST_GROUP' AND EXISTS (SELECT 1 FROM account_members m WHERE "
                            "m.account_id = a.id AND m.member = $1)",
                            {name, lineage}));
    std::set<int64_t> ids;
    for (const std::vector<Row>& rows : {shared.at(0), shared.at(1), own, of_groups}) {
      for (const Row& row : rows) ids.insert(row.Integer(0));
    }
    ASSIGN_OR_RETURN(accounts, ReadAccountsById(transaction, {ids.begin(), ids.end()}));
    return absl::OkStatus();
  }));
  return accounts;
}

absl::StatusOr<std::vector<Charge>> SqlLedger::ListOperations(const Principal& principal,
                                                              const NewestPage& page) {
  RETURN_IF_ERROR(CheckPageLimit(page.limit));
  std::vector<Charge> charges;
  // A row that contradicts the history may be another principal's.
  const auto is_shown = [this](const Charge& charge) {
    return damage_.CheckCharge(charge.dataset_id, charge.id).ok();
  };
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t start,
                     StartOf(transaction, page, "SELECT number FROM charges WHERE id = $1 AND principal = $2",
                             principal.name()));
    ASSIGN_OR_RETURN(charges, ReadOperations(transaction, principal.name(), start, page.limit, is_shown));
    return absl::OkStatus();
  }));
  return charges;
}

std::vector<Release> SqlLedger::Sound(std::vector<Release> releases) const {
  std::erase_if(releases, [this](const Release& release) {
    return !damage_.CheckCharge(release.dataset_id, release.charge_id).ok();
  });
  for (Release& release : releases) damage_.RestoreNames(release);
  return releases;
}

absl::StatusOr<ReleaseList> SqlLedger::ListReleases(std::string_view dataset_id, std::string_view reader,
                                                    const NewestPage& page) {
  RETURN_IF_ERROR(CheckPageLimit(page.limit));
  ReleaseList list;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(ReadLineageId(transaction, dataset_id).status());
    ASSIGN_OR_RETURN(list, ReadReleasePage(transaction, dataset_id, reader, page));
    return absl::OkStatus();
  }));
  list.releases = Sound(std::move(list.releases));
  return list;
}

absl::StatusOr<std::vector<Release>> SqlLedger::FindReleases(std::string_view dataset_id,
                                                             std::string_view reader,
                                                             const std::vector<Measure>& measures,
                                                             int64_t most) {
  RETURN_IF_ERROR(CheckPageLimit(most));
  NumberedReleases found;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Answers> answers,
                     transaction.ExecuteTogether({SelectReleaseNumbers(dataset_id, reader, measures, most)}));
    ASSIGN_OR_RETURN(found,
                     ReadReleasesWithoutPayloads(transaction, dataset_id, ReleaseNumbersOf(answers.front()),
                                                 std::string(reader)));
    return absl::OkStatus();
  }));
  return Sound(std::move(found.releases));
}

}  // namespace curator::ledger::sql
