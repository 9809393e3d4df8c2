// Listings of accounts: what an owner's pages hold, and what an analyst's do.
#include "service/accounts/accounts.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

class AccountsTest : public ServiceTest {
 protected:
  AccountOrder OrderFor(const std::string& analyst) const {
    return {.request_id = NewRequestId(),
            .principal = TestPrincipal("owner"),
            .dataset = DatasetName("census"),
            .holder = analyst,
            .members = {},
            .limit = dp::RuleSpec{.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(1000)}};
  }

  // The names of the accounts on all pages of this size; stops at a page that is as the one before.
  std::vector<std::string> Listed(const std::string& principal, int64_t page_size) const {
    std::vector<std::string> names;
    std::string after;
    while (true) {
      const auto page =
          ListAccounts({*ledger_}, TestPrincipal(principal), DatasetName("census"), after, page_size);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok() || page->empty() || page->back().name == after) return names;
      for (const AccountView& account : *page) names.push_back(account.name);
      after = page->back().name;
    }
  }
};

TEST_F(AccountsTest, AnOwnersPagesHoldEachAccountOnce) {
  Make(People("census"));
  std::set<std::string> made = {"dataset/census"};
  for (int i = 0; i < 12; ++i) {
    const std::string analyst = absl::StrCat("analyst", i);
    ASSERT_TRUE(CreateAccount({*ledger_}, OrderFor(analyst), Intent::kDo).ok());
    made.insert("dataset/census/analyst/" + analyst);
  }
  for (const int64_t page_size : {1, 4, 100}) {
    const std::vector<std::string> listed = Listed("owner", page_size);
    EXPECT_THAT(listed, SizeIs(made.size())) << "in pages of " << page_size;
    EXPECT_THAT(listed, IsSupersetOf(made)) << "in pages of " << page_size;
  }
}

TEST_F(AccountsTest, AnAnalystsPagesHoldTheDatasetsAccountAndHisOwnByName) {
  const DatasetView census = Make(People("census"));
  const ledger::Grant grant{.grantee = "ana", .roles = ledger::kGrantedAnalyst};
  ASSERT_TRUE(ledger_->SetGrant(census.record.id, grant, TestPrincipal("owner")).ok());
  for (const char* const analyst : {"ana", "bo"}) {
    ASSERT_TRUE(CreateAccount({*ledger_}, OrderFor(analyst), Intent::kDo).ok());
  }
  for (const int64_t page_size : {1, 100}) {
    EXPECT_THAT(Listed("ana", page_size), ElementsAre("dataset/census", "dataset/census/analyst/ana"));
  }
}

}  // namespace
}  // namespace curator::service
