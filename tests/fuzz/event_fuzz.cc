// The decoder of stored events: one value has one encoding, and nothing that is accepted can upset whoever
// counts it.
#include "codec/accounting_codec.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/certification.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/testing/random_events.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

dp::RuleSpec RuleOf(dp::RuleKind kind) {
  dp::RuleSpec rule{kind, dp::Epsilon(dp::kEpsilonUnitsPerOne), dp::Delta(1'000'000'000'000), {}, {}};
  if (kind == dp::RuleKind::kPure) rule.delta = dp::Delta(0);
  if (kind == dp::RuleKind::kRdp) rule.order = dp::Rational{8, 1};
  return rule;
}

// Every rule prices the event without a negative amount, or refuses it.
void CheckCosts(const dp::Event& event, std::string_view bytes) {
  for (const dp::RuleKind kind :
       {dp::RuleKind::kPure, dp::RuleKind::kAdvanced, dp::RuleKind::kZcdp, dp::RuleKind::kRdp}) {
    const auto cost = dp::CostOf(RuleOf(kind), event);
    if (!cost.ok()) continue;
    for (const dp::CounterAmount& amount : *cost) {
      if (amount.amount < 0) Broken("no cost is negative", bytes);
    }
  }
}

}  // namespace

std::vector<std::string> Seeds() {
  dp::testing::RandomEvents random(3);
  random.LeaveOutParallelParts();
  std::vector<std::string> seeds;
  for (int i = 0; i < 120; ++i) {
    const dp::Event event = random.Tree(1 + i % 4, [&] { return random.Mechanism(); });
    seeds.push_back(codec::EncodeEvent(event));
    seeds.push_back(codec::EncodeEvent({dp::CertifiedEvent{{event}, dp::Epsilon(i), dp::Delta(i)}}));
  }
  seeds.push_back(codec::EncodeEvent({dp::DiscreteGaussianEvent{{400, 3}, 36, 1}}));
  return seeds;
}

bool Try(std::string_view bytes) {
  const auto event = codec::DecodeEvent(bytes);
  if (!event.ok()) return false;
  if (codec::EncodeEvent(*event) != bytes) Broken("what is accepted is encoded to the same bytes", bytes);
  if (!dp::ValidateEvent(*event).ok()) Broken("what is accepted is valid", bytes);
  if (dp::Describe(*event).empty()) Broken("every event can be told in words", bytes);
  if (!(dp::AsAsked(dp::AsAsked(*event)) == dp::AsAsked(*event)))
    Broken("asking twice is asking once", bytes);
  CheckCosts(*event, bytes);
  const auto schedule = dp::ScheduleOf(*event);
  if (schedule.ok() && !dp::ScheduleOf({dp::ComposedEvent{*schedule}}).ok()) {
    Broken("a schedule is an event of its own", bytes);
  }
  return true;
}

}  // namespace curator::fuzz
