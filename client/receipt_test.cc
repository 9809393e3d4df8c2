#include "client/receipt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace curator::client {
namespace {

using Json = nlohmann::json;

v1::Receipt TheReceipt() {
  v1::Receipt receipt;
  receipt.set_statement(R"({"document": "curator.receipt.v1",  "sequence": 7, "charge_id": "c1"})");
  receipt.set_signature(std::string("\x01\xFF", 2));
  receipt.set_public_key("key");
  return receipt;
}

TEST(ReceiptLine, HasTheTextThatWasSignedAndTheSameAsAnObject) {
  const Json line = Json::parse(LineOf(TheReceipt()));
  EXPECT_EQ(line["statement"], TheReceipt().statement()) << "byte by byte, with both blanks";
  EXPECT_EQ(line["signature"], "01ff");
  EXPECT_EQ(line["content"]["sequence"], 7);
  EXPECT_EQ(line["content"]["charge_id"], "c1");
}

TEST(ReceiptLine, IsReadBackWithAndWithoutItsContent) {
  Json line = Json::parse(LineOf(TheReceipt()));
  EXPECT_EQ(ReceiptOfLine(line.dump())->SerializeAsString(), TheReceipt().SerializeAsString());
  line.erase("content");
  EXPECT_EQ(ReceiptOfLine(line.dump())->SerializeAsString(), TheReceipt().SerializeAsString());
}

// A reader of the content must not be shown another charge than the one that was signed.
TEST(ReceiptLine, IsRefusedWhereItsContentIsNotWhatWasSigned) {
  Json line = Json::parse(LineOf(TheReceipt()));
  line["content"]["charge_id"] = "c2";
  const absl::Status refused = ReceiptOfLine(line.dump()).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("not that of its signed statement"));
}

TEST(ReceiptLine, OfAStatementThatIsNoObjectHasNoContent) {
  v1::Receipt receipt = TheReceipt();
  receipt.set_statement("no JSON");
  EXPECT_FALSE(Json::parse(LineOf(receipt)).contains("content"));
  EXPECT_EQ(ReceiptOfLine(LineOf(receipt))->statement(), "no JSON");
}

}  // namespace
}  // namespace curator::client
