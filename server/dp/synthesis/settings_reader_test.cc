#include "dp/synthesis/settings_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"

namespace curator::dp {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string FieldOf(const absl::Status& status) {
  const auto violation = FieldViolationOf(status);
  return violation ? violation->field : status.ToString();
}

TEST(SettingsReader, FillsInWhatIsAbsentAndTellsWhatWasUsed) {
  const std::map<std::string, std::string> settings = {{"rounds", "7"}, {"slack", "0.5"}};
  SettingsReader reader(settings);
  EXPECT_EQ(reader.Integer("rounds", 3, 1, 10).value(), 7);
  EXPECT_EQ(reader.Integer("sweeps", 3, 1, 10).value(), 3);
  EXPECT_EQ(reader.Real("slack", 1, 0, 2).value(), 0.5);
  EXPECT_EQ(reader.Choice("iterate", {"last", "average"}).value(), "last");
  EXPECT_TRUE(reader.Finish().ok());
  EXPECT_THAT(reader.used(), ElementsAre(Pair("iterate", "last"), Pair("rounds", "7"), Pair("slack", "0.5"),
                                         Pair("sweeps", "3")));
}

TEST(SettingsReader, RefusesUnknownKeysAndValuesOutOfRange) {
  const std::map<std::string, std::string> settings = {
      {"a", "0"}, {"b", "11"}, {"c", "x"}, {"d", "nan"}, {"e", "middle"}, {"f", "1e400"}, {"g", "1"}};
  SettingsReader reader(settings);
  EXPECT_EQ(FieldOf(reader.Integer("a", 3, 1, 10).status()), "settings.a");
  EXPECT_EQ(FieldOf(reader.Integer("b", 3, 1, 10).status()), "settings.b");
  EXPECT_EQ(FieldOf(reader.Integer("c", 3, 1, 10).status()), "settings.c");
  EXPECT_EQ(FieldOf(reader.Real("d", 3, 1, 10).status()), "settings.d");
  EXPECT_EQ(FieldOf(reader.Choice("e", {"last"}).status()), "settings.e");
  EXPECT_EQ(FieldOf(reader.Real("f", 3, 1, 10).status()), "settings.f");
  SettingsReader fresh(settings);
  EXPECT_EQ(FieldOf(fresh.Finish()), "settings.a");
}

}  // namespace
}  // namespace curator::dp
