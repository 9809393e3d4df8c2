#include "tests/migrations/large_ledger.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/history/hash_chain.h"
#include "ledger/sql/migrations.h"
#include "ledger/sql/rows.h"

namespace curator::ledger {
namespace {

using sql::Bytes;
using sql::ColumnType;
using sql::Null;
using sql::Parameters;
using sql::RowOf;

constexpr int64_t kStartUs = int64_t{1'700'000'000} * 1'000'000;
constexpr int64_t kNeverUs = int64_t{4'000'000'000} * 1'000'000;

using Columns = std::vector<sql::Column>;
const Columns kChargeColumns = {{"id"},
                                {"dataset_id"},
                                {"dataset_version", ColumnType::kInteger},
                                {"principal"},
                                {"request_id"},
                                {"fingerprint", ColumnType::kBytes},
                                {"kind"},
                                {"event", ColumnType::kBytes},
                                {"label"},
                                {"state"},
                                {"attempt_token"},
                                {"sealed_key", ColumnType::kBytes},
                                {"deadline_us", ColumnType::kInteger},
                                {"created_at_us", ColumnType::kInteger},
                                {"ended_at_us", ColumnType::kInteger},
                                {"postings"},
                                {"entry_seq", ColumnType::kInteger}};
const Columns kEntryColumns = {{"dataset_id"},
                               {"seq", ColumnType::kInteger},
                               {"kind"},
                               {"charge_id"},
                               {"payload", ColumnType::kBytes},
                               {"actor"},
                               {"created_at_us", ColumnType::kInteger},
                               {"prev_hash", ColumnType::kBytes},
                               {"hash", ColumnType::kBytes}};
const Columns kReleaseColumns = {{"id"},
                                 {"charge_id"},
                                 {"dataset_id"},
                                 {"payload", ColumnType::kBytes},
                                 {"payload_hash", ColumnType::kBytes},
                                 {"payload_size", ColumnType::kInteger},
                                 {"created_at_us", ColumnType::kInteger}};

std::string IdOf(std::string_view group, int64_t number) {
  const std::string digits = absl::StrCat(absl::Hex(number, absl::kZeroPad12));
  return absl::StrCat("00000000-0000-4000-", std::string(group), "-", digits);
}

class Writer {
 public:
  explicit Writer(int64_t charges) : charges_(charges) {}

  absl::Status WriteDataset(sql::Transaction& transaction) {
    const std::string id = kLargeDataset;
    const int64_t limit = 2 * charges_;
    const std::vector<sql::Statement> rows = {
        {"INSERT INTO ledger_identity VALUES (1, $1, $2)", {{IdOf("9000", 1), kStartUs}}},
        {"INSERT INTO datasets (id, name, owner, lineage_id, state, schema_bytes, schema_hash, "
         "neighbour_relation, "
         "privacy_unit, max_records_per_unit, is_public, created_at_us) VALUES "
         "($1, 'large', 'olga', $1, 'SEALED', $2, $3, 'ADD_REMOVE', 'RECORD', 1, 0, $4)",
         {{id, Bytes{"schema"}, Bytes{Sha256("schema")}, kStartUs}}},
        {"INSERT INTO dataset_versions VALUES ($1, 1, $2, $3)", {{id, Bytes{"content"}, kStartUs}}},
        {"INSERT INTO accounts (lineage_id, dataset_id, scope_type, scope_key, rule, rule_name) VALUES "
         "($1, $1, 'DATASET', '', $2, 'ZCDP')",
         {{id, Bytes{"rule"}}}},
        {"INSERT INTO account_counters (account_id, counter, position, limit_value) VALUES (1, 'rho', 0, $1)",
         {{limit}}},
        {"INSERT INTO chain_heads VALUES ($1, 0, $2)", {{id, Bytes{head_.hash}}}}};
    for (const sql::Statement& row : rows)
      RETURN_IF_ERROR(transaction.ExecuteEach(row.text, row.each).status());
    Append(kDatasetCreated, "", "olga",
           EncodePayload(DatasetCreated{
               .name = "large",
               .owner = "olga",
               .lineage_id = id,
               .schema_hash = Sha256("schema"),
               .neighbour_relation = "ADD_REMOVE",
               .privacy_unit = "RECORD",
               .accounts = {{1, {.rule = "rule", .rule_name = "ZCDP", .limits = {{"rho", limit}}}}}}));
    Append(
        kSealed, "", "olga",
        EncodePayload(DatasetSealed{.version = 1, .content_commitment = ContentCommitment(id, "content")}));
    return Flush(transaction);
  }

  // The charges first, ..., last - 1.
  absl::Status WriteCharges(sql::Transaction& transaction, int64_t first, int64_t last) {
    for (int64_t number = first; number < last; ++number) AddCharge(number);
    return Flush(transaction);
  }

  const LargeLedger& written() const { return written_; }

 private:
  int64_t Append(const char* kind, const std::string& charge_id, const std::string& actor,
                 std::string payload) {
    Entry entry{.dataset_id = kLargeDataset,
                .kind = kind,
                .charge_id = charge_id,
                .payload = std::move(payload),
                .actor = actor,
                .created_at_us = kStartUs + head_.seq};
    head_ = ledger::Append(head_, entry);
    entries_.push_back(RowOf(entry.dataset_id, entry.seq, entry.kind, entry.charge_id, Bytes{entry.payload},
                             entry.actor, entry.created_at_us, Bytes{entry.prev_hash}, Bytes{entry.hash}));
    ++written_.entries;
    return head_.seq;
  }

  void AddCharge(int64_t number) {
    const bool is_reserved = number % 100 == 99;
    const bool is_committed = !is_reserved && number % 2 == 0;
    const std::string id = IdOf("8000", number);
    ChargeMade made{.principal = absl::StrCat("analyst ", number % 10),
                    .request_id = IdOf("a000", number),
                    .fingerprint = Sha256(absl::StrCat(number)),
                    .dataset_version = 1,
                    .kind = "workload",
                    .event = std::string(64, 'e'),
                    .label = "all 2-way marginals",
                    .deadline_us = is_reserved ? kNeverUs : 0,
                    .postings = {{1, "rho", 1}}};
    const int64_t seq = Append(is_reserved ? kReserved : kCharged, id, made.principal, EncodePayload(made));
    const int64_t now_us = kStartUs + seq;
    const sql::Value deadline = is_reserved ? sql::Value(kNeverUs) : sql::Value(Null());
    const sql::Value ended = is_committed ? sql::Value(now_us) : sql::Value(Null());
    const sql::Value key =
        is_committed || is_reserved ? sql::Value(Null()) : sql::Value(Bytes{std::string(64, 'k')});
    const std::string state = is_reserved ? "RESERVED" : is_committed ? "COMMITTED" : "STARTED";
    charges_rows_.push_back(RowOf(id, std::string(kLargeDataset), int64_t{1}, made.principal, made.request_id,
                                  Bytes{made.fingerprint}, made.kind, Bytes{made.event}, made.label, state,
                                  IdOf("b000", number), key, deadline, now_us, ended,
                                  sql::PostingsText(made.postings), seq));
    (is_reserved ? written_.held : written_.spent) += 1;
    if (is_committed) AddRelease(number, id, made.principal);
  }

  void AddRelease(int64_t number, const std::string& charge_id, const std::string& principal) {
    const std::string payload(100, static_cast<char>('a' + number % 26));
    const std::string hash = Sha256(payload);
    const std::string id = IdOf("c000", number);
    releases_.push_back(RowOf(id, charge_id, std::string(kLargeDataset), Bytes{payload}, Bytes{hash},
                              static_cast<int64_t>(payload.size()), kStartUs + head_.seq));
    Append(kCommitted, charge_id, principal,
           EncodePayload(ChargeChanged{.release_id = id, .payload_hash = hash}));
    ++written_.releases;
  }

  absl::Status Flush(sql::Transaction& transaction) {
    RETURN_IF_ERROR(transaction.InsertRows("charges", kChargeColumns, std::exchange(charges_rows_, {})));
    RETURN_IF_ERROR(transaction.InsertRows("releases", kReleaseColumns, std::exchange(releases_, {})));
    RETURN_IF_ERROR(transaction.InsertRows("entries", kEntryColumns, std::exchange(entries_, {})));
    RETURN_IF_ERROR(transaction
                        .Execute("UPDATE chain_heads SET seq = $2, hash = $3 WHERE dataset_id = $1",
                                 {std::string(kLargeDataset), head_.seq, Bytes{head_.hash}})
                        .status());
    return transaction
        .Execute("UPDATE account_counters SET spent = $1, held = $2 WHERE account_id = 1",
                 {written_.spent, written_.held})
        .status();
  }

  const int64_t charges_;
  ChainHead head_;
  LargeLedger written_;
  std::vector<Parameters> charges_rows_;
  std::vector<Parameters> releases_;
  std::vector<Parameters> entries_;
};

}  // namespace

absl::StatusOr<LargeLedger> WriteLargeLedger(sql::Database& database, int64_t charges) {
  constexpr int64_t kAtOnce = 5000;
  std::vector<sql::Migration> earlier = sql::EmbeddedMigrations();
  std::erase_if(earlier, [](const sql::Migration& step) { return step.version > kSchemaOfLargeLedgers; });
  RETURN_IF_ERROR(sql::Migrate(database, earlier));
  Writer writer(charges);
  RETURN_IF_ERROR(
      database.Write([&](sql::Transaction& transaction) { return writer.WriteDataset(transaction); }).status);
  for (int64_t first = 0; first < charges; first += kAtOnce) {
    RETURN_IF_ERROR(database
                        .Write([&](sql::Transaction& transaction) {
                          return writer.WriteCharges(transaction, first, std::min(first + kAtOnce, charges));
                        })
                        .status);
  }
  return writer.written();
}

}  // namespace curator::ledger
