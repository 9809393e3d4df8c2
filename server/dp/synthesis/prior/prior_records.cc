#include "dp/synthesis/prior/prior_records.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/data/cell_index.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

// The codes of `attributes`, row by row.
absl::StatusOr<std::vector<uint32_t>> CodesByRow(const PublicTable& table, const AttributeSet& attributes,
                                                 Pacer& pacer) {
  const ColumnsView view = table.columns();
  const size_t width = attributes.size();
  RETURN_IF_ERROR(CheckPriorCodes(view.rows, width));
  std::vector<uint32_t> codes(static_cast<size_t>(view.rows) * width);
  for (size_t i = 0; i < width; ++i) {
    const ColumnView& column = view.columns[attributes[i]];
    RETURN_IF_ERROR(pacer.InPieces(static_cast<size_t>(view.rows), [&](size_t start, size_t length) {
      for (size_t row = start; row < start + length; ++row)
        codes[row * width + i] = column[static_cast<int64_t>(row)];
    }));
  }
  return codes;
}

// Sorts so that a stop is noticed in between.
template <typename IsBefore>
absl::Status SortInPieces(std::vector<uint32_t>& items, IsBefore is_before, Pacer& pacer) {
  const auto at = [&](size_t place) {
    return items.begin() + static_cast<std::ptrdiff_t>(std::min(place, items.size()));
  };
  constexpr size_t kPiece = Pacer::kMostSteps;
  for (size_t start = 0; start < items.size(); start += kPiece) {
    RETURN_IF_ERROR(pacer.Check());
    std::sort(at(start), at(start + kPiece), is_before);
  }
  for (size_t sorted = kPiece; sorted < items.size(); sorted *= 2) {
    for (size_t start = 0; start < items.size(); start += 2 * sorted) {
      RETURN_IF_ERROR(pacer.Check());
      std::inplace_merge(at(start), at(start + sorted), at(start + 2 * sorted), is_before);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPrior(const Domain& domain, const PublicTable& table) {
  if (table.sizes() != AttributeSizesOf(domain))
    return InvalidField("settings.prior", "the prior's attributes have other sizes than the dataset's");
  if (table.rows() == 0) return InvalidField("settings.prior", "the prior has no records");
  if (table.rows() > kMostPriorRows) {
    return InvalidField("settings.prior", absl::StrCat("the prior has ", table.rows(), " records; at most ",
                                                       kMostPriorRows, " can be used"));
  }
  return absl::OkStatus();
}

absl::Status CheckPriorCodes(int64_t rows, size_t attributes) {
  if (rows <= kMostPriorCodes / static_cast<int64_t>(std::max<size_t>(1, attributes)))
    return absl::OkStatus();
  return InvalidField("settings.prior",
                      absl::StrCat("the prior has ", rows, " records of ", attributes,
                                   " attributes of the workload; at most ", kMostPriorCodes,
                                   " codes can be held: ask for fewer attributes or take a smaller prior"));
}

absl::StatusOr<PriorRecords> PriorRecords::DistinctOf(const Domain& domain, const PublicTable& table,
                                                      AttributeSet attributes, Pacer& pacer) {
  RETURN_IF_ERROR(CheckPrior(domain, table));
  ASSIGN_OR_RETURN(const std::vector<uint32_t> codes, CodesByRow(table, attributes, pacer));
  const size_t width = attributes.size();
  const auto row = [&](uint32_t index) { return std::span(codes).subspan(index * width, width); };
  std::vector<uint32_t> order(static_cast<size_t>(table.rows()));
  std::iota(order.begin(), order.end(), 0U);
  const auto is_before = [&](uint32_t a, uint32_t b) {
    return std::lexicographical_compare(row(a).begin(), row(a).end(), row(b).begin(), row(b).end());
  };
  RETURN_IF_ERROR(SortInPieces(order, is_before, pacer));
  PriorRecords records(attributes, CodedColumns(domain.SizesOf(attributes)));
  const double share = 1.0 / static_cast<double>(table.rows());
  for (size_t i = 0; i < order.size(); ++i) {
    const bool repeats = i > 0 && std::ranges::equal(row(order[i]), row(order[i - 1]));
    if (!repeats) {
      RETURN_IF_ERROR(records.columns_.AppendRow(row(order[i])));
      records.shares_.push_back(0);
    }
    records.shares_.back() += share;
  }
  return records;
}

absl::StatusOr<PriorRecords> PriorRecords::AllCells(const Domain& domain, const PublicTable& table,
                                                    AttributeSet attributes, int64_t most_cells,
                                                    Pacer& pacer) {
  RETURN_IF_ERROR(CheckPrior(domain, table));
  const std::optional<int64_t> cells = domain.CellCount(attributes);
  if (!cells || *cells > most_cells) {
    return InvalidField(
        "settings.support",
        absl::StrCat("the full domain has ", cells ? absl::StrCat(*cells) : std::string("more than 2^62"),
                     " cells, more than max_cells = ", most_cells,
                     ": take support=prior, the records of the prior alone"));
  }
  PriorRecords records(attributes, CodedColumns(domain.SizesOf(attributes)));
  std::vector<uint32_t> codes(attributes.size());
  for (int64_t cell = 0; cell < *cells; ++cell) {
    if (cell % Pacer::kMostSteps == 0)
      RETURN_IF_ERROR(pacer.Advance(std::min<int64_t>(Pacer::kMostSteps, *cells - cell)));
    CodesOfCell(records.columns_.sizes(), cell, codes);
    RETURN_IF_ERROR(records.columns_.AppendRow(codes));
  }
  records.shares_.assign(static_cast<size_t>(*cells), 0.0);
  ASSIGN_OR_RETURN(const std::vector<uint32_t> rows, CodesByRow(table, attributes, pacer));
  const double share = 1.0 / static_cast<double>(table.rows());
  for (size_t row = 0; row < rows.size(); row += attributes.size()) {
    const int64_t cell =
        CellOfCodes(records.columns_.sizes(), std::span(rows).subspan(row, attributes.size()));
    records.shares_[static_cast<size_t>(cell)] += share;
  }
  return records;
}

absl::StatusOr<std::vector<uint32_t>> PriorRecords::CellsOf(const AttributeSet& set, Pacer& pacer) const {
  return CellsOfRecords(attributes_, columns_, set, pacer);
}

absl::StatusOr<MarginalOfRecords> PriorRecords::MarginalOf(const AttributeSet& set, Pacer& pacer) const {
  MarginalOfRecords marginal;
  ASSIGN_OR_RETURN(marginal.cell_of_record, CellsOf(set, pacer));
  size_t cells = 1;
  for (size_t i = 0; i < attributes_.size(); ++i) {
    if (Contains(set, attributes_[i])) cells *= static_cast<size_t>(columns_.sizes()[i]);
  }
  marginal.reachable.assign(cells, 0);
  for (const uint32_t cell : marginal.cell_of_record) marginal.reachable[cell] = 1;
  return marginal;
}

absl::StatusOr<std::vector<uint32_t>> CellsOfRecords(const AttributeSet& attributes,
                                                     const CodedColumns& columns, const AttributeSet& set,
                                                     Pacer& pacer) {
  constexpr int64_t kMostCells = int64_t{1} << 32;
  const ColumnsView view = columns.View();
  std::vector<ColumnView> chosen;
  int64_t cells = 1;
  for (const uint32_t attribute : set) {
    const std::optional<size_t> position = PositionIn(attributes, attribute);
    if (!position) return absl::InvalidArgumentError("the records do not have this attribute");
    chosen.push_back(view.columns[*position]);
    if (cells > kMostCells / chosen.back().size)
      return absl::InvalidArgumentError("the marginal has too many cells");
    cells *= chosen.back().size;
  }
  std::vector<uint32_t> result(static_cast<size_t>(view.rows));
  if (chosen.empty()) return result;
  RETURN_IF_ERROR(pacer.InPieces(result.size(), [&](size_t start, size_t length) {
    CellsOfRows(chosen, static_cast<int64_t>(start), std::span(result).subspan(start, length));
  }));
  return result;
}

namespace {

absl::StatusOr<int64_t> CountGroups(const Domain& domain, const AttributeSet& key, const char* setting,
                                    int64_t most) {
  const std::optional<int64_t> cells = domain.CellCount(key);
  if (cells && *cells <= most) return *cells;
  return InvalidField(absl::StrCat("settings.", setting),
                      absl::StrCat("makes ", cells ? absl::StrCat(*cells) : std::string("more than 2^62"),
                                   " ", setting, "s; at most ", most, " can be estimated"));
}

std::vector<ColumnView> ColumnsOf(const ColumnsView& table, const AttributeSet& attributes) {
  std::vector<ColumnView> columns;
  for (const uint32_t attribute : attributes) columns.push_back(table.columns[attribute]);
  return columns;
}

}  // namespace

absl::StatusOr<GroupsInRegions> FindNesting(const Domain& domain, const PublicTable& table,
                                            const AttributeSet& region, const AttributeSet& group,
                                            int64_t most_groups, Pacer& pacer) {
  ASSIGN_OR_RETURN(const int64_t groups, CountGroups(domain, group, "group", most_groups));
  GroupsInRegions nesting{.group_key = group, .region_of_group = {}};
  std::vector<int64_t>& region_of_group = nesting.region_of_group;
  region_of_group.assign(static_cast<size_t>(groups), region.empty() ? 0 : -1);
  if (region.empty()) return nesting;
  ASSIGN_OR_RETURN(const int64_t regions, CountGroups(domain, region, "region", most_groups));
  // From the rows: region and group together may have far more cells than either.
  std::vector<int64_t> records(static_cast<size_t>(regions));
  bool nested = true;
  const ColumnsView view = table.columns();
  const std::vector<ColumnView> group_columns = ColumnsOf(view, group);
  const std::vector<ColumnView> region_columns = ColumnsOf(view, region);
  std::vector<uint32_t> groups_of_rows;
  std::vector<uint32_t> regions_of_rows;
  RETURN_IF_ERROR(pacer.InPieces(static_cast<size_t>(view.rows), [&](size_t start, size_t length) {
    groups_of_rows.resize(length);
    regions_of_rows.resize(length);
    CellsOfRows(group_columns, static_cast<int64_t>(start), std::span(groups_of_rows));
    CellsOfRows(region_columns, static_cast<int64_t>(start), std::span(regions_of_rows));
    for (size_t row = 0; row < length; ++row) {
      const int64_t here = regions_of_rows[row];
      int64_t& its_region = region_of_group[groups_of_rows[row]];
      nested = nested && (its_region < 0 || its_region == here);
      its_region = here;
      ++records[static_cast<size_t>(here)];
    }
  }));
  if (nested) {
    std::ranges::replace(region_of_group, -1, std::ranges::max_element(records) - records.begin());
    return nesting;
  }
  nesting.group_key = Union(region, group);
  ASSIGN_OR_RETURN(const int64_t crossed, CountGroups(domain, nesting.group_key, "group", most_groups));
  const std::vector<int64_t> sizes = domain.SizesOf(nesting.group_key);
  const std::vector<int64_t> strides = StridesWithin(nesting.group_key, sizes, region);
  std::vector<uint32_t> codes(nesting.group_key.size());
  region_of_group.resize(static_cast<size_t>(crossed));
  for (int64_t cell = 0; cell < crossed; ++cell) {
    CodesOfCell(sizes, cell, codes);
    region_of_group[static_cast<size_t>(cell)] =
        std::inner_product(codes.begin(), codes.end(), strides.begin(), int64_t{0});
  }
  return nesting;
}

}  // namespace curator::dp
