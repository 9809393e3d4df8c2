#include "client/sql/output.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "client/sql/having.h"
#include "client/sql/places.h"
#include "client/sql/refusal.h"

namespace curator::sql {
namespace {

constexpr int kMostTargets = 256;
constexpr int kMostSortKeys = 64;

// One entry of SELECT's list: a column, or the statistics of a call.
struct Target {
  std::string alias;
  int64_t place = 0;
  const tree::ColumnReference* column = nullptr;
  std::vector<Aggregate> aggregates;
};

class OutputBuilder {
 public:
  OutputBuilder(std::string_view sql, const Columns& columns, Aggregates& aggregates)
      : sql_(sql), columns_(columns), aggregates_(aggregates) {}

  absl::StatusOr<Output> Build(const tree::SelectStatement& select) {
    RETURN_IF_ERROR(ReadTargets(select));
    for (const tree::Node& node : select.group_by()) RETURN_IF_ERROR(AddGroup(node));
    for (const Target& target : targets_) RETURN_IF_ERROR(AddColumns(target));
    if (select.has_having()) {
      ASSIGN_OR_RETURN(*output_.selection.mutable_having(), HavingOf(sql_, aggregates_, select.having()));
    }
    if (select.order_by_size() > kMostSortKeys) {
      return Refusal(sql_, PlaceOf(select.order_by(kMostSortKeys)),
                     absl::StrCat("ORDER BY takes at most ", kMostSortKeys, " keys"));
    }
    for (const tree::Node& node : select.order_by()) RETURN_IF_ERROR(AddKey(node.sort()));
    RETURN_IF_ERROR(AddLimits(select));
    return std::move(output_);
  }

 private:
  absl::Status ReadTargets(const tree::SelectStatement& select) {
    if (select.targets().empty()) {
      return absl::InvalidArgumentError(
          "SELECT has an empty list: name grouping columns and aggregates, such as COUNT(*)");
    }
    if (select.targets_size() > kMostTargets) {
      return Refusal(sql_, select.targets(kMostTargets).target().location(),
                     absl::StrCat("SELECT takes at most ", kMostTargets, " columns"));
    }
    for (const tree::Node& node : select.targets()) {
      const tree::ResultTarget& result = node.target();
      Target target{.alias = result.name(), .place = result.location()};
      if (HasControlCharacter(target.alias))
        return Refusal(sql_, result.location(), "a name has no control characters");
      if (result.value().has_column()) {
        target.column = &result.value().column();
      } else if (result.value().has_call()) {
        ASSIGN_OR_RETURN(target.aggregates, aggregates_.Add(result.value().call()));
      } else {
        return Refusal(sql_, PlaceOf(result.value()),
                       "SELECT takes grouping columns and aggregates: columns are not calculated; select the "
                       "parts, and calculate with the answers");
      }
      targets_.push_back(std::move(target));
    }
    return absl::OkStatus();
  }

  // The target at a position from 1, as ORDER BY 2 writes it.
  absl::StatusOr<const Target*> TargetAt(const tree::Constant& constant, std::string_view clause) const {
    const int position = constant.integer().value();
    if (constant.has_integer() && position >= 1 && position <= static_cast<int>(targets_.size()))
      return &targets_[static_cast<size_t>(position) - 1];
    return Refusal(sql_, constant.location(),
                   absl::StrCat(std::string(clause), " takes names, and positions in SELECT's list: 1 to ",
                                targets_.size()));
  }

  const Target* TargetCalled(const tree::ColumnReference& column) const {
    if (column.fields_size() != 1) return nullptr;
    const std::string& name = column.fields(0).string().text();
    const auto target = std::find_if(targets_.begin(), targets_.end(),
                                     [&](const Target& each) { return !name.empty() && each.alias == name; });
    return target == targets_.end() ? nullptr : &*target;
  }

  absl::Status AddGroup(const tree::Node& node) {
    const tree::ColumnReference* column = nullptr;
    const Target* target = nullptr;
    if (node.has_constant()) {
      ASSIGN_OR_RETURN(target, TargetAt(node.constant(), "GROUP BY"));
    } else if (node.has_column()) {
      // As in PostgreSQL: a column of the records first, then a name of SELECT's list.
      if (!columns_.Has(node.column())) target = TargetCalled(node.column());
      if (target == nullptr) column = &node.column();
    } else if (node.has_grouping_set()) {
      return Refusal(sql_, PlaceOf(node),
                     "ROLLUP, CUBE and GROUPING SETS are not answered: ask for each grouping");
    } else {
      return Refusal(sql_, PlaceOf(node),
                     "GROUP BY takes attributes: their bins are declared in the schema, and groups are not "
                     "calculated");
    }
    if (target != nullptr) column = target->column;
    if (column == nullptr)
      return Refusal(sql_, PlaceOf(node), "an aggregate makes no groups: GROUP BY takes attributes");
    ASSIGN_OR_RETURN(const Column attribute, columns_.FindAttribute(*column, "GROUP BY"));
    if (!IsGroup(attribute.name)) output_.by.push_back(attribute.name);
    return absl::OkStatus();
  }

  bool IsGroup(const std::string& name) const {
    return std::find(output_.by.begin(), output_.by.end(), name) != output_.by.end();
  }

  absl::StatusOr<Column> GroupOf(const tree::ColumnReference& reference, std::string_view clause) const {
    ASSIGN_OR_RETURN(Column column, columns_.Find(reference));
    if (IsGroup(column.name)) return column;
    std::string words = absl::StrCat("\"", column.name, "\" must be in GROUP BY, or in an aggregate");
    if (column.attribute == nullptr && !column.is_id)
      words = absl::StrCat("\"", column.name, "\" is a measure: write an aggregate of it, such as AVG(",
                           column.name, ")");
    if (column.is_id) {
      words = absl::StrCat("\"", column.name, "\" is never shown: ", std::string(clause),
                           " may have COUNT(DISTINCT ", column.name, ")");
    }
    return Refusal(sql_, reference.location(), words);
  }

  absl::Status AddColumn(std::string name, int64_t place, v1::OutputSource source) {
    if (!names_.insert(name).second) {
      return Refusal(sql_, place,
                     absl::StrCat("two columns are called \"", name, "\": give one another name with AS"));
    }
    v1::OutputColumn& column = *output_.selection.add_columns();
    column.set_name(std::move(name));
    column.mutable_source()->Swap(&source);
    return absl::OkStatus();
  }

  absl::Status AddColumns(const Target& target) {
    v1::OutputSource source;
    if (target.column != nullptr) {
      ASSIGN_OR_RETURN(const Column column, GroupOf(*target.column, "SELECT"));
      source.set_attribute(column.name);
      return AddColumn(target.alias.empty() ? column.name : target.alias, target.place, std::move(source));
    }
    for (const Aggregate& aggregate : target.aggregates) {
      source.set_statistic(aggregate.position);
      std::string name = target.alias.empty() ? aggregate.name : target.alias;
      if (!target.alias.empty() && !aggregate.part.empty()) absl::StrAppend(&name, "_", aggregate.part);
      RETURN_IF_ERROR(AddColumn(std::move(name), target.place, source));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<v1::OutputSource> SourceOf(const Target& target, int64_t place) const {
    v1::OutputSource source;
    if (target.column != nullptr) {
      ASSIGN_OR_RETURN(const Column column, GroupOf(*target.column, "SELECT"));
      source.set_attribute(column.name);
      return source;
    }
    if (target.aggregates.size() != 1)
      return Refusal(sql_, place, "ORDER BY takes one number: name a single percentile_cont(0.5)");
    source.set_statistic(target.aggregates.front().position);
    return source;
  }

  absl::StatusOr<v1::OutputSource> KeySource(const tree::Node& node) {
    const Target* target = nullptr;
    v1::OutputSource source;
    if (node.has_constant()) {
      ASSIGN_OR_RETURN(target, TargetAt(node.constant(), "ORDER BY"));
    } else if (node.has_column()) {
      target = TargetCalled(node.column());
    } else if (node.has_call()) {
      ASSIGN_OR_RETURN(const Aggregate aggregate, aggregates_.AddOne(node.call(), "ORDER BY"));
      source.set_statistic(aggregate.position);
      return source;
    } else {
      return Refusal(sql_, PlaceOf(node),
                     "ORDER BY takes grouping columns, aggregates, names and positions of SELECT's list");
    }
    if (target != nullptr) return SourceOf(*target, PlaceOf(node));
    ASSIGN_OR_RETURN(const Column column, GroupOf(node.column(), "ORDER BY"));
    source.set_attribute(column.name);
    return source;
  }

  absl::Status AddKey(const tree::SortBy& sort) {
    if (sort.direction() == tree::SortBy::USING)
      return Refusal(sql_, PlaceOf(sort.node()), "USING is not known: write ASC or DESC");
    if (sort.nulls() == tree::SortBy::NULLS_FIRST) {
      return Refusal(sql_, PlaceOf(sort.node()),
                     "groups without a value come last, ascending and descending: leave NULLS FIRST out");
    }
    ASSIGN_OR_RETURN(v1::OutputSource source, KeySource(sort.node()));
    v1::SortKey& key = *output_.selection.add_order_by();
    key.mutable_source()->Swap(&source);
    key.set_descending(sort.direction() == tree::SortBy::DESCENDING);
    return absl::OkStatus();
  }

  // None for LIMIT ALL and OFFSET NULL.
  absl::StatusOr<std::optional<int64_t>> RowsOf(const tree::Node& node, std::string_view clause) const {
    const tree::Constant& constant = node.constant();
    if (node.has_constant() && constant.is_null()) return std::nullopt;
    int64_t rows = constant.integer().value();
    bool is_read = constant.has_integer();
    if (constant.has_decimal()) is_read = absl::SimpleAtoi(constant.decimal().text(), &rows);
    if (is_read && rows >= 0) return rows;
    return Refusal(sql_, PlaceOf(node),
                   absl::StrCat(std::string(clause), " takes a whole number that is not negative"));
  }

  absl::Status AddLimits(const tree::SelectStatement& select) {
    if (select.limit_option() == tree::SelectStatement::WITH_TIES)
      return Refusal(sql_, PlaceOf(select.limit()), "WITH TIES is not known: write ROWS ONLY, or LIMIT");
    if (select.has_limit()) {
      ASSIGN_OR_RETURN(const std::optional<int64_t> rows, RowsOf(select.limit(), "LIMIT"));
      if (rows) output_.selection.set_limit(*rows);
    }
    if (select.has_offset()) {
      ASSIGN_OR_RETURN(const std::optional<int64_t> rows, RowsOf(select.offset(), "OFFSET"));
      if (rows) output_.selection.set_offset(*rows);
    }
    return absl::OkStatus();
  }

  std::string_view sql_;
  const Columns& columns_;
  Aggregates& aggregates_;
  std::vector<Target> targets_;
  std::set<std::string> names_;
  Output output_;
};

}  // namespace

absl::StatusOr<Output> OutputOf(std::string_view sql, const Columns& columns, Aggregates& aggregates,
                                const tree::SelectStatement& select) {
  return OutputBuilder(sql, columns, aggregates).Build(select);
}

}  // namespace curator::sql
