// curator.v1.AuditService: the records of calls, for auditors of the server.
#pragma once

#include "audit/audit_followers.h"
#include "audit/audit_record.h"
#include "audit/audit_store.h"
#include "curator/v1/audit.grpc.pb.h"
#include "curator/v1/audit.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {

class AuditRpc final : public v1::AuditService::CallbackService {
 public:
  AuditRpc(Calls& calls, audit::AuditStore& store, audit::AuditFollowers& followers)
      : calls_(calls), store_(store), followers_(followers) {}

  grpc::ServerUnaryReactor* ListAuditRecords(grpc::CallbackServerContext* context,
                                             const v1::ListAuditRecordsRequest* request,
                                             v1::ListAuditRecordsResponse* response) override;
  // Sends what is new, and holds no thread.
  grpc::ServerWriteReactor<v1::AuditRecord>* WatchAudit(grpc::CallbackServerContext* context,
                                                        const v1::WatchAuditRequest* request) override;

 private:
  Calls& calls_;
  audit::AuditStore& store_;
  audit::AuditFollowers& followers_;
};

}  // namespace curator::rpc
