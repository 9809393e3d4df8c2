#include "data/join.h"

#include <span>
#include <utility>

#include "dp/data/sealed_table.h"

namespace curator::data {

absl::StatusOr<dp::SealedTableHandle> JoinTables(const std::vector<dp::SealedTableHandle>& tables) {
  if (tables.empty()) return absl::InvalidArgumentError("there is no table to join");
  const std::vector<int64_t>& sizes = tables.front()->sizes();
  dp::CodedColumns joined(sizes);
  for (const dp::SealedTableHandle& table : tables) {
    if (table->sizes() != sizes || table->units()) {
      return absl::InvalidArgumentError("only tables of the same attributes, without owners, are joined");
    }
    const dp::ReadableScope scope(*table);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const size_t bytes = static_cast<size_t>(table->rows()) * dp::BytesOf(joined.width(i));
      joined.AppendCodes(i, std::span(scope.columns().columns[i].codes, bytes));
    }
  }
  dp::SealedTableBuilder builder(sizes);
  builder.SetColumns(std::move(joined), {});
  return std::move(builder).Build();
}

}  // namespace curator::data
