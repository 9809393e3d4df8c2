#include "data/join.h"

#include <span>
#include <utility>

#include "base/status_macros.h"
#include "dp/data/sealed_table.h"

namespace curator::data {
namespace {

// The numbers that the joined table gives to the units of its parts, in the order in which they come.
class JoinedUnits {
 public:
  // For each unit of one part, by its number there.
  std::vector<uint32_t> NumbersOf(const UnitCounts& units) {
    std::vector<uint32_t> numbers;
    for (const UnitKey& key : units.keys) {
      numbers.push_back(numbers_.emplace(key, static_cast<uint32_t>(numbers_.size())).first->second);
    }
    return numbers;
  }

 private:
  ByUnit<uint32_t> numbers_;
};

absl::Status CheckShape(const PartTable& part, const PartTable& first) {
  if (part.table->groups() != part.table->units())
    return absl::InvalidArgumentError("a table with groups that are no units is a whole, not a part");
  const bool is_alike = part.table->sizes() == first.table->sizes() &&
                        part.table->units().has_value() == first.table->units().has_value();
  if (!is_alike) return absl::InvalidArgumentError("only tables of the same shape are joined");
  if (part.table->units().value_or(0) != static_cast<int64_t>(part.units.keys.size())) {
    return absl::DataLossError("the units of a sealed part are not those of its table");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<dp::SealedTableHandle> JoinTables(const std::vector<PartTable>& parts) {
  if (parts.empty()) return absl::InvalidArgumentError("there is no table to join");
  const PartTable& first = parts.front();
  dp::CodedColumns joined(first.table->sizes());
  JoinedUnits units;
  std::vector<uint32_t> unit_of_row;
  for (const PartTable& part : parts) {
    RETURN_IF_ERROR(CheckShape(part, first));
    const std::vector<uint32_t> numbers = units.NumbersOf(part.units);
    const dp::ReadableScope scope(*part.table);
    for (size_t i = 0; i < joined.attributes(); ++i) {
      const size_t bytes = static_cast<size_t>(part.table->rows()) * dp::BytesOf(joined.width(i));
      joined.AppendCodes(i, std::span(scope.columns().columns[i].codes, bytes));
    }
    for (const uint32_t unit : scope.unit_of_row()) unit_of_row.push_back(numbers[unit]);
  }
  dp::SealedTableBuilder builder(first.table->sizes(),
                                 first.table->units() ? dp::RowOwner::kUnit : dp::RowOwner::kItself);
  builder.SetColumns(std::move(joined), std::move(unit_of_row));
  return std::move(builder).Build();
}

}  // namespace curator::data
