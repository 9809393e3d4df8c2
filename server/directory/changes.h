// The changes of the directory: what the entries of the server's own history (ledger/ledger.h) say. The
// directory at any time is the result of all changes so far (directory.h), so nothing else is stored.
//
// Each struct below is the payload of one kind of entry, a canonical document (base/canonical_bytes.h) whose
// tag is "curator.directory." and the kind in lower case: Text(tag) Integer(1), then its fields in the order
// of declaration; enumerations are Integers. Times are microseconds since 1970.
//
// Who made a change is the actor of its entry: a principal, or one of the two below. Entries that earlier
// versions wrote name principals by their names, others by their pseudonyms.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"

namespace curator::directory {

// The actor of a change that was made on the server's own host, with the server's key.
inline constexpr char kHostActor[] = "@host";
// The actor of a registration that an issuer's settings allow to all its users.
inline constexpr char kIssuerActor[] = "@issuer";

enum class PrincipalKind : int64_t { kPerson = 1, kService = 2 };

// What proves that a call is a principal's.
enum class CredentialKind : int64_t {
  kOidc = 1,         // a token that `issuer` signed for `subject` (its "sub")
  kCertificate = 2,  // a client certificate whose only URI SAN is `subject`; the issuer is empty
  kApiToken = 3,     // a secret of this server's; `subject` is the token's id
};

// Whom a token or a certificate names.
struct Identity {
  CredentialKind kind = CredentialKind::kOidc;
  std::string issuer = {};
  std::string subject = {};

  auto operator<=>(const Identity&) const = default;
};

// Why a credential is its principal's.
enum class Basis : int64_t {
  kAdministrator = 1,  // an administrator said so
  kOwnProof = 2,       // the principal did, and the new identity agreed
  kIssuer = 3,         // the issuer's settings register all its users
  kHost = 4,           // by `curatord bootstrap` on the server's host, and the new identity agreed
};

enum class Role : int64_t {
  kAdministrator = 1,  // of the server: manages principals and credentials; sees no data
  kApprover = 2,       // of a dataset, or of all: approves changes of limits
  kOperator = 3,       // of the server: sees that it works, and all operations
  kCreator = 4,        // of the server: creates datasets
  kAuditor = 5,        // of all datasets: sees budgets and histories, and no answers
};

// How many persons it takes to raise a limit, repair a history or publish a dataset.
enum class Custody : int64_t {
  kTwoPersons = 1,  // one proposes, another one approves
  kSingle = 2,      // one person has custody of the server: owners approve what they proposed
};

// PRINCIPAL_CREATED.
struct PrincipalCreated {
  static constexpr std::string_view kKind = "PRINCIPAL_CREATED";
  std::string name = {};
  PrincipalKind kind = PrincipalKind::kPerson;
  // The ledger knew the name before: as an owner, a grantee, or of charges.
  bool has_rights = false;
};

// PRINCIPAL_DISABLED, PRINCIPAL_ENABLED.
struct PrincipalDisabled {
  static constexpr std::string_view kKind = "PRINCIPAL_DISABLED";
  std::string name = {};
  std::string reason = {};
};
struct PrincipalEnabled {
  static constexpr std::string_view kKind = "PRINCIPAL_ENABLED";
  std::string name = {};
  std::string reason = {};
};

// PRINCIPAL_FORGOTTEN: from now on nobody knows whose the pseudonym is, and the name is nobody's.
struct PrincipalForgotten {
  static constexpr std::string_view kKind = "PRINCIPAL_FORGOTTEN";
  std::string pseudonym = {};
  std::string reason = {};
};

// CREDENTIAL_ADDED.
struct CredentialAdded {
  static constexpr std::string_view kKind = "CREDENTIAL_ADDED";
  std::string id = {};
  std::string principal = {};
  Identity identity = {};
  std::string secret_hash = {};  // of an API token: a keyed hash under the server's key; else empty
  std::string label = {};        // one line for people
  int64_t expires_at_us = 0;     // 0: never, which no API token may
  Basis basis = Basis::kAdministrator;
  bool is_pending = false;  // until a second administrator approves it
};

// CREDENTIAL_APPROVED: by a second administrator. Also of a credential that is active already, which then is
// no longer one administrator's word.
struct CredentialApproved {
  static constexpr std::string_view kKind = "CREDENTIAL_APPROVED";
  std::string id = {};
};

// CREDENTIAL_REMOVED: for good.
struct CredentialRemoved {
  static constexpr std::string_view kKind = "CREDENTIAL_REMOVED";
  std::string id = {};
  std::string reason = {};
};

// PRINCIPAL_REGISTERED: by itself, where the issuer's settings allow it.
struct PrincipalRegistered {
  static constexpr std::string_view kKind = "PRINCIPAL_REGISTERED";
  std::string name = {};
  std::string credential_id = {};
  Identity identity = {};
};

// ENROLMENT_OPENED: a caller that proves `identity` and knows the code may then act as `principal`.
struct EnrolmentOpened {
  static constexpr std::string_view kKind = "ENROLMENT_OPENED";
  std::string id = {};
  std::string principal = {};
  Identity identity = {};
  std::string code_hash = {};  // a keyed hash under the server's key
  int64_t expires_at_us = 0;
  bool makes_administrator = false;
};

// ENROLMENT_TRIED: with a wrong code.
struct EnrolmentTried {
  static constexpr std::string_view kKind = "ENROLMENT_TRIED";
  std::string id = {};
};

// ENROLMENT_USED: the identity is now the principal's, by this credential.
struct EnrolmentUsed {
  static constexpr std::string_view kKind = "ENROLMENT_USED";
  std::string id = {};
  std::string credential_id = {};
};

// ROLE_BOUND.
struct RoleBound {
  static constexpr std::string_view kKind = "ROLE_BOUND";
  Role role = Role::kAdministrator;
  std::string principal = {};
  std::string dataset_id = {};  // empty for a role of the server, or on all datasets
  bool is_pending = false;  // until an administrator approves what an owner or another administrator proposes
};

// ROLE_APPROVED, ROLE_UNBOUND.
struct RoleApproved {
  static constexpr std::string_view kKind = "ROLE_APPROVED";
  Role role = Role::kAdministrator;
  std::string principal = {};
  std::string dataset_id = {};
};
struct RoleUnbound {
  static constexpr std::string_view kKind = "ROLE_UNBOUND";
  Role role = Role::kAdministrator;
  std::string principal = {};
  std::string dataset_id = {};
};

// CUSTODY_SET: by the server's configuration.
struct CustodySet {
  static constexpr std::string_view kKind = "CUSTODY_SET";
  Custody custody = Custody::kTwoPersons;
};

using Change =
    std::variant<PrincipalCreated, PrincipalDisabled, PrincipalEnabled, CredentialAdded, CredentialApproved,
                 CredentialRemoved, PrincipalRegistered, EnrolmentOpened, EnrolmentTried, EnrolmentUsed,
                 RoleBound, RoleApproved, RoleUnbound, CustodySet, PrincipalForgotten>;

// Calls `visit` with each name of a principal in the change, which it may replace: in entries these are
// pseudonyms (ledger/pseudonyms/pseudonym.h). PRINCIPAL_FORGOTTEN has none.
void VisitNames(Change& change, const std::function<void(std::string& name)>& visit);

// The kind of the entry, and its payload.
std::string_view KindOf(const Change& change);
std::string EncodeChange(const Change& change);
// DATA_LOSS for an unknown kind, and for bytes that EncodeChange() would not write.
absl::StatusOr<Change> ParseChange(std::string_view kind, std::string_view payload);

// The names of kinds and roles in messages and in the API: "PERSON", "OIDC", "ADMINISTRATOR".
std::string_view NameOf(PrincipalKind kind);
std::string_view NameOf(CredentialKind kind);
std::string_view NameOf(Role role);
std::string_view NameOf(Custody custody);

}  // namespace curator::directory
