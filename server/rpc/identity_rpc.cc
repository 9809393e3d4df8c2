#include "rpc/identity_rpc.h"

#include <string>
#include <vector>

#include "base/errors.h"
#include "base/status_macros.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/page.h"

namespace curator::rpc {
namespace {

using google::protobuf::util::TimeUtil;

// ---- To and from protobuf: enumerations have the same numbers.

absl::StatusOr<directory::Identity> IdentityOf(const v1::Identity& proto) {
  if (!v1::Identity::Kind_IsValid(proto.kind()) || proto.kind() == v1::Identity::KIND_UNSPECIFIED) {
    return InvalidField("identity.kind", "must be OIDC or CERTIFICATE");
  }
  return directory::Identity{.kind = static_cast<directory::CredentialKind>(proto.kind()),
                             .issuer = proto.issuer(),
                             .subject = proto.subject()};
}

absl::StatusOr<service::RoleOrder> RoleOrderOf(v1::RoleBinding::Role role, const std::string& principal,
                                               const std::string& dataset) {
  if (!v1::RoleBinding::Role_IsValid(role) || role == v1::RoleBinding::ROLE_UNSPECIFIED) {
    return InvalidField("role", "must be ADMINISTRATOR or APPROVER");
  }
  return service::RoleOrder{
      .role = static_cast<directory::Role>(role), .principal = principal, .dataset = dataset};
}

v1::Credential MessageOf(const directory::Credential& credential) {
  v1::Credential proto;
  proto.set_id(credential.id);
  proto.set_principal(credential.principal);
  proto.mutable_identity()->set_kind(static_cast<v1::Identity::Kind>(credential.identity.kind));
  proto.mutable_identity()->set_issuer(credential.identity.issuer);
  proto.mutable_identity()->set_subject(credential.identity.subject);
  proto.set_label(credential.label);
  proto.set_basis(static_cast<v1::Credential::Basis>(credential.basis));
  proto.set_added_by(credential.added_by);
  proto.set_approved_by(credential.approved_by);
  proto.set_pending(credential.is_pending);
  *proto.mutable_add_time() = TimeUtil::MicrosecondsToTimestamp(credential.added_at_us);
  if (credential.expires_at_us > 0) {
    *proto.mutable_expire_time() = TimeUtil::MicrosecondsToTimestamp(credential.expires_at_us);
  }
  return proto;
}

v1::RoleBinding MessageOf(const service::RoleView& role) {
  v1::RoleBinding proto;
  proto.set_role(static_cast<v1::RoleBinding::Role>(role.binding.role));
  proto.set_principal(role.binding.principal);
  proto.set_dataset(role.dataset);
  proto.set_bound_by(role.binding.bound_by);
  proto.set_approved_by(role.binding.approved_by);
  proto.set_pending(role.binding.is_pending);
  return proto;
}

v1::PrincipalInfo MessageOf(const service::PrincipalView& view) {
  v1::PrincipalInfo proto;
  proto.set_name(view.record.name);
  proto.set_kind(static_cast<v1::PrincipalInfo::Kind>(view.record.kind));
  proto.set_disabled(view.record.is_disabled);
  proto.set_created_by(view.record.created_by);
  *proto.mutable_create_time() = TimeUtil::MicrosecondsToTimestamp(view.record.created_at_us);
  for (const directory::Credential& credential : view.credentials) {
    *proto.add_credentials() = MessageOf(credential);
  }
  for (const service::RoleView& role : view.roles) *proto.add_roles() = MessageOf(role);
  return proto;
}

// The answer to who proved this.
absl::Status Describe(service::IdentityServices& identities, const std::string& principal, const Proof& proof,
                      v1::WhoAmIResponse& response) {
  ASSIGN_OR_RETURN(const service::PrincipalView view, service::ViewPrincipal(identities, principal));
  *response.mutable_principal() = MessageOf(view);
  for (const directory::Credential& credential : view.credentials) {
    if (credential.identity == proof.identity) response.set_credential_id(credential.id);
  }
  ASSIGN_OR_RETURN(*response.mutable_pseudonym(), identities.ledger.PseudonymOf(principal));
  if (proof.expires != absl::InfiniteFuture()) {
    *response.mutable_expire_time() = TimeUtil::MicrosecondsToTimestamp(absl::ToUnixMicros(proof.expires));
  }
  return absl::OkStatus();
}

// ---- Handlers

absl::Status CreatePrincipal(service::IdentityServices& identities, const Call& call,
                             const v1::CreatePrincipalRequest& request, v1::PrincipalInfo& response) {
  if (!v1::PrincipalInfo::Kind_IsValid(request.kind()) || request.kind() == 0) {
    return InvalidField("kind", "must be PERSON or SERVICE");
  }
  ASSIGN_OR_RETURN(const service::PrincipalView made,
                   service::CreatePrincipal(identities, call.principal(), request.name(),
                                            static_cast<directory::PrincipalKind>(request.kind())));
  response = MessageOf(made);
  return absl::OkStatus();
}

absl::Status DisablePrincipal(service::IdentityServices& identities, const Call& call,
                              const v1::DisablePrincipalRequest& request, v1::PrincipalInfo& response) {
  ASSIGN_OR_RETURN(const service::PrincipalView disabled,
                   service::DisablePrincipal(identities, call.principal(), request.name(), request.reason()));
  response = MessageOf(disabled);
  return absl::OkStatus();
}

absl::Status EnablePrincipal(service::IdentityServices& identities, const Call& call,
                             const v1::EnablePrincipalRequest& request, v1::PrincipalInfo& response) {
  ASSIGN_OR_RETURN(const service::PrincipalView enabled,
                   service::EnablePrincipal(identities, call.principal(), request.name(), request.reason()));
  response = MessageOf(enabled);
  return absl::OkStatus();
}

absl::Status ForgetPrincipal(service::IdentityServices& identities, const Call& call,
                             const v1::ForgetPrincipalRequest& request,
                             v1::ForgetPrincipalResponse& response) {
  ASSIGN_OR_RETURN(*response.mutable_pseudonym(),
                   service::ForgetPrincipal(identities, call.principal(), request.name(), request.reason()));
  return absl::OkStatus();
}

absl::Status GetPrincipal(service::IdentityServices& identities, const Call& call,
                          const v1::GetPrincipalRequest& request, v1::PrincipalInfo& response) {
  ASSIGN_OR_RETURN(const service::PrincipalView found,
                   service::GetPrincipal(identities, call.principal(), request.name()));
  response = MessageOf(found);
  return absl::OkStatus();
}

absl::Status ListPrincipals(service::IdentityServices& identities, const Call& call,
                            const v1::ListPrincipalsRequest& request, v1::ListPrincipalsResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "principals"));
  ASSIGN_OR_RETURN(const std::vector<service::PrincipalView> principals,
                   service::ListPrincipals(identities, call.principal(), page.after, page.size));
  for (const service::PrincipalView& each : principals) *response.add_principals() = MessageOf(each);
  if (static_cast<int64_t>(principals.size()) == page.size) {
    response.set_next_page_token(page.TokenAfter(principals.back().record.name));
  }
  return absl::OkStatus();
}

absl::Status LinkIdentity(service::IdentityServices& identities, const Call& call,
                          const v1::LinkIdentityRequest& request, v1::Credential& response) {
  ASSIGN_OR_RETURN(const directory::Identity identity, IdentityOf(request.identity()));
  ASSIGN_OR_RETURN(
      const directory::Credential linked,
      service::LinkIdentity(identities, call.principal(), request.principal(), identity, request.label()));
  response = MessageOf(linked);
  return absl::OkStatus();
}

absl::Status CreateApiToken(service::IdentityServices& identities, const Call& call,
                            const v1::CreateApiTokenRequest& request, v1::CreateApiTokenResponse& response) {
  const google::protobuf::Timestamp& expires = request.expire_time();
  if (expires.seconds() < TimeUtil::kTimestampMinSeconds ||
      expires.seconds() > TimeUtil::kTimestampMaxSeconds) {
    return InvalidField("expire_time", "must be a time within 366 days from now");
  }
  ASSIGN_OR_RETURN(const service::NewApiToken made,
                   service::CreateApiToken(identities, call.principal(), request.principal(), request.label(),
                                           TimeUtil::TimestampToMicroseconds(expires)));
  *response.mutable_credential() = MessageOf(made.credential);
  response.set_token(made.text);
  return absl::OkStatus();
}

absl::Status ApproveCredential(service::IdentityServices& identities, const Call& call,
                               const v1::ApproveCredentialRequest& request, v1::Credential& response) {
  ASSIGN_OR_RETURN(const directory::Credential approved,
                   service::ApproveCredential(identities, call.principal(), request.credential_id()));
  response = MessageOf(approved);
  return absl::OkStatus();
}

absl::Status RemoveCredential(service::IdentityServices& identities, const Call& call,
                              const v1::RemoveCredentialRequest& request, v1::RemoveCredentialResponse&) {
  return service::RemoveCredential(identities, call.principal(), request.credential_id(), request.reason());
}

absl::Status OpenEnrolment(service::IdentityServices& identities, const Call& call,
                           const v1::OpenEnrolmentRequest& request, v1::OpenEnrolmentResponse& response) {
  ASSIGN_OR_RETURN(const directory::Identity identity, IdentityOf(request.identity()));
  ASSIGN_OR_RETURN(const service::NewEnrolment opened,
                   service::OpenEnrolment(identities, call.principal(), identity));
  response.set_code(opened.code);
  *response.mutable_expire_time() = TimeUtil::MicrosecondsToTimestamp(opened.expires_at_us);
  return absl::OkStatus();
}

absl::Status BindRole(service::IdentityServices& identities, const Call& call,
                      const v1::BindRoleRequest& request, v1::RoleBinding& response) {
  ASSIGN_OR_RETURN(const service::RoleOrder order,
                   RoleOrderOf(request.role(), request.principal(), request.dataset()));
  ASSIGN_OR_RETURN(const service::RoleView bound, service::BindRole(identities, call.principal(), order));
  response = MessageOf(bound);
  return absl::OkStatus();
}

absl::Status ApproveRole(service::IdentityServices& identities, const Call& call,
                         const v1::ApproveRoleRequest& request, v1::RoleBinding& response) {
  ASSIGN_OR_RETURN(const service::RoleOrder order,
                   RoleOrderOf(request.role(), request.principal(), request.dataset()));
  ASSIGN_OR_RETURN(const service::RoleView approved,
                   service::ApproveRole(identities, call.principal(), order));
  response = MessageOf(approved);
  return absl::OkStatus();
}

absl::Status UnbindRole(service::IdentityServices& identities, const Call& call,
                        const v1::UnbindRoleRequest& request, v1::UnbindRoleResponse&) {
  ASSIGN_OR_RETURN(const service::RoleOrder order,
                   RoleOrderOf(request.role(), request.principal(), request.dataset()));
  return service::UnbindRole(identities, call.principal(), order);
}

// ---- Quotas

using service::QuotaView;

std::vector<QuotaView> QuotasOfCalls(const Quotas& quotas, const Admission& admission,
                                     const std::string& principal) {
  const Admission::InUse used = admission.UsedBy(principal);
  const auto places = [&](const char* name, CallKind kind) {
    return QuotaView{.name = name,
                     .limit = admission.MostOf(kind, principal),
                     .used = used.places[static_cast<size_t>(kind)]};
  };
  // What is used of the rate is what is used of the calls at once.
  return {
      {.name = "calls_per_second", .limit = quotas.calls_per_second, .period = absl::Seconds(1)},
      {.name = "calls_after_a_pause", .limit = quotas.calls_after_a_pause, .used = used.calls_after_a_pause},
      places("concurrent_calls", CallKind::kCall),
      places("concurrent_imports", CallKind::kStream),
      places("watches", CallKind::kWatch)};
}

std::vector<QuotaView> QuotasOfTheCommandLine(service::Services& services, const std::string& principal) {
  return {{.name = "charges_per_day",
           .limit = services.daily.most(),
           .period = absl::Hours(24),
           .used = services.daily.MadeBy(principal)},
          {.name = "syntheses",
           .limit = services.work.most_places_of_one(),
           .used = services.work.PlacesOf(principal)}};
}

void AppendQuotas(const std::vector<QuotaView>& quotas, v1::GetQuotasResponse& response) {
  for (const QuotaView& quota : quotas) {
    v1::Quota& proto = *response.add_quotas();
    proto.set_name(quota.name);
    proto.set_limit(quota.limit);
    if (quota.period > absl::ZeroDuration()) {
      *proto.mutable_period() =
          google::protobuf::util::TimeUtil::SecondsToDuration(absl::ToInt64Seconds(quota.period));
    }
    if (quota.used) proto.set_used(*quota.used);
  }
}

// In the order of the configuration, with what is set on the command line at the end.
absl::Status ListQuotas(service::Services& services, const Admission& admission, const std::string& principal,
                        v1::GetQuotasResponse& response) {
  if (services.quotas == nullptr) {
    return absl::FailedPreconditionError("a server in development mode has no quotas");
  }
  ASSIGN_OR_RETURN(const std::vector<QuotaView> counted, services.quotas->List(services.ledger, principal));
  response.set_principal(principal);
  AppendQuotas(QuotasOfCalls(services.quotas->Of(principal), admission, principal), response);
  AppendQuotas(counted, response);
  AppendQuotas(QuotasOfTheCommandLine(services, principal), response);
  return absl::OkStatus();
}

absl::Status NoIdentities() {
  return absl::FailedPreconditionError(
      "a server in development mode knows no identities: it believes any name");
}

}  // namespace

template <Method kMethod, typename Request, typename Response>
grpc::ServerUnaryReactor* IdentityRpc::HandleIdentity(
    const grpc::CallbackServerContext& context, const Request& request, Response& response,
    absl::Status (*handler)(service::IdentityServices&, const Call&, const Request&, Response&)) {
  return Handle<kMethod>(calls_, context, request, response,
                         [identities = identities_, handler](service::Services&, const Call& call,
                                                             const Request& asked, Response& answer) {
                           return identities == nullptr ? NoIdentities()
                                                        : handler(*identities, call, asked, answer);
                         });
}

grpc::ServerUnaryReactor* IdentityRpc::WhoAmI(grpc::CallbackServerContext* context,
                                              const v1::WhoAmIRequest* request,
                                              v1::WhoAmIResponse* response) {
  return Handle<Method::kWhoAmI>(
      calls_, *context, *request, *response,
      [identities = identities_](service::Services& services, const Call& call, const v1::WhoAmIRequest&,
                                 v1::WhoAmIResponse& answer) -> absl::Status {
        if (identities != nullptr) {
          return Describe(*identities, call.principal().name(), call.proof(), answer);
        }
        answer.mutable_principal()->set_name(call.principal().name());
        ASSIGN_OR_RETURN(*answer.mutable_pseudonym(), services.ledger.PseudonymOf(call.principal().name()));
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* IdentityRpc::CreatePrincipal(grpc::CallbackServerContext* context,
                                                       const v1::CreatePrincipalRequest* request,
                                                       v1::PrincipalInfo* response) {
  return HandleIdentity<Method::kCreatePrincipal>(*context, *request, *response, rpc::CreatePrincipal);
}

grpc::ServerUnaryReactor* IdentityRpc::DisablePrincipal(grpc::CallbackServerContext* context,
                                                        const v1::DisablePrincipalRequest* request,
                                                        v1::PrincipalInfo* response) {
  return HandleIdentity<Method::kDisablePrincipal>(*context, *request, *response, rpc::DisablePrincipal);
}

grpc::ServerUnaryReactor* IdentityRpc::EnablePrincipal(grpc::CallbackServerContext* context,
                                                       const v1::EnablePrincipalRequest* request,
                                                       v1::PrincipalInfo* response) {
  return HandleIdentity<Method::kEnablePrincipal>(*context, *request, *response, rpc::EnablePrincipal);
}

grpc::ServerUnaryReactor* IdentityRpc::ForgetPrincipal(grpc::CallbackServerContext* context,
                                                       const v1::ForgetPrincipalRequest* request,
                                                       v1::ForgetPrincipalResponse* response) {
  return HandleIdentity<Method::kForgetPrincipal>(*context, *request, *response, rpc::ForgetPrincipal);
}

grpc::ServerUnaryReactor* IdentityRpc::GetPrincipal(grpc::CallbackServerContext* context,
                                                    const v1::GetPrincipalRequest* request,
                                                    v1::PrincipalInfo* response) {
  return HandleIdentity<Method::kGetPrincipal>(*context, *request, *response, rpc::GetPrincipal);
}

grpc::ServerUnaryReactor* IdentityRpc::ListPrincipals(grpc::CallbackServerContext* context,
                                                      const v1::ListPrincipalsRequest* request,
                                                      v1::ListPrincipalsResponse* response) {
  return HandleIdentity<Method::kListPrincipals>(*context, *request, *response, rpc::ListPrincipals);
}

grpc::ServerUnaryReactor* IdentityRpc::LinkIdentity(grpc::CallbackServerContext* context,
                                                    const v1::LinkIdentityRequest* request,
                                                    v1::Credential* response) {
  return HandleIdentity<Method::kLinkIdentity>(*context, *request, *response, rpc::LinkIdentity);
}

grpc::ServerUnaryReactor* IdentityRpc::CreateApiToken(grpc::CallbackServerContext* context,
                                                      const v1::CreateApiTokenRequest* request,
                                                      v1::CreateApiTokenResponse* response) {
  return HandleIdentity<Method::kCreateApiToken>(*context, *request, *response, rpc::CreateApiToken);
}

grpc::ServerUnaryReactor* IdentityRpc::ApproveCredential(grpc::CallbackServerContext* context,
                                                         const v1::ApproveCredentialRequest* request,
                                                         v1::Credential* response) {
  return HandleIdentity<Method::kApproveCredential>(*context, *request, *response, rpc::ApproveCredential);
}

grpc::ServerUnaryReactor* IdentityRpc::RemoveCredential(grpc::CallbackServerContext* context,
                                                        const v1::RemoveCredentialRequest* request,
                                                        v1::RemoveCredentialResponse* response) {
  return HandleIdentity<Method::kRemoveCredential>(*context, *request, *response, rpc::RemoveCredential);
}

grpc::ServerUnaryReactor* IdentityRpc::OpenEnrolment(grpc::CallbackServerContext* context,
                                                     const v1::OpenEnrolmentRequest* request,
                                                     v1::OpenEnrolmentResponse* response) {
  return HandleIdentity<Method::kOpenEnrolment>(*context, *request, *response, rpc::OpenEnrolment);
}

grpc::ServerUnaryReactor* IdentityRpc::Enrol(grpc::CallbackServerContext* context,
                                             const v1::EnrolRequest* request, v1::WhoAmIResponse* response) {
  return HandleForIdentity(
      calls_, *context, [identities = identities_, request, response](const Proof& proof) -> absl::Status {
        if (identities == nullptr) return NoIdentities();
        ASSIGN_OR_RETURN(const std::string principal,
                         request->code().empty()
                             ? service::Register(*identities, proof.identity, proof.name)
                             : service::UseEnrolment(*identities, proof.identity, request->code()));
        return Describe(*identities, principal, proof, *response);
      });
}

grpc::ServerUnaryReactor* IdentityRpc::BindRole(grpc::CallbackServerContext* context,
                                                const v1::BindRoleRequest* request,
                                                v1::RoleBinding* response) {
  return HandleIdentity<Method::kBindRole>(*context, *request, *response, rpc::BindRole);
}

grpc::ServerUnaryReactor* IdentityRpc::ApproveRole(grpc::CallbackServerContext* context,
                                                   const v1::ApproveRoleRequest* request,
                                                   v1::RoleBinding* response) {
  return HandleIdentity<Method::kApproveRole>(*context, *request, *response, rpc::ApproveRole);
}

grpc::ServerUnaryReactor* IdentityRpc::UnbindRole(grpc::CallbackServerContext* context,
                                                  const v1::UnbindRoleRequest* request,
                                                  v1::UnbindRoleResponse* response) {
  return HandleIdentity<Method::kUnbindRole>(*context, *request, *response, rpc::UnbindRole);
}

grpc::ServerUnaryReactor* IdentityRpc::GetQuotas(grpc::CallbackServerContext* context,
                                                 const v1::GetQuotasRequest* request,
                                                 v1::GetQuotasResponse* response) {
  return Handle<Method::kGetQuotas>(
      calls_, *context, *request, *response,
      [identities = identities_, &admission = calls_.admission](
          service::Services& services, const Call& call, const v1::GetQuotasRequest& asked,
          v1::GetQuotasResponse& answer) -> absl::Status {
        if (identities == nullptr) return NoIdentities();
        const std::string& name = asked.principal().empty() ? call.principal().name() : asked.principal();
        // Whose quotas a caller may see is whom it may see.
        RETURN_IF_ERROR(service::GetPrincipal(*identities, call.principal(), name).status());
        return ListQuotas(services, admission, name, answer);
      });
}

}  // namespace curator::rpc
