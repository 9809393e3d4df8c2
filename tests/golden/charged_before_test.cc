// Requests that an earlier server charged, which composed through another Fourier transform, are replayed by
// this one: certificates that would be computed differently now are not computed again.
#include "tests/golden/charged_before.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "app.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/small_table.h"

namespace curator::golden {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

const fs::path kFixture = CURATOR_CHARGED_BEFORE;

std::vector<std::string> Lines(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << path;
  return lines;
}

void LoadDump(const fs::path& dump, const fs::path& database) {
  std::ostringstream script;
  script << std::ifstream(dump).rdbuf();
  sqlite3* file = nullptr;
  ASSERT_EQ(sqlite3_open(database.c_str(), &file), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(file, script.str().c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(file);
  sqlite3_close(file);
}

std::string EpsilonSquared(const google::protobuf::RepeatedPtrField<v1::Cost>& costs) {
  for (const v1::Cost& cost : costs) {
    if (cost.counter() == "epsilon_squared") return cost.amount();
  }
  ADD_FAILURE() << "no cost in epsilon_squared";
  return "0";
}

// Without the id, which is drawn when a release is stored.
std::vector<std::string> WithoutId(std::vector<std::string> content) {
  content.erase(content.begin());
  return content;
}

// A server over a copy of the state.
class ChargedBefore : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder = scratch_.path();
    fs::copy(kFixture / "data", folder / "data", fs::copy_options::recursive);
    // Both are sealed and have none left; the repository holds no empty folders.
    for (const fs::directory_entry& dataset : fs::directory_iterator(folder / "data" / "datasets"))
      fs::create_directory(dataset.path() / "segments");
    fs::permissions(folder / "data" / "server.key", fs::perms::owner_read | fs::perms::owner_write);
    LoadDump(kFixture / "ledger.sql", folder / "ledger.db");
    AppOptions options;
    options.listen = "127.0.0.1:0";
    options.data_directory = folder / "data";
    options.ledger = absl::StrCat("sqlite:", (folder / "ledger.db").string());
    options.development = true;
    absl::StatusOr<std::unique_ptr<App>> app = App::Start(options);
    ASSERT_TRUE(app.ok()) << app.status();
    app_ = *std::move(app);
    owner_ = std::make_unique<Client>(ClientOptions{.server = app_->address(), .principal = "owner"});
  }

  const Client& owner() const { return *owner_; }

  const testing::ScratchFolder scratch_;
  const ChargedRequests requests_ = RequestsChargedBefore();
  std::unique_ptr<App> app_;
  std::unique_ptr<Client> owner_;
};

TEST_F(ChargedBefore, TheSameRequestsGetWhatIsStoredAndAreNotChargedAgain) {
  const std::vector<std::string> charges = Lines(kFixture / "charges.txt");
  EXPECT_EQ(Charges(owner(), "census"), charges);
  const absl::StatusOr<Answer> answer = owner().AnswerWorkload(requests_.workload);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->header.replayed());
  std::vector<std::string> stored = Content(owner(), answer->header.release_id());
  for (const v1::CreateSynthesisRequest& synthesis : requests_.syntheses) {
    const std::vector<std::string> lines = Content(owner(), ReleaseOf(owner(), synthesis));
    stored.insert(stored.end(), lines.begin(), lines.end());
  }
  // As an owner does after the upgrade who charges its own dataset.
  testing::Grant(owner(), "census", "owner", {v1::SERVICE});
  const absl::StatusOr<v1::Charge> reserved = owner().ReserveBudget(requests_.reservation);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  stored.push_back("charge " + reserved->id());
  EXPECT_EQ(stored, Lines(kFixture / "stored.txt"));
  std::vector<std::string> after = Charges(owner(), "census");
  ASSERT_FALSE(after.empty());
  after.pop_back();  // the grant
  EXPECT_EQ(after, charges);
  EXPECT_TRUE(owner().VerifyLedger("census")->ok());
}

// What the test above would not notice if both transforms gave the same certificate.
TEST_F(ChargedBefore, TheCertificateOfTheReservationIsAnotherOneNow) {
  v1::EstimateCostRequest estimate;
  estimate.set_dataset("census");
  *estimate.mutable_event() = requests_.reservation.event();
  const absl::StatusOr<v1::EstimateCostResponse> now = owner().EstimateCost(estimate);
  ASSERT_TRUE(now.ok()) << now.status();
  // As an owner does after the upgrade who charges its own dataset.
  testing::Grant(owner(), "census", "owner", {v1::SERVICE});
  const absl::StatusOr<v1::Charge> reserved = owner().ReserveBudget(requests_.reservation);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const std::string computed = EpsilonSquared(now->costs());
  const std::string charged = EpsilonSquared(reserved->costs());
  EXPECT_NE(computed, charged);
  EXPECT_NEAR(std::stod(computed), std::stod(charged), 1e-6);
}

TEST_F(ChargedBefore, AnInterruptedRequestIsFinishedAtItsPriceWithTheVerySameDraw) {
  EXPECT_EQ(WithoutId(Content(owner(), ReleaseOf(owner(), requests_.interrupted))),
            WithoutId(Lines(kFixture / "finished.txt")));
  const std::vector<std::string> before = Lines(kFixture / "charges.txt");
  const std::vector<std::string> after = Charges(owner(), "census");
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(std::vector(after.begin(), after.end() - 1), before);
  EXPECT_THAT(after.back(), HasSubstr(" COMMITTED "));
  EXPECT_TRUE(owner().VerifyLedger("census")->ok());
}

TEST_F(ChargedBefore, AnotherRequestUnderTheSameIdIsRefused) {
  for (v1::CreateSynthesisRequest synthesis : requests_.syntheses) {
    synthesis.mutable_spec()->mutable_spend()->set_epsilon("0.75");
    EXPECT_EQ(owner().CreateSynthesis(synthesis).status().code(), absl::StatusCode::kAlreadyExists)
        << synthesis.spec().method();
  }
  EXPECT_EQ(Charges(owner(), "census"), Lines(kFixture / "charges.txt"));
}

}  // namespace
}  // namespace curator::golden
