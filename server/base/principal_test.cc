#include "base/principal.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "base/request_names.h"
#include "base/testing/names.h"

namespace curator {
namespace {

TEST(Principal, IsComparedByItsName) {
  EXPECT_EQ(TestPrincipal("ana"), Principal::OfStoredRow("ana"));
  EXPECT_NE(TestPrincipal("ana"), TestPrincipal("bob"));
  EXPECT_EQ(TestPrincipal("ana@example.org").name(), "ana@example.org");
}

TEST(Principal, NamesAreShortAndOfHarmlessCharacters) {
  for (const std::string& name :
       {std::string("a"), std::string("Ana.Lind-2@example.org"), std::string(128, 'x')})
    EXPECT_TRUE(CheckPrincipalName(name).ok()) << name;
  for (const std::string& name :
       {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a/b"), std::string("a\n"),
        std::string("\u00e4"), std::string("a\0b", 3)}) {
    const absl::Status status = CheckPrincipalName(name);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(FieldViolationOf(status)->field, "principal");
  }
}

TEST(RequestId, IsAUuidInLowerCase) {
  const std::string good = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
  EXPECT_EQ(RequestId::Parse(good)->text(), good);
  for (const char* bad : {"", "3F2504E0-4F89-41D3-9A0C-0305E82C3301", "3f2504e04f8941d39a0c0305e82c3301",
                          "3f2504e0-4f89-41d3-9a0c-0305e82c330", "{3f2504e0-4f89-41d3-9a0c-0305e82c3301}",
                          "00000000-0000-0000-0000-000000000000"}) {
    const absl::StatusOr<RequestId> id = RequestId::Parse(bad);
    EXPECT_EQ(id.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_EQ(FieldViolationOf(id.status())->field, "request_id");
  }
}

TEST(DatasetName, IsTheTextOfTheRequest) {
  EXPECT_EQ(DatasetName("No Such Name").text(), "No Such Name");
}

}  // namespace
}  // namespace curator
