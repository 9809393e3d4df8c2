#include "tests/statistical/exact_ratio.h"

#include "dp/accounting/rule.h"

namespace curator::statistics {

dp::Interval PureLossOf(const dp::Event& event) {
  const dp::RuleSpec pure{
      .kind = dp::RuleKind::kPure, .epsilon = dp::Epsilon(1), .delta = {}, .order = {}, .delta_slack = {}};
  return dp::Interval::Of(dp::Epsilon(dp::CostOf(pure, event).value()[0].amount));
}

void RatioAudit::Compare(const std::string& what, const LogLikelihood& on_table,
                         const LogLikelihood& on_neighbour) {
  if (!on_table && !on_neighbour) return;
  if (!on_table || !on_neighbour) {
    exceeds_ = true;
    worst_ = what + ": possible on one table alone";
    return;
  }
  const dp::Interval difference = *on_table - *on_neighbour;
  const dp::Interval loss = Max(difference, -difference);
  if (loss.CertainlyAbove(price_)) {
    exceeds_ = true;
    worst_ = what + ": a loss of " + std::to_string(loss.Lower());
  } else if (!price_.CertainlyAbove(loss)) {
    reaches_ = true;
  }
}

}  // namespace curator::statistics
