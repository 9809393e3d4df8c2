#include "dp/domain/response.h"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace curator::dp {
namespace {

double Middle(double low, double high) {
  return low / 2 + high / 2;  // halved first: the sum may overflow
}

ResponseNumbers NumbersOf(const IntegerKind& kind, int64_t bins) {
  ResponseNumbers numbers{.values = {},
                          .low = static_cast<double>(kind.min),
                          .high = static_cast<double>(kind.max),
                          .resolution = static_cast<double>(kind.bin_width)};
  for (int64_t bin = 0; bin < bins; ++bin) {
    const double first = numbers.low + static_cast<double>(bin) * numbers.resolution;
    const double last = std::min(first + numbers.resolution - 1, numbers.high);
    numbers.values.push_back(Middle(first, last));
  }
  return numbers;
}

ResponseNumbers NumbersOf(const NumericKind& kind) {
  ResponseNumbers numbers{
      .values = {}, .low = kind.edges.front(), .high = kind.edges.back(), .resolution = 0};
  for (size_t bin = 0; bin + 1 < kind.edges.size(); ++bin) {
    numbers.values.push_back(Middle(kind.edges[bin], kind.edges[bin + 1]));
    numbers.resolution = std::max(numbers.resolution, kind.edges[bin + 1] - kind.edges[bin]);
  }
  return numbers;
}

}  // namespace

ResponseNumbers ResponseValues(const Schema& schema) {
  const Attribute& response = schema.domain.attributes()[schema.nesting->response];
  if (const auto* integer = std::get_if<IntegerKind>(&response.kind()))
    return NumbersOf(*integer, response.size());
  return NumbersOf(std::get<NumericKind>(response.kind()));
}

}  // namespace curator::dp
