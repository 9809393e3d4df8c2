#include "tests/testing/nightly.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace curator::nightly {
namespace {

class Cases : public ::testing::Test {
 protected:
  ~Cases() override { unsetenv("CURATOR_NIGHTLY_CASES"); }
};

TEST_F(Cases, AreAsManyAsUsualUnlessASliceIsAskedFor) {
  unsetenv("CURATOR_NIGHTLY_CASES");
  EXPECT_EQ(nightly::Cases(60), 60u);
  setenv("CURATOR_NIGHTLY_CASES", "7", 1);
  EXPECT_EQ(nightly::Cases(60), 7u);
}

// A test of no cases passes, and would be counted.
TEST_F(Cases, AreNeverNone) {
  for (const char* text : {"0", "", "many", "5x", "-5"}) {
    setenv("CURATOR_NIGHTLY_CASES", text, 1);
    EXPECT_EXIT(nightly::Cases(60), ::testing::ExitedWithCode(2), "a whole number above 0") << text;
  }
}

TEST(Seeds, OfDifferentNumbersDiffer) {
  EXPECT_NE(Seed(1), Seed(2));
  EXPECT_EQ(Seed(1), Seed(1));
}

}  // namespace
}  // namespace curator::nightly
