#include "client/gate/request_guard.h"

#include <gtest/gtest.h>

namespace curator::gate {
namespace {

constexpr char kOrigin[] = "https://curator.example";

// A change as a page of the gate sends it.
HttpRequest Change() {
  return {.method = "POST",
          .path = "/api/v1/BudgetService/ApproveLimitChange",
          .headers = {{"host", "curator.example"},
                      {"origin", kOrigin},
                      {"sec-fetch-site", "same-origin"},
                      {"content-type", "application/json"},
                      {"x-curator-csrf", "secret"}}};
}

void Set(HttpRequest& request, std::string_view name, std::string value) {
  for (auto& [header, content] : request.headers) {
    if (header == name) content = value;
  }
}
void Remove(HttpRequest& request, std::string_view name) {
  std::erase_if(request.headers, [&](const auto& header) { return header.first == name; });
}

std::string ReasonOf(const std::optional<Refusal>& refusal) {
  return refusal ? refusal->reason : "";
}

TEST(RequestGuardTest, AChangeFromAPageOfTheGatePasses) {
  const RequestGuard guard({kOrigin});
  EXPECT_EQ(ReasonOf(guard.CheckAny(Change())), "");
  EXPECT_EQ(ReasonOf(guard.CheckChange(Change(), "secret")), "");
}

TEST(RequestGuardTest, AnotherHostIsRefused) {
  const RequestGuard guard({kOrigin});
  HttpRequest request = Change();
  Set(request, "host", "attacker.example");
  EXPECT_EQ(ReasonOf(guard.CheckAny(request)), "CROSS_SITE");
  Set(request, "host", "curator.example:8443");
  EXPECT_EQ(ReasonOf(guard.CheckAny(request)), "CROSS_SITE");
  Remove(request, "host");
  EXPECT_EQ(ReasonOf(guard.CheckAny(request)), "CROSS_SITE");
}

TEST(RequestGuardTest, AHeaderThatCountsIsRefusedWhereItIsSentTwice) {
  const RequestGuard guard({kOrigin});
  HttpRequest request = Change();
  request.headers.emplace_back("cookie", "a=1");
  EXPECT_EQ(ReasonOf(guard.CheckAny(request)), "");
  request.headers.emplace_back("cookie", "a=2");
  EXPECT_EQ(ReasonOf(guard.CheckAny(request)), "TWICE");
}

TEST(RequestGuardTest, AChangeFromAnotherSiteIsRefusedAlsoWithTheSecret) {
  const RequestGuard guard({kOrigin});
  for (const std::string site : {"cross-site", "same-site", "none"}) {
    HttpRequest request = Change();
    Set(request, "sec-fetch-site", site);
    EXPECT_EQ(ReasonOf(guard.CheckChange(request, "secret")), "CROSS_SITE") << site;
  }
  HttpRequest request = Change();
  Set(request, "origin", "https://attacker.example");
  EXPECT_EQ(ReasonOf(guard.CheckChange(request, "secret")), "CROSS_SITE");
}

TEST(RequestGuardTest, ABrowserThatSaysNothingOfTheSiteHasToNameTheOrigin) {
  const RequestGuard guard({kOrigin});
  HttpRequest request = Change();
  Remove(request, "sec-fetch-site");
  EXPECT_EQ(ReasonOf(guard.CheckChange(request, "secret")), "");
  Remove(request, "origin");
  EXPECT_EQ(ReasonOf(guard.CheckChange(request, "secret")), "CROSS_SITE");
}

TEST(RequestGuardTest, AChangeWithoutTheSessionsSecretIsRefused) {
  const RequestGuard guard({kOrigin});
  EXPECT_EQ(ReasonOf(guard.CheckChange(Change(), "another")), "CSRF");
  HttpRequest request = Change();
  Remove(request, "x-curator-csrf");
  EXPECT_EQ(ReasonOf(guard.CheckChange(request, "secret")), "CSRF");
}

TEST(RequestGuardTest, AFormIsRefused) {
  const RequestGuard guard({kOrigin});
  HttpRequest request = Change();
  Set(request, "content-type", "application/x-www-form-urlencoded");
  EXPECT_EQ(ReasonOf(guard.CheckChange(request, "secret")), "NOT_JSON");
  Set(request, "content-type", "Application/JSON; charset=utf-8");
  EXPECT_EQ(ReasonOf(guard.CheckChange(request, "secret")), "");
}

TEST(RequestGuardTest, DataIsReadByPagesOfTheGateAlone) {
  const RequestGuard guard({kOrigin});
  HttpRequest request = Change();
  EXPECT_EQ(ReasonOf(guard.CheckRead(request)), "");
  Set(request, "sec-fetch-site", "cross-site");
  EXPECT_EQ(ReasonOf(guard.CheckRead(request)), "CROSS_SITE");
}

}  // namespace
}  // namespace curator::gate
