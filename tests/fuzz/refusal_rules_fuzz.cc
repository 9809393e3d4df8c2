// The decoder of stored refusal rules: one value has one encoding.
#include "codec/refusal_rules_codec.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {

std::vector<std::string> Seeds() {
  codec::RefusalRule rule{.name = "night",
                          .principals = {"ana", "bob"},
                          .kinds = codec::kRuledSynthesis,
                          .attributes = {"age", "income"},
                          .price_above = codec::PriceAbove{"rho", 7},
                          .start_us = 1,
                          .end_us = 2,
                          .note = "by day"};
  return {codec::EncodeRefusalRules({rule}), codec::EncodeRefusalRules({{.name = "all"}, rule})};
}

bool Try(std::string_view bytes) {
  const auto rules = codec::DecodeRefusalRules(bytes);
  if (!rules.ok()) return false;
  if (codec::EncodeRefusalRules(*rules) != bytes)
    Broken("what is accepted is encoded to the same bytes", bytes);
  return true;
}

}  // namespace curator::fuzz
