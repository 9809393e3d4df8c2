#include "client/gate/api_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace curator::gate {
namespace {

using ::testing::UnorderedElementsAre;

// A new method of the protocol fails this until somebody has decided whether pages may call it.
TEST(ApiMethodsTest, EveryMethodOfTheServerIsOnTheListOrIsLeftOutOnPurpose) {
  EXPECT_THAT(MethodsLeftOut(),
              UnorderedElementsAre(
                  // For services, which charge for what they release themselves.
                  "AccountantService/BatchReserveBudget", "AccountantService/CancelReservation",
                  "AccountantService/CommitBudget", "AccountantService/EstimateCost",
                  "AccountantService/ExtendReservation", "AccountantService/ReserveBudget",
                  "AccountantService/StartCharge",
                  // Streams without an end: events have them, or pages ask again.
                  "AuditService/WatchAudit", "BudgetService/WatchLedger", "OperationService/WatchOperation",
                  // Of an owner's own machine, which has the records.
                  "DatasetService/AddPart", "DatasetService/CheckSchema", "DatasetService/CreateDataset",
                  "DatasetService/DeleteDataset", "DatasetService/ImportRecords",
                  "DatasetService/ListImports", "DatasetService/SealDataset", "DatasetService/UndoImport",
                  "OwnerService/Evaluate", "OwnerService/RiskReport", "OwnerService/RowCounts",
                  // By an identity that nobody is signed in as.
                  "IdentityService/Enrol"));
}

TEST(ApiMethodsTest, TheListIsOfAllServicesOfTheProtocol) {
  std::set<std::string> written;
  const std::regex service(R"(\nservice (\w+))");
  for (const auto& entry : std::filesystem::directory_iterator(PROTOCOL)) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator found(text.begin(), text.end(), service), end; found != end; ++found) {
      written.insert((*found)[1]);
    }
  }
  EXPECT_GE(written.size(), 10U);
  const std::vector<std::string> known = ServicesOfTheProtocol();
  EXPECT_EQ(std::set<std::string>(known.begin(), known.end()), written);
}

TEST(ApiMethodsTest, AMethodHasItsMessages) {
  const ApiMethod* method = FindApiMethod("QueryService/AnswerWorkload");
  ASSERT_NE(method, nullptr);
  EXPECT_EQ(method->Path(), "/curator.v1.QueryService/AnswerWorkload");
  EXPECT_EQ(method->request->GetTypeName(), "curator.v1.AnswerWorkloadRequest");
  EXPECT_EQ(method->response->GetTypeName(), "curator.v1.AnswerChunk");
  EXPECT_TRUE(method->is_stream);
}

TEST(ApiMethodsTest, WhatIsNotOnTheListIsNotFound) {
  EXPECT_EQ(FindApiMethod("OwnerService/RowCounts"), nullptr);
  EXPECT_EQ(FindApiMethod("budgetservice/getbudget"), nullptr);
  EXPECT_EQ(FindApiMethod(""), nullptr);
}

}  // namespace
}  // namespace curator::gate
