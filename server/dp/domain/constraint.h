// Combinations of two attributes' bins that no record has, which the owner declares as public facts: that one
// value is at most another, or a list of the pairs that there are.
//
// A constraint is a predicate of the codes of one record alone. A pair of codes is forbidden where no two
// values of these bins fulfil the constraint; where bins are coarse, values that break it may share a bin
// with others that do not, and the pair is not forbidden. Missing values and the catch-all stand for no value
// that is known, and no pair with one of them is forbidden.
//
// Thread-safe: immutable values and pure functions of public facts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/attribute.h"

namespace curator::dp {

inline constexpr size_t kMaxConstraints = 64;
inline constexpr int64_t kMaxConstrainedCells = int64_t{1} << 20;  // of the two attributes of one

// The value of `lower` is at most that of `upper`, or below it. Integers, codes and numbers are compared as
// numbers, exactly; dates as days, or as times where both have listed edges; ordered categories where both
// list the same values.
struct OrderRule {
  uint32_t lower = 0;
  uint32_t upper = 0;
  bool strict = false;
  bool operator==(const OrderRule&) const = default;
};

// The codes of the two attributes are one of `allowed`, in the order of `attributes`.
struct PairsRule {
  std::array<uint32_t, 2> attributes = {};
  std::vector<std::array<uint32_t, 2>> allowed;
  bool operator==(const PairsRule&) const = default;
};

using ConstraintRule = std::variant<OrderRule, PairsRule>;

class Constraint {
 public:
  // Between attributes that are given by their indices. Errors: INVALID_ARGUMENT with a field path below the
  // constraint ("order.upper", "allowed_pairs.pairs[3]") for no such attribute, one attribute twice, values
  // that cannot be compared, more than kMaxConstrainedCells pairs of codes, no allowed pair or one twice, a
  // pair that is allowed anyway, and an order that forbids every pair of values.
  static absl::StatusOr<Constraint> Create(const std::vector<Attribute>& attributes, ConstraintRule rule);

  // As it was given, but the attributes of pairs rise, and so do the pairs.
  const ConstraintRule& rule() const { return facts_->rule; }
  // Of which codes are taken; they rise strictly.
  const std::array<uint32_t, 2>& attributes() const { return facts_->attributes; }

  // Whether no record has these codes of attributes()[0] and attributes()[1], which are below their sizes:
  // the structural zeros of the marginal of both.
  bool Forbids(uint32_t first, uint32_t second) const;

  bool operator==(const Constraint& other) const { return rule() == other.rule(); }

 private:
  struct Facts {
    ConstraintRule rule;
    std::array<uint32_t, 2> attributes = {};
    std::array<uint32_t, 2> known = {};  // the codes below stand for values, in the order of attributes()
    // Of an order, for each known code of the attribute with fewer of them: how many codes of `upper` are
    // forbidden with this code of `lower` (the first ones), or how many codes of `lower` are allowed with
    // this code of `upper`. At most 2^10 entries.
    std::vector<uint32_t> limits;
    bool limits_are_of_lower = false;
  };
  explicit Constraint(std::shared_ptr<const Facts> facts) : facts_(std::move(facts)) {}
  static absl::StatusOr<Facts> FactsOf(const std::vector<Attribute>& attributes, const OrderRule& rule);
  static absl::StatusOr<Facts> FactsOf(const std::vector<Attribute>& attributes, PairsRule rule);

  std::shared_ptr<const Facts> facts_;
};

// Why a record with forbidden codes is rejected, for the owner: "is broken: \"end\" is below \"start\"". One
// text for each constraint. `attributes` are those that it was created with.
std::string WhyForbidden(const Constraint& constraint, const std::vector<Attribute>& attributes);

}  // namespace curator::dp
