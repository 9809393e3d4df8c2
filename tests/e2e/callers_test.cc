// docs/PRIVACY-fields.md against a server: each call is made without a name, by a stranger, by an analyst who
// made no charge, and by the owner, who is a service, too, and paid for everything; it ends as the page says.
#include <gmock/gmock.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/e2e/all_calls.h"
#include "tests/testing/scripted_calls.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::UnorderedElementsAreArray;

enum class Caller { kWithoutName, kStranger, kGrantee, kOwner };

// The word of the page for `call`.
std::string WhoMay(const std::string& call) {
  for (const char* who :
       {"anybody", "principal", "creator", "operator", "grantee", "service", "approver", "payer", "proposer",
        "owner or payer", "reader", "sharer", "owner", "owner or auditor", "owner or approver"}) {
    if (CallsOf(who).contains(call)) return who;
  }
  ADD_FAILURE() << call << " has no row, or one with a word that this test does not know";
  return "";
}

grpc::StatusCode EndFor(Caller caller, const std::string& who) {
  if (who == "anybody") return grpc::OK;
  if (caller == Caller::kWithoutName) return grpc::UNAUTHENTICATED;
  // In development mode everybody has the roles of the server.
  if (who == "principal" || who == "creator" || who == "operator") return grpc::OK;
  if (caller == Caller::kStranger) return grpc::NOT_FOUND;
  if (who == "approver") return grpc::PERMISSION_DENIED;
  if (caller == Caller::kOwner || who == "grantee") return grpc::OK;
  // The dataset is seen; the charges and releases of others are not.
  const bool needs_role =
      who == "owner" || who == "owner or auditor" || who == "owner or approver" || who == "service";
  return needs_role ? grpc::PERMISSION_DENIED : grpc::NOT_FOUND;
}

class WhoMayCall : public ::testing::Test {
 protected:
  WhoMayCall() : server_(Backend::kSqlite) {
    for (const auto& [caller, name] : std::map<Caller, std::string>{{Caller::kWithoutName, ""},
                                                                    {Caller::kStranger, "mallory"},
                                                                    {Caller::kGrantee, "ana"},
                                                                    {Caller::kOwner, "olga"}}) {
      callers_.try_emplace(caller, server_.address(), name).first->second.Know("WHO", name);
    }
    ScriptedCalls& owner = callers_.at(Caller::kOwner);
    owner.Run(OwnerMakesDatasets("ana"));
    owner.Run({{"DatasetService.GrantAccess",
                {"request_id: '$NEW' dataset: 'census' principal: 'olga' roles: SERVICE"}}});
    for (const std::vector<Step>& steps : {AnalystBegins(), ServiceBegins(), OwnerProposes()})
      owner.Run(steps);
    for (const char* name : {"release", "model", "operation", "charge", "other", "proposal", "wish", "ask"}) {
      for (auto& [caller, calls] : callers_) calls.Know(name, owner.Known(name));
    }
  }

  grpc::StatusCode EndOf(Caller caller, const Step& step) {
    const size_t before = callers_.at(caller).ends().size();
    callers_.at(caller).Run({step});
    EXPECT_EQ(callers_.at(caller).ends().size(), before + 1);
    return callers_.at(caller).ends().back();
  }

  const TestServer server_;
  std::map<Caller, ScriptedCalls> callers_;
};

TEST_F(WhoMayCall, EveryCallEndsForEachCallerAsThePageSays) {
  std::set<std::string> called;
  for (const Step& step : AllSteps()) {
    called.insert(step.call);
    const std::string who = WhoMay(step.call);
    // Those who may not call come first: what they were refused has not been done.
    for (const Caller caller : {Caller::kWithoutName, Caller::kStranger, Caller::kGrantee, Caller::kOwner}) {
      EXPECT_EQ(EndOf(caller, step), EndFor(caller, who))
          << step.call << ", caller " << static_cast<int>(caller);
    }
  }
  EXPECT_THAT(called, UnorderedElementsAreArray(AllCalls()));
}

}  // namespace
}  // namespace curator::testing
