#include "client/gate/api_methods.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <map>

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

namespace curator::gate {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;

// Not here: what a browser has no use for, or should not do. Imports, and OwnerService, whose answers are
// private, belong to the owner's own machine; watches are events (ledger_feed.h); reservations are for
// services.
constexpr auto kAllowed = std::to_array<std::string_view>({
    "AccountantService/GetCharge",
    "AuditService/ListAuditRecords",
    "BudgetService/ApproveLimitChange",
    "BudgetService/ApproveRepair",
    "BudgetService/CreateAccount",
    "BudgetService/GetBudget",
    "BudgetService/GetBurnDown",
    "BudgetService/GetReceiptKey",
    "BudgetService/ListAccounts",
    "BudgetService/ListChainLinks",
    "BudgetService/ListInbox",
    "BudgetService/ListLedgerEntries",
    "BudgetService/ListLimitProposals",
    "BudgetService/ListRefusals",
    "BudgetService/ProposeLimitChange",
    "BudgetService/ProposeRepair",
    "BudgetService/RejectLimitChange",
    "BudgetService/RequestLimitChange",
    "BudgetService/VerifyLedger",
    "BudgetService/WithdrawLimitChange",
    "DatasetService/AddRefusalRule",
    "DatasetService/ArchiveDataset",
    "DatasetService/GetDataset",
    "DatasetService/GrantAccess",
    "DatasetService/ListDatasets",
    "DatasetService/ListGrants",
    "DatasetService/ListRefusalRules",
    "DatasetService/PublishDataset",
    "DatasetService/RemoveRefusalRule",
    "DatasetService/RevokeAccess",
    "IdentityService/ApproveCredential",
    "IdentityService/ApproveRole",
    "IdentityService/BindRole",
    "IdentityService/CreateApiToken",
    "IdentityService/CreatePrincipal",
    "IdentityService/DisablePrincipal",
    "IdentityService/EnablePrincipal",
    "IdentityService/ForgetPrincipal",
    "IdentityService/GetPrincipal",
    "IdentityService/GetQuotas",
    "IdentityService/LinkIdentity",
    "IdentityService/ListPrincipals",
    "IdentityService/OpenEnrolment",
    "IdentityService/RemoveCredential",
    "IdentityService/UnbindRole",
    "IdentityService/WhoAmI",
    "MetricsService/GetMetrics",
    "OperationService/CancelOperation",
    "OperationService/GetOperation",
    "OperationService/ListAllOperations",
    "OperationService/ListOperations",
    "OperationService/StopOperation",
    "OperationService/WaitOperation",
    "QueryService/AnswerWorkload",
    "QueryService/EstimateWorkload",
    "QueryService/GetRelease",
    "QueryService/ListReleases",
    "QueryService/ShareRelease",
    "QueryService/TranslateSql",
    "SynthesisService/CreateSynthesis",
    "SynthesisService/EstimateSynthesis",
    "SynthesisService/ListSynthesizers",
    "SynthesisService/QueryModel",
    "SynthesisService/SampleModel",
    "VersionService/GetVersion",
});

const google::protobuf::Message* PrototypeOf(const google::protobuf::Descriptor* type) {
  return google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
}

// One message of each file of the protocol, so that the file is linked.
std::vector<const FileDescriptor*> Files() {
  return {
      v1::GetChargeRequest::descriptor()->file(),        v1::ListAuditRecordsRequest::descriptor()->file(),
      v1::GetBudgetRequest::descriptor()->file(),        v1::GetDatasetRequest::descriptor()->file(),
      v1::WhoAmIRequest::descriptor()->file(),           v1::GetMetricsRequest::descriptor()->file(),
      v1::GetOperationRequest::descriptor()->file(),     v1::EvaluateRequest::descriptor()->file(),
      v1::EstimateWorkloadRequest::descriptor()->file(), v1::CreateSynthesisRequest::descriptor()->file(),
      v1::GetVersionRequest::descriptor()->file()};
}

std::map<std::string, const MethodDescriptor*> AllMethods() {
  std::map<std::string, const MethodDescriptor*> methods;
  for (const FileDescriptor* file : Files()) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const MethodDescriptor* method = file->service(s)->method(m);
        methods.emplace(file->service(s)->name() + "/" + method->name(), method);
      }
    }
  }
  return methods;
}

bool IsAllowed(std::string_view name) {
  return std::ranges::find(kAllowed, name) != kAllowed.end();
}

std::map<std::string, ApiMethod, std::less<>> AllowedMethods() {
  std::map<std::string, ApiMethod, std::less<>> allowed;
  for (const auto& [name, method] : AllMethods()) {
    if (!IsAllowed(name)) continue;
    allowed.emplace(name, ApiMethod{.name = name,
                                    .request = PrototypeOf(method->input_type()),
                                    .response = PrototypeOf(method->output_type()),
                                    .is_stream = method->server_streaming()});
  }
  return allowed;
}

}  // namespace

const ApiMethod* FindApiMethod(std::string_view name) {
  static const auto* const kMethods = new std::map(AllowedMethods());
  const auto found = kMethods->find(name);
  return found == kMethods->end() ? nullptr : &found->second;
}

std::vector<std::string> MethodsLeftOut() {
  std::vector<std::string> names;
  for (const auto& [name, method] : AllMethods()) {
    if (!IsAllowed(name)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> ServicesOfTheProtocol() {
  std::vector<std::string> names;
  for (const FileDescriptor* file : Files()) {
    for (int s = 0; s < file->service_count(); ++s) names.push_back(file->service(s)->name());
  }
  return names;
}

}  // namespace curator::gate
