#include "dp/domain/dates.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

constexpr int kLastYear = 9999;
constexpr int64_t kSecondsOfDay = 86'400;

absl::CivilSecond CivilOf(int64_t seconds) {
  return absl::CivilSecond(1970) + seconds;
}
int64_t SecondsOf(absl::CivilSecond civil) {
  return civil - absl::CivilSecond(1970);
}

// Reads from `least` to `most` digits at the beginning of `text`.
std::optional<int> TakeDigits(std::string_view& text, size_t least, size_t most) {
  size_t count = 0;
  int value = 0;
  for (; count < most && count < text.size() && text[count] >= '0' && text[count] <= '9'; ++count)
    value = value * 10 + (text[count] - '0');
  if (count < least) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

struct CalendarFields {
  int year = 0;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

// None for what no calendar has, such as the 30th of February.
std::optional<int64_t> SecondsOf(const CalendarFields& fields) {
  if (fields.year < 1 || fields.year > kLastYear || fields.hour > 23 || fields.minute > 59 ||
      fields.second > 59)
    return std::nullopt;
  const absl::CivilSecond civil(fields.year, fields.month, fields.day, fields.hour, fields.minute,
                                fields.second);
  if (civil.month() != fields.month || civil.day() != fields.day) return std::nullopt;
  return SecondsOf(civil);
}

// "HH:MM", "HH:MM:SS" and "HH:MM:SS.fff" at the beginning of `text`.
bool TakeClock(std::string_view& text, CalendarFields& fields) {
  const std::optional<int> hour = TakeDigits(text, 2, 2);
  if (!hour || !TakeChar(text, ':')) return false;
  const std::optional<int> minute = TakeDigits(text, 2, 2);
  if (!minute) return false;
  fields.hour = *hour;
  fields.minute = *minute;
  if (!TakeChar(text, ':')) return true;
  const std::optional<int> second = TakeDigits(text, 2, 2);
  if (!second) return false;
  fields.second = *second;
  const bool has_fraction = TakeChar(text, '.') || TakeChar(text, ',');
  return !has_fraction || TakeDigits(text, 1, 9).has_value();
}

// "Z", "+02:00", "-0330" and "+02": seconds east of UTC.
std::optional<int64_t> OffsetIn(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  const bool is_west = text.starts_with('-');
  if (!is_west && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const std::optional<int> hours = TakeDigits(text, 2, 2);
  if (!hours || *hours > 15) return std::nullopt;
  int minutes = 0;
  if (!text.empty()) {
    TakeChar(text, ':');
    const std::optional<int> read = TakeDigits(text, 2, 2);
    if (!read || *read > 59 || !text.empty()) return std::nullopt;
    minutes = *read;
  }
  const int64_t seconds = int64_t{*hours} * 3600 + int64_t{minutes} * 60;
  return is_west ? -seconds : seconds;
}

struct IsoTime {
  int64_t local = 0;
  std::optional<int64_t> offset;
  bool is_day = false;
};

std::optional<IsoTime> ReadIso(std::string_view text) {
  CalendarFields fields;
  const std::optional<int> year = TakeDigits(text, 4, 4);
  if (!year || !TakeChar(text, '-')) return std::nullopt;
  const std::optional<int> month = TakeDigits(text, 2, 2);
  if (!month || !TakeChar(text, '-')) return std::nullopt;
  const std::optional<int> day = TakeDigits(text, 2, 2);
  if (!day) return std::nullopt;
  fields.year = *year;
  fields.month = *month;
  fields.day = *day;
  IsoTime time{.local = 0, .offset = std::nullopt, .is_day = text.empty()};
  if (!time.is_day) {
    if (!TakeChar(text, 'T') && !TakeChar(text, 't') && !TakeChar(text, ' ')) return std::nullopt;
    if (!TakeClock(text, fields)) return std::nullopt;
    text = TrimBlanks(text);
    if (!text.empty()) {
      time.offset = OffsetIn(text);
      if (!time.offset) return std::nullopt;
    }
  }
  const std::optional<int64_t> local = SecondsOf(fields);
  if (!local) return std::nullopt;
  time.local = *local;
  return time;
}

int* FieldOf(char letter, CalendarFields& fields) {
  switch (letter) {
    case 'Y':
      return &fields.year;
    case 'M':
      return &fields.month;
    case 'D':
      return &fields.day;
    case 'h':
      return &fields.hour;
    case 'm':
      return &fields.minute;
    case 's':
      return &fields.second;
    default:
      return nullptr;
  }
}

// How often the first character repeats at the beginning.
size_t RunLength(std::string_view text) {
  const size_t end = text.find_first_not_of(text.front());
  return end == std::string_view::npos ? text.size() : end;
}

bool BeginsWithField(std::string_view format) {
  CalendarFields fields;
  return !format.empty() && FieldOf(format.front(), fields) != nullptr;
}

std::optional<int64_t> ReadAs(std::string_view text, std::string_view format) {
  CalendarFields fields;
  bool follows_field = false;
  while (!format.empty()) {
    const char letter = format.front();
    int* const field = FieldOf(letter, fields);
    if (field == nullptr) {
      if (!TakeChar(text, letter)) return std::nullopt;
      format.remove_prefix(1);
      follows_field = false;
      continue;
    }
    format.remove_prefix(RunLength(format));
    // Without a character between two fields, one digit less would move the rest: "2019111" is two days.
    const bool has_both = follows_field || BeginsWithField(format);
    const std::optional<int> read =
        letter == 'Y' ? TakeDigits(text, 4, 4) : TakeDigits(text, has_both ? 2 : 1, 2);
    if (!read) return std::nullopt;
    *field = *read;
    follows_field = true;
  }
  return text.empty() ? SecondsOf(fields) : std::nullopt;
}

absl::CivilDay MondayOf(absl::CivilDay day) {
  return absl::PrevWeekday(day + 1, absl::Weekday::monday);
}

// Counts periods from the beginning of the calendar.
int64_t PeriodOf(absl::CivilSecond at, DateBins bins) {
  switch (bins) {
    case DateBins::kWeek:
      return (MondayOf(absl::CivilDay(at)) - MondayOf(absl::CivilDay(1, 1, 1))) / 7;
    case DateBins::kMonth:
      return absl::CivilMonth(at) - absl::CivilMonth(1, 1);
    case DateBins::kQuarter:
      return (at.year() - 1) * 4 + (at.month() - 1) / 3;
    case DateBins::kYear:
      return at.year() - 1;
    case DateBins::kDay:
    case DateBins::kListed:
      break;
  }
  return absl::CivilDay(at) - absl::CivilDay(1, 1, 1);
}

absl::CivilSecond BeginOfPeriod(int64_t period, DateBins bins) {
  switch (bins) {
    case DateBins::kWeek:
      return absl::CivilSecond(MondayOf(absl::CivilDay(1, 1, 1)) + 7 * period);
    case DateBins::kMonth:
      return absl::CivilSecond(absl::CivilMonth(1, 1) + period);
    case DateBins::kQuarter:
      return absl::CivilSecond(absl::CivilMonth(1, 1) + 3 * period);
    case DateBins::kYear:
      return absl::CivilSecond(absl::CivilYear(1) + period);
    case DateBins::kDay:
    case DateBins::kListed:
      break;
  }
  return absl::CivilSecond(absl::CivilDay(1, 1, 1) + period);
}

std::string DayText(absl::CivilDay day) {
  return absl::StrFormat("%04d-%02d-%02d", day.year(), day.month(), day.day());
}

// ISO 8601: the week's year is that of its Thursday.
std::string WeekText(absl::CivilDay monday) {
  const absl::CivilDay thursday = monday + 3;
  return absl::StrFormat("%04d-W%02d", thursday.year(), (absl::GetYearDay(thursday) - 1) / 7 + 1);
}

// The first second of a period by its label, which may be written in another way than PeriodText() does.
std::optional<int64_t> BeginOfLabel(std::string_view label, DateBins bins) {
  CalendarFields fields;
  const std::optional<int> year = TakeDigits(label, 4, 4);
  if (!year) return std::nullopt;
  fields.year = *year;
  if (bins == DateBins::kYear) return SecondsOf(fields);
  if (!TakeChar(label, '-')) return std::nullopt;
  const bool is_counted = bins != DateBins::kWeek || TakeChar(label, 'W');
  if (!is_counted || (bins == DateBins::kQuarter && !TakeChar(label, 'Q'))) return std::nullopt;
  const std::optional<int> number = TakeDigits(label, 1, 2);
  if (!number) return std::nullopt;
  if (bins == DateBins::kWeek) {
    if (!SecondsOf(fields)) return std::nullopt;
    return SecondsOf(absl::CivilSecond(MondayOf(absl::CivilDay(*year, 1, 4)) + 7 * (*number - 1)));
  }
  fields.month = bins == DateBins::kQuarter ? 3 * (*number - 1) + 1 : *number;
  if (bins != DateBins::kDay) return SecondsOf(fields);
  const std::optional<int> day = TakeChar(label, '-') ? TakeDigits(label, 2, 2) : std::nullopt;
  if (!day) return std::nullopt;
  fields.day = *day;
  return SecondsOf(fields);
}

// Of the period that has this second.
std::string PeriodText(int64_t seconds, DateBins bins) {
  const absl::CivilSecond at = CivilOf(seconds);
  switch (bins) {
    case DateBins::kWeek:
      return WeekText(MondayOf(absl::CivilDay(at)));
    case DateBins::kMonth:
      return absl::StrFormat("%04d-%02d", at.year(), at.month());
    case DateBins::kQuarter:
      return absl::StrFormat("%04d-Q%d", at.year(), (at.month() - 1) / 3 + 1);
    case DateBins::kYear:
      return absl::StrFormat("%04d", at.year());
    case DateBins::kDay:
    case DateBins::kListed:
      break;
  }
  return DayText(absl::CivilDay(at));
}

// Names such as "America/Argentina/Buenos_Aires" and "Etc/GMT+1": no path to another file, nor a zone with
// leap seconds ("right/...").
bool IsZoneName(std::string_view name) {
  constexpr size_t kMostBytes = 64;
  const auto may_occur = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '+' || c == '/';
  };
  return !name.empty() && name.size() <= kMostBytes &&
         absl::ascii_isupper(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(), may_occur);
}

// Abseil keeps every name that it was asked for, also unknown ones: requests must not reach it with those.
bool IsInstalled(const std::string& name) {
  const char* const folder = std::getenv("TZDIR");  // where Abseil looks
  std::error_code error;
  return std::filesystem::is_regular_file(
      std::filesystem::path(folder != nullptr ? folder : "/usr/share/zoneinfo") / name, error);
}

absl::StatusOr<absl::TimeZone> ZoneOf(const std::string& name) {
  absl::TimeZone zone = absl::UTCTimeZone();
  if (name.empty() || name == "UTC") return zone;
  if (IsZoneName(name) && IsInstalled(name) && absl::LoadTimeZone(name, &zone)) return zone;
  return InvalidField("date.time_zone",
                      "is no time zone that this system knows; its names are such as \"Europe/Berlin\"");
}

absl::Status CheckFormat(const std::string& field, std::string_view format, DateBins bins) {
  if (format.size() > 64) return InvalidField(field, "is longer than 64 bytes");
  const bool needs_month = bins != DateBins::kYear;
  const bool needs_day = needs_month && bins != DateBins::kMonth && bins != DateBins::kQuarter;
  std::string seen;
  bool follows_field = false;
  for (std::string_view rest = format; !rest.empty();) {
    const char letter = rest.front();
    const size_t length = RunLength(rest);
    CalendarFields fields;
    rest.remove_prefix(FieldOf(letter, fields) == nullptr ? 1 : length);
    if (FieldOf(letter, fields) == nullptr) {
      follows_field = false;
      continue;
    }
    if (absl::StrContains(seen, letter))
      return InvalidField(field, absl::StrCat("has ", std::string(1, letter), " twice"));
    if (letter == 'Y' ? length != 4 : length > 2)
      return InvalidField(field, "may have YYYY, MM, DD, hh, mm and ss, or one letter of the latter");
    const bool touches_field = follows_field || BeginsWithField(rest);
    if (length == 1 && touches_field) {
      return InvalidField(field, absl::StrCat("has ", std::string(1, letter),
                                              " next to another part: write it twice, for two digits"));
    }
    follows_field = true;
    seen.push_back(letter);
  }
  const auto lacks = [&](char letter) { return !absl::StrContains(seen, letter); };
  if (lacks('Y')) return InvalidField(field, "has no YYYY, the year");
  if (needs_month && lacks('M')) return InvalidField(field, "has no MM, the month, which the bins need");
  if (needs_day && lacks('D')) return InvalidField(field, "has no DD, the day, which the bins need");
  return absl::OkStatus();
}

// 2001-02-03 04:05:06 as the format has it: all parts differ.
std::string SampleOf(std::string_view format) {
  CalendarFields fields{.year = 2001, .month = 2, .day = 3, .hour = 4, .minute = 5, .second = 6};
  std::string sample;
  while (!format.empty()) {
    const int* const field = FieldOf(format.front(), fields);
    if (field == nullptr) {
      sample.push_back(format.front());
    } else {
      absl::StrAppend(&sample, absl::Dec(*field, format.front() == 'Y' ? absl::kZeroPad4 : absl::kZeroPad2));
    }
    format.remove_prefix(field == nullptr ? 1 : RunLength(format));
  }
  return sample;
}

// A cell is read by the first format that fits it, and ISO 8601 is before all: no other may fit it and mean
// another day.
absl::Status CheckMeanings(const std::vector<std::string>& formats) {
  for (size_t i = 0; i < formats.size(); ++i) {
    const std::string field = absl::StrCat("reading.date_formats[", i, "]");
    const std::string sample = SampleOf(formats[i]);
    const std::optional<int64_t> own = ReadAs(sample, formats[i]);
    if (const std::optional<IsoTime> iso = ReadIso(sample); iso && iso->local != own)
      return InvalidField(field,
                          absl::StrCat("reads ", sample, " otherwise than ISO 8601, which comes first"));
    for (size_t earlier = 0; earlier < i; ++earlier) {
      const std::optional<int64_t> other = ReadAs(sample, formats[earlier]);
      if (other && other != own)
        return InvalidField(
            field, absl::StrCat("reads ", sample, " otherwise than \"", formats[earlier], "\" does"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CheckedListedSize(const DateKind& kind) {
  if (kind.edges.size() < 2)
    return InvalidField("date.edges", absl::StrCat("must have at least 2 edges: got ", kind.edges.size()));
  for (size_t i = 1; i < kind.edges.size(); ++i) {
    if (kind.edges[i - 1] < kind.edges[i]) continue;
    return InvalidField(absl::StrCat("date.edges[", i, "]"),
                        absl::StrCat(WriteDeclaredTime(kind.edges[i]), " is not after the edge before it, ",
                                     WriteDeclaredTime(kind.edges[i - 1])));
  }
  if (kind.edges.front() != kind.from || kind.edges.back() != kind.until)
    return InvalidField("date.edges", "do not begin and end with the range");
  return static_cast<int64_t>(kind.edges.size()) - 1;
}

}  // namespace

absl::StatusOr<DeclaredTime> ParseDeclaredTime(std::string_view text) {
  const std::optional<IsoTime> time = ReadIso(text);
  if (time && !time->offset) return DeclaredTime{.seconds = time->local, .is_day = time->is_day};
  return absl::InvalidArgumentError(absl::StrCat("\"", std::string(text.substr(0, 40)),
                                                 "\" is no day such as 2019-03-31 and no time such as "
                                                 "2019-03-31T12:00:00"));
}

std::string WriteDeclaredTime(int64_t seconds) {
  const absl::CivilSecond at = CivilOf(seconds);
  const std::string day = DayText(absl::CivilDay(at));
  if (absl::CivilSecond(absl::CivilDay(at)) == at) return day;
  return absl::StrFormat("%sT%02d:%02d:%02d", day, at.hour(), at.minute(), at.second());
}

absl::StatusOr<int64_t> CheckedSizeOf(const DateKind& kind) {
  RETURN_IF_ERROR(ZoneOf(kind.zone).status());
  const int64_t earliest = SecondsOf(absl::CivilSecond(1, 1, 1));
  const int64_t latest = SecondsOf(absl::CivilSecond(kLastYear + 1, 1, 1));
  if (kind.from < earliest || kind.until > latest)
    return InvalidField("date.to", "leaves the years 1 to 9999");
  if (kind.bins == DateBins::kListed) return CheckedListedSize(kind);
  if (!kind.edges.empty()) return InvalidField("date.edges", "are given beside bins");
  if (kind.until <= kind.from) {
    return InvalidField("date.to", absl::StrCat("ends the range at ", WriteDeclaredTime(kind.until),
                                                ", which is not after from, ", WriteDeclaredTime(kind.from)));
  }
  return DateBinOf(kind, kind.until - 1) + 1;
}

int64_t DateBinOf(const DateKind& kind, int64_t seconds) {
  if (kind.bins == DateBins::kListed)
    return std::upper_bound(kind.edges.begin(), kind.edges.end(), seconds) - kind.edges.begin() - 1;
  return PeriodOf(CivilOf(seconds), kind.bins) - PeriodOf(CivilOf(kind.from), kind.bins);
}

DateInterval DatesOfBin(const DateKind& kind, int64_t bin) {
  if (kind.bins == DateBins::kListed) {
    const auto at = static_cast<size_t>(bin);
    return {kind.edges[at], kind.edges[at + 1]};
  }
  const int64_t period = PeriodOf(CivilOf(kind.from), kind.bins) + bin;
  return {std::max(kind.from, SecondsOf(BeginOfPeriod(period, kind.bins))),
          std::min(kind.until, SecondsOf(BeginOfPeriod(period + 1, kind.bins)))};
}

std::string DateLabel(const DateKind& kind, int64_t first, int64_t last) {
  const int64_t from = DatesOfBin(kind, first).from;
  if (kind.bins == DateBins::kListed) {
    return absl::StrCat("[", WriteDeclaredTime(from), ", ", WriteDeclaredTime(DatesOfBin(kind, last).until),
                        ")");
  }
  std::string label = PeriodText(from, kind.bins);
  if (first != last) absl::StrAppend(&label, " .. ", PeriodText(DatesOfBin(kind, last).from, kind.bins));
  return label;
}

std::optional<int64_t> DateBinOfLabel(const DateKind& kind, std::string_view label) {
  std::optional<int64_t> begin;
  if (kind.bins == DateBins::kListed) {
    if (!label.starts_with('[')) return std::nullopt;
    const absl::StatusOr<DeclaredTime> first = ParseDeclaredTime(label.substr(1, label.find(',') - 1));
    if (first.ok()) begin = first->seconds;
  } else {
    begin = BeginOfLabel(label, kind.bins);
  }
  if (!begin) return std::nullopt;
  const int64_t inside = std::max(*begin, kind.from);  // the range may begin within the period
  if (inside >= kind.until) return std::nullopt;
  const int64_t bin = DateBinOf(kind, inside);
  return DateLabel(kind, bin, bin) == label ? std::optional(bin) : std::nullopt;
}

std::string DateInside(const DateKind& kind, int64_t bin, uint64_t randomness) {
  const DateInterval dates = DatesOfBin(kind, bin);
  const auto below = [randomness](int64_t count) {
    return static_cast<int64_t>(
        absl::Uint128High64(absl::uint128(static_cast<uint64_t>(count)) * randomness));
  };
  const absl::CivilDay day_of_start(CivilOf(dates.from));
  const bool starts_at_midnight = absl::CivilSecond(day_of_start) == CivilOf(dates.from);
  const absl::CivilDay first_day = starts_at_midnight ? day_of_start : day_of_start + 1;
  const int64_t whole_days = (dates.until - SecondsOf(absl::CivilSecond(first_day))) / kSecondsOfDay;
  if (whole_days > 0) return DayText(first_day + below(whole_days));
  return WriteDeclaredTime(dates.from + below(dates.until - dates.from));
}

absl::StatusOr<DateReader> DateReader::Create(const DateKind& kind, std::vector<std::string> formats) {
  DateReader reader;
  ASSIGN_OR_RETURN(reader.zone_, ZoneOf(kind.zone));
  for (size_t i = 0; i < formats.size(); ++i)
    RETURN_IF_ERROR(CheckFormat(absl::StrCat("reading.date_formats[", i, "]"), formats[i], kind.bins));
  RETURN_IF_ERROR(CheckMeanings(formats));
  reader.formats_ = std::move(formats);
  return reader;
}

std::optional<int64_t> DateReader::Read(std::string_view cell) const {
  const std::string_view text = TrimBlanks(cell);
  if (const std::optional<IsoTime> iso = ReadIso(text)) {
    if (!iso->offset) return iso->local;
    return SecondsOf(absl::ToCivilSecond(absl::FromUnixSeconds(iso->local - *iso->offset), zone_));
  }
  for (const std::string& format : formats_) {
    if (const std::optional<int64_t> read = ReadAs(text, format)) return read;
  }
  return std::nullopt;
}

}  // namespace curator::dp
