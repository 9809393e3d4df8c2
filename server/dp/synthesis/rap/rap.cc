#include "dp/synthesis/rap/rap.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "dp/data/coded_columns.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/structural_zeros.h"
#include "dp/synthesis/rap/cpu_projector.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/rap_candidates.h"
#include "dp/synthesis/rap/rap_schedule.h"
#include "dp/synthesis/rap/relaxed_layout.h"
#include "dp/synthesis/rap/relaxed_model.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// Reports the progress of a piece of work that is `from`..`to` of the whole, in `count` equal steps. Not
// thread-safe.
class Milestones {
 public:
  Milestones(const Progress& progress, double from, double to, int count = 10)
      : progress_(progress), from_(from), to_(to), count_(count) {}

  // This share of the piece is done.
  void Reach(double share) {
    while (reported_ < count_ && share * count_ >= reported_ + 1) {
      ++reported_;
      progress_(reported_ == count_ ? to_ : from_ + (to_ - from_) * reported_ / count_);
    }
  }

  // The piece is done, maybe sooner than planned.
  void Finish() { Reach(1); }

 private:
  const Progress& progress_;
  double from_;
  double to_;
  int count_;
  int reported_ = 0;
};

// One fit from its first draw to its model.
class RapRun {
 public:
  // `layout` is that of the fit, `answering` that of the same rows for whole marginals.
  RapRun(const SynthesisInput& input, RapSchedule schedule, RelaxedLayout layout, RelaxedLayout answering,
         const Projector& projector, PrivateQueries& kernel, Pacer& pacer, const Progress& progress)
      : input_(input),
        schedule_(std::move(schedule)),
        layout_(std::move(layout)),
        answering_(std::move(answering)),
        projector_(projector),
        kernel_(kernel),
        pacer_(pacer),
        progress_(progress),
        left_(schedule_.sets),
        chosen_queries_(schedule_.queries.size()),
        work_left_(schedule_.settings.work) {}

  absl::StatusOr<std::unique_ptr<SynthesisModel>> Finish() {
    RETURN_IF_ERROR(pacer_.Check());
    ASSIGN_OR_RETURN(const int64_t noisy_records, kernel_.NoisyRecordCount(schedule_.record_noise));
    records_ = std::clamp<int64_t>(noisy_records, 1, kMaxRows);
    transcript_.push_back(absl::StrCat("number of records: ", noisy_records));
    RETURN_IF_ERROR(MeasureOneWays());
    RelaxedRows rows = Start();
    const auto rounds = static_cast<double>(schedule_.settings.rounds);
    for (int64_t round = 0; round < schedule_.settings.rounds; ++round) {
      const double begin = static_cast<double>(round) / rounds;
      const double end = static_cast<double>(round + 1) / rounds;
      const double measured = schedule_.selection ? begin + (end - begin) / 4 : begin;
      Milestones measuring(progress_, begin, measured);
      RETURN_IF_ERROR(MeasureRound(rows, measuring));
      if (schedule_.selection) measuring.Finish();
      if (schedule_.settings.start == RapStart::kCold) rows = Start();
      Milestones fitting(progress_, measured, end);
      ASSIGN_OR_RETURN(rows, Fitted(std::move(rows), round, fitting));
      fitting.Finish();
      RETURN_IF_ERROR(pacer_.Check());
    }
    return std::make_unique<RelaxedModel>(input_.domain, answering_,
                                          Normalized(answering_, AnsweringShares(rows)), records_,
                                          std::move(transcript_));
  }

 private:
  absl::Status MeasureOneWays() {
    for (const size_t size : layout_.sizes()) one_ways_.emplace_back(size, 1.0 / static_cast<double>(size));
    if (!schedule_.one_way_noise) return absl::OkStatus();
    for (size_t i = 0; i < layout_.sizes().size(); ++i) {
      ASSIGN_OR_RETURN(const std::vector<int64_t> counts,
                       Measure({layout_.attributes()[i]}, *schedule_.one_way_noise));
      one_ways_[i] =
          PositiveShares({counts.begin(), counts.end()}, DeviationForFit(*schedule_.one_way_noise));
    }
    return absl::OkStatus();
  }

  // The noisy counts of a marginal, which from now on are to be fitted.
  absl::StatusOr<std::vector<int64_t>> Measure(const AttributeSet& set, const NoiseSpec& noise) {
    RETURN_IF_ERROR(pacer_.Check());
    ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts,
                     kernel_.NoisyCounts(std::span(&set, 1), noise));
    const double deviation = DeviationForFit(noise);
    transcript_.push_back(absl::StrCat("counts of ", NamesOf(input_.domain, set), ": ", counts[0].size(),
                                       " cells, each within about ", std::llround(2 * deviation)));
    const auto records = static_cast<double>(records_);
    MarginalAnswer answer;
    ASSIGN_OR_RETURN(answer.positions, layout_.PositionsOf(set));
    answer.answers.reserve(counts[0].size());
    for (const int64_t count : counts[0])
      answer.answers.push_back(static_cast<float>(static_cast<double>(count) / records));
    answer.weight = static_cast<float>(records / deviation * (records / deviation));
    problem_.marginals.push_back(std::move(answer));
    answers_ += static_cast<double>(counts[0].size());
    return std::move(counts[0]);
  }

  RelaxedRows Start() const {
    if (schedule_.settings.relaxation == Relaxation::kSparseMax)
      return schedule_.one_way_noise ? MixedStart(layout_, one_ways_) : UniformStart(layout_);
    return IndependentStart(layout_, one_ways_, schedule_.settings.spread);
  }

  // Chooses and measures what a round measures. All choices of a round are made on the same rows.
  absl::Status MeasureRound(const RelaxedRows& rows, Milestones& milestones) {
    if (!schedule_.queries.empty()) return MeasureQueries(rows, milestones);
    std::vector<AttributeSet> chosen;
    if (schedule_.selection) {
      ASSIGN_OR_RETURN(chosen, Choose(rows, milestones));
    } else {
      const auto end = left_.begin() + static_cast<std::ptrdiff_t>(schedule_.settings.per_round);
      chosen.assign(left_.begin(), end);
      left_.erase(left_.begin(), end);
    }
    for (const AttributeSet& set : chosen) RETURN_IF_ERROR(Measure(set, schedule_.marginal_noise).status());
    return absl::OkStatus();
  }

  // Estimates that count towards the milestones of a round, each marginal once: how often a selection asks
  // for it again may depend on the draw. What its choices take afterwards is reported when they are made.
  MarginalEstimate Estimates(const AlignedFloats& shares, size_t families, Milestones& milestones) {
    const double to_ask =
        static_cast<double>(families) + 2 * static_cast<double>(schedule_.settings.per_round);
    return [this, &shares, &milestones, to_ask,
            asked = std::set<AttributeSet>()](const AttributeSet& set) mutable {
      asked.insert(set);
      milestones.Reach(std::min(1.0, static_cast<double>(asked.size()) / to_ask));
      return EstimateOf(set, shares);
    };
  }

  absl::StatusOr<std::vector<AttributeSet>> Choose(const RelaxedRows& rows, Milestones& milestones) {
    const AlignedFloats shares = AnsweringShares(rows);
    const MarginalStream stream(input_.domain, left_, CellPenalty(schedule_.marginal_noise),
                                Estimates(shares, left_.size(), milestones));
    ASSIGN_OR_RETURN(
        const std::vector<FamilyChoice> choices,
        kernel_.SelectWorstCandidates(stream, schedule_.settings.per_round, *schedule_.selection));
    std::vector<AttributeSet> chosen;
    for (const FamilyChoice& choice : choices) chosen.push_back(left_[choice.family]);
    for (const AttributeSet& set : chosen) std::erase(left_, set);
    return chosen;
  }

  // A round of single queries: each is chosen among those not measured yet, and measured; or, where all are
  // to be measured, they come in their order.
  absl::Status MeasureQueries(const RelaxedRows& rows, Milestones& milestones) {
    if (!schedule_.selection) return MeasureNextQueries();
    const AlignedFloats shares = AnsweringShares(rows);
    const QueryStream stream(input_.domain, schedule_.queries, chosen_queries_,
                             Estimates(shares, schedule_.queries.size(), milestones));
    ASSIGN_OR_RETURN(
        const std::vector<FamilyChoice> choices,
        kernel_.SelectWorstCandidates(stream, schedule_.settings.per_round, *schedule_.selection));
    for (const FamilyChoice& choice : choices) {
      chosen_queries_[choice.family].insert(static_cast<int64_t>(choice.query));
      RETURN_IF_ERROR(pacer_.Check());
      RETURN_IF_ERROR(MeasureQuery(schedule_.queries[choice.family], choice.query));
    }
    return absl::OkStatus();
  }

  absl::Status MeasureNextQueries() {
    int64_t left = schedule_.settings.per_round;
    for (size_t i = 0; i < schedule_.queries.size(); ++i) {
      const auto all = NumberOfQueries(input_.domain, schedule_.queries[i].group);
      for (auto query = std::ssize(chosen_queries_[i]); query < all && left > 0; ++query, --left) {
        chosen_queries_[i].insert(query);
        RETURN_IF_ERROR(pacer_.Check());
        RETURN_IF_ERROR(MeasureQuery(schedule_.queries[i], static_cast<size_t>(query)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status MeasureQuery(const SingleQueries& queries, size_t index) {
    const QueryGroup single = SingleGroup(input_.domain, queries, index);
    ASSIGN_OR_RETURN(const auto counts, kernel_.NoisyCounts(std::span(&single, 1), schedule_.marginal_noise));
    ASSIGN_OR_RETURN(PolynomialAnswer answer, PolynomialOf(input_.domain, layout_, queries, index));
    const auto records = static_cast<double>(records_);
    const double deviation = DeviationForFit(schedule_.marginal_noise);
    answer.answer = static_cast<float>(static_cast<double>(counts[0][0]) / records);
    answer.weight = static_cast<float>(records / deviation * (records / deviation));
    transcript_.push_back(absl::StrCat("a query over ", NamesOf(input_.domain, single.attributes), ": ",
                                       counts[0][0], ", within about ", std::llround(2 * deviation)));
    problem_.polynomials.push_back(std::move(answer));
    answers_ += 1;
    return absl::OkStatus();
  }

  AlignedFloats AnsweringShares(const RelaxedRows& rows) const {
    return Relaid(layout_, SharesOf(rows, schedule_.settings.relaxation, loops_), answering_);
  }

  // In records.
  absl::StatusOr<std::vector<double>> EstimateOf(const AttributeSet& set, const AlignedFloats& shares) {
    ASSIGN_OR_RETURN(const std::vector<size_t> positions, answering_.PositionsOf(set));
    const MarginalIndex index(answering_, positions);
    RETURN_IF_ERROR(pacer_.InPieces(index.cells() * answering_.blocks(), [](size_t, size_t) {}));
    const FlushToZero flush;
    AlignedFloats work = MarginalWork(answering_, index.inner_size());
    std::vector<double> cells = SumsOver(answering_, shares, index, RowMask(answering_), work, loops_);
    const double scale = static_cast<double>(records_) / static_cast<double>(layout_.rows());
    for (double& cell : cells) cell *= scale;
    return cells;
  }

  // Each step fits the answers, and then their noise, more closely. Where there is no work for a shadow that
  // shows how closely, how many are worth it in a round follows from the signal-to-noise ratio of the
  // records, and from over how many cells they spread. Found by experiment. A function of the noisy number of
  // records, and the same on every machine but for one in some hundred million cases: libraries may find
  // deviations that differ in the last bits of a double, which are gone in a float unless they lie where it
  // rounds; what follows are square roots, products and quotients, which round alike everywhere.
  int64_t StepsWorthTaking() const {
    const auto deviation = static_cast<float>(DeviationForFit(schedule_.marginal_noise));
    const double signal = static_cast<double>(records_) / static_cast<double>(deviation);
    const double root = std::sqrt(signal);
    double steps = 2.2 * std::min(root * std::sqrt(root), 1e6);
    if (schedule_.queries.empty()) {
      constexpr double kFewCells = 7000;
      steps = std::max(kLeastWorthSteps, steps / std::sqrt(std::max(1.0, MeanCells() / kFewCells)));
      // A round need not fit what the one before has; and Adam restarts with steps that follow noise.
      const auto rounds = static_cast<double>(schedule_.settings.rounds);
      if (rounds > 1) steps *= 0.75 / rounds;
    }
    return std::max(kLeastStepsOfARound, static_cast<int64_t>(steps));
  }

  // Of a marginal of the workload.
  double MeanCells() const {
    double cells = 0;
    for (const AttributeSet& set : schedule_.sets)
      cells += static_cast<double>(input_.domain.CellCount(set).value_or(0));
    return cells / static_cast<double>(schedule_.sets.size());
  }

  int64_t WorkOfAStep() const {
    constexpr int64_t kWorkOfAParameter = 20;
    return schedule_.settings.rows *
           (ProductsOf(problem_) + kWorkOfAParameter * static_cast<int64_t>(layout_.columns()));
  }

  // What is left of the work, spread evenly over this round and those to come.
  int64_t AffordableSteps(int64_t round) const {
    const int64_t rounds = schedule_.settings.rounds;
    return std::max({kLeastSteps / rounds, kLeastStepsOfARound,
                     work_left_ / (rounds - round) / std::max<int64_t>(1, WorkOfAStep())});
  }

  // The fewest steps that are worth taking: a round need not fit what the one before has.
  int64_t LeastSteps() const {
    const auto rounds = static_cast<double>(schedule_.settings.rounds);
    return std::max(kLeastStepsOfARound,
                    static_cast<int64_t>(kLeastWorthSteps * (rounds > 1 ? 0.75 / rounds : 1)));
  }

  // Of steps that the request leaves open. Where a shadow would leave work for fewer steps than are worth
  // taking without one, they are taken without one.
  void LimitSteps(int64_t round, ProjectionRule& rule) const {
    if (AreShadowed(schedule_) && AffordableSteps(round) / 2 >= std::max(LeastSteps(), StepsWorthTaking())) {
      rule.most_steps = std::min(rule.most_steps, AffordableSteps(round) / 2);
      rule.least_gain = kLeastGain;
      rule.least_steps = LeastSteps();
      rule.last_rate = 1;  // it may end at any time
      return;
    }
    const int64_t worth = std::min(rule.most_steps, StepsWorthTaking());
    rule.most_steps = std::min(worth, AffordableSteps(round));
    // When the work limit allows fewer, longer steps come nearly as far.
    if (!input_.settings.contains("rate"))
      rule.rate *= std::min(2.0F, static_cast<float>(worth) / static_cast<float>(rule.most_steps));
  }

  absl::StatusOr<RelaxedRows> Fitted(RelaxedRows rows, int64_t round, Milestones& milestones) {
    const RapSettings& settings = schedule_.settings;
    const bool last = round + 1 == settings.rounds;
    ProjectionRule rule;
    rule.relaxation = settings.relaxation;
    rule.most_steps = MostStepsOf(settings, round);
    rule.rate = static_cast<float>(settings.rate);
    rule.last_rate = last ? 0.05F : 0.3F;
    if (settings.work < INT64_MAX) LimitSteps(round, rule);
    rule.enough = settings.fit * answers_;
    rule.tolerance = 1e-4;
    rule.patience = 50;
    // Rows without one-way marginals have dropped most values, and must be able to regain them.
    const bool blank = settings.relaxation == Relaxation::kSparseMax && !schedule_.one_way_noise;
    rule.gradient_mode = blank ? GradientMode::kByShares : GradientMode::kByParameters;
    rule.bound = settings.relaxation == Relaxation::kSparseMax && !blank ? 1 : 60;
    ASSIGN_OR_RETURN(Projected projected, projector_.Project(problem_, std::move(rows), rule, pacer_,
                                                             [&](double share) { milestones.Reach(share); }));
    transcript_.push_back(absl::StrCat("fitted in ", projected.steps, " steps: from ",
                                       projected.first_loss / answers_, " to ",
                                       projected.last_loss / answers_, " squared deviations an answer"));
    work_left_ -= projected.steps * WorkOfAStep() * (rule.least_gain > 0 ? 2 : 1);
    return std::move(projected.rows);
  }

  static constexpr int64_t kLeastSteps = 20;
  static constexpr double kLeastWorthSteps = 40;
  // The loss in squares is least a little after that in absolute values, which matters more.
  static constexpr double kLeastGain = 0.12;

  const SynthesisInput& input_;
  const RapSchedule schedule_;
  const RelaxedLayout layout_;
  const RelaxedLayout answering_;
  const Projector& projector_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  const Progress& progress_;
  const ProjectionLoops& loops_ = *AvailableProjectionLoops().front();
  std::vector<AttributeSet> left_;
  std::vector<std::set<int64_t>> chosen_queries_;  // of each group
  int64_t records_ = 1;
  std::vector<std::vector<double>> one_ways_;
  ProjectionProblem problem_;
  double answers_ = 0;  // that the problem holds; a step computes one product or more for each
  int64_t work_left_ = 0;
  std::vector<std::string> transcript_;
};

}  // namespace

Rap::Rap()
    : Rap([](Executor& executor) -> std::unique_ptr<const Projector> {
        return std::make_unique<CpuProjector>(executor);
      }) {}

Rap::Rap(MakeProjector make_projector) : make_projector_(std::move(make_projector)) {}

std::string_view Rap::summary() const {
  return "Relaxed adaptive projection: a few hundred relaxed rows, fitted to noisy marginals by gradient "
         "descent; for many attributes and large workloads.";
}

const std::vector<Setting>& Rap::settings() const {
  return RapSettingsTable();
}

absl::StatusOr<SynthesisPlan> Rap::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  ASSIGN_OR_RETURN(RapSchedule schedule, MakeRapSchedule(input));
  RETURN_IF_ERROR(pacer.Check());
  ASSIGN_OR_RETURN(Event event, EventToCharge(input, schedule.draws));
  std::vector<std::string> lines = DescribeSchedule(input.domain, schedule);
  std::vector<std::vector<QueryGroup>> drawn_from = {input.workload, WholeMarginals(schedule.sets)};
  if (schedule.one_way_noise) {
    std::vector<AttributeSet> attributes;
    for (const uint32_t attribute : schedule.attributes) attributes.push_back({attribute});
    drawn_from.push_back(WholeMarginals(attributes));
  }
  return SynthesisPlan{
      .draws = std::move(schedule.draws),
      .event = std::move(event),
      .settings = std::move(schedule.used_settings),
      .schedule = std::move(lines),
      .constraints = DescribeConstraints(input.domain, schedule.attributes, {}),
      .model_cells = schedule.settings.rows * OneHotColumns(input.domain, schedule.attributes),
      .memory = schedule.memory,
      .cpu_seconds = schedule.cpu_seconds,
      .linear = std::move(schedule.linear),
      .drawn_from = std::move(drawn_from)};
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Rap::Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                         Pacer& pacer, const Progress& progress) const {
  ASSIGN_OR_RETURN(RapSchedule schedule, MakeRapSchedule(input));
  ASSIGN_OR_RETURN(RelaxedLayout layout, LayoutFor(input.domain, schedule));
  ASSIGN_OR_RETURN(RelaxedLayout answering, AnsweringLayoutFor(input.domain, schedule));
  const std::unique_ptr<const Projector> projector = make_projector_(kernel.executor());
  return RapRun(input, std::move(schedule), std::move(layout), std::move(answering), *projector, kernel,
                pacer, progress)
      .Finish();
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Rap::RestoreWith(const Domain& domain, std::string_view bytes,
                                                                 Pacer& pacer) const {
  RETURN_IF_ERROR(pacer.Check());
  return RelaxedModel::Restore(domain, bytes);
}

absl::StatusOr<int64_t> Rap::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return RelaxedModel::ReadingBytes(domain, bytes);
}

}  // namespace curator::dp
