// What a feed does where the gate has no room for its work; gate_test.cc has the rest.
#include "client/gate/ledger_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/gate/testing/fake_browser.h"
#include "tests/testing/scratch_folder.h"

namespace curator::gate {
namespace {

using testing::FakeStream;
using ::testing::HasSubstr;

TEST(LedgerFeedTest, AFeedThatCannotTryAgainClosesItsPagesWhichComeBack) {
  const curator::testing::ScratchFolder folder;
  Channels channels("unix:" + folder.path() + "/nobody.sock");
  const auto feed = std::make_shared<LedgerFeed>(
      FeedParts{.channels = channels,
                .credential =
                    [] {
                      return Credential{Credential::Kind::kName, "ana"};
                    },
                .renew = [](const Credential&, const absl::Status&, auto) { return false; },
                .later = [](absl::Duration, const std::function<void()>&) { return false; }});
  const auto page = std::make_shared<FakeStream>();
  feed->Add(page, {{"demo", 0}});
  EXPECT_TRUE(page->AwaitClosed());
  EXPECT_THAT(page->AwaitText(""), ::testing::Not(HasSubstr("signed_out")));
  channels.Close();
}

}  // namespace
}  // namespace curator::gate
