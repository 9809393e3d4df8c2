// A column of numbers that sums are taken of: bounds and a resolution that are declared before a record is
// read.
//
// Its values are the points low, low + resolution, ..., high, numbered by their codes 0..steps(). They are
// counted in steps: integers, of which the value is that many resolutions.
//
// Thread-safe: immutable values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/domain/attribute.h"
#include "dp/domain/even_steps.h"

namespace curator::dp {

inline constexpr int64_t kMostMeasureSteps = int64_t{1} << 20;

class Measure {
 public:
  // `bounds` are low, high and the resolution. Of `missing` the tokens, of `reading` the column and the two
  // signs are used; where `missing` is absent no value may be missing. Errors: INVALID_ARGUMENT with a field
  // path below the measure ("resolution", "name", "missing.bin", "reading.fold_case") for numbers with more
  // than kMostStepDigits digits after the point, bounds that are no multiples of the resolution, that do not
  // rise, or that are more than kMostMeasureSteps steps apart, and for what makes no sense for numbers.
  static absl::StatusOr<Measure> Create(std::string name, EvenSteps bounds,
                                        std::optional<Missing> missing = std::nullopt, Reading reading = {});

  const std::string& name() const { return name_; }
  const EvenSteps& bounds() const { return bounds_; }
  const std::optional<Missing>& missing() const { return missing_; }
  const Reading& reading() const { return reading_; }
  // In the header of files.
  const std::string& column() const { return reading_.column.empty() ? name_ : reading_.column; }

  int64_t low_step() const { return low_step_; }  // low, in steps
  int64_t steps() const { return steps_; }        // from low to high: 1..kMostMeasureSteps
  // The number of codes: one for each point, and the last one for missing values where they are allowed.
  int64_t size() const { return steps_ + (missing_ ? 2 : 1); }
  std::optional<uint32_t> missing_code() const;

  struct Encoded {
    uint32_t code = 0;
    bool is_clipped = false;  // the number lay outside of the bounds
    bool operator==(const Encoded&) const = default;
  };
  // The code of the point nearest to the cell's number (of two the upper one), after it was clipped to the
  // bounds; none for a cell that is not a finite number, or is missing where that is not allowed. It depends
  // on this cell alone.
  std::optional<Encoded> Encode(std::string_view cell) const;

  // The reason why Encode() found nothing, without repeating the cell. One of a few texts for each measure.
  std::string WhyOutside(std::string_view cell) const;

  bool operator==(const Measure& other) const {
    return name_ == other.name_ && bounds_ == other.bounds_ && missing_ == other.missing_ &&
           reading_ == other.reading_;
  }

 private:
  Measure() = default;
  bool IsMissing(std::string_view text) const;

  std::string name_;
  EvenSteps bounds_;
  std::optional<Missing> missing_;
  Reading reading_;
  int64_t low_step_ = 0;
  int64_t steps_ = 1;
};

}  // namespace curator::dp
