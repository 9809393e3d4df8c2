#include "service/identity/identities.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "directory/rules.h"

namespace curator::service {
namespace {

using directory::Asked;
using directory::Change;
using directory::Directory;
using Snapshot = directory::DirectoryStore::Snapshot;

// Decides and makes one change by `actor`.
template <typename Rule>
absl::Status MakeBy(IdentityServices& services, const std::string& actor, const Rule& rule) {
  return services.directory
      .Make(actor,
            [&](const Directory& directory) {
              return rule(directory, Asked{.by = actor, .at_us = services.now_us()});
            })
      .status();
}

absl::StatusOr<directory::Credential> FindCredential(IdentityServices& services, const std::string& id) {
  ASSIGN_OR_RETURN(const Snapshot directory, services.directory.Current());
  const directory::Credential* const found = directory->FindCredential(id);
  if (found == nullptr) return absl::AbortedError("the credential was removed meanwhile");
  return *found;
}

absl::Status CheckIsAdministrator(const Directory& directory, const Principal& actor) {
  if (directory.HasRole(directory::Role::kAdministrator, actor.name())) return absl::OkStatus();
  return absl::PermissionDeniedError("only an administrator of the server may do this");
}

absl::StatusOr<PrincipalView> ViewIn(IdentityServices& services, const Directory& directory,
                                     std::string_view name) {
  const directory::PrincipalRecord* const record = directory.FindPrincipal(name);
  if (record == nullptr) {
    return absl::NotFoundError(absl::StrCat("there is no principal \"", std::string(name), "\""));
  }
  PrincipalView view{.record = *record, .credentials = {}, .roles = {}};
  for (const std::string& id : record->credentials) view.credentials.push_back(*directory.FindCredential(id));
  std::vector<std::string> dataset_ids;
  for (const directory::RoleBinding* binding : directory.RolesOf(name)) {
    view.roles.push_back({*binding, {}});
    if (!binding->dataset_id.empty()) dataset_ids.push_back(binding->dataset_id);
  }
  if (dataset_ids.empty()) return view;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, services.ledger.DatasetNames(dataset_ids));
  auto next = names.begin();
  for (RoleView& role : view.roles) {
    if (!role.binding.dataset_id.empty()) role.dataset = *next++;
  }
  return view;
}

// What people read in a name, as a part of a principal's: lower case, and "-" for what no name has.
std::string CleanName(std::string_view text) {
  constexpr size_t kMostCharacters = 80;
  std::string clean;
  for (const char c : text.substr(0, kMostCharacters)) {
    const auto character = static_cast<unsigned char>(c);
    const bool is_kept = absl::ascii_isalnum(character) || c == '.' || c == '_' || c == '@' || c == '-';
    clean.push_back(is_kept ? static_cast<char>(absl::ascii_tolower(character)) : '-');
  }
  return clean;
}

// The order with the id of its dataset.
struct ResolvedRole {
  std::string dataset_id;
  bool is_owner = false;
  std::optional<ledger::Dataset> dataset = {};  // with all its grants
};
// For an owner as for anybody else who may see the dataset; for administrators every dataset has its name.
absl::StatusOr<ResolvedRole> Resolve(IdentityServices& services, const Principal& actor,
                                     const RoleOrder& order) {
  if (order.dataset.empty()) return ResolvedRole();
  ASSIGN_OR_RETURN(const Snapshot directory, services.directory.Current());
  if (!directory->HasRole(directory::Role::kAdministrator, actor.name())) {
    ASSIGN_OR_RETURN(const DatasetView view,
                     FindDataset({services.ledger, &services.directory}, Method::kGetDataset, actor,
                                 DatasetName(order.dataset)));
    RETURN_IF_ERROR(CheckIsOwner(view.record, actor));
  }
  ASSIGN_OR_RETURN(ledger::Dataset dataset, services.ledger.GetDataset(order.dataset));
  return ResolvedRole{
      .dataset_id = dataset.id, .is_owner = dataset.owner == actor.name(), .dataset = std::move(dataset)};
}

absl::StatusOr<directory::RoleFacts> FactsOf(IdentityServices& services, const RoleOrder& order,
                                             const ResolvedRole& resolved) {
  directory::RoleFacts facts{.is_owner = resolved.is_owner};
  ASSIGN_OR_RETURN(facts.holder_has_data, services.ledger.KnowsPrincipal(order.principal));
  if (!resolved.dataset) return facts;
  constexpr int64_t kSpends = ledger::kGrantedAnalyst | ledger::kGrantedService;
  facts.holder_uses_dataset = resolved.dataset->owner == order.principal ||
                              std::ranges::any_of(resolved.dataset->grants, [&](const ledger::Grant& grant) {
                                return grant.grantee == order.principal && (grant.roles & kSpends) != 0;
                              });
  return facts;
}

absl::StatusOr<RoleView> FindRole(IdentityServices& services, const RoleOrder& order,
                                  const std::string& dataset_id) {
  ASSIGN_OR_RETURN(const Snapshot directory, services.directory.Current());
  const directory::RoleBinding* const found = directory->FindRole(order.role, order.principal, dataset_id);
  if (found == nullptr) return absl::AbortedError("the role was taken away meanwhile");
  return RoleView{.binding = *found, .dataset = order.dataset};
}

}  // namespace

// ---- Principals

absl::StatusOr<PrincipalView> ViewPrincipal(IdentityServices& services, std::string_view name) {
  ASSIGN_OR_RETURN(const Snapshot directory, services.directory.Current());
  return ViewIn(services, *directory, name);
}

absl::StatusOr<PrincipalView> CreatePrincipal(IdentityServices& services, const Principal& actor,
                                              const std::string& name, directory::PrincipalKind kind) {
  RETURN_IF_ERROR(CheckPrincipalName(name));
  ASSIGN_OR_RETURN(const bool is_known, services.ledger.KnowsPrincipal(name));
  RETURN_IF_ERROR(MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::CreatePrincipal(directory, asked, {.name = name, .kind = kind, .has_rights = is_known});
  }));
  return ViewPrincipal(services, name);
}

absl::StatusOr<PrincipalView> DisablePrincipal(IdentityServices& services, const Principal& actor,
                                               const std::string& name, const std::string& reason) {
  RETURN_IF_ERROR(MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::DisablePrincipal(directory, asked, {.name = name, .reason = reason});
  }));
  return ViewPrincipal(services, name);
}

absl::StatusOr<PrincipalView> EnablePrincipal(IdentityServices& services, const Principal& actor,
                                              const std::string& name, const std::string& reason) {
  RETURN_IF_ERROR(MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::EnablePrincipal(directory, asked, {.name = name, .reason = reason});
  }));
  return ViewPrincipal(services, name);
}

absl::StatusOr<std::string> ForgetPrincipal(IdentityServices& services, const Principal& actor,
                                            const std::string& name, const std::string& reason) {
  ASSIGN_OR_RETURN(const Snapshot current, services.directory.Current());
  RETURN_IF_ERROR(CheckIsAdministrator(*current, actor));
  directory::ForgettingFacts facts{.after_us = services.forget_after_us};
  // A disabled principal makes no dataset, so that this stays as it is.
  ASSIGN_OR_RETURN(facts.owns_open_dataset, services.ledger.OwnsOpenDataset(name));
  std::string pseudonym;
  RETURN_IF_ERROR(MakeBy(
      services, actor.name(), [&](const Directory& directory, const Asked& asked) -> absl::StatusOr<Change> {
        ASSIGN_OR_RETURN(const Change change,
                         directory::ForgetPrincipal(directory, asked, name, reason, facts));
        pseudonym = std::get<directory::PrincipalForgotten>(change).pseudonym;
        return change;
      }));
  return pseudonym;
}

absl::StatusOr<PrincipalView> GetPrincipal(IdentityServices& services, const Principal& actor,
                                           const std::string& name) {
  ASSIGN_OR_RETURN(const Snapshot directory, services.directory.Current());
  if (name != actor.name()) RETURN_IF_ERROR(CheckIsAdministrator(*directory, actor));
  return ViewIn(services, *directory, name);
}

absl::StatusOr<std::vector<PrincipalView>> ListPrincipals(IdentityServices& services, const Principal& actor,
                                                          const std::string& after, int64_t limit) {
  ASSIGN_OR_RETURN(const Snapshot directory, services.directory.Current());
  RETURN_IF_ERROR(CheckIsAdministrator(*directory, actor));
  std::vector<PrincipalView> page;
  for (const directory::PrincipalRecord* record :
       directory->ListPrincipals(after, static_cast<size_t>(limit))) {
    ASSIGN_OR_RETURN(PrincipalView view, ViewIn(services, *directory, record->name));
    page.push_back(std::move(view));
  }
  return page;
}

// ---- Credentials

absl::StatusOr<directory::Credential> LinkIdentity(IdentityServices& services, const Principal& actor,
                                                   const std::string& principal,
                                                   const directory::Identity& identity,
                                                   const std::string& label) {
  if (identity.kind == directory::CredentialKind::kApiToken) {
    return InvalidField("identity.kind", "must be OIDC or CERTIFICATE: an API token is created, not linked");
  }
  const std::string id = auth::MakeShortId(services.entropy);
  RETURN_IF_ERROR(MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::AddIdentity(directory, asked,
                                  {.id = id, .principal = principal, .identity = identity, .label = label});
  }));
  return FindCredential(services, id);
}

absl::StatusOr<NewApiToken> CreateApiToken(IdentityServices& services, const Principal& actor,
                                           const std::string& principal, const std::string& label,
                                           int64_t expires_at_us) {
  const auth::ApiToken token = auth::MakeApiToken(services.entropy);
  RETURN_IF_ERROR(MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::AddToken(
        directory, asked,
        {.id = token.id,
         .principal = principal.empty() ? actor.name() : principal,
         .identity = {.kind = directory::CredentialKind::kApiToken, .issuer = {}, .subject = token.id},
         .secret_hash = services.hash_of_secret(token.secret),
         .label = label,
         .expires_at_us = expires_at_us});
  }));
  ASSIGN_OR_RETURN(directory::Credential credential, FindCredential(services, token.id));
  return NewApiToken{.credential = std::move(credential), .text = auth::FormatApiToken(token)};
}

absl::StatusOr<directory::Credential> ApproveCredential(IdentityServices& services, const Principal& actor,
                                                        const std::string& credential_id) {
  RETURN_IF_ERROR(MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::ApproveCredential(directory, asked, {.id = credential_id});
  }));
  return FindCredential(services, credential_id);
}

absl::Status RemoveCredential(IdentityServices& services, const Principal& actor,
                              const std::string& credential_id, const std::string& reason) {
  return MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::RemoveCredential(directory, asked, {.id = credential_id, .reason = reason});
  });
}

// ---- Enrolments

namespace {

// Whom a code is for: the actor of what its use changes. The entry needs one also when there is no enrolment.
std::string PrincipalOfEnrolment(const Directory& directory, std::string_view enrolment_id) {
  const directory::Enrolment* const found = directory.FindEnrolment(enrolment_id);
  return found == nullptr ? directory::kIssuerActor : found->principal;
}

absl::StatusOr<NewEnrolment> OpenEnrolmentBy(IdentityServices& services, const std::string& actor,
                                             directory::EnrolmentOpened wanted, bool break_glass) {
  const auth::ApiToken code = auth::MakeApiToken(services.entropy);
  wanted.id = code.id;
  wanted.code_hash = services.hash_of_secret(code.secret);
  wanted.expires_at_us = services.now_us() + directory::kEnrolmentLifetimeUs;
  RETURN_IF_ERROR(MakeBy(services, actor, [&](const Directory& directory, const Asked& asked) {
    return directory::OpenEnrolment(directory, asked, wanted, break_glass);
  }));
  return NewEnrolment{.code = auth::FormatApiToken(code, auth::kEnrolmentPrefix),
                      .expires_at_us = wanted.expires_at_us};
}

}  // namespace

absl::StatusOr<NewEnrolment> OpenEnrolment(IdentityServices& services, const Principal& actor,
                                           const directory::Identity& identity) {
  return OpenEnrolmentBy(services, actor.name(), {.principal = actor.name(), .identity = identity}, false);
}

absl::StatusOr<NewEnrolment> OpenEnrolmentOnHost(IdentityServices& services, const std::string& name,
                                                 const directory::Identity& identity, bool break_glass) {
  ASSIGN_OR_RETURN(const Snapshot directory, services.directory.Current());
  if (directory->FindPrincipal(name) == nullptr) {
    RETURN_IF_ERROR(CheckPrincipalName(name));
    ASSIGN_OR_RETURN(const bool is_known, services.ledger.KnowsPrincipal(name));
    RETURN_IF_ERROR(MakeBy(services, directory::kHostActor, [&](const Directory& now, const Asked& asked) {
      return directory::CreatePrincipal(now, asked, {.name = name, .has_rights = is_known});
    }));
  }
  return OpenEnrolmentBy(services, directory::kHostActor,
                         {.principal = name, .identity = identity, .makes_administrator = true}, break_glass);
}

absl::StatusOr<std::string> UseEnrolment(IdentityServices& services, const directory::Identity& identity,
                                         const std::string& code) {
  const absl::StatusOr<auth::ApiToken> parsed = auth::ParseApiToken(code, auth::kEnrolmentPrefix);
  if (!parsed.ok()) return InvalidField("code", std::string(parsed.status().message()));
  const std::string credential_id = auth::MakeShortId(services.entropy);
  const std::string hash = services.hash_of_secret(parsed->secret);
  // It may have been opened by another process just now.
  RETURN_IF_ERROR(services.directory.Refresh());
  ASSIGN_OR_RETURN(const Snapshot directory, services.directory.Current());
  const std::string principal = PrincipalOfEnrolment(*directory, parsed->id);
  bool is_wrong = false;
  RETURN_IF_ERROR(
      MakeBy(services, principal, [&](const Directory& now, const Asked& asked) -> absl::StatusOr<Change> {
        ASSIGN_OR_RETURN(const Change change, directory::UseEnrolment(now, asked,
                                                                      {.enrolment_id = parsed->id,
                                                                       .identity = identity,
                                                                       .code_hash = hash,
                                                                       .credential_id = credential_id}));
        is_wrong = std::holds_alternative<directory::EnrolmentTried>(change);
        return change;
      }));
  if (is_wrong) return absl::NotFoundError("the code is wrong: after five wrong ones it ends");
  return principal;
}

absl::StatusOr<std::string> Register(IdentityServices& services, const directory::Identity& identity,
                                     const std::string& name) {
  const std::optional<std::string> alias = identity.kind == directory::CredentialKind::kOidc
                                               ? services.alias_for_registering(identity.issuer)
                                               : std::nullopt;
  if (!alias.has_value()) {
    return absl::PermissionDeniedError(
        "this issuer's identities do not register without a code: ask an administrator to link your identity "
        "to a principal");
  }
  std::string wanted = absl::StrCat(*alias, ".", CleanName(name.empty() ? identity.subject : name));
  ASSIGN_OR_RETURN(const Snapshot directory, services.directory.Current());
  ASSIGN_OR_RETURN(const bool is_known, services.ledger.KnowsPrincipal(wanted));
  if (is_known || directory->FindPrincipal(wanted) != nullptr) {
    const std::string tail = Sha256(absl::StrCat(identity.issuer, " ", identity.subject));
    absl::StrAppend(&wanted, "-", auth::MakeShortId([&](size_t bytes) { return tail.substr(0, bytes); }));
  }
  const std::string credential_id = auth::MakeShortId(services.entropy);
  RETURN_IF_ERROR(MakeBy(services, directory::kIssuerActor, [&](const Directory& now, const Asked&) {
    return directory::RegisterPrincipal(
        now, {.name = wanted, .credential_id = credential_id, .identity = identity});
  }));
  return wanted;
}

// ---- Roles

absl::StatusOr<RoleView> BindRole(IdentityServices& services, const Principal& actor,
                                  const RoleOrder& order) {
  ASSIGN_OR_RETURN(const ResolvedRole resolved, Resolve(services, actor, order));
  ASSIGN_OR_RETURN(const directory::RoleFacts facts, FactsOf(services, order, resolved));
  RETURN_IF_ERROR(MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::BindRole(
        directory, asked,
        {.role = order.role, .principal = order.principal, .dataset_id = resolved.dataset_id}, facts);
  }));
  return FindRole(services, order, resolved.dataset_id);
}

absl::StatusOr<RoleView> ApproveRole(IdentityServices& services, const Principal& actor,
                                     const RoleOrder& order) {
  ASSIGN_OR_RETURN(const ResolvedRole resolved, Resolve(services, actor, order));
  RETURN_IF_ERROR(MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::ApproveRole(
        directory, asked,
        {.role = order.role, .principal = order.principal, .dataset_id = resolved.dataset_id});
  }));
  return FindRole(services, order, resolved.dataset_id);
}

absl::Status UnbindRole(IdentityServices& services, const Principal& actor, const RoleOrder& order) {
  ASSIGN_OR_RETURN(const ResolvedRole resolved, Resolve(services, actor, order));
  return MakeBy(services, actor.name(), [&](const Directory& directory, const Asked& asked) {
    return directory::UnbindRole(
        directory, asked,
        {.role = order.role, .principal = order.principal, .dataset_id = resolved.dataset_id},
        resolved.is_owner);
  });
}

}  // namespace curator::service
