#include "service/workloads/resolve_expression.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/row_major.h"

namespace curator::service {
namespace {

constexpr size_t kMostConditionsOfAllOf = 4096;

// Of a record: kIsFalse < kIsUnknown < kIsTrue, so that "and" is the least, "or" the greatest, and "not" the
// distance from kIsTrue.
constexpr uint8_t kIsFalse = 0;
constexpr uint8_t kIsUnknown = 1;
constexpr uint8_t kIsTrue = 2;

// An expression whose conditions are numbered.
struct Node {
  Expression::Kind kind = Expression::Kind::kCondition;
  size_t condition = 0;
  std::vector<Node> operands;
};

struct ResolvedTree {
  Node root;
  std::vector<ResolvedCondition> conditions;
};

bool IsSmallEnough(const Expression& expression, size_t levels_left, size_t& conditions_left) {
  if (levels_left == 0) return false;
  if (expression.kind == Expression::Kind::kCondition) return conditions_left-- > 0;
  return std::ranges::all_of(expression.operands, [&](const Expression& operand) {
    return IsSmallEnough(operand, levels_left - 1, conditions_left);
  });
}

absl::Status CheckSize(const Expression& expression) {
  size_t conditions_left = kMostConditionsOfExpression;
  if (IsSmallEnough(expression, kDeepestExpression, conditions_left)) return absl::OkStatus();
  return InvalidField("expression",
                      absl::StrCat("has more than ", kMostConditionsOfExpression,
                                   " conditions or is deeper than ", kDeepestExpression, " levels"));
}

absl::StatusOr<ResolvedCondition> ResolveBeside(const dp::Domain& domain, const Condition& condition,
                                                const dp::AttributeSet& by, const std::string& path) {
  ASSIGN_OR_RETURN(ResolvedCondition resolved, ResolveCondition(domain, condition, path));
  if (!std::ranges::binary_search(by, resolved.attribute)) return resolved;
  return InvalidField(path + ".attribute",
                      absl::StrCat("\"", condition.attribute, "\" is also one of \"by\""));
}

// `expression` is at most kDeepestExpression levels deep.
absl::StatusOr<Node> ResolveNode(const dp::Domain& domain, const Expression& expression,
                                 const dp::AttributeSet& by, const std::string& path, ResolvedTree& tree) {
  Node node{.kind = expression.kind, .condition = tree.conditions.size(), .operands = {}};
  if (expression.kind == Expression::Kind::kCondition) {
    ASSIGN_OR_RETURN(ResolvedCondition condition,
                     ResolveBeside(domain, expression.condition, by, path + ".condition"));
    tree.conditions.push_back(std::move(condition));
    return node;
  }
  const bool is_not = expression.kind == Expression::Kind::kNot;
  if (expression.operands.empty() || (is_not && expression.operands.size() > 1))
    return InvalidField(path, is_not ? "negates not exactly one expression" : "has no expression");
  const bool is_all = expression.kind == Expression::Kind::kAllOf;
  for (size_t i = 0; i < expression.operands.size(); ++i) {
    const std::string own_path =
        is_not ? path + ".not" : absl::StrCat(path, is_all ? ".all_of" : ".any_of", ".expressions[", i, "]");
    ASSIGN_OR_RETURN(Node operand, ResolveNode(domain, expression.operands[i], by, own_path, tree));
    node.operands.push_back(std::move(operand));
  }
  return node;
}

bool IsConjunction(const Node& node) {
  if (node.kind == Expression::Kind::kCondition) return true;
  return node.kind == Expression::Kind::kAllOf && std::ranges::all_of(node.operands, IsConjunction);
}

// "or" binds less than "and", which binds less than "not".
std::string WordsOf(const dp::Domain& domain, const ResolvedTree& tree, const Node& node,
                    Expression::Kind outside) {
  if (node.kind == Expression::Kind::kCondition)
    return DescribeConditions(domain, {tree.conditions[node.condition]});
  if (node.operands.size() == 1 && node.kind != Expression::Kind::kNot)
    return WordsOf(domain, tree, node.operands.front(), outside);
  if (node.kind == Expression::Kind::kNot)
    return absl::StrCat("not (", WordsOf(domain, tree, node.operands.front(), Expression::Kind::kCondition),
                        ")");
  std::string words;
  for (const Node& operand : node.operands) {
    absl::StrAppend(&words,
                    words.empty()                           ? ""
                    : node.kind == Expression::Kind::kAllOf ? " and "
                                                            : " or ",
                    WordsOf(domain, tree, operand, node.kind));
  }
  const bool is_inside = node.kind == Expression::Kind::kAnyOf && outside == Expression::Kind::kAllOf;
  return is_inside ? absl::StrCat("(", words, ")") : words;
}

// Joins the conditions on each attribute to one.
absl::StatusOr<std::vector<ResolvedCondition>> JoinedByAttribute(const dp::Domain& domain,
                                                                 std::vector<ResolvedCondition> conditions,
                                                                 const std::string& path) {
  std::ranges::stable_sort(conditions, {}, &ResolvedCondition::attribute);
  std::vector<ResolvedCondition> joined;
  for (ResolvedCondition& condition : conditions) {
    if (joined.empty() || joined.back().attribute != condition.attribute) {
      joined.push_back(std::move(condition));
      continue;
    }
    joined.back().runs = dp::CommonTo(joined.back().runs, condition.runs);
    joined.back().words.clear();
    if (joined.back().runs.empty())
      return InvalidField(path,
                          absl::StrCat("no value of \"", domain.attributes()[condition.attribute].name(),
                                       "\" fulfils all its conditions"));
  }
  return joined;
}

// The values of the conditions of a tree, and of the tree, at the cells of a marginal, a chunk of consecutive
// cells at a time.
class CellEvaluation {
 public:
  CellEvaluation(const dp::Domain& domain, const ResolvedTree& tree, dp::AttributeSet attributes)
      : tree_(tree), attributes_(std::move(attributes)), sizes_(domain.SizesOf(attributes_)) {
    for (const ResolvedCondition& condition : tree.conditions)
      positions_.push_back(dp::PositionIn(attributes_, condition.attribute).value_or(0));
    codes_.resize(attributes_.size() * kChunk);
  }

  // 1 for each of the cells at which the tree is true, 0 for the others.
  std::vector<uint8_t> Fulfilled(int64_t cells) {
    std::vector<uint8_t> fulfilled(static_cast<size_t>(cells));
    std::vector<uint32_t> codes(attributes_.size());
    for (size_t start = 0; start < fulfilled.size(); start += kChunk) {
      length_ = std::min(kChunk, fulfilled.size() - start);
      for (size_t i = 0; i < length_; ++i) NoteAndStep(codes, i);
      const std::span<uint8_t> chunk = std::span(fulfilled).subspan(start, length_);
      Evaluate(tree_.root, chunk);
      for (uint8_t& value : chunk) value = value == kIsTrue ? 1 : 0;
    }
    return fulfilled;
  }

 private:
  static constexpr size_t kChunk = 4096;

  void NoteAndStep(std::vector<uint32_t>& codes, size_t at) {
    for (size_t i = 0; i < codes.size(); ++i) codes_[i * kChunk + at] = codes[i];
    for (size_t i = codes.size(); i > 0 && ++codes[i - 1] == sizes_[i - 1];) codes[--i] = 0;
  }

  void EvaluateCondition(size_t index, std::span<uint8_t> values) const {
    const ResolvedCondition& condition = tree_.conditions[index];
    const uint32_t* const codes = codes_.data() + positions_[index] * kChunk;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto run = std::ranges::lower_bound(condition.runs, codes[i], {}, &dp::CodeInterval::last);
      if (run != condition.runs.end() && run->first <= codes[i]) {
        values[i] = kIsTrue;
      } else {
        values[i] = codes[i] >= condition.unknown_from ? kIsUnknown : kIsFalse;
      }
    }
  }

  // At most kDeepestExpression calls deep.
  void Evaluate(const Node& node, std::span<uint8_t> values) const {
    if (node.kind == Expression::Kind::kCondition) return EvaluateCondition(node.condition, values);
    Evaluate(node.operands.front(), values);
    if (node.kind == Expression::Kind::kNot) {
      for (uint8_t& value : values) value = static_cast<uint8_t>(kIsTrue - value);
      return;
    }
    std::vector<uint8_t> others(values.size());
    const bool is_all = node.kind == Expression::Kind::kAllOf;
    for (size_t operand = 1; operand < node.operands.size(); ++operand) {
      Evaluate(node.operands[operand], others);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = is_all ? std::min(values[i], others[i]) : std::max(values[i], others[i]);
    }
  }

  const ResolvedTree& tree_;
  const dp::AttributeSet attributes_;
  const std::vector<int64_t> sizes_;
  std::vector<size_t> positions_;  // of each condition's attribute
  std::vector<uint32_t> codes_;    // of each attribute, at each cell of the chunk
  size_t length_ = 0;
};

// The cells of a marginal that fulfil a predicate.
struct CellTable {
  dp::AttributeSet attributes;
  std::vector<size_t> sizes;
  std::vector<uint8_t> fulfilled;  // 1 or 0

  size_t Stride(size_t position) const {
    size_t stride = 1;
    for (size_t i = position + 1; i < sizes.size(); ++i) stride *= sizes[i];
    return stride;
  }
};

// Whether cells that differ in this attribute alone are all fulfilled, or none of them.
bool IsIndifferent(const CellTable& table, size_t position) {
  const size_t stride = table.Stride(position);
  const size_t block = stride * table.sizes[position];
  for (size_t start = 0; start < table.fulfilled.size(); start += block) {
    for (size_t code = 1; code < table.sizes[position]; ++code) {
      if (std::memcmp(&table.fulfilled[start], &table.fulfilled[start + code * stride], stride) != 0)
        return false;
    }
  }
  return true;
}

CellTable Without(CellTable table, size_t position) {
  const size_t stride = table.Stride(position);
  const size_t block = stride * table.sizes[position];
  size_t kept = 0;
  for (size_t start = 0; start < table.fulfilled.size(); start += block, kept += stride)
    std::copy_n(table.fulfilled.begin() + static_cast<ptrdiff_t>(start), stride,
                table.fulfilled.begin() + static_cast<ptrdiff_t>(kept));
  table.fulfilled.resize(kept);
  table.attributes.erase(table.attributes.begin() + static_cast<ptrdiff_t>(position));
  table.sizes.erase(table.sizes.begin() + static_cast<ptrdiff_t>(position));
  return table;
}

// The codes of one attribute that some fulfilled cell has.
std::vector<uint32_t> CodesAt(const CellTable& table, size_t position) {
  const size_t stride = table.Stride(position);
  const size_t block = stride * table.sizes[position];
  std::vector<uint32_t> codes;
  for (size_t code = 0; code < table.sizes[position]; ++code) {
    for (size_t start = code * stride; start < table.fulfilled.size(); start += block) {
      if (std::memchr(&table.fulfilled[start], 1, stride) == nullptr) continue;
      codes.push_back(static_cast<uint32_t>(code));
      break;
    }
  }
  return codes;
}

// One condition for each attribute, where the fulfilled cells, `number` of them, are those that fulfil all of
// these.
std::optional<std::vector<ResolvedCondition>> AsConditions(const CellTable& table, size_t number) {
  std::vector<ResolvedCondition> conditions;
  size_t product = 1;
  for (size_t i = 0; i < table.attributes.size(); ++i) {
    std::vector<uint32_t> codes = CodesAt(table, i);
    product *= codes.size();
    conditions.push_back({.attribute = table.attributes[i], .runs = dp::RunsOf(std::move(codes))});
  }
  if (product != number) return std::nullopt;
  return conditions;
}

dp::AttributeSet AttributesIn(const std::vector<ResolvedCondition>& conditions) {
  dp::AttributeSet attributes;
  for (const ResolvedCondition& condition : conditions) attributes.push_back(condition.attribute);
  std::ranges::sort(attributes);
  attributes.erase(std::unique(attributes.begin(), attributes.end()), attributes.end());
  return attributes;
}

// What it takes to decide whether a code is in some runs.
int64_t StepsOf(const dp::CodeRuns& runs) {
  return 1 + static_cast<int64_t>(std::bit_width(runs.size()));
}

absl::StatusOr<int64_t> TakeCells(const dp::Domain& domain, const dp::AttributeSet& attributes,
                                  const std::vector<ResolvedCondition>& conditions,
                                  PredicateAllowance& allowance, const std::string& path) {
  constexpr int64_t kMost = int64_t{1} << 62;
  const int64_t cells = domain.CellCount(attributes).value_or(kMost);
  int64_t each = static_cast<int64_t>(attributes.size());
  for (const ResolvedCondition& condition : conditions) each += StepsOf(condition.runs);
  int64_t steps = 0;
  if (__builtin_mul_overflow(cells, each, &steps)) steps = kMost;
  RETURN_IF_ERROR(allowance.Take(cells, steps, path));
  return cells;
}

std::vector<uint32_t> PositionsOfOnes(const std::vector<uint8_t>& fulfilled, size_t number) {
  std::vector<uint32_t> cells;
  cells.reserve(number);
  for (size_t cell = 0; cell < fulfilled.size(); ++cell) {
    if (fulfilled[cell] == 1) cells.push_back(static_cast<uint32_t>(cell));
  }
  return cells;
}

absl::StatusOr<CellTable> TableOf(const dp::Domain& domain, const ResolvedTree& tree,
                                  PredicateAllowance& allowance) {
  CellTable table{.attributes = AttributesIn(tree.conditions), .sizes = {}, .fulfilled = {}};
  ASSIGN_OR_RETURN(const int64_t cells,
                   TakeCells(domain, table.attributes, tree.conditions, allowance, "expression"));
  for (const int64_t size : domain.SizesOf(table.attributes))
    table.sizes.push_back(static_cast<size_t>(size));
  table.fulfilled = CellEvaluation(domain, tree, table.attributes).Fulfilled(cells);
  for (size_t i = table.attributes.size(); i-- > 0;) {
    if (IsIndifferent(table, i)) table = Without(std::move(table), i);
  }
  return table;
}

absl::StatusOr<PredicateForm> FormOfExpression(const dp::Domain& domain, const Expression& expression,
                                               const dp::AttributeSet& by, PredicateAllowance& allowance) {
  RETURN_IF_ERROR(CheckSize(expression));
  ResolvedTree tree;
  ASSIGN_OR_RETURN(tree.root, ResolveNode(domain, expression, by, "expression", tree));
  PredicateForm form;
  if (IsConjunction(tree.root)) {
    ASSIGN_OR_RETURN(form.conditions, JoinedByAttribute(domain, std::move(tree.conditions), "expression"));
    form.predicate.words = DescribeConditions(domain, *form.conditions);
    return form;
  }
  ASSIGN_OR_RETURN(CellTable table, TableOf(domain, tree, allowance));
  const auto number = static_cast<size_t>(std::ranges::count(table.fulfilled, 1));
  if (number == 0) return InvalidField("expression", "is true of no record, whatever its values");
  form.predicate.words = WordsOf(domain, tree, tree.root, Expression::Kind::kCondition);
  form.conditions = AsConditions(table, number);
  if (!table.attributes.empty()) form.predicate.cells = PositionsOfOnes(table.fulfilled, number);
  form.predicate.attributes = std::move(table.attributes);
  return form;
}

absl::StatusOr<PredicateForm> FormOfAllOf(const dp::Domain& domain, const std::vector<Condition>& all_of,
                                          const dp::AttributeSet& by) {
  if (all_of.size() > kMostConditionsOfAllOf)
    return InvalidField("all_of", absl::StrCat("has ", all_of.size(), " conditions; at most ",
                                               kMostConditionsOfAllOf, " are answered"));
  std::vector<ResolvedCondition> conditions;
  for (size_t i = 0; i < all_of.size(); ++i) {
    ASSIGN_OR_RETURN(ResolvedCondition condition,
                     ResolveBeside(domain, all_of[i], by, absl::StrCat("all_of[", i, "]")));
    conditions.push_back(std::move(condition));
  }
  PredicateForm form;
  ASSIGN_OR_RETURN(form.conditions, JoinedByAttribute(domain, std::move(conditions), "all_of"));
  form.predicate.words = DescribeConditions(domain, *form.conditions);
  return form;
}

bool HoldsForAll(const dp::Domain& domain, const ResolvedCondition& condition) {
  return condition.runs.size() == 1 && condition.runs.front().first == 0 &&
         condition.runs.front().last + int64_t{1} == domain.attributes()[condition.attribute].size();
}

// The cells of conditions on different attributes, in rising order.
std::vector<uint32_t> CellsOf(const dp::Domain& domain, const std::vector<ResolvedCondition>& conditions) {
  std::vector<uint32_t> cells = {0};
  for (const ResolvedCondition& condition : conditions) {
    const auto size = static_cast<uint32_t>(domain.attributes()[condition.attribute].size());
    std::vector<uint32_t> next;
    for (const uint32_t cell : cells) {
      for (const dp::CodeInterval& run : condition.runs) {
        for (uint32_t code = run.first; code <= run.last; ++code) next.push_back(cell * size + code);
      }
    }
    cells = std::move(next);
  }
  return cells;
}

}  // namespace

absl::Status PredicateAllowance::Take(int64_t cells, int64_t steps, const std::string& path) {
  if (cells > cells_) {
    return InvalidField(path, absl::StrCat("is about attributes with more than ", cells_, " cells together, ",
                                           "which is what is left of the ", kMostPredicateCells,
                                           " cells of all conditions of a request"));
  }
  if (steps > steps_) {
    return InvalidField(path, absl::StrCat("has too many conditions for the cells of its attributes: with ",
                                           "those before it, more than ", kMostPredicateSteps,
                                           " steps, which is the limit of one request"));
  }
  cells_ -= cells;
  steps_ -= steps;
  return absl::OkStatus();
}

absl::StatusOr<PredicateForm> ResolvePredicateForm(const dp::Domain& domain,
                                                   const PredicateRequest& predicate,
                                                   const dp::AttributeSet& by,
                                                   PredicateAllowance& allowance) {
  if (!predicate.expression) return FormOfAllOf(domain, predicate.all_of, by);
  if (!predicate.all_of.empty())
    return InvalidField("expression", "is given beside all_of; a predicate has one of the two");
  return FormOfExpression(domain, *predicate.expression, by, allowance);
}

absl::StatusOr<ResolvedPredicate> ResolvePredicate(const dp::Domain& domain,
                                                   const PredicateRequest& predicate,
                                                   PredicateAllowance& allowance) {
  ASSIGN_OR_RETURN(PredicateForm form, ResolvePredicateForm(domain, predicate, {}, allowance));
  if (!form.conditions || !form.predicate.attributes.empty()) return std::move(form.predicate);
  std::erase_if(*form.conditions, [&](const auto& condition) { return HoldsForAll(domain, condition); });
  form.predicate.attributes = AttributesIn(*form.conditions);
  if (form.conditions->empty()) return std::move(form.predicate);
  RETURN_IF_ERROR(TakeCells(domain, form.predicate.attributes, *form.conditions, allowance,
                            predicate.expression ? "expression" : "all_of")
                      .status());
  form.predicate.cells = CellsOf(domain, *form.conditions);
  return std::move(form.predicate);
}

QueryGroupSize SizeOfPredicate(const dp::Domain& domain, const ResolvedPredicate& predicate,
                               const dp::AttributeSet& by) {
  constexpr int64_t kMost = int64_t{1} << 62;
  return {.queries = domain.CellCount(by).value_or(kMost),
          .terms = domain.CellCount(dp::Union(predicate.attributes, by)).value_or(kMost)};
}

dp::QueryGroup PredicateQueries(const dp::Domain& domain, const ResolvedPredicate& predicate,
                                const dp::AttributeSet& by) {
  const dp::AttributeSet attributes = dp::Union(predicate.attributes, by);
  const std::vector<int64_t> sizes = domain.SizesOf(attributes);
  const std::vector<int64_t> by_strides = dp::StridesWithin(attributes, sizes, by);
  const std::vector<int64_t> own_strides = dp::StridesWithin(attributes, sizes, predicate.attributes);
  std::vector<uint8_t> fulfilled(static_cast<size_t>(domain.CellCount(predicate.attributes).value_or(1)));
  for (const uint32_t cell : predicate.cells) fulfilled[cell] = 1;
  std::vector<dp::LinearQuery> queries(static_cast<size_t>(domain.CellCount(by).value_or(1)));
  std::vector<uint32_t> codes(attributes.size());
  const auto cells = static_cast<uint32_t>(domain.CellCount(attributes).value_or(1));
  for (uint32_t cell = 0; cell < cells; ++cell) {
    dp::CodesOfCell(sizes, int64_t{cell}, codes);
    int64_t own = 0;
    int64_t group = 0;
    for (size_t i = 0; i < codes.size(); ++i) {
      own += own_strides[i] * codes[i];
      group += by_strides[i] * codes[i];
    }
    if (fulfilled[static_cast<size_t>(own)] == 1) queries[static_cast<size_t>(group)].push_back({cell, 1});
  }
  return {.attributes = attributes, .queries = std::move(queries)};
}

}  // namespace curator::service
