// Tables and documents that several commands print.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/output/document.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/query.pb.h"

namespace curator::cli {

// The texts as the value of a cell.
std::vector<std::string> ListOf(const google::protobuf::RepeatedPtrField<std::string>& texts);

// The text as the value of a cell, which is empty when the text is.
Value TextOrNone(const std::string& text);
// None for an operation that does not wait for a thread.
Value PositionOrNone(const v1::Operation& operation);

// A row for each counter of each account, with the epsilon that was used and the share that was spent; on a
// terminal with a bar.
Table AccountTable(const google::protobuf::RepeatedPtrField<v1::Account>& accounts, const Terminal& terminal);

// The cost of a request for each account, its shares of the promise and of what was left, and the amount that
// remains after it. Of a `replayed` answer the amount that remains now, and no share of what was left when it
// was charged, which is not known any more.
Table CostTable(const google::protobuf::RepeatedPtrField<v1::Cost>& costs, bool replayed = false);

// "cost: rho 0.001, 4.2% of the promise of dataset/census; 61% left": what an answer has cost each account,
// with the least that one has left; of one that was stored before, that it costs nothing now. Empty where
// nothing was ever charged.
std::string CostNote(const v1::AnswerHeader& header);

// Of an estimate: the rule of the owner that would refuse the request; in tables only where there is one.
Field RefusalField(const std::string& rule);

// What is said for ever about the records of a dataset: in tables only what is true, with a note that says
// what it means.
void AddDataFacts(bool domain_from_records, bool rows_from_query, Document& document);

// All facts about an operation, its state first.
Document OperationDocument(const v1::Operation& operation);

// OK when the operation is done; INTERNAL when it failed and UNAVAILABLE when it was interrupted, with a
// message that says what to do.
absl::Status StatusOf(const v1::Operation& operation);

// "95%" for 0.95.
std::string FormatConfidence(double level);

}  // namespace curator::cli
