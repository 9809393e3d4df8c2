// The connection of a client and its stubs, and calls with one response: with retries, page by page, and with
// a request id. For the files of this library alone.
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/error.h"
#include "client/request_id.h"
#include "curator/v1/accountant.grpc.pb.h"
#include "curator/v1/audit.grpc.pb.h"
#include "curator/v1/budget.grpc.pb.h"
#include "curator/v1/dataset.grpc.pb.h"
#include "curator/v1/identity.grpc.pb.h"
#include "curator/v1/metrics.grpc.pb.h"
#include "curator/v1/operation.grpc.pb.h"
#include "curator/v1/owner.grpc.pb.h"
#include "curator/v1/query.grpc.pb.h"
#include "curator/v1/synthesis.grpc.pb.h"
#include "curator/v1/version.grpc.pb.h"

namespace curator {

struct Client::Wire {
  explicit Wire(ClientOptions options)
      : connection({std::move(options.server), std::move(options.principal), options.retry,
                    std::move(options.token), std::move(options.tls)}),
        version(connection.channel()),
        identities(connection.channel()),
        datasets(connection.channel()),
        queries(connection.channel()),
        synthesis(connection.channel()),
        operations(connection.channel()),
        metrics(connection.channel()),
        audits(connection.channel()),
        owners(connection.channel()),
        budgets(connection.channel()),
        accountant(connection.channel()) {}

  client::Connection connection;
  // Calls are not const in the generated stubs, though they are thread-safe.
  mutable v1::VersionService::Stub version;
  mutable v1::IdentityService::Stub identities;
  mutable v1::DatasetService::Stub datasets;
  mutable v1::QueryService::Stub queries;
  mutable v1::SynthesisService::Stub synthesis;
  mutable v1::OperationService::Stub operations;
  mutable v1::MetricsService::Stub metrics;
  mutable v1::AuditService::Stub audits;
  mutable v1::OwnerService::Stub owners;
  mutable v1::BudgetService::Stub budgets;
  mutable v1::AccountantService::Stub accountant;
};

namespace client {

// Reads a listing page by page, until it has at least `most` items or ends, and returns them as one response.
template <typename Response, typename Request, typename ReadPage>
absl::StatusOr<Response> Pages(int64_t most, Request request, const ReadPage& read) {
  constexpr int64_t kLargestPage = 1000;
  Response all;
  const google::protobuf::FieldDescriptor* items = Response::descriptor()->FindFieldByNumber(1);
  while (true) {
    const int64_t wanted = most - all.GetReflection()->FieldSize(all, items);
    request.set_page_size(static_cast<int32_t>(std::min(wanted, kLargestPage)));
    ASSIGN_OR_RETURN(const Response page, read(request));
    all.MergeFrom(page);
    const bool has_all = all.GetReflection()->FieldSize(all, items) >= most;
    if (page.next_page_token().empty() || has_all) break;
    request.set_page_token(page.next_page_token());
  }
  all.clear_next_page_token();
  return all;
}

template <typename Stub, typename Request, typename Response>
using UnaryMethod = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Unary(const Connection& connection, Stub& stub,
                               UnaryMethod<Stub, Request, Response> method, const Request& request,
                               std::string_view request_id) {
  Response response;
  const absl::Status status = connection.Run(request_id, [&](grpc::ClientContext& context) {
    response.Clear();
    return FromGrpc((stub.*method)(&context, request, &response));
  });
  if (!status.ok()) return status;
  return response;
}

// One attempt, of a change that must not be made twice.
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Once(const Connection& connection, Stub& stub,
                              UnaryMethod<Stub, Request, Response> method, const Request& request) {
  Response response;
  RETURN_IF_ERROR(connection.RunOnce(
      [&](grpc::ClientContext& context) { return FromGrpc((stub.*method)(&context, request, &response)); }));
  return response;
}

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Read(const Connection& connection, Stub& stub,
                              UnaryMethod<Stub, Request, Response> method, const Request& request) {
  return Unary(connection, stub, method, request, "");
}

// A message or a header with a request_id; one of its own when it has none.
template <typename Message>
absl::Status EnsureRequestId(Message& message) {
  if (!message.request_id().empty()) return absl::OkStatus();
  absl::StatusOr<std::string> id = client::NewRequestId();
  if (!id.ok()) return id.status();
  message.set_request_id(*std::move(id));
  return absl::OkStatus();
}

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Change(const Connection& connection, Stub& stub,
                                UnaryMethod<Stub, Request, Response> method, Request request) {
  if (absl::Status status = EnsureRequestId(request); !status.ok()) return status;
  return Unary(connection, stub, method, request, request.request_id());
}

}  // namespace client
}  // namespace curator
