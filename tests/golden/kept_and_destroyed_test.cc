// What docs/ARCHITECTURE.md says is never forgotten is in the tables after a charge has ended, and what it
// says is destroyed is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/testing/fixture.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

using ::testing::SizeIs;

struct Column {
  std::string table;
  std::string name;
};

// The columns in the table of the page whose head starts with `title`.
std::vector<Column> ColumnsUnder(const std::string& title) {
  std::ostringstream page;
  page << std::ifstream(CURATOR_ARCHITECTURE).rdbuf();
  const std::string text = page.str();
  const size_t start = text.find(absl::StrCat("| ", title, " | column |"));
  if (start == std::string::npos) return {};
  const std::string table = text.substr(start, text.find("\n\n", start) - start);
  std::vector<Column> columns;
  static const std::regex kColumn("`(\\w+)\\.(\\w+)`");
  for (std::sregex_iterator each(table.begin(), table.end(), kColumn), end; each != end; ++each)
    columns.push_back({(*each)[1], (*each)[2]});
  return columns;
}

class KeptAndDestroyed : public ServiceTest {
 protected:
  // The number of rows of `column`'s table that hold a value in it, for which `condition` holds.
  int64_t Values(const Column& column, const std::string& condition) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((folder_.path() + "/ledger.db").c_str(), &database), SQLITE_OK);
    const std::string query = absl::StrCat("SELECT COUNT(*) FROM ", column.table, " WHERE length(",
                                           column.name, ") > 0 AND ", condition);
    int64_t count = -1;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK) << query;
    if (sqlite3_step(statement) == SQLITE_ROW) count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
  }

  // A condition on the rows of charges that have ended, and of their entries and releases.
  static std::string Ended(const Column& column) {
    const bool is_of_charge = column.table == "charges" || column.table == "open_charges";
    if (!is_of_charge) return "1 = 1";
    return absl::StrCat(column.table == "charges" ? "id" : "charge_id",
                        " IN (SELECT charge_id FROM endings)");
  }
};

TEST_F(KeptAndDestroyed, AChargeThatHasEndedKeepsWhatThePageSaysAndNotItsKey) {
  const std::vector<Column> kept = ColumnsUnder("never forgotten");
  const std::vector<Column> destroyed = ColumnsUnder("destroyed with the charge's end");
  ASSERT_THAT(kept, SizeIs(9));
  ASSERT_THAT(destroyed, SizeIs(1));
  const DatasetView census = MakeSealed(People("census"));
  const WorkloadRequest request{
      .principal = TestPrincipal("owner"),
      .dataset = DatasetName("census"),
      .queries = {{MarginalsQuery{.sets = {{"sex"}}, .k = std::nullopt, .attributes = {}},
                   dp::Strategy::kAuto}},
      .spend = {.epsilon = EpsilonOf(100)}};
  ASSERT_TRUE(AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo).ok());
  ASSERT_TRUE(ledger_->Forfeit(Started(census, "workload"), "cancelled").ok());
  Started(census, "workload");
  ASSERT_TRUE(ledger_->RecordOwnerAction(census.record.id, "counts", TestPrincipal("owner")).ok());
  for (const Column& column : kept) {
    const int64_t ended = column.table == "charges" || column.table == "endings" ? 2 : 1;
    EXPECT_GE(Values(column, Ended(column)), ended) << column.table << "." << column.name;
  }
  for (const Column& column : destroyed) {
    EXPECT_EQ(Values(column, Ended(column)), 0) << column.table << "." << column.name;
    EXPECT_EQ(Values(column, "state = 'STARTED'"), 1) << "what may still be drawn has its key";
  }
}

TEST_F(KeptAndDestroyed, AnOwnersDataAccessIsAnEntryOfItsOwn) {
  const DatasetView census = MakeSealed(People("census"));
  ASSERT_TRUE(ledger_->RecordOwnerAction(census.record.id, "counts", TestPrincipal("owner")).ok());
  EXPECT_EQ(Values({"entries", "payload"}, "kind = 'OWNER_ACTION'"), 1);
}

}  // namespace
}  // namespace curator::service
