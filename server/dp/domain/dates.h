// Days and times in the cells of a table, and the bins of a declared range of them.
//
// A time is the number of civil seconds since 1970-01-01T00:00:00: what a calendar and a clock on a wall
// show, without zones. The years are 1 to 9999. Thread-safe: pure functions and immutable values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace curator::dp {

enum class DateBins : uint8_t { kDay, kWeek, kMonth, kQuarter, kYear, kListed };

// A declared range of days and times, and its bins. The first and the last bin hold what the range has of
// their periods; weeks begin on Monday.
struct DateKind {
  int64_t from = 0;   // the first second of the range
  int64_t until = 0;  // the second after the range
  DateBins bins = DateBins::kMonth;
  std::vector<int64_t> edges;  // of kListed: strictly rising, the first is `from` and the last `until`
  std::string zone;            // of the IANA; cells with an offset from UTC are times there; empty: UTC
  bool operator==(const DateKind&) const = default;
};

// A day ("2019-03-31", its first second) or a time ("2019-03-31T12:00:00") as a schema and a query declare
// it.
struct DeclaredTime {
  int64_t seconds = 0;
  bool is_day = false;
};
// INVALID_ARGUMENT (no field path) for anything else.
absl::StatusOr<DeclaredTime> ParseDeclaredTime(std::string_view text);
// A day where the time is midnight.
std::string WriteDeclaredTime(int64_t seconds);

// The number of bins. INVALID_ARGUMENT ("date.to", "date.edges[3]", "date.time_zone") where they are not in
// order or too many, or the zone is unknown.
absl::StatusOr<int64_t> CheckedSizeOf(const DateKind& kind);

// Of a valid kind and a time in its range.
int64_t DateBinOf(const DateKind& kind, int64_t seconds);
// The first second of a bin, and the second after it.
struct DateInterval {
  int64_t from = 0;
  int64_t until = 0;
};
DateInterval DatesOfBin(const DateKind& kind, int64_t bin);

// "2019-03-31", "2019-W13", "2019-03", "2019-Q1", "2019"; of listed edges "[2019-03-31, 2019-07-01)". Of a
// run of bins "2019-03 .. 2019-05", "[2019-03-31, 2020-01-01)".
std::string DateLabel(const DateKind& kind, int64_t first, int64_t last);

// The bin with this label; none where there is none.
std::optional<int64_t> DateBinOfLabel(const DateKind& kind, std::string_view label);

// A day of the bin, or a time where the bin has no whole day, chosen by 64 uniform bits.
std::string DateInside(const DateKind& kind, int64_t bin, uint64_t randomness);

// Reads cells: ISO 8601 ("2019-03-31", "2019-03-31 12:00", "2019-03-31T12:00:00.5Z", "...+02:00") and
// formats of letters and other characters: YYYY for four digits; M, D, h, m and s for one or two, and for two
// where nothing is between them and the next; other characters for themselves. Seconds are 0 to 59: a leap
// second is no time.
class DateReader {
 public:
  // INVALID_ARGUMENT ("reading.date_formats[0]", "date.time_zone"), also where formats, or ISO 8601, read a
  // cell as two times. A format says what the bins need: the day for days, weeks and listed edges, the month
  // for months and quarters, the year for years.
  static absl::StatusOr<DateReader> Create(const DateKind& kind, std::vector<std::string> formats);
  // None where the cell is no day or time.
  std::optional<int64_t> Read(std::string_view cell) const;

 private:
  absl::TimeZone zone_;
  std::vector<std::string> formats_;
};

}  // namespace curator::dp
