// Output of answers as CSV, JSON and tables, with the labels of the attributes' bins.
//
// Thread-safe: pure functions but for the streams, which belong to the caller.
#pragma once

#include <ostream>

#include "absl/status/status.h"
#include "client/answer.h"
#include "client/cli/output/document.h"
#include "client/cli/output/terminal.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

// One line for each number, with the same columns for every method and class of queries; absent values are
// empty. First "query_set" (its index in the request), "query_class", "query" (what is counted, in words),
// "estimate", "standard_deviation", "low", "high", "confidence_level", "method" (AnswerRows::method()),
// "noise" (of each measurement) and "post_processing"; then a column for each attribute that is asked about,
// with the value that the line is for: "[20, 25)". An attribute named like another column is marked: "low
// (attribute)". Of statistics "query" is the name, "mean(income)"; an estimate that is no number is empty,
// and the ends of an unbounded interval are "-inf" and "inf".
// This and the next two: DATA_LOSS when the answer does not fit the schema.
absl::Status WriteAnswerCsv(const Answer& answer, const v1::Schema& schema, std::ostream& out);

// {"release_id", "charge_id", "request_id", "replayed", "event", "post_processing", "free_from",
// "could_be_free_from", "costs": [...], "marginals": [{"attributes", "sizes", "noise": {...}, "cells":
// [{"values": [...], "count", "standard_deviation", "lower", "upper"}]}], "query_sets": [{"query_set",
// "class", "columns", "strategy", "strategy_words", "measurement_count", "confidence_level", "noise",
// "answers": [as cells]}]}. Sets of statistics also have "clipped": [{"measure", "low", "high",
// "resolution"}], and their answers "value" in the place of "count": null for what is no number, as infinite
// ends are.
absl::Status WriteAnswerJson(const Answer& answer, const v1::Schema& schema, std::ostream& out);

// The first tables and the first rows of each, with a line that reports how many more there are. Statistics
// have a row for each group (statistics_table.h).
absl::Status WriteAnswerTables(const Answer& answer, const v1::Schema& schema, const Terminal& terminal,
                               std::ostream& out);

// The summary at the end of the output: release, charge, costs, request id, whether it is a replay.
Document SummaryOf(const Answer& answer);

}  // namespace curator::cli
