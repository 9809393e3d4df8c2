#include "app_bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/testing/scratch_folder.h"

namespace curator {
namespace {

using ::testing::HasSubstr;

TEST(RunBootstrap, DoesNotBeginALedgerBesideTheRecordsOfAnother) {
  const testing::ScratchFolder scratch;
  const std::string data_dir = absl::StrCat(scratch.path(), "/data");
  std::filesystem::create_directories(data_dir + "/datasets/d1");
  const config::ServerConfig config{.ledger = absl::StrCat("sqlite:", scratch.path(), "/ledger.db"),
                                    .data_dir = data_dir};
  std::ostringstream out;
  std::ostringstream error;
  EXPECT_EQ(
      RunBootstrap(config, {.principal = "ada", .certificate = "spiffe://curator.example/ada"}, out, error),
      1);
  EXPECT_THAT(error.str(), HasSubstr("To begin a new ledger here, start once with --init"));
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace curator
