#include "client/gate/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace curator::gate {
namespace {

using ::testing::HasSubstr;

TEST(PositionsTest, DatasetsWithTheirSequences) {
  const auto positions = ParsePositions("demo:57,census:0");
  ASSERT_TRUE(positions.ok());
  EXPECT_EQ(*positions, (Positions{{"census", 0}, {"demo", 57}}));
}

TEST(PositionsTest, AnEmptyTextNamesNoDataset) {
  ASSERT_TRUE(ParsePositions("").ok());
  EXPECT_TRUE(ParsePositions("")->empty());
}

TEST(PositionsTest, OtherFormsAreRefusedAndTheMessageSaysTheRightOne) {
  for (const char* text :
       {"demo", "demo:", "demo:-1", "demo:1,", ":1", "demo:1x", "demo:1,demo:2", "d\xff:1", "d e:1", "D:1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParsePositions(text).status())) << text;
  }
  EXPECT_THAT(std::string(ParsePositions("demo").status().message()), HasSubstr("demo:57,census:0"));
}

TEST(PositionsTest, MoreThanAHundredDatasetsAreRefused) {
  std::string text = "d0:0";
  for (int i = 1; i < 100; ++i) absl::StrAppend(&text, ",d", i, ":0");
  EXPECT_TRUE(ParsePositions(text).ok());
  EXPECT_FALSE(ParsePositions(text + ",more:0").ok());
}

TEST(PositionsTest, APageResumesWhereItWas) {
  Positions positions = *ParsePositions("demo:57,census:0");
  Positions later = positions;
  later["demo"] = 60;
  EXPECT_TRUE(Resume(SequencesOf(later), positions));
  EXPECT_EQ(positions, later);
}

TEST(PositionsTest, AnIdOfOtherDatasetsChangesNothing) {
  Positions positions = *ParsePositions("demo:57,census:0");
  const Positions before = positions;
  for (const char* id : {"", "1", "1.2.3", "1.x", "1.-2"}) EXPECT_FALSE(Resume(id, positions)) << id;
  EXPECT_EQ(positions, before);
}

}  // namespace
}  // namespace curator::gate
