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

// One line for each number: the marginal's attributes ("age,sex") or the class of the query set; a column for
// each attribute and each other label that occurs in the answer (empty where the table does not have it); the
// count; its standard deviation and interval if the errors are known; its post-processing if there was any.
// This and the next two: DATA_LOSS when the answer does not fit the schema.
absl::Status WriteAnswerCsv(const Answer& answer, const v1::Schema& schema, std::ostream& out);

// {"release_id", "charge_id", "request_id", "replayed", "event", "post_processing", "free_from",
// "could_be_free_from", "costs": [...], "marginals": [{"attributes", "sizes", "noise": {...}, "cells":
// [{"values": [...], "count", "standard_deviation", "lower", "upper"}]}], "query_sets": [{"query_set",
// "class", "columns", "strategy", "strategy_words", "measurement_count", "confidence_level", "noise",
// "answers": [as cells]}]}
absl::Status WriteAnswerJson(const Answer& answer, const v1::Schema& schema, std::ostream& out);

// The first tables and the first rows of each, with a line that reports how many more there are.
absl::Status WriteAnswerTables(const Answer& answer, const v1::Schema& schema, const Terminal& terminal,
                               std::ostream& out);

// The summary at the end of the output: release, charge, costs, request id, whether it is a replay.
Document SummaryOf(const Answer& answer);

}  // namespace curator::cli
