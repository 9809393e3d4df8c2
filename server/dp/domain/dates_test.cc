#include "dp/domain/dates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.h"

namespace curator::dp {
namespace {

int64_t At(std::string_view text) {
  return ParseDeclaredTime(text).value().seconds;
}

DateKind Range(std::string_view from, std::string_view until, DateBins bins) {
  return {.from = At(from), .until = At(until), .bins = bins, .edges = {}, .zone = ""};
}

std::vector<std::string> LabelsOf(const DateKind& kind) {
  std::vector<std::string> labels;
  for (int64_t bin = 0; bin < CheckedSizeOf(kind).value(); ++bin) labels.push_back(DateLabel(kind, bin, bin));
  return labels;
}

std::optional<int64_t> ReadIn(const std::string& zone, std::string_view cell,
                              std::vector<std::string> formats = {}) {
  DateKind kind = Range("2019-01-01", "2020-01-01", DateBins::kDay);
  kind.zone = zone;
  return DateReader::Create(kind, std::move(formats)).value().Read(cell);
}

TEST(DeclaredTime, IsADayOrATimeAndIsWrittenAsItWasRead) {
  for (const char* text : {"0001-01-01", "1969-12-31", "2019-03-31", "2020-02-29", "9999-12-31",
                           "2019-03-31T12:30:05", "1969-12-31T23:59:59"})
    EXPECT_EQ(WriteDeclaredTime(At(text)), text);
  EXPECT_EQ(At("2019-03-31T00:00"), At("2019-03-31"));
  EXPECT_TRUE(ParseDeclaredTime("2019-03-31")->is_day);
  EXPECT_FALSE(ParseDeclaredTime("2019-03-31 00:00:00")->is_day);
}

TEST(DeclaredTime, WhatNoCalendarHasIsRefused) {
  for (const char* text :
       {"", "2019", "2019-02-30", "2019-13-01", "2019-00-10", "2019-1-1", "0000-01-01", "2019-03-31T24:00",
        "2019-03-31T12:60", "2019-03-31Tx", "2019-03-31T12:30Z", "2019-03-31x", "31.03.2019", "-2019-03-31"})
    EXPECT_FALSE(ParseDeclaredTime(text).ok()) << text;
}

TEST(DateBins, HoldWhatTheRangeHasOfTheirPeriods) {
  EXPECT_THAT(LabelsOf(Range("2019-02-27", "2019-03-02", DateBins::kDay)),
              ::testing::ElementsAre("2019-02-27", "2019-02-28", "2019-03-01"));
  EXPECT_THAT(LabelsOf(Range("2018-12-30", "2019-01-08", DateBins::kWeek)),
              ::testing::ElementsAre("2018-W52", "2019-W01", "2019-W02"));
  EXPECT_THAT(LabelsOf(Range("2019-11-15", "2020-02-01", DateBins::kMonth)),
              ::testing::ElementsAre("2019-11", "2019-12", "2020-01"));
  EXPECT_THAT(LabelsOf(Range("2019-09-30", "2020-01-01T00:00:01", DateBins::kQuarter)),
              ::testing::ElementsAre("2019-Q3", "2019-Q4", "2020-Q1"));
  EXPECT_THAT(LabelsOf(Range("2019-12-31", "2021-01-01", DateBins::kYear)),
              ::testing::ElementsAre("2019", "2020"));
  const DateKind months = Range("2019-11-15", "2020-01-20", DateBins::kMonth);
  EXPECT_EQ(WriteDeclaredTime(DatesOfBin(months, 0).from), "2019-11-15");
  EXPECT_EQ(WriteDeclaredTime(DatesOfBin(months, 0).until), "2019-12-01");
  EXPECT_EQ(WriteDeclaredTime(DatesOfBin(months, 2).until), "2020-01-20");
  EXPECT_EQ(DateLabel(months, 0, 2), "2019-11 .. 2020-01");
}

TEST(DateBins, OfListedEdgesAreIntervalsWithoutTheirEnds) {
  DateKind kind = Range("2019-01-01", "2020-01-01", DateBins::kListed);
  kind.edges = {At("2019-01-01"), At("2019-03-31T12:00"), At("2020-01-01")};
  EXPECT_THAT(LabelsOf(kind), ::testing::ElementsAre("[2019-01-01, 2019-03-31T12:00:00)",
                                                     "[2019-03-31T12:00:00, 2020-01-01)"));
  EXPECT_EQ(DateLabel(kind, 0, 1), "[2019-01-01, 2020-01-01)");
  EXPECT_EQ(DateBinOf(kind, At("2019-03-31T11:59:59")), 0);
  EXPECT_EQ(DateBinOf(kind, At("2019-03-31T12:00")), 1);
}

TEST(DateBins, EveryBinIsFoundByItsSecondsItsLabelAndTheValuesInside) {
  std::vector<DateKind> kinds;
  for (const DateBins bins :
       {DateBins::kDay, DateBins::kWeek, DateBins::kMonth, DateBins::kQuarter, DateBins::kYear})
    kinds.push_back(Range("2015-02-27T13:00", "2026-05-05T01:02:03", bins));
  kinds.push_back(Range("2019-01-01", "2020-01-01", DateBins::kListed));
  kinds.back().edges = {At("2019-01-01"), At("2019-01-01T12:00"), At("2019-07-01"), At("2020-01-01")};
  for (const DateKind& kind : kinds) {
    const int64_t size = CheckedSizeOf(kind).value();
    const DateReader reader = DateReader::Create(kind, {}).value();
    int64_t end = kind.from;
    for (int64_t bin = 0; bin < size; ++bin) {
      const DateInterval dates = DatesOfBin(kind, bin);
      ASSERT_EQ(dates.from, end);
      ASSERT_LT(dates.from, dates.until);
      end = dates.until;
      ASSERT_EQ(DateBinOf(kind, dates.from), bin);
      ASSERT_EQ(DateBinOf(kind, dates.until - 1), bin);
      ASSERT_EQ(DateBinOfLabel(kind, DateLabel(kind, bin, bin)), bin) << DateLabel(kind, bin, bin);
      for (const uint64_t randomness : {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 63}) {
        const std::optional<int64_t> inside = reader.Read(DateInside(kind, bin, randomness));
        ASSERT_TRUE(inside && *inside >= dates.from && *inside < dates.until);
      }
    }
    EXPECT_EQ(end, kind.until);
  }
}

TEST(DateBins, ALabelThatIsWrittenOtherwiseIsNoLabel) {
  const DateKind months = Range("2019-01-01", "2020-01-01", DateBins::kMonth);
  for (const char* label : {"", "2019", "2019-1", "2019-13", "2019-01-01", "2018-12", "2020-01", "2019-01x"})
    EXPECT_FALSE(DateBinOfLabel(months, label)) << label;
  const DateKind weeks = Range("2019-01-01", "2020-01-01", DateBins::kWeek);
  for (const char* label : {"2019-W00", "2019-W53", "2019-W99", "2019-1", "2019-W1", "0000-W01"})
    EXPECT_FALSE(DateBinOfLabel(weeks, label)) << label;
}

TEST(DateBins, AWrongDeclarationNamesItsField) {
  const auto field = [](const DateKind& kind) {
    return FieldViolationOf(CheckedSizeOf(kind).status()).value_or(FieldViolation{}).field;
  };
  EXPECT_EQ(field(Range("2019-01-02", "2019-01-02", DateBins::kDay)), "date.to");
  DateKind zone = Range("2019-01-01", "2020-01-01", DateBins::kDay);
  zone.zone = "Europe/Atlantis";
  EXPECT_EQ(field(zone), "date.time_zone");
  DateKind edges = Range("2019-01-01", "2020-01-01", DateBins::kListed);
  EXPECT_EQ(field(edges), "date.edges");
  edges.edges = {At("2019-01-01"), At("2019-01-01"), At("2020-01-01")};
  EXPECT_EQ(field(edges), "date.edges[1]");
  edges.bins = DateBins::kDay;
  EXPECT_EQ(field(edges), "date.edges");
  DateKind late = Range("2019-01-01", "2020-01-01", DateBins::kYear);
  late.until = At("9999-12-31") + 2 * 86'400;
  EXPECT_EQ(field(late), "date.to");
}

TEST(DateBins, ATimeZoneIsANameOfTheDatabaseAndNoFile) {
  DateKind kind = Range("2019-01-01", "2020-01-01", DateBins::kDay);
  for (const char* name :
       {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+1", "EST5EDT"}) {
    kind.zone = name;
    EXPECT_TRUE(CheckedSizeOf(kind).ok()) << name;
  }
  for (const char* name :
       {"/usr/share/zoneinfo/Europe/Berlin", "file:Europe/Berlin", "../zoneinfo/Europe/Berlin",
        "Europe/../Europe/Berlin", "libc:localtime", "localtime", "right/Europe/Berlin",
        "posix/Europe/Berlin", "Fixed/UTC+02:00:00", "Europe", "Europe/", "Europe/Berlin ", "/dev/zero"}) {
    kind.zone = name;
    EXPECT_FALSE(CheckedSizeOf(kind).ok()) << name;
  }
}

TEST(DateReader, InAnHourThatClocksSkipOrRepeatIsWhatTheyShowed) {
  EXPECT_EQ(ReadIn("Europe/Berlin", "2019-03-31T00:59:59Z"), At("2019-03-31T01:59:59"));
  EXPECT_EQ(ReadIn("Europe/Berlin", "2019-03-31T01:00:00Z"), At("2019-03-31T03:00"));
  EXPECT_EQ(ReadIn("Europe/Berlin", "2019-03-31T02:30:00"), At("2019-03-31T02:30")) << "as it is written";
  EXPECT_EQ(ReadIn("Europe/Berlin", "2019-10-27T00:30:00Z"), At("2019-10-27T02:30"));
  EXPECT_EQ(ReadIn("Europe/Berlin", "2019-10-27T01:30:00Z"), At("2019-10-27T02:30"));
  EXPECT_EQ(ReadIn("Europe/Berlin", "1893-03-31T23:06:31Z"), At("1893-03-31T23:59:59")) << "by the sun";
  EXPECT_EQ(ReadIn("Europe/Berlin", "1893-03-31T23:06:32Z"), At("1893-04-01T00:06:32"));
  EXPECT_EQ(ReadIn("Europe/Berlin", "2400-07-01T22:00:00Z"), At("2400-07-02")) << "as the rule goes on";
}

TEST(DateReader, ReadsIsoDaysAndTimes) {
  EXPECT_EQ(ReadIn("", " 2019-03-31 "), At("2019-03-31"));
  EXPECT_EQ(ReadIn("", "2019-03-31 12:30"), At("2019-03-31T12:30"));
  EXPECT_EQ(ReadIn("", "2019-03-31T12:30:05.999"), At("2019-03-31T12:30:05"));
  for (const char* cell : {"", "x", "2019", "2019-02-29", "03/31/2019", "2019-03-31T", "2019-03-31T12:30+",
                           "2019-03-31T12:30+25:00", "2019-03-31T12:30:05.", "2016-12-31T23:59:60Z"})
    EXPECT_FALSE(ReadIn("", cell)) << cell;
}

TEST(DateReader, ATimeWithAnOffsetIsWhatClocksInTheZoneShowed) {
  EXPECT_EQ(ReadIn("", "2019-03-31T12:30:00+02:00"), At("2019-03-31T10:30"));
  EXPECT_EQ(ReadIn("Europe/Berlin", "2019-03-30T23:30:00Z"), At("2019-03-31T00:30"));
  EXPECT_EQ(ReadIn("Europe/Berlin", "2019-07-01T22:30Z"), At("2019-07-02T00:30"));
  EXPECT_EQ(ReadIn("America/New_York", "2019-01-01 04:59:59 +0000"), At("2018-12-31T23:59:59"));
  EXPECT_EQ(ReadIn("America/New_York", "2019-01-01T04:59:59"), At("2019-01-01T04:59:59"));
  EXPECT_EQ(ReadIn("", "2019-01-01T00:00-03"), At("2019-01-01T03:00"));
}

TEST(DateReader, ReadsDeclaredFormats) {
  EXPECT_EQ(ReadIn("", "3/9/2019", {"MM/DD/YYYY"}), At("2019-03-09"));
  EXPECT_EQ(ReadIn("", "09.03.2019 7:05", {"DD.MM.YYYY h:mm"}), At("2019-03-09T07:05"));
  EXPECT_EQ(ReadIn("", "20190309", {"DD.MM.YYYY", "YYYYMMDD"}), At("2019-03-09"));
  EXPECT_FALSE(ReadIn("", "31/12/2019", {"MM/DD/YYYY"}));
  EXPECT_FALSE(ReadIn("", "3/9/2019 ", {"MM-DD-YYYY"}));
  EXPECT_FALSE(ReadIn("", "3/9/2019x", {"MM/DD/YYYY"}));
}

TEST(DateReader, TakesBothDigitsWhereNothingDividesThem) {
  EXPECT_EQ(ReadIn("", "20190111 0405", {"YYYYMMDD hhmm"}), At("2019-01-11T04:05"));
  EXPECT_EQ(ReadIn("", "1/112019", {"M/DDYYYY"}), At("2019-01-11"));
  EXPECT_FALSE(ReadIn("", "2019111", {"YYYYMMDD"})) << "11 January or 1 November";
  EXPECT_FALSE(ReadIn("", "1/12019", {"M/DDYYYY"}));
  EXPECT_FALSE(ReadIn("", "20190111 405", {"YYYYMMDD hhmm"}));
}

TEST(DateReader, NoCellMayMeanTwoDays) {
  const auto refused = [](std::vector<std::string> formats) {
    const DateKind kind = Range("2019-01-01", "2020-01-01", DateBins::kDay);
    const auto reader = DateReader::Create(kind, std::move(formats));
    return FieldViolationOf(reader.status()).value_or(FieldViolation{}).field;
  };
  EXPECT_EQ(refused({"DD/MM/YYYY", "MM/DD/YYYY"}), "reading.date_formats[1]");
  EXPECT_EQ(refused({"YYYYMMDD", "D.M.YYYY", "YYYYDDMM"}), "reading.date_formats[2]");
  EXPECT_EQ(refused({"D/M/YYYY h:m", "D/M/YYYY m:h"}), "reading.date_formats[1]");
  EXPECT_EQ(refused({"YYYY-DD-MM"}), "reading.date_formats[0]") << "2019-03-04 is in March";
  EXPECT_EQ(refused({"YYYY-MM-DD", "YYYY-M-D h:m:s"}), "");
  EXPECT_EQ(refused({"DD/MM/YYYY", "MM-DD-YYYY", "DD/MM/YYYY hh:mm", "D/M/YYYY"}), "");
}

TEST(DateReader, AFormatSaysAsMuchOfADayAsTheBinsNeed) {
  const auto accepts = [](DateBins bins, const char* format) {
    return DateReader::Create(Range("2019-01-01", "2020-01-01", bins), {format}).ok();
  };
  EXPECT_TRUE(accepts(DateBins::kYear, "YYYY"));
  EXPECT_TRUE(accepts(DateBins::kMonth, "MM/YYYY"));
  EXPECT_FALSE(accepts(DateBins::kMonth, "YYYY"));
  EXPECT_FALSE(accepts(DateBins::kWeek, "MM/YYYY"));
  EXPECT_FALSE(accepts(DateBins::kDay, "DD.MM.YY"));
  EXPECT_FALSE(accepts(DateBins::kDay, "DD.MM.YYYY DD"));
  EXPECT_FALSE(accepts(DateBins::kDay, "DDD.MM.YYYY"));
  EXPECT_FALSE(accepts(DateBins::kDay, "YYYYMD"));
  EXPECT_FALSE(accepts(DateBins::kMonth, "MYYYY"));
  EXPECT_TRUE(accepts(DateBins::kDay, "YYYYMMDD"));
  EXPECT_TRUE(accepts(DateBins::kDay, "D.M.YYYY"));
}

}  // namespace
}  // namespace curator::dp
