#include "client/cli/output/statistics_forecast.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/output/statistics_table.h"
#include "client/cli/output/tables.h"

namespace curator::cli {
namespace {

constexpr int kShownStatistics = 4;

bool IsDivided(const StatisticForecast& forecast) {
  return forecast.unit() == StatisticForecast::VALUE_TIMES_RECORDS ||
         forecast.unit() == StatisticForecast::SQUARED_VALUE_TIMES_RECORDS;
}

bool AreOfSeveralSets(const StatisticForecasts& forecasts) {
  return std::any_of(forecasts.begin(), forecasts.end(), [&forecasts](const StatisticForecast& forecast) {
    return forecast.query_set() != forecasts[0].query_set();
  });
}

// The forecast of the same statistic in another list of them; null where it is not there.
const StatisticForecast* Find(const StatisticForecasts& forecasts, const StatisticForecast& wanted) {
  for (const StatisticForecast& forecast : forecasts) {
    if (forecast.query_set() == wanted.query_set() && forecast.statistic() == wanted.statistic())
      return &forecast;
  }
  return nullptr;
}

}  // namespace

std::string NameOf(StatisticForecast::Unit unit) {
  switch (unit) {
    case StatisticForecast::RECORDS:
      return "records";
    case StatisticForecast::VALUE:
      return "value";
    case StatisticForecast::VALUE_TIMES_RECORDS:
      return "value x records";
    case StatisticForecast::SQUARED_VALUE_TIMES_RECORDS:
      return "squared value x records";
    case StatisticForecast::RANK:
      return "rank";
    default:
      return "unknown";
  }
}

std::optional<double> OwnError(const StatisticForecast& forecast, double error,
                               std::optional<int64_t> assumed_rows) {
  if (!IsDivided(forecast)) return error;
  if (!assumed_rows || forecast.groups() < 1) return std::nullopt;
  return error * static_cast<double>(forecast.groups()) / static_cast<double>(*assumed_rows);
}

Value ErrorAtRows(const StatisticForecast& forecast, double error, std::optional<int64_t> assumed_rows) {
  if (const std::optional<double> own = OwnError(forecast, error, assumed_rows)) return *own;
  return std::monostate();
}

std::string ErrorText(const StatisticForecast& forecast, double error, std::optional<int64_t> assumed_rows) {
  const std::optional<double> own = OwnError(forecast, error, assumed_rows);
  const std::string number = StatisticText(own.value_or(error));
  if (!own) return number + " / records in the group";
  if (forecast.unit() == StatisticForecast::RECORDS) return number + " records";
  if (forecast.unit() == StatisticForecast::RANK) return number + " records in rank";
  return number;
}

Table StatisticForecastTable(const StatisticForecasts& forecasts, std::optional<int64_t> assumed_rows,
                             double level) {
  const std::string within = FormatConfidence(level) + " within +-";
  Table table{"statistics",
              "",
              {{"query_set", "query set", Align::kRight,
                AreOfSeveralSets(forecasts) ? ShownIn::kAllForms : ShownIn::kJsonAndCsv},
               {"statistic", "statistic"},
               {"groups", "groups", Align::kRight},
               {"deviation_text", "std dev", Align::kRight, ShownIn::kTables},
               {"half_width_text", within, Align::kRight, ShownIn::kTables},
               {"words", "measured as"},
               {"standard_deviation", "std dev", Align::kRight, ShownIn::kJsonAndCsv},
               {"confidence_half_width", within, Align::kRight, ShownIn::kJsonAndCsv},
               {"confidence_level", "level", Align::kRight, ShownIn::kJsonAndCsv},
               {"unit", "unit", Align::kLeft, ShownIn::kJsonAndCsv}},
              {}};
  if (assumed_rows)
    table.columns.push_back({"half_width_at_rows", within, Align::kRight, ShownIn::kJsonAndCsv});
  for (const StatisticForecast& forecast : forecasts) {
    const double deviation = forecast.standard_deviation();
    const double half_width = forecast.confidence_half_width();
    Row& row = table.rows.emplace_back(
        Row{int64_t{forecast.query_set()}, forecast.statistic(), forecast.groups(),
            deviation > 0 ? Value(ErrorText(forecast, deviation, assumed_rows)) : Value(),
            ErrorText(forecast, half_width, assumed_rows), TextOrNone(forecast.words()), deviation,
            half_width, level, NameOf(forecast.unit())});
    if (assumed_rows) row.push_back(ErrorAtRows(forecast, half_width, assumed_rows));
  }
  return table;
}

void AddStatisticColumns(
    const google::protobuf::RepeatedPtrField<v1::EstimateWorkloadResponse::Choice>& choices,
    std::optional<int64_t> assumed_rows, Table& table) {
  if (choices.empty()) return;
  // Two sets may have the same statistic, and columns have a name each.
  const bool are_of_several = AreOfSeveralSets(choices[0].statistics());
  for (int i = 0; i < choices[0].statistics_size(); ++i) {
    const StatisticForecast& first = choices[0].statistics(i);
    const std::string name =
        are_of_several ? absl::StrCat("set ", first.query_set(), ": ", first.statistic()) : first.statistic();
    const bool is_shown = i < kShownStatistics;
    if (is_shown) table.columns.push_back({name, name + " within +-", Align::kRight, ShownIn::kTables});
    table.columns.push_back({name, name, Align::kRight, ShownIn::kJsonAndCsv});
    for (int choice = 0; choice < choices.size(); ++choice) {
      const StatisticForecast* forecast = Find(choices[choice].statistics(), first);
      Row& row = table.rows[static_cast<size_t>(choice)];
      if (is_shown)
        row.push_back(forecast == nullptr
                          ? Value()
                          : ErrorText(*forecast, forecast->confidence_half_width(), assumed_rows));
      row.push_back(forecast == nullptr ? Value() : Value(forecast->confidence_half_width()));
    }
  }
}

std::string StatisticForecastNote(const StatisticForecasts& forecasts, std::optional<int64_t> assumed_rows) {
  if (std::none_of(forecasts.begin(), forecasts.end(), IsDivided)) return "";
  if (assumed_rows)
    return absl::StrCat("errors of means and variances are those of groups of equal size, ", *assumed_rows,
                        " records in all");
  return "the error of a mean or a variance is so much divided by the number of records in the group: "
         "--assume-rows shows it for a number that you expect";
}

}  // namespace curator::cli
