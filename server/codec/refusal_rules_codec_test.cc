#include "codec/refusal_rules_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/canonical_bytes.h"

namespace curator::codec {
namespace {

RefusalRule Full() {
  return {.name = "night",
          .principals = {"ana", "bob"},
          .kinds = kRuledWorkload | kRuledReservation,
          .attributes = {"age", "income"},
          .price_above = PriceAbove{"rho", 100'000'000'000},
          .start_us = 1'800'000'000'000'000,
          .end_us = 1'900'000'000'000'000,
          .note = "ask by day"};
}

bool IsDecoded(const std::vector<RefusalRule>& rules) {
  return DecodeRefusalRules(EncodeRefusalRules(rules)).ok();
}

template <typename Change>
bool IsDecodedAfter(Change change) {
  RefusalRule rule = Full();
  change(rule);
  return IsDecoded({rule});
}

TEST(RefusalRulesCodec, NoRulesAreNoBytes) {
  EXPECT_EQ(EncodeRefusalRules({}), "");
  const auto none = DecodeRefusalRules("");
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE(none->empty());
}

TEST(RefusalRulesCodec, WhatIsEncodedIsDecoded) {
  const std::vector<RefusalRule> rules = {{.name = "all"}, Full()};
  const auto decoded = DecodeRefusalRules(EncodeRefusalRules(rules));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, rules);
}

// Histories hold these bytes: they never change.
TEST(RefusalRulesCodec, TheBytesOfARuleAreTheseForEver) {
  EXPECT_EQ(absl::BytesToHexString(Sha256(EncodeRefusalRules({{.name = "all"}, Full()}))),
            "3c3d59aefe37a1d49d063d0018b9b67b4d6fb4e9d7d807f37b45827c9b33b615");
}

TEST(RefusalRulesCodec, WhatTheWriterWouldNotHaveWrittenIsRefused) {
  EXPECT_TRUE(IsDecodedAfter([](RefusalRule&) {}));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.name = ""; }));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.principals = {"bob", "ana"}; }));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.principals = {"ana", "ana"}; }));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.attributes = {""}; }));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.kinds = 8; }));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.kinds = -1; }));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.price_above->amount = -1; }));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.price_above->counter = ""; }));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.end_us = rule.start_us; }));
  EXPECT_FALSE(IsDecodedAfter([](RefusalRule& rule) { rule.start_us = -1; }));
  EXPECT_FALSE(IsDecoded({{.name = "b"}, {.name = "a"}}));
  EXPECT_FALSE(IsDecoded({{.name = "a"}, {.name = "a"}}));
  std::vector<RefusalRule> many;
  for (size_t i = 0; i < kMostRefusalRules; ++i) many.push_back({.name = std::to_string(1000 + i)});
  EXPECT_TRUE(IsDecoded(many));
  many.push_back({.name = "x"});
  EXPECT_FALSE(IsDecoded(many));
}

TEST(RefusalRulesCodec, ShortAndLongBytesAreRefused) {
  const std::string bytes = EncodeRefusalRules({Full()});
  for (size_t length = 1; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeRefusalRules(std::string_view(bytes).substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(DecodeRefusalRules(bytes + "x").ok());
  CanonicalWriter empty("curator.refusal_rules", 1);
  empty.Integer(0);
  EXPECT_FALSE(DecodeRefusalRules(std::move(empty).Take()).ok()) << "no rules are no bytes";
}

}  // namespace
}  // namespace curator::codec
