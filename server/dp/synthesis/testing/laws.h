// What every synthesizer must obey, as checks that say what is wrong: empty when nothing is. The tests run
// them over the list of synthesizers, and over broken ones that each of them must catch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dp/data/sealed_table_handle.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// A request and a table to make it on.
struct World {
  SynthesisInput input;
  SealedTableHandle table;
};

using Rows = std::vector<std::vector<uint32_t>>;

// All k-way marginals over attributes of the given sizes, for epsilon 1. The prior is another random table,
// which does not depend on `rows`. The rows lie in up to seven groups; the response is the first attribute.
World WorldOf(const std::vector<int64_t>& sizes, int k, const Rows& rows);
Rows RandomRows(const std::vector<int64_t>& sizes, int count, uint64_t seed);

// Two tables over the same domain, as different as can be: 500 random records, and 37 equal ones.
World FullWorld();
World OtherWorld();

// Attribute 1 is at most attribute 2, of which noise at epsilon 1 knows nothing.
World ConstrainedWorld();

// Whether the plan says that records may break constraints.
bool WarnsOfConstraints(const SynthesisPlan& plan);

using Violations = std::vector<std::string>;

// One law: its name, and what `synthesizer` violates of it.
struct Law {
  std::string_view name;
  Violations (*check)(const Synthesizer& synthesizer);
};

// In the order of the contract.
const std::vector<Law>& SynthesizerLaws();

// The violations of the law of that name.
Violations ViolationsOf(std::string_view law, const Synthesizer& synthesizer);

}  // namespace curator::dp
