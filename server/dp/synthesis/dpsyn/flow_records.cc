#include "dp/synthesis/dpsyn/flow_records.h"

#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/dpsyn/sorted_records.h"
#include "dp/synthesis/dpsyn/view_sampler.h"

namespace curator::dp {

absl::StatusOr<FlowResult> MakeFlowRecords(std::span<const ViewTable> views, const AttributeSet& attributes,
                                           const std::vector<int64_t>& sizes, int64_t rows,
                                           const FlowRule& rule, Pacer& pacer) {
  RecordTable drawn(attributes, sizes, rows);
  FixedOrder order(0x6d6366);
  const ViewSampler sampler(views, attributes);
  WordStream words(order, 512);
  std::vector<uint32_t> codes(attributes.size());
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(codes.size())));
    sampler.Draw(words, codes);
    for (size_t column = 0; column < codes.size(); ++column) drawn.Set(column, row, codes[column]);
  }
  if (rows == 0) return FlowResult{.records = std::move(drawn), .moves = {}};
  ASSIGN_OR_RETURN(ViewMatching matching, ViewMatching::Create(views, std::move(drawn), pacer));
  const double distance_at_first = matching.MeanDistance();
  std::vector<size_t> turns;
  for (size_t view = 0; view < views.size(); ++view) {
    if (!views[view].set.empty()) turns.push_back(view);
  }
  const int64_t steps_before = pacer.steps();
  const int64_t most_steps =
      rows * (rule.most_steps + rule.most_steps_of_view * static_cast<int64_t>(turns.size()));
  const auto at_bound = [&] { return pacer.steps() - steps_before >= most_steps; };
  std::vector<int64_t> moves;
  double moved_in_all = 0;
  while (static_cast<int64_t>(moves.size()) < rule.most_passes && !at_bound()) {
    order.Shuffle(turns);
    const bool is_free = static_cast<int64_t>(moves.size()) < rule.free_passes &&
                         moved_in_all < rule.free_moves * static_cast<double>(rows);
    const MoveRule form = is_free ? MoveRule::kEvery : rule.moves;
    int64_t& moved = moves.emplace_back(0);
    for (size_t turn = 0; turn < turns.size() && !at_bound(); ++turn) {
      ASSIGN_OR_RETURN(const int64_t here,
                       matching.Match(turns[turn], form, order.Below(static_cast<size_t>(rows)), pacer));
      moved += here;
    }
    moved_in_all += static_cast<double>(moved);
    if (static_cast<double>(moved) < rule.settled * static_cast<double>(rows)) break;
  }
  const double distance_at_last = matching.MeanDistance();
  return FlowResult{.records = std::move(matching).TakeRecords(),
                    .moves = std::move(moves),
                    .steps = pacer.steps() - steps_before,
                    .reached_bound = at_bound(),
                    .distance_at_first = distance_at_first,
                    .distance_at_last = distance_at_last};
}

}  // namespace curator::dp
