#include "dp/sensitivity/product_cost.h"

#include <gmpxx.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

// Of the queries over one attribute: c_i and l_i / c_i.
struct AxisNorm {
  mpq_class largest;
  mpq_class opposite;
};

int64_t Inner(const std::vector<int32_t>& weights, int64_t codes, int64_t one, int64_t other) {
  int64_t sum = 0;
  for (size_t row = 0; row < weights.size(); row += static_cast<size_t>(codes)) {
    sum += int64_t{weights[row + static_cast<size_t>(one)]} * weights[row + static_cast<size_t>(other)];
  }
  return sum;
}

// There are at most 2^18 weights of at most 2^20: sums of their products stay below 2^58.
AxisNorm NormOf(const AxisQueries& queries, int64_t codes) {
  if (queries.weights.empty()) return {mpq_class(codes - 1, codes), mpq_class(1, codes - 1)};
  int64_t largest = 0;
  int64_t opposite = 0;
  for (int64_t one = 0; one < codes; ++one) {
    largest = std::max(largest, Inner(queries.weights, codes, one, one));
    for (int64_t other = 0; other < one; ++other)
      opposite = std::max(opposite, -Inner(queries.weights, codes, one, other));
  }
  AxisNorm norm{mpq_class(largest, queries.variance_factor),
                mpq_class(largest == 0 ? 0 : opposite, largest == 0 ? 1 : largest)};
  norm.largest.canonicalize();
  norm.opposite.canonicalize();
  return norm;
}

class ProductNorms {
 public:
  ProductNorms(const Domain& domain, NeighbourRelation relation, const ProductQueries& queries)
      : domain_(domain), relation_(relation), queries_(queries) {}

  // Whether both have the same queries over attributes of the same numbers of codes, one after another.
  bool AreAlike(const ProductGroup& one, const ProductGroup& other) const {
    if (one.axes != other.axes) return false;
    for (size_t i = 0; i < one.attributes.size(); ++i) {
      if (CodesOf(one.attributes[i]) != CodesOf(other.attributes[i])) return false;
    }
    return true;
  }

  // N of a group.
  mpq_class Of(const ProductGroup& group) {
    if (group.attributes.empty()) return 1;
    mpq_class largest = 1;
    mpq_class opposite = 0;
    for (size_t i = 0; i < group.axes.size(); ++i) {
      const AxisNorm& axis = OfAxis(group.axes[i], CodesOf(group.attributes[i]));
      largest *= axis.largest;
      opposite = std::max(opposite, axis.opposite);
    }
    if (relation_ == NeighbourRelation::kAddRemove) return largest;
    return 2 * largest * (1 + opposite);
  }

 private:
  int64_t CodesOf(uint32_t attribute) const { return domain_.attributes()[attribute].size(); }

  const AxisNorm& OfAxis(uint32_t axis, int64_t codes) {
    const auto [found, is_new] = axes_.try_emplace({axis, codes});
    if (is_new) found->second = NormOf(queries_.axes[axis], codes);
    return found->second;
  }

  const Domain& domain_;
  const NeighbourRelation relation_;
  const ProductQueries& queries_;
  std::map<std::pair<uint32_t, int64_t>, AxisNorm> axes_;
};

}  // namespace

absl::StatusOr<Rho> CostOfProducts(const Domain& domain, const UnitBound& unit, const ProductQueries& queries,
                                   std::span<const Rational> sigma_squared) {
  RETURN_IF_ERROR(MarginalsSensitivity(unit, 1).status());  // the unit's record bound can be counted with
  RETURN_IF_ERROR(ValidateProducts(domain, queries));
  if (sigma_squared.size() != queries.groups.size())
    return absl::InvalidArgumentError("each group needs a noise parameter");
  ProductNorms norms(domain, unit.relation, queries);
  // In 2^-20 of a unit, each group rounded up.
  constexpr int64_t kPartsPerUnit = int64_t{1} << 20;
  const mpz_class records(unit.max_records);
  mpz_class parts(0);
  mpz_class of_group(0);
  for (size_t i = 0; i < queries.groups.size(); ++i) {
    const Rational& noise = sigma_squared[i];
    if (noise.numerator <= 0 || noise.denominator <= 0)
      return absl::InvalidArgumentError("a noise parameter must be above 0");
    // Of many groups over attributes of one size all cost the same.
    const bool is_alike =
        i > 0 && noise == sigma_squared[i - 1] && norms.AreAlike(queries.groups[i], queries.groups[i - 1]);
    if (!is_alike) {
      const mpq_class norm = norms.Of(queries.groups[i]);
      const mpz_class numerator =
          norm.get_num() * records * records * noise.denominator * mpz_class(kRhoUnitsPerOne) * kPartsPerUnit;
      const mpz_class denominator = 2 * norm.get_den() * noise.numerator;
      of_group = (numerator + denominator - 1) / denominator;
    }
    parts += of_group;
  }
  const mpz_class units = (parts + kPartsPerUnit - 1) / kPartsPerUnit;
  constexpr int64_t kMostUnits = std::numeric_limits<int64_t>::max() / 4;
  if (units > kMostUnits) return absl::OutOfRangeError("no account can hold such a cost");
  return Rho(units.get_si());
}

}  // namespace curator::dp
