#include "dp/domain/measure.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/cell_reading.h"
#include "dp/domain/decimals.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

// Rounded down, also below zero. `by` is positive.
int64_t DividedDown(int64_t number, int64_t by) {
  return number / by - (number % by < 0 ? 1 : 0);
}

absl::Status CheckMultiple(std::string_view field, int64_t bound, const CountedSteps& counted,
                           const EvenSteps& bounds) {
  if (bound % counted.step == 0) return absl::OkStatus();
  const int64_t below = DividedDown(bound, counted.step);
  return InvalidField(
      field, absl::StrCat("must be a multiple of the resolution, ", WriteNumber(bounds.step),
                          ": the nearest are ", WriteNumber(static_cast<double>(below) * bounds.step),
                          " and ", WriteNumber(static_cast<double>(below + 1) * bounds.step)));
}

absl::StatusOr<CountedSteps> CheckedBounds(const EvenSteps& bounds) {
  ASSIGN_OR_RETURN(const CountedSteps counted, CountSteps(bounds, {"low", "high", "resolution"}));
  RETURN_IF_ERROR(CheckMultiple("low", counted.low, counted, bounds));
  RETURN_IF_ERROR(CheckMultiple("high", counted.high, counted, bounds));
  const int64_t steps = (counted.high - counted.low) / counted.step;
  if (steps <= kMostMeasureSteps) return counted;
  return InvalidField("resolution",
                      absl::StrCat("makes ", steps, " steps from ", WriteNumber(bounds.min), " to ",
                                   WriteNumber(bounds.max), "; at most ", kMostMeasureSteps, " are allowed"));
}

absl::Status CheckMeasureReading(const Reading& reading) {
  RETURN_IF_ERROR(CheckColumnAndSigns(reading));
  if (reading.fold_case) return InvalidField("reading.fold_case", "is for categories; a measure has numbers");
  if (!reading.synonyms.empty()) return InvalidField("reading.synonyms", "are for categories only");
  if (!reading.date_formats.empty()) return InvalidField("reading.date_formats", "are for dates only");
  return absl::OkStatus();
}

absl::Status CompleteMissing(Missing& missing) {
  if (missing.bin)
    return InvalidField("missing.bin", "a measure has no bins: its missing values are in no sum");
  if (missing.tokens.empty())
    missing.tokens.assign(kDefaultMissingTokens.begin(), kDefaultMissingTokens.end());
  return CheckMissingTokens(missing.tokens);
}

}  // namespace

absl::StatusOr<Measure> Measure::Create(std::string name, EvenSteps bounds, std::optional<Missing> missing,
                                        Reading reading) {
  RETURN_IF_ERROR(CheckText("name", name));
  ASSIGN_OR_RETURN(const CountedSteps counted, CheckedBounds(bounds));
  RETURN_IF_ERROR(CheckMeasureReading(reading));
  if (missing) RETURN_IF_ERROR(CompleteMissing(*missing));
  Measure measure;
  measure.name_ = std::move(name);
  measure.bounds_ = {bounds.min + 0.0, bounds.max + 0.0,
                     bounds.step};  // one zero: equal schemas, equal bytes
  measure.missing_ = std::move(missing);
  measure.reading_ = std::move(reading);
  measure.low_step_ = counted.low / counted.step;
  measure.steps_ = (counted.high - counted.low) / counted.step;
  return measure;
}

std::optional<uint32_t> Measure::missing_code() const {
  if (!missing_) return std::nullopt;
  return static_cast<uint32_t>(steps_ + 1);
}

bool Measure::IsMissing(std::string_view text) const {
  return missing_ &&
         std::find(missing_->tokens.begin(), missing_->tokens.end(), text) != missing_->tokens.end();
}

std::optional<Measure::Encoded> Measure::Encode(std::string_view cell) const {
  const std::string_view text = TrimBlanks(cell);
  if (IsMissing(text)) return Encoded{.code = *missing_code()};
  std::string buffer;
  // The bounds are multiples of the resolution, so its digits are enough for all three.
  const Decimal resolution = DecimalOf(bounds_.step).value_or(Decimal{.units = 1});
  const std::optional<HalfUnits> read =
      ReadHalfUnits(InPlainStyle(text, StyleOf(reading_), buffer), resolution.digits);
  if (!read) return std::nullopt;
  const int64_t low = low_step_ * resolution.units;
  const int64_t high = (low_step_ + steps_) * resolution.units;
  if (read->floor < 2 * low) return Encoded{.code = 0, .is_clipped = true};
  if (read->floor > 2 * high || (read->floor == 2 * high && !read->is_exact))
    return Encoded{.code = static_cast<uint32_t>(steps_), .is_clipped = true};
  // In half units, half a step is as long as a step has units: steps + 1/2, rounded down.
  const int64_t code = (read->floor - 2 * low + resolution.units) / (2 * resolution.units);
  return Encoded{.code = static_cast<uint32_t>(code)};
}

std::string Measure::WhyOutside(std::string_view cell) const {
  const std::string_view text = TrimBlanks(cell);
  if (text.empty()) return "is empty";
  return absl::StrCat("is not a finite number", LikelyStyle(text, StyleOf(reading_)));
}

}  // namespace curator::dp
