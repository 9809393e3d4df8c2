#include "dp/domain/constraint.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/dates.h"

namespace curator::dp {
namespace {

std::string Quoted(const Attribute& attribute) {
  return absl::StrCat("\"", attribute.name(), "\"");
}

// Codes below stand for values: all but those of the catch-all and of missing values.
uint32_t KnownCodes(const Attribute& attribute) {
  const auto* categorical = std::get_if<CategoricalKind>(&attribute.kind());
  return static_cast<uint32_t>(categorical != nullptr ? static_cast<int64_t>(categorical->values.size())
                                                      : attribute.run_size());
}

absl::Status CheckAttributes(const std::vector<Attribute>& attributes,
                             const std::array<uint32_t, 2>& constrained,
                             const std::array<std::string_view, 2>& fields) {
  for (size_t i = 0; i < 2; ++i) {
    if (constrained[i] >= attributes.size()) return InvalidField(fields[i], "is not one of the attributes");
  }
  if (constrained[0] == constrained[1])
    return InvalidField(fields[1], absl::StrCat(Quoted(attributes[constrained[1]]),
                                                " is named twice; a constraint is between two attributes"));
  const int64_t cells = attributes[constrained[0]].size() * attributes[constrained[1]].size();
  if (cells <= kMaxConstrainedCells) return absl::OkStatus();
  return InvalidField(fields[1], absl::StrCat("makes ", cells, " pairs of bins; at most ",
                                              kMaxConstrainedCells, " are allowed in a constraint"));
}

// What the values of an attribute are, where they have an order.
enum class Scale : uint8_t { kNumbers, kDates, kCategories };

std::optional<Scale> ScaleOf(const Attribute& attribute) {
  if (const auto* categorical = std::get_if<CategoricalKind>(&attribute.kind()))
    return categorical->ordered ? std::optional(Scale::kCategories) : std::nullopt;
  return std::holds_alternative<DateKind>(attribute.kind()) ? Scale::kDates : Scale::kNumbers;
}

const char* NameOfScale(std::optional<Scale> scale) {
  if (!scale) return "categories without an order";
  switch (*scale) {
    case Scale::kNumbers:
      return "numbers";
    case Scale::kDates:
      return "dates";
    case Scale::kCategories:
      return "ordered categories";
  }
  return "";
}

absl::Status CheckComparable(const Attribute& lower, const Attribute& upper) {
  const std::optional<Scale> scale = ScaleOf(lower);
  if (!scale || scale != ScaleOf(upper)) {
    return InvalidField("order.upper", absl::StrCat(Quoted(upper), ", of ", NameOfScale(ScaleOf(upper)),
                                                    ", cannot be compared with ", Quoted(lower), ", of ",
                                                    NameOfScale(scale)));
  }
  if (scale != Scale::kCategories) return absl::OkStatus();
  if (std::get<CategoricalKind>(lower.kind()).values == std::get<CategoricalKind>(upper.kind()).values)
    return absl::OkStatus();
  return InvalidField("order.upper",
                      absl::StrCat(Quoted(upper), " and ", Quoted(lower),
                                   " list other values, or in another order; only equal lists are compared"));
}

using OrderedValue = std::variant<int64_t, double>;

std::weak_ordering Compared(int64_t whole, double real) {
  if (real >= 0x1p63) return std::weak_ordering::less;
  if (real < -0x1p63) return std::weak_ordering::greater;
  const double floor = std::floor(real);
  const auto whole_floor = static_cast<int64_t>(floor);  // exact: within the range of the type
  if (whole != whole_floor) return whole <=> whole_floor;
  return floor < real ? std::weak_ordering::less : std::weak_ordering::equivalent;
}

std::weak_ordering Compared(double one, double other) {
  if (one < other) return std::weak_ordering::less;
  return one > other ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

// Exact also between an integer and a double, which is finite.
std::weak_ordering Compare(const OrderedValue& one, const OrderedValue& other) {
  const auto* whole = std::get_if<int64_t>(&one);
  const auto* other_whole = std::get_if<int64_t>(&other);
  if (whole != nullptr && other_whole != nullptr) return *whole <=> *other_whole;
  if (whole != nullptr) return Compared(*whole, std::get<double>(other));
  if (other_whole != nullptr) return 0 <=> Compared(*other_whole, std::get<double>(one));
  return Compared(std::get<double>(one), std::get<double>(other));
}

// The values of a bin, from its least one.
struct Extent {
  OrderedValue least;
  OrderedValue most;
  bool has_most = true;  // `most` itself lies in the bin; otherwise all values of the bin are below it
};

int64_t DayOf(int64_t seconds) {
  constexpr int64_t kSecondsOfDay = 86'400;
  return seconds >= 0 ? seconds / kSecondsOfDay : -((kSecondsOfDay - 1 - seconds) / kSecondsOfDay);
}

Extent ExtentOf(const IntegerKind& kind, uint32_t code) {
  const auto width = static_cast<uint64_t>(kind.bin_width);
  const uint64_t first = static_cast<uint64_t>(kind.min) + code * width;
  const uint64_t left = static_cast<uint64_t>(kind.max) - first;
  return {.least = static_cast<int64_t>(first),
          .most = static_cast<int64_t>(first + std::min(left, width - 1))};
}

Extent ExtentOf(const NumericKind& kind, uint32_t code) {
  return {.least = kind.edges[code],
          .most = kind.edges[code + 1],
          .has_most = code + 2 == static_cast<uint32_t>(kind.edges.size())};
}

// A known code of an attribute whose values have an order.
Extent ExtentOf(const Attribute& attribute, uint32_t code, bool as_days) {
  if (const auto* integer = std::get_if<IntegerKind>(&attribute.kind())) return ExtentOf(*integer, code);
  if (const auto* numeric = std::get_if<NumericKind>(&attribute.kind())) return ExtentOf(*numeric, code);
  if (const auto* date = std::get_if<DateKind>(&attribute.kind())) {
    const DateInterval dates = DatesOfBin(*date, code);
    if (!as_days) return {.least = dates.from, .most = dates.until - 1};
    return {.least = DayOf(dates.from), .most = DayOf(dates.until - 1)};
  }
  return {.least = int64_t{code}, .most = int64_t{code}};
}

// Two ordered attributes, of which the values of one are at most, or below, those of the other.
class OrderOfBins {
 public:
  OrderOfBins(const Attribute& lower, const Attribute& upper, bool strict)
      : lower_(lower), upper_(upper), strict_(strict), as_days_(HasDays(lower) || HasDays(upper)) {}

  // Whether two values of these bins fulfil the order: the least of one with the largest of the other.
  bool Allows(uint32_t lower, uint32_t upper) const {
    const Extent above = ExtentOf(upper_, upper, as_days_);
    const std::weak_ordering order = Compare(ExtentOf(lower_, lower, as_days_).least, above.most);
    return order < 0 || (order == 0 && above.has_most && !strict_);
  }

  // The codes of `upper` that are forbidden with this code of `lower`: the first ones, since largest values
  // rise with the code.
  uint32_t ForbiddenOfUpper(uint32_t lower) const {
    return FirstWhere(KnownCodes(upper_), [&](uint32_t upper) { return Allows(lower, upper); });
  }
  // The codes of `lower` that are allowed with this code of `upper`: the first ones, since least values rise.
  uint32_t AllowedOfLower(uint32_t upper) const {
    return FirstWhere(KnownCodes(lower_), [&](uint32_t lower) { return !Allows(lower, upper); });
  }

 private:
  static bool HasDays(const Attribute& attribute) {
    const auto* date = std::get_if<DateKind>(&attribute.kind());
    return date != nullptr && date->bins != DateBins::kListed;
  }
  // The first of 0..end-1 where `holds`, which holds from some code on; `end` where there is none.
  template <typename Holds>
  static uint32_t FirstWhere(uint32_t end, const Holds& holds) {
    uint32_t first = 0;
    while (first < end) {
      const uint32_t middle = first + (end - first) / 2;
      if (holds(middle)) {
        end = middle;
      } else {
        first = middle + 1;
      }
    }
    return first;
  }

  const Attribute& lower_;
  const Attribute& upper_;
  const bool strict_;
  const bool as_days_;
};

absl::Status CheckPair(const std::vector<Attribute>& attributes, const PairsRule& rule, size_t pair,
                       const std::array<uint32_t, 2>& known) {
  for (size_t i = 0; i < 2; ++i) {
    const uint32_t code = rule.allowed[pair][i];
    if (code < known[i]) continue;
    const std::string field = absl::StrCat("allowed_pairs.pairs[", pair, "]");
    const Attribute& attribute = attributes[rule.attributes[i]];
    if (code >= attribute.size()) return InvalidField(field, "is no pair of bins");
    return InvalidField(field, absl::StrCat("\"", attribute.Label(code), "\" stands for no known value of ",
                                            Quoted(attribute), ": it is allowed with every value"));
  }
  return absl::OkStatus();
}

// Each pair, by the order of its codes, is another one.
absl::Status CheckDistinct(const std::vector<std::array<uint32_t, 2>>& allowed) {
  std::vector<size_t> order(allowed.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(allowed[i], i); });
  for (size_t i = 1; i < order.size(); ++i) {
    if (allowed[order[i - 1]] != allowed[order[i]]) continue;
    return InvalidField(absl::StrCat("allowed_pairs.pairs[", order[i], "]"),
                        absl::StrCat("is of the same bins as pairs[", order[i - 1], "]"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Constraint::Facts> Constraint::FactsOf(const std::vector<Attribute>& attributes,
                                                      const OrderRule& rule) {
  RETURN_IF_ERROR(CheckAttributes(attributes, {rule.lower, rule.upper}, {"order.lower", "order.upper"}));
  const Attribute& lower = attributes[rule.lower];
  const Attribute& upper = attributes[rule.upper];
  RETURN_IF_ERROR(CheckComparable(lower, upper));
  const OrderOfBins order(lower, upper, rule.strict);
  const std::array<uint32_t, 2> known = {KnownCodes(lower), KnownCodes(upper)};
  if (!order.Allows(0, known[1] - 1)) {
    return InvalidField(
        "order",
        absl::StrCat("no row could fulfil it: each value of ", Quoted(upper),
                     rule.strict ? " is at most the least of " : " is below the least of ", Quoted(lower)));
  }
  Facts facts{.rule = rule, .attributes = {rule.lower, rule.upper}, .known = known, .limits = {}};
  facts.limits_are_of_lower = known[0] <= known[1];
  for (uint32_t code = 0; code < std::min(known[0], known[1]); ++code) {
    facts.limits.push_back(facts.limits_are_of_lower ? order.ForbiddenOfUpper(code)
                                                     : order.AllowedOfLower(code));
  }
  if (rule.lower > rule.upper) {
    std::swap(facts.attributes[0], facts.attributes[1]);
    std::swap(facts.known[0], facts.known[1]);
  }
  return facts;
}

absl::StatusOr<Constraint::Facts> Constraint::FactsOf(const std::vector<Attribute>& attributes,
                                                      PairsRule rule) {
  RETURN_IF_ERROR(CheckAttributes(attributes, rule.attributes,
                                  {"allowed_pairs.attributes[0]", "allowed_pairs.attributes[1]"}));
  if (rule.allowed.empty())
    return InvalidField("allowed_pairs.pairs", "is empty: no row could fulfil the constraint");
  const std::array<uint32_t, 2> known = {KnownCodes(attributes[rule.attributes[0]]),
                                         KnownCodes(attributes[rule.attributes[1]])};
  for (size_t i = 0; i < rule.allowed.size(); ++i) RETURN_IF_ERROR(CheckPair(attributes, rule, i, known));
  RETURN_IF_ERROR(CheckDistinct(rule.allowed));
  Facts facts{.rule = {}, .attributes = rule.attributes, .known = known, .limits = {}};
  if (rule.attributes[0] > rule.attributes[1]) {
    std::swap(facts.attributes[0], facts.attributes[1]);
    std::swap(facts.known[0], facts.known[1]);
    for (std::array<uint32_t, 2>& pair : rule.allowed) std::swap(pair[0], pair[1]);
    rule.attributes = facts.attributes;
  }
  std::ranges::sort(rule.allowed);
  facts.rule = std::move(rule);
  return facts;
}

absl::StatusOr<Constraint> Constraint::Create(const std::vector<Attribute>& attributes, ConstraintRule rule) {
  Facts facts;
  if (auto* pairs = std::get_if<PairsRule>(&rule)) {
    ASSIGN_OR_RETURN(facts, FactsOf(attributes, std::move(*pairs)));
  } else {
    ASSIGN_OR_RETURN(facts, FactsOf(attributes, std::get<OrderRule>(rule)));
  }
  return Constraint(std::make_shared<const Facts>(std::move(facts)));
}

bool Constraint::Forbids(uint32_t first, uint32_t second) const {
  if (first >= facts_->known[0] || second >= facts_->known[1]) return false;
  if (const auto* pairs = std::get_if<PairsRule>(&facts_->rule))
    return !std::ranges::binary_search(pairs->allowed, std::array<uint32_t, 2>{first, second});
  const bool rises = std::get<OrderRule>(facts_->rule).lower == facts_->attributes[0];
  const uint32_t lower = rises ? first : second;
  const uint32_t upper = rises ? second : first;
  return facts_->limits_are_of_lower ? upper < facts_->limits[lower] : lower >= facts_->limits[upper];
}

std::string WhyForbidden(const Constraint& constraint, const std::vector<Attribute>& attributes) {
  if (const auto* order = std::get_if<OrderRule>(&constraint.rule())) {
    return absl::StrCat("is broken: ", Quoted(attributes[order->upper]),
                        order->strict ? " is not above " : " is below ", Quoted(attributes[order->lower]));
  }
  return absl::StrCat("is broken: ", Quoted(attributes[constraint.attributes()[0]]), " and ",
                      Quoted(attributes[constraint.attributes()[1]]), " are no allowed pair");
}

}  // namespace curator::dp
