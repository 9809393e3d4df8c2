#include "dp/domain/even_steps.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute.h"
#include "dp/domain/decimals.h"
#include "dp/domain/numbers.h"

namespace curator::dp {

absl::StatusOr<std::vector<double>> EdgesOf(const EvenSteps& steps) {
  ASSIGN_OR_RETURN(const CountedSteps counted,
                   CountSteps(steps, {"numeric.min", "numeric.max", "numeric.step"}));
  const auto [low, high, step, digits] = counted;
  if ((high - low) % step != 0) {
    return InvalidField("numeric.step", absl::StrCat("a whole number of steps of ", WriteNumber(steps.step),
                                                     " must lie between ", WriteNumber(steps.min), " and ",
                                                     WriteNumber(steps.max)));
  }
  const int64_t bins = (high - low) / step;
  if (bins > kMaxAttributeSize) {
    return InvalidField("numeric.step",
                        absl::StrCat("makes ", bins, " bins; at most ", kMaxAttributeSize, " are allowed"));
  }
  const double power = std::pow(10, digits);
  std::vector<double> edges;
  edges.reserve(static_cast<size_t>(bins) + 1);
  for (int64_t bin = 0; bin <= bins; ++bin) edges.push_back(static_cast<double>(low + bin * step) / power);
  return edges;
}

}  // namespace curator::dp
