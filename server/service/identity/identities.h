// The use cases of the directory: principals, their credentials and roles. The rules are those of
// directory/rules.h.
//
// Thread-safe. Every function blocks on the ledger. Errors beside those of the rules: INVALID_ARGUMENT with
// the field's path, UNAVAILABLE when the ledger does not answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "auth/api_token.h"
#include "base/principal.h"
#include "directory/directory_store.h"
#include "directory/rules.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

// What the use cases work with. Holds references: the parts must outlive it.
struct IdentityServices {
  directory::DirectoryStore& directory;
  ledger::Ledger& ledger;
  // The keyed hash of the secret of an API token or an enrolment code (host/server_key.h).
  std::function<std::string(std::string_view secret)> hash_of_secret;
  auth::Entropy entropy;
  // The alias of an issuer (by its "iss") whose identities may register by themselves; none of any other.
  std::function<std::optional<std::string>(std::string_view issuer)> alias_for_registering;
  std::function<int64_t()> now_us;  // microseconds since 1970
  int64_t forget_after_us = directory::kForgetAfterUs;
};

// A role, with the name of its dataset.
struct RoleView {
  directory::RoleBinding binding;
  std::string dataset;  // empty for a role of the server
};

struct PrincipalView {
  directory::PrincipalRecord record;
  std::vector<directory::Credential> credentials;
  std::vector<RoleView> roles;
};

// ---- Principals

// NOT_FOUND when there is none.
absl::StatusOr<PrincipalView> ViewPrincipal(IdentityServices& services, std::string_view name);

absl::StatusOr<PrincipalView> CreatePrincipal(IdentityServices& services, const Principal& actor,
                                              const std::string& name, directory::PrincipalKind kind);
absl::StatusOr<PrincipalView> DisablePrincipal(IdentityServices& services, const Principal& actor,
                                               const std::string& name, const std::string& reason);
absl::StatusOr<PrincipalView> EnablePrincipal(IdentityServices& services, const Principal& actor,
                                              const std::string& name, const std::string& reason);
// Returns the pseudonym that stays. The name is forgotten by this server on return, and by all within
// DirectoryStore::kMostAge.
absl::StatusOr<std::string> ForgetPrincipal(IdentityServices& services, const Principal& actor,
                                            const std::string& name, const std::string& reason);
// By an administrator; to all others there is none but themselves.
absl::StatusOr<PrincipalView> GetPrincipal(IdentityServices& services, const Principal& actor,
                                           const std::string& name);
// By an administrator: ascending by name, those after `after`, at most `limit`.
absl::StatusOr<std::vector<PrincipalView>> ListPrincipals(IdentityServices& services, const Principal& actor,
                                                          const std::string& after, int64_t limit);

// ---- Credentials

absl::StatusOr<directory::Credential> LinkIdentity(IdentityServices& services, const Principal& actor,
                                                   const std::string& principal,
                                                   const directory::Identity& identity,
                                                   const std::string& label);
struct NewApiToken {
  directory::Credential credential;
  std::string text;  // the token, which is stored nowhere
};
absl::StatusOr<NewApiToken> CreateApiToken(IdentityServices& services, const Principal& actor,
                                           const std::string& principal, const std::string& label,
                                           int64_t expires_at_us);
absl::StatusOr<directory::Credential> ApproveCredential(IdentityServices& services, const Principal& actor,
                                                        const std::string& credential_id);
absl::Status RemoveCredential(IdentityServices& services, const Principal& actor,
                              const std::string& credential_id, const std::string& reason);

// ---- Enrolments

struct NewEnrolment {
  std::string code;  // stored nowhere
  int64_t expires_at_us = 0;
};
// By the principal itself.
absl::StatusOr<NewEnrolment> OpenEnrolment(IdentityServices& services, const Principal& actor,
                                           const directory::Identity& identity);
// On the host: for the first administrator, who is created where there is no principal of this name.
absl::StatusOr<NewEnrolment> OpenEnrolmentOnHost(IdentityServices& services, const std::string& name,
                                                 const directory::Identity& identity, bool break_glass);
// By an identity that proved itself. Returns the name of the principal that it is from now on.
absl::StatusOr<std::string> UseEnrolment(IdentityServices& services, const directory::Identity& identity,
                                         const std::string& code);
// The same without a code, where the issuer's settings allow it: a principal of its own, named by the
// issuer's alias, a dot, and `name`, or its subject where that is empty. PERMISSION_DENIED where they do
// not.
absl::StatusOr<std::string> Register(IdentityServices& services, const directory::Identity& identity,
                                     const std::string& name);

// ---- Roles

// Which role, whose, and of which dataset: by its name, empty for a role of the server.
struct RoleOrder {
  directory::Role role = directory::Role::kAdministrator;
  std::string principal;
  std::string dataset;
};
absl::StatusOr<RoleView> BindRole(IdentityServices& services, const Principal& actor, const RoleOrder& order);
absl::StatusOr<RoleView> ApproveRole(IdentityServices& services, const Principal& actor,
                                     const RoleOrder& order);
absl::Status UnbindRole(IdentityServices& services, const Principal& actor, const RoleOrder& order);

}  // namespace curator::service
