// What a role may do, from outside: the table of service/permissions.h is walked by a principal of each role,
// on a dataset that it sees and on one that it does not; and what changes while it is used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/error.h"
#include "service/permissions.h"
#include "tests/e2e/all_calls.h"
#include "tests/e2e/identity_server.h"
#include "tests/testing/scripted_calls.h"
#include "tests/testing/small_table.h"

namespace curator::testing {
namespace {

using service::Extent;
using service::Permission;
using service::Role;
using service::Scope;
using ::testing::Each;
using ::testing::HasSubstr;

// Of each role one principal, who has no other.
const std::map<Role, std::string>& Names() {
  static const auto* const kNames = new std::map<Role, std::string>{
      {Role::kOwner, "olga"},        {Role::kAnalyst, "ana"},  {Role::kService, "sam"},
      {Role::kApprover, "vera"},     {Role::kAuditor, "uma"},  {Role::kFormer, "fay"},
      {Role::kAdministrator, "ada"}, {Role::kOperator, "pol"}, {Role::kCreator, "carl"}};
  return *kNames;
}

std::string PrincipalOf(const std::string& subject) {
  return subject == "ada" || subject == "abe" ? subject : "corp." + subject;
}

// The same steps for the datasets whose names begin with `prefix`.
std::vector<Step> Prefixed(std::vector<Step> steps, const std::string& prefix) {
  static const std::regex kDataset("(dataset: '|request_id: '[$]NEW' name: ')([a-z])");
  for (Step& step : steps) {
    for (std::string& request : step.requests) {
      request = std::regex_replace(request, kDataset, absl::StrCat("$1", prefix, "$2"));
      request = absl::StrReplaceAll(request, {{"'dora'", "'corp.dora'"}});
    }
  }
  return steps;
}

const Permission& RowOf(const Step& step) {
  const std::string path = absl::StrCat("/curator.v1.", absl::StrReplaceAll(step.call, {{".", "/"}}));
  const Permission* const row = service::FindPermission(path);
  EXPECT_NE(row, nullptr) << path;
  return *row;
}

bool NamesDataset(const Step& step) {
  return std::ranges::any_of(step.requests, [](const std::string& request) {
    return request.find("dataset: '") != std::string::npos;
  });
}

// Whose charge, release or operation a step without a dataset names; an owner's else.
Role PayerIn(const Step& step) {
  const std::string& request = step.requests.front();
  const bool is_charge =
      request.find("$charge") != std::string::npos || request.find("$other") != std::string::npos;
  return is_charge ? Role::kService : Role::kAnalyst;
}

enum class End { kAllowed, kRefused, kNothingThere };

End EndOf(grpc::StatusCode code) {
  if (code == grpc::PERMISSION_DENIED) return End::kRefused;
  return code == grpc::NOT_FOUND ? End::kNothingThere : End::kAllowed;
}

// On a dataset on which the caller has the role, or where the role is the server's: its charges and releases
// are an analyst's and a service's.
End ExpectedFor(const Step& step, Role role) {
  const Permission& row = RowOf(step);
  const Extent extent = row.ExtentFor({role});
  const bool names_own_thing =
      step.requests.front().find("_id: '$") != std::string::npos && !NamesDataset(step);
  if (row.scope == Scope::kEverybody) return End::kAllowed;
  if (row.scope == Scope::kServer) return extent == Extent::kNone ? End::kRefused : End::kAllowed;
  if (names_own_thing) {
    const bool is_payer = PayerIn(step) == role && extent != Extent::kNone;
    return is_payer || extent == Extent::kAll ? End::kAllowed : End::kNothingThere;
  }
  if (row.scope == Scope::kPrincipal) return End::kAllowed;
  const bool sees_dataset = role != Role::kOperator && role != Role::kCreator;
  if (!sees_dataset) return End::kNothingThere;
  if (extent == Extent::kNone) return End::kRefused;
  const bool is_of_service = step.requests.front().find("'$wish'") != std::string::npos;
  return is_of_service && role != Role::kService ? End::kNothingThere : End::kAllowed;
}

// On a dataset on which the caller has no role. Administrators know that it is there.
End ExpectedWithoutRole(const Step& step, Role role) {
  if (RowOf(step).scope != Scope::kDataset || (role == Role::kAdministrator && NamesDataset(step))) {
    const bool is_anothers =
        RowOf(step).scope == Scope::kPrincipal && step.requests.front().find("_id: '$") != std::string::npos;
    return is_anothers ? End::kNothingThere : ExpectedFor(step, role);
  }
  return End::kNothingThere;
}

class Rights : public Identities {
 protected:
  void SetUp() override {
    Identities::SetUp();
    EnrolAdministrator("ada");
    EnrolAdministrator("abe");
    for (const char* const subject :
         {"olga", "owen", "ana", "sam", "vera", "uma", "fay", "pol", "carl", "dora"}) {
      ASSERT_EQ(Registered(subject), PrincipalOf(subject));
    }
  }

  ScriptedCalls CallsAs(const std::string& subject) const {
    ScriptedCalls calls = ScriptedCalls::WithToken(first_->address(), issuer_.TokenOf(subject));
    calls.Know("WHO", subject);
    return calls;
  }

  void Grant(const std::string& owner, const std::string& dataset, const std::string& subject,
             v1::GranteeRole role) const {
    v1::GrantAccessRequest request;
    request.set_dataset(dataset);
    request.set_principal(PrincipalOf(subject));
    request.add_roles(role);
    const auto granted = As(owner).GrantAccess(request);
    EXPECT_TRUE(granted.ok()) << granted.status();
  }
  absl::Status Revoke(const std::string& owner, const std::string& dataset,
                      const std::string& subject) const {
    v1::RevokeAccessRequest request;
    request.set_dataset(dataset);
    request.set_principal(PrincipalOf(subject));
    return As(owner).RevokeAccess(request).status();
  }
  void MakeApprover(const std::string& owner, const std::string& dataset, const std::string& subject) const {
    v1::BindRoleRequest propose;
    propose.set_role(v1::RoleBinding::APPROVER);
    propose.set_principal(PrincipalOf(subject));
    propose.set_dataset(dataset);
    ASSERT_TRUE(As(owner).BindRole(propose).ok());
    v1::ApproveRoleRequest approve;
    approve.set_role(v1::RoleBinding::APPROVER);
    approve.set_principal(PrincipalOf(subject));
    approve.set_dataset(dataset);
    const auto approved = As("ada").ApproveRole(approve);
    ASSERT_TRUE(approved.ok()) << approved.status();
  }

  // Its owner has the role of a creator only while he creates.
  void MakeDatasets(const std::string& owner, const std::string& prefix) {
    Bind(As("ada"), v1::RoleBinding::CREATOR, PrincipalOf(owner));
    ScriptedCalls calls = CallsAs(owner);
    calls.Run(Prefixed(OwnerMakesDatasets("corp.ana"), prefix));
    for (const grpc::StatusCode end : calls.ends()) ASSERT_EQ(end, grpc::OK);
    v1::UnbindRoleRequest unbind;
    unbind.set_role(v1::RoleBinding::CREATOR);
    unbind.set_principal(PrincipalOf(owner));
    ASSERT_TRUE(As("ada").UnbindRole(unbind).ok());
  }

  // What the steps name: of an analyst, a service and the owner.
  std::map<std::string, std::string> Begin(const std::string& owner, const std::string& analyst,
                                           const std::string& service, const std::string& prefix) {
    std::map<std::string, std::string> known;
    const auto run = [&](const std::string& subject, const std::vector<Step>& steps,
                         const std::vector<std::string>& names) {
      ScriptedCalls calls = CallsAs(subject);
      calls.Run(Prefixed(steps, prefix));
      for (const std::string& name : names) known[name] = calls.Known(name);
    };
    run(analyst, AnalystBegins(), {"release", "operation", "model"});
    run(service, ServiceBegins(), {"charge", "other", "wish", "ask"});
    run(owner, OwnerProposes(), {"proposal"});
    return known;
  }

  void MakeWorld() {
    MakeDatasets("olga", "");
    Bind(As("ada"), v1::RoleBinding::OPERATOR, "corp.pol");
    Bind(As("ada"), v1::RoleBinding::CREATOR, "corp.carl");
    for (const char* const dataset : {"census", "draft", "divided", "pupils"}) {
      Grant("olga", dataset, "sam", v1::SERVICE);
      Grant("olga", dataset, "uma", v1::AUDITOR);
      Grant("olga", dataset, "fay", v1::ANALYST);
      ASSERT_TRUE(Revoke("olga", dataset, "fay").ok());
      MakeApprover("olga", dataset, "vera");
    }
  }

  // Runs each step by each role, those first who may not: what they were refused has not been done.
  void Walk(const std::vector<Step>& steps, const std::map<std::string, std::string>& known,
            End (*expected)(const Step&, Role)) {
    std::map<Role, ScriptedCalls> callers;
    for (const auto& [role, subject] : Names()) {
      ScriptedCalls& calls = callers.emplace(role, CallsAs(subject)).first->second;
      for (const auto& [name, value] : known) calls.Know(name, value);
    }
    for (const Step& step : steps) {
      std::vector<Role> order;
      for (const auto& [role, subject] : Names()) order.push_back(role);
      std::ranges::stable_sort(order, {}, [&](Role role) { return expected(step, role) == End::kAllowed; });
      for (const Role role : order) {
        callers.at(role).Run({step});
        const grpc::StatusCode code = callers.at(role).ends().back();
        EXPECT_EQ(EndOf(code), expected(step, role))
            << step.call << " by the " << service::NameOf(role) << " ended with " << code;
        EXPECT_NE(code, grpc::UNAUTHENTICATED) << step.call;
        EXPECT_NE(code, grpc::UNIMPLEMENTED) << step.call;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Rights, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Rights, EachRoleMayWhatTheTableSaysAndNothingElse) {
  MakeWorld();
  const std::map<std::string, std::string> known = Begin("olga", "ana", "sam", "");
  Walk(Prefixed(AllSteps(), ""), known, &ExpectedFor);
}

TEST_P(Rights, WhereAPrincipalHasNoRoleThereIsNothing) {
  MakeWorld();
  MakeDatasets("owen", "x-");
  Grant("owen", "x-census", "dora", v1::SERVICE);
  // Its analyst is taken for another than ana: her access ends.
  const std::map<std::string, std::string> known = Begin("owen", "owen", "dora", "x-");
  for (const char* const dataset : {"x-census", "x-draft", "x-divided", "x-pupils"}) {
    v1::RevokeAccessRequest request;
    request.set_dataset(dataset);
    request.set_principal("corp.ana");
    request.set_with_releases(true);
    ASSERT_TRUE(As("owen").RevokeAccess(request).ok());
  }
  Walk(Prefixed(AllSteps(), "x-"), known, &ExpectedWithoutRole);
}

TEST_P(Rights, NothingTellsWhetherADatasetIsThereFromOneThatIsNot) {
  MakeWorld();
  const auto say = [&](const std::string& dataset) {
    return absl::StrReplaceAll(As("carl").GetDataset(dataset).status().ToString(), {{dataset, "NAME"}});
  };
  EXPECT_EQ(say("census"), say("nothing"));
}

// ---- Two persons

TEST_P(Rights, WhoProfitsFromARaiseDoesNotApproveIt) {
  MakeWorld();
  v1::ProposeLimitChangeRequest propose;
  propose.set_dataset("census");
  propose.set_epsilon("20");
  propose.set_reason("more questions");
  const auto proposed = As("olga").ProposeLimitChange(propose);
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  v1::ApproveLimitChangeRequest approve;
  approve.set_dataset("census");
  approve.set_proposal_id(proposed->id());
  for (const char* const subject : {"ana", "sam", "olga", "uma", "fay", "ada"}) {
    const absl::Status status = As(subject).ApproveLimitChange(approve).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << subject << ": " << status;
  }
  v1::BindRoleRequest bind;
  bind.set_role(v1::RoleBinding::APPROVER);
  bind.set_principal("corp.ana");
  bind.set_dataset("census");
  const absl::Status as_approver = As("olga").BindRole(bind).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(as_approver)) << as_approver;
  EXPECT_THAT(std::string(as_approver.message()), HasSubstr("spends from the budget"));
  v1::GrantAccessRequest grant;
  grant.set_dataset("census");
  grant.set_principal("corp.vera");
  const absl::Status as_analyst = As("olga").GrantAccess(grant).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(as_analyst)) << as_analyst;
  EXPECT_TRUE(As("vera").ApproveLimitChange(approve).ok());
}

TEST_P(Rights, AnAuditorOfAllDatasetsTakesTwoAdministratorsAndSeesAllOfThem) {
  MakeWorld();
  EXPECT_TRUE(As("dora").ListDatasets()->datasets().empty());
  Bind(As("ada"), v1::RoleBinding::AUDITOR, "corp.dora");
  EXPECT_TRUE(absl::IsNotFound(As("dora").GetBudget("census").status())) << "while it is pending";
  v1::ApproveRoleRequest approve;
  approve.set_role(v1::RoleBinding::AUDITOR);
  approve.set_principal("corp.dora");
  EXPECT_TRUE(absl::IsPermissionDenied(As("ada").ApproveRole(approve).status()));
  ASSERT_TRUE(As("abe").ApproveRole(approve).ok());
  EXPECT_EQ(As("dora").ListDatasets()->datasets_size(), 4);
  EXPECT_TRUE(As("dora").GetBudget("census").ok());
  EXPECT_EQ(As("vera").ListDatasets()->datasets_size(), 4) << "an approver sees those of his roles";
}

// An administrator makes principals, so another looks at what they ask.
TEST_P(Rights, TheAuditIsForAuditorsOfTheServerAlone) {
  MakeWorld();
  const auto list = [this](const std::string& subject) {
    return As(subject).ListAuditRecords(v1::ListAuditRecordsRequest()).status();
  };
  for (const char* const subject : {"olga", "ana", "sam", "vera", "uma", "fay", "ada", "pol", "carl"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(list(subject))) << subject << ": " << list(subject);
    const absl::Status watch =
        As(subject).WatchAudit(0, [](const v1::AuditRecord&) { return absl::CancelledError("seen"); });
    EXPECT_TRUE(absl::IsPermissionDenied(watch)) << subject << ": " << watch;
  }
  Bind(As("ada"), v1::RoleBinding::AUDITOR, "corp.dora");
  EXPECT_TRUE(absl::IsPermissionDenied(list("dora"))) << "while it is pending";
  v1::ApproveRoleRequest approve;
  approve.set_role(v1::RoleBinding::AUDITOR);
  approve.set_principal("corp.dora");
  ASSERT_TRUE(As("abe").ApproveRole(approve).ok());
  v1::AuditRecord refusal;
  const absl::Status watched = As("dora").WatchAudit(0, [&](const v1::AuditRecord& record) {
    refusal = record;
    const bool is_found = record.principal() == "corp.uma" && record.method() == "AuditService/WatchAudit";
    return is_found ? absl::CancelledError("seen") : absl::OkStatus();
  });
  EXPECT_TRUE(watched.ok()) << watched;
  EXPECT_EQ(refusal.identity_kind(), v1::Identity::OIDC);
  EXPECT_EQ(refusal.credential_id(), As("uma").WhoAmI()->credential_id());
  EXPECT_EQ(refusal.peer(), "local");
  EXPECT_EQ(refusal.decision(), v1::AuditRecord::REFUSED);
}

TEST_P(Rights, WhoIsNoAuditorAnyMoreSeesNothingFurther) {
  MakeWorld();
  Bind(As("ada"), v1::RoleBinding::AUDITOR, "corp.dora");
  v1::ApproveRoleRequest approve;
  approve.set_role(v1::RoleBinding::AUDITOR);
  approve.set_principal("corp.dora");
  ASSERT_TRUE(As("abe").ApproveRole(approve).ok());
  v1::UnbindRoleRequest unbind;
  unbind.set_role(v1::RoleBinding::AUDITOR);
  unbind.set_principal("corp.dora");
  bool is_unbound = false;
  const absl::Status ended = As("dora").WatchAudit(0, [&](const v1::AuditRecord&) {
    const bool is_first = !std::exchange(is_unbound, true);
    EXPECT_TRUE(!is_first || As("ada").UnbindRole(unbind).ok());
    return absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsPermissionDenied(ended)) << ended;
}

// ---- While it is used

TEST_P(Rights, WhoWatchesALedgerSeesNewEntriesAndNothingAfterTheirAccessHasEnded) {
  MakeWorld();
  const std::unique_ptr<App> second = Start("second");
  const auto propose = [this](const std::string& epsilon) {
    v1::ProposeLimitChangeRequest request;
    request.set_dataset("census");
    request.set_epsilon(epsilon);
    request.set_reason("watched");
    EXPECT_TRUE(As("olga").ProposeLimitChange(request).ok());
  };
  int64_t head = 0;
  ASSERT_TRUE(As("uma")
                  .ListLedgerEntries("census", 0,
                                     [&](const v1::LedgerEntry& entry) {
                                       head = entry.sequence();
                                       return absl::OkStatus();
                                     })
                  .ok());
  propose("7");
  std::vector<int64_t> seen;
  const absl::Status ended = With(issuer_.TokenOf("uma"), second.get())
                                 .WatchLedger("census", head, [&](const v1::LedgerEntry& entry) {
                                   seen.push_back(entry.sequence());
                                   if (seen.size() == 1) propose("8");  // through the other server
                                   EXPECT_TRUE(seen.size() != 2 || Revoke("olga", "census", "uma").ok());
                                   return absl::OkStatus();
                                 });
  EXPECT_TRUE(absl::IsNotFound(ended)) << ended;
  ASSERT_GE(seen.size(), 2u);
  EXPECT_EQ(seen[0], head + 1);
  EXPECT_EQ(seen[1], head + 2);
}

// "" where the stream has not ended with an error of one dataset.
std::string DatasetOf(const absl::Status& ended) {
  return client::Metadata(ended, "dataset");
}

TEST_P(Rights, AWatchOfSeveralHistoriesEndsWithTheDatasetThatIsTakenAway) {
  MakeWorld();
  const std::unique_ptr<App> second = Start("second");
  const auto propose = [this] {
    v1::ProposeLimitChangeRequest request;
    request.set_dataset("census");
    request.set_epsilon("7");
    request.set_reason("watched");
    EXPECT_TRUE(As("olga").ProposeLimitChange(request).ok());
  };
  std::vector<v1::LedgerPosition> positions(3);
  positions[0].set_dataset("draft");
  positions[1].set_dataset("census");
  positions[2].set_dataset("divided");
  std::set<std::string> seen;
  int64_t newest = 0;
  const absl::Status ended =
      With(issuer_.TokenOf("uma"), second.get()).WatchLedgers(positions, [&](const v1::LedgerEntry& entry) {
        if (entry.dataset() == "census") {
          EXPECT_EQ(entry.sequence(), newest + 1) << "each once";
          newest = entry.sequence();
        }
        // Once it has begun, through the other server.
        if (seen.insert(entry.dataset()).second && seen.size() == 3) propose();
        EXPECT_TRUE(entry.kind() != "LIMIT_PROPOSED" || Revoke("olga", "draft", "uma").ok());
        return absl::OkStatus();
      });
  EXPECT_TRUE(absl::IsNotFound(ended)) << ended;
  EXPECT_EQ(DatasetOf(ended), "draft");
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("draft", "census", "divided"));
}

TEST_P(Rights, AWatchOfSeveralHistoriesTellsNothingOfThoseThatAreNotTheCallers) {
  MakeWorld();
  const auto end_with = [&](const std::string& dataset) {
    v1::LedgerPosition position;
    position.set_dataset(dataset);
    absl::Status ended =
        As("carl").WatchLedgers({position}, [](const v1::LedgerEntry&) { return absl::OkStatus(); });
    EXPECT_EQ(DatasetOf(ended), dataset);
    return absl::StrReplaceAll(ended.ToString(absl::StatusToStringMode::kWithNoExtraData),
                               {{dataset, "NAME"}});
  };
  EXPECT_EQ(end_with("census"), end_with("nothing"));
}

TEST_P(Rights, AWatchByARoleOfTheServerEndsSoonAfterTheRoleAlsoOnAnotherServer) {
  MakeWorld();
  const std::unique_ptr<App> second = Start("second");
  v1::BindRoleRequest bind;
  bind.set_role(v1::RoleBinding::AUDITOR);
  bind.set_principal("corp.dora");
  ASSERT_TRUE(As("ada").BindRole(bind).ok());
  v1::ApproveRoleRequest approve;
  approve.set_role(v1::RoleBinding::AUDITOR);
  approve.set_principal("corp.dora");
  ASSERT_TRUE(As("abe").ApproveRole(approve).ok());
  const Client dora = With(issuer_.TokenOf("dora"), second.get());
  const absl::Time known_there = absl::Now() + absl::Seconds(10);
  while (!dora.GetDataset("census").ok() && absl::Now() < known_there) absl::SleepFor(absl::Milliseconds(20));
  bool is_taken = false;
  const absl::Status ended = dora.WatchLedger("census", 0, [&](const v1::LedgerEntry&) {
    if (std::exchange(is_taken, true)) return absl::OkStatus();
    v1::UnbindRoleRequest unbind;
    unbind.set_role(v1::RoleBinding::AUDITOR);
    unbind.set_principal("corp.dora");
    EXPECT_TRUE(As("ada").UnbindRole(unbind).ok());
    return absl::OkStatus();
  });
  EXPECT_TRUE(is_taken);
  EXPECT_TRUE(absl::IsNotFound(ended)) << ended;
  EXPECT_EQ(DatasetOf(ended), "census") << "also of a watch of one";
}

TEST_P(Rights, AnAnalystWhoWatchesALedgerSeesOwnChargesAloneUntilTheGrantEnds) {
  MakeWorld();
  Begin("olga", "ana", "sam", "");
  std::vector<std::string> actors;
  const absl::Status ended = As("ana").WatchLedger("census", 0, [&](const v1::LedgerEntry& entry) {
    actors.push_back(entry.actor_name());
    EXPECT_TRUE(actors.size() != 1 || Revoke("olga", "census", "ana").ok());
    return absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsPermissionDenied(ended)) << ended;
  EXPECT_THAT(actors, Each("corp.ana"));
}

TEST_P(Rights, AccessThatIsTakenAwayEndsAtTheNextCallAlsoOnAnotherServer) {
  MakeWorld();
  const std::unique_ptr<App> second = Start("second");
  const std::string token = issuer_.TokenOf("ana");
  const auto ask = [&](const App* server) {
    v1::AnswerWorkloadRequest request;
    request.set_dataset("census");
    request.mutable_workload()->add_query_sets()->mutable_marginals()->mutable_all_k_way()->set_k(1);
    request.mutable_spend()->set_epsilon("0.1");
    return With(token, server).AnswerWorkload(request);
  };
  const auto before = ask(second.get());
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_TRUE(ask(second.get()).ok()) << "from what is cached there";
  ASSERT_TRUE(Revoke("olga", "census", "ana").ok());
  for (const App* const server : std::vector<const App*>{first_.get(), second.get()}) {
    const absl::Status status = ask(server).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("only the owner or an analyst of dataset \"census\""));
  }
}

}  // namespace
}  // namespace curator::testing
