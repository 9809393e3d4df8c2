#include "dp/synthesis/dpsyn/dpsyn.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/dpsyn/consistency.h"
#include "dp/synthesis/dpsyn/sorted_records.h"
#include "dp/synthesis/dpsyn/view_choice.h"
#include "dp/synthesis/dpsyn/view_matching.h"
#include "dp/synthesis/dpsyn/views_memory.h"
#include "dp/synthesis/dpsyn/views_model.h"
#include "dp/synthesis/models/nearest_non_negative.h"
#include "dp/synthesis/models/structural_zeros.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

constexpr int64_t kMostPasses = 100;                    // of flow, by default
constexpr int64_t kMostSortedCells = int64_t{1} << 23;  // STS holds about 50 bytes for each

// How records are made from views: by minimum-cost flow (MCF), or from topologically sorted views (STS).
enum class RecordMethod { kFlow, kSorted };

constexpr Choices<RecordMethod, 2> kRecordMethods = {
    {{"mcf", RecordMethod::kFlow}, {"sts", RecordMethod::kSorted}}};
constexpr Choices<FlowMoveRule, 2> kMoveRules = {
    {{"closer", FlowMoveRule::kCloser}, {"every", FlowMoveRule::kEvery}}};
constexpr Choices<AnswerFrom, 2> kAnswers = {
    {{"records", AnswerFrom::kRecords}, {"views", AnswerFrom::kEntropy}}};
constexpr Choices<AnswerFrom, 2> kReconstructions = {
    {{"entropy", AnswerFrom::kEntropy}, {"least_squares", AnswerFrom::kLeastSquares}}};

struct RecordSettings {
  RecordMethod method = RecordMethod::kFlow;
  int64_t passes = 0;
  FlowMoveRule moves = FlowMoveRule::kCloser;
  int64_t repeats = 1;
  int64_t max_records = 1;
  AnswerFrom answers = AnswerFrom::kRecords;
};

// Of many attributes few pairs are in a view. Of the others records show how they were drawn, which views do
// not.
AnswerFrom UsualAnswers(const SynthesisInput& input) {
  const bool has_many = Union(SetsOf(input.workload)).size() > kManyAttributes;
  return has_many && !input.is_of_version_1 ? AnswerFrom::kEntropy : AnswerFrom::kRecords;
}

absl::StatusOr<RecordSettings> ReadRecordSettings(const SynthesisInput& input, SettingsReader& reader) {
  RecordSettings settings;
  ASSIGN_OR_RETURN(settings.method, reader.Choice("records", kRecordMethods));
  ASSIGN_OR_RETURN(settings.passes, reader.Integer("passes"));
  ASSIGN_OR_RETURN(settings.moves, reader.Choice("moves", kMoveRules));
  ASSIGN_OR_RETURN(settings.repeats, reader.Integer("repeats"));
  ASSIGN_OR_RETURN(
      settings.max_records,
      reader.Integer("max_records", DefaultMostRecords(input.domain, Union(SetsOf(input.workload)))));
  ASSIGN_OR_RETURN(settings.answers, reader.Choice("answers", kAnswers, std::optional(UsualAnswers(input))));
  return settings;
}

// Records by flow, as its defaults make them, for samples of a model that answers from its views.
absl::StatusOr<RecordSettings> ReadSampleSettings(const SynthesisInput& input, SettingsReader& reader) {
  RecordSettings settings{.passes = kMostPasses};
  ASSIGN_OR_RETURN(settings.answers, reader.Choice("reconstruction", kReconstructions));
  ASSIGN_OR_RETURN(
      settings.max_records,
      reader.Integer("max_records", DefaultMostRecords(input.domain, Union(SetsOf(input.workload)))));
  return settings;
}

Setting MostRecordsSetting() {
  return IntegerSetting("max_records",
                        "the most records that are made and stored; a larger population repeats them",
                        "4000000, or as many as fit into 500 MB", IntegerRange{1, kMostRecords});
}

std::vector<Setting> WithOwn(std::vector<Setting> own) {
  std::vector<Setting> all = ViewSettingsTable();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

// Of measuring views and making them agree.
double SecondsOfViews(const SynthesisInput& input, const ViewSchedule& schedule) {
  // Of a cell: in a round in which views are made to agree; and when it is shrunk.
  constexpr double kSecondsPerCellAndRound = 60e-9;
  constexpr double kSecondsPerShrunkCell = 2e-6;
  double sets = 1;
  for (const ViewGroup& group : schedule.groups) sets += static_cast<double>(group.views.size());
  double candidates = 0;  // their cells
  if (schedule.selected) {
    sets += static_cast<double>(schedule.selected->candidates.size()) +
            static_cast<double>(schedule.selected->rounds);
    for (const AttributeSet& pair : schedule.selected->candidates)
      candidates += static_cast<double>(input.domain.CellCount(pair).value_or(0));
  }
  const double rounds = schedule.estimation.rounds;
  return (kSecondsPerCellAndRound * rounds + kSecondsPerShrunkCell) *
             (static_cast<double>(schedule.measured_cells) + candidates) +
         CountingSeconds(sets, DeclaredRecords(input.assume_records));
}

double SecondsOfRecords(const SynthesisInput& input, const ViewSchedule& schedule,
                        const RecordSettings& how) {
  // A step of matching reads a count or a code.
  constexpr double kSecondsPerStep = 1.5e-9;
  constexpr double kSecondsPerDrawnCode = 200e-9;
  constexpr double kSecondsPerSortedRecord = 30e-9;
  const double rows = std::min(DeclaredRecords(input.assume_records), static_cast<double>(how.max_records));
  double views = 1;
  for (const ViewGroup& group : schedule.groups) views += static_cast<double>(group.views.size());
  if (schedule.selected) views += static_cast<double>(schedule.selected->rounds);
  if (how.method == RecordMethod::kSorted) return kSecondsPerSortedRecord * rows * views;
  const FlowRule rule;
  const double steps =
      static_cast<double>(rule.most_steps) + static_cast<double>(rule.most_steps_of_view) * views;
  const double drawn = kSecondsPerDrawnCode * static_cast<double>(schedule.attributes.size());
  return rows * (how.passes > 0 ? kSecondsPerStep * steps + drawn : drawn);
}

absl::StatusOr<SynthesisPlan> PlanOf(const SynthesisInput& input, ViewSchedule schedule,
                                     const SettingsReader& reader, const SynthesisMemory& memory,
                                     double seconds_of_records) {
  RETURN_IF_ERROR(reader.Finish());
  const double cpu_seconds = SecondsOfViews(input, schedule) + seconds_of_records;
  ASSIGN_OR_RETURN(Event event, EventToCharge(input, schedule.draws));
  std::vector<std::vector<QueryGroup>> drawn_from;
  for (const ViewGroup& group : schedule.groups) drawn_from.push_back(WholeMarginals(group.views));
  if (schedule.selected) drawn_from.push_back(WholeMarginals(schedule.selected->candidates));
  return SynthesisPlan{.draws = std::move(schedule.draws),
                       .event = std::move(event),
                       .settings = reader.used(),
                       .schedule = std::move(schedule.lines),
                       .constraints = DescribeConstraints(input.domain, schedule.attributes, {}),
                       .model_cells = schedule.largest_view,
                       .memory = memory,
                       .cpu_seconds = cpu_seconds,
                       .linear = std::move(schedule.linear),
                       .drawn_from = std::move(drawn_from)};
}

absl::StatusOr<RecordTable> MakeRecords(const RecordSettings& settings, const AttributeSet& attributes,
                                        const std::vector<int64_t>& sizes, FittedViews& fitted,
                                        Pacer& pacer) {
  const int64_t rows = std::min(fitted.records, settings.max_records);
  if (settings.method == RecordMethod::kSorted) {
    fitted.transcript.push_back(absl::StrCat("records: ", rows, ", from topologically sorted views"));
    return MakeSortedRecords(fitted.views, attributes, sizes, rows, settings.repeats, pacer);
  }
  ASSIGN_OR_RETURN(FlowResult flow,
                   MakeFlowRecords(fitted.views, attributes, sizes, rows,
                                   {.most_passes = settings.passes, .moves = settings.moves}, pacer));
  fitted.transcript.push_back(absl::StrCat(
      "records: ", rows, ", matched to the views by ", flow.moves.size(),
      " passes of minimum-cost flow, of which the first moved ", flow.moves.empty() ? 0 : flow.moves.front(),
      " and the last ", flow.moves.empty() ? 0 : flow.moves.back(),
      flow.reached_bound ? " (cut off: too much work for what it gained)" : "",
      "; mean L1 distance from a view (of shares): ", flow.distance_at_first, " as drawn, ",
      flow.distance_at_last, " in the end"));
  return std::move(flow.records);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> FitWith(const RecordSettings& how,
                                                        const SynthesisInput& input, SettingsReader& reader,
                                                        PrivateQueries& kernel, Pacer& pacer,
                                                        const Progress& progress) {
  ASSIGN_OR_RETURN(const ViewSchedule schedule, MakeViewSchedule(input, reader, pacer));
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(FittedViews fitted, FitViews(input.domain, schedule, kernel, pacer, progress, 0.5));
  ASSIGN_OR_RETURN(RecordTable table, MakeRecords(how, schedule.attributes,
                                                  input.domain.SizesOf(schedule.attributes), fitted, pacer));
  progress(1);
  return ViewsModel::Create(input.domain, {.attributes = schedule.attributes,
                                           .records = fitted.records,
                                           .answers = how.answers,
                                           .views = std::move(fitted.views),
                                           .table = std::move(table),
                                           .transcript = std::move(fitted.transcript)});
}

}  // namespace

std::string_view Dpsyn::summary() const {
  return "Records that match noisy views of a few attributes each, which together hold every pair of the "
         "workload's attributes and agree; a sample deals them out in a random order.";
}

const std::vector<Setting>& Dpsyn::settings() const {
  static const auto* const settings = new std::vector<Setting>(WithOwn(
      {ChoiceSetting("records",
                     "how records are made. mcf: drawn, then changed as little as possible until they match "
                     "every view (minimum-cost flow); sts: the most frequent combinations first, from "
                     "topologically sorted views",
                     kRecordMethods),
       IntegerSetting("passes",
                      "with mcf: over all views, at most; they end with one that moves less than 0.5% of the "
                      "records, or after 20,000 steps for each record and 20 for each record and view",
                      kMostPasses, {0, 1000}),
       ChoiceSetting("moves",
                     "with mcf: which of the records move that the flow would move. every, as in the paper: "
                     "all, so that each view is met exactly and disturbs the others; closer: after some such "
                     "passes, only those that bring the records closer to all views together, so that passes "
                     "come to an end",
                     kMoveRules),
       IntegerSetting("repeats",
                      "with sts: runs that start with different views, each for a share of the records", 4,
                      {1, 1000}),
       MostRecordsSetting(),
       ChoiceSetting(
           "answers", "what answers questions about marginals: the records, or the views (as priview does)",
           kAnswers, absl::StrCat("records; views of more than ", kManyAttributes, " attributes"))}));
  return *settings;
}

absl::StatusOr<SynthesisPlan> Dpsyn::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  SettingsReader reader(settings(), input.settings);
  ASSIGN_OR_RETURN(const RecordSettings how, ReadRecordSettings(input, reader));
  ASSIGN_OR_RETURN(ViewSchedule schedule, MakeViewSchedule(input, reader, pacer));
  if (how.method == RecordMethod::kSorted && schedule.measured_cells > kMostSortedCells) {
    return InvalidField("settings.records",
                        absl::StrCat("sts takes views of at most ", kMostSortedCells, " cells in all, not ",
                                     schedule.measured_cells, "; mcf takes more"));
  }
  const SynthesisMemory memory = MemoryOfViews(
      input.domain, schedule,
      how.method == RecordMethod::kSorted ? RecordsMade::kSorted : RecordsMade::kByFlow, how.max_records);
  const double seconds_of_records = SecondsOfRecords(input, schedule, how);
  return PlanOf(input, std::move(schedule), reader, memory, seconds_of_records);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Dpsyn::Fit(const SynthesisInput& input,
                                                           PrivateQueries& kernel, Pacer& pacer,
                                                           const Progress& progress) const {
  SettingsReader reader(settings(), input.settings);
  ASSIGN_OR_RETURN(const RecordSettings how, ReadRecordSettings(input, reader));
  return FitWith(how, input, reader, kernel, pacer, progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Dpsyn::RestoreWith(const Domain& domain,
                                                                   std::string_view bytes,
                                                                   Pacer& pacer) const {
  RETURN_IF_ERROR(pacer.Check());
  return ViewsModel::Restore(domain, bytes);
}

absl::StatusOr<int64_t> Dpsyn::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return ViewsModel::ReadingBytes(domain, bytes);
}

std::string_view Priview::summary() const {
  return "Noisy views of a few attributes each, made consistent; any marginal is rebuilt from them, by the "
         "largest entropy or by least squares. Samples are dealt out of records that match the views.";
}

const std::vector<Setting>& Priview::settings() const {
  static const auto* const settings = new std::vector<Setting>(
      WithOwn({ChoiceSetting("reconstruction",
                             "how a marginal that no view holds is reconstructed: entropy or least_squares",
                             kReconstructions),
               MostRecordsSetting()}));
  return *settings;
}

absl::StatusOr<SynthesisPlan> Priview::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  SettingsReader reader(settings(), input.settings);
  ASSIGN_OR_RETURN(const RecordSettings how, ReadSampleSettings(input, reader));
  ASSIGN_OR_RETURN(ViewSchedule schedule, MakeViewSchedule(input, reader, pacer));
  const SynthesisMemory memory = MemoryOfViews(input.domain, schedule, RecordsMade::kByFlow, how.max_records);
  const double seconds_of_records = SecondsOfRecords(input, schedule, how);
  ASSIGN_OR_RETURN(SynthesisPlan plan,
                   PlanOf(input, std::move(schedule), reader, memory, seconds_of_records));
  if (input.is_of_version_1) plan.settings.erase("max_records");
  return plan;
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Priview::Fit(const SynthesisInput& input,
                                                             PrivateQueries& kernel, Pacer& pacer,
                                                             const Progress& progress) const {
  SettingsReader reader(settings(), input.settings);
  ASSIGN_OR_RETURN(const RecordSettings how, ReadSampleSettings(input, reader));
  return FitWith(how, input, reader, kernel, pacer, progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Priview::RestoreWith(const Domain& domain,
                                                                     std::string_view bytes,
                                                                     Pacer& pacer) const {
  RETURN_IF_ERROR(pacer.Check());
  return ViewsModel::Restore(domain, bytes);
}

absl::StatusOr<int64_t> Priview::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return ViewsModel::ReadingBytes(domain, bytes);
}

namespace {

// Answers are never trusted further than this: noise may vanish at enormous budgets, weights divide by it.
constexpr double kLeastVariance = 0.0025;

double TrustedVariance(const NoiseSpec& noise) {
  const double deviation = ForecastError(noise).standard_deviation;
  return std::max(kLeastVariance, deviation * deviation);
}

class Drawing {
 public:
  Drawing(const Domain& domain, const ViewSchedule& schedule, PrivateQueries& kernel, Pacer& pacer)
      : domain_(domain), schedule_(schedule), kernel_(kernel), pacer_(pacer) {}

  absl::StatusOr<FittedViews> Finish(const Progress& progress, double share) {
    RETURN_IF_ERROR(pacer_.Check());
    ASSIGN_OR_RETURN(const int64_t records, kernel_.NoisyRecordCount(schedule_.record_noise));
    fitted_.transcript.push_back(absl::StrCat("number of records: ", records));
    Add({}, {records}, schedule_.record_noise);
    for (const ViewGroup& group : schedule_.groups) RETURN_IF_ERROR(Measure(group.views, group.noise));
    if (schedule_.selected) RETURN_IF_ERROR(Select(*schedule_.selected));
    progress(0.3 * share);
    RETURN_IF_ERROR(pacer_.Check());
    std::vector<AttributeSet> sets;
    for (const ViewTable& view : fitted_.views) sets.push_back(view.set);
    ASSIGN_OR_RETURN(const std::vector<SharedSet> shared, SharedSets(sets, pacer_));
    ASSIGN_OR_RETURN(fitted_.views,
                     EstimateViews(schedule_.estimation, shared, std::move(fitted_.views), pacer_));
    fitted_.records =
        std::max<int64_t>(1, static_cast<int64_t>(std::llround(TotalOf(fitted_.views.front()))));
    progress(share);
    RETURN_IF_ERROR(pacer_.Check());
    return std::move(fitted_);
  }

 private:
  void Add(const AttributeSet& set, const std::vector<int64_t>& answers, const NoiseSpec& noise) {
    ViewTable& view = fitted_.views.emplace_back(MakeView(domain_, set, 0, TrustedVariance(noise)));
    view.cells.assign(answers.begin(), answers.end());
  }

  absl::Status Measure(const std::vector<AttributeSet>& sets, const NoiseSpec& noise) {
    for (const AttributeSet& set : sets) RETURN_IF_ERROR(pacer_.Advance(CellsOf(domain_, set)));
    ASSIGN_OR_RETURN(const auto answers, kernel_.NoisyCounts(sets, noise));
    const double deviation = ForecastError(noise).standard_deviation;
    for (size_t i = 0; i < sets.size(); ++i) {
      Add(sets[i], answers[i], noise);
      fitted_.transcript.push_back(
          absl::StrCat("counts of ", NamesOf(domain_, sets[i]), ", standard deviation ", deviation));
    }
    return absl::OkStatus();
  }

  // The candidates with their estimates by independence.
  absl::StatusOr<std::vector<CandidateFamily>> Approximated(const SelectedViews& selected) {
    std::vector<std::vector<double>> singles(domain_.size());
    const double total = std::max(1.0, fitted_.views.front().cells[0]);
    for (const ViewTable& view : fitted_.views) {
      if (view.set.size() == 1) singles[view.set[0]] = NearestNonNegative(view.cells, total);
    }
    const double noise = ForecastError(selected.noise).expected_absolute_error;
    std::vector<CandidateFamily> candidates;
    for (const AttributeSet& pair : selected.candidates) {
      RETURN_IF_ERROR(pacer_.Advance(CellsOf(domain_, pair)));
      CandidateFamily& candidate = candidates.emplace_back();
      candidate.group = {.attributes = pair, .queries = EveryCell()};
      for (const double left : singles[pair[0]]) {
        for (const double right : singles[pair[1]]) {
          candidate.estimate.push_back(left * right / total);
          candidate.penalty += std::min(noise, candidate.estimate.back());
        }
      }
    }
    return candidates;
  }

  absl::Status Select(const SelectedViews& selected) {
    ASSIGN_OR_RETURN(std::vector<CandidateFamily> candidates, Approximated(selected));
    for (int64_t round = 0; round < selected.rounds; ++round) {
      RETURN_IF_ERROR(pacer_.Check());
      ASSIGN_OR_RETURN(const FamilyChoice chosen,
                       kernel_.SelectWorstCandidate(candidates, selected.selection));
      RETURN_IF_ERROR(Measure({candidates[chosen.family].group.attributes}, selected.noise));
      candidates.erase(candidates.begin() + static_cast<ptrdiff_t>(chosen.family));
    }
    return absl::OkStatus();
  }

  const Domain& domain_;
  const ViewSchedule& schedule_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  FittedViews fitted_;
};

}  // namespace

absl::StatusOr<FittedViews> FitViews(const Domain& domain, const ViewSchedule& schedule,
                                     PrivateQueries& kernel, Pacer& pacer, const Progress& progress,
                                     double share) {
  return Drawing(domain, schedule, kernel, pacer).Finish(progress, share);
}

}  // namespace curator::dp
