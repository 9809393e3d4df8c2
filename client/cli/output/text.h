// Values as text: for display, for CSV, and the names of the protocol's constants.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/cli/output/value.h"
#include "client/display_width.h"
#include "curator/v1/accountant.pb.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::cli {

// The shortest text that reads back as the same double: "0.1", "1e+20", "inf", "nan".
std::string ExactText(double number);

// The same as the value of a cell: amounts are text in every form. None for an infinite number.
Value AmountOf(double number);

// Four significant digits, from 1000 on whole integers: "0.01235", "12.35", "48213".
std::string RoundedText(double number);

// Six significant digits, rounded up (down), up to the relative error 1e-12 of doubles: "0.993692";
// "infinity" for an infinite number.
std::string RoundedUpText(double number);
std::string RoundedDownText(double number);

// A share as a percentage of two significant digits, rounded up (down): "0.012%", "4.2%", "61%", "100%".
std::string PercentUpText(double share);
std::string PercentDownText(double share);

// The text with control characters replaced, so that names from other users cannot send commands to the
// terminal. UTF-8 is unchanged.
std::string Printable(std::string_view text);

// The text, cut to at most `width` columns of the terminal if it is wider, with `cut`, one column wide, at
// its end.
std::string Shortened(std::string_view text, size_t width, std::string_view cut);

// A cell for display: "-" for none and for an empty list, "yes" and "no", rounded numbers, lists with ", ".
std::string DisplayText(const Value& value);

// A CSV field, quoted where RFC 4180 requires it: exact numbers, "true" and "false", lists with ",". Control
// characters but line ends and tabs are replaced as by Printable(); JSON has them.
std::string CsvField(const Value& value);
std::string CsvText(std::string_view text);

// ---- The protocol's constants, times, hashes and amounts

std::string NameOf(v1::Rule rule);                     // "pure", "advanced", "zcdp"
std::string NameOf(v1::NeighbourRelation neighbours);  // "add-remove", "replace-one"
std::string NameOf(v1::DatasetState state);            // "created", "sealed", "archived"
std::string NameOf(v1::Mechanism mechanism);           // "laplace", "gaussian", "auto"
std::string NameOf(v1::Strategy strategy);             // "direct", "tree", "residual", ..., "auto"
std::string NameOf(v1::Charge::State state);           // "reserved", "started", "committed", ...
std::string NameOf(v1::Operation::State state);        // "running", "done", "failed", "interrupted"

// UTC to the second: "2026-11-03T09:15:00Z". Empty when there is none.
std::string FormatTime(const google::protobuf::Timestamp& time);

std::string Hex(std::string_view bytes);

// "epsilon 3, delta 1e-9", or "epsilon 3".
std::string FormatPromise(const v1::BudgetLimit& promise);

// The words of an event for display: parts that come again, one after the other, are counted, "17 x discrete
// Gaussian (...)".
std::string FormatEvent(const std::string& event);

// An exact fraction "a/b" for display: "90" for "90/1", "12.35" for a long one. Text that is not a fraction
// is unchanged.
std::string FormatFraction(const std::string& fraction);

}  // namespace curator::cli
