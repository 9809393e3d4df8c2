// A rival of prior-aware estimation: PMW-Pub (Liu, Vietri, Steinke, Ullman, Wu 2021, "Leveraging Public Data
// for Practical Private Query Release"), as we read it; for benchmarks alone.
//
// Weights on the distinct records of the public table, first their shares in it. Each round chooses a
// marginal (exponential mechanism, by its L1 error less the noise that a measurement would have), measures it
// with discrete Gaussian noise, and replays all measurements as multiplicative updates. A round's budget is
// halved between the two; a twentieth of the whole counts the records.
#pragma once

#include <cstdint>
#include <vector>

#include "dp/accounting/units.h"
#include "dp/data/sealed_table_handle.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// Public. `shares` are of the rows and sum to 1.
struct WeightedRecords {
  std::vector<std::vector<uint32_t>> rows;
  std::vector<double> shares;
  double records = 1;  // how many they stand for

  std::vector<std::vector<double>> MarginalsOf(const Domain& domain,
                                               const std::vector<AttributeSet>& sets) const;
};

struct PmwPubRule {
  Rho rho;         // of everything
  int rounds = 1;  // below the number of candidates
  int seed = 1;    // the first byte of the key
};

// `open`: public records of `domain`; `candidates`: marginals, in which one record of `table` is protected.
WeightedRecords PmwPub(const Domain& domain, const SealedTableHandle& table,
                       const std::vector<std::vector<uint32_t>>& open,
                       const std::vector<AttributeSet>& candidates, const PmwPubRule& rule);

}  // namespace curator::dp
