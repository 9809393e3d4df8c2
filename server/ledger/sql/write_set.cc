#include "ledger/sql/write_set.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/verify.h"

namespace curator::ledger::sql {

namespace {

constexpr char kOutdated[] = "curator.ledger/outdated";

DamageSite BehindAnchor(const LockedDataset& dataset) {
  return {.dataset_id = dataset.id,
          .dataset_name = dataset.name,
          .lineage_id = dataset.lineage_id,
          .is_behind_anchor = true};
}

}  // namespace

absl::Status Outdated(int64_t schema_of_ledger, int64_t known) {
  absl::Status status = absl::FailedPreconditionError(
      absl::StrCat("this ledger was upgraded to schema ", schema_of_ledger, "; this server knows ", known,
                   ": stop it and start the newer program"));
  status.SetPayload(kOutdated, absl::Cord());
  return status;
}

bool IsOutdated(const absl::Status& status) {
  return status.GetPayload(kOutdated).has_value();
}

absl::Status CheckSchemaIs(Transaction& transaction, int64_t known) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT MAX(version) FROM schema_migrations", {}));
  const int64_t schema = rows.at(0).Integer(0);
  return schema == known ? absl::OkStatus() : Outdated(schema, known);
}

absl::Status WriteSet::LockChains(const std::set<std::string>& dataset_ids) {
  return LockAll(dataset_ids, {}, {}).status();
}

absl::Status WriteSet::LockCounters(const std::set<int64_t>& account_ids) {
  return LockAll({}, account_ids, {}).status();
}

absl::StatusOr<std::vector<Answers>> WriteSet::LockAll(const std::set<std::string>& dataset_ids,
                                                       const std::set<int64_t>& account_ids,
                                                       const std::vector<Statement>& look_ups) {
  std::vector<Parameters> datasets;
  for (const std::string& dataset_id : dataset_ids) datasets.push_back({dataset_id});
  std::vector<Parameters> accounts;
  for (const int64_t account_id : account_ids) accounts.push_back({account_id});
  const std::string lock_chains = absl::StrCat(
      "SELECT h.dataset_id FROM chain_heads h WHERE h.dataset_id = $1", LockingRowsOf(dialect_, "h"));
  const std::string read_chains = SelectChains();
  const std::string lock_counters = SelectCountersLocked();
  std::vector<Statement> statements = {{lock_chains, datasets, {ColumnType::kText}},
                                       {read_chains, datasets},
                                       {lock_counters, accounts, {ColumnType::kInteger}}};
  const size_t locks = statements.size();
  statements.insert(statements.end(), look_ups.begin(), look_ups.end());
  ASSIGN_OR_RETURN(std::vector<Answers> answers, transaction_.ExecuteTogether(statements));
  RETURN_IF_ERROR(ReadChains(answers[1]));
  RETURN_IF_ERROR(ReadCounters(answers[2]));
  answers.erase(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(locks));
  return answers;
}

// Not part of the locking statement: it must see what was committed while that one waited.
std::string WriteSet::SelectChains() const {
  return absl::StrCat(
      "SELECT d.id, d.name, d.lineage_id, CASE WHEN d.deleted_name = '' THEN d.state ELSE 'DELETED' END, "
      "d.is_public, h.seq, h.hash, "
      "COALESCE((SELECT MAX(v.version) FROM dataset_versions v WHERE v.dataset_id = d.id), "
      "(SELECT MAX(p.sealed_version) FROM dataset_parts p WHERE p.dataset_id = d.id), 0), ",
      std::string(dialect_.now_us),
      ", CASE WHEN EXISTS (SELECT 1 FROM accounts a WHERE a.lineage_id = d.lineage_id AND a.scope_type IN "
      "('ANALYST', 'ANALYST_GROUP')) THEN 1 ELSE 0 END, "
      "CASE WHEN d.partition_attribute = '' THEN 0 ELSE 1 END, "
      "(SELECT MAX(m.version) FROM schema_migrations m), "
      "COALESCE((SELECT e.created_at_us FROM entries e WHERE e.dataset_id = h.dataset_id AND e.seq = h.seq), "
      "0), h.revision, d.refusal_rules"
      " FROM chain_heads h JOIN datasets d ON d.id = h.dataset_id WHERE h.dataset_id = $1");
}

absl::Status WriteSet::ReadChains(const Answers& answers) {
  for (const std::vector<Row>& rows : answers) {
    if (rows.empty()) continue;
    const Row& row = rows.front();
    if (row.Integer(11) != schema_) return Outdated(row.Integer(11), schema_);
    const DamageSite site{.dataset_id = row.Text(0), .dataset_name = row.Text(1), .lineage_id = row.Text(2)};
    RETURN_IF_ERROR(CheckNotDamaged(site));
    const absl::StatusOr<DatasetState> state = DatasetStateFromName(row.Text(3));
    if (!state.ok()) return DamageAt(site, std::string(state.status().message()));
    LockedDataset dataset{.id = row.Text(0),
                          .name = row.Text(1),
                          .lineage_id = row.Text(2),
                          .state = *state,
                          .is_public = row.Integer(4) != 0,
                          .is_partitioned = row.Integer(10) != 0,
                          .has_analyst_accounts = row.Integer(9) != 0,
                          .version = row.Integer(7),
                          .revision = row.Integer(13),
                          .refusal_rules_hash = HashOfRules(row.Blob(14)),
                          .head = {row.Integer(5), row.Blob(6)},
                          .last_entry_us = row.Integer(12)};
    RETURN_IF_ERROR(CheckAgainstAnchor(dataset));
    now_us_ = row.Integer(8);
    reached_.heads[dataset.id] = dataset.head;
    // A repair needs its chain, and everything else finds no dataset.
    if (dataset.state == DatasetState::kDeleted && damage_ != nullptr) continue;
    first_heads_[dataset.id] = dataset.head;
    datasets_.emplace(dataset.id, std::move(dataset));
  }
  return absl::OkStatus();
}

absl::Status WriteSet::CheckAgainstAnchor(const LockedDataset& dataset) {
  const int64_t own_seq = anchored_.OwnSeqOf(dataset.id);
  if (dataset.head.seq > own_seq) RETURN_IF_ERROR(CoverEntriesAfter(dataset, own_seq));
  ASSIGN_OR_RETURN(const ChainHead expected, anchored_.HeadOf(dataset.id));
  if (expected.seq == 0) return absl::OkStatus();
  if (dataset.head.seq < expected.seq) {
    return DamageAt(BehindAnchor(dataset), absl::StrCat("the history ends with entry ", dataset.head.seq,
                                                        ", and the anchor knows entry ", expected.seq));
  }
  std::string hash = dataset.head.hash;
  if (dataset.head.seq > expected.seq) {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction_.Execute("SELECT hash FROM entries WHERE dataset_id = $1 AND seq = $2",
                                          {dataset.id, expected.seq}));
    hash = rows.empty() ? std::string() : rows.front().Blob(0);
  }
  if (hash == expected.hash) return absl::OkStatus();
  return DamageAt(BehindAnchor(dataset),
                  absl::StrCat("entry ", expected.seq, " has the hash ", absl::BytesToHexString(hash),
                               ", and the anchor knows ", absl::BytesToHexString(expected.hash)));
}

absl::Status WriteSet::CoverEntriesAfter(const LockedDataset& dataset, int64_t seq) {
  ASSIGN_OR_RETURN(const auto counters,
                   SpentBy(transaction_, {dataset.lineage_id, dataset.id, seq, dataset.head.seq}));
  // Not compared with the anchor: these counters are not locked, and charges of another dataset of the
  // lineage raise them, and the anchor, meanwhile. A change that locks them compares.
  for (const auto& [key, spent] : counters) reached_.spent[key] = spent;
  return absl::OkStatus();
}

absl::StatusOr<const LockedDataset*> WriteSet::FindDataset(std::string_view dataset_id) const {
  const auto found = datasets_.find(dataset_id);
  if (found == datasets_.end()) return absl::NotFoundError("there is no such dataset");
  return &found->second;
}

const ChainHead* WriteSet::FirstHeadOf(std::string_view dataset_id) const {
  const auto found = first_heads_.find(dataset_id);
  return found == first_heads_.end() ? nullptr : &found->second;
}

absl::StatusOr<LockedDataset> WriteSet::dataset(std::string_view dataset_id) const {
  ASSIGN_OR_RETURN(const LockedDataset* const found, FindDataset(dataset_id));
  return *found;
}

absl::StatusOr<std::shared_ptr<const RequiredAccounts>> WriteSet::RequiredAccountsOf(
    std::string_view dataset_id) {
  const auto found = datasets_.find(dataset_id);
  if (found == datasets_.end()) return absl::NotFoundError("the chain is not locked");
  LockedDataset& dataset = found->second;
  if (dataset.required_accounts == nullptr) {
    if (is_optimistic_) return absl::AbortedError("the accounts are not cached");
    ASSIGN_OR_RETURN(dataset.required_accounts, ReadRequiredAccounts(transaction_, dataset.lineage_id));
  }
  return dataset.required_accounts;
}

absl::Status WriteSet::StartChain(std::string_view dataset_id) {
  const std::string id(dataset_id);
  const ChainHead empty;
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction_.Execute(absl::StrCat("INSERT INTO chain_heads (dataset_id, seq, hash) VALUES ($1, "
                                        "$2, $3) RETURNING ",
                                        std::string(dialect_.now_us)),
                           {id, empty.seq, Bytes{empty.hash}}));
  now_us_ = rows.at(0).Integer(0);
  datasets_[id] = {.id = id, .head = empty};
  return absl::OkStatus();
}

std::string WriteSet::SelectCountersLocked() const {
  return absl::StrCat(
      "SELECT c.account_id, c.counter, c.spent, c.held, c.limit_value, a.lineage_id, a.rule_name, "
      "a.scope_type, "
      "a.scope_key, d.name FROM account_counters c JOIN accounts a ON a.id = c.account_id "
      "JOIN datasets d ON d.id = a.dataset_id WHERE c.account_id = $1 ORDER BY c.counter",
      LockingRowsOf(dialect_, "c"));
}

absl::Status WriteSet::ReadCounters(const Answers& answers) {
  for (const std::vector<Row>& rows : answers) {
    for (const Row& row : rows) {
      const CounterKey key(row.Integer(0), row.Text(1));
      // A lineage has the id of its first dataset, which opens the accounts.
      DamageSite site{.dataset_id = row.Text(5), .dataset_name = row.Text(9), .lineage_id = row.Text(5)};
      const absl::StatusOr<ScopeType> scope = ScopeFromName(row.Text(7));
      if (!scope.ok()) return DamageAt(site, std::string(scope.status().message()));
      LockedCounter counter{.spent = row.Integer(2),
                            .held = row.Integer(3),
                            .limit = row.Integer(4),
                            .lineage_id = row.Text(5),
                            .scope_type = *scope,
                            .account_name = AccountName(row.Text(9), *scope, row.Text(8)),
                            .rule_name = row.Text(6)};
      if (const int64_t anchored = anchored_.SpentOf(key); counter.spent < anchored) {
        site.is_behind_anchor = true;
        return DamageAt(site, absl::StrCat("account ", counter.account_name, " has spent less of ",
                                           key.second, " than the anchor knows"));
      }
      // The server that committed this may have died before its anchor recorded it. Everything that this
      // change reports rests on it.
      reached_.spent[key] = counter.spent;
      counters_.emplace(key, std::move(counter));
    }
  }
  return absl::OkStatus();
}

LockedCounter* WriteSet::counter(const CounterKey& key) {
  const auto found = counters_.find(key);
  return found == counters_.end() ? nullptr : &found->second;
}

void WriteSet::AddSpent(const CounterKey& key, int64_t amount) {
  LockedCounter& counter = counters_.at(key);
  counter.spent += amount;
  counter.spent_added += amount;
}

void WriteSet::AddHeld(const CounterKey& key, int64_t amount) {
  LockedCounter& counter = counters_.at(key);
  counter.held += amount;
  counter.held_added += amount;
}

EntryPlace WriteSet::Append(Entry entry) {
  LockedDataset& dataset = datasets_.find(entry.dataset_id)->second;
  dataset.last_entry_us = std::max(dataset.last_entry_us, now_us_);
  entry.created_at_us = dataset.last_entry_us;
  dataset.head = ledger::Append(dataset.head, entry);
  appended_.push_back(std::move(entry));
  return {.seq = dataset.head.seq, .hash = dataset.head.hash, .created_at_us = dataset.last_entry_us};
}

EntryPlace WriteSet::AppendAfterGap(Entry entry, int64_t lost_seq) {
  ChainHead& head = datasets_.find(entry.dataset_id)->second.head;
  head.seq = std::max(head.seq, lost_seq);
  return Append(std::move(entry));
}

namespace {

template <typename Queue, typename Change>
void AddRow(Queue& queue, const Change& kind, Parameters row) {
  auto found = std::ranges::find(queue, &kind, &Queue::value_type::kind);
  if (found == queue.end()) found = queue.insert(queue.end(), {&kind, {}});
  found->rows.push_back(std::move(row));
}

template <typename Queue>
void MoveSteps(Queue& queue, std::vector<Step>& steps) {
  for (auto& [kind, rows] : queue) {
    auto step = *kind;
    step.rows = std::move(rows);
    steps.emplace_back(std::move(step));
  }
  queue.clear();
}

}  // namespace

void WriteSet::ChangeRow(const Update& kind, Parameters row) {
  AddRow(changes_, kind, std::move(row));
}

void WriteSet::DeleteRow(const Deletion& kind, Parameters row) {
  AddRow(deletions_, kind, std::move(row));
}

void WriteSet::Insert(std::string_view table, const std::vector<Column>& columns,
                      std::vector<Parameters> rows) {
  const auto found = std::ranges::find(insertions_, table, &Insertion::table);
  if (found == insertions_.end()) {
    insertions_.push_back({table, &columns, std::move(rows)});
  } else {
    std::ranges::move(rows, std::back_inserter(found->rows));
  }
}

absl::Status WriteSet::StartFromCache(const CachedHeads& cached) {
  is_optimistic_ = true;
  datasets_ = cached.datasets;
  counters_ = cached.counters;
  now_us_ = cached.now_us;
  for (const auto& [id, dataset] : datasets_) {
    ASSIGN_OR_RETURN(const ChainHead anchored, anchored_.HeadOf(id));
    if (!(anchored == dataset.head) || anchored_.OwnSeqOf(id) < dataset.head.seq) {
      return absl::AbortedError("the anchor has another head");
    }
    first_heads_[id] = dataset.head;
    reached_.heads[id] = dataset.head;
  }
  for (const auto& [key, counter] : counters_) {
    if (counter.spent < anchored_.SpentOf(key))
      return absl::AbortedError("the anchor has a higher spent value");
    reached_.spent[key] = counter.spent;
  }
  return absl::OkStatus();
}

Update WriteSet::UpdateHeads() {
  std::set<std::string> dataset_ids;
  for (const Entry& entry : appended_) dataset_ids.insert(entry.dataset_id);
  const bool is_new_revision = !charges_only_ && !appended_.empty();
  if (is_new_revision) {
    for (auto& [id, dataset] : datasets_) {
      ++dataset.revision;
      dataset_ids.insert(id);
    }
  }
  // Another schema makes `seq` null, which its column refuses. So does a stale head of an optimistic change,
  // whose time is derived from the cache, too: the store compares it with its own clock.
  constexpr int64_t kMostClockErrorUs = 1'000'000;
  Update update{.table = "chain_heads",
                .set = "hash = $3, seq = CASE WHEN (SELECT MAX(m.version) FROM schema_migrations m) = $4 ",
                .where = "dataset_id = $1",
                .types = {ColumnType::kText, ColumnType::kInteger, ColumnType::kBytes, ColumnType::kInteger},
                .rows = {}};
  if (is_optimistic_) {
    absl::StrAppend(&update.set, "AND seq = $5 AND hash = $6 AND revision = $7 AND ",
                    std::string(dialect_.now_us), " BETWEEN $8 AND $9 THEN seq + $2 END");
    update.types.insert(update.types.end(), {ColumnType::kInteger, ColumnType::kBytes, ColumnType::kInteger,
                                             ColumnType::kInteger, ColumnType::kInteger});
  } else {
    absl::StrAppend(&update.set, "THEN CAST($2 AS BIGINT) END, revision = $5");
    update.types.push_back(ColumnType::kInteger);
  }
  for (const std::string& dataset_id : dataset_ids) {
    const LockedDataset& dataset = datasets_.find(dataset_id)->second;
    const ChainHead& head = dataset.head;
    reached_.heads[dataset_id] = head;
    update.rows.push_back({dataset_id, head.seq, Bytes{head.hash}, schema_});
    if (!is_optimistic_) {
      update.rows.back().emplace_back(dataset.revision);
      continue;
    }
    const ChainHead& assumed = first_heads_.find(dataset_id)->second;
    Parameters& one = update.rows.back();
    one[1] = head.seq - assumed.seq;
    one.insert(one.end(), {assumed.seq, Bytes{assumed.hash}, dataset.revision, now_us_ - kMostClockErrorUs,
                           now_us_ + kMostClockErrorUs});
  }
  return update;
}

Update WriteSet::UpdateCounters() {
  // Admission has checked the amounts. The store checks them again, twice: a cost that does not fit makes
  // `spent` null, which its column refuses, and the CHECK refuses any sum beyond the limit. Cached values
  // that are stale make `spent` null, too.
  Update update{
      .table = "account_counters",
      .set = "held = held + $4, spent = CASE WHEN $3 <= limit_value - held - $4 - spent ",
      .where = "account_id = $1 AND counter = $2",
      .types = {ColumnType::kInteger, ColumnType::kText, ColumnType::kInteger, ColumnType::kInteger},
      .rows = {}};
  if (is_optimistic_) {
    absl::StrAppend(&update.set, "AND spent = $5 AND held = $6 AND limit_value = $7 ");
    update.types.insert(update.types.end(), 3, ColumnType::kInteger);
  }
  absl::StrAppend(&update.set, "THEN spent + $3 END");
  for (const auto& [key, counter] : counters_) {
    if (counter.spent_added == 0 && counter.held_added == 0) continue;
    update.rows.push_back({key.first, key.second, counter.spent_added, counter.held_added});
    if (is_optimistic_) {
      update.rows.back().insert(update.rows.back().end(), {counter.spent - counter.spent_added,
                                                           counter.held - counter.held_added, counter.limit});
    }
    reached_.spent[key] = counter.spent;
  }
  return update;
}

Insertion WriteSet::InsertEntries() {
  // First the columns that are mostly equal for all entries of a batch, which a store may send once.
  static const std::vector<Column> kEntryColumns = {{"created_at_us", ColumnType::kInteger},
                                                    {"dataset_id", ColumnType::kText},
                                                    {"kind", ColumnType::kText},
                                                    {"actor", ColumnType::kText},
                                                    {"seq", ColumnType::kInteger},
                                                    {"charge_id", ColumnType::kText},
                                                    {"payload", ColumnType::kBytes},
                                                    {"prev_hash", ColumnType::kBytes},
                                                    {"hash", ColumnType::kBytes}};
  Insertion entries{"entries", &kEntryColumns, {}};
  entries.rows.reserve(appended_.size());
  for (Entry& entry : appended_) {
    entries.rows.push_back(RowOf(entry.created_at_us, std::move(entry.dataset_id), std::move(entry.kind),
                                 std::move(entry.actor), entry.seq, std::move(entry.charge_id),
                                 Bytes{std::move(entry.payload)}, Bytes{std::move(entry.prev_hash)},
                                 Bytes{std::move(entry.hash)}));
  }
  appended_.clear();
  return entries;
}

absl::Status WriteSet::Flush() {
  // In lock order, because an optimistic change has locked nothing yet.
  std::vector<Step> steps = {UpdateHeads(), UpdateCounters()};
  MoveSteps(changes_, steps);
  MoveSteps(deletions_, steps);
  for (Insertion& insertion : insertions_) steps.emplace_back(std::move(insertion));
  steps.emplace_back(InsertEntries());
  return transaction_.ExecuteLast(steps);
}

}  // namespace curator::ledger::sql
