#include "ledger/sql/rows.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/damage.h"
#include "ledger/sql/staged_releases.h"

namespace curator::ledger::sql {
namespace {

constexpr char kDatasetColumns[] =
    "SELECT d.id, d.lineage_id, COALESCE(NULLIF(d.deleted_name, ''), d.name), d.owner, "
    "CASE WHEN d.deleted_name = '' THEN d.state ELSE 'DELETED' END, d.schema_bytes, d.schema_hash, "
    "d.neighbour_relation, "
    "d.privacy_unit, d.max_records_per_unit, d.is_public, d.partition_attribute, v.version, v.content_hash, "
    "d.created_at_us, h.revision, d.awaits_publication, d.domain_from_records, d.rows_from_query, ";
constexpr char kDatasetTables[] =
    " FROM datasets d LEFT JOIN dataset_versions v ON v.dataset_id = d.id "
    "LEFT JOIN chain_heads h ON h.dataset_id = d.id WHERE ";

std::string SelectDatasets(std::string_view condition) {
  return absl::StrCat(kDatasetColumns, "d.refusal_rules", kDatasetTables, std::string(condition));
}

// For listings, which show no rules: those of a thousand datasets may be large, and a page that ended earlier
// for their sake would tell of them.
std::string SelectListed(std::string_view condition) {
  return absl::StrCat(kDatasetColumns, "NULL", kDatasetTables, std::string(condition));
}

// Whose dataset a row is of, whether or not the rest of it can be read.
Dataset IdentityOf(const Row& row) {
  return {.id = row.Text(0), .lineage_id = row.Text(1), .name = row.Text(2), .owner = row.Text(3)};
}

absl::StatusOr<Dataset> DatasetOf(const Row& row) {
  const absl::StatusOr<DatasetState> state = DatasetStateFromName(row.Text(4));
  const std::string rules = row.IsNull(19) ? std::string() : row.Blob(19);
  if (!state.ok()) {
    return DamageAt({.dataset_id = row.Text(0), .dataset_name = row.Text(2), .lineage_id = row.Text(1)},
                    std::string(state.status().message()));
  }
  return Dataset{
      .id = row.Text(0),
      .lineage_id = row.Text(1),
      .name = row.Text(2),
      .owner = row.Text(3),
      .state = *state,
      .schema = row.Blob(5),
      .schema_hash = row.Blob(6),
      .neighbour_relation = row.Text(7),
      .privacy_unit = row.Text(8),
      .max_records_per_unit = row.Integer(9),
      .is_public = row.Integer(10) != 0,
      .awaits_publication = row.Integer(16) != 0,
      .partition_attribute = row.Text(11),
      .version = row.IsNull(12) ? 0 : row.Integer(12),
      .content_hash = row.IsNull(13) ? std::string() : row.Blob(13),
      .created_at_us = row.Integer(14),
      .revision = row.IsNull(15) ? 0 : row.Integer(15),
      .refusal_rules = rules,
      .refusal_rules_hash = HashOfRules(rules),
      .facts = {.domain_from_records = row.Integer(17) != 0, .rows_from_query = row.Integer(18) != 0}};
}

constexpr char kChargeColumns[] =
    "SELECT c.id, c.dataset_id, c.dataset_version, c.principal, c.request_id, c.fingerprint, c.kind, "
    "c.event, c.label, o.state, e.reason, r.id, c.created_at_us, o.attempt_token, o.sealed_key, "
    "c.deadline_us, c.postings, c.number, c.draw_identity, c.entry_seq, e.state, o.deadline_us, "
    "COALESCE(o.postings, e.postings)";
constexpr size_t kChargeColumnCount = 23;
constexpr char kChargeTables[] =
    " FROM charges c LEFT JOIN open_charges o ON o.charge_id = c.id LEFT JOIN endings e ON e.charge_id = "
    "c.id "
    "LEFT JOIN releases r ON r.charge_id = c.id ";
constexpr char kChargeOfKey[] = "WHERE c.principal = $1 AND c.request_id = $2";

// A charge is open, or has ended.
absl::StatusOr<ChargeState> StateOf(const Row& row) {
  constexpr size_t kOpen = 9;
  constexpr size_t kEnded = 20;
  if (row.IsNull(kOpen) == row.IsNull(kEnded)) {
    return absl::DataLossError(row.IsNull(kOpen) ? "a charge is neither open nor has it ended"
                                                 : "a charge is open and has ended");
  }
  return ChargeStateFromName(row.Text(row.IsNull(kOpen) ? kEnded : kOpen));
}

int64_t DeadlineOf(const Row& row) {
  constexpr size_t kFirst = 15;
  constexpr size_t kExtended = 21;
  if (row.IsNull(kFirst)) return 0;
  const bool is_reserved = !row.IsNull(kExtended) && row.Integer(kExtended) > 0;
  return row.Integer(is_reserved ? kExtended : kFirst);
}

absl::StatusOr<StoredCharge> ChargeOf(const Row& row) {
  const absl::StatusOr<ChargeState> state = StateOf(row);
  std::string other_postings = row.IsNull(22) ? std::string() : row.Text(22);
  absl::StatusOr<std::vector<Posting>> postings =
      ParsePostingsText(other_postings.empty() ? row.Text(16) : other_postings);
  for (const absl::Status& status : {state.status(), postings.status()}) {
    if (!status.ok()) return DamageAt({.dataset_id = row.Text(1)}, std::string(status.message()));
  }
  return StoredCharge{.charge = {.id = row.Text(0),
                                 .dataset_id = row.Text(1),
                                 .dataset_version = row.Integer(2),
                                 .principal = row.Text(3),
                                 .request_id = row.Text(4),
                                 .fingerprint = row.Blob(5),
                                 .draw_identity = row.IsNull(18) ? std::string() : row.Blob(18),
                                 .kind = row.Text(6),
                                 .event = row.Blob(7),
                                 .label = row.Text(8),
                                 .state = *state,
                                 .reason = row.IsNull(10) ? std::string() : row.Text(10),
                                 .postings = *std::move(postings),
                                 .release_id = row.IsNull(11) ? std::string() : row.Text(11),
                                 .created_at_us = row.Integer(12),
                                 .deadline_us = DeadlineOf(row)},
                      .attempt_token = row.IsNull(13) ? std::string() : row.Text(13),
                      .sealed_key = row.IsNull(14) ? std::string() : row.Blob(14),
                      .other_postings = std::move(other_postings),
                      .number = row.Integer(17),
                      .entry_seq = row.IsNull(19) ? 0 : row.Integer(19)};
}

constexpr char kReleaseColumns[] =
    "SELECT r.id, r.charge_id, r.dataset_id, c.principal, c.kind, c.label, r.payload_hash, r.payload_size, "
    "r.created_at_us, s.grantee, r.number, c.request_id, c.dataset_id, r.staged_by";

// Joined with `charges c` and `release_shares s`: one row per grantee, ascending, or one row without.
constexpr char kReleaseShares[] = " LEFT JOIN release_shares s ON s.release_id = r.id ";

Release ReleaseOf(const Row& row) {
  return {.id = row.Text(0),
          .number = row.Integer(10),
          .charge_id = row.Text(1),
          .dataset_id = row.Text(2),
          .principal = row.Text(3),
          .request_id = row.Text(11),
          .kind = row.Text(4),
          .label = row.Text(5),
          .payload_hash = row.Blob(6),
          .payload_size = row.Integer(7),
          .created_at_us = row.Integer(8)};
}

// A release that is moved to another dataset would be served to that one's owner.
absl::Status CheckIsOfItsCharge(const Release& release, const std::string& dataset_of_charge) {
  if (dataset_of_charge == release.dataset_id) return absl::OkStatus();
  return DamageAt({.dataset_id = dataset_of_charge},
                  absl::StrCat("the stored release ", release.id, " is not of the dataset of its charge"));
}

absl::Status CheckPayload(const Release& release) {
  if (Sha256(release.payload) == release.payload_hash) return absl::OkStatus();
  return DamageAt({.dataset_id = release.dataset_id},
                  absl::StrCat("the stored release ", release.id, " does not match its hash"));
}

Entry EntryOf(const Row& row) {
  return {.dataset_id = row.Text(0),
          .seq = row.Integer(1),
          .kind = row.Text(2),
          .charge_id = row.Text(3),
          .payload = row.Blob(4),
          .actor = row.Text(5),
          .created_at_us = row.Integer(6),
          .prev_hash = row.Blob(7),
          .hash = row.Blob(8)};
}

}  // namespace

absl::StatusOr<std::vector<Part>> ReadParts(Transaction& transaction, std::string_view dataset_id) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT number, name, account_id, sealed_version, content_hash, facts "
                                       "FROM dataset_parts WHERE dataset_id = $1 ORDER BY number",
                                       {std::string(dataset_id)}));
  std::map<int64_t, Part> parts;
  for (const Row& row : rows) {
    parts[row.Integer(0)] = {.number = row.Integer(0),
                             .name = row.Text(1),
                             .account_id = row.Integer(2),
                             .sealed_version = row.IsNull(3) ? 0 : row.Integer(3),
                             .content_hash = row.IsNull(4) ? std::string() : row.Blob(4),
                             .facts = FactsOf(row.Integer(5))};
  }
  ASSIGN_OR_RETURN(
      const std::vector<Row> bins,
      transaction.Execute("SELECT part_number, bin FROM part_bins WHERE dataset_id = $1 ORDER BY bin",
                          {std::string(dataset_id)}));
  for (const Row& bin : bins) parts[bin.Integer(0)].bins.push_back(bin.Integer(1));
  std::vector<Part> in_order;
  for (auto& [number, part] : parts) in_order.push_back(std::move(part));
  return in_order;
}

namespace {

constexpr char kAllGrants[] =
    "SELECT grantee, roles, expires_at_us FROM grants WHERE dataset_id = $1 ORDER BY grantee";
constexpr char kOneGrant[] =
    "SELECT grantee, roles, expires_at_us FROM grants WHERE dataset_id = $1 AND grantee = $2";

absl::Status AddGrants(Transaction& transaction, const std::vector<Dataset*>& datasets,
                       std::string_view viewer) {
  std::vector<Parameters> keys;
  for (const Dataset* dataset : datasets) {
    keys.push_back({dataset->id});
    if (!viewer.empty()) keys.back().emplace_back(std::string(viewer));
  }
  ASSIGN_OR_RETURN(const Answers grants,
                   transaction.ExecuteEach(viewer.empty() ? kAllGrants : kOneGrant, keys));
  for (size_t i = 0; i < datasets.size(); ++i) {
    for (const Row& grant : grants[i]) {
      datasets[i]->grants.push_back({grant.Text(0), grant.Integer(1), grant.Integer(2)});
    }
  }
  return absl::OkStatus();
}

std::vector<Dataset*> PointersTo(std::vector<Dataset>& datasets) {
  std::vector<Dataset*> pointers;
  for (Dataset& dataset : datasets) pointers.push_back(&dataset);
  return pointers;
}

absl::Status AddParts(Transaction& transaction, std::vector<Dataset>& datasets) {
  for (Dataset& dataset : datasets) {
    if (dataset.partition_attribute.empty()) continue;
    ASSIGN_OR_RETURN(dataset.parts, ReadParts(transaction, dataset.id));
    for (const Part& part : dataset.parts) dataset.version = std::max(dataset.version, part.sealed_version);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Dataset>> ReadDatasets(Transaction& transaction, std::string_view condition,
                                                  const Parameters& parameters, std::string_view viewer) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(
                       SelectDatasets(absl::StrCat(std::string(condition), " ORDER BY d.name")), parameters));
  std::vector<Dataset> datasets;
  for (const Row& row : rows) {
    ASSIGN_OR_RETURN(Dataset dataset, DatasetOf(row));
    datasets.push_back(std::move(dataset));
  }
  RETURN_IF_ERROR(AddGrants(transaction, PointersTo(datasets), viewer));
  RETURN_IF_ERROR(AddParts(transaction, datasets));
  return datasets;
}

absl::StatusOr<std::optional<FoundDataset>> FindDataset(Transaction& transaction, std::string_view condition,
                                                        const Parameters& parameters,
                                                        std::string_view viewer) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.Execute(SelectDatasets(condition), parameters));
  if (rows.empty()) return std::nullopt;
  absl::StatusOr<Dataset> read = DatasetOf(rows.front());
  std::vector<Dataset> found = {read.ok() ? *read : IdentityOf(rows.front())};
  RETURN_IF_ERROR(AddGrants(transaction, PointersTo(found), viewer));
  if (read.ok()) RETURN_IF_ERROR(AddParts(transaction, found));
  return FoundDataset{std::move(found.front()), read.status()};
}

absl::StatusOr<std::vector<Dataset>> ReadReadableDatasets(Transaction& transaction) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(SelectListed("d.deleted_name = '' ORDER BY d.name"), {}));
  std::vector<Dataset> datasets;
  for (const Row& row : rows) {
    absl::StatusOr<Dataset> dataset = DatasetOf(row);
    if (dataset.ok()) datasets.push_back(*std::move(dataset));
  }
  RETURN_IF_ERROR(AddGrants(transaction, PointersTo(datasets), {}));
  RETURN_IF_ERROR(AddParts(transaction, datasets));
  return datasets;
}

absl::StatusOr<NamedDatasets> ReadDatasetsByName(Transaction& transaction,
                                                 const std::vector<std::string>& names,
                                                 std::string_view viewer) {
  std::vector<Parameters> keys;
  for (const std::string& name : names) keys.push_back({name});
  ASSIGN_OR_RETURN(const Answers answers, transaction.ExecuteEach(SelectListed("d.name = $1"), keys));
  NamedDatasets named;
  for (const std::vector<Row>& rows : answers) {
    if (rows.empty()) continue;
    absl::StatusOr<Dataset> dataset = DatasetOf(rows.front());
    if (dataset.ok()) {
      named.datasets.push_back(*std::move(dataset));
    } else {
      named.unreadable.push_back(IdentityOf(rows.front()));
    }
  }
  std::vector<Dataset*> owned;
  std::vector<Dataset*> granted;
  for (std::vector<Dataset>* const some : {&named.datasets, &named.unreadable}) {
    for (Dataset& dataset : *some) (dataset.owner == viewer ? owned : granted).push_back(&dataset);
  }
  RETURN_IF_ERROR(AddGrants(transaction, owned, {}));
  RETURN_IF_ERROR(AddGrants(transaction, granted, viewer));
  RETURN_IF_ERROR(AddParts(transaction, named.datasets));
  return named;
}

absl::StatusOr<std::string> ReadLineageId(Transaction& transaction, std::string_view dataset_id) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT lineage_id FROM datasets WHERE id = $1", {std::string(dataset_id)}));
  if (rows.empty()) return absl::NotFoundError("there is no such dataset");
  return rows.front().Text(0);
}

absl::StatusOr<Dataset> ReadDataset(Transaction& transaction, std::string_view dataset_id) {
  ASSIGN_OR_RETURN(std::vector<Dataset> datasets,
                   ReadDatasets(transaction, "d.id = $1", {std::string(dataset_id)}));
  if (datasets.empty()) return absl::NotFoundError("there is no such dataset");
  return std::move(datasets.front());
}

namespace {

constexpr char kSelectAccounts[] =
    "SELECT a.id, a.lineage_id, a.scope_type, a.scope_key, a.rule, a.rule_name, c.counter, "
    "c.limit_value, c.spent, c.held FROM accounts a JOIN account_counters c ON c.account_id = a.id ";

absl::StatusOr<std::vector<Account>> AccountsWithoutMembers(const std::vector<Row>& rows) {
  std::vector<Account> accounts;
  for (const Row& row : rows) {
    if (accounts.empty() || accounts.back().id != row.Integer(0)) {
      ASSIGN_OR_RETURN(const ScopeType scope, ScopeFromName(row.Text(2)));
      accounts.push_back({.id = row.Integer(0),
                          .lineage_id = row.Text(1),
                          .scope_type = scope,
                          .scope_key = row.Text(3),
                          .rule = row.Blob(4),
                          .rule_name = row.Text(5)});
    }
    accounts.back().counters.push_back(
        {.counter = row.Text(6), .limit = row.Integer(7), .spent = row.Integer(8), .held = row.Integer(9)});
  }
  return accounts;
}

absl::Status AddMembers(Transaction& transaction, std::vector<Account>& accounts) {
  for (Account& account : accounts) {
    if (account.scope_type != ScopeType::kAnalystGroup) continue;
    ASSIGN_OR_RETURN(
        const std::vector<Row> members,
        transaction.Execute("SELECT member FROM account_members WHERE account_id = $1", {account.id}));
    for (const Row& member : members) account.members.push_back(member.Text(0));
    // By bytes, as the entries have them: each store collates text by rules of its own.
    std::sort(account.members.begin(), account.members.end());
  }
  return absl::OkStatus();
}

// Of one row per counter, those of an account one after another.
absl::StatusOr<std::vector<Account>> AccountsOf(Transaction& transaction, const std::vector<Row>& rows) {
  ASSIGN_OR_RETURN(std::vector<Account> accounts, AccountsWithoutMembers(rows));
  RETURN_IF_ERROR(AddMembers(transaction, accounts));
  std::ranges::sort(accounts, std::less(), KeyOf);
  return accounts;
}

}  // namespace

absl::StatusOr<std::vector<Account>> ReadAccounts(Transaction& transaction, std::string_view lineage_id) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute(absl::StrCat(kSelectAccounts, "WHERE a.lineage_id = $1 ORDER BY a.id, c.position"),
                          {std::string(lineage_id)}));
  return AccountsOf(transaction, rows);
}

absl::StatusOr<std::vector<Account>> ReadAccountsById(Transaction& transaction,
                                                      const std::vector<int64_t>& ids) {
  std::vector<Parameters> keys;
  for (const int64_t id : ids) keys.push_back({id});
  ASSIGN_OR_RETURN(
      const Answers answers,
      transaction.ExecuteEach(absl::StrCat(kSelectAccounts, "WHERE a.id = $1 ORDER BY c.position"), keys));
  std::vector<Row> rows;
  for (const std::vector<Row>& answer : answers) rows.insert(rows.end(), answer.begin(), answer.end());
  return AccountsOf(transaction, rows);
}

absl::StatusOr<std::shared_ptr<const RequiredAccounts>> ReadRequiredAccounts(Transaction& transaction,
                                                                             const std::string& lineage_id) {
  constexpr int64_t kMostRows = 10'000;
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(
                       "SELECT id, CASE WHEN scope_type = 'ANALYST' THEN scope_key ELSE '' END FROM accounts "
                       "WHERE lineage_id = $1 AND scope_type IN ('DATASET', 'ANALYST') "
                       "UNION ALL SELECT a.id, m.member FROM accounts a JOIN account_members m "
                       "ON m.account_id = a.id WHERE a.lineage_id = $1 AND a.scope_type = 'ANALYST_GROUP' "
                       "LIMIT $2",
                       {lineage_id, kMostRows + 1}));
  auto required = std::make_shared<RequiredAccounts>();
  required->are_too_many = static_cast<int64_t>(rows.size()) > kMostRows;
  if (required->are_too_many) return required;
  for (const Row& row : rows) {
    std::vector<int64_t>& ids = row.Text(1).empty() ? required->of_all : required->of_principal[row.Text(1)];
    ids.push_back(row.Integer(0));
  }
  return required;
}

absl::StatusOr<std::vector<int64_t>> ReadRequiredAccountsOf(Transaction& transaction,
                                                            const std::string& lineage_id,
                                                            const std::string& principal) {
  // One SELECT for each key: under OR, SQLite reads all accounts of the lineage. The groups are those that
  // the lineage's owner made: owners of other datasets may make any number with the same member.
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT id FROM accounts WHERE lineage_id = $1 AND scope_type = 'DATASET' "
                          "UNION ALL SELECT id FROM accounts WHERE lineage_id = $1 AND "
                          "scope_type = 'ANALYST' AND scope_key = $2 "
                          "UNION ALL SELECT a.id FROM accounts a WHERE a.lineage_id = $1 AND "
                          "a.scope_type = 'ANALYST_GROUP' AND EXISTS (SELECT 1 FROM account_members m "
                          "WHERE m.account_id = a.id AND m.member = $2)",
                          {lineage_id, principal}));
  std::vector<int64_t> ids;
  for (const Row& row : rows) ids.push_back(row.Integer(0));
  return ids;
}

absl::StatusOr<std::vector<StoredCharge>> ReadCharges(Transaction& transaction, std::string_view condition,
                                                      const Parameters& parameters) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute(absl::StrCat(kChargeColumns, kChargeTables, "WHERE ", std::string(condition)),
                          parameters));
  std::vector<StoredCharge> charges;
  for (const Row& row : rows) {
    ASSIGN_OR_RETURN(StoredCharge charge, ChargeOf(row));
    charges.push_back(std::move(charge));
  }
  return charges;
}

absl::StatusOr<StoredCharge> ReadCharge(Transaction& transaction, std::string_view charge_id) {
  ASSIGN_OR_RETURN(std::vector<StoredCharge> charges,
                   ReadCharges(transaction, "c.id = $1", {std::string(charge_id)}));
  if (charges.empty()) return absl::NotFoundError("there is no such charge");
  return std::move(charges.front());
}

absl::StatusOr<std::vector<Charge>> ReadOperations(Transaction& transaction, std::string_view principal,
                                                   int64_t start, int64_t limit,
                                                   const std::function<bool(const Charge&)>& is_shown) {
  std::vector<Charge> charges;
  while (static_cast<int64_t>(charges.size()) < limit) {
    const int64_t most = limit - static_cast<int64_t>(charges.size());
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute(absl::StrCat(kChargeColumns, kChargeTables,
                                                      "WHERE "
                                                      "c.principal = $1 AND c.number < $2 AND c.kind <> "
                                                      "'reservation' ORDER BY c.number DESC LIMIT $3"),
                                         {std::string(principal), start, most}));
    for (const Row& row : rows) {
      absl::StatusOr<StoredCharge> stored = ChargeOf(row);
      if (stored.ok() && is_shown(stored->charge)) charges.push_back(std::move(stored->charge));
      start = row.Integer(17);
    }
    if (static_cast<int64_t>(rows.size()) < most) break;
  }
  return charges;
}

Statement SelectChargesByKey() {
  static const std::string kText = absl::StrCat(kChargeColumns, kChargeTables, kChargeOfKey);
  return {kText, {}, {ColumnType::kText, ColumnType::kText}};
}

Statement SelectChargesById() {
  static const std::string kText = absl::StrCat(kChargeColumns, kChargeTables, "WHERE c.id = $1");
  return {kText, {}, {ColumnType::kText}};
}

absl::StatusOr<StoredCharge> StoredChargeOf(const Row& row) {
  return ChargeOf(row);
}

Statement SelectStoredRequest() {
  static const std::string kText = absl::StrCat(
      kChargeColumns,
      ", r.dataset_id, r.number, r.payload_hash, r.payload_size, r.created_at_us, "
      "CASE WHEN r.payload_size <= $3 AND r.staged_by = '' THEN r.payload END, n.dataset_id, n.seq, n.kind, "
      "n.charge_id, n.payload, n.actor, n.created_at_us, n.prev_hash, n.hash",
      kChargeTables, "LEFT JOIN entries n ON n.dataset_id = c.dataset_id AND n.seq = c.entry_seq ",
      kChargeOfKey);
  return {kText, {}, {}};
}

absl::StatusOr<StoredRequest> StoredRequestOf(const Row& row) {
  constexpr size_t kReleaseStart = kChargeColumnCount;
  constexpr size_t kPayload = kReleaseStart + 5;
  constexpr size_t kEntryStart = kReleaseStart + 6;
  StoredRequest found;
  ASSIGN_OR_RETURN(found.stored, ChargeOf(row));
  const Charge& charge = found.stored.charge;
  if (row.IsNull(kEntryStart)) return absl::DataLossError("a charge has no entry");
  found.entry = EntryOf(row.Without(kEntryStart));
  if (found.entry.charge_id != charge.id) return absl::DataLossError("a charge has no entry");
  if (charge.release_id.empty()) return found;
  found.release = Release{.id = charge.release_id,
                          .number = row.Integer(kReleaseStart + 1),
                          .charge_id = charge.id,
                          .dataset_id = row.Text(kReleaseStart),
                          .principal = charge.principal,
                          .request_id = charge.request_id,
                          .kind = charge.kind,
                          .label = charge.label,
                          .payload_hash = row.Blob(kReleaseStart + 2),
                          .payload_size = row.Integer(kReleaseStart + 3),
                          .created_at_us = row.Integer(kReleaseStart + 4)};
  RETURN_IF_ERROR(CheckIsOfItsCharge(*found.release, charge.dataset_id));
  found.has_payload = !row.IsNull(kPayload);
  if (found.has_payload) found.release->payload = row.Blob(kPayload);
  if (found.has_payload) RETURN_IF_ERROR(CheckPayload(*found.release));
  return found;
}

absl::StatusOr<std::vector<absl::StatusOr<StoredCharge>>> ReadEachCharge(
    Transaction& transaction, const std::vector<std::string>& charge_ids) {
  Statement select = SelectChargesById();
  for (const std::string& id : charge_ids) select.each.push_back({id});
  ASSIGN_OR_RETURN(const std::vector<Answers> answers, transaction.ExecuteTogether({select}));
  std::vector<absl::StatusOr<StoredCharge>> charges;
  for (const std::vector<Row>& rows : answers.at(0)) {
    charges.push_back(rows.empty() ? absl::NotFoundError("there is no such charge") : ChargeOf(rows.front()));
  }
  return charges;
}

namespace {

// From the release's rows: one for each share, or one.
absl::StatusOr<Release> ReleaseWithShares(const std::vector<Row>& rows) {
  if (rows.empty()) return absl::NotFoundError("there is no such release");
  Release release = ReleaseOf(rows.front());
  RETURN_IF_ERROR(CheckIsOfItsCharge(release, rows.front().Text(12)));
  for (const Row& row : rows) {
    if (!row.IsNull(9)) release.shared_with.push_back(row.Text(9));
  }
  return release;
}

// One in the row of the release needs several times its bytes on its way, so a large one is read in parts of
// this size.
constexpr int64_t kMostBytesAtOnce = int64_t{8} << 20;

absl::StatusOr<std::string> ReadPayloadInParts(Transaction& transaction, const std::string& release_id,
                                               int64_t expected_bytes) {
  std::string payload;
  // The stored size decides nothing but this: it may be wrong, and the hash is compared.
  payload.reserve(static_cast<size_t>(std::min(expected_bytes, int64_t{256} << 20)));
  for (int64_t start = 1; std::ssize(payload) + 1 == start; start += kMostBytesAtOnce) {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute("SELECT SUBSTR(payload, CAST(CAST($2 AS BIGINT) AS INTEGER), "
                                         "CAST(CAST($3 AS BIGINT) AS INTEGER)) FROM releases WHERE id = $1",
                                         {release_id, start, kMostBytesAtOnce}));
    payload += rows.at(0).Blob(0);
  }
  return payload;
}

}  // namespace

absl::StatusOr<Release> ReadRelease(Transaction& transaction, std::string_view release_id) {
  // The payload is in the first row only, unless it is large.
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(
                       absl::StrCat(kReleaseColumns,
                                    ", CASE WHEN r.payload_size > $2 OR r.staged_by <> '' THEN NULL "
                                    "WHEN s.grantee IS NULL OR s.grantee = "
                                    "(SELECT MIN(f.grantee) FROM release_shares f WHERE f.release_id = r.id) "
                                    "THEN r.payload END "
                                    "FROM releases r JOIN charges c ON c.id = r.charge_id",
                                    kReleaseShares, "WHERE r.id = $1 ORDER BY s.grantee"),
                       {std::string(release_id), kMostBytesAtOnce}));
  ASSIGN_OR_RETURN(Release release, ReleaseWithShares(rows));
  if (const std::string& staged_by = rows.front().Text(13); !staged_by.empty()) {
    ASSIGN_OR_RETURN(release.payload,
                     ReadPieces(transaction, release.charge_id, staged_by, release.payload_size));
  } else if (rows.front().IsNull(14)) {
    ASSIGN_OR_RETURN(release.payload, ReadPayloadInParts(transaction, release.id, release.payload_size));
  } else {
    release.payload = rows.front().Blob(14);
  }
  RETURN_IF_ERROR(CheckPayload(release));
  return release;
}

absl::StatusOr<Release> ReadReleaseWithoutPayload(Transaction& transaction, std::string_view release_id) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(
                       absl::StrCat(kReleaseColumns, " FROM releases r JOIN charges c ON c.id = r.charge_id",
                                    kReleaseShares, "WHERE r.id = $1 ORDER BY s.grantee"),
                       {std::string(release_id)}));
  return ReleaseWithShares(rows);
}

absl::StatusOr<NumberedReleases> ReadReleasesWithoutPayloads(Transaction& transaction,
                                                             std::string_view dataset_id,
                                                             const std::vector<int64_t>& numbers,
                                                             const std::optional<std::string>& grantee) {
  std::vector<Parameters> keys;
  for (const int64_t number : numbers) {
    keys.push_back({std::string(dataset_id), number});
    if (grantee.has_value()) keys.back().emplace_back(*grantee);
  }
  ASSIGN_OR_RETURN(
      const Answers answers,
      transaction.ExecuteEach(
          absl::StrCat(kReleaseColumns, " FROM releases r JOIN charges c ON c.id = r.charge_id",
                       kReleaseShares, grantee.has_value() ? "AND s.grantee = $3 " : "",
                       // As a comparison that no index serves: one by dataset would find all of its charges.
                       "WHERE r.dataset_id = $1 AND r.number = $2 AND CASE WHEN c.dataset_id = r.dataset_id "
                       "AND c.entry_seq = r.number THEN 1 ELSE 0 END = 1 ORDER BY s.grantee"),
          keys));
  NumberedReleases found;
  for (const std::vector<Row>& rows : answers) {
    if (rows.empty()) continue;
    found.last = rows.front().Text(0);
    ASSIGN_OR_RETURN(Release release, ReleaseWithShares(rows));
    found.releases.push_back(std::move(release));
  }
  return found;
}

Statement SelectReleaseNumbers(std::string_view dataset_id, std::string_view reader,
                               const std::vector<Measure>& measures, int64_t most) {
  Statement select{
      "SELECT number FROM release_measures WHERE dataset_id = $1 AND measure = $2 AND reader = "
      "$4 ORDER BY number DESC LIMIT $3",
      {},
      {ColumnType::kText, ColumnType::kBytes, ColumnType::kInteger, ColumnType::kText}};
  for (const Measure& measure : measures) {
    select.each.push_back({std::string(dataset_id), Bytes{measure}, most, std::string(reader)});
  }
  return select;
}

std::vector<int64_t> ReleaseNumbersOf(const Answers& answers) {
  std::set<int64_t, std::greater<>> numbers;
  for (const std::vector<Row>& rows : answers) {
    for (const Row& row : rows) numbers.insert(row.Integer(0));
  }
  return {numbers.begin(), numbers.end()};
}

absl::StatusOr<std::vector<Entry>> ReadEntries(Transaction& transaction, std::string_view dataset_id,
                                               int64_t after_seq, int64_t limit) {
  return ReadEntries(transaction, dataset_id, EntryRange{.after_seq = after_seq, .limit = limit});
}

absl::StatusOr<std::vector<Entry>> ReadEntries(Transaction& transaction, std::string_view dataset_id,
                                               const EntryRange& range) {
  Parameters parameters = {std::string(dataset_id), range.after_seq, range.before_seq, range.limit};
  if (!range.charges_of.empty()) parameters.emplace_back(range.charges_of);
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute(
          absl::StrCat("SELECT dataset_id, seq, kind, charge_id, payload, actor, created_at_us, prev_hash, "
                       "hash FROM entries WHERE dataset_id = $1 AND seq > $2 AND seq < $3",
                       range.charges_of.empty() ? "" : " AND actor = $5 AND charge_id <> ''", " ORDER BY seq",
                       range.newest ? " DESC" : "", " LIMIT $4"),
          parameters));
  std::vector<Entry> entries;
  for (const Row& row : rows) entries.push_back(EntryOf(row));
  if (range.newest) std::ranges::reverse(entries);
  return entries;
}

namespace {

// Removes `expected` from the front of `text`; false when `text` starts otherwise.
bool Take(std::string_view& text, std::string_view expected) {
  if (text.substr(0, expected.size()) != expected) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool TakeInteger(std::string_view& text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool TakePosting(std::string_view& text, Posting& posting) {
  if (!Take(text, "[") || !TakeInteger(text, posting.account_id) || !Take(text, ",\"")) return false;
  const size_t end = text.find('"');
  if (end == std::string_view::npos) return false;
  posting.counter = text.substr(0, end);
  text.remove_prefix(end);
  return Take(text, "\",") && TakeInteger(text, posting.cost) && Take(text, "]");
}

}  // namespace

std::vector<Posting> Ascending(std::vector<Posting> postings) {
  std::sort(postings.begin(), postings.end(), [](const Posting& a, const Posting& b) {
    return std::tie(a.account_id, a.counter) < std::tie(b.account_id, b.counter);
  });
  return postings;
}

std::string PostingsText(std::vector<Posting> postings) {
  std::string text = "[";
  for (const Posting& posting : Ascending(std::move(postings))) {
    absl::StrAppend(&text, text.size() > 1 ? ",[" : "[", posting.account_id, ",\"", posting.counter, "\",",
                    posting.cost, "]");
  }
  text += "]";
  return text;
}

absl::StatusOr<std::vector<Posting>> ParsePostingsText(std::string_view text) {
  std::vector<Posting> postings;
  std::string_view rest = text;
  bool is_well_formed = Take(rest, "[");
  while (is_well_formed && rest != "]") {
    is_well_formed = (postings.empty() || Take(rest, ",")) && TakePosting(rest, postings.emplace_back());
  }
  if (is_well_formed && PostingsText(postings) == text) return postings;
  return absl::DataLossError("the ledger holds malformed postings of a charge");
}

}  // namespace curator::ledger::sql
