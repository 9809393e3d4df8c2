// The client's calls about principals, their credentials, roles and quotas.
#include <utility>

#include "client/client.h"
#include "client/wire.h"

namespace curator {

using client::Change;
using client::Once;
using client::Pages;
using client::Read;

absl::StatusOr<v1::WhoAmIResponse> Client::WhoAmI() const {
  return Read(wire_->connection, wire_->identities, &v1::IdentityService::Stub::WhoAmI, v1::WhoAmIRequest());
}

absl::StatusOr<v1::PrincipalInfo> Client::GetPrincipal(const std::string& name) const {
  v1::GetPrincipalRequest request;
  request.set_name(name);
  return Read(wire_->connection, wire_->identities, &v1::IdentityService::Stub::GetPrincipal, request);
}

absl::StatusOr<v1::GetQuotasResponse> Client::GetQuotas(const std::string& principal) const {
  v1::GetQuotasRequest request;
  request.set_principal(principal);
  return Read(wire_->connection, wire_->identities, &v1::IdentityService::Stub::GetQuotas, request);
}

absl::StatusOr<v1::ListPrincipalsResponse> Client::ListPrincipals(int64_t most) const {
  return Pages<v1::ListPrincipalsResponse>(most, v1::ListPrincipalsRequest(), [&](const auto& request) {
    return Read(wire_->connection, wire_->identities, &v1::IdentityService::Stub::ListPrincipals, request);
  });
}

absl::StatusOr<v1::WhoAmIResponse> Client::Enrol(const v1::EnrolRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::Enrol, request);
}

absl::StatusOr<v1::OpenEnrolmentResponse> Client::OpenEnrolment(
    const v1::OpenEnrolmentRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::OpenEnrolment, request);
}

absl::StatusOr<v1::PrincipalInfo> Client::CreatePrincipal(const v1::CreatePrincipalRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::CreatePrincipal, request);
}

absl::StatusOr<v1::PrincipalInfo> Client::DisablePrincipal(const v1::DisablePrincipalRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::DisablePrincipal, request);
}

absl::StatusOr<v1::PrincipalInfo> Client::EnablePrincipal(const v1::EnablePrincipalRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::EnablePrincipal, request);
}

absl::StatusOr<v1::ForgetPrincipalResponse> Client::ForgetPrincipal(
    const v1::ForgetPrincipalRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::ForgetPrincipal, request);
}

absl::StatusOr<v1::Credential> Client::LinkIdentity(const v1::LinkIdentityRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::LinkIdentity, request);
}

absl::StatusOr<v1::CreateApiTokenResponse> Client::CreateApiToken(
    const v1::CreateApiTokenRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::CreateApiToken, request);
}

absl::StatusOr<v1::Credential> Client::ApproveCredential(const v1::ApproveCredentialRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::ApproveCredential, request);
}

absl::StatusOr<v1::RemoveCredentialResponse> Client::RemoveCredential(
    const v1::RemoveCredentialRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::RemoveCredential, request);
}

absl::StatusOr<v1::RoleBinding> Client::BindRole(const v1::BindRoleRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::BindRole, request);
}

absl::StatusOr<v1::RoleBinding> Client::ApproveRole(const v1::ApproveRoleRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::ApproveRole, request);
}

absl::StatusOr<v1::UnbindRoleResponse> Client::UnbindRole(const v1::UnbindRoleRequest& request) const {
  return Once(wire_->connection, wire_->identities, &v1::IdentityService::Stub::UnbindRole, request);
}

}  // namespace curator
