#include "client/similar.h"

#include <gtest/gtest.h>

namespace curator {
namespace {

TEST(DidYouMean, NamesWhatDiffersByFewLetters) {
  const std::vector<std::string> names = {"dataset", "schema", "synth"};
  EXPECT_EQ(DidYouMean("schem", names), "; did you mean schema?");
  EXPECT_EQ(DidYouMean("Schema", names), "; did you mean schema?");
  EXPECT_EQ(DidYouMean("datsaet", names), "; did you mean dataset?");
  EXPECT_EQ(DidYouMean("infer", names), "");
  EXPECT_EQ(DidYouMean("", names), "");
}

TEST(DidYouMean, CountsTwoLettersInEachOthersPlaceAsOneMistake) {
  EXPECT_EQ(DidYouMean("sxe", {"sex", "age"}), "; did you mean sex?");
  EXPECT_EQ(DidYouMean("aeg", {"sex", "AGE"}), "; did you mean AGE?");
  EXPECT_EQ(DidYouMean("xes", {"sex"}), "");
}

TEST(DidYouMean, NamesAtMostThree) {
  EXPECT_EQ(DidYouMean("--a", {"--b", "--c", "--d", "--e"}), "; did you mean --b or --c or --d?");
}

TEST(DidYouMean, ComparesNoLongTexts) {
  EXPECT_EQ(DidYouMean(std::string(100'000, 'a'), {std::string(100'000, 'a')}), "");
}

}  // namespace
}  // namespace curator
