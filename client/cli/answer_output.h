// Answers in the three forms, with the bins of each attribute in words.
//
// Thread-safe: pure functions but for the streams, which belong to the caller.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "client/cli/document.h"
#include "client/cli/session.h"
#include "client/cli/value.h"
#include "client/client.h"

namespace curator::cli {

// One line for each cell of each marginal: the marginal's attributes ("age,sex"), a column for each attribute
// that occurs in the answer (empty where the marginal does not have it), the count, and the interval when
// there is noise to tell it from. Like the two below: DATA_LOSS when the answer does not fit the schema.
absl::Status WriteAnswerCsv(const Answer& answer, const v1::Schema& schema, std::ostream& out);

// {"release_id", "charge_id", "request_id", "replayed", "event", "costs": [...], "marginals": [{"attributes",
// "sizes", "noise": {...}, "cells": [{"values": [...], "count", "lower", "upper"}]}]}
absl::Status WriteAnswerJson(const Answer& answer, const v1::Schema& schema, std::ostream& out);

// The first marginals and the first cells of each, with a line that says how many more there are.
absl::Status WriteAnswerTables(const Answer& answer, const v1::Schema& schema, const Terminal& terminal,
                               std::ostream& out);

// Facts about the answer for the end of the output: release, charge, costs, request id, whether it is a
// replay.
Document SummaryOf(const Answer& answer);

// Writes the answer to `path` in the form that its extension says (else `session.form`, CSV for tables) and a
// summary to standard output; or, with an empty path, both to standard output in the session's form.
absl::Status DeliverAnswer(Session& session, const Answer& answer, const v1::Schema& schema,
                           const std::string& path);

}  // namespace curator::cli
