#include "client/gate/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace curator::gate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PagesTest, TheFirstPageNamesFilesThatAreThere) {
  const PageFile* index = FindPageFile("/index.html");
  ASSERT_NE(index, nullptr);
  int named = 0;
  for (const PageFile& file : PageFiles()) {
    if (index->content.find(file.path) != std::string_view::npos) ++named;
  }
  EXPECT_GE(named, 2) << "a script and a style sheet";
}

// The content policy would stop the page.
TEST(PagesTest, TheFirstPageHasNoScriptOrStyleInside) {
  const std::string index(FindPageFile("/index.html")->content);
  EXPECT_THAT(index, Not(HasSubstr("<style")));
  EXPECT_THAT(index, Not(HasSubstr("style=")));
  EXPECT_THAT(index, Not(HasSubstr("<script>")));
  EXPECT_THAT(index, Not(HasSubstr("=\"http"))) << "nothing comes from elsewhere";
}

TEST(PagesTest, AssetsHaveAHashInTheirNamesBecauseBrowsersKeepThem) {
  for (const PageFile& file : PageFiles()) {
    if (!file.path.starts_with("/assets/")) continue;
    EXPECT_THAT(std::string(file.path), ::testing::MatchesRegex("/assets/[a-z]+-[0-9a-f]+[.][a-z0-9]+"));
  }
}

TEST(PagesTest, EachFileHasTheTypeOfItsEnding) {
  EXPECT_EQ(ContentTypeOf("/index.html"), "text/html; charset=utf-8");
  EXPECT_EQ(ContentTypeOf("/assets/app-1.js"), "text/javascript; charset=utf-8");
  EXPECT_EQ(ContentTypeOf("/assets/app-1.css"), "text/css; charset=utf-8");
  EXPECT_EQ(ContentTypeOf("/unknown.bin"), "application/octet-stream");
}

TEST(PagesTest, AMissingFileIsNone) {
  EXPECT_EQ(FindPageFile("/assets/../index.html"), nullptr);
}

}  // namespace
}  // namespace curator::gate
