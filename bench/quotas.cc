// What a principal's quotas and the check of its permissions add to a call.
//
//   bench_quotas [SECONDS [ROUNDS]]
//
// Each figure is the median of ROUNDS (15) rounds of SECONDS (0.2), in which the call and its parts take
// turns, so that a slow moment of the machine meets them alike. The call is GetDataset by an analyst on a
// unix socket, one after another, by a server with a configuration in this process. Starting a charge reads
// the present roles in the ledger, so it is measured beside that read.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "bench/called_server.h"
#include "bench/must.h"
#include "codec/schema_codec.h"
#include "dp/domain/domain.h"
#include "host/entropy.h"
#include "ledger/open_ledger.h"
#include "rpc/admission.h"
#include "service/access.h"

namespace curator::bench {
namespace {

using service::Method;
using std::chrono::steady_clock;

// None of a bench's calls is refused, and those that called once are remembered.
constexpr Quotas kQuotas = {.calls_per_second = 1, .calls_after_a_pause = 1'000'000'000};
constexpr int kCallers = 10'000;
constexpr int kBindings = 100;

// Microseconds of one run of `work`.
double MicrosecondsOf(double seconds, const std::function<void()>& work) {
  // A look at the clock takes as long as some parts: one look for several runs.
  constexpr int kRuns = 16;
  const auto begin = steady_clock::now();
  std::chrono::duration<double> passed(0);
  int64_t runs = 0;
  for (; passed.count() < seconds; passed = steady_clock::now() - begin, runs += kRuns) {
    for (int i = 0; i < kRuns; ++i) work();
  }
  return passed.count() * 1e6 / static_cast<double>(runs);
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The same of starting a charge that was reserved before.
double MicrosecondsOfAStart(const CalledServer& server) {
  constexpr int kCharges = 30;
  std::vector<v1::StartChargeRequest> starts(kCharges);
  for (v1::StartChargeRequest& start : starts) {
    v1::ReserveBudgetRequest reserve;
    reserve.set_dataset("census");
    reserve.mutable_event()->mutable_pure()->set_epsilon("0.0001");
    start.set_charge_id(Must(server.caller().ReserveBudget(reserve)).id());
  }
  const auto begin = steady_clock::now();
  for (const v1::StartChargeRequest& start : starts) Must(server.caller().StartCharge(start).status());
  const std::chrono::duration<double> passed = steady_clock::now() - begin;
  return passed.count() * 1e6 / kCharges;
}

dp::Schema SmallSchema() {
  std::vector<dp::Attribute> attributes = {
      Must(dp::Attribute::Create("sex", dp::CategoricalKind{{"Female", "Male"}, std::nullopt})),
      Must(dp::Attribute::Create("age", dp::IntegerKind{.min = 0, .max = 99, .bin_width = 10})),
      Must(dp::Attribute::Create("region", dp::CodedKind{4}))};
  return Must(dp::CreateSchema(Must(dp::Domain::Create(std::move(attributes))), dp::RecordUnit()));
}

// A ledger with a dataset whose analyst and service is bob, and a directory in which others have roles.
class World {
 public:
  World() {
    Register(bob_.name());
    for (int i = 0; i < kBindings; ++i) {
      const std::string name = absl::StrCat("corp.creator", i);
      Register(name);
      Change(directory::RoleBound{.role = directory::Role::kCreator, .principal = name});
    }
    const std::string schema = codec::EncodeSchema(SmallSchema());
    const ledger::Dataset created = Must(
        ledger_->CreateDataset({.request_id = "create",
                                .name = "census",
                                .owner = TestPrincipal("corp.olga"),
                                .schema = schema,
                                .schema_hash = Sha256(schema),
                                .neighbour_relation = "ADD_REMOVE",
                                .privacy_unit = "RECORD",
                                .accounts = {{.rule = "rule", .rule_name = "PURE", .limits = {{"e", 10}}}}}));
    Must(ledger_->SetGrant(
        created.id, {.grantee = bob_.name(), .roles = ledger::kGrantedAnalyst | ledger::kGrantedService},
        TestPrincipal("corp.olga")));
    dataset_ = Must(ledger_->GetDataset("census", bob_.name()));
  }

  void CheckPermission() const {
    const service::Access access{.ledger = *ledger_, .directory = directory_.get()};
    Must(service::CheckServerRole(access.directory, service::PermissionFor(Method::kGetDataset), bob_));
    const service::Roles roles = Must(service::RolesOn(access, dataset_, bob_.name()));
    Must(service::CheckMay(Method::kGetDataset, dataset_, roles));
  }
  // As starting a charge does it.
  void ReadAndCheckPermission() const {
    const service::Access access{.ledger = *ledger_, .directory = directory_.get()};
    Must(service::FindDatasetById(access, Method::kStartCharge, bob_, dataset_.id).status());
  }
  void CheckPermissionOfTheServer() const {
    Must(
        service::CheckServerRole(directory_.get(), service::PermissionFor(Method::kCreateDataset), creator_));
  }

 private:
  void Change(const directory::Change& change) const {
    Must(directory_
             ->Make(directory::kHostActor,
                    [&](const directory::Directory&) -> absl::StatusOr<directory::Change> { return change; })
             .status());
  }
  void Register(const std::string& name) const {
    Change(directory::PrincipalRegistered{
        .name = name,
        .credential_id = name,
        .identity = {
            .kind = directory::CredentialKind::kOidc, .issuer = "https://idp.example", .subject = name}});
  }

  const testing::ScratchFolder folder_;
  const Principal bob_ = TestPrincipal("corp.bob");
  const Principal creator_ = TestPrincipal("corp.creator7");
  const std::unique_ptr<ledger::Ledger> ledger_ =
      ledger::OpenLedger({.url = "sqlite:" + folder_.path() + "/ledger.db",
                          .anchor_dir = folder_.path() + "/anchor",
                          .entropy = host::RandomBytes})
          .value();
  const std::unique_ptr<directory::DirectoryStore> directory_ =
      directory::DirectoryStore::Open(*ledger_, {}).value();
  ledger::Dataset dataset_;
};

struct Part {
  const char* name;
  std::function<void()> work;
  std::vector<double> microseconds = {};
};

void Run(double seconds, int rounds) {
  const CalledServer server;
  const World world;
  rpc::Admission without;
  rpc::Admission with(kQuotas);
  rpc::Admission with_many(kQuotas);
  for (int i = 0; i < kCallers; ++i)
    Must(with_many.Admit(rpc::CallKind::kCall, absl::StrCat("corp.caller", i)).status());
  const auto admit = [](rpc::Admission& admission) {
    return [&admission] { Must(admission.Admit(rpc::CallKind::kCall, "corp.bob").status()); };
  };
  enum { kCall, kWithout, kWith, kWithMany, kOnDataset, kOfServer, kRead };
  std::vector<Part> parts = {{"a call", [&] { server.Call(); }},
                             {"a place, without quotas", admit(without)},
                             {"a place and quotas", admit(with)},
                             {"the same, 10,000 callers", admit(with_many)},
                             {"permission on a dataset", [&] { world.CheckPermission(); }},
                             {"permission of the server", [&] { world.CheckPermissionOfTheServer(); }},
                             {"permission, with its read", [&] { world.ReadAndCheckPermission(); }}};
  std::vector<double> starts;
  for (int round = 0; round < rounds; ++round) {
    for (Part& part : parts) part.microseconds.push_back(MicrosecondsOf(seconds, part.work));
    starts.push_back(MicrosecondsOfAStart(server));
  }
  const double call = Median(parts[kCall].microseconds);
  std::printf("%-32s %10s %12s\n", "part", "us", "of a call, %");
  const auto print = [&](const char* name, double microseconds) {
    std::printf("%-32s %10.3f %12.3f\n", name, microseconds, 100 * microseconds / call);
  };
  // The read is a part of starting a charge alone.
  for (int i = kCall; i < kRead; ++i) print(parts[i].name, Median(parts[i].microseconds));
  const double quotas = Median(parts[kWithMany].microseconds) - Median(parts[kWithout].microseconds);
  print("quotas and permission together", quotas + Median(parts[kOnDataset].microseconds));
  const double start = Median(starts);
  const double added = quotas + Median(parts[kRead].microseconds);
  std::printf("\nStartCharge: %.0f us; of which quotas and the permission with its read: %.2f us, %.2f%%\n",
              start, added, 100 * added / start);
}

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  curator::bench::Run(argc > 1 ? std::atof(argv[1]) : 0.2, argc > 2 ? std::atoi(argv[2]) : 15);
}
