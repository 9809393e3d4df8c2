#include "rpc/call_measures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "service/permissions.h"

namespace curator::rpc {
namespace {

TEST(CallMeasures, OfCallsThatHandleRecordsNothingIsMeasured) {
  for (const char* const path :
       {"/curator.v1.DatasetService/ImportRecords", "/curator.v1.DatasetService/SealDataset",
        "/curator.v1.DatasetService/CheckSchema", "/curator.v1.DatasetService/UndoImport",
        "/curator.v1.DatasetService/ListImports", "/curator.v1.OwnerService/RowCounts",
        "/curator.v1.OwnerService/Evaluate"}) {
    EXPECT_EQ(MeasuredDuration(MeasuredOf(path), absl::Seconds(1)), std::nullopt) << path;
  }
}

TEST(CallMeasures, OfCallsThatWaitForADrawOnlyTheStepIsMeasured) {
  const Measured measured = MeasuredOf("/curator.v1.QueryService/AnswerWorkload");
  const auto of = [&](double seconds) { return MeasuredDuration(measured, absl::Seconds(seconds)); };
  EXPECT_EQ(of(0.0011), absl::Milliseconds(5));
  EXPECT_EQ(of(0.0049), absl::Milliseconds(5));
  EXPECT_EQ(of(0.005), absl::Milliseconds(5));
  EXPECT_EQ(of(599), absl::Seconds(600));
  EXPECT_EQ(of(601), absl::Seconds(1200)) << "above the greatest bound";
}

TEST(CallMeasures, OfACallThatSendsStatesOfADrawTheStepAloneIsMeasured) {
  const Measured measured = MeasuredOf("/curator.v1.OperationService/WatchOperation");
  EXPECT_EQ(measured, Measured::kStepWithoutBytes);
  EXPECT_EQ(MeasuredDuration(measured, absl::Seconds(3)), absl::Seconds(10));
}

TEST(CallMeasures, AnyOtherCallIsMeasuredAsItIs) {
  for (const char* const path :
       {"/curator.v1.BudgetService/GetBudget", "/grpc.health.v1.Health/Check", "/unknown"}) {
    EXPECT_EQ(MeasuredDuration(MeasuredOf(path), absl::Milliseconds(3)), absl::Milliseconds(3)) << path;
  }
}

TEST(CallMeasures, EveryMethodOfTheTableIsServedAndHasAType) {
  const std::vector<ServedMethod> methods = ServedMethods();
  EXPECT_EQ(methods.size(), service::kPermissions.size() + 2);
  for (const ServedMethod& each : methods) EXPECT_NE(each.type, "") << each.path;
  const auto type_of = [&](std::string_view path) {
    const auto found = std::ranges::find(methods, path, &ServedMethod::path);
    return found == methods.end() ? std::string("none") : found->type;
  };
  EXPECT_EQ(type_of("/curator.v1.BudgetService/GetBudget"), "unary");
  EXPECT_EQ(type_of("/curator.v1.QueryService/AnswerWorkload"), "server_stream");
  EXPECT_EQ(type_of("/curator.v1.DatasetService/ImportRecords"), "client_stream");
  EXPECT_EQ(type_of("/grpc.health.v1.Health/Watch"), "server_stream");
}

}  // namespace
}  // namespace curator::rpc
