// Receipts over a real ledger: stable, signed, and bound to their ledger.
#include "service/charges/receipts.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "ledger/open_ledger.h"
#include "service/testing/fixture.h"
#include "tests/testing/scratch_folder.h"

namespace curator::service {
namespace {

class ReceiptsTest : public ::testing::Test {
 protected:
  ReceiptsTest()
      : signer_(host::ServerKey::OpenOrCreate(folder_.path() + "/server.key").value()), ledger_(Open("a")) {}

  std::unique_ptr<ledger::Ledger> Open(const std::string& name) const {
    return ledger::OpenLedger({.url = "sqlite:" + folder_.path() + "/" + name + ".db",
                               .anchor_dir = folder_.path() + "/" + name + ".anchor",
                               .entropy = host::RandomBytes})
        .value();
  }

  ledger::Charge Charge() const {
    const ledger::AccountSpec account{.rule = "rule", .rule_name = "PURE", .limits = {{"epsilon", 100}}};
    const ledger::Dataset dataset = ledger_
                                        ->CreateDataset({.request_id = "d",
                                                         .name = "census",
                                                         .owner = TestPrincipal("owner"),
                                                         .schema = "schema",
                                                         .schema_hash = Sha256("schema"),
                                                         .neighbour_relation = "ADD_REMOVE",
                                                         .privacy_unit = "RECORD",
                                                         .accounts = {account}})
                                        .value();
    EXPECT_TRUE(ledger_->SealDataset(dataset.id, std::string(32, 'c'), TestPrincipal("owner")).ok());
    return ledger_
        ->Begin({.dataset_id = dataset.id,
                 .dataset_version = 1,
                 .principal = TestPrincipal("ana"),
                 .request_id = "r",
                 .fingerprint = Sha256("f"),
                 .kind = "workload",
                 .event = "event",
                 .label = "one count",
                 .sealed_key = "key",
                 .postings = {{ledger_->ListAccounts(dataset.id)->at(0).id, "epsilon", 7}}})
        .value()
        .charge;
  }

  const curator::testing::ScratchFolder folder_;
  const host::ReceiptSigner signer_;
  const std::unique_ptr<ledger::Ledger> ledger_;
};

TEST_F(ReceiptsTest, AReceiptNamesTheEntryThatMadeTheCharge) {
  const ledger::Charge charge = Charge();
  const Receipt receipt = ReceiptOf({*ledger_}, signer_, charge.id).value();
  EXPECT_TRUE(host::IsSignedBy(signer_.public_key(), receipt.statement, receipt.signature));
  const auto statement = nlohmann::json::parse(receipt.statement);
  const std::vector<ledger::Entry> entries =
      ledger_->ListEntries(charge.dataset_id, {.after_seq = statement["sequence"].get<int64_t>() - 1})
          .value();
  EXPECT_EQ(entries.at(0).kind, "CHARGED");
  EXPECT_EQ(statement["entry_hash"], absl::BytesToHexString(entries.at(0).hash));
  EXPECT_EQ(statement["ledger_id"], ledger_->LedgerId());
  EXPECT_EQ(statement["principal"], entries.at(0).actor) << "as the hash of the entry covers it";
  EXPECT_EQ(statement["principal"], ledger_->PseudonymOf("ana").value());
  EXPECT_EQ(statement["postings"][0]["cost"], 7);
}

TEST_F(ReceiptsTest, AReceiptIsTheSameWheneverItIsAskedFor) {
  const ledger::Charge charge = Charge();
  const Receipt first = ReceiptOf({*ledger_}, signer_, charge.id).value();
  const ledger::Attempt attempt = ledger_
                                      ->Begin({.dataset_id = charge.dataset_id,
                                               .dataset_version = 1,
                                               .principal = TestPrincipal("ana"),
                                               .request_id = "r",
                                               .fingerprint = Sha256("f"),
                                               .kind = "workload",
                                               .event = "event",
                                               .label = "one count",
                                               .sealed_key = "key",
                                               .postings = charge.postings})
                                      .value();
  ASSERT_TRUE(ledger_->Store(attempt, "release").ok());
  const Receipt again = ReceiptOf({*ledger_}, signer_, charge.id).value();
  EXPECT_EQ(again.statement, first.statement);
  EXPECT_EQ(ReceiptOf({*ledger_}, signer_, ledger_->GetDatasetById(charge.dataset_id).value(), attempt.charge,
                      {.seq = ledger_->ChargeEntry(charge.id)->seq,
                       .hash = ledger_->ChargeEntry(charge.id)->hash,
                       .created_at_us = ledger_->ChargeEntry(charge.id)->created_at_us},
                      charge.postings)
                ->statement,
            first.statement)
      << "also without reading the entry";
  EXPECT_EQ(again.signature, first.signature);
}

TEST_F(ReceiptsTest, AForgedReceiptAndOneOfAnotherLedgerAreRefusedByTheirField) {
  const ledger::Charge charge = Charge();
  const Receipt receipt = ReceiptOf({*ledger_}, signer_, charge.id).value();
  const ledger::LostCharge told = ChargeOfReceipt(*ledger_, signer_, receipt).value();
  EXPECT_EQ(told.charge_id, charge.id);
  EXPECT_EQ(told.postings, charge.postings);

  Receipt forged = receipt;
  forged.statement.replace(forged.statement.find("\"cost\":7"), 8, "\"cost\":1");
  EXPECT_EQ(FieldOf(ChargeOfReceipt(*ledger_, signer_, forged).status()), "signature");
  EXPECT_EQ(FieldOf(ChargeOfReceipt(*Open("b"), signer_, receipt).status()), "statement");
  Receipt nonsense = receipt;
  nonsense.statement = "[1]";
  nonsense.signature = signer_.Sign(nonsense.statement);
  EXPECT_EQ(FieldOf(ChargeOfReceipt(*ledger_, signer_, nonsense).status()), "statement");
}

// The key signs receipts alone; should it ever sign something else, that raises nobody's counters.
TEST_F(ReceiptsTest, ASignedStatementThatLacksWhatAReceiptSaysIsRefused) {
  const Receipt receipt = ReceiptOf({*ledger_}, signer_, Charge().id).value();
  const auto changed = [&](const char* key, const nlohmann::json& value) {
    auto statement = nlohmann::ordered_json::parse(receipt.statement);
    statement[key] = value;
    Receipt other{.statement = statement.dump(), .signature = {}, .public_key = receipt.public_key};
    other.signature = signer_.Sign(other.statement);
    return ChargeOfReceipt(*ledger_, signer_, other).status();
  };
  EXPECT_TRUE(changed("sequence", 9).ok());
  EXPECT_EQ(FieldOf(changed("sequence", "9")), "statement");
  EXPECT_EQ(FieldOf(changed("charge_id", nullptr)), "statement");
  EXPECT_EQ(FieldOf(changed("postings", nlohmann::json::array({7}))), "statement");
  const nlohmann::json without_counter = {{"account_id", 1}, {"cost", 7}};
  EXPECT_EQ(FieldOf(changed("postings", nlohmann::json::array({without_counter}))), "statement");
}

}  // namespace
}  // namespace curator::service
