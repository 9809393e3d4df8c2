#include "dp/sensitivity/max_sum.h"

#include <algorithm>
#include <limits>
#include <set>

#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

constexpr size_t kMostFunctions = 128;
constexpr int64_t kMostSteps = int64_t{1} << 28;
constexpr int64_t kSaturated = int64_t{1} << 55;  // of 2^7 functions this is below 2^63

// The sum of two terms that are at most kSaturated.
int64_t SaturatedSum(int64_t one, int64_t other) {
  return std::min(one + other, kSaturated);
}

int64_t CellsOf(const Domain& domain, const AttributeSet& set) {
  return domain.CellCount(set).value_or(std::numeric_limits<int64_t>::max());
}

bool Has(const CellFunction& function, uint32_t attribute) {
  return Contains(function.attributes, attribute);
}

// The largest value over `attribute` of the sum of `functions`, as a function of their other attributes.
CellFunction Eliminated(const Domain& domain, const std::vector<CellFunction>& functions,
                        const AttributeSet& joint, uint32_t attribute) {
  const std::vector<int64_t> sizes = domain.SizesOf(joint);
  CellFunction result;
  result.attributes = Difference(joint, {attribute});
  result.values.assign(static_cast<size_t>(CellsOf(domain, result.attributes)), 0);
  std::vector<std::vector<int64_t>> strides;
  for (const CellFunction& function : functions)
    strides.push_back(StridesWithin(joint, sizes, function.attributes));
  strides.push_back(StridesWithin(joint, sizes, result.attributes));
  std::vector<int64_t> places(strides.size());
  std::vector<int64_t> codes(joint.size());
  while (true) {
    int64_t sum = 0;
    for (size_t f = 0; f < functions.size(); ++f) sum += functions[f].values[static_cast<size_t>(places[f])];
    int64_t& largest = result.values[static_cast<size_t>(places.back())];
    largest = std::max(largest, std::min(sum, kSaturated));
    size_t i = joint.size();
    while (i > 0) {
      --i;
      for (size_t f = 0; f < places.size(); ++f) places[f] += strides[f][i];
      if (++codes[i] < sizes[i]) break;
      for (size_t f = 0; f < places.size(); ++f) places[f] -= strides[f][i] * sizes[i];
      codes[i] = 0;
      if (i == 0) return result;
    }
  }
}

// Eliminates attributes until no function is left.
class Elimination {
 public:
  Elimination(const Domain& domain, std::vector<CellFunction> functions) : domain_(domain) {
    for (CellFunction& function : functions) Add(std::move(function));
    if (functions_.size() <= kMostFunctions) return;
    for (const CellFunction& function : functions_) AddLargestOf(function);
    functions_.clear();
  }

  int64_t Run() {
    while (!functions_.empty()) Eliminate(Cheapest());
    return sum_;
  }

 private:
  // A constant function is added to the sum.
  void Add(CellFunction function) {
    const auto [least, most] = std::ranges::minmax(function.values);
    if (least == most) {
      sum_ = SaturatedSum(sum_, most);
    } else {
      functions_.push_back(std::move(function));
    }
  }

  AttributeSet NeighboursOf(uint32_t attribute) const {
    AttributeSet all;
    for (const CellFunction& function : functions_) {
      if (Has(function, attribute)) all = Union(all, function.attributes);
    }
    return all;
  }

  uint32_t Cheapest() const {
    std::set<uint32_t> attributes;
    for (const CellFunction& function : functions_)
      attributes.insert(function.attributes.begin(), function.attributes.end());
    return *std::ranges::min_element(
        attributes, {}, [&](uint32_t attribute) { return CellsOf(domain_, NeighboursOf(attribute)); });
  }

  void Eliminate(uint32_t attribute) {
    std::vector<CellFunction> involved;
    for (size_t i = functions_.size(); i-- > 0;) {
      if (!Has(functions_[i], attribute)) continue;
      involved.push_back(std::move(functions_[i]));
      functions_.erase(functions_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    std::ranges::stable_sort(involved, std::ranges::greater(),
                             [](const CellFunction& function) { return function.values.size(); });
    while (!involved.empty()) {
      std::vector<CellFunction> joined;
      AttributeSet joint;
      std::vector<CellFunction> rest;
      for (CellFunction& function : involved) {
        const AttributeSet wider = Union(joint, function.attributes);
        if (joined.empty() || CellsOf(domain_, wider) <= kMostJoinedCells) {
          joint = wider;
          joined.push_back(std::move(function));
        } else {
          rest.push_back(std::move(function));
        }
      }
      Join(joined, joint, attribute);
      involved = std::move(rest);
    }
  }

  void Join(const std::vector<CellFunction>& joined, const AttributeSet& joint, uint32_t attribute) {
    steps_ += CellsOf(domain_, joint) * static_cast<int64_t>(joined.size());
    if (steps_ <= kMostSteps) return Add(Eliminated(domain_, joined, joint, attribute));
    for (const CellFunction& function : joined) AddLargestOf(function);
  }

  void AddLargestOf(const CellFunction& function) {
    sum_ = SaturatedSum(sum_, *std::ranges::max_element(function.values));
  }

  const Domain& domain_;
  std::vector<CellFunction> functions_;
  int64_t sum_ = 0;
  int64_t steps_ = 0;
};

}  // namespace

int64_t LargestSum(const Domain& domain, std::vector<CellFunction> functions) {
  return Elimination(domain, std::move(functions)).Run();
}

}  // namespace curator::dp
