#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/canonical_bytes.h"
#include "codec/accounting_codec.h"

namespace curator::codec {
namespace {

const dp::Epsilon kOne(dp::kEpsilonUnitsPerOne);
const dp::Delta kSmall(1'000'000'000'000);

std::vector<dp::RuleSpec> SomeRules() {
  return {{dp::RuleKind::kPure, kOne, {}, {}, {}},
          {dp::RuleKind::kAdvanced, kOne, kSmall, {}, {}},
          {dp::RuleKind::kAdvanced, kOne, kSmall, {}, dp::Delta(1'000'000)},
          {dp::RuleKind::kZcdp, kOne, kSmall, {}, {}},
          {dp::RuleKind::kRdp, kOne, kSmall, dp::Rational{65, 2}, {}}};
}

bool IsRefused(std::string_view bytes) {
  return DecodeRule(bytes).status().code() == absl::StatusCode::kDataLoss;
}

std::string Document(std::string_view name, std::initializer_list<int64_t> integers, int64_t version = 1) {
  CanonicalWriter out("curator.rule", version);
  out.Text(name);
  for (const int64_t integer : integers) out.Integer(integer);
  return std::move(out).Take();
}

TEST(RuleCodec, EveryRuleSurvivesItsBytes) {
  for (const dp::RuleSpec& rule : SomeRules()) {
    const std::string bytes = EncodeRule(rule);
    ASSERT_TRUE(DecodeRule(bytes).ok()) << DecodeRule(bytes).status();
    EXPECT_EQ(*DecodeRule(bytes), rule);
    EXPECT_EQ(EncodeRule(*DecodeRule(bytes)), bytes);
  }
}

TEST(RuleCodec, TheStoredFormIsPinned) {
  EXPECT_EQ(EncodeRule(SomeRules()[0]), Document("PURE", {dp::kEpsilonUnitsPerOne, 0, 0, 0}));
}

TEST(RuleCodec, CutLongForeignAndUnknownDocumentsAreRefused) {
  for (const dp::RuleSpec& rule : SomeRules()) {
    const std::string bytes = EncodeRule(rule);
    for (size_t length = 0; length < bytes.size(); ++length) ASSERT_TRUE(IsRefused(bytes.substr(0, length)));
    EXPECT_TRUE(IsRefused(bytes + '\0'));
  }
  EXPECT_TRUE(IsRefused(Document("PURE", {1, 0, 0, 0}, 2)));
  EXPECT_TRUE(IsRefused(Document("GDP", {1, 0, 0, 0})));
  EXPECT_TRUE(IsRefused(Document("PURE", {1, 0, 2, 0})));
}

TEST(RuleCodec, PromisesThatCannotBeKeptAreRefused) {
  EXPECT_TRUE(DecodeRule(Document("PURE", {1, 0, 0, 0})).ok());
  EXPECT_TRUE(IsRefused(Document("PURE", {0, 0, 0, 0})));
  EXPECT_TRUE(IsRefused(Document("PURE", {-1, 0, 0, 0})));
  EXPECT_TRUE(IsRefused(Document("PURE", {1, 1, 0, 0})));
  EXPECT_TRUE(IsRefused(Document("ZCDP", {dp::kEpsilonUnitsPerOne, 0, 0, 0})));
  EXPECT_TRUE(IsRefused(Document("RDP", {dp::kEpsilonUnitsPerOne, 1'000'000'000'000, 1, 64, 2, 0})));
  EXPECT_TRUE(DecodeRule(Document("RDP", {dp::kEpsilonUnitsPerOne, 1'000'000'000'000, 1, 32, 1, 0})).ok());
}

TEST(RuleCodec, DamagedBytesAreRefusedOrCanonical) {
  std::mt19937_64 random(5);
  const std::vector<dp::RuleSpec> rules = SomeRules();
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = EncodeRule(rules[random() % rules.size()]);
    bytes[random() % bytes.size()] ^= static_cast<char>(1 << (random() % 8));
    const absl::StatusOr<dp::RuleSpec> decoded = DecodeRule(bytes);
    if (decoded.ok()) {
      ASSERT_EQ(EncodeRule(*decoded), bytes);
    }
  }
}

}  // namespace
}  // namespace curator::codec
