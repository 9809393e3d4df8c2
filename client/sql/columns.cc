#include "client/sql/columns.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "client/similar.h"
#include "client/sql/refusal.h"

namespace curator::sql {
namespace {

constexpr size_t kMostNames = 12;  // that a message lists
// PostgreSQL cuts names to this many bytes, and no character in two.
constexpr size_t kLongestName = 63;
constexpr size_t kLongestCharacter = 4;

std::string IdColumnOf(const v1::PrivacyUnit& unit) {
  if (unit.has_person()) return unit.person().id_column();
  if (unit.has_group()) return unit.group().id_column();
  return "";
}

}  // namespace

bool Column::may_be_missing() const {
  if (measure != nullptr) return measure->has_missing();
  return attribute != nullptr && attribute->missing().has_bin();
}

bool Column::has_numbers() const {
  if (measure != nullptr) return true;
  if (attribute == nullptr || !attribute->has_integer()) return false;
  return !attribute->integer().has_bin_width() || attribute->integer().bin_width() == 1;
}

bool Column::has_quantiles() const {
  return measure != nullptr ||
         (attribute != nullptr && (attribute->has_integer() || attribute->has_numeric()));
}

bool IsReadAs(std::string_view name, std::string_view read) {
  if (name == read) return true;
  return name.size() > kLongestName && read.size() + kLongestCharacter > kLongestName &&
         absl::StartsWith(std::string(name), std::string(read));
}

Columns::Columns(std::string_view sql, const v1::Schema& schema, const Table& table)
    : sql_(sql), table_(table), id_column_(IdColumnOf(schema.unit())) {
  for (const v1::Attribute& attribute : schema.attributes())
    columns_.push_back({.name = attribute.name(), .attribute = &attribute});
  for (const v1::Measure& measure : schema.measures()) {
    const auto same = std::find_if(columns_.begin(), columns_.end(),
                                   [&](const Column& column) { return column.name == measure.name(); });
    if (same == columns_.end()) {
      columns_.push_back({.name = measure.name(), .measure = &measure});
    } else {
      same->measure = &measure;
    }
  }
  if (!id_column_.empty()) columns_.push_back({.name = id_column_, .is_id = true});
}

std::string Columns::Joined(const std::vector<std::string>& names) {
  if (names.size() <= kMostNames) return absl::StrJoin(names, ", ");
  const std::vector<std::string> first(names.begin(), names.begin() + kMostNames);
  return absl::StrCat(absl::StrJoin(first, ", "), " and ", names.size() - kMostNames, " more");
}

absl::StatusOr<std::string> Columns::NameOf(const tree::ColumnReference& reference) const {
  const auto& fields = reference.fields();
  for (const tree::Node& field : fields) {
    if (field.has_star()) {
      return Refusal(sql_, reference.location(),
                     "records are not shown: select COUNT(*) or another aggregate, and grouping columns");
    }
    if (!field.has_string()) return Refusal(sql_, reference.location(), "this is no name of a column");
  }
  if (fields.size() == 1) return fields[0].string().text();
  const std::string& table = table_.alias.empty() ? table_.name : table_.alias;
  if (fields.size() == 2 && fields[0].string().text() == table) return fields[1].string().text();
  return Refusal(sql_, reference.location(),
                 absl::StrCat("FROM names \"", table, "\" alone: write the column's name without a table"));
}

std::vector<const Column*> Columns::Matching(std::string_view name) const {
  std::vector<const Column*> matching;
  for (const Column& column : columns_) {
    if (IsReadAs(column.name, name)) matching.push_back(&column);
  }
  if (!matching.empty()) return matching;
  const std::string lower = absl::AsciiStrToLower(std::string(name));
  for (const Column& column : columns_) {
    if (IsReadAs(absl::AsciiStrToLower(column.name), lower)) matching.push_back(&column);
  }
  return matching;
}

absl::StatusOr<Column> Columns::Find(const tree::ColumnReference& reference) const {
  ASSIGN_OR_RETURN(const std::string name, NameOf(reference));
  const std::vector<const Column*> matching = Matching(name);
  if (matching.size() == 1) return *matching.front();
  std::vector<std::string> names;
  for (const Column* column : matching) names.push_back(absl::StrCat("\"", column->name, "\""));
  if (!names.empty()) {
    return Refusal(sql_, reference.location(),
                   absl::StrCat("several columns are called so: write ", absl::StrJoin(names, " or "),
                                ", in quotation marks"));
  }
  for (const Column& column : columns_) names.push_back(column.name);
  std::string near = DidYouMean(name, names);
  if (near.empty()) near = absl::StrCat("; there are: ", Joined(names));
  return Refusal(sql_, reference.location(), absl::StrCat("there is no column \"", name, "\"", near));
}

bool Columns::Has(const tree::ColumnReference& reference) const {
  return reference.fields_size() != 1 || !Matching(reference.fields(0).string().text()).empty();
}

absl::StatusOr<Column> Columns::FindAttribute(const tree::ColumnReference& reference,
                                              std::string_view clause) const {
  ASSIGN_OR_RETURN(Column column, Find(reference));
  if (column.attribute != nullptr) return column;
  const std::string attributes = Some([](const Column& each) { return each.attribute != nullptr; });
  std::string why = absl::StrCat("\"", column.name, "\" is a measure: it has bounds, and no bins that ",
                                 std::string(clause), " could use");
  if (column.is_id)
    why = absl::StrCat("\"", column.name, "\" says who a record is of, and is never shown or compared");
  return Refusal(sql_, reference.location(),
                 absl::StrCat(why, "; ", std::string(clause), " takes attributes; there are: ", attributes));
}

}  // namespace curator::sql
