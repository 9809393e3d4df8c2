// curator.v1.IdentityService: one use case behind each method.
#pragma once

#include "curator/v1/identity.grpc.pb.h"
#include "rpc/handle.h"
#include "service/identity/identities.h"

namespace curator::rpc {

class IdentityRpc final : public v1::IdentityService::CallbackService {
 public:
  // `identities` is null in development mode, where nobody has any: then all methods but WhoAmI are
  // FAILED_PRECONDITION.
  IdentityRpc(Calls& calls, service::IdentityServices* identities) : calls_(calls), identities_(identities) {}

  grpc::ServerUnaryReactor* WhoAmI(grpc::CallbackServerContext* context, const v1::WhoAmIRequest* request,
                                   v1::WhoAmIResponse* response) override;
  grpc::ServerUnaryReactor* CreatePrincipal(grpc::CallbackServerContext* context,
                                            const v1::CreatePrincipalRequest* request,
                                            v1::PrincipalInfo* response) override;
  grpc::ServerUnaryReactor* DisablePrincipal(grpc::CallbackServerContext* context,
                                             const v1::DisablePrincipalRequest* request,
                                             v1::PrincipalInfo* response) override;
  grpc::ServerUnaryReactor* EnablePrincipal(grpc::CallbackServerContext* context,
                                            const v1::EnablePrincipalRequest* request,
                                            v1::PrincipalInfo* response) override;
  grpc::ServerUnaryReactor* ForgetPrincipal(grpc::CallbackServerContext* context,
                                            const v1::ForgetPrincipalRequest* request,
                                            v1::ForgetPrincipalResponse* response) override;
  grpc::ServerUnaryReactor* GetPrincipal(grpc::CallbackServerContext* context,
                                         const v1::GetPrincipalRequest* request,
                                         v1::PrincipalInfo* response) override;
  grpc::ServerUnaryReactor* ListPrincipals(grpc::CallbackServerContext* context,
                                           const v1::ListPrincipalsRequest* request,
                                           v1::ListPrincipalsResponse* response) override;
  grpc::ServerUnaryReactor* LinkIdentity(grpc::CallbackServerContext* context,
                                         const v1::LinkIdentityRequest* request,
                                         v1::Credential* response) override;
  grpc::ServerUnaryReactor* CreateApiToken(grpc::CallbackServerContext* context,
                                           const v1::CreateApiTokenRequest* request,
                                           v1::CreateApiTokenResponse* response) override;
  grpc::ServerUnaryReactor* ApproveCredential(grpc::CallbackServerContext* context,
                                              const v1::ApproveCredentialRequest* request,
                                              v1::Credential* response) override;
  grpc::ServerUnaryReactor* RemoveCredential(grpc::CallbackServerContext* context,
                                             const v1::RemoveCredentialRequest* request,
                                             v1::RemoveCredentialResponse* response) override;
  grpc::ServerUnaryReactor* OpenEnrolment(grpc::CallbackServerContext* context,
                                          const v1::OpenEnrolmentRequest* request,
                                          v1::OpenEnrolmentResponse* response) override;
  grpc::ServerUnaryReactor* Enrol(grpc::CallbackServerContext* context, const v1::EnrolRequest* request,
                                  v1::WhoAmIResponse* response) override;
  grpc::ServerUnaryReactor* BindRole(grpc::CallbackServerContext* context, const v1::BindRoleRequest* request,
                                     v1::RoleBinding* response) override;
  grpc::ServerUnaryReactor* ApproveRole(grpc::CallbackServerContext* context,
                                        const v1::ApproveRoleRequest* request,
                                        v1::RoleBinding* response) override;
  grpc::ServerUnaryReactor* UnbindRole(grpc::CallbackServerContext* context,
                                       const v1::UnbindRoleRequest* request,
                                       v1::UnbindRoleResponse* response) override;
  grpc::ServerUnaryReactor* GetQuotas(grpc::CallbackServerContext* context,
                                      const v1::GetQuotasRequest* request,
                                      v1::GetQuotasResponse* response) override;

 private:
  // Handle() with the use cases instead of the services: absl::Status(identities, call, request, response).
  template <Method kMethod, typename Request, typename Response>
  grpc::ServerUnaryReactor* HandleIdentity(const grpc::CallbackServerContext& context, const Request& request,
                                           Response& response,
                                           absl::Status (*handler)(service::IdentityServices&, const Call&,
                                                                   const Request&, Response&));

  Calls& calls_;
  service::IdentityServices* const identities_;
};

}  // namespace curator::rpc
