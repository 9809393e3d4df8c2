// The ledger's read methods. They work on a read-only ledger, too, except for a charge that has started and
// that no anchor covers.
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

// A charge, and what decides whether it is reported as it is.
struct FoundCharge {
  Charge charge;
  // Of a STARTED charge the seq of the entry that started it, or of a later one; 0 in other states, which let
  // no caller read records.
  int64_t started_at_seq = 0;
  int64_t now_us = 0;  // by the store's clock
};

// `newest_seq` is that of its chain, read after the charge.
FoundCharge FoundChargeOf(Charge charge, int64_t entry_seq, int64_t newest_seq, int64_t now_us) {
  FoundCharge found{.charge = std::move(charge), .now_us = now_us};
  if (found.charge.state == ChargeState::kStarted) {
    const bool was_reserved = found.charge.deadline_us > 0;
    found.started_at_seq = was_reserved || entry_seq == 0 ? newest_seq : entry_seq;
  }
  return found;
}

// From the rows of the charge, of its chain, and of the clock.
absl::StatusOr<FoundCharge> FoundChargeOf(const std::vector<Answers>& answers, const absl::Status& missing) {
  if (answers.at(0).at(0).empty()) return missing;
  ASSIGN_OR_RETURN(StoredCharge stored, StoredChargeOf(answers.at(0).at(0).front()));
  return FoundChargeOf(std::move(stored.charge), stored.entry_seq, answers.at(1).at(0).at(0).Integer(0),
                       answers.at(2).at(0).at(0).Integer(0));
}

// What FindEarlier() reads: the request, the dataset's head and the clock, the balances, and numbers of
// releases.
std::vector<Statement> StatementsFor(const EarlierQuery& query, std::string_view select_head) {
  Statement request = SelectStoredRequest();
  request.each = {{query.principal.name(), query.request_id, query.most_payload_bytes}};
  Statement balances = {
      "SELECT account_id, counter, limit_value, spent, held FROM account_counters WHERE "
      "account_id = $1",
      {},
      {ColumnType::kInteger}};
  for (const int64_t id : query.account_ids) balances.each.push_back({id});
  return {std::move(request),
          {select_head, {{query.dataset_id}}},
          std::move(balances),
          SelectReleaseNumbers(query.dataset_id, query.reader, query.measures, query.most_releases)};
}

absl::StatusOr<EarlierRequest> EarlierOf(const std::vector<Answers>& answers) {
  EarlierRequest earlier;
  if (const std::vector<Row>& rows = answers.at(0).at(0); !rows.empty()) {
    ASSIGN_OR_RETURN(StoredRequest found, StoredRequestOf(rows.front()));
    earlier.charge = std::move(found.stored.charge);
    earlier.entry = std::move(found.entry);
    earlier.release = std::move(found.release);
    earlier.has_payload = found.has_payload;
  }
  if (const std::vector<Row>& rows = answers.at(1).at(0); !rows.empty()) {
    earlier.revision = rows.front().Integer(0);
  }
  for (const std::vector<Row>& rows : answers.at(2)) {
    for (const Row& row : rows) {
      earlier.balances.push_back({.account_id = row.Integer(0),
                                  .balance = {.counter = row.Text(1),
                                              .limit = row.Integer(2),
                                              .spent = row.Integer(3),
                                              .held = row.Integer(4)}});
    }
  }
  if (!answers.at(3).empty()) earlier.release_numbers = ReleaseNumbersOf(answers.at(3));
  return earlier;
}

}  // namespace

absl::Status SqlLedger::EnsureAnchored(const std::string& dataset_id, int64_t seq) {
  if (seq == 0 || anchor_->IsDurable(dataset_id, seq)) return absl::OkStatus();
  if (anchor_->OwnSeqOf(dataset_id) >= seq) return anchor_->RaiseTo({});
  return Write(dataset_id, [&](WriteSet& change) {
    change.MarkChargesOnly();
    return change.LockChains({dataset_id});
  });
}

absl::StatusOr<Charge> SqlLedger::FindOneCharge(Statement select, std::string_view select_head,
                                                const Parameters& key, const absl::Status& missing) {
  const std::string select_clock = absl::StrCat("SELECT ", std::string(database_->dialect().now_us));
  select.each = {key};
  const std::vector<Statement> statements = {
      std::move(select), {select_head, {key}}, {select_clock, {Parameters()}}};
  FoundCharge found;
  RETURN_IF_ERROR(ReadOnce([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Answers> answers, transaction.ExecuteTogether(statements));
    ASSIGN_OR_RETURN(found, FoundChargeOf(answers, missing));
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(damage_.CheckCharge(found.charge.dataset_id, found.charge.id));
  return Reportable(std::move(found.charge), found.started_at_seq, found.now_us);
}

absl::StatusOr<Charge> SqlLedger::Reportable(Charge charge, int64_t started_at_seq, int64_t now_us) {
  RETURN_IF_ERROR(EnsureAnchored(charge.dataset_id, started_at_seq));
  return ExpiredIfOverdue(std::move(charge), now_us);
}

absl::StatusOr<Charge> SqlLedger::GetCharge(std::string_view charge_id) {
  return FindOneCharge(SelectChargesById(),
                       "SELECT h.seq FROM charges c JOIN chain_heads h ON h.dataset_id = c.dataset_id WHERE "
                       "c.id = $1",
                       {std::string(charge_id)}, absl::NotFoundError("there is no such charge"));
}

absl::StatusOr<Charge> SqlLedger::FindCharge(const Principal& principal, std::string_view request_id) {
  return FindOneCharge(SelectChargesByKey(),
                       "SELECT h.seq FROM charges c JOIN chain_heads h ON h.dataset_id = c.dataset_id WHERE "
                       "c.principal = $1 AND c.request_id = $2",
                       {principal.name(), std::string(request_id)},
                       absl::NotFoundError("no charge has this request id"));
}

absl::StatusOr<EarlierRequest> SqlLedger::FindEarlier(const EarlierQuery& query) {
  if (!query.measures.empty()) RETURN_IF_ERROR(CheckPageLimit(query.most_releases));
  const std::string select_head =
      absl::StrCat("SELECT revision, seq, ", std::string(database_->dialect().now_us),
                   " FROM chain_heads WHERE dataset_id = $1");
  const std::vector<Statement> statements = StatementsFor(query, select_head);
  EarlierRequest earlier;
  std::vector<Row> head;
  RETURN_IF_ERROR(ReadOnce([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Answers> answers, transaction.ExecuteTogether(statements));
    ASSIGN_OR_RETURN(earlier, EarlierOf(answers));
    head = answers.at(1).at(0);
    return absl::OkStatus();
  }));
  if (!damage_.CheckDataset(query.dataset_id).ok()) earlier.revision.reset();
  if (!earlier.charge) return earlier;
  RETURN_IF_ERROR(damage_.CheckCharge(earlier.charge->dataset_id, earlier.charge->id));
  const bool is_open =
      earlier.charge->state == ChargeState::kStarted || earlier.charge->state == ChargeState::kReserved;
  if (!is_open) return earlier;
  if (head.empty() || earlier.charge->dataset_id != query.dataset_id) {
    ASSIGN_OR_RETURN(earlier.charge, FindCharge(query.principal, query.request_id));
    return earlier;
  }
  FoundCharge found = FoundChargeOf(*std::move(earlier.charge), earlier.entry->seq, head.front().Integer(1),
                                    head.front().Integer(2));
  ASSIGN_OR_RETURN(earlier.charge, Reportable(std::move(found.charge), found.started_at_seq, found.now_us));
  return earlier;
}

absl::StatusOr<Charge> SqlLedger::LatestCharge(std::string_view dataset_id, const Principal& principal) {
  std::vector<StoredCharge> newest;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(newest, ReadCharges(transaction,
                                         "c.principal = $1 AND c.dataset_id = $2 "
                                         "ORDER BY c.number DESC LIMIT 100",
                                         {principal.name(), std::string(dataset_id)}));
    return absl::OkStatus();
  }));
  for (StoredCharge& stored : newest) {
    if (stored.charge.state == ChargeState::kCancelled) continue;
    if (damage_.CheckCharge(dataset_id, stored.charge.id).ok()) return std::move(stored.charge);
  }
  return absl::NotFoundError("this principal has no charge on this dataset");
}

absl::StatusOr<Entry> SqlLedger::ChargeEntry(std::string_view charge_id) {
  Entry entry;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Row> charges,
                     transaction.Execute("SELECT dataset_id, entry_seq FROM charges WHERE id = $1",
                                         {std::string(charge_id)}));
    if (charges.empty()) return absl::NotFoundError("there is no such charge");
    if (charges.front().IsNull(1)) return absl::DataLossError("a charge does not name its entry");
    const std::string& dataset_id = charges.front().Text(0);
    const int64_t seq = charges.front().Integer(1);
    ASSIGN_OR_RETURN(const std::vector<Entry> entries, ReadEntries(transaction, dataset_id, seq - 1, 1));
    if (entries.empty() || entries.front().charge_id != charge_id) {
      return absl::DataLossError("a charge has no entry");
    }
    entry = entries.front();
    return absl::OkStatus();
  }));
  return entry;
}

absl::StatusOr<Release> SqlLedger::GetRelease(std::string_view release_id) {
  Release release;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(release, ReadRelease(transaction, release_id));
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(damage_.CheckCharge(release.dataset_id, release.charge_id));
  damage_.RestoreNames(release);
  return release;
}

absl::StatusOr<Release> SqlLedger::GetReleaseWithoutPayload(std::string_view release_id) {
  Release release;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(release, ReadReleaseWithoutPayload(transaction, release_id));
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(damage_.CheckCharge(release.dataset_id, release.charge_id));
  damage_.RestoreNames(release);
  return release;
}

absl::StatusOr<std::vector<Entry>> SqlLedger::ListEntries(std::string_view dataset_id,
                                                          const EntryRange& range) {
  if (range.after_seq < 0) return InvalidField("page.after_seq", "is negative");
  constexpr int64_t kMostEntries = 10'000;
  if (range.limit < 1 || range.limit > kMostEntries)
    return InvalidField("page.limit", "is not within 1 and 10,000");
  std::vector<Entry> entries;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(ReadLineageId(transaction, dataset_id).status());
    ASSIGN_OR_RETURN(entries, ReadEntries(transaction, dataset_id, range));
    return absl::OkStatus();
  }));
  return entries;
}

absl::StatusOr<std::vector<HistoryHead>> SqlLedger::HistoryHeads(
    const std::vector<std::string>& dataset_ids) {
  std::vector<Parameters> keys;
  for (const std::string& id : dataset_ids) keys.push_back({id});
  std::vector<HistoryHead> heads;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const Answers answers,
                     transaction.ExecuteEach(
                         "SELECT dataset_id, seq, revision FROM chain_heads WHERE dataset_id = $1", keys));
    heads.clear();
    for (const std::vector<Row>& rows : answers) {
      for (const Row& row : rows) heads.push_back({row.Text(0), row.Integer(1), row.Integer(2)});
    }
    return absl::OkStatus();
  }));
  return heads;
}

}  // namespace curator::ledger::sql
