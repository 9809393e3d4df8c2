// Query sets as a caller writes them, with the names of attributes and values.
//
// Plain values; proto/curator/v1/workload.proto defines their meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dp/workload/measurement.h"

namespace curator::service {

// Explicit attribute sets, or all k-way marginals of `attributes` (of all attributes when empty).
struct MarginalsQuery {
  std::vector<std::vector<std::string>> sets;
  std::optional<int> k;
  std::vector<std::string> attributes;
  std::optional<int64_t> max_cells = {};  // of all k-way marginals: those with more cells are left out
};

struct ValueInterval {
  std::optional<std::string> from;
  std::optional<std::string> to;
};

struct RangesQuery {
  std::vector<std::string> attributes;
  std::vector<std::vector<ValueInterval>> boxes;  // all, when empty
};

struct PrefixesQuery {
  std::string attribute;
};

struct Condition {
  std::string attribute;
  std::vector<std::string> values;
  std::optional<ValueInterval> between;
};

struct ThresholdsQuery {
  std::vector<Condition> conditions;
  std::vector<int> at_least;
  int k = 0;
  std::vector<std::string> by;
};

// Explicit attribute sets, or all sets of 1 to k of `attributes` (of all attributes when empty).
struct ParitiesQuery {
  std::vector<std::vector<std::string>> sets;
  std::optional<int> k;
  std::vector<std::string> attributes;
};

struct PredicatesQuery {
  std::vector<std::vector<Condition>> predicates;
  std::vector<std::string> by;
};

struct QuerySetRequest {
  std::variant<MarginalsQuery, RangesQuery, PrefixesQuery, ThresholdsQuery, ParitiesQuery, PredicatesQuery>
      queries;
  dp::Strategy strategy = dp::Strategy::kAuto;
};

}  // namespace curator::service
