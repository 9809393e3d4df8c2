#include "dp/synthesis/testing/laws.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dp/accounting/rule.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/testing/nested_rows.h"
#include "dp/synthesis/testing/pacer_probe.h"
#include "dp/synthesis/testing/public_rows.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

// One fit of `input` on a table, with everything that came of it.
struct Fitted {
  absl::Status status;
  std::unique_ptr<SynthesisModel> model;  // null unless ok
  Transcript transcript;
  std::vector<double> progress;
  int64_t steps = 0;
  int64_t longest_stride = 0;

  std::string bytes() const { return model == nullptr ? status.ToString() : model->Serialize(); }
};

Fitted Run(const Synthesizer& synthesizer, const SynthesisInput& input, PrivateQueries& kernel,
           const Progress& watch, std::stop_token stop) {
  Fitted fitted;
  RecordingQueries recording(kernel, fitted.transcript);
  Pacer pacer(std::move(stop));
  auto model = synthesizer.Fit(input, recording, pacer, [&](double share) {
    fitted.progress.push_back(share);
    watch(share);
  });
  fitted.status = model.status();
  if (model.ok()) fitted.model = *std::move(model);
  fitted.steps = pacer.steps();
  fitted.longest_stride = PacerProbe::LongestStride(pacer);
  return fitted;
}

Fitted FitOn(const Synthesizer& synthesizer, const World& world, std::vector<CountedEvent> paid,
             const Progress& watch = NoProgress(), std::stop_token stop = {}) {
  seeded::SeededBits bits(1);
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound, Meter(std::move(paid)), bits);
  return Run(synthesizer, world.input, kernel, watch, std::move(stop));
}

Fitted FitOn(const Synthesizer& synthesizer, const World& world) {
  const auto plan = synthesizer.Plan(world.input);
  if (!plan.ok()) return {.status = plan.status(), .model = nullptr, .transcript = {}, .progress = {}};
  return FitOn(synthesizer, world, plan->draws);
}

Fitted FitFrom(const Synthesizer& synthesizer, const SynthesisInput& input, const Transcript& transcript) {
  const auto plan = synthesizer.Plan(input);
  if (!plan.ok()) return {.status = plan.status(), .model = nullptr, .transcript = {}, .progress = {}};
  ReplayingQueries kernel(transcript, input.domain);
  return Run(synthesizer, input, kernel, NoProgress(), {});
}

Violations SpendsWhatIsPriced(const Synthesizer& synthesizer) {
  Violations found;
  const World world = FullWorld();
  const auto plan = synthesizer.Plan(world.input);
  if (!plan.ok()) return {plan.status().ToString()};
  const Fitted whole = FitOn(synthesizer, world, plan->draws);
  if (!whole.status.ok())
    found.push_back(absl::StrCat("the price was not enough: ", whole.status.ToString()));
  for (size_t i = 0; i < plan->draws.size(); ++i) {
    std::vector<CountedEvent> short_of_one = plan->draws;
    --short_of_one[i].count;
    if (FitOn(synthesizer, world, short_of_one).status.code() != absl::StatusCode::kFailedPrecondition)
      found.push_back(absl::StrCat("one draw less was enough: ", Describe(plan->draws[i].event)));
  }
  return found;
}

Violations PricesNoMoreThanTheSpend(const Synthesizer& synthesizer) {
  Violations found;
  for (const int64_t units : {kEpsilonUnitsPerOne / 7, kEpsilonUnitsPerOne, int64_t{123'456'789'012}}) {
    SynthesisInput input = FullWorld().input;
    input.spend = {.epsilon = Epsilon(units)};
    const auto plan = synthesizer.Plan(input);
    if (!plan.ok()) return {plan.status().ToString()};
    for (const Event& event : {plan->event, Event{ComposedEvent{plan->draws}}}) {
      if (CostOf(input.rule, event).value()[0].amount > units)
        found.push_back(absl::StrCat(Describe(event), " costs more than was offered"));
    }
  }
  return found;
}

// A price that remembers a table would show after a fit on it.
Violations PricesFromPublicFacts(const Synthesizer& synthesizer) {
  Violations found;
  const auto before = synthesizer.Plan(FullWorld().input);
  if (!before.ok()) return {before.status().ToString()};
  for (const World& world : {FullWorld(), OtherWorld(), WorldOf({2, 3, 4, 3}, 2, {})}) {
    (void)FitOn(synthesizer, world);
    const auto after = synthesizer.Plan(FullWorld().input);
    if (!after.ok() || after->draws != before->draws || !(after->event == before->event) ||
        after->settings != before->settings || after->schedule != before->schedule ||
        after->drawn_from != before->drawn_from) {
      found.push_back("the price is another one after a fit");
    }
  }
  return found;
}

Violations IsAFunctionOfTheTranscript(const Synthesizer& synthesizer) {
  Violations found;
  const SynthesisInput input = FullWorld().input;
  for (const World& world : {FullWorld(), OtherWorld()}) {
    const Fitted live = FitOn(synthesizer, world);
    if (!live.status.ok()) return {live.status.ToString()};
    if (FitFrom(synthesizer, input, live.transcript).bytes() != live.bytes())
      found.push_back("the same draws beside another table make another model");
  }
  return found;
}

// The attribute sets that a draw is over.
std::vector<AttributeSet> SetsOfDraw(const Draw& draw) {
  std::vector<AttributeSet> sets;
  if (const auto* counts = std::get_if<CountsDraw>(&draw)) sets = counts->marginals;
  if (const auto* queries = std::get_if<QueriesDraw>(&draw)) {
    for (const QueryGroup& group : queries->groups) sets.push_back(group.attributes);
  }
  if (const auto* errors = std::get_if<ErrorsDraw>(&draw)) {
    for (const IntegerMarginal& candidate : errors->candidates) sets.push_back(candidate.attributes);
  }
  if (const auto* selection = std::get_if<FamilySelectionDraw>(&draw)) {
    for (const CandidateFamily& family : selection->families) sets.push_back(family.group.attributes);
  }
  if (const auto* selection = std::get_if<SubstitutionDraw>(&draw)) {
    for (const SubstitutableMarginal& candidate : selection->candidates) sets.push_back(candidate.attributes);
  }
  return sets;
}

// What is drawn is part of a draw's identity, so that one key is never used for two draws.
Violations DrawsFromWhatItPlans(const Synthesizer& synthesizer) {
  Violations found;
  const World world = FullWorld();
  const auto plan = synthesizer.Plan(world.input);
  if (!plan.ok()) return {plan.status().ToString()};
  std::set<AttributeSet> planned;
  for (const std::vector<QueryGroup>& groups : plan->drawn_from) {
    for (const QueryGroup& group : groups) planned.insert(group.attributes);
  }
  const Fitted fitted = FitOn(synthesizer, world);
  for (const Draw& draw : fitted.transcript) {
    for (const AttributeSet& set : SetsOfDraw(draw)) {
      if (!planned.contains(set))
        found.push_back(absl::StrCat("the plan does not state ", NamesOf(world.input.domain, set)));
    }
  }
  return found;
}

Violations ReportsProgressFromTheSchedule(const Synthesizer& synthesizer) {
  Violations found;
  const std::vector<double> one = FitOn(synthesizer, FullWorld()).progress;
  const std::vector<double> other = FitOn(synthesizer, OtherWorld()).progress;
  if (one != other) found.push_back("progress differs between two tables");
  if (one.empty() || one.back() != 1) found.push_back("progress does not end at 1");
  if (!std::is_sorted(one.begin(), one.end())) found.push_back("progress falls");
  if (!one.empty() && one.front() < 0) found.push_back("progress is negative");
  return found;
}

// A domain of a little more than 2^20 cells (or as many as the method holds of them), so that strides have
// room to be too long.
Violations LooksForAStop(const Synthesizer& synthesizer) {
  constexpr int64_t kMostBetweenLooks = int64_t{1} << 20;
  Violations found;
  World world = WorldOf({128, 128, 66}, 1, RandomRows({128, 128, 66}, 200, 6));
  const auto plan = synthesizer.Plan(world.input);
  if (!plan.ok()) return {plan.status().ToString()};
  const Fitted whole = FitOn(synthesizer, world, plan->draws);
  if (!whole.status.ok()) return {whole.status.ToString()};
  if (whole.steps < plan->model_cells) {
    found.push_back(
        absl::StrCat("counts ", whole.steps, " steps for a model of ", plan->model_cells, " cells"));
  }
  if (whole.longest_stride >= kMostBetweenLooks)
    found.push_back(absl::StrCat("takes ", whole.longest_stride, " steps between two looks"));

  std::stop_source before;
  before.request_stop();
  const Fitted never = FitOn(synthesizer, world, plan->draws, NoProgress(), before.get_token());
  if (never.status.code() != absl::StatusCode::kCancelled || !never.transcript.empty())
    found.push_back("draws although it was asked to stop before it began");
  std::stop_source midway;
  const Fitted half = FitOn(
      synthesizer, world, plan->draws, [&](double) { midway.request_stop(); }, midway.get_token());
  if (half.progress.size() > 1 && half.status.code() != absl::StatusCode::kCancelled)
    found.push_back("goes on after it was asked to stop");
  return found;
}

// Wherever the plan looks for a stop: a look whose answer is not passed on ends nothing.
Violations StopsPlanning(const Synthesizer& synthesizer) {
  Pacer patient{std::stop_token()};
  const absl::Status planned = synthesizer.PlanWith(FullWorld().input, patient).status();
  if (!planned.ok()) return {planned.ToString()};
  const int64_t looks = PacerProbe::Checks(patient);
  if (looks == 0) return {"planning never looks for a stop"};
  Violations found;
  for (int64_t look = 1; look <= looks; ++look) {
    Pacer pacer{std::stop_token()};
    PacerProbe::StopAt(pacer, look);
    const absl::Status ended = synthesizer.PlanWith(FullWorld().input, pacer).status();
    if (!absl::IsCancelled(ended) || PacerProbe::Checks(pacer) != look)
      found.push_back(absl::StrCat("planning went on after a stop at look ", look, " of ", looks, ": ",
                                   ended.ToString()));
  }
  return found;
}

// As a client that has left before its model is made of what is stored.
Violations StopsRestoring(const Synthesizer& synthesizer) {
  const World& world = FullWorld();
  const Fitted fitted = FitOn(synthesizer, world);
  if (!fitted.status.ok()) return {fitted.status.ToString()};
  std::stop_source source;
  source.request_stop();
  Pacer pacer(source.get_token());
  const absl::Status ended =
      synthesizer.RestoreWith(world.input.domain, fitted.model->Serialize(), pacer).status();
  if (absl::IsCancelled(ended)) return {};
  return {absl::StrCat("restoring went on after a stop was requested: ", ended.ToString())};
}

// A model that can be asked, restored and sampled, all within its domain.
Violations FindFaults(const Synthesizer& synthesizer, const World& world) {
  const Fitted fitted = FitOn(synthesizer, world);
  if (!fitted.status.ok()) return {fitted.status.ToString()};
  const SynthesisModel& model = *fitted.model;
  Violations found;
  if (model.records() < 1) found.push_back("has less than one record");
  for (const AttributeSet& set : SetsOf(world.input.workload)) {
    const auto cells = model.Marginal(set);
    if (!cells.ok()) return {cells.status().ToString()};
    double total = 0;
    for (const double cell : *cells) {
      if (!(cell >= 0) || !std::isfinite(cell)) found.push_back(absl::StrCat("a cell is ", cell));
      total += cell;
    }
    if (!(std::abs(total / static_cast<double>(model.records()) - 1) <= 1e-6))
      found.push_back(absl::StrCat("a marginal sums to ", total, ", not to ", model.records()));
  }
  const auto restored = synthesizer.Restore(world.input.domain, model.Serialize());
  if (!restored.ok() || (*restored)->Serialize() != model.Serialize())
    found.push_back("is another one when restored");
  seeded::SeededBits bits(2);
  const absl::Status sampled = model.Sample(bits, 200, [&](std::span<const uint32_t> codes) {
    bool within = codes.size() == model.attributes().size();
    for (size_t i = 0; within && i < codes.size(); ++i)
      within = codes[i] < world.input.domain.attributes()[model.attributes()[i]].size();
    return within ? absl::OkStatus() : absl::OutOfRangeError("a record lies outside of the domain");
  });
  if (!sampled.ok()) found.push_back(sampled.ToString());
  return found;
}

Violations CopesWithNoRecords(const Synthesizer& synthesizer) {
  return FindFaults(synthesizer, WorldOf({2, 3}, 2, {}));
}
Violations CopesWithOneRecord(const Synthesizer& synthesizer) {
  return FindFaults(synthesizer, WorldOf({2, 3}, 1, {{1, 2}}));
}
Violations CopesWithEqualRecords(const Synthesizer& synthesizer) {
  return FindFaults(synthesizer, OtherWorld());
}
Violations CopesWithOneAttribute(const Synthesizer& synthesizer) {
  return FindFaults(synthesizer, WorldOf({5}, 1, RandomRows({5}, 50, 3)));
}
Violations CopesWithAttributesOfSizeOne(const Synthesizer& synthesizer) {
  return FindFaults(synthesizer, WorldOf({1, 2, 1}, 2, RandomRows({1, 2, 1}, 50, 4)));
}
Violations CopesWithAHundredThousandValues(const Synthesizer& synthesizer) {
  return FindFaults(synthesizer, WorldOf({100'000, 2}, 1, RandomRows({100'000, 2}, 2000, 5)));
}

// Free requests are bounded by these numbers.
Violations CountsTheStepsOfItsAnswers(const Synthesizer& synthesizer) {
  const Fitted fitted = FitOn(synthesizer, FullWorld());
  if (!fitted.status.ok()) return {fitted.status.ToString()};
  const SynthesisModel& model = *fitted.model;
  Violations found;
  std::vector<AttributeSet> sets = {{}, model.attributes()};
  for (const uint32_t attribute : model.attributes()) sets.push_back({attribute});
  for (const AttributeSet& set : sets) {
    const auto cells = model.Marginal(set);
    if (!cells.ok()) return {cells.status().ToString()};
    if (const int64_t steps = model.MarginalSteps(set); steps < std::ssize(*cells))
      found.push_back(absl::StrCat(cells->size(), " cells are answered in ", steps, " steps"));
  }
  return found;
}

// Whether records are drawn or dealt, the shares in a sample are those of the answers.
Violations SamplesWhatItAnswers(const Synthesizer& synthesizer) {
  constexpr int64_t kRows = 2000;
  const World world = WorldOf({2, 3, 4, 3}, 2, Rows(kRows, {1, 2, 3, 2}));
  const Fitted fitted = FitOn(synthesizer, world);
  if (!fitted.status.ok()) return {fitted.status.ToString()};
  const SynthesisModel& model = *fitted.model;
  seeded::SeededBits bits(3);
  Rows sample;
  std::map<int64_t, double> sizes;
  const absl::Status sampled =
      model.SampleGroups(bits, kRows, [&](int64_t group, std::span<const uint32_t> codes) {
        sample.emplace_back(codes.begin(), codes.end());
        ++sizes[group];
        return absl::OkStatus();
      });
  if (!sampled.ok() || sample.size() != kRows)
    return {"hands out another number of records than it was asked"};
  // Records of a group may be as alike as can be: then only groups are independent draws.
  double draws = kRows;
  if (model.DrawsGroups()) {
    double squares = 0;
    for (const auto& [group, size] : sizes) squares += size * size;
    draws = static_cast<double>(kRows) * kRows / squares;
  }
  Violations found;
  for (size_t i = 0; i < model.attributes().size(); ++i) {
    const auto cells = model.Marginal({model.attributes()[i]});
    if (!cells.ok()) return {cells.status().ToString()};
    for (uint32_t code = 0; code < cells->size(); ++code) {
      const double share = (*cells)[code] / static_cast<double>(model.records());
      const auto seen = std::ranges::count_if(sample, [&](const auto& row) { return row[i] == code; });
      // Five standard deviations of independent draws, and what rounding to whole records may do.
      const double tolerance = 5 * std::sqrt(share * (1 - share) / draws) + 0.01;
      if (!(std::abs(static_cast<double>(seen) / kRows - share) <= tolerance))
        found.push_back(absl::StrCat("a share of ", share, " is ", seen, " of ", kRows, " records"));
    }
  }
  return found;
}

Violations KeepsConstraintsOrWarns(const Synthesizer& synthesizer) {
  const World world = ConstrainedWorld();
  const auto plan = synthesizer.Plan(world.input);
  if (!plan.ok()) return {plan.status().ToString()};
  if (WarnsOfConstraints(*plan)) return {};
  const Fitted fitted = FitOn(synthesizer, world, plan->draws);
  if (!fitted.status.ok()) return {fitted.status.ToString()};
  const auto restored = synthesizer.Restore(world.input.domain, fitted.bytes());
  if (!restored.ok()) return {restored.status().ToString()};
  const AttributeSet& attributes = (*restored)->attributes();
  const auto lower = static_cast<size_t>(std::ranges::find(attributes, 1) - attributes.begin());
  const auto upper = static_cast<size_t>(std::ranges::find(attributes, 2) - attributes.begin());
  int64_t broken = 0;
  seeded::SeededBits bits(3);
  const absl::Status sampled = (*restored)->Sample(bits, 5000, [&](std::span<const uint32_t> codes) {
    if (codes[lower] > codes[upper]) ++broken;
    return absl::OkStatus();
  });
  if (!sampled.ok()) return {sampled.ToString()};
  const auto cells = (*restored)->Marginal({1, 2});
  if (!cells.ok()) return {cells.status().ToString()};
  double forbidden = 0;
  for (size_t cell = 0; cell < cells->size(); ++cell) forbidden += cell / 5 > cell % 5 ? (*cells)[cell] : 0;
  if (broken == 0 && forbidden == 0) return {};
  return {absl::StrCat(broken, " of 5000 records break a constraint, ", forbidden, " in its marginal")};
}

}  // namespace

World WorldOf(const std::vector<int64_t>& sizes, int k, const Rows& rows) {
  const Domain domain = CodedDomain(sizes);
  RuleSpec rule;
  rule.kind = RuleKind::kPure;
  rule.epsilon = Epsilon(10 * kEpsilonUnitsPerOne);
  return {.input = {.domain = domain,
                    .unit_bound = {},
                    .rule = rule,
                    .spend = {.epsilon = Epsilon(kEpsilonUnitsPerOne)},
                    .workload = WholeMarginals(AllKWayMarginals(domain, k, {}).value()),
                    .settings = {},
                    .assume_records = std::nullopt,
                    .prior = PublicRows(domain, RandomRows(sizes, 300, 7)),
                    .nested = FirstAttributeNested(domain)},
          .table = SealInGroups(domain, rows)};
}

Rows RandomRows(const std::vector<int64_t>& sizes, int count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Rows rows;
  for (int i = 0; i < count; ++i) {
    std::vector<uint32_t> row;
    for (const int64_t size : sizes)
      row.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(size)));
    rows.push_back(std::move(row));
  }
  return rows;
}

World FullWorld() {
  return WorldOf({2, 3, 4, 3}, 2, RandomRows({2, 3, 4, 3}, 500, 1));
}
World OtherWorld() {
  return WorldOf({2, 3, 4, 3}, 2, Rows(37, {1, 2, 3, 2}));
}

World ConstrainedWorld() {
  const std::vector<int64_t> sizes = {2, 5, 5, 3};
  Rows rows = RandomRows(sizes, 300, 5);
  for (std::vector<uint32_t>& row : rows) {
    if (row[1] > row[2]) std::swap(row[1], row[2]);
  }
  World world = WorldOf(sizes, 2, rows);
  world.input.domain = world.input.domain.WithConstraints({OrderRule{.lower = 1, .upper = 2}}).value();
  return world;
}

bool WarnsOfConstraints(const SynthesisPlan& plan) {
  return std::ranges::any_of(plan.schedule, [](const std::string& line) {
    return absl::StrContains(line, "records may break the constraints between:");
  });
}

const std::vector<Law>& SynthesizerLaws() {
  static const std::vector<Law> laws = {
      {"SpendsWhatIsPriced", SpendsWhatIsPriced},
      {"PricesNoMoreThanTheSpend", PricesNoMoreThanTheSpend},
      {"PricesFromPublicFacts", PricesFromPublicFacts},
      {"IsAFunctionOfTheTranscript", IsAFunctionOfTheTranscript},
      {"DrawsFromWhatItPlans", DrawsFromWhatItPlans},
      {"ReportsProgressFromTheSchedule", ReportsProgressFromTheSchedule},
      {"LooksForAStop", LooksForAStop},
      {"StopsPlanning", StopsPlanning},
      {"StopsRestoring", StopsRestoring},
      {"CountsTheStepsOfItsAnswers", CountsTheStepsOfItsAnswers},
      {"SamplesWhatItAnswers", SamplesWhatItAnswers},
      {"KeepsConstraintsOrWarns", KeepsConstraintsOrWarns},
      {"CopesWithNoRecords", CopesWithNoRecords},
      {"CopesWithOneRecord", CopesWithOneRecord},
      {"CopesWithEqualRecords", CopesWithEqualRecords},
      {"CopesWithOneAttribute", CopesWithOneAttribute},
      {"CopesWithAttributesOfSizeOne", CopesWithAttributesOfSizeOne},
      {"CopesWithAHundredThousandValues", CopesWithAHundredThousandValues},
  };
  return laws;
}

Violations ViolationsOf(std::string_view law, const Synthesizer& synthesizer) {
  for (const Law& each : SynthesizerLaws()) {
    if (each.name == law) return each.check(synthesizer);
  }
  return {"there is no such law"};
}

}  // namespace curator::dp
