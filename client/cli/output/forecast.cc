#include "client/cli/output/forecast.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/output/statistics_forecast.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

// The parameter of the noise: the scale of Laplace, sigma^2 of Gaussian. None of residuals, each of which has
// its own, and of parities, which are weighted.
Value DescribeParameter(const v1::Noise& noise) {
  if (!noise.scale().empty()) return "scale " + FormatFraction(noise.scale());
  if (noise.sigma_squared().empty()) return std::monostate();
  return "sigma^2 " + FormatFraction(noise.sigma_squared());
}

// "rho 0.1", "epsilon 1, delta 1e-9"; nothing where nothing is spent.
Value FormatSpend(const v1::Spend& spend) {
  if (!spend.rho().empty()) return "rho " + spend.rho();
  if (spend.epsilon().empty()) return std::monostate();
  return "epsilon " + spend.epsilon() + (spend.delta().empty() ? "" : ", delta " + spend.delta());
}

double LevelOf(const v1::EstimateWorkloadResponse& estimate) {
  if (!estimate.marginals().empty()) return estimate.marginals(0).noise().confidence_level();
  if (!estimate.query_sets().empty()) return estimate.query_sets(0).noise().confidence_level();
  return 0;
}

std::string WithinTitle(double level) {
  return absl::StrCat(FormatConfidence(level), " within +-");
}

// Columns, or cells of a row, one after the other.
template <typename Item>
std::vector<Item> Together(std::vector<Item> first, const std::vector<Item>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

const std::vector<Column> kNoiseColumns = {{"mechanism", "noise"},
                                           {"noise", "parameter", Align::kLeft, ShownIn::kTables},
                                           {"scale", "scale", Align::kRight, ShownIn::kJsonAndCsv},
                                           {"sigma_squared", "sigma^2", Align::kRight, ShownIn::kJsonAndCsv}};

Row NoiseCells(const v1::Noise& noise) {
  return {NameOf(noise.mechanism()), DescribeParameter(noise), TextOrNone(noise.scale()),
          TextOrNone(noise.sigma_squared())};
}

// The columns that follow the noise in both tables; errors as shares of the rows where those are assumed.
std::vector<Column> ErrorColumns(const Column& error, const std::string& within, const char* share,
                                 std::optional<int64_t> assumed_rows) {
  std::vector<Column> columns = {{"standard_deviation", "std dev", Align::kRight},
                                 error,
                                 {"confidence_half_width", within, Align::kRight},
                                 {"confidence_level", "level", Align::kRight, ShownIn::kJsonAndCsv}};
  if (assumed_rows) columns.push_back({"share_of_rows", share, Align::kRight});
  return columns;
}

Row ErrorCells(double deviation, double error, double half_width, double level, double shared,
               std::optional<int64_t> assumed_rows) {
  Row cells = {deviation, error, half_width, level};
  if (assumed_rows) cells.emplace_back(shared / static_cast<double>(*assumed_rows));
  return cells;
}

Table MarginalTable(const v1::EstimateWorkloadResponse& estimate, std::optional<int64_t> assumed_rows) {
  Table table{"marginals",
              "",
              {{"attributes", "marginal"},
               {"cells", "cells", Align::kRight},
               {"query_set", "query set", Align::kRight, ShownIn::kJsonAndCsv}},
              {}};
  table.columns = Together(Together(table.columns, kNoiseColumns),
                           ErrorColumns({"expected_absolute_error", "mean |error|", Align::kRight},
                                        WithinTitle(LevelOf(estimate)), "|error| / rows", assumed_rows));
  for (const auto& marginal : estimate.marginals()) {
    const v1::Noise& noise = marginal.noise();
    const Row what = {ListOf(marginal.attributes()), marginal.cells(), int64_t{marginal.query_set()}};
    table.rows.push_back(Together(
        Together(what, NoiseCells(noise)),
        ErrorCells(noise.standard_deviation(), noise.expected_absolute_error(), noise.confidence_half_width(),
                   noise.confidence_level(), noise.expected_absolute_error(), assumed_rows)));
  }
  return table;
}

// How far the objective may be above the least that residuals reach, as a share of it; none of other
// strategies.
Value GapOf(const v1::EstimateWorkloadResponse::QuerySetForecast& set) {
  return set.strategy() == v1::STRATEGY_RESIDUAL ? Value(set.gap()) : Value();
}

Value RmseOf(const v1::EstimateWorkloadRequest& asked) {
  return asked.target().has_rmse() ? Value(asked.target().rmse()) : Value();
}

std::string WordsOf(const v1::Marginals& marginals) {
  if (marginals.has_all_k_way()) return absl::StrCat(marginals.all_k_way().k(), "-way marginals");
  if (marginals.sets_size() != 1) return absl::StrCat(marginals.sets_size(), " marginals");
  return "marginal " + absl::StrJoin(marginals.sets(0).names(), ",");
}

// "2-way marginals", "ranges of age,zone"; none where the request is not known.
Value WordsOf(const v1::Workload& asked, int place) {
  if (place >= asked.query_sets_size()) return std::monostate();
  const v1::QuerySet& set = asked.query_sets(place);
  switch (set.queries_case()) {
    case v1::QuerySet::kMarginals:
      return WordsOf(set.marginals());
    case v1::QuerySet::kRanges:
      return "ranges of " + absl::StrJoin(set.ranges().attributes(), ",");
    case v1::QuerySet::kPrefixes:
      return "prefixes of " + set.prefixes().attribute();
    case v1::QuerySet::kThresholds:
      return "thresholds";
    case v1::QuerySet::kParities:
      return "parities";
    case v1::QuerySet::kPredicates:
      return "conditions";
    default:
      return std::monostate();
  }
}

Table QuerySetTable(const v1::EstimateWorkloadResponse& estimate, const v1::Workload& asked,
                    std::optional<int64_t> assumed_rows) {
  Table table{"query_sets",
              "",
              {{"query_set", "query set", Align::kRight},
               {"query", "queries"},
               {"answers", "answers", Align::kRight},
               {"strategy", "strategy"},
               {"words", "measured as"},
               {"measurements", "measurements", Align::kRight, ShownIn::kJsonAndCsv}},
              {}};
  table.columns =
      Together(Together(table.columns, kNoiseColumns),
               ErrorColumns({"largest_standard_deviation", "worst std dev", Align::kRight},
                            "worst " + WithinTitle(LevelOf(estimate)), "std dev / rows", assumed_rows));
  table.columns.push_back({"gap", "gap", Align::kRight, ShownIn::kJsonAndCsv});
  for (const auto& set : estimate.query_sets()) {
    const Row what = {int64_t{set.query_set()}, WordsOf(asked, set.query_set()), set.answers(),
                      NameOf(set.strategy()),   TextOrNone(set.words()),         set.measurements()};
    table.rows.push_back(Together(
        Together(what, NoiseCells(set.noise())),
        ErrorCells(set.standard_deviation(), set.largest_standard_deviation(), set.confidence_half_width(),
                   set.noise().confidence_level(), set.standard_deviation(), assumed_rows)));
    table.rows.back().push_back(GapOf(set));
  }
  return table;
}

// "rho 0.1": what the first account, that of the dataset, would be charged, counter by counter.
Value FormatCost(const google::protobuf::RepeatedPtrField<v1::Cost>& costs) {
  std::string text;
  for (const v1::Cost& cost : costs) {
    if (cost.account() != costs[0].account()) break;
    absl::StrAppend(&text, text.empty() ? "" : ", ", cost.counter(), " ", cost.amount());
  }
  return TextOrNone(text);
}

Table ChoiceTable(const v1::EstimateWorkloadResponse& estimate, std::optional<int64_t> assumed_rows) {
  const auto& first = estimate.choices(0);
  const ShownIn of_counts =
      !first.statistics().empty() && first.max_error() == 0 ? ShownIn::kJsonAndCsv : ShownIn::kAllForms;
  Table table{"choices",
              "other budgets",
              {{"spend", "spend"},
               {"epsilon", "epsilon", Align::kRight, ShownIn::kJsonAndCsv},
               {"delta", "delta", Align::kRight, ShownIn::kJsonAndCsv},
               {"rho", "rho", Align::kRight, ShownIn::kJsonAndCsv},
               {"cost", "costs"},
               {"standard_deviation", "std dev", Align::kRight, of_counts},
               {"max_error", "all within +-", Align::kRight, of_counts},
               {"fits", "fits"}},
              {}};
  for (const auto& choice : estimate.choices()) {
    const v1::Spend& spend = choice.spend();
    table.rows.push_back({FormatSpend(spend), TextOrNone(spend.epsilon()), TextOrNone(spend.delta()),
                          TextOrNone(spend.rho()), FormatCost(choice.costs()), choice.standard_deviation(),
                          choice.max_error(), choice.fits()});
  }
  AddStatisticColumns(estimate.choices(), assumed_rows, table);
  return table;
}

// The largest of all accounts.
double ShareOfPromise(const v1::EstimateWorkloadResponse::Choice& choice) {
  double share = 0;
  for (const v1::Cost& cost : choice.costs()) share = std::max(share, cost.share_of_promise());
  return share;
}

using Member = std::pair<const char*, Value>;

// Rows of a table with many columns, of which each names those that it has.
class Records {
 public:
  explicit Records(Table table) : table_(std::move(table)) {}

  void Add(const std::vector<Member>& members) {
    Row& row = table_.rows.emplace_back(table_.columns.size());
    for (const auto& [key, value] : members) {
      for (size_t i = 0; i < table_.columns.size(); ++i)
        if (table_.columns[i].key == key) row[i] = value;
    }
  }

  Table Taken() && { return std::move(table_); }

 private:
  Table table_;
};

std::vector<Member> MembersOf(const v1::Noise& noise) {
  return {{"mechanism", NameOf(noise.mechanism())},
          {"scale", TextOrNone(noise.scale())},
          {"sigma_squared", TextOrNone(noise.sigma_squared())},
          {"confidence_level", noise.confidence_level()}};
}

std::vector<Member> MembersOf(const v1::Spend& spend) {
  return {{"epsilon", TextOrNone(spend.epsilon())},
          {"delta", TextOrNone(spend.delta())},
          {"rho", TextOrNone(spend.rho())}};
}

Value ShareOf(double error, std::optional<int64_t> rows) {
  if (!rows) return std::monostate();
  return error / static_cast<double>(*rows);
}

void AddForecasts(const v1::EstimateWorkloadResponse& estimate, const v1::Workload& asked,
                  std::optional<int64_t> assumed_rows, Records& records) {
  for (const auto& marginal : estimate.marginals()) {
    const v1::Noise& noise = marginal.noise();
    records.Add(Together<Member>(
        MembersOf(noise), {{"record", "marginal"},
                           {"query_set", int64_t{marginal.query_set()}},
                           {"attributes", ListOf(marginal.attributes())},
                           {"cells", marginal.cells()},
                           {"standard_deviation", noise.standard_deviation()},
                           {"expected_absolute_error", noise.expected_absolute_error()},
                           {"confidence_half_width", noise.confidence_half_width()},
                           {"share_of_rows", ShareOf(noise.expected_absolute_error(), assumed_rows)}}));
  }
  for (const auto& set : estimate.query_sets()) {
    records.Add(Together<Member>(MembersOf(set.noise()),
                                 {{"record", "query_set"},
                                  {"query_set", int64_t{set.query_set()}},
                                  {"query", WordsOf(asked, set.query_set())},
                                  {"cells", set.answers()},
                                  {"strategy", NameOf(set.strategy())},
                                  {"measured_as", TextOrNone(set.words())},
                                  {"measurements", set.measurements()},
                                  {"standard_deviation", set.standard_deviation()},
                                  {"largest_standard_deviation", set.largest_standard_deviation()},
                                  {"confidence_half_width", set.confidence_half_width()},
                                  {"share_of_rows", ShareOf(set.standard_deviation(), assumed_rows)},
                                  {"gap", GapOf(set)}}));
  }
}

// An error in records; none of statistics, which have no error in records that all of them have.
Value ErrorOrNone(double error, bool of_statistics) {
  return of_statistics && error == 0 ? Value() : Value(error);
}

// What each statistic is off by, in records of the forecast and in those of its choices.
std::vector<Member> MembersOf(const StatisticForecast& forecast, std::optional<int64_t> assumed_rows,
                              double level) {
  const double half_width = forecast.confidence_half_width();
  return {{"query_set", int64_t{forecast.query_set()}},
          {"attributes", forecast.statistic()},
          {"cells", forecast.groups()},
          {"confidence_half_width", half_width},
          {"confidence_level", level},
          {"unit", NameOf(forecast.unit())},
          {"half_width_at_rows", assumed_rows ? ErrorAtRows(forecast, half_width, assumed_rows) : Value()}};
}

void AddStatisticRecords(const v1::EstimateWorkloadResponse& estimate, std::optional<int64_t> assumed_rows,
                         double level, Records& records) {
  for (const StatisticForecast& forecast : estimate.statistics()) {
    records.Add(Together<Member>(MembersOf(forecast, assumed_rows, level),
                                 {{"record", "statistic"},
                                  {"measured_as", TextOrNone(forecast.words())},
                                  {"standard_deviation", forecast.standard_deviation()}}));
  }
}

// A choice, and the statistics at its price.
void AddChoiceRecords(const v1::EstimateWorkloadResponse::Choice& choice, bool has_statistics,
                      std::optional<int64_t> assumed_rows, double level, Records& records) {
  const std::vector<Member> spend = MembersOf(choice.spend());
  records.Add(Together<Member>(
      spend, {{"record", "choice"},
              {"amount", FormatCost(choice.costs())},
              {"standard_deviation", ErrorOrNone(choice.standard_deviation(), has_statistics)},
              {"max_error", ErrorOrNone(choice.max_error(), has_statistics)},
              {"share_of_promise", ShareOfPromise(choice)},
              {"fits", choice.fits()}}));
  for (const StatisticForecast& forecast : choice.statistics()) {
    records.Add(Together<Member>(Together<Member>(spend, MembersOf(forecast, assumed_rows, level)),
                                 {{"record", "choice_statistic"}}));
  }
}

void AddStatisticNote(const StatisticForecasts& forecasts, std::optional<int64_t> assumed_rows,
                      Document& document) {
  if (std::string note = StatisticForecastNote(forecasts, assumed_rows); !note.empty())
    document.notes.push_back(std::move(note));
}

// One plan measures all sets by residuals.
void AddGapNote(const v1::EstimateWorkloadResponse& estimate, Document& document) {
  if (estimate.query_sets().empty() || estimate.query_sets(0).strategy() != v1::STRATEGY_RESIDUAL) return;
  constexpr double kRounding = 1e-8;
  const double gap = estimate.query_sets(0).gap();
  document.notes.push_back(absl::StrCat("residual: the variance that was made least is ",
                                        gap > kRounding ? "within " + PercentUpText(gap) + " of " : "",
                                        "the least that these residuals can reach"));
}

// The ladder with a row for each share and statistic.
Table LadderRecords(const v1::EstimateWorkloadResponse& estimate, std::optional<int64_t> assumed_rows,
                    double level) {
  Table table{"statistics", "", {}, {}};
  for (const char* key :
       {"share_of_left", "epsilon", "delta", "rho", "cost", "share_of_promise", "query_set", "statistic",
        "groups", "max_error", "confidence_half_width", "confidence_level", "unit", "half_width_at_rows"})
    table.columns.push_back({key, key});
  table.shown_in = ShownIn::kJsonAndCsv;
  Records records(std::move(table));
  for (const auto& choice : estimate.choices()) {
    const std::vector<Member> price =
        Together<Member>(MembersOf(choice.spend()), {{"share_of_left", choice.share_of_left()},
                                                     {"cost", FormatCost(choice.costs())},
                                                     {"share_of_promise", ShareOfPromise(choice)},
                                                     {"confidence_level", level}});
    // Counts that are asked with the statistics have one error for all.
    if (choice.max_error() > 0) records.Add(Together<Member>(price, {{"max_error", choice.max_error()}}));
    for (const StatisticForecast& forecast : choice.statistics()) {
      records.Add(Together<Member>(Together<Member>(price, MembersOf(forecast, assumed_rows, level)),
                                   {{"statistic", forecast.statistic()}, {"groups", forecast.groups()}}));
    }
  }
  return std::move(records).Taken();
}

// What the number of values that noise is added to is called.
std::string MeasuredWords(const v1::EstimateWorkloadResponse& estimate) {
  const bool are_cells = std::ranges::none_of(estimate.query_sets(), [](const auto& set) {
    return set.strategy() == v1::STRATEGY_RESIDUAL || set.strategy() == v1::STRATEGY_PARITY;
  });
  return estimate.statistics().empty() && are_cells ? "cells" : "numbers measured";
}

}  // namespace

Document ForecastDocument(const std::string& dataset, const v1::EstimateWorkloadResponse& estimate,
                          std::optional<int64_t> assumed_rows, double level,
                          const v1::EstimateWorkloadRequest& asked) {
  // Of statistics there is no error in records that all of them have.
  const bool has_statistics = !estimate.statistics().empty();
  const ShownIn of_counts =
      has_statistics && estimate.max_error() == 0 ? ShownIn::kJsonAndCsv : ShownIn::kAllForms;
  Document document;
  document.fields = {
      {"dataset", "dataset", dataset},
      {"marginal_count", "marginals", int64_t{estimate.marginals_size()},
       estimate.marginals().empty() ? ShownIn::kJsonAndCsv : ShownIn::kAllForms},
      {"marginals_left_out", "left out for their size", estimate.marginals_left_out(),
       estimate.marginals_left_out() == 0 ? ShownIn::kJsonAndCsv : ShownIn::kAllForms},
      {"total_cells", MeasuredWords(estimate), estimate.total_cells()},
      {"event", "would be recorded as", estimate.event(), ShownIn::kJsonAndCsv},
      {"event", "would be recorded as", FormatEvent(estimate.event()), ShownIn::kTables},
      {"target_rmse", "to reach a root mean squared error of", RmseOf(asked),
       asked.target().has_rmse() ? ShownIn::kAllForms : ShownIn::kJsonAndCsv},
      {"spend", "would spend", FormatSpend(estimate.spend())},
      {"max_error", "all errors within +-", ErrorOrNone(estimate.max_error(), has_statistics), of_counts},
      {"fits", "fits the budget", estimate.fits()},
      RefusalField(estimate.refused_by_rule()),
      {"free_from", "free with --prefer-free, from", ListOf(estimate.free_from()),
       estimate.free_from().empty() ? ShownIn::kJsonAndCsv : ShownIn::kAllForms}};
  if (!estimate.marginals().empty()) document.tables.push_back(MarginalTable(estimate, assumed_rows));
  if (!estimate.query_sets().empty())
    document.tables.push_back(QuerySetTable(estimate, asked.workload(), assumed_rows));
  if (has_statistics)
    document.tables.push_back(StatisticForecastTable(estimate.statistics(), assumed_rows, level));
  document.tables.push_back(CostTable(estimate.costs()));
  if (!estimate.choices().empty()) document.tables.push_back(ChoiceTable(estimate, assumed_rows));
  AddDataFacts(estimate.domain_from_records(), estimate.rows_from_query(), document);
  AddStatisticNote(estimate.statistics(), assumed_rows, document);
  AddGapNote(estimate, document);
  document.notes.emplace_back("errors of counts are in records; nothing was charged, no record was read");
  return document;
}

Document LadderDocument(const std::string& dataset, const v1::EstimateWorkloadResponse& estimate,
                        std::optional<int64_t> assumed_rows, double level) {
  Table table{"budgets",
              "",
              {{"share_of_left_text", "of what is left", Align::kRight, ShownIn::kTables},
               {"share_of_left", "of what is left", Align::kRight, ShownIn::kJsonAndCsv},
               {"spend", "spend", Align::kLeft, ShownIn::kTables},
               {"epsilon", "epsilon", Align::kRight, ShownIn::kJsonAndCsv},
               {"rho", "rho", Align::kRight, ShownIn::kJsonAndCsv},
               {"cost", "costs"},
               {"share_of_promise_text", "of the promise", Align::kRight, ShownIn::kTables},
               {"share_of_promise", "of the promise", Align::kRight, ShownIn::kJsonAndCsv}},
              {}};
  const bool has_statistics = !estimate.choices().empty() && !estimate.choices(0).statistics().empty();
  const bool has_counts = !has_statistics || estimate.choices(0).max_error() > 0;
  if (has_counts) table.columns.push_back({"max_error", "all errors within +-", Align::kRight});
  if (has_counts && assumed_rows) table.columns.push_back({"share_of_rows", "|error| / rows", Align::kRight});
  for (const auto& choice : estimate.choices()) {
    const double share = ShareOfPromise(choice);
    Row& row = table.rows.emplace_back(
        Row{absl::StrCat(std::round(choice.share_of_left() * 100), "%"), choice.share_of_left(),
            FormatSpend(choice.spend()), TextOrNone(choice.spend().epsilon()),
            TextOrNone(choice.spend().rho()), FormatCost(choice.costs()), PercentUpText(share), share});
    if (has_counts) row.push_back(choice.max_error());
    if (has_counts && assumed_rows) row.push_back(ShareOf(choice.max_error(), assumed_rows));
  }
  AddStatisticColumns(estimate.choices(), assumed_rows, table);
  Document document;
  document.fields = {{"dataset", "dataset", dataset},
                     {"marginals_left_out", "left out for their size", estimate.marginals_left_out(),
                      estimate.marginals_left_out() == 0 ? ShownIn::kJsonAndCsv : ShownIn::kAllForms},
                     {"total_cells", MeasuredWords(estimate), estimate.total_cells()},
                     {"confidence_level", "confidence", level, ShownIn::kJsonAndCsv},
                     RefusalField(estimate.refused_by_rule()),
                     {"free_from", "free with --prefer-free, from", ListOf(estimate.free_from()),
                      estimate.free_from().empty() ? ShownIn::kJsonAndCsv : ShownIn::kAllForms}};
  document.tables.push_back(std::move(table));
  if (has_statistics) document.tables.push_back(LadderRecords(estimate, assumed_rows, level));
  AddDataFacts(estimate.domain_from_records(), estimate.rows_from_query(), document);
  if (has_statistics) AddStatisticNote(estimate.choices(0).statistics(), assumed_rows, document);
  document.notes.push_back(
      absl::StrCat("errors of counts are in records, with a confidence of ", FormatConfidence(level),
                   "; nothing was charged, no record was read. One budget in detail: ",
                   has_statistics ? "--epsilon or --rho" : "--epsilon, --rho or --max-error"));
  return document;
}

Table ForecastRecords(const v1::EstimateWorkloadResponse& estimate, std::optional<int64_t> assumed_rows,
                      double level, const v1::EstimateWorkloadRequest& asked) {
  Table table{"records", "", {}, {}};
  for (const char* key : {"record",
                          "query_set",
                          "attributes",
                          "cells",
                          "marginals_left_out",
                          "query",
                          "strategy",
                          "measured_as",
                          "measurements",
                          "mechanism",
                          "scale",
                          "sigma_squared",
                          "standard_deviation",
                          "largest_standard_deviation",
                          "expected_absolute_error",
                          "confidence_half_width",
                          "unit",
                          "half_width_at_rows",
                          "confidence_level",
                          "share_of_rows",
                          "gap",
                          "target_rmse",
                          "max_error",
                          "epsilon",
                          "delta",
                          "rho",
                          "account",
                          "rule",
                          "counter",
                          "amount",
                          "remaining",
                          "fits",
                          "event",
                          "free_from",
                          "refused_by_rule",
                          "share_of_promise"})
    table.columns.push_back({key, key});
  Records records(std::move(table));
  const bool has_statistics = !estimate.statistics().empty();
  records.Add(Together<Member>(MembersOf(estimate.spend()),
                               {{"record", "request"},
                                {"cells", estimate.total_cells()},
                                {"marginals_left_out", estimate.marginals_left_out()},
                                {"target_rmse", RmseOf(asked)},
                                {"max_error", ErrorOrNone(estimate.max_error(), has_statistics)},
                                {"fits", estimate.fits()},
                                {"event", estimate.event()},
                                {"free_from", ListOf(estimate.free_from())},
                                {"refused_by_rule", TextOrNone(estimate.refused_by_rule())}}));
  AddForecasts(estimate, asked.workload(), assumed_rows, records);
  AddStatisticRecords(estimate, assumed_rows, level, records);
  for (const v1::Cost& cost : estimate.costs()) {
    records.Add({{"record", "cost"},
                 {"account", cost.account()},
                 {"rule", NameOf(cost.rule())},
                 {"counter", cost.counter()},
                 {"amount", cost.amount()},
                 {"remaining", TextOrNone(cost.remaining())},
                 {"share_of_promise", cost.share_of_promise()}});
  }
  for (const auto& choice : estimate.choices())
    AddChoiceRecords(choice, has_statistics, assumed_rows, level, records);
  return std::move(records).Taken();
}

Document EstimateDocument(const std::string& dataset, const v1::EstimateWorkloadResponse& estimate,
                          bool has_price, std::optional<int64_t> assumed_rows, double level, OutputForm form,
                          const v1::EstimateWorkloadRequest& asked) {
  if (has_price && form == OutputForm::kCsv) {
    Document document;
    document.tables.push_back(ForecastRecords(estimate, assumed_rows, level, asked));
    return document;
  }
  if (has_price) return ForecastDocument(dataset, estimate, assumed_rows, level, asked);
  Document document = LadderDocument(dataset, estimate, assumed_rows, level);
  // CSV prints one table: of statistics that with a row for each, if there are any.
  if (form == OutputForm::kCsv) document.tables.erase(document.tables.begin(), document.tables.end() - 1);
  return document;
}

}  // namespace curator::cli
