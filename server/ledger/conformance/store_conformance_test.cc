// What the ledger relies on in every store: a transaction that fails reports it and leaves nothing behind.
#include "base/status_macros.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {
namespace {

using ::testing::HasSubstr;

class StoreConformance : public LedgerConformance {};

TEST_P(StoreConformance, AValueThatIsReadAsAnotherTypeIsAnErrorAndNothingIsWritten) {
  const sql::Outcome outcome = OpenStore()->Write([](sql::Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(transaction.ExecuteScript("CREATE TABLE half_done (x INTEGER)"));
    ASSIGN_OR_RETURN(const std::vector<sql::Row> rows, transaction.Execute("SELECT 7", {}));
    return transaction.Execute("SELECT $1", {rows.at(0).Text(0)}).status();
  });
  EXPECT_EQ(outcome.ending, sql::Ending::kFailed);
  EXPECT_STATUS_IS(absl::StatusCode::kInternal, outcome.status);
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("a value of an unexpected type"));
  EXPECT_TRUE(TryInStore("CREATE TABLE half_done (x INTEGER)").ok()) << "it is not there";
}

TEST_P(StoreConformance, AStatementThatTheStoreDoesNotUnderstandFailsAndItsConnectionGoesOn) {
  const auto store = OpenStore();
  const sql::Outcome failed = store->Read([](sql::Transaction& transaction) {
    return transaction.Execute("SELECT x FROM a_table_that_is_not_there", {}).status();
  });
  EXPECT_EQ(failed.ending, sql::Ending::kFailed);
  EXPECT_THAT(std::string(failed.status.message()), HasSubstr("the ledger's store answered"));
  int64_t answer = 0;
  const sql::Outcome next = store->Read([&](sql::Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<sql::Row> rows, transaction.Execute("SELECT 7", {}));
    answer = rows.at(0).Integer(0);
    return absl::OkStatus();
  });
  EXPECT_TRUE(next.status.ok()) << next.status;
  EXPECT_EQ(answer, 7);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, StoreConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
