#include "dp/synthesis/mwem/mwem_limits.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// The sum of the `most` largest numbers of those that are added, in memory for `most` of them.
class LargestSum {
 public:
  explicit LargestSum(int64_t most) : most_(static_cast<size_t>(most)) {}

  void Add(int64_t number) {
    largest_.push(number);
    sum_ += number;
    if (largest_.size() <= most_) return;
    sum_ -= largest_.top();
    largest_.pop();
  }

  int64_t sum() const { return sum_; }

 private:
  size_t most_;
  int64_t sum_ = 0;
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> largest_;
};

std::vector<AttributeSet> DistinctSets(std::span<const QueryGroup> groups) {
  std::set<AttributeSet> sets;
  for (const QueryGroup& group : groups) sets.insert(group.attributes);
  return {sets.begin(), sets.end()};
}

// Of the boxes that a stage may measure: the largest ones.
int64_t BoxCellsOfAStage(const SynthesisInput& input, int64_t rounds) {
  LargestSum cells(rounds);
  for (const QueryGroup& group : input.workload) {
    const auto* boxes = std::get_if<Boxes>(&group.queries);
    if (boxes == nullptr) continue;
    const size_t sides = group.attributes.size();
    for (size_t at = 0; at < boxes->sides.size(); at += sides) {
      int64_t size = 1;
      for (const CodeInterval& side : std::span(boxes->sides).subspan(at, sides))
        size *= int64_t{side.last} - int64_t{side.first} + 1;
      cells.Add(size);
    }
  }
  return cells.sum();
}

absl::Status CheckBoxes(const SynthesisInput& input, int64_t stages, int64_t rounds) {
  const int64_t cells = BoxCellsOfAStage(input, rounds);
  if (cells <= kMostMeasuredBoxCells / stages) return absl::OkStatus();
  return InvalidField(
      "workload", absl::StrCat("has boxes of up to ", cells, " cells in the ", rounds, " rounds of each of ",
                               stages, " stages; at most ", kMostMeasuredBoxCells,
                               " are held in all: take fewer rounds or smaller boxes"));
}

absl::Status CheckIterates(const SynthesisInput& input, const MwemSchedule& schedule, int64_t all_rounds) {
  if (schedule.settings.iterate != MwemIterate::kAverage) return absl::OkStatus();
  LargestSum measured(all_rounds);
  for (const AttributeSet& set : DistinctSets(input.workload))
    measured.Add(input.domain.CellCount(set).value_or(kMostIterateCells));
  int64_t cells = measured.sum();
  for (const AttributeSet& set : DistinctSets(schedule.initial))
    cells += input.domain.CellCount(set).value_or(kMostIterateCells);
  const int64_t iterates = all_rounds + (schedule.initial.empty() ? 0 : 1);
  if (cells <= kMostIterateCells / iterates) return absl::OkStatus();
  return InvalidField("settings.iterate", absl::StrCat("average would keep ", iterates, " iterates of up to ",
                                                       cells, " numbers each; at most ", kMostIterateCells,
                                                       " are held in all: take fewer rounds or last"));
}

}  // namespace

absl::Status CheckWhatIsHeld(const SynthesisInput& input, const MwemSchedule& schedule) {
  // A selection looks at all candidates at once.
  const bool selects = std::ranges::any_of(
      schedule.stages, [](const MwemStage& stage) { return stage.selection.has_value(); });
  if (selects) RETURN_IF_ERROR(TotalCells(input.domain, DistinctSets(input.workload)).status());
  RETURN_IF_ERROR(TotalCells(input.domain, DistinctSets(schedule.initial)).status());
  const auto stages = static_cast<int64_t>(schedule.stages.size());
  RETURN_IF_ERROR(CheckBoxes(input, stages, schedule.settings.rounds));
  return CheckIterates(input, schedule, stages * schedule.settings.rounds);
}

}  // namespace curator::dp
