// A server that answers every method of the protocol plainly and keeps what it is sent.
//
// Thread-safe.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace curator::client::testing {

// Serves until it is destroyed.
class RecordingServer {
 public:
  RecordingServer();
  ~RecordingServer();
  RecordingServer(const RecordingServer&) = delete;
  RecordingServer& operator=(const RecordingServer&) = delete;

  const std::string& address() const { return address_; }

  // What the method that takes a Request answers. Without this, an empty message, or an empty stream.
  template <typename Request, typename... Replies>
  void Answer(const Replies&... replies) {
    SetReplies(Request::descriptor()->full_name(), {replies.SerializeAsString()...});
  }

  // All requests of this type so far, in order; a client's stream is several.
  template <typename Request>
  std::vector<Request> Received() const {
    std::vector<Request> requests;
    for (const std::string& bytes : ReceivedBytes(Request::descriptor()->full_name()))
      requests.emplace_back().ParseFromString(bytes);
    return requests;
  }

  // Who the last request said asks.
  std::string last_principal() const;

 private:
  class Service;
  class Reactor;

  void SetReplies(const std::string& request_type, std::vector<std::string> replies);
  std::vector<std::string> ReceivedBytes(const std::string& request_type) const;

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> replies_;   // by the type of the request
  std::map<std::string, std::vector<std::string>> received_;  // by their type
  std::string last_principal_;
  std::unique_ptr<Service> service_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace curator::client::testing
