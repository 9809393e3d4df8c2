// Public tables of a few rows, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dp/data/public_table.h"
#include "dp/domain/domain.h"

namespace curator::dp {

inline std::shared_ptr<const PublicTable> PublicRows(const Domain& domain,
                                                     const std::vector<std::vector<uint32_t>>& rows) {
  CodedColumns columns(SizesOf(domain));
  for (const auto& row : rows) {
    if (!columns.AppendRow(row).ok()) return nullptr;
  }
  return std::make_shared<const PublicTable>(PublicTable::Create(std::move(columns)).value());
}

}  // namespace curator::dp
