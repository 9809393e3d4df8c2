// Forecasts of statistics: what each will be off by, in the unit in which that is known before a record is
// read.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cli/output/document.h"
#include "curator/v1/query.pb.h"

namespace curator::cli {

using StatisticForecast = v1::EstimateWorkloadResponse::StatisticForecast;
using StatisticForecasts = google::protobuf::RepeatedPtrField<StatisticForecast>;

// "records", "value", "value x records", "squared value x records", "rank".
std::string NameOf(StatisticForecast::Unit unit);

// An error of the forecast in the statistic's own unit. Those that are divided by the number of values in the
// group are known with `assumed_rows` records, taken as equally many in each group; none without.
std::optional<double> OwnError(const StatisticForecast& forecast, double error,
                               std::optional<int64_t> assumed_rows);

// The same as a cell of a table.
Value ErrorAtRows(const StatisticForecast& forecast, double error, std::optional<int64_t> assumed_rows);

// "12.5 records", "2,400"; "4,200,000 / records in the group" where the number of records is not known; "15
// records in rank".
std::string ErrorText(const StatisticForecast& forecast, double error, std::optional<int64_t> assumed_rows);

// A row for each statistic: its errors as they come, with their unit; with `assumed_rows` also in its own
// unit. The intervals' level is `level`.
Table StatisticForecastTable(const StatisticForecasts& forecasts, std::optional<int64_t> assumed_rows,
                             double level);

// Adds columns to a table that has a row for each of `choices`, in their order: of each statistic the half
// width at that budget. Tables show the first few statistics.
void AddStatisticColumns(
    const google::protobuf::RepeatedPtrField<v1::EstimateWorkloadResponse::Choice>& choices,
    std::optional<int64_t> assumed_rows, Table& table);

// Beneath tables with these forecasts: why an error is divided by a number of records; empty where none is.
std::string StatisticForecastNote(const StatisticForecasts& forecasts, std::optional<int64_t> assumed_rows);

}  // namespace curator::cli
