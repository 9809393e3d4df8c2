#include "dp/kernel/utility/group_utility.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/kernel/utility/record_influence.h"

namespace curator::dp {
namespace {

constexpr double kSteps = static_cast<double>(int64_t{1} << kUtilityLatticeBits);

int64_t NeighbourSides(const UnitBound& unit) {
  return unit.relation == NeighbourRelation::kReplaceOne ? 2 : 1;
}

absl::Status CheckWidth(RecordWeights records, double width) {
  if (records == RecordWeights::kOne || (width > 0 && width <= kLargestClip)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the width that records' weights keep to must be above 0 and at most ", kLargestClip));
}

bool HasAGroupWithoutSpread(const GroupModel& model) {
  const auto* normal = std::get_if<NormalGroups>(&model);
  return normal == nullptr ||
         std::ranges::any_of(normal->betweens, [](double each) { return !(each >= kLeastInsideBetween); });
}

absl::Status CheckClip(const ClippedGroups& utility, const UnitBound& unit) {
  if (!(utility.clip > 0)) return absl::InvalidArgumentError("the clip must be above 0");
  if (utility.clip > kLargestClip)
    return absl::OutOfRangeError(absl::StrCat("the clip exceeds ", kLargestClip));
  if (utility.group == GroupWeight::kInside && HasAGroupWithoutSpread(utility.model)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a weight inside the integral needs the normal model with deviations between groups of "
                     "at least ",
                     kLeastInsideBetween));
  }
  if (utility.role == GroupRole::kAroundRecord && unit.max_records != 1)
    return absl::InvalidArgumentError("units that own several records are no records");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<QuestionOnGroups> OnLattice(const ClippedGroups& utility, int64_t codes,
                                           const UnitBound& unit) {
  RETURN_IF_ERROR(CheckGroupModel(utility.model, codes));
  RETURN_IF_ERROR(CheckWidth(utility.records, utility.width));
  RETURN_IF_ERROR(CheckClip(utility, unit));
  const int64_t clip = std::llround(utility.clip * kSteps);
  if (clip < 1) return absl::InvalidArgumentError("the clip is below one step of the lattice");
  QuestionOnGroups question{.lattice = {.grid = GridOf(utility.model),
                                        .weights = {},
                                        .group = utility.group,
                                        .low = -clip,
                                        .role = utility.role},
                            .range = NeighbourSides(unit) * clip};
  if (utility.role == GroupRole::kAroundRecord) question.range *= 2;
  question.lattice.weights =
      WeightsOfCodes(question.lattice.grid, static_cast<size_t>(codes), utility.records, utility.width);
  return question;
}

absl::StatusOr<QuestionOnGroups> OnLattice(const RecordsInGroups& utility, int64_t codes,
                                           const UnitBound& unit) {
  RETURN_IF_ERROR(CheckGroupModel(utility.model, codes));
  RETURN_IF_ERROR(CheckWidth(utility.records, utility.width));
  if (unit.max_records != 1)
    return absl::InvalidArgumentError("units that own several records are no records");
  QuestionOnGroups question{.lattice = {.grid = GridOf(utility.model),
                                        .weights = {},
                                        .group = GroupWeight::kOne,
                                        .low = std::nullopt,
                                        .role = GroupRole::kAroundRecord},
                            .range = 1};
  LatticeGroups& lattice = question.lattice;
  lattice.weights = WeightsOfCodes(lattice.grid, static_cast<size_t>(codes), utility.records, utility.width);
  const double spread = LargestSpread(lattice.grid, lattice.weights);
  if (!(spread <= kLargestClip)) {
    return absl::OutOfRangeError(absl::StrCat("one record could move the logarithm of a density by ", spread,
                                              ", more than ", kLargestClip,
                                              ": weigh records, or leave out "
                                              "small deviations within groups"));
  }
  const auto steps = static_cast<int64_t>(std::ceil(spread * kSteps));
  question.range = NeighbourSides(unit) * (steps + 4 * ErrorInSteps(lattice.grid));
  return question;
}

}  // namespace curator::dp
