#include "app_server_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "app_bootstrap.h"
#include "tests/testing/scratch_folder.h"

namespace curator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ServerHistory : public ::testing::Test {
 protected:
  int Bootstrap(const std::string& name, bool break_glass) {
    Forget();
    return RunBootstrap(config_,
                        {.principal = name,
                         .certificate = absl::StrCat("spiffe://curator.example/", name),
                         .break_glass = break_glass},
                        out_, error_);
  }
  int List() {
    Forget();
    return RunServerHistory(places_, out_, error_);
  }
  void Forget() {
    out_.str("");
    error_.str("");
  }

  const testing::ScratchFolder scratch_;
  const config::ServerConfig config_{.ledger = absl::StrCat("sqlite:", scratch_.path(), "/ledger.db"),
                                     .data_dir = absl::StrCat(scratch_.path(), "/data")};
  const LedgerCommandOptions places_{.ledger = config_.ledger, .data_directory = config_.data_dir};
  std::ostringstream out_;
  std::ostringstream error_;
};

TEST_F(ServerHistory, ShowsWhoWasMadeAnAdministratorOnTheHost) {
  ASSERT_EQ(Bootstrap("ada", /*break_glass=*/true), 0) << error_.str();
  EXPECT_EQ(List(), 0) << error_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("    1  20"), HasSubstr("@host"), HasSubstr("ENROLMENT_OPENED"),
                                HasSubstr("for ada: CERTIFICATE spiffe://curator.example/ada, makes it an "
                                          "administrator")));
}

TEST_F(ServerHistory, IsContinuedAfterABackupWasRestored) {
  ASSERT_EQ(Bootstrap("ada", /*break_glass=*/false), 0) << error_.str();
  std::filesystem::copy(absl::StrCat(scratch_.path(), "/ledger.db"), absl::StrCat(scratch_.path(), "/copy"));
  ASSERT_EQ(Bootstrap("bob", /*break_glass=*/true), 0) << error_.str();
  for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(scratch_.path() + "/ledger.db" + end);
  std::filesystem::rename(absl::StrCat(scratch_.path(), "/copy"),
                          absl::StrCat(scratch_.path(), "/ledger.db"));
  EXPECT_EQ(List(), 3);
  EXPECT_EQ(Bootstrap("eve", /*break_glass=*/true), 1);
  EXPECT_THAT(error_.str(), HasSubstr("curatord repair-server"));
  Forget();
  EXPECT_EQ(RunRepairServer(places_, "the disk was lost", out_, error_), 0) << error_.str();
  EXPECT_THAT(out_.str(), HasSubstr("entries 3 to 4 are lost: the disk was lost"));
  EXPECT_EQ(Bootstrap("eve", /*break_glass=*/false), 0) << error_.str();
  EXPECT_EQ(List(), 0) << error_.str();
}

TEST_F(ServerHistory, IsNotChangedByARepairWhereNothingIsLost) {
  ASSERT_EQ(Bootstrap("ada", /*break_glass=*/false), 0) << error_.str();
  Forget();
  EXPECT_EQ(RunRepairServer(places_, "why not", out_, error_), 0);
  EXPECT_THAT(out_.str(), HasSubstr("nothing was changed"));
}

}  // namespace
}  // namespace curator
