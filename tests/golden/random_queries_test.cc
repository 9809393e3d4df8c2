// Random schemas, random records, random queries of every class: ten thousand answers against SQLite.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/workload/linear_queries.h"
#include "tests/golden/sqlite_codes.h"
#include "tests/testing/nightly.h"

namespace curator::golden {
namespace {

using Random = std::mt19937_64;

constexpr size_t kTables = 250;
constexpr size_t kQueriesOfATable = 40;

size_t Below(Random& random, size_t limit) {
  return static_cast<size_t>(random() % limit);
}

// Two to eight attributes; most are small, a third of them binary, some wider than a byte.
dp::Domain RandomDomain(Random& random) {
  std::vector<dp::Attribute> attributes;
  const size_t count = 2 + Below(random, 7);
  for (size_t i = 0; i < count; ++i) {
    const size_t kind = Below(random, 12);
    const size_t size = kind < 4 ? 2 : kind == 11 ? 257 + Below(random, 200) : 1 + Below(random, 9);
    attributes.push_back(
        dp::Attribute::Create(absl::StrCat("a", i), dp::CodedKind{static_cast<int64_t>(size)}).value());
  }
  return dp::Domain::Create(std::move(attributes)).value();
}

// Some tables are empty, in some a single cell holds nearly all records.
std::vector<std::vector<uint32_t>> RandomRows(const dp::Domain& domain, Random& random) {
  std::vector<std::vector<uint32_t>> rows(Below(random, 10) == 0 ? 0 : Below(random, 300));
  const bool crowded = Below(random, 5) == 0;
  for (std::vector<uint32_t>& row : rows) {
    const bool in_the_crowd = crowded && Below(random, 20) != 0;
    for (const dp::Attribute& attribute : domain.attributes()) {
      const size_t size = static_cast<size_t>(attribute.size());
      row.push_back(static_cast<uint32_t>(in_the_crowd ? size - 1 : Below(random, size)));
    }
  }
  return rows;
}

dp::AttributeSet RandomSet(const dp::Domain& domain, Random& random) {
  dp::AttributeSet set;
  for (uint32_t i = 0; i < domain.size() && set.size() < 4; ++i) {
    if (Below(random, 2) == 0) set.push_back(i);
  }
  if (set.empty()) set.push_back(static_cast<uint32_t>(Below(random, domain.size())));
  while (*domain.CellCount(set) > 20'000) set.pop_back();
  return set;
}

// A group of queries, and what SQLite answers to them.
struct Case {
  dp::QueryGroup group;
  std::vector<int64_t> expected;
};

std::vector<size_t> DigitsOf(const dp::Domain& domain, const dp::AttributeSet& set, size_t cell) {
  std::vector<size_t> digits(set.size());
  for (size_t i = set.size(); i-- > 0;) {
    const size_t size = static_cast<size_t>(domain.attributes()[set[i]].size());
    digits[i] = cell % size;
    cell /= size;
  }
  return digits;
}

// Of the cells with a weight that is not 0.
template <typename WeightOfDigits>
dp::LinearQuery QueryOf(const dp::Domain& domain, const dp::AttributeSet& set,
                        const WeightOfDigits& weight_of) {
  dp::LinearQuery query;
  const size_t cells = static_cast<size_t>(*domain.CellCount(set));
  for (size_t cell = 0; cell < cells; ++cell) {
    if (const int32_t weight = weight_of(DigitsOf(domain, set, cell)); weight != 0)
      query.push_back({static_cast<uint32_t>(cell), weight});
  }
  return query;
}

Case MarginalCase(const dp::Domain& domain, SqliteCodes& sqlite, Random& random) {
  const dp::AttributeSet set = RandomSet(domain, random);
  return {{set, dp::EveryCell{}}, sqlite.Marginal(set)};
}

Case BoxCase(const dp::Domain& domain, SqliteCodes& sqlite, Random& random) {
  Case box{{RandomSet(domain, random), dp::Boxes{}}, {}};
  const size_t boxes = 1 + Below(random, 4);
  for (size_t i = 0; i < boxes; ++i) {
    std::vector<std::string> conditions;
    for (const uint32_t attribute : box.group.attributes) {
      const size_t size = static_cast<size_t>(domain.attributes()[attribute].size());
      const size_t first = Below(random, size);
      const size_t last = first + Below(random, size - first);
      std::get<dp::Boxes>(box.group.queries)
          .sides.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
      conditions.push_back(absl::StrCat("c", attribute, " BETWEEN ", first, " AND ", last));
    }
    box.expected.push_back(sqlite.Value(absl::StrCat("SUM(", absl::StrJoin(conditions, " AND "), ")")));
  }
  return box;
}

// A conjunction of `attribute in {...}`.
Case PredicateCase(const dp::Domain& domain, SqliteCodes& sqlite, Random& random) {
  const dp::AttributeSet set = RandomSet(domain, random);
  std::vector<std::vector<bool>> allowed;
  std::vector<std::string> conditions;
  for (const uint32_t attribute : set) {
    std::vector<bool> codes(static_cast<size_t>(domain.attributes()[attribute].size()));
    codes[Below(random, codes.size())] = true;
    std::vector<std::string> listed;
    for (size_t code = 0; code < codes.size(); ++code) {
      if (codes[code] || Below(random, 3) == 0) {
        codes[code] = true;
        listed.push_back(absl::StrCat(code));
      }
    }
    allowed.push_back(codes);
    conditions.push_back(absl::StrCat("c", attribute, " IN (", absl::StrJoin(listed, ","), ")"));
  }
  const dp::LinearQuery query = QueryOf(domain, set, [&](const std::vector<size_t>& digits) {
    for (size_t i = 0; i < digits.size(); ++i) {
      if (!allowed[i][digits[i]]) return 0;
    }
    return 1;
  });
  return {{set, std::vector<dp::LinearQuery>{query}},
          {sqlite.Value(absl::StrCat("SUM(", absl::StrJoin(conditions, " AND "), ")"))}};
}

// At least t of the attributes have their last code.
Case ThresholdCase(const dp::Domain& domain, SqliteCodes& sqlite, Random& random) {
  const dp::AttributeSet set = RandomSet(domain, random);
  const size_t t = 1 + Below(random, set.size());
  std::vector<size_t> last;
  std::vector<std::string> conditions;
  for (const uint32_t attribute : set) {
    last.push_back(static_cast<size_t>(domain.attributes()[attribute].size()) - 1);
    conditions.push_back(absl::StrCat("(c", attribute, " = ", last.back(), ")"));
  }
  const dp::LinearQuery query = QueryOf(domain, set, [&](const std::vector<size_t>& digits) {
    size_t fulfilled = 0;
    for (size_t i = 0; i < digits.size(); ++i) fulfilled += digits[i] == last[i] ? 1 : 0;
    return fulfilled >= t ? 1 : 0;
  });
  return {{set, std::vector<dp::LinearQuery>{query}},
          {sqlite.Value(absl::StrCat("SUM(", absl::StrJoin(conditions, " + "), " >= ", t, ")"))}};
}

// Records with an even sum of codes minus those with an odd one: the Hadamard character of binary attributes.
Case ParityCase(const dp::Domain& domain, SqliteCodes& sqlite, Random& random) {
  const dp::AttributeSet set = RandomSet(domain, random);
  std::vector<std::string> names;
  for (const uint32_t attribute : set) names.push_back(absl::StrCat("c", attribute));
  const dp::LinearQuery query = QueryOf(domain, set, [](const std::vector<size_t>& digits) {
    size_t sum = 0;
    for (const size_t digit : digits) sum += digit;
    return sum % 2 == 0 ? 1 : -1;
  });
  return {{set, std::vector<dp::LinearQuery>{query}},
          {sqlite.Value(absl::StrCat("SUM(1 - 2 * ((", absl::StrJoin(names, " + "), ") % 2))"))}};
}

// Weights of any sign and size in some cells.
Case WeightedCase(const dp::Domain& domain, SqliteCodes& sqlite, Random& random) {
  const dp::AttributeSet set = RandomSet(domain, random);
  std::map<uint32_t, int32_t> weights;
  const size_t cells = static_cast<size_t>(*domain.CellCount(set));
  for (size_t i = 0; i < 1 + std::min<size_t>(cells, 12) / 2; ++i) {
    const int32_t weight = static_cast<int32_t>(1 + Below(random, dp::kLargestWeight));
    weights[static_cast<uint32_t>(Below(random, cells))] = Below(random, 2) == 0 ? weight : -weight;
  }
  dp::LinearQuery query;
  std::string cases;
  for (const auto& [cell, weight] : weights) {
    query.push_back({cell, weight});
    absl::StrAppend(&cases, " WHEN ", cell, " THEN ", weight);
  }
  return {{set, std::vector<dp::LinearQuery>{query}},
          {sqlite.Value(absl::StrCat("SUM(CASE ", sqlite.CellOf(set), cases, " ELSE 0 END)"))}};
}

Case RandomCase(const dp::Domain& domain, SqliteCodes& sqlite, Random& random) {
  switch (Below(random, 6)) {
    case 0:
      return MarginalCase(domain, sqlite, random);
    case 1:
      return BoxCase(domain, sqlite, random);
    case 2:
      return PredicateCase(domain, sqlite, random);
    case 3:
      return ThresholdCase(domain, sqlite, random);
    case 4:
      return ParityCase(domain, sqlite, random);
    default:
      return WeightedCase(domain, sqlite, random);
  }
}

TEST(RandomQueries, TenThousandAnswersAreThoseOfSqlite) {
  size_t groups = 0;
  for (size_t round = 0; round < nightly::Volume(kTables, 20 * kTables); ++round) {
    Random random(nightly::Seed(round));
    const dp::Domain domain = RandomDomain(random);
    const std::vector<std::vector<uint32_t>> rows = RandomRows(domain, random);
    SqliteCodes sqlite(domain, rows);
    const dp::SealedTableHandle table = dp::SealRows(domain, rows).value();

    std::vector<Case> cases;
    std::vector<dp::AttributeSet> sets;
    for (size_t i = 0; i < kQueriesOfATable; ++i) {
      cases.push_back(RandomCase(domain, sqlite, random));
      ASSERT_TRUE(dp::ValidateQueries(domain, {&cases.back().group, 1}).ok()) << "round " << round;
      sets.push_back(cases.back().group.attributes);
    }
    // All in one pass, as a request's are.
    const auto counts = dp::CountMarginals(*table, domain, sets).value();
    for (size_t i = 0; i < cases.size(); ++i, ++groups) {
      ASSERT_EQ(dp::AnswersFromCounts(domain, cases[i].group, counts[i]), cases[i].expected)
          << "round " << round << ", query " << i;
    }
  }
  EXPECT_GE(groups, 10'000u);
}

TEST(RandomQueriesCanary, AnAnswerThatMissesOneRecordIsCaught) {
  Random random(nightly::Seed(1));
  const dp::Domain domain = RandomDomain(random);
  std::vector<std::vector<uint32_t>> rows(100, std::vector<uint32_t>(domain.size(), 0));
  SqliteCodes sqlite(domain, rows);
  rows.pop_back();
  const dp::SealedTableHandle table = dp::SealRows(domain, rows).value();
  const Case marginal = MarginalCase(domain, sqlite, random);
  EXPECT_NE(dp::CountMarginal(*table, domain, marginal.group.attributes).value(), marginal.expected);
}

}  // namespace
}  // namespace curator::golden
