// Many calls of a client that are open at the same time and hold no thread of the test: what a careless or
// hostile client does to a server.
#pragma once

#include <grpcpp/channel.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/error.h"

namespace curator::testing {

class OpenCalls {
 public:
  // Calls over one connection to `server`, in the name of `principal` (none when empty).
  OpenCalls(const std::string& server, const std::string& principal);
  // The same by a token, to a server that believes no names.
  static OpenCalls WithToken(const std::string& server, const std::string& token);
  // Cancels those that have not ended.
  ~OpenCalls();
  OpenCalls(const OpenCalls&) = delete;
  OpenCalls& operator=(const OpenCalls&) = delete;

  // Opens `count` calls of "/package.Service/Method" that never send a message.
  void OpenWithoutMessage(int count, const std::string& method);
  // Opens `count` calls that send one message, given as its bytes, and wait for answers.
  void OpenWithMessage(int count, const std::string& method, const std::string& message);

  // Waits until each call has received a message or has ended; returns how many received one.
  int AwaitAnswered() const;
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  // How the calls that have ended did so.
  std::map<absl::StatusCode, int> Ended() const;
  std::vector<absl::Status> Ends() const;
  // Waits until a call has ended with this code, and returns its end.
  absl::Status AwaitEnd(absl::StatusCode code) const;
  // Waits until all calls have ended.
  void AwaitEnds() const;
  // Cancels all calls that are open and waits for their ends.
  void CancelAll();

 private:
  class Call;

  // The metadata by which a caller says who it is; none where the value is empty.
  using Proof = std::pair<std::string, std::string>;

  OpenCalls(const std::string& server, Proof proof);
  void Open(int count, const std::string& method, const std::string* message);

  const Proof proof_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::vector<std::unique_ptr<Call>> calls_;
};

}  // namespace curator::testing
