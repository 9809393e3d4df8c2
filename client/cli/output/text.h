// Values as text for people and for CSV.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/cli/output/value.h"
#include "curator/v1/accountant.pb.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::cli {

// The shortest text that reads back as the same double: "0.1", "1e+20", "inf", "nan".
std::string ExactText(double number);

// Four significant digits, integers from a thousand up whole: "0.01235", "12.35", "48213".
std::string RoundedText(double number);

// Six significant digits that are not below (above) `number`, but for the rounding of doubles, relatively
// 1e-12: "0.993692". "infinity" for what is infinite.
std::string RoundedUpText(double number);
std::string RoundedDownText(double number);

// The text with control characters replaced, so that names from elsewhere cannot drive a terminal. UTF-8
// stays.
std::string Printable(std::string_view text);

// Columns that the text takes in a terminal: one for each code point.
size_t DisplayWidth(std::string_view text);

// The text, or as much of it as fits into `width` columns with `cut` at its end, which takes one.
std::string Shortened(std::string_view text, size_t width, std::string_view cut);

// A cell for people: "-" for none and for an empty list, "yes" and "no", rounded numbers, lists with ", ".
std::string TextOf(const Value& value);

// A CSV field, quoted where RFC 4180 asks for it: exact numbers, "true" and "false", lists with ",".
std::string CsvField(const Value& value);
std::string CsvText(std::string_view text);

// The wire's constants, times and hashes in the words of the command line.
//
// Thread-safe: pure functions.

std::string NameOf(v1::Rule rule);                     // "pure", "advanced", "zcdp"
std::string NameOf(v1::NeighbourRelation neighbours);  // "add-remove", "replace-one"
std::string NameOf(v1::DatasetState state);            // "created", "sealed", "archived"
std::string NameOf(v1::Mechanism mechanism);           // "laplace", "gaussian", "auto"
std::string NameOf(v1::Strategy strategy);             // "direct", "histogram", "tree", "auto"
std::string NameOf(v1::Charge::State state);           // "reserved", "started", "committed", ...
std::string NameOf(v1::Operation::State state);        // "running", "done", "failed", "interrupted"

// UTC to the second: "2026-11-03T09:15:00Z". Empty when there is none.
std::string TextOfTime(const google::protobuf::Timestamp& time);

std::string Hex(std::string_view bytes);

// "epsilon 3, delta 1e-9", or "epsilon 3".
std::string TextOfPromise(const v1::BudgetLimit& promise);

// An exact fraction "a/b" for people: "90" for "90/1", "12.35" for a long one. Unchanged when it is none.
std::string TextOfFraction(const std::string& fraction);

}  // namespace curator::cli
