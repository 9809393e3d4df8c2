// The numbers that the codes of the response of nested records stand for: public facts.
//
// Thread-safe: a pure function.
#pragma once

#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// Every value lies in [low, high], and no two neighbouring ones are further apart than `resolution`.
struct ResponseNumbers {
  std::vector<double> values;  // of each code, rising; the middle of its bin
  double low = 0;              // the declared bounds
  double high = 0;
  double resolution = 0;  // the width of the widest bin
  bool operator==(const ResponseNumbers&) const = default;
};

// An integer of a bin of its own stands for itself. `schema` has a nesting.
ResponseNumbers ResponseValues(const Schema& schema);

}  // namespace curator::dp
