#include "dp/domain/number_column.h"

#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dp/domain/near_names.h"

namespace curator::dp {
namespace {

NumberColumn ColumnOf(const Measure& measure, size_t column) {
  return {.column = static_cast<uint32_t>(column),
          .name = measure.name(),
          .low = measure.low_step(),
          .steps = measure.steps(),
          .resolution = measure.bounds().step,
          .missing_code = measure.missing_code()};
}

// Why an attribute is no number column; nothing where it is one.
std::string WhyNoNumbers(const Attribute& attribute) {
  const auto* integer = std::get_if<IntegerKind>(&attribute.kind());
  if (integer == nullptr) return "is no integer attribute";
  if (integer->bin_width != 1) return "has bins of several values";
  if (integer->min == integer->max) return "has one value";
  const int64_t values = attribute.size() - (attribute.missing_code() ? 1 : 0);
  if (values - 1 > kMostMeasureSteps)
    return absl::StrCat("has more than ", kMostMeasureSteps, " steps from its least to its largest value");
  return "";
}

NumberColumn ColumnOf(const Attribute& attribute, size_t column) {
  const auto& integer = std::get<IntegerKind>(attribute.kind());
  return {.column = static_cast<uint32_t>(column),
          .name = attribute.name(),
          .low = integer.min,
          .steps = integer.max - integer.min,  // fits: it has few bins
          .resolution = 1,
          .missing_code = attribute.missing_code()};
}

std::vector<std::string_view> NamesOfNumberColumns(const Domain& domain) {
  std::vector<std::string_view> names;
  for (const Measure& measure : domain.measures()) names.push_back(measure.name());
  const size_t measures = names.size();
  for (const Attribute& attribute : domain.attributes()) {
    const auto end = names.begin() + static_cast<ptrdiff_t>(measures);
    const bool is_measure = std::find(names.begin(), end, attribute.name()) != end;
    if (!is_measure && WhyNoNumbers(attribute).empty()) names.push_back(attribute.name());
  }
  return names;
}

}  // namespace

absl::StatusOr<NumberColumn> FindNumberColumn(const Domain& domain, std::string_view name) {
  const std::vector<Measure>& measures = domain.measures();
  for (size_t i = 0; i < measures.size(); ++i) {
    if (measures[i].name() == name) return ColumnOf(measures[i], domain.size() + i);
  }
  std::string why = absl::StrCat("there is no measure \"", std::string(name.substr(0, kMaxTextLength)), "\"");
  for (size_t i = 0; i < domain.size(); ++i) {
    const Attribute& attribute = domain.attributes()[i];
    if (attribute.name() != name) continue;
    const std::string reason = WhyNoNumbers(attribute);
    if (reason.empty()) return ColumnOf(attribute, i);
    absl::StrAppend(&why, ", and the attribute of this name ", reason);
  }
  const std::vector<std::string_view> names = NamesOfNumberColumns(domain);
  if (names.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(why, "; the dataset has no measures, and no integer attributes with bins of one value"));
  }
  return absl::InvalidArgumentError(why + NearNames(names, name));
}

std::optional<NumberColumn> NumberColumnAt(const Domain& domain, uint32_t column) {
  if (column >= domain.size()) {
    const size_t measure = column - domain.size();
    if (measure >= domain.measures().size()) return std::nullopt;
    return ColumnOf(domain.measures()[measure], column);
  }
  const Attribute& attribute = domain.attributes()[column];
  if (!WhyNoNumbers(attribute).empty()) return std::nullopt;
  return ColumnOf(attribute, column);
}

}  // namespace curator::dp
