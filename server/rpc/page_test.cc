#include "rpc/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "curator/v1/query.pb.h"

namespace curator::rpc {
namespace {

TEST(Page, ContinuesAfterTheItemThatItsTokenNames) {
  const PageAsked first = ParsePage("releases", "census", 7, "").value();
  EXPECT_EQ(first.size, 7);
  EXPECT_EQ(first.after, "");
  const PageAsked second = ParsePage("releases", "census", 0, first.TokenAfter("r17")).value();
  EXPECT_EQ(second.after, "r17");
  EXPECT_EQ(second.size, 100) << "the default";
}

TEST(Page, HoldsAtMostAThousandItems) {
  EXPECT_EQ(ParsePage("datasets", "", 1'000'000, "")->size, 1000);
  const absl::Status refused = ParsePage("datasets", "", -1, "").status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "page_size");
}

TEST(Page, RefusesATokenOfAnotherListing) {
  const std::string token = ParsePage("releases", "census", 0, "")->TokenAfter("r17");
  for (const auto& refused :
       {ParsePage("releases", "survey", 0, token), ParsePage("accounts", "census", 0, token),
        ParsePage("releases", "census", 0, token + "A"), ParsePage("releases", "census", 0, token.substr(1)),
        ParsePage("releases", "census", 0, "not base64!")}) {
    EXPECT_EQ(FieldViolationOf(refused.status())->field, "page_token") << refused.status();
  }
}

TEST(Page, IsReadFromAnyListRequest) {
  v1::ListReleasesRequest request;
  request.set_page_size(3);
  request.set_page_token(ParsePage("releases", "census", 0, "")->TokenAfter("r17"));
  const PageAsked page = PageOf(request, "releases", "census").value();
  EXPECT_EQ(page.size, 3);
  EXPECT_EQ(page.after, "r17");
}

}  // namespace
}  // namespace curator::rpc
