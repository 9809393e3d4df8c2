#include "ledger/sql/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace curator::ledger::sql {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(PostingsText, ReadsBackWhatItWrote) {
  const std::vector<Posting> postings = {{2, "rho", kMost}, {10, "Rho-2_x.y", 0}, {10, "releases", 1}};
  const absl::StatusOr<std::vector<Posting>> read = ParsePostingsText(PostingsText(postings));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, postings);
  EXPECT_EQ(PostingsText({}), "[]");
  EXPECT_TRUE(ParsePostingsText("[]")->empty());
}

TEST(PostingsText, IsAscendingWhateverTheOrderItIsGiven) {
  EXPECT_EQ(PostingsText({{10, "b", 1}, {2, "rho", 1000}, {10, "a", 2}}),
            "[[2,\"rho\",1000],[10,\"a\",2],[10,\"b\",1]]");
}

TEST(PostingsText, RefusesWhatItWouldNotWrite) {
  for (const char* text :
       {"", "[", "]", "{}", "[[1,\"rho\",1]", "[[1,\"rho\",1]]x", "[ [1,\"rho\",1]]", "[[1,\"rho\",01]]",
        "[[1,\"rho\",1][2,\"rho\",1]]", "[[1,\"rho\",1],]", "[,[1,\"rho\",1]]",
        "[[1,\"rho\",9223372036854775808]]", "[[2,\"rho\",1],[1,\"rho\",1]]", "[[1,\"rho\"]]", "[[1,rho,1]]",
        "[[+1,\"rho\",1]]"}) {
    EXPECT_EQ(ParsePostingsText(text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace curator::ledger::sql
