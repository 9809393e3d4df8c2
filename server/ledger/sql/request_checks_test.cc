#include "ledger/sql/request_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/testing/names.h"

namespace curator::ledger::sql {
namespace {

using ::testing::HasSubstr;

constexpr size_t kTooLongText = 1001;
constexpr size_t kTooLongDocument = (size_t{16} << 20) + 1;

AccountSpec AccountOf(ScopeType scope, const std::string& key) {
  return {.scope_type = scope,
          .scope_key = key,
          .rule = "rule bytes",
          .rule_name = "ZCDP",
          .limits = {{"rho", 10}}};
}

DatasetSpec SealableSpec() {
  return {.request_id = "r",
          .name = "census",
          .owner = TestPrincipal("olga"),
          .schema = "schema",
          .schema_hash = "hash",
          .neighbour_relation = "ADD_REMOVE",
          .privacy_unit = "RECORD",
          .accounts = {AccountOf(ScopeType::kDataset, "")}};
}

NewPart GoodPart() {
  return {.request_id = "r",
          .dataset_id = "d",
          .part = {.bins = {0, 1}, .account = AccountOf(ScopeType::kPart, "early")},
          .actor = TestPrincipal("olga")};
}

ChargeRequest GoodRequest() {
  return {.dataset_id = "d",
          .dataset_version = 1,
          .principal = TestPrincipal("ana"),
          .request_id = "r",
          .fingerprint = "fingerprint",
          .kind = "workload",
          .event = "event",
          .sealed_key = "key",
          .postings = {{1, "rho", 2}}};
}

// The field that an INVALID_ARGUMENT names.
std::string FieldOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return FieldViolationOf(status).value_or(FieldViolation()).field;
}

TEST(RequestChecks, TextMayHoldAnyCharacterOfUnicode) {
  for (const char* text : {"ana", "J\xC3\xB6rg", "\xE0\xA4\xB9\xE4\xBD\xA0", "\xED\x9F\xBF\xEF\xBF\xBD",
                           "\xF0\x9F\x93\x8A", "\xF4\x8F\xBF\xBF", "a\xF0\x90\x80\x80z"}) {
    EXPECT_TRUE(CheckText("name", text).ok()) << text;
  }
}

TEST(RequestChecks, TextThatIsNotWellFormedUtf8IsRefused) {
  for (const char* text : {
           "\xE0\x9F\xBF",      // overlong, of three bytes
           "\xED\xA0\x80",      // a surrogate
           "\xE4\xBD",          // ends in a character of three bytes
           "\xE4\xBD z",        // goes on otherwise
           "\xF0\x8F\xBF\xBF",  // overlong, of four bytes
           "\xF4\x90\x80\x80",  // behind the last character
           "\xF0\x9F\x93",      // ends in a character of four bytes
           "\xC3",
           "\xC0\x80",
           "\xF5\x80\x80\x80",
           "\x80",
       }) {
    EXPECT_EQ(FieldOf(CheckText("name", text)), "name") << text;
  }
  EXPECT_EQ(FieldOf(CheckText("name", std::string("a\0b", 3))), "name");
}

TEST(RequestChecks, TextHasAtMostAThousandBytes) {
  EXPECT_TRUE(CheckText("name", std::string(kTooLongText - 1, 'x')).ok());
  const absl::Status status = CheckText("name", std::string(kTooLongText, 'x'));
  EXPECT_EQ(FieldOf(status), "name");
  EXPECT_THAT(std::string(status.message()), HasSubstr("is 1001 bytes long; at most 1000"));
}

TEST(RequestChecks, DocumentsHaveAtMostSixteenMebibytes) {
  DatasetSpec spec = SealableSpec();
  ASSERT_TRUE(CheckDatasetSpec(spec).ok());
  spec.schema.assign(kTooLongDocument - 1, 'x');
  EXPECT_TRUE(CheckDatasetSpec(spec).ok());
  spec.schema.push_back('x');
  EXPECT_EQ(FieldOf(CheckDatasetSpec(spec)), "schema");

  ChargeRequest request = GoodRequest();
  ASSERT_TRUE(CheckChargeRequest(request).ok());
  request.event.assign(kTooLongDocument, 'x');
  EXPECT_EQ(FieldOf(CheckChargeRequest(request)), "event");
}

TEST(RequestChecks, ADatasetIsMadeWithTheAccountsThatItMayHave) {
  const auto refused = [](AccountSpec second) {
    DatasetSpec spec = SealableSpec();
    spec.accounts.push_back(std::move(second));
    return CheckDatasetSpec(spec);
  };
  EXPECT_TRUE(refused(AccountOf(ScopeType::kAnalyst, "ana")).ok());
  EXPECT_EQ(FieldOf(refused(AccountOf(ScopeType::kPart, "early"))), "accounts[1]");
  EXPECT_EQ(FieldOf(refused(AccountOf(ScopeType::kAnalystGroup, "interns"))), "accounts[1]");
  AccountSpec with_members = AccountOf(ScopeType::kAnalyst, "ana");
  with_members.members = {"ana"};
  EXPECT_EQ(FieldOf(refused(with_members)), "accounts[1]");
  AccountSpec twice = AccountOf(ScopeType::kAnalyst, "ana");
  twice.limits.push_back({"rho", 20});
  EXPECT_EQ(FieldOf(refused(twice)), "accounts[1].counter");
}

TEST(RequestChecks, APartHasAnAccountOfItsOwnScopeAndAFewBins) {
  ASSERT_TRUE(CheckNewPart(GoodPart()).ok());
  NewPart part = GoodPart();
  part.part.account.scope_type = ScopeType::kAnalyst;
  EXPECT_EQ(FieldOf(CheckNewPart(part)), "account.scope_type");
  part = GoodPart();
  part.part.account.members = {"ana"};
  EXPECT_EQ(FieldOf(CheckNewPart(part)), "account.scope_type");
  part = GoodPart();
  part.part.account.rule_name.clear();
  EXPECT_EQ(FieldOf(CheckNewPart(part)), "account.rule_name");
  part = GoodPart();
  part.part.bins.resize(10'000);
  std::iota(part.part.bins.begin(), part.part.bins.end(), 0);
  EXPECT_TRUE(CheckNewPart(part).ok());
  part.part.bins.push_back(10'000);
  EXPECT_EQ(FieldOf(CheckNewPart(part)), "bins");
}

TEST(RequestChecks, ADatasetHasAtMostAThousandParts) {
  EXPECT_TRUE(CheckPartCount(1000).ok());
  EXPECT_EQ(CheckPartCount(1001).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(RequestChecks, AGroupHasAtMostAThousandMembers) {
  NewAccount account{.request_id = "r",
                     .dataset_id = "d",
                     .account = AccountOf(ScopeType::kAnalystGroup, "interns"),
                     .actor = TestPrincipal("olga")};
  for (int i = 0; i < 1000; ++i) account.account.members.push_back(absl::StrCat("intern ", 1000 + i));
  EXPECT_TRUE(CheckNewAccount(account).ok());
  account.account.members.push_back("the last one");
  EXPECT_EQ(FieldOf(CheckNewAccount(account)), "members");
}

TEST(RequestChecks, APostingNamesACounter) {
  ChargeRequest request = GoodRequest();
  request.postings.push_back({1, "rho and more", 2});
  EXPECT_EQ(FieldOf(CheckChargeRequest(request)), "postings[1].counter");
}

}  // namespace
}  // namespace curator::ledger::sql
