#include "directory/rules.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/principal.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "ledger/pseudonyms/pseudonym.h"

namespace curator::directory {
namespace {

constexpr size_t kMostPrincipals = 100'000;
constexpr size_t kMostCredentials = 100;  // of one principal
constexpr size_t kMostBytesOfIdentity = 1024;
constexpr size_t kMostBytesOfLine = 200;
constexpr int64_t kLongestTokenUs = int64_t{366} * 24 * 3600 * 1'000'000;
// Of a principal that is no administrator: an administrator may make as many as the directory counts.
constexpr int64_t kMostChangesADay = 100;

absl::Status NoSuchPrincipal(std::string_view name) {
  return absl::NotFoundError(absl::StrCat("there is no principal \"", std::string(name), "\""));
}

absl::Status NoSuchCredential() {
  return absl::NotFoundError("there is no such credential");
}

absl::Status CheckRate(const Directory& directory, const Asked& asked) {
  const bool is_administrator = directory.HasRole(Role::kAdministrator, asked.by);
  const int64_t most =
      is_administrator ? static_cast<int64_t>(Directory::kMostCountedChanges) : kMostChangesADay;
  if (asked.by == kHostActor || directory.ChangesToday(asked.by, asked.at_us) < most) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      asked.by, " has made ", most, " changes of the directory in 24 hours: ask again tomorrow"));
}

absl::Status CheckAdministrator(const Directory& directory, const Asked& asked) {
  RETURN_IF_ERROR(CheckRate(directory, asked));
  if (directory.HasRole(Role::kAdministrator, asked.by)) return absl::OkStatus();
  return absl::PermissionDeniedError("only an administrator of the server may do this");
}

absl::Status CheckLineOf(std::string_view field, std::string_view text) {
  RETURN_IF_ERROR(CheckLine(field, text));
  if (text.size() <= kMostBytesOfLine) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("must have at most ", kMostBytesOfLine, " bytes"));
}

absl::Status CheckReason(std::string_view reason) {
  if (reason.empty()) return InvalidField("reason", "must say why, for the history");
  return CheckLineOf("reason", reason);
}

absl::Status CheckIdentity(const Identity& identity) {
  for (const auto& [field, text] : {std::pair("identity.issuer", std::string_view(identity.issuer)),
                                    std::pair("identity.subject", std::string_view(identity.subject))}) {
    RETURN_IF_ERROR(CheckLine(field, text));
    if (text.size() > kMostBytesOfIdentity) {
      return InvalidField(field, absl::StrCat("must have at most ", kMostBytesOfIdentity, " bytes"));
    }
  }
  if (identity.subject.empty()) return InvalidField("identity.subject", "must not be empty");
  const bool needs_issuer = identity.kind == CredentialKind::kOidc;
  if (needs_issuer && identity.issuer.empty()) return InvalidField("identity.issuer", "must name the issuer");
  if (!needs_issuer && !identity.issuer.empty()) {
    return InvalidField("identity.issuer", "must be empty: only OIDC identities have an issuer");
  }
  return absl::OkStatus();
}

absl::Status CheckIsNobodys(const Directory& directory, const Identity& identity) {
  const Credential* const taken = directory.FindIdentity(identity);
  if (taken == nullptr) return absl::OkStatus();
  return absl::AlreadyExistsError("the identity is a principal's already");
}

absl::Status CheckName(const Directory& directory, std::string_view name) {
  RETURN_IF_ERROR(CheckPrincipalName(name));
  if (name.front() == '@') return InvalidField("principal", "must not begin with \"@\"");
  if (directory.FindPrincipal(name) != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat("the name \"", std::string(name),
                     "\" is taken: no name is used twice, also after its principal "
                     "was disabled"));
  }
  if (directory.principal_count() < kMostPrincipals) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("the directory has ", kMostPrincipals, " principals"));
}

// The principal of a new credential.
absl::StatusOr<const PrincipalRecord*> FindHolder(const Directory& directory, const std::string& name) {
  const PrincipalRecord* const holder = directory.FindPrincipal(name);
  if (holder == nullptr) return NoSuchPrincipal(name);
  if (holder->credentials.size() < kMostCredentials) return holder;
  return absl::ResourceExhaustedError(
      absl::StrCat(name, " has ", kMostCredentials, " credentials: remove one first"));
}

// "24 hours"
std::string TextOfHours(int64_t us) {
  return absl::StrCat(us / (int64_t{3600} * 1'000'000), " hours");
}

// Another active administrator remains.
absl::Status CheckIsNotLastAdministrator(const Directory& directory, std::string_view name) {
  const std::vector<std::string> administrators = directory.Administrators();
  const bool is_last = administrators.size() == 1 && administrators.front() == name;
  if (!is_last) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "this is the only active administrator: make another one first, or nobody could manage the server");
}

absl::Status NotTwoPersons(std::string_view who, std::string_view other) {
  return absl::PermissionDeniedError(absl::StrCat(
      std::string(who), " and ", std::string(other),
      " do not count as two persons: one administrator alone could act as both, because he is one of "
      "them or linked their credentials, or one identity has been both's. A second administrator can confirm "
      "a credential that one of them linked"));
}

}  // namespace

// ---- Principals

absl::StatusOr<Change> CreatePrincipal(const Directory& directory, const Asked& asked,
                                       const PrincipalCreated& wanted) {
  if (asked.by != kHostActor) RETURN_IF_ERROR(CheckAdministrator(directory, asked));
  RETURN_IF_ERROR(CheckName(directory, wanted.name));
  return wanted;
}

absl::StatusOr<Change> DisablePrincipal(const Directory& directory, const Asked& asked,
                                        const PrincipalDisabled& wanted) {
  RETURN_IF_ERROR(CheckAdministrator(directory, asked));
  RETURN_IF_ERROR(CheckReason(wanted.reason));
  const PrincipalRecord* const found = directory.FindPrincipal(wanted.name);
  if (found == nullptr) return NoSuchPrincipal(wanted.name);
  if (found->is_disabled) return absl::FailedPreconditionError(wanted.name + " is disabled already");
  RETURN_IF_ERROR(CheckIsNotLastAdministrator(directory, wanted.name));
  return wanted;
}

absl::StatusOr<Change> EnablePrincipal(const Directory& directory, const Asked& asked,
                                       const PrincipalEnabled& wanted) {
  RETURN_IF_ERROR(CheckAdministrator(directory, asked));
  RETURN_IF_ERROR(CheckReason(wanted.reason));
  const PrincipalRecord* const found = directory.FindPrincipal(wanted.name);
  if (found == nullptr) return NoSuchPrincipal(wanted.name);
  if (!found->is_disabled) return absl::FailedPreconditionError(wanted.name + " is not disabled");
  return wanted;
}

absl::StatusOr<Change> ForgetPrincipal(const Directory& directory, const Asked& asked,
                                       const std::string& name, const std::string& reason,
                                       const ForgettingFacts& facts) {
  RETURN_IF_ERROR(CheckAdministrator(directory, asked));
  RETURN_IF_ERROR(CheckLineOf("reason", reason));
  const PrincipalRecord* const found = directory.FindPrincipal(name);
  if (found == nullptr) return NoSuchPrincipal(name);
  if (!ledger::IsPseudonym(found->stored_name)) {
    return absl::FailedPreconditionError(
        absl::StrCat(name,
                     " cannot be forgotten: histories that an earlier version wrote have the name, and "
                     "their hashes cover it"));
  }
  if (!found->is_disabled) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " is not disabled: disable it first (curator principal disable), and forget it ",
                     TextOfHours(facts.after_us), " later"));
  }
  if (asked.at_us - found->disabled_at_us < facts.after_us) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " was disabled less than ", TextOfHours(facts.after_us),
                     " ago: until then what it began may go on, and it can be enabled again"));
  }
  if (facts.owns_open_dataset) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " owns datasets that are not archived: nobody could manage them"));
  }
  return PrincipalForgotten{.pseudonym = found->stored_name, .reason = reason};
}

absl::StatusOr<Change> RegisterPrincipal(const Directory& directory, const PrincipalRegistered& wanted) {
  RETURN_IF_ERROR(CheckIdentity(wanted.identity));
  RETURN_IF_ERROR(CheckIsNobodys(directory, wanted.identity));
  RETURN_IF_ERROR(CheckName(directory, wanted.name));
  return wanted;
}

// ---- Credentials

absl::StatusOr<Change> AddIdentity(const Directory& directory, const Asked& asked, CredentialAdded wanted) {
  RETURN_IF_ERROR(CheckAdministrator(directory, asked));
  RETURN_IF_ERROR(CheckIdentity(wanted.identity));
  RETURN_IF_ERROR(CheckLineOf("label", wanted.label));
  ASSIGN_OR_RETURN(const PrincipalRecord* const holder, FindHolder(directory, wanted.principal));
  RETURN_IF_ERROR(CheckIsNobodys(directory, wanted.identity));
  wanted.basis = Basis::kAdministrator;
  // What is pending, too, makes the next one pending: one of two may be the administrator's own.
  wanted.is_pending = holder->may_have_rights || !holder->credentials.empty();
  return wanted;
}

absl::StatusOr<Change> AddToken(const Directory& directory, const Asked& asked, CredentialAdded wanted) {
  RETURN_IF_ERROR(CheckLineOf("label", wanted.label));
  if (wanted.expires_at_us <= asked.at_us || wanted.expires_at_us > asked.at_us + kLongestTokenUs) {
    return InvalidField("expire_time", "must be a time within 366 days from now");
  }
  const bool is_own = asked.by == wanted.principal;
  RETURN_IF_ERROR(is_own ? CheckRate(directory, asked) : CheckAdministrator(directory, asked));
  ASSIGN_OR_RETURN(const PrincipalRecord* const holder, FindHolder(directory, wanted.principal));
  wanted.basis = is_own ? Basis::kOwnProof : Basis::kAdministrator;
  wanted.is_pending = !is_own && (holder->may_have_rights || !holder->credentials.empty());
  return wanted;
}

absl::StatusOr<Change> ApproveCredential(const Directory& directory, const Asked& asked,
                                         const CredentialApproved& wanted) {
  RETURN_IF_ERROR(CheckAdministrator(directory, asked));
  const Credential* const found = directory.FindCredential(wanted.id);
  if (found == nullptr) return NoSuchCredential();
  if (found->basis != Basis::kAdministrator) {
    return absl::FailedPreconditionError("only what an administrator added needs a second one");
  }
  if (!found->approved_by.empty()) return absl::FailedPreconditionError("the credential is approved already");
  if (!directory.AreTwoPersons(asked.by, found->added_by)) return NotTwoPersons(asked.by, found->added_by);
  if (asked.by == found->principal) return NotTwoPersons(asked.by, found->principal);
  return wanted;
}

absl::StatusOr<Change> RemoveCredential(const Directory& directory, const Asked& asked,
                                        const CredentialRemoved& wanted) {
  RETURN_IF_ERROR(CheckRate(directory, asked));
  RETURN_IF_ERROR(CheckReason(wanted.reason));
  const Credential* const found = directory.FindCredential(wanted.id);
  const bool is_administrator = directory.HasRole(Role::kAdministrator, asked.by);
  // To anybody else the credentials of others do not exist.
  if (found == nullptr || (found->principal != asked.by && !is_administrator)) return NoSuchCredential();
  return wanted;
}

// ---- Enrolments

absl::StatusOr<Change> OpenEnrolment(const Directory& directory, const Asked& asked,
                                     const EnrolmentOpened& wanted, bool break_glass) {
  RETURN_IF_ERROR(CheckRate(directory, asked));
  RETURN_IF_ERROR(CheckIdentity(wanted.identity));
  if (wanted.identity.kind == CredentialKind::kApiToken) {
    return InvalidField("identity.kind",
                        "must be OIDC or CERTIFICATE: an API token is created, not enrolled");
  }
  ASSIGN_OR_RETURN(const PrincipalRecord* const holder, FindHolder(directory, wanted.principal));
  RETURN_IF_ERROR(CheckIsNobodys(directory, wanted.identity));
  if (asked.by != kHostActor) {
    if (asked.by != wanted.principal || wanted.makes_administrator) {
      return absl::PermissionDeniedError("a principal adds identities to itself alone");
    }
    return wanted;
  }
  if (!directory.Administrators().empty() && !break_glass) {
    return absl::FailedPreconditionError(
        "there is an active administrator, who can let others in; --break-glass makes another one, which the "
        "history of the server shows for ever");
  }
  // Root on the host must not act as a principal that has data.
  if (holder->may_have_rights && directory.FindRole(Role::kAdministrator, wanted.principal, "") == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(wanted.principal, " may have rights: choose a new name for the administrator"));
  }
  return wanted;
}

absl::StatusOr<Change> UseEnrolment(const Directory& directory, const Asked& asked,
                                    const Enrolling& enrolling) {
  const Enrolment* const found = directory.FindEnrolment(enrolling.enrolment_id);
  const bool is_open = found != nullptr && found->identity == enrolling.identity &&
                       found->expires_at_us > asked.at_us && found->wrong_codes < kMostWrongCodes;
  if (!is_open) {
    return absl::NotFoundError(
        "there is no open enrolment of this identity under this code: codes end after 15 minutes, and after "
        "five wrong ones");
  }
  if (found->code_hash != enrolling.code_hash) return EnrolmentTried{.id = found->id};
  RETURN_IF_ERROR(CheckIsNobodys(directory, enrolling.identity));
  RETURN_IF_ERROR(FindHolder(directory, found->principal).status());
  return EnrolmentUsed{.id = found->id, .credential_id = enrolling.credential_id};
}

// ---- Roles

namespace {

// Of the server or on all datasets, without a dataset; and of these those that one administrator alone binds.
bool IsOfServer(const RoleBound& role) {
  return role.role != Role::kApprover || role.dataset_id.empty();
}
bool NeedsApproval(Role role) {
  return role == Role::kApprover || role == Role::kAuditor;
}

bool IsOrWillBe(const Directory& directory, Role role, const std::string& principal,
                std::string_view dataset_id = {}) {
  return directory.FindRole(role, principal, dataset_id) != nullptr;
}

bool ApprovesAnything(const Directory& directory, const std::string& principal) {
  return std::ranges::any_of(directory.RolesOf(principal),
                             [](const RoleBinding* each) { return each->role == Role::kApprover; });
}

// Administrators link credentials to principals, so they have no data; approvers do not spend.
absl::Status CheckNoConflict(const Directory& directory, const RoleBound& wanted, const RoleFacts& facts) {
  const std::string& holder = wanted.principal;
  if (wanted.role == Role::kAdministrator) {
    const bool has_rights = facts.holder_has_data || IsOrWillBe(directory, Role::kCreator, holder) ||
                            ApprovesAnything(directory, holder);
    if (!has_rights) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        holder, " has datasets, or rights on some: an administrator has none. Use another principal"));
  }
  if (wanted.role != Role::kCreator && wanted.role != Role::kApprover) return absl::OkStatus();
  if (IsOrWillBe(directory, Role::kAdministrator, holder)) {
    return absl::FailedPreconditionError(
        absl::StrCat(holder, " is an administrator, who has no rights on datasets. Use another principal"));
  }
  const bool spends = wanted.dataset_id.empty() ? facts.holder_has_data : facts.holder_uses_dataset;
  if (wanted.role == Role::kCreator || !spends) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(holder, " spends from the budget whose limits it would approve. Use another principal"));
}

}  // namespace

absl::StatusOr<Change> BindRole(const Directory& directory, const Asked& asked, RoleBound wanted,
                                const RoleFacts& facts) {
  RETURN_IF_ERROR(CheckRate(directory, asked));
  const bool is_of_server = IsOfServer(wanted);
  if (is_of_server) RETURN_IF_ERROR(CheckAdministrator(directory, asked));
  if (is_of_server && !wanted.dataset_id.empty()) {
    return InvalidField("dataset", "must be empty for this role: only an approver is one of a dataset");
  }
  if (!is_of_server && !facts.is_owner) {
    return absl::PermissionDeniedError("only the owner of the dataset may propose its approvers");
  }
  const PrincipalRecord* const holder = directory.FindPrincipal(wanted.principal);
  if (holder == nullptr) return NoSuchPrincipal(wanted.principal);
  if (holder->is_disabled) return absl::FailedPreconditionError(wanted.principal + " is disabled");
  if (directory.FindRole(wanted.role, wanted.principal, wanted.dataset_id) != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat(wanted.principal, " has this role already, or it is pending"));
  }
  RETURN_IF_ERROR(CheckNoConflict(directory, wanted, facts));
  wanted.is_pending = NeedsApproval(wanted.role);
  const bool are_two = !wanted.is_pending || directory.AreTwoPersons(asked.by, wanted.principal);
  if (!are_two) return NotTwoPersons(asked.by, wanted.principal);
  return wanted;
}

absl::Status CheckMaySpend(const Directory& directory, const std::string& principal,
                           std::string_view dataset_id) {
  if (IsOrWillBe(directory, Role::kAdministrator, principal)) {
    return absl::FailedPreconditionError(absl::StrCat(
        principal, " is an administrator, who has no rights on datasets. Use another principal"));
  }
  const bool approves = IsOrWillBe(directory, Role::kApprover, principal) ||
                        IsOrWillBe(directory, Role::kApprover, principal, dataset_id);
  if (!approves) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      principal,
      " approves the limits of this dataset, so it does not spend from them. Use another principal"));
}

absl::StatusOr<Change> ApproveRole(const Directory& directory, const Asked& asked,
                                   const RoleApproved& wanted) {
  RETURN_IF_ERROR(CheckAdministrator(directory, asked));
  const RoleBinding* const found = directory.FindRole(wanted.role, wanted.principal, wanted.dataset_id);
  if (found == nullptr) return absl::NotFoundError("nobody has proposed this role");
  if (!found->is_pending) return absl::FailedPreconditionError("the role is approved already");
  for (const std::string& other : {found->bound_by, found->principal}) {
    if (!directory.AreTwoPersons(asked.by, other)) return NotTwoPersons(asked.by, other);
  }
  return wanted;
}

absl::StatusOr<Change> UnbindRole(const Directory& directory, const Asked& asked, const RoleUnbound& wanted,
                                  bool is_owner) {
  const bool may_as_owner = is_owner && wanted.role == Role::kApprover && !wanted.dataset_id.empty();
  RETURN_IF_ERROR(may_as_owner ? CheckRate(directory, asked) : CheckAdministrator(directory, asked));
  if (directory.FindRole(wanted.role, wanted.principal, wanted.dataset_id) == nullptr) {
    return absl::NotFoundError(absl::StrCat(wanted.principal, " does not have this role"));
  }
  if (wanted.role == Role::kAdministrator) {
    RETURN_IF_ERROR(CheckIsNotLastAdministrator(directory, wanted.principal));
  }
  return wanted;
}

}  // namespace curator::directory
