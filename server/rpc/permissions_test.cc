// The table of rights against the protocol's own descriptions, and against the page that shows it to people.
#include "service/permissions.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "curator/v1/accountant.pb.h"
#include "curator/v1/audit.pb.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/identity.pb.h"
#include "curator/v1/metrics.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/owner.pb.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/synthesis.pb.h"
#include "curator/v1/version.pb.h"

namespace curator::service {
namespace {

namespace fs = std::filesystem;

std::set<std::string> MethodsOfTheProtocol() {
  std::set<std::string> methods;
  for (const auto& entry : fs::directory_iterator(fs::path(CURATOR_SOURCE_DIR) / "proto/curator/v1")) {
    const std::string name = absl::StrCat("curator/v1/", entry.path().filename().string());
    const auto* file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
    EXPECT_NE(file, nullptr) << name << " has to be included by this test";
    for (int s = 0; file != nullptr && s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods.insert(absl::StrCat(file->service(s)->name(), "/", file->service(s)->method(m)->name()));
      }
    }
  }
  return methods;
}

std::string CellOf(Extent extent) {
  if (extent == Extent::kAll) return "✓";
  return extent == Extent::kOwn ? "own" : "";
}

// "| `BudgetService.GetBudget` | ✓ | own | ... |"
std::string LineFor(const Permission& row) {
  std::string line =
      absl::StrCat("| `", std::regex_replace(std::string(row.name), std::regex("/"), "."), "` |");
  for (const Extent extent : row.extents)
    absl::StrAppend(&line, " ", CellOf(extent), extent == Extent::kNone ? "|" : " |");
  return line;
}

TEST(Permissions, EachMethodOfTheProtocolHasOneRowAndNoOtherHas) {
  std::set<std::string> rows;
  for (const Permission& row : kPermissions)
    EXPECT_TRUE(rows.insert(std::string(row.name)).second) << row.name;
  EXPECT_EQ(rows, MethodsOfTheProtocol());
}

TEST(Permissions, AreFoundByThePathOfACall) {
  const Permission* const found = FindPermission("/curator.v1.BudgetService/GetBudget");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->method, Method::kGetBudget);
  for (const char* const path : {"/curator.v1.BudgetService/Nothing", "/other.BudgetService/GetBudget", ""}) {
    EXPECT_EQ(FindPermission(path), nullptr) << path;
  }
}

TEST(Permissions, SeveralRolesMayWhatOneOfThemMay) {
  const Permission& budget = PermissionFor(Method::kGetBudget);
  EXPECT_EQ(budget.ExtentFor({}), Extent::kNone);
  EXPECT_EQ(budget.ExtentFor({Role::kAnalyst}), Extent::kOwn);
  EXPECT_EQ(budget.ExtentFor({Role::kAnalyst, Role::kAuditor}), Extent::kAll);
  EXPECT_EQ(budget.ExtentFor({Role::kAdministrator, Role::kFormer}), Extent::kNone);
}

TEST(Permissions, ThePageShowsTheTable) {
  std::set<std::string> shown;
  std::ifstream page(fs::path(CURATOR_SOURCE_DIR) / "docs/ACCESS.md");
  for (std::string line; std::getline(page, line);) shown.insert(line);
  for (const Permission& row : kPermissions) {
    EXPECT_TRUE(shown.contains(LineFor(row))) << "docs/ACCESS.md lacks\n" << LineFor(row);
  }
}

// ---- What every version of the table must say

TEST(Permissions, AnAdministratorSeesNoDataAndNoBudget) {
  for (const Permission& row : kPermissions) {
    const bool is_of_dataset = row.scope == Scope::kDataset && row.method != Method::kListGrants;
    if (!is_of_dataset) continue;
    EXPECT_EQ(row.ExtentFor({Role::kAdministrator}), Extent::kNone) << row.name;
  }
}

TEST(Permissions, NoRoleOfTheServerOpensADataset) {
  for (const Permission& row : kPermissions) {
    if (row.scope != Scope::kDataset) continue;
    EXPECT_EQ(row.ExtentFor({Role::kOperator, Role::kCreator}), Extent::kNone) << row.name;
  }
}

TEST(Permissions, WhoApprovesOrAuditsGetsNoAnswersAndSpendsNothing) {
  for (const Method method : {Method::kAnswerWorkload, Method::kCreateSynthesis, Method::kReserveBudget,
                              Method::kBatchReserveBudget, Method::kStartCharge, Method::kGetRelease,
                              Method::kSampleModel, Method::kQueryModel, Method::kEvaluate,
                              Method::kRowCounts, Method::kRiskReport, Method::kImportRecords}) {
    EXPECT_EQ(PermissionFor(method).ExtentFor({Role::kApprover, Role::kAuditor}), Extent::kNone);
  }
}

TEST(Permissions, WhoSpendsDoesNotApprove) {
  for (const Role role : {Role::kOwner, Role::kAnalyst, Role::kService}) {
    EXPECT_EQ(PermissionFor(Method::kApproveLimitChange).ExtentFor({role}), Extent::kNone);
  }
}

TEST(Permissions, WhoseAccessWasTakenAwayAsksNothingNew) {
  for (const Method method : {Method::kAnswerWorkload, Method::kEstimateWorkload, Method::kCreateSynthesis,
                              Method::kEstimateSynthesis, Method::kEstimateCost, Method::kReserveBudget,
                              Method::kBatchReserveBudget, Method::kStartCharge, Method::kExtendReservation,
                              Method::kShareRelease, Method::kGetDataset}) {
    EXPECT_EQ(PermissionFor(method).ExtentFor({Role::kFormer}), Extent::kNone);
  }
}

}  // namespace
}  // namespace curator::service
