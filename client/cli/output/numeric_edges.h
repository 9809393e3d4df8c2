// The edges of a numeric attribute, listed or by even steps.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "curator/v1/schema.pb.h"

namespace curator::cli {

// How many edges there are; 0 for steps that no server would accept.
int64_t EdgeCount(const v1::Numeric& numeric);

// Edge number `position`, from 0, below EdgeCount(): the same double as the server's.
double EdgeAt(const v1::Numeric& numeric, int64_t position);

// "0 to 20000" or, of even steps, "0 to 100 by 0.5"; empty where there is no bin.
std::string WordsOf(const v1::Numeric& numeric);

}  // namespace curator::cli
