// Ids that more than one principal sees are random: they count nothing.
#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/testing/names.h"
#include "base/text.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Lt;

constexpr int kIds = 64;

// The positions of the bits, of `bits` in each number, that have one value in all of them: of k random
// numbers each does with probability 2^(1 - k). A counter leaves its higher bits as they are.
std::vector<int> BitsThatNeverChange(const std::vector<uint64_t>& numbers, int bits) {
  std::vector<int> constant;
  for (int bit = 0; bit < bits; ++bit) {
    uint64_t ones = 0;
    for (const uint64_t number : numbers) ones += (number >> bit) & 1;
    if (ones == 0 || ones == numbers.size()) constant.push_back(bit);
  }
  return constant;
}

// "0199a0b1-c2d3-7123-89ab-0123456789ab"
struct ParsedUuid {
  uint64_t time_ms = 0;
  char version = '0';
  uint64_t high = 0;  // the 12 bits after the version
  uint64_t low = 0;   // the 62 bits after the variant
};

ParsedUuid Parsed(const std::string& uuid) {
  const std::string digits = absl::StrReplaceAll(uuid, {{"-", ""}});
  ParsedUuid parsed{.version = digits.at(12)};
  EXPECT_TRUE(absl::SimpleHexAtoi(digits.substr(0, 12), &parsed.time_ms)) << uuid;
  EXPECT_TRUE(absl::SimpleHexAtoi(digits.substr(13, 3), &parsed.high)) << uuid;
  EXPECT_TRUE(absl::SimpleHexAtoi(digits.substr(16), &parsed.low)) << uuid;
  return parsed;
}

// The bits of version 7 that are random.
std::vector<int> ConstantBitsOf(const std::vector<std::string>& uuids) {
  std::vector<uint64_t> high;
  std::vector<uint64_t> low;
  for (const std::string& uuid : uuids) {
    high.push_back(Parsed(uuid).high);
    low.push_back(Parsed(uuid).low);
  }
  std::vector<int> constant = BitsThatNeverChange(low, 62);
  for (const int bit : BitsThatNeverChange(high, 12)) constant.push_back(62 + bit);
  return constant;
}

uint64_t NowMs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

class IdConformance : public LedgerConformance {
 protected:
  static NewAccount AccountFor(const Dataset& dataset, int number) {
    return {.request_id = absl::StrCat("account ", number),
            .dataset_id = dataset.id,
            .account = {.scope_type = ScopeType::kAnalyst,
                        .scope_key = absl::StrCat("analyst ", number),
                        .rule = "rule",
                        .rule_name = "ZCDP",
                        .limits = {{"rho", 5}}},
            .actor = TestPrincipal("olga")};
  }
};

INSTANTIATE_TEST_SUITE_P(EveryBackend, IdConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

TEST_P(IdConformance, TheIdOfAChargeIsItsTimeAndRandomBits) {
  const auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 1000);
  const int64_t account = FirstAccount(*ledger, dataset);
  const uint64_t before = NowMs();
  std::vector<std::string> ids;
  for (int i = 0; i < kIds; ++i) {
    const ChargeRequest request = RequestOf(dataset, absl::StrCat("r", i), account, 1);
    ids.push_back(i % 2 == 0 ? Must(ledger->Begin(request)).charge.id
                             : Must(ledger->Reserve({request}, 3'600'000'000)).at(0).id);
  }
  const uint64_t after = NowMs();
  for (const std::string& id : ids) {
    EXPECT_TRUE(IsUuid(id)) << id;
    EXPECT_EQ(Parsed(id).version, '7') << id;
    EXPECT_TRUE(before <= Parsed(id).time_ms && Parsed(id).time_ms <= after) << id;
  }
  EXPECT_THAT(ConstantBitsOf(ids), IsEmpty());
}

TEST_P(IdConformance, TheIdOfAnAccountIsDrawn) {
  const auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  std::vector<uint64_t> ids = {static_cast<uint64_t>(FirstAccount(*ledger, dataset))};
  for (int i = 1; i < kIds; ++i)
    ids.push_back(static_cast<uint64_t>(Must(ledger->CreateAccount(AccountFor(dataset, i))).id));
  constexpr uint64_t kLeast = uint64_t{1} << 51;
  for (const uint64_t id : ids) EXPECT_THAT(id, AllOf(Ge(kLeast), Lt(2 * kLeast)));
  EXPECT_THAT(BitsThatNeverChange(ids, 51), IsEmpty());
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, IsEmpty());
}

TEST_P(IdConformance, AnIdThatAnotherAccountHasIsDrawnAgain) {
  Open().reset();  // which makes the schema
  // Gives the id of the first account a second time, and after that others.
  int draws = 0;
  const auto entropy = [&draws, random = SeededEntropy(NextSeed())](size_t bytes) {
    return bytes == 8 && ++draws <= 2 ? std::string(8, '\x2a') : random(bytes);
  };
  const auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), entropy));
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const Account second = Must(ledger->CreateAccount(AccountFor(dataset, 1)));
  EXPECT_GE(draws, 3);
  EXPECT_NE(second.id, FirstAccount(*ledger, dataset));
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, IsEmpty());
}

// What the ids of charges and accounts once were: 8 bytes of a process, then a counter; a counter.
TEST(IdConformanceCanary, CountersAreCaught) {
  std::vector<std::string> charges;
  std::vector<uint64_t> accounts;
  for (int i = 1; i <= kIds; ++i) {
    charges.push_back(absl::StrCat("28fec764-ad29-7d80-8000-", absl::Hex(i, absl::kZeroPad12)));
    accounts.push_back(static_cast<uint64_t>(i));
  }
  EXPECT_GT(ConstantBitsOf(charges).size(), 60U);
  EXPECT_GT(BitsThatNeverChange(accounts, 51).size(), 40U);
}

}  // namespace
}  // namespace curator::ledger
