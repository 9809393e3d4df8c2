// Real tables for benchmarks, read from $CURATOR_SHARED/data (default ../shared/data).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::bench {

struct RealTable {
  dp::Domain domain;
  std::vector<std::vector<uint32_t>> rows;
};

// `csv` (plain or .gz) with a header line and codes; `domain` is a JSON object of attribute sizes in the
// order of the columns, or of objects with a "size". Ends the program with a message when they cannot be
// read.
RealTable ReadTable(const std::string& folder, const std::string& csv, const std::string& domain);

// The tables that results are reported on: acs, adult, adult_split (the private part of adult_pub_split),
// czech, loans, mildew, msnbc, nltcs, retail32, retail64, titanic; and "loans/9": its first 9 attributes.
RealTable ReadNamedTable(const std::string& name);

}  // namespace curator::bench
