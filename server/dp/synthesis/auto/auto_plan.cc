#include "dp/synthesis/auto/auto_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rule.h"
#include "dp/sensitivity/part_cost.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/auto/chosen_model.h"
#include "dp/synthesis/auto/method_choice.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// See RecordCountUnits(). A pure count's deviation falls in proportion to its share, another's by the root.
constexpr int64_t kPureCountParts = 50;
constexpr int64_t kCountParts = 100;
constexpr int64_t kFewestRecords = 64;
constexpr int64_t kMostRoundedRecords = int64_t{1} << 30;
constexpr int64_t kFactorOfRecords = 4;

// The rule under which a branch is priced by itself: amounts of one kind alone.
RuleSpec RuleOfAmounts(bool is_pure) {
  RuleSpec rule;
  rule.kind = is_pure ? RuleKind::kPure : RuleKind::kZcdp;
  rule.epsilon = Epsilon(kEpsilonUnitsPerOne);
  if (!is_pure) rule.delta = Delta(kDeltaUnitsPerOne / 1'000'000'000);
  return rule;
}

Event AmountEvent(const BudgetShare& share) {
  if (share.is_pure) return {PureEvent{Epsilon(share.units)}};
  return {ZcdpEvent{Rho(share.units)}};
}

SynthesisInput WithSpend(SynthesisInput input, const BudgetShare& rest) {
  input.rule = RuleOfAmounts(rest.is_pure);
  input.spend = {};
  if (rest.is_pure) input.spend.epsilon = Epsilon(rest.units);
  if (!rest.is_pure) input.spend.rho = Rho(rest.units);
  input.charged.reset();
  return input;
}

const Synthesizer* Named(std::span<const Synthesizer* const> methods, std::string_view name) {
  const auto found = std::ranges::find(methods, name, &Synthesizer::name);
  return found == methods.end() ? nullptr : *found;
}

// The request has no settings of the method.
absl::Status InFieldOfTheRequest(const absl::Status& status, std::string_view method) {
  const std::optional<FieldViolation> violation = FieldViolationOf(status);
  if (!violation || !violation->field.starts_with("settings.")) return status;
  return InvalidField(
      "workload", absl::StrCat("is too large for ", std::string(method), " with ", violation->field.substr(9),
                               " at its default: it ", violation->description));
}

absl::StatusOr<Branch> FirstThatPlans(const SynthesisInput& input, const BudgetShare& whole, int64_t records,
                                      std::span<const Synthesizer* const> methods, Pacer& pacer) {
  absl::Status refused;
  for (MethodChoice& choice : ChooseMethods(input, whole, records)) {
    Branch branch{.method = Named(methods, choice.method), .input = input, .plan = {}};
    if (branch.method == nullptr) return absl::InternalError("a method was chosen that is not there");
    branch.input.settings = std::move(choice.settings);
    absl::StatusOr<SynthesisPlan> plan = branch.method->PlanWith(branch.input, pacer);
    if (plan.ok()) {
      branch.plan = *std::move(plan);
      return branch;
    }
    if (!absl::IsInvalidArgument(plan.status())) return plan.status();
    if (refused.ok()) refused = InFieldOfTheRequest(plan.status(), choice.method);
  }
  return refused;
}

// Sets and queries, each once.
class DrawnFrom {
 public:
  void Add(const std::vector<std::vector<QueryGroup>>& steps) {
    for (const std::vector<QueryGroup>& groups : steps) {
      for (const QueryGroup& group : groups) {
        std::vector<size_t>& places = places_[group.attributes];
        const bool is_known = std::ranges::any_of(places, [&](size_t at) { return groups_[at] == group; });
        if (is_known) continue;
        places.push_back(groups_.size());
        groups_.push_back(group);
      }
    }
  }
  std::vector<QueryGroup> Take() && { return std::move(groups_); }

 private:
  std::vector<QueryGroup> groups_;
  std::map<AttributeSet, std::vector<size_t>> places_;
};

// What a part pays for a branch, in units of its amount; none where its draws are not linear.
absl::StatusOr<std::optional<int64_t>> PartUnits(const Branch& branch) {
  if (!branch.plan.linear) return std::optional<int64_t>();
  ASSIGN_OR_RETURN(
      const std::vector<CounterAmount> cost,
      PartCostOf(branch.input.rule, branch.input.unit_bound, branch.plan.event, branch.plan.linear));
  return std::optional(cost[0].amount);
}

// The bytes of a model are copied into those that say which method made it, and out of them.
SynthesisMemory AroundAModel(SynthesisMemory memory) {
  memory.stored += kMostBytesAroundAChosenModel;
  memory.fitting += 2 * memory.stored;
  memory.reading += 2 * memory.stored;
  return memory;
}

// Of all branches: what takes most, and what all are drawn from.
class Accumulated {
 public:
  absl::Status Add(const Branch& branch, int64_t records) {
    const SynthesisPlan& plan = branch.plan;
    model_cells_ = std::max(model_cells_, plan.model_cells);
    memory_.fitting = std::max(memory_.fitting, plan.memory.fitting);
    memory_.stored = std::max(memory_.stored, plan.memory.stored);
    memory_.reading = std::max(memory_.reading, plan.memory.reading);
    if (records <= kUsualRecords) seconds_ = std::max(seconds_, plan.cpu_seconds);
    drawn_from_.Add(plan.drawn_from);
    for (const std::string& line : plan.constraints) {
      if (std::ranges::find(constraints_, line) == constraints_.end()) constraints_.push_back(line);
    }
    ASSIGN_OR_RETURN(const std::optional<int64_t> part, PartUnits(branch));
    is_linear_ = is_linear_ && part.has_value();
    most_part_units_ = std::max(most_part_units_, part.value_or(0));
    if (branch.method->name() != last_method_) {
      last_method_ = branch.method->name();
      lines_.push_back(
          absl::StrCat("where that is about ", records, " or more: ", std::string(last_method_)));
    }
    return absl::OkStatus();
  }

  // With max(c, 2 r) at least what a part pays for any branch (dp/sensitivity/part_cost.h).
  std::optional<LinearDraws> LinearWith(const SynthesisInput& input, const CountFirst& first) const {
    const bool counts_amounts = !first.rest.is_pure || input.rule.kind == RuleKind::kPure;
    const absl::StatusOr<Sensitivity> removal = RecordCountSensitivity(UnderAddRemove(input.unit_bound));
    if (!is_linear_ || !counts_amounts || !removal.ok()) return std::nullopt;
    const BudgetShare half = first.rest.Of(most_part_units_ / 2 + most_part_units_ % 2);
    return LinearDraws{.draws = {{first.event, 1}, {AmountEvent(first.rest), 1}},
                       .removals = {{NoiseEvent(first.noise, *removal), 1}, {AmountEvent(half), 1}}};
  }

  SynthesisPlan PlanWith(std::vector<CountedEvent> draws, Event event, std::optional<LinearDraws> linear) && {
    std::vector<std::string> lines = {absl::StrCat("the number of records: ", Describe(draws[0].event))};
    std::ranges::move(lines_, std::back_inserter(lines));
    return {.draws = std::move(draws),
            .event = std::move(event),
            .settings = {},
            .schedule = std::move(lines),
            .constraints = std::move(constraints_),
            .model_cells = model_cells_,
            .memory = AroundAModel(memory_),
            .cpu_seconds = seconds_,
            .linear = std::move(linear),
            .drawn_from = {std::move(drawn_from_).Take()}};
  }

 private:
  int64_t model_cells_ = 0;
  SynthesisMemory memory_;
  double seconds_ = 0;
  DrawnFrom drawn_from_;
  bool is_linear_ = true;
  int64_t most_part_units_ = 0;
  std::string_view last_method_;
  std::vector<std::string> lines_;
  std::vector<std::string> constraints_;
};

}  // namespace

absl::StatusOr<CountFirst> SplitOffCount(const SynthesisInput& input) {
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  const BudgetShare whole = WholeOf(budget);
  const BudgetShare count =
      whole.Of(RecordCountUnits(whole.units, whole.is_pure ? kPureCountParts : kCountParts));
  const BudgetShare rest = whole.Of(whole.units - count.units);
  if (rest.units < 1) return whole.TooSmallFor("the number of records and a method");
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, RecordCountSensitivity(input.unit_bound));
  ASSIGN_OR_RETURN(const NoiseSpec noise, NoiseFor(count, sensitivity));
  return CountFirst{.noise = noise, .event = NoiseEvent(noise, sensitivity), .rest = rest};
}

int64_t RoundedRecords(int64_t noisy) {
  int64_t rounded = kFewestRecords;
  while (rounded < kMostRoundedRecords && noisy / 2 >= rounded) rounded *= kFactorOfRecords;
  return rounded;
}

absl::StatusOr<Branch> BranchFor(const SynthesisInput& input, const BudgetShare& rest, int64_t records,
                                 std::span<const Synthesizer* const> methods, Pacer& pacer) {
  SynthesisInput spending = WithSpend(input, rest);
  spending.assume_records = records;
  return FirstThatPlans(spending, rest, records, methods, pacer);
}

absl::StatusOr<Branch> DeclaredBranch(const SynthesisInput& input,
                                      std::span<const Synthesizer* const> methods, Pacer& pacer) {
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  const int64_t records = std::max<int64_t>(1, input.assume_records.value_or(1));
  ASSIGN_OR_RETURN(Branch branch, FirstThatPlans(input, WholeOf(budget), records, methods, pacer));
  branch.plan.memory = AroundAModel(branch.plan.memory);
  return branch;
}

absl::StatusOr<SynthesisPlan> PlanOfBranches(const SynthesisInput& input,
                                             std::span<const Synthesizer* const> methods, Pacer& pacer) {
  ASSIGN_OR_RETURN(const CountFirst first, SplitOffCount(input));
  Accumulated all;
  for (int64_t records = kFewestRecords; records <= kMostRoundedRecords; records *= kFactorOfRecords) {
    ASSIGN_OR_RETURN(const Branch branch, BranchFor(input, first.rest, records, methods, pacer));
    RETURN_IF_ERROR(all.Add(branch, records));
  }
  std::vector<CountedEvent> draws = {{first.event, 1}, {AmountEvent(first.rest), 1}};
  ASSIGN_OR_RETURN(Event event, EventToCharge(input, draws));
  std::optional<LinearDraws> linear = all.LinearWith(input, first);
  return std::move(all).PlanWith(std::move(draws), std::move(event), std::move(linear));
}

}  // namespace curator::dp
