#include "app_directory_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "directory/changes.h"
#include "directory/testing/test_directory.h"

namespace curator {
namespace {

using directory::DirectoryStore;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kDayOfTokensUs = int64_t{24} * 3600 * 1'000'000;

// Ben has tokens that were made so many days ago for so many days.
directory::TestDirectory DirectoryWithTokens() {
  directory::TestDirectory made;
  const int64_t now = absl::ToUnixMicros(absl::Now());
  const auto make = [&made](const directory::Change& change) {
    EXPECT_TRUE(made.Make(directory::kHostActor, change).ok());
  };
  make(directory::PrincipalCreated{.name = "ben"});
  make(directory::EnrolmentOpened{
      .id = "e", .principal = "ben", .identity = directory::OidcOf("ben"), .makes_administrator = true});
  const auto make_token = [&](const std::string& id, int64_t days_ago, int64_t days) {
    made.Advance(now - days_ago * kDayOfTokensUs - made.now_us());
    make(directory::CredentialAdded{.id = id,
                                    .principal = "ben",
                                    .identity = {.kind = directory::CredentialKind::kApiToken, .subject = id},
                                    .secret_hash = "hash",
                                    .expires_at_us = made.now_us() + days * kDayOfTokensUs});
  };
  make_token("ends soon", 25, 30);
  make_token("has ended", 31, 30);
  make_token("ends later", 1, 30);
  make_token("for a shift", 0, 1);
  return made;
}

TEST(DirectoryMetrics, CountTokensThatEndSoonAndWereMadeForLonger) {
  const directory::TestDirectory made = DirectoryWithTokens();
  const auto snapshot = std::make_shared<const directory::Directory>(made.directory());
  metrics::MetricSet set;
  AddDirectoryMetrics(set, [&]() -> absl::StatusOr<DirectoryStore::Snapshot> { return snapshot; });
  EXPECT_THAT(set.Text(), AllOf(HasSubstr("curator_tokens_expiring 1\n"),
                                HasSubstr("curator_administrators_by_host_total 1\n")));
}

TEST(DirectoryMetrics, AreMissingAndNotZeroWhileTheDirectoryDoesNotAnswer) {
  metrics::MetricSet set;
  AddDirectoryMetrics(set, []() -> absl::StatusOr<DirectoryStore::Snapshot> {
    return absl::UnavailableError("the ledger does not answer");
  });
  EXPECT_THAT(set.Text(), AllOf(Not(HasSubstr("curator_tokens_expiring")),
                                Not(HasSubstr("curator_administrators_by_host_total"))));
}

}  // namespace
}  // namespace curator
