#include "records/rejections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace curator::records {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(RejectionCounts, ListsColumnsInTheirOrderAndReasonsInTheirs) {
  RejectionCounts counts({"age", "sex"});
  counts.Add(1, "is empty", 2);
  counts.Add(0, "is no integer", 2);
  counts.Add(0, "is empty", 3);
  counts.Add(0, "is no integer", 9);
  EXPECT_THAT(counts.List(),
              ElementsAre(Rejection{"age", "is empty", 1, {3}}, Rejection{"age", "is no integer", 2, {2, 9}},
                          Rejection{"sex", "is empty", 1, {2}}));
}

TEST(RejectionCounts, KeepsTheLinesOfTheFirstFewRows) {
  RejectionCounts counts({"age"});
  for (int64_t line = 2; line < 1000; ++line) counts.Add(0, "is empty", line);
  EXPECT_THAT(counts.List(), ElementsAre(Rejection{"age", "is empty", 998, {2, 3, 4, 5, 6}}));
}

TEST(RejectionCounts, CountsFurtherReasonsOfAColumnTogether) {
  RejectionCounts counts({"age"});
  for (int i = 0; i < 1000; ++i) counts.Add(0, absl::StrCat("is ", i), i + 2);
  const std::vector<Rejection> list = counts.List();
  ASSERT_THAT(list, SizeIs(kMaxReasonsOfColumn + 1));
  int64_t rows = 0;
  for (const Rejection& rejection : list) rows += rejection.rows;
  EXPECT_EQ(rows, 1000) << "none is lost";
}

TEST(RejectionCounts, ListsTheReasonsOfTheMostRowsWhereThereAreTooMany) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kMaxRejections + 5; ++i) names.push_back(absl::StrCat("a", i));
  RejectionCounts counts(names);
  for (size_t i = 0; i < names.size(); ++i) {
    counts.Add(i, "is empty", 2);
    if (i >= 3) counts.Add(i, "is empty", 3);
  }
  const std::vector<Rejection> list = counts.List();
  ASSERT_THAT(list, SizeIs(kMaxRejections));
  EXPECT_EQ(list.front().attribute, "a3") << "those of one row have no place";
  EXPECT_EQ(list.back().attribute, absl::StrCat("a", kMaxRejections + 2)) << "of equal ones the first";
}

}  // namespace
}  // namespace curator::records
