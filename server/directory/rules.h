// Who may change what in the directory: for each change, whether the directory as it is allows the actor to
// make it. docs/ACCESS.md has these rules as a table, who can become whom.
//
// Every function decides one change and changes nothing: its caller appends the change that it returns
// (directory_store.h), or reports the error. Errors of all of them:
//   PERMISSION_DENIED    the actor may not make this change at all; the message says who may
//   NOT_FOUND            no such principal, credential or enrolment, as far as the actor may know
//   ALREADY_EXISTS       the name or the identity is taken
//   FAILED_PRECONDITION  not in this state; the message says what to do first
//   INVALID_ARGUMENT     a malformed field; base/errors.h names it
//   RESOURCE_EXHAUSTED   more than the directory holds, or than one actor may change in a day
//
// Times are microseconds since 1970. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "directory/changes.h"
#include "directory/directory.h"

namespace curator::directory {

// Who asks for a change, and when.
struct Asked {
  std::string by;  // the principal, or kHostActor
  int64_t at_us = 0;
};

// ---- Principals

// By an administrator. `wanted.has_rights`: the ledger knows the name, as from a time without identities.
absl::StatusOr<Change> CreatePrincipal(const Directory& directory, const Asked& asked,
                                       const PrincipalCreated& wanted);
// By an administrator; the last active administrator cannot be disabled.
absl::StatusOr<Change> DisablePrincipal(const Directory& directory, const Asked& asked,
                                        const PrincipalDisabled& wanted);
absl::StatusOr<Change> EnablePrincipal(const Directory& directory, const Asked& asked,
                                       const PrincipalEnabled& wanted);
// By `wanted.identity`, of which no principal is known, where its issuer's settings allow it.
absl::StatusOr<Change> RegisterPrincipal(const Directory& directory, const PrincipalRegistered& wanted);

// How long a principal has been disabled before it is forgotten: by then nothing that it began goes on, and a
// mistake is noticed.
inline constexpr int64_t kForgetAfterUs = int64_t{24} * 3600 * 1'000'000;

// What is known of a principal that is to be forgotten.
struct ForgettingFacts {
  bool owns_open_dataset = false;
  int64_t after_us = kForgetAfterUs;
};
// By an administrator; the reason may be empty. FAILED_PRECONDITION for a principal that is not disabled, or
// not for long enough; that owns a dataset that is not archived; and that entries of earlier versions have by
// its name. Forgetting makes nobody another person: who could act as the principal still counts for all that
// it vouched for; who proves one of its identities later is the same person; and the credentials and roles
// that it proposed and that are pending end.
absl::StatusOr<Change> ForgetPrincipal(const Directory& directory, const Asked& asked,
                                       const std::string& name, const std::string& reason,
                                       const ForgettingFacts& facts);

// ---- Credentials

// An identity, by an administrator. It is active at once for a principal that cannot have rights yet, and
// pending for any other until a second administrator approves it. `wanted` has neither basis nor state.
absl::StatusOr<Change> AddIdentity(const Directory& directory, const Asked& asked, CredentialAdded wanted);
// An API token: by the principal itself, active at once; or by an administrator, as AddIdentity().
absl::StatusOr<Change> AddToken(const Directory& directory, const Asked& asked, CredentialAdded wanted);
// By an administrator who is another person than the one who added it, and than its principal.
absl::StatusOr<Change> ApproveCredential(const Directory& directory, const Asked& asked,
                                         const CredentialApproved& wanted);
// By its principal or an administrator.
absl::StatusOr<Change> RemoveCredential(const Directory& directory, const Asked& asked,
                                        const CredentialRemoved& wanted);

// ---- Enrolments: a new identity that a principal adds by its own proof, and that agrees by a code

inline constexpr int64_t kEnrolmentLifetimeUs = int64_t{15} * 60 * 1'000'000;
inline constexpr int64_t kMostWrongCodes = 5;

// By the principal itself, for any identity that is nobody's; an earlier enrolment of the principal ends.
// By kHostActor for the first administrator: FAILED_PRECONDITION when there is an active one, unless
// `wanted.makes_administrator` is asked for with `break_glass`; and for a principal that may have rights and
// is no administrator.
absl::StatusOr<Change> OpenEnrolment(const Directory& directory, const Asked& asked,
                                     const EnrolmentOpened& wanted, bool break_glass = false);

// What a call with a code leads to: a credential, or a wrong code that is counted.
struct Enrolling {
  std::string enrolment_id;
  Identity identity;  // the caller's, which proved itself
  std::string code_hash;
  std::string credential_id;  // of the credential that it becomes
};
// An EnrolmentUsed, or an EnrolmentTried. NOT_FOUND, the same for each cause: no such enrolment, not for this
// identity, expired, or tried too often.
absl::StatusOr<Change> UseEnrolment(const Directory& directory, const Asked& asked,
                                    const Enrolling& enrolling);

// ---- Roles

// What the ledger says about a role that is to be bound.
struct RoleFacts {
  bool is_owner = false;             // the actor owns the dataset
  bool holder_has_data = false;      // the principal is an owner, a grantee, or has charges
  bool holder_uses_dataset = false;  // it owns the dataset, or asks it questions, or charges it
};

// Administrator, operator and creator of the server: by an administrator. Auditor, and approver of all
// datasets: by an administrator, pending until another one approves it. Approver of a dataset: by its owner,
// for another person than himself; pending until an administrator approves it. FAILED_PRECONDITION for what
// no principal is at once: an administrator with data, a creator's or an approver's role; an approver who
// spends from the budget.
absl::StatusOr<Change> BindRole(const Directory& directory, const Asked& asked, RoleBound wanted,
                                const RoleFacts& facts);
// The same of a principal that is to ask a dataset questions or to charge it.
absl::Status CheckMaySpend(const Directory& directory, const std::string& principal,
                           std::string_view dataset_id);
// By an administrator who is another person than the one who proposed it and than the holder.
absl::StatusOr<Change> ApproveRole(const Directory& directory, const Asked& asked,
                                   const RoleApproved& wanted);
// By an administrator, but not the last active administrator's; an approver's also by the owner.
absl::StatusOr<Change> UnbindRole(const Directory& directory, const Asked& asked, const RoleUnbound& wanted,
                                  bool is_owner);

}  // namespace curator::directory
