#include "dp/queries/product_queries.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/queries/linear_queries.h"

namespace curator::dp {
namespace {

bool IsHelmert(const AxisQueries& queries) {
  return queries.weights.empty();
}

int64_t LargestWeightOf(const AxisQueries& queries, int64_t codes) {
  if (IsHelmert(queries)) return codes - 1;
  int64_t largest = 0;
  for (const int32_t weight : queries.weights) largest = std::max(largest, std::abs(int64_t{weight}));
  return largest;
}

absl::Status CheckAxis(const AxisQueries& queries, int64_t codes) {
  if (codes < 2) return absl::InvalidArgumentError("an attribute of one code has no contrasts");
  if (static_cast<int64_t>(queries.weights.size()) % codes != 0)
    return absl::InvalidArgumentError("a query needs a weight for each code of its attribute");
  if (queries.weights.size() > kMostAxisWeights)
    return absl::InvalidArgumentError(absl::StrCat("an axis has at most ", kMostAxisWeights, " weights"));
  if (queries.variance_factor < 1 || queries.variance_factor > kLargestVarianceFactor)
    return absl::InvalidArgumentError(
        absl::StrCat("a variance factor is not within 1..", kLargestVarianceFactor));
  if (LargestWeightOf(queries, codes) > kLargestWeight)
    return absl::InvalidArgumentError(absl::StrCat("a weight is beyond ", kLargestWeight));
  return absl::OkStatus();
}

absl::Status CheckGroup(const Domain& domain, const ProductQueries& queries, const ProductGroup& group) {
  RETURN_IF_ERROR(domain.CheckSet(group.attributes));  // which may be empty
  if (group.attributes.size() > kMostProductAxes)
    return absl::InvalidArgumentError(absl::StrCat("a group has at most ", kMostProductAxes, " attributes"));
  if (group.axes.size() != group.attributes.size())
    return absl::InvalidArgumentError("each attribute of a group needs queries over it");
  if (group.multiplier < 1 || group.multiplier > kLargestProductWeight)
    return absl::InvalidArgumentError(absl::StrCat("a multiplier is not within 1..", kLargestProductWeight));
  int64_t largest = group.multiplier;
  for (size_t i = 0; i < group.axes.size(); ++i) {
    if (group.axes[i] >= queries.axes.size()) return absl::InvalidArgumentError("a group names no axis");
    const AxisQueries& axis = queries.axes[group.axes[i]];
    const int64_t codes = domain.attributes()[group.attributes[i]].size();
    RETURN_IF_ERROR(CheckAxis(axis, codes));
    // Both factors are at most 2^30.
    largest *= std::max<int64_t>(1, LargestWeightOf(axis, codes));
    if (largest > kLargestProductWeight)
      return absl::InvalidArgumentError(
          absl::StrCat("a weight of a product is beyond ", kLargestProductWeight));
  }
  return absl::OkStatus();
}

bool ComesBefore(const AttributeSet& one, const AttributeSet& other) {
  return one.size() != other.size() ? one.size() < other.size() : one < other;
}

std::span<const int64_t> PartOf(std::span<const int64_t> numbers, int64_t part, int64_t size) {
  return numbers.subspan(static_cast<size_t>(part * size), static_cast<size_t>(size));
}
std::span<int64_t> PartOf(std::span<int64_t> numbers, int64_t part, int64_t size) {
  return numbers.subspan(static_cast<size_t>(part * size), static_cast<size_t>(size));
}

// Replaces numbers by their contrasts along one axis: the `inner` numbers of a code are next to each other.
// What is written lies before all that is still to be read.
void ReplaceByContrasts(int64_t codes, int64_t inner, std::vector<int64_t>& numbers) {
  const auto width = static_cast<size_t>(inner);
  std::vector<int64_t> sums(width);
  int64_t* to = numbers.data();
  for (size_t place = 0; place < numbers.size(); place += static_cast<size_t>(codes) * width) {
    std::ranges::fill(sums, 0);
    const int64_t* from = numbers.data() + place;
    for (int64_t k = 1; k < codes; ++k, from += width, to += width) {
      for (size_t i = 0; i < width; ++i) {
        sums[i] += from[i];
        to[i] = sums[i] - k * from[width + i];
      }
    }
  }
  numbers.resize(static_cast<size_t>(to - numbers.data()));
}

// The same for weighted queries, of which there may be more than codes.
void WeightedAlong(const AxisQueries& queries, std::span<const int64_t> numbers, int64_t codes, int64_t inner,
                   std::span<int64_t> answers) {
  const int64_t rows = NumberOfQueries(queries, codes);
  for (int64_t row = 0; row < rows; ++row) {
    const std::span<int64_t> own = PartOf(answers, row, inner);
    std::ranges::fill(own, 0);
    for (int64_t code = 0; code < codes; ++code) {
      const int64_t weight = queries.weights[static_cast<size_t>(row * codes + code)];
      const std::span<const int64_t> of_code = PartOf(numbers, code, inner);
      for (size_t i = 0; i < own.size(); ++i) own[i] += weight * of_code[i];
    }
  }
}

}  // namespace

int64_t NumberOfQueries(const AxisQueries& queries, int64_t codes) {
  return IsHelmert(queries) ? codes - 1 : static_cast<int64_t>(queries.weights.size()) / codes;
}

std::vector<int64_t> VarianceFactors(const AxisQueries& queries, int64_t codes) {
  std::vector<int64_t> factors(static_cast<size_t>(NumberOfQueries(queries, codes)), queries.variance_factor);
  if (!IsHelmert(queries)) return factors;
  for (int64_t k = 1; k < codes; ++k) factors[static_cast<size_t>(k - 1)] = k * (k + 1);
  return factors;
}

absl::Status ValidateProducts(const Domain& domain, const ProductQueries& queries) {
  if (queries.groups.empty()) return absl::InvalidArgumentError("there are no queries");
  // Groups in the order of their sizes and sets, as plans have them, repeat none.
  const bool rise = std::ranges::adjacent_find(queries.groups, [](const auto& one, const auto& next) {
                      return !ComesBefore(one.attributes, next.attributes);
                    }) == queries.groups.end();
  std::set<AttributeSet> sets;
  for (const ProductGroup& group : queries.groups) {
    RETURN_IF_ERROR(CheckGroup(domain, queries, group));
    if (!rise && !sets.insert(group.attributes).second)
      return absl::InvalidArgumentError("two groups are over the same attributes");
  }
  return absl::OkStatus();
}

int64_t NumberOfQueries(const Domain& domain, const ProductQueries& queries, const ProductGroup& group) {
  int64_t number = 1;
  for (size_t i = 0; i < group.axes.size(); ++i)
    number *= NumberOfQueries(queries.axes[group.axes[i]], domain.attributes()[group.attributes[i]].size());
  return number;
}

std::vector<std::vector<int64_t>> VarianceFactors(const Domain& domain, const ProductQueries& queries,
                                                  const ProductGroup& group) {
  std::vector<std::vector<int64_t>> factors;
  for (size_t i = 0; i < group.axes.size(); ++i) {
    factors.push_back(
        VarianceFactors(queries.axes[group.axes[i]], domain.attributes()[group.attributes[i]].size()));
  }
  if (group.multiplier > 1) factors.push_back({group.multiplier * group.multiplier});
  return factors;
}

std::vector<int64_t> AnswersFromCounts(const Domain& domain, const ProductQueries& queries,
                                       const ProductGroup& group, std::vector<int64_t> counts) {
  std::vector<int64_t> numbers = std::move(counts);
  if (group.multiplier != 1)
    std::ranges::for_each(numbers, [&](int64_t& number) { number *= group.multiplier; });
  int64_t outer = 1;  // the queries of the axes that are done
  int64_t inner = static_cast<int64_t>(numbers.size());
  for (size_t i = 0; i < group.axes.size(); ++i) {
    const AxisQueries& axis = queries.axes[group.axes[i]];
    const int64_t codes = domain.attributes()[group.attributes[i]].size();
    const int64_t rows = NumberOfQueries(axis, codes);
    const int64_t before = inner;
    inner /= codes;
    if (IsHelmert(axis)) {
      ReplaceByContrasts(codes, inner, numbers);
    } else {
      std::vector<int64_t> answers(static_cast<size_t>(outer * rows * inner));
      for (int64_t place = 0; place < outer; ++place) {
        WeightedAlong(axis, PartOf(std::span<const int64_t>(numbers), place, before), codes, inner,
                      PartOf(std::span(answers), place, rows * inner));
      }
      numbers = std::move(answers);
    }
    outer *= rows;
  }
  return numbers;
}

}  // namespace curator::dp
