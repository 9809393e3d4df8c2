// The decoder of stored rules: one value has one encoding, and every accepted rule has limits or is refused.
#include "codec/accounting_codec.h"
#include "dp/accounting/rule.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const dp::RuleKind kind :
       {dp::RuleKind::kPure, dp::RuleKind::kAdvanced, dp::RuleKind::kZcdp, dp::RuleKind::kRdp}) {
    dp::RuleSpec rule{kind, dp::Epsilon(dp::kEpsilonUnitsPerOne), dp::Delta(1'000'000'000'000), {}, {}};
    if (kind == dp::RuleKind::kPure) rule.delta = dp::Delta(0);
    if (kind == dp::RuleKind::kRdp) rule.order = dp::Rational{8, 1};
    if (kind == dp::RuleKind::kAdvanced) rule.delta_slack = dp::Delta(500'000'000'000);
    seeds.push_back(codec::EncodeRule(rule));
  }
  return seeds;
}

bool Try(std::string_view bytes) {
  const auto rule = codec::DecodeRule(bytes);
  if (!rule.ok()) return false;
  if (codec::EncodeRule(*rule) != bytes) Broken("what is accepted is encoded to the same bytes", bytes);
  const auto limits = dp::LimitsOf(*rule);
  if (!limits.ok()) return true;
  for (const dp::CounterAmount& limit : *limits) {
    if (limit.amount < 0) Broken("no limit is negative", bytes);
  }
  return true;
}

}  // namespace curator::fuzz
