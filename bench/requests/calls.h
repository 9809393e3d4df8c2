// The clients' side of gRPC: connections to a server, and calls that are repeated while the server refuses
// them.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/must.h"
#include "curator/v1/accountant.grpc.pb.h"
#include "curator/v1/query.grpc.pb.h"

namespace curator::bench {

struct Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel) : queries(channel), accountant(channel) {}
  v1::QueryService::Stub queries;
  v1::AccountantService::Stub accountant;
};

// Connections to one server, each of a few clients. Thread-safe.
class Connections {
 public:
  // Connects; ends the program when nobody answers at `address`.
  Connections(const std::string& address, int connections);
  Stubs& OfClient(int client) const;

 private:
  std::vector<std::unique_ptr<Stubs>> stubs_;
};

// The calls of one client in one request. A call that the server refuses with a wait is made again as our
// client library would; any other error ends the program.
class Caller {
 public:
  // Counts in `refusals` how often a call was refused.
  Caller(Stubs& stubs, const std::string& principal, std::atomic<int64_t>& refusals)
      : stubs_(stubs), principal_(principal), refusals_(refusals) {}

  // Appends the messages of the answer to `kept` unless it is null.
  void Answer(const v1::AnswerWorkloadRequest& request, std::vector<v1::AnswerChunk>* kept = nullptr);
  v1::Charge Reserve(const v1::ReserveBudgetRequest& request);
  v1::Charge Start(const std::string& charge_id);
  v1::Charge Commit(const std::string& charge_id);

 private:
  void Run(const std::string& id, const std::function<grpc::Status(grpc::ClientContext&)>& attempt);

  Stubs& stubs_;
  const std::string& principal_;
  std::atomic<int64_t>& refusals_;
};

}  // namespace curator::bench
