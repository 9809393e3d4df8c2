// How much of a server one principal may use, from outside: what it asks beyond that is refused in words, and
// another principal is served meanwhile.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/error.h"
#include "client/request_id.h"
#include "curator/v1/accountant.grpc.pb.h"
#include "curator/v1/audit.grpc.pb.h"
#include "tests/e2e/identity_server.h"
#include "tests/testing/open_calls.h"
#include "tests/testing/small_table.h"

namespace curator::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kPlacesForWork = 16;  // a quarter of those that a server has
constexpr int kWatches = 4;         // as in Quotas

class QuotasOfOne : public Identities {
 protected:
  void SetUp() override {
    Identities::SetUp();
    EnrolAdministrator("ada");
    EnrolAdministrator("abe");
    Bind(As("ada"), v1::RoleBinding::CREATOR, Registered("olga"));
    MakeSealed(As("olga"), LargeDataset(), LargeCsv());
    Grant(As("olga"), "census", Registered("ana"));
    Grant(As("olga"), "census", Registered("bea"), {v1::ANALYST, v1::SERVICE});
  }

  static v1::CreateSynthesisRequest Synthesis(const std::string& epsilon, int rounds) {
    v1::CreateSynthesisRequest request = LongSynthesis();
    request.mutable_spec()->mutable_spend()->set_epsilon(epsilon);
    (*request.mutable_spec()->mutable_settings())["rounds"] = absl::StrCat(rounds);
    return request;
  }
  static std::string Started(const Client& client, const v1::CreateSynthesisRequest& request) {
    const absl::StatusOr<v1::Operation> started = client.CreateSynthesis(request);
    EXPECT_TRUE(started.ok()) << started.status();
    return started.ok() ? started->id() : "";
  }
  // An operation of ana's on which a thread works for longer than a test needs.
  std::string AnasLongOperation() const {
    const std::string id = Started(As("ana"), Synthesis("4", 21));
    EXPECT_EQ(AwaitBegun(As("ana"), id), v1::Operation::RUNNING);
    return id;
  }
  // The operations on census in the order in which their work began, which its history shows for good.
  std::vector<std::string> Begun() const {
    std::vector<std::string> ids;
    const absl::Status listed = As("olga").ListLedgerEntries("census", 0, [&](const v1::LedgerEntry& entry) {
      if (entry.kind() == "STARTED") ids.push_back(entry.charge_id());
      return absl::OkStatus();
    });
    EXPECT_TRUE(listed.ok()) << listed;
    return ids;
  }

  static void ExpectOverQuota(const absl::Status& refused) {
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    EXPECT_EQ(ReasonOf(refused), "QUOTA");
    EXPECT_TRUE(client::RetryDelay(refused).has_value()) << refused;
    EXPECT_TRUE(client::FullAccounts(refused).empty()) << "no budget is full";
  }

  // Without a client's retries, which would hide a refusal.
  void ExpectThatBeaIsCharged() const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
    context.AddMetadata("authorization", absl::StrCat("Bearer ", issuer_.TokenOf("bea")));
    v1::ReserveBudgetRequest request;
    request.set_request_id(*client::NewRequestId());
    request.set_dataset("census");
    request.mutable_event()->mutable_pure()->set_epsilon("0.001");
    v1::Charge charge;
    const grpc::Status status =
        v1::AccountantService::NewStub(
            grpc::CreateChannel(first_->address(), grpc::InsecureChannelCredentials()))
            ->ReserveBudget(&context, request, &charge);
    EXPECT_TRUE(status.ok()) << client::FromGrpc(status);
    EXPECT_EQ(charge.state(), v1::Charge::RESERVED);
  }

  void ExpectThatAllWatchesButAFewAreRefused(const std::string& subject, const std::string& method,
                                             const std::string& message) const {
    constexpr int kAsked = 300;
    constexpr int kCharges = 10;
    OpenCalls watches = OpenCalls::WithToken(first_->address(), issuer_.TokenOf(subject));
    watches.OpenWithMessage(kAsked, method, message);
    for (int i = 0; i < kCharges; ++i) ExpectThatBeaIsCharged();
    EXPECT_EQ(watches.AwaitAnswered(), kWatches);
    for (int i = 0; i < kCharges; ++i) ExpectThatBeaIsCharged();
    const std::vector<absl::Status> ends = watches.Ends();
    ASSERT_THAT(ends, SizeIs(kAsked - kWatches));
    for (const absl::Status& end : ends) ExpectOverQuota(end);
  }
};

INSTANTIATE_TEST_SUITE_P(Ledgers, QuotasOfOne, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

v1::Quota QuotaIn(const absl::StatusOr<v1::GetQuotasResponse>& quotas, const std::string& name) {
  EXPECT_TRUE(quotas.ok()) << quotas.status();
  if (!quotas.ok()) return {};
  for (const v1::Quota& quota : quotas->quotas()) {
    if (quota.name() == name) return quota;
  }
  ADD_FAILURE() << "no quota " << name;
  return {};
}

TEST_P(QuotasOfOne, EachPrincipalSeesItsOwnAndAnAdministratorThoseOfAll) {
  config_.principal_quotas["corp.ana"] = config_.quotas;
  config_.principal_quotas["corp.ana"].watches = 9;
  first_ = Start("overridden");
  EXPECT_EQ(QuotaIn(As("ana").GetQuotas(), "watches").limit(), 9);
  EXPECT_EQ(QuotaIn(As("bea").GetQuotas(), "watches").limit(), 4);
  const v1::Quota calls = QuotaIn(As("bea").GetQuotas(), "concurrent_calls");
  EXPECT_EQ(calls.limit(), 8);
  EXPECT_EQ(calls.used(), 1) << "this one";
  EXPECT_EQ(QuotaIn(As("bea").GetQuotas(), "import_bytes_per_hour").period().seconds(), 3600);
  EXPECT_FALSE(QuotaIn(As("bea").GetQuotas(), "synthesis_memory_bytes").has_used());
  EXPECT_EQ(As("ada").GetQuotas("corp.ana")->principal(), "corp.ana");
  EXPECT_EQ(QuotaIn(As("ada").GetQuotas("corp.ana"), "watches").limit(), 9);
  EXPECT_TRUE(absl::IsPermissionDenied(As("bea").GetQuotas("corp.ana").status()));
  EXPECT_TRUE(absl::IsNotFound(As("ada").GetQuotas("corp.nobody").status()));
}

absl::Status Import(const Client& owner, const std::string& dataset, const std::string& csv) {
  v1::ImportRecordsRequest::Header header;
  header.set_dataset(dataset);
  std::istringstream bytes(csv);
  return owner.ImportRecords(header, bytes).status();
}

TEST_P(QuotasOfOne, AnImportBeyondTheBytesOfAnHourEndsAndNothingOfItIsStored) {
  const std::string csv = SmallCsv(50);
  const auto bytes = static_cast<int64_t>(csv.size());
  config_.quotas.import_bytes_per_hour = 2 * bytes - 1;
  first_ = Start("few bytes");
  v1::CreateDatasetRequest small = NewDataset("small", v1::RULE_PURE, "1");
  ASSERT_TRUE(As("olga").CreateDataset(small).ok());
  ASSERT_TRUE(Import(As("olga"), "small", csv).ok());
  // Also in an hour of its own this one is too long.
  ExpectOverQuota(Import(As("olga"), "small", SmallCsv(200)));
  v1::SealDatasetRequest seal;
  seal.set_dataset("small");
  const absl::StatusOr<v1::SealDatasetResponse> sealed = As("olga").SealDataset(seal);
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  EXPECT_EQ(sealed->records(), 50);
}

TEST_P(QuotasOfOne, NewPassesOverHistoriesAreCountedAndResultsThatAreGivenAgainAreNot) {
  config_.quotas.verifications_per_minute = 0;
  first_ = Start("no passes");
  // A start verifies all histories.
  EXPECT_TRUE(As("olga").VerifyLedger("census").ok());
  v1::CreateDatasetRequest fresh = NewDataset("fresh", v1::RULE_PURE, "1");
  ASSERT_TRUE(As("olga").CreateDataset(fresh).ok());
  ExpectOverQuota(As("olga").VerifyLedger("fresh").status());
  EXPECT_TRUE(As("olga").VerifyLedger("census").ok());
}

TEST_P(QuotasOfOne, SecondsOfSynthesesAreThoseOfAllServersAndARepetitionIsNotCounted) {
  v1::EstimateSynthesisRequest asked;
  asked.set_dataset("census");
  *asked.mutable_spec() = Synthesis("0.2", 1).spec();
  const int64_t each = As("ana").EstimateSynthesis(asked)->predicted_cpu_seconds();
  config_.quotas.synthesis_cpu_seconds_per_day = 2 * each;
  first_ = Start("one");
  const std::unique_ptr<App> other = Start("other");
  const Client elsewhere = With(issuer_.TokenOf("ana"), other.get());
  v1::CreateSynthesisRequest request = Synthesis("0.2", 1);
  request.set_request_id(*client::NewRequestId());
  const std::string first = Started(As("ana"), request);
  EXPECT_EQ(Started(elsewhere, request), first);
  EXPECT_EQ(QuotaIn(elsewhere.GetQuotas(), "synthesis_cpu_seconds_per_day").used(), each);
  Started(elsewhere, Synthesis("0.2", 1));
  ExpectOverQuota(As("ana").CreateSynthesis(Synthesis("0.2", 1)).status());
  EXPECT_EQ(Started(As("ana"), request), first) << "a repetition is not refused, either";
  EXPECT_EQ(QuotaIn(As("ana").GetQuotas(), "synthesis_cpu_seconds_per_day").used(), 2 * each);
}

TEST_P(QuotasOfOne, CallsThatAMissingRoleRefusesCountAmongThoseOfASecond) {
  config_.quotas = {};
  const std::unique_ptr<App> usual = Start("usual");
  const std::string token = issuer_.TokenOf("ana");
  const auto stub =
      v1::AuditService::NewStub(grpc::CreateChannel(usual->address(), grpc::InsecureChannelCredentials()));
  constexpr int kAsked = 600;  // ten times what a principal may ask at once
  int over_quota = 0;
  for (int i = 0; i < kAsked; ++i) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
    v1::ListAuditRecordsResponse records;
    const absl::Status refused = client::FromGrpc(stub->ListAuditRecords(&context, {}, &records));
    EXPECT_FALSE(refused.ok());
    if (ReasonOf(refused) == "QUOTA") ++over_quota;
  }
  EXPECT_GT(over_quota, kAsked / 2);
}

TEST_P(QuotasOfOne, ARunningSynthesisIsEndedByAnOperatorAndItsPrincipalSeesWhy) {
  Bind(As("ada"), v1::RoleBinding::OPERATOR, Registered("pol"));
  const std::string running = AnasLongOperation();
  const absl::StatusOr<v1::ListAllOperationsResponse> all = As("pol").ListAllOperations();
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_THAT(all->operations(), SizeIs(1));
  EXPECT_EQ(all->operations(0).principal(), "corp.ana");
  EXPECT_EQ(all->operations(0).operation().id(), running);
  v1::StopOperationRequest stop;
  stop.set_operation_id(running);
  stop.set_reason("the host is moved");
  EXPECT_TRUE(absl::IsPermissionDenied(As("bea").StopOperation(stop).status()));
  const absl::StatusOr<v1::AnyOperation> stopped = As("pol").StopOperation(stop);
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  EXPECT_EQ(stopped->operation().state(), v1::Operation::FAILED);
  EXPECT_THAT(As("ana").GetOperation(running)->error(),
              HasSubstr("stopped by the operator corp.pol: the host is moved"));
}

TEST_P(QuotasOfOne, ASynthesisOfAnotherPrincipalBeginsBeforeThoseThatWereQueuedEarlier) {
  const Client ana = As("ana");
  const std::string running = AnasLongOperation();
  std::vector<std::string> queued;
  absl::StatusOr<v1::Operation> next = ana.CreateSynthesis(Synthesis("0.2", 3));
  for (; next.ok() && queued.size() < 2 * kPlacesForWork; next = ana.CreateSynthesis(Synthesis("0.2", 3))) {
    queued.push_back(next->id());
  }
  EXPECT_THAT(queued, SizeIs(kPlacesForWork - 1));
  ExpectOverQuota(next.status());

  const std::string beas = Started(As("bea"), Synthesis("0.2", 1));
  ASSERT_EQ(ana.GetOperation(running)->state(), v1::Operation::RUNNING) << "no thread was free before";
  EXPECT_THAT(Begun(), ElementsAre(running));
  ASSERT_TRUE(ana.CancelOperation(running).ok());
  EXPECT_EQ(As("bea").WaitOperation(beas, std::chrono::minutes(2))->state(), v1::Operation::DONE);
  EXPECT_EQ(ana.WaitOperation(queued.front(), std::chrono::minutes(2))->state(), v1::Operation::DONE);
  std::vector<std::string> begun = Begun();
  ASSERT_GE(begun.size(), 3U);
  begun.resize(3);
  EXPECT_THAT(begun, ElementsAre(running, beas, queued.front()));
  for (const std::string& id : queued) EXPECT_TRUE(ana.CancelOperation(id).ok());
}

TEST_P(QuotasOfOne, AllButAFewOfManyWatchesOfAnOperationAreRefusedAndAnotherPrincipalIsCharged) {
  const std::string running = AnasLongOperation();
  v1::WatchOperationRequest watch;
  watch.set_operation_id(Started(As("ana"), Synthesis("4", 21)));  // which waits for the first
  ExpectThatAllWatchesButAFewAreRefused("ana", "/curator.v1.OperationService/WatchOperation",
                                        watch.SerializeAsString());
  for (const std::string& id : {watch.operation_id(), running}) {
    EXPECT_TRUE(As("ana").CancelOperation(id).ok());
  }
}

TEST_P(QuotasOfOne, AllButAFewOfManyWatchesOfTheAuditAreRefusedAndAnotherPrincipalIsCharged) {
  Bind(As("ada"), v1::RoleBinding::AUDITOR, Registered("uma"));
  v1::ApproveRoleRequest approve;
  approve.set_role(v1::RoleBinding::AUDITOR);
  approve.set_principal("corp.uma");
  ASSERT_TRUE(As("abe").ApproveRole(approve).ok());
  v1::WatchAuditRequest watch;
  watch.set_after_id(0);  // what was recorded before is an answer at once
  ExpectThatAllWatchesButAFewAreRefused("uma", "/curator.v1.AuditService/WatchAudit",
                                        watch.SerializeAsString());
}

}  // namespace
}  // namespace curator::testing
