// What each role may do: a table with one row for each method of the API, and nothing is allowed that the
// table does not say. docs/ACCESS.md shows it to people.
//
// A handler names its method (rpc/handle.h), and a method without a row does not compile. A test calls every
// method as every role, so a row under another method's name is found.
//
// Thread-safe: constants and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace curator::service {

// Those of a dataset first, then those of the server.
enum class Role : uint8_t {
  kOwner,          // of the dataset
  kAnalyst,        // asks it questions
  kService,        // charges it for what mechanisms outside of this server release
  kApprover,       // approves changes of its limits
  kAuditor,        // of the dataset or of all: sees budgets and histories, and no answers
  kFormer,         // was an analyst or a service: sees what was released to it, and asks nothing new
  kAdministrator,  // manages principals and roles; sees no data
  kOperator,       // sees that the server works, and all operations
  kCreator,        // creates datasets
};
inline constexpr int kRoles = 9;

// What the role is called in messages: "owner", "analyst".
std::string_view NameOf(Role role);

// A set of roles. A value.
class Roles {
 public:
  constexpr Roles() = default;
  constexpr Roles(std::initializer_list<Role> roles) {
    for (const Role role : roles) Add(role);
  }

  constexpr void Add(Role role) { bits_ |= BitOf(role); }
  constexpr bool Has(Role role) const { return (bits_ & BitOf(role)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const Roles&) const = default;

 private:
  static constexpr uint32_t BitOf(Role role) { return uint32_t{1} << static_cast<int>(role); }
  uint32_t bits_ = 0;
};

// How much of what a method shows or changes. Ascending.
enum class Extent : uint8_t {
  kNone,
  kOwn,  // the caller's own charges, releases, accounts, proposals or operations
  kAll,
};

// Which roles decide.
enum class Scope : uint8_t {
  kEverybody,  // none: also a caller that is no principal
  kPrincipal,  // none: any principal, for itself or for what it may see
  kServer,     // the roles of the server
  kDataset,    // the roles on the dataset that the request names, or whose charge or release it names
  kDirectory,  // the rules of directory/rules.h, of which the row gives the roles that they ever allow
};

enum class Method : uint8_t {
  // AccountantService
  kEstimateCost,
  kReserveBudget,
  kBatchReserveBudget,
  kStartCharge,
  kCommitBudget,
  kCancelReservation,
  kExtendReservation,
  kGetCharge,
  // AuditService
  kListAuditRecords,
  kWatchAudit,
  // BudgetService
  kGetBudget,
  kGetBurnDown,
  kListAccounts,
  kCreateAccount,
  kProposeLimitChange,
  kRequestLimitChange,
  kApproveLimitChange,
  kRejectLimitChange,
  kWithdrawLimitChange,
  kListLimitProposals,
  kListInbox,
  kListRefusals,
  kListLedgerEntries,
  kWatchLedger,
  kVerifyLedger,
  kGetReceiptKey,
  kListChainLinks,
  kProposeRepair,
  kApproveRepair,
  // DatasetService
  kCreateDataset,
  kAddPart,
  kImportRecords,
  kSealDataset,
  kUndoImport,
  kListImports,
  kGrantAccess,
  kRevokeAccess,
  kListGrants,
  kAddRefusalRule,
  kRemoveRefusalRule,
  kListRefusalRules,
  kGetDataset,
  kListDatasets,
  kPublishDataset,
  kArchiveDataset,
  kDeleteDataset,
  kCheckSchema,
  // IdentityService
  kWhoAmI,
  kCreatePrincipal,
  kDisablePrincipal,
  kEnablePrincipal,
  kForgetPrincipal,
  kGetPrincipal,
  kListPrincipals,
  kLinkIdentity,
  kCreateApiToken,
  kApproveCredential,
  kRemoveCredential,
  kOpenEnrolment,
  kEnrol,
  kBindRole,
  kApproveRole,
  kUnbindRole,
  kGetQuotas,
  // MetricsService
  kGetMetrics,
  // OperationService
  kGetOperation,
  kListOperations,
  kWaitOperation,
  kWatchOperation,
  kCancelOperation,
  kListAllOperations,
  kStopOperation,
  // OwnerService
  kEvaluate,
  kRowCounts,
  kRiskReport,
  // QueryService
  kEstimateWorkload,
  kAnswerWorkload,
  kGetRelease,
  kShareRelease,
  kListReleases,
  kTranslateSql,
  // SynthesisService
  kListSynthesizers,
  kEstimateSynthesis,
  kCreateSynthesis,
  kSampleModel,
  kQueryModel,
  // VersionService
  kGetVersion,
};

struct Permission {
  Method method;
  std::string_view name;  // "BudgetService/GetBudget"
  Scope scope;
  std::array<Extent, kRoles> extents = {};  // by Role

  // The largest that one of the roles has.
  constexpr Extent ExtentFor(Roles roles) const {
    Extent extent = Extent::kNone;
    for (size_t i = 0; i < extents.size(); ++i) {
      if (roles.Has(static_cast<Role>(i)) && extents[i] > extent) extent = extents[i];
    }
    return extent;
  }
};

consteval Extent ExtentOfCell(char cell) {
  if (cell == 'x') return Extent::kAll;
  if (cell == 'o') return Extent::kOwn;
  if (cell == '-') return Extent::kNone;
  throw "a cell is x, o or -";
}

// `cells` has a character for each role, in the order of Role, between blanks: "x" all, "o" own, "-" none.
consteval Permission Row(Method method, std::string_view name, Scope scope, std::string_view cells) {
  Permission row{.method = method, .name = name, .scope = scope};
  size_t next = 0;
  for (const char cell : cells) {
    if (cell != ' ') row.extents.at(next++) = ExtentOfCell(cell);
  }
  if (next != row.extents.size()) throw "a row has a cell for each role";
  return row;
}

// Owner, aNalyst, Service, approVer, aUditor, Former; Administrator, oPerator, Creator.
inline constexpr auto kPermissions = [] {
  using enum Method;
  using enum Scope;
  return std::to_array<Permission>({
      // clang-format off
      //                                                                                 O N S V U F  A P C
      Row(kEstimateCost,       "AccountantService/EstimateCost",       kDataset,   "x x x - - -  - - -"),
      Row(kReserveBudget,      "AccountantService/ReserveBudget",      kDataset,   "- - x - - -  - - -"),
      Row(kBatchReserveBudget, "AccountantService/BatchReserveBudget", kDataset,   "- - x - - -  - - -"),
      Row(kStartCharge,        "AccountantService/StartCharge",        kDataset,   "- - o - - -  - - -"),
      Row(kCommitBudget,       "AccountantService/CommitBudget",       kDataset,   "- - o - - o  - - -"),
      Row(kCancelReservation,  "AccountantService/CancelReservation",  kDataset,   "x - o - - o  - - -"),
      Row(kExtendReservation,  "AccountantService/ExtendReservation",  kDataset,   "- - o - - -  - - -"),
      Row(kGetCharge,          "AccountantService/GetCharge",          kDataset,   "x o o - x o  - - -"),

      Row(kListAuditRecords,   "AuditService/ListAuditRecords",        kServer,    "- - - - x -  - - -"),
      Row(kWatchAudit,         "AuditService/WatchAudit",              kServer,    "- - - - x -  - - -"),

      Row(kGetBudget,          "BudgetService/GetBudget",              kDataset,   "x o o x x -  - - -"),
      Row(kGetBurnDown,        "BudgetService/GetBurnDown",            kDataset,   "x o o x x -  - - -"),
      Row(kListAccounts,       "BudgetService/ListAccounts",           kDataset,   "x o o x x -  - - -"),
      Row(kCreateAccount,      "BudgetService/CreateAccount",          kDataset,   "x - - - - -  - - -"),
      Row(kProposeLimitChange, "BudgetService/ProposeLimitChange",     kDataset,   "x - - - - -  - - -"),
      Row(kRequestLimitChange, "BudgetService/RequestLimitChange",     kDataset,   "- o o - - -  - - -"),
      Row(kApproveLimitChange, "BudgetService/ApproveLimitChange",     kDataset,   "- - - x - -  - - -"),
      Row(kRejectLimitChange,  "BudgetService/RejectLimitChange",      kDataset,   "x - - x - -  - - -"),
      Row(kWithdrawLimitChange, "BudgetService/WithdrawLimitChange",   kDataset,   "o o o - - -  - - -"),
      Row(kListLimitProposals, "BudgetService/ListLimitProposals",     kDataset,   "x o o x x -  - - -"),
      Row(kListInbox,          "BudgetService/ListInbox",              kPrincipal, "o o o o o o  o o o"),
      Row(kListRefusals,       "BudgetService/ListRefusals",           kDataset,   "x o o x x -  - - -"),
      Row(kListLedgerEntries,  "BudgetService/ListLedgerEntries",      kDataset,   "x o o x x o  - - -"),
      Row(kWatchLedger,        "BudgetService/WatchLedger",            kDataset,   "x o o x x -  - - -"),
      Row(kVerifyLedger,       "BudgetService/VerifyLedger",           kDataset,   "x x x x x -  - - -"),
      Row(kGetReceiptKey,      "BudgetService/GetReceiptKey",          kEverybody, "x x x x x x  x x x"),
      Row(kListChainLinks,     "BudgetService/ListChainLinks",         kDataset,   "x x x x x x  - - -"),
      Row(kProposeRepair,      "BudgetService/ProposeRepair",          kDataset,   "x - - - - -  - - -"),
      Row(kApproveRepair,      "BudgetService/ApproveRepair",          kDataset,   "- - - x - -  - - -"),

      Row(kCreateDataset,      "DatasetService/CreateDataset",         kServer,    "- - - - - -  - - x"),
      Row(kAddPart,            "DatasetService/AddPart",               kDataset,   "x - - - - -  - - -"),
      Row(kImportRecords,      "DatasetService/ImportRecords",         kDataset,   "x - - - - -  - - -"),
      Row(kSealDataset,        "DatasetService/SealDataset",           kDataset,   "x - - - - -  - - -"),
      Row(kUndoImport,         "DatasetService/UndoImport",            kDataset,   "x - - - - -  - - -"),
      Row(kListImports,        "DatasetService/ListImports",           kDataset,   "x - - - - -  - - -"),
      Row(kGrantAccess,        "DatasetService/GrantAccess",           kDataset,   "x - - - - -  - - -"),
      Row(kRevokeAccess,       "DatasetService/RevokeAccess",          kDataset,   "x - - - - -  - - -"),
      Row(kListGrants,         "DatasetService/ListGrants",            kDataset,   "x - - - x -  x - -"),
      Row(kAddRefusalRule,     "DatasetService/AddRefusalRule",        kDataset,   "x - - - - -  - - -"),
      Row(kRemoveRefusalRule,  "DatasetService/RemoveRefusalRule",     kDataset,   "x - - - - -  - - -"),
      Row(kListRefusalRules,   "DatasetService/ListRefusalRules",      kDataset,   "x o o x x -  - - -"),
      Row(kGetDataset,         "DatasetService/GetDataset",            kDataset,   "x x x x x -  - - -"),
      Row(kListDatasets,       "DatasetService/ListDatasets",          kPrincipal, "x x x x x x  x x x"),
      Row(kPublishDataset,     "DatasetService/PublishDataset",        kDataset,   "- - - x - -  - - -"),
      Row(kArchiveDataset,     "DatasetService/ArchiveDataset",        kDataset,   "x - - - - -  - - -"),
      Row(kDeleteDataset,      "DatasetService/DeleteDataset",         kDataset,   "x - - - - -  - - -"),
      Row(kCheckSchema,        "DatasetService/CheckSchema",           kServer,    "- - - - - -  - - x"),

      Row(kWhoAmI,             "IdentityService/WhoAmI",               kPrincipal, "x x x x x x  x x x"),
      Row(kCreatePrincipal,    "IdentityService/CreatePrincipal",      kDirectory, "- - - - - -  x - -"),
      Row(kDisablePrincipal,   "IdentityService/DisablePrincipal",     kDirectory, "- - - - - -  x - -"),
      Row(kEnablePrincipal,    "IdentityService/EnablePrincipal",      kDirectory, "- - - - - -  x - -"),
      Row(kForgetPrincipal,    "IdentityService/ForgetPrincipal",      kDirectory, "- - - - - -  x - -"),
      Row(kGetPrincipal,       "IdentityService/GetPrincipal",         kDirectory, "o o o o o o  x o o"),
      Row(kListPrincipals,     "IdentityService/ListPrincipals",       kDirectory, "- - - - - -  x - -"),
      Row(kLinkIdentity,       "IdentityService/LinkIdentity",         kDirectory, "- - - - - -  x - -"),
      Row(kCreateApiToken,     "IdentityService/CreateApiToken",       kDirectory, "o o o o o o  x o o"),
      Row(kApproveCredential,  "IdentityService/ApproveCredential",    kDirectory, "- - - - - -  x - -"),
      Row(kRemoveCredential,   "IdentityService/RemoveCredential",     kDirectory, "o o o o o o  x o o"),
      Row(kOpenEnrolment,      "IdentityService/OpenEnrolment",        kDirectory, "o o o o o o  o o o"),
      Row(kEnrol,              "IdentityService/Enrol",                kEverybody, "x x x x x x  x x x"),
      Row(kBindRole,           "IdentityService/BindRole",             kDirectory, "o - - - - -  x - -"),
      Row(kApproveRole,        "IdentityService/ApproveRole",          kDirectory, "- - - - - -  x - -"),
      Row(kUnbindRole,         "IdentityService/UnbindRole",           kDirectory, "o - - - - -  x - -"),
      Row(kGetQuotas,          "IdentityService/GetQuotas",            kDirectory, "o o o o o o  x o o"),

      Row(kGetMetrics,         "MetricsService/GetMetrics",            kServer,    "- - - - - -  - x -"),

      Row(kGetOperation,       "OperationService/GetOperation",        kPrincipal, "o o o o o o  o o o"),
      Row(kListOperations,     "OperationService/ListOperations",      kPrincipal, "o o o o o o  o o o"),
      Row(kWaitOperation,      "OperationService/WaitOperation",       kPrincipal, "o o o o o o  o o o"),
      Row(kWatchOperation,     "OperationService/WatchOperation",      kPrincipal, "o o o o o o  o o o"),
      Row(kCancelOperation,    "OperationService/CancelOperation",     kPrincipal, "o o o o o o  o o o"),
      Row(kListAllOperations,  "OperationService/ListAllOperations",   kServer,    "- - - - - -  - x -"),
      Row(kStopOperation,      "OperationService/StopOperation",       kServer,    "- - - - - -  - x -"),

      Row(kEvaluate,           "OwnerService/Evaluate",                kDataset,   "x - - - - -  - - -"),
      Row(kRowCounts,          "OwnerService/RowCounts",               kDataset,   "x - - - - -  - - -"),
      Row(kRiskReport,         "OwnerService/RiskReport",              kDataset,   "x - - - - -  - - -"),

      Row(kEstimateWorkload,   "QueryService/EstimateWorkload",        kDataset,   "x x x - - -  - - -"),
      Row(kAnswerWorkload,     "QueryService/AnswerWorkload",          kDataset,   "x x - - - -  - - -"),
      Row(kGetRelease,         "QueryService/GetRelease",              kDataset,   "x o o - - o  - - -"),
      Row(kShareRelease,       "QueryService/ShareRelease",            kDataset,   "x o - - - -  - - -"),
      Row(kListReleases,       "QueryService/ListReleases",            kDataset,   "x o o - x o  - - -"),
      Row(kTranslateSql,       "QueryService/TranslateSql",            kDataset,   "x x x - - -  - - -"),

      Row(kListSynthesizers,   "SynthesisService/ListSynthesizers",    kEverybody, "x x x x x x  x x x"),
      Row(kEstimateSynthesis,  "SynthesisService/EstimateSynthesis",   kDataset,   "x x - - - -  - - -"),
      Row(kCreateSynthesis,    "SynthesisService/CreateSynthesis",     kDataset,   "x x - - - -  - - -"),
      Row(kSampleModel,        "SynthesisService/SampleModel",         kDataset,   "x o - - - o  - - -"),
      Row(kQueryModel,         "SynthesisService/QueryModel",          kDataset,   "x o - - - o  - - -"),

      Row(kGetVersion,         "VersionService/GetVersion",            kEverybody, "x x x x x x  x x x"),
      // clang-format on
  });
}();

consteval bool HasOneRowForEachMethod() {
  for (size_t i = 0; i < kPermissions.size(); ++i) {
    if (kPermissions[i].method != static_cast<Method>(i)) return false;
  }
  return true;
}
static_assert(HasOneRowForEachMethod(), "the rows are in the order of Method, one for each");

// Does not compile for a method without a row.
constexpr const Permission& PermissionFor(Method method) {
  return kPermissions.at(static_cast<size_t>(method));
}

// Whether the method approves what another person proposed, so that it may need a login of the last minutes
// (docs/adr/0072).
constexpr bool NeedsFreshLogin(Method method) {
  return method == Method::kApproveLimitChange || method == Method::kApproveRepair ||
         method == Method::kPublishDataset || method == Method::kApproveCredential ||
         method == Method::kApproveRole;
}

// For tests: by the path of a call, "/curator.v1.BudgetService/GetBudget"; null for one that has no row.
const Permission* FindPermission(std::string_view path);

}  // namespace curator::service
