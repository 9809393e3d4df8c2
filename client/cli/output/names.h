// The wire's constants, times and hashes in the words of the command line.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "curator/v1/accountant.pb.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::cli {

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
