// How long a sum over groups of records takes, beside a count of the same marginal in the same run.
//
//   bench_grouped_sums [ROWS ...]    10^6 and 10^7 rows by default
//
// Each line: ns per row of the count, of sums of columns of one, two and four bytes, of squares, and of
// counts in 64 blocks of codes, and their ratio to the count. Elapsed time on one core; the best of rounds in
// which all are timed one after another.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/adult_like.h"
#include "bench/must.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sum_sealed_groups.h"
#include "dp/domain/domain.h"

namespace curator::bench {
namespace {

constexpr int kRounds = 15;

struct Number {
  const char* name;
  int64_t steps;
};
constexpr Number kNumbers[] = {{"1 byte", 99}, {"2 bytes", 9'999}, {"4 bytes", 999'999}};

// The attributes of Adult, a large one, and measures of each width.
dp::Domain DomainWithMeasures() {
  std::vector<dp::Attribute> attributes = AdultLikeDomain().attributes();
  attributes.push_back(dp::Attribute::Create("large", dp::CodedKind{1'000}).value());
  std::vector<dp::Measure> measures;
  for (const Number& number : kNumbers) {
    measures.push_back(
        dp::Measure::Create(number.name, {0, static_cast<double>(number.steps), 1}, dp::Missing{}).value());
  }
  return dp::Domain::Create(std::move(attributes), std::move(measures)).value();
}

template <typename Code>
void AppendCodes(size_t column, int64_t size, int64_t rows, dp::CodedColumns& columns) {
  std::mt19937_64 random(column + 1);
  std::vector<Code> codes(static_cast<size_t>(rows));
  for (Code& code : codes) {
    const uint64_t draw = random();
    code = static_cast<Code>(std::min((draw & 0xffffffff) % static_cast<uint64_t>(size),
                                      (draw >> 32) % static_cast<uint64_t>(size)));
  }
  columns.AppendCodes(column, std::as_bytes(std::span(codes)));
}

dp::SealedTableHandle TableOf(const dp::Domain& domain, int64_t rows) {
  const std::vector<int64_t> sizes = dp::SizesOf(domain);
  dp::CodedColumns columns(sizes);
  for (size_t column = 0; column < sizes.size(); ++column) {
    const dp::CodeWidth width = dp::WidthFor(sizes[column]);
    if (width == dp::CodeWidth::kOneByte) AppendCodes<uint8_t>(column, sizes[column], rows, columns);
    if (width == dp::CodeWidth::kTwoBytes) AppendCodes<uint16_t>(column, sizes[column], rows, columns);
    if (width == dp::CodeWidth::kFourBytes) AppendCodes<uint32_t>(column, sizes[column], rows, columns);
  }
  dp::SealedTableBuilder builder(domain);
  builder.SetColumns(std::move(columns), {});
  return std::move(builder).Build().value();
}

// A group for each cell.
dp::GroupedRows ByCells(const dp::Domain& domain, const dp::AttributeSet& set) {
  dp::GroupedRows rows{.attributes = set,
                       .group_of_cell = {},
                       .groups = domain.CellCount(set).value(),
                       .blocks = {},
                       .numbers = {}};
  for (int32_t group = 0; group < rows.groups; ++group) rows.group_of_cell.push_back(group);
  return rows;
}

struct Timed {
  std::string name;
  std::function<void()> run;
  double best = std::numeric_limits<double>::infinity();  // seconds
};

void Time(std::vector<Timed>& all) {
  for (int round = 0; round < kRounds; ++round) {
    for (Timed& each : all) {
      const auto begin = std::chrono::steady_clock::now();
      each.run();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      each.best = std::min(each.best, took.count());
    }
  }
}

void Compare(const dp::Domain& domain, const dp::SealedTable& table, const dp::AttributeSet& set) {
  std::vector<Timed> all = {{"count", [&] { Must(dp::CountMarginal(table, domain, set)); }}};
  const auto add = [&](const std::string& name, dp::GroupedRows rows) {
    all.push_back({name, [&, rows = std::move(rows)] { Must(dp::SumGroups(table, domain, rows)); }});
  };
  const auto first_measure = static_cast<uint32_t>(domain.size());
  for (uint32_t i = 0; i < std::size(kNumbers); ++i) {
    dp::GroupedRows rows = ByCells(domain, set);
    rows.numbers.kind = dp::RowNumbers::Kind::kLinear;
    rows.numbers.column = first_measure + i;
    rows.numbers.codes = kNumbers[i].steps + 1;
    rows.numbers.first = static_cast<int32_t>(-kNumbers[i].steps / 2);
    add(std::string("sum, ") + kNumbers[i].name, rows);
    rows.numbers.kind = dp::RowNumbers::Kind::kSquare;
    rows.numbers.shift = 10;
    add(std::string("squares, ") + kNumbers[i].name, rows);
  }
  dp::GroupedRows blocks = ByCells(domain, set);
  blocks.blocks = dp::RowBlocks{.column = first_measure + 1, .width = 157, .codes = 10'000};
  add("64 blocks, 2 bytes", blocks);
  Time(all);
  std::printf("%10lld rows %8lld cells of %zu attributes:", static_cast<long long>(table.rows()),
              static_cast<long long>(domain.CellCount(set).value()), set.size());
  for (const Timed& each : all) {
    std::printf("  %s %.2f (%.2f x)", each.name.c_str(), each.best * 1e9 / static_cast<double>(table.rows()),
                each.best / all.front().best);
  }
  std::printf("\n");
}

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  using namespace curator;  // NOLINT(google-build-using-namespace)
  std::vector<int64_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (sizes.empty()) sizes = {1'000'000, 10'000'000};
  const dp::Domain domain = bench::DomainWithMeasures();
  for (const int64_t rows : sizes) {
    const dp::SealedTableHandle table = bench::TableOf(domain, rows);
    for (const dp::AttributeSet& set :
         {dp::AttributeSet{}, {0}, {1, 2}, {0, 1, 2}, {0, 3, 6}, {0, 2, 3, 6}, {0, 15}, {0, 1, 15}})
      bench::Compare(domain, *table, set);
  }
}
