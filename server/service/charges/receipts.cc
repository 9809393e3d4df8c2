#include "service/charges/receipts.h"

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"

namespace curator::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kDocument[] = "curator.receipt.v1";

Json PostingsOf(const std::vector<ledger::Posting>& postings) {
  Json array = Json::array();
  for (const ledger::Posting& posting : postings) {
    array.push_back(
        {{"account_id", posting.account_id}, {"counter", posting.counter}, {"cost", posting.cost}});
  }
  return array;
}

// A signed statement is well formed, unless the key signed something else.
absl::StatusOr<ledger::LostCharge> Parse(const Json& statement) {
  const auto has = [](const Json& object, const char* key, Json::value_t type) {
    return object.contains(key) && object[key].type() == type;
  };
  const auto is_integer = [](const Json& object, const char* key) {
    return object.contains(key) && object[key].is_number_integer();
  };
  if (!statement.is_object() || !has(statement, "dataset_id", Json::value_t::string) ||
      !has(statement, "charge_id", Json::value_t::string) || !is_integer(statement, "sequence") ||
      !has(statement, "postings", Json::value_t::array)) {
    return InvalidField("statement", "is no receipt");
  }
  ledger::LostCharge charge{.dataset_id = statement["dataset_id"].get<std::string>(),
                            .charge_id = statement["charge_id"].get<std::string>(),
                            .seq = statement["sequence"].get<int64_t>(),
                            .postings = {}};
  for (const Json& posting : statement["postings"]) {
    if (!posting.is_object() || !is_integer(posting, "account_id") || !is_integer(posting, "cost") ||
        !has(posting, "counter", Json::value_t::string)) {
      return InvalidField("statement", "has an invalid posting");
    }
    charge.postings.push_back({posting["account_id"].get<int64_t>(), posting["counter"].get<std::string>(),
                               posting["cost"].get<int64_t>()});
  }
  return charge;
}

// What a receipt states.
struct Stated {
  std::string ledger_id;
  std::string dataset_id;
  ledger::EntryPlace entry;
  std::string charge_id;
  std::string principal;
  std::string request_id;
  std::vector<ledger::Posting> postings;
  ledger::DatasetFacts facts;
};

absl::StatusOr<Receipt> Signed(const Access& access, const host::ReceiptSigner& signer,
                               const Stated& stated) {
  Json statement = {{"document", kDocument},
                    {"ledger_id", stated.ledger_id},
                    {"dataset_id", stated.dataset_id},
                    {"sequence", stated.entry.seq},
                    {"entry_hash", absl::BytesToHexString(stated.entry.hash)},
                    {"charge_id", stated.charge_id},
                    {"principal", stated.principal},
                    {"request_id", stated.request_id},
                    {"time_us", stated.entry.created_at_us},
                    {"postings", PostingsOf(stated.postings)}};
  if (access.directory != nullptr) {
    ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, access.directory->Current());
    const bool is_single = current->CustodyAt(stated.entry.created_at_us) == directory::Custody::kSingle;
    if (is_single) statement["custody"] = "single";
  }
  // Only what is true, so that the receipts of earlier versions keep their bytes.
  if (stated.facts.domain_from_records) statement["domain_from_records"] = true;
  if (stated.facts.rows_from_query) statement["rows_from_query"] = true;
  Receipt receipt{.statement = statement.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace),
                  .signature = {},
                  .public_key = signer.public_key()};
  receipt.signature = signer.Sign(receipt.statement);
  return receipt;
}

}  // namespace

absl::StatusOr<Receipt> ReceiptOf(const Access& access, const host::ReceiptSigner& signer,
                                  std::string_view charge_id) {
  ASSIGN_OR_RETURN(const ledger::Entry entry, access.ledger.ChargeEntry(charge_id));
  ASSIGN_OR_RETURN(const ledger::Dataset dataset, access.ledger.GetDatasetById(entry.dataset_id));
  return ReceiptOf(access, signer, dataset, entry);
}

absl::StatusOr<Receipt> ReceiptOf(const Access& access, const host::ReceiptSigner& signer,
                                  const ledger::Dataset& dataset, const ledger::Entry& entry) {
  ASSIGN_OR_RETURN(const ledger::ChargeMade made, ledger::ParseChargeMade(entry.payload));
  return Signed(access, signer,
                {.ledger_id = access.ledger.LedgerId(),
                 .dataset_id = entry.dataset_id,
                 .entry = {.seq = entry.seq, .hash = entry.hash, .created_at_us = entry.created_at_us},
                 .charge_id = entry.charge_id,
                 .principal = made.principal,
                 .request_id = made.request_id,
                 .postings = made.postings,
                 .facts = ledger::FactsAt(dataset, made.dataset_version)});
}

absl::StatusOr<Receipt> ReceiptOf(const Access& access, const host::ReceiptSigner& signer,
                                  const ledger::Dataset& dataset, const ledger::Charge& charge,
                                  const ledger::EntryPlace& entry,
                                  const std::vector<ledger::Posting>& postings) {
  return Signed(access, signer,
                {.ledger_id = access.ledger.LedgerId(),
                 .dataset_id = charge.dataset_id,
                 .entry = entry,
                 .charge_id = charge.id,
                 .principal = ledger::StoredPrincipal(charge),
                 .request_id = charge.request_id,
                 .postings = postings,
                 .facts = ledger::FactsAt(dataset, charge.dataset_version)});
}

absl::StatusOr<ledger::LostCharge> ChargeOfReceipt(ledger::Ledger& ledger, const host::ReceiptSigner& signer,
                                                   const Receipt& receipt) {
  if (!host::IsSignedBy(signer.public_key(), receipt.statement, receipt.signature)) {
    return InvalidField("signature",
                        "is not this server's: the receipt is forged, or another server made it");
  }
  const Json statement = Json::parse(receipt.statement, nullptr, /*allow_exceptions=*/false);
  if (statement.is_discarded() || !statement.is_object() || statement.value("document", "") != kDocument) {
    return InvalidField("statement", "is no receipt");
  }
  if (statement.value("ledger_id", "") != ledger.LedgerId()) {
    return InvalidField("statement", "is a receipt of another ledger");
  }
  return Parse(statement);
}

}  // namespace curator::service
