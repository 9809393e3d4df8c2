#include "tests/testing/open_calls.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace curator::testing {

class OpenCalls::Call final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Call(const std::shared_ptr<grpc::Channel>& channel, const Proof& proof, const std::string& method,
       const std::string* message)
      : stub_(channel) {
    if (!proof.second.empty()) context_.AddMetadata(proof.first, proof.second);
    stub_.PrepareBidiStreamingCall(&context_, method, {}, this);
    if (message != nullptr) {
      const grpc::Slice slice(*message);
      sent_ = grpc::ByteBuffer(&slice, 1);
      StartWriteLast(&sent_, grpc::WriteOptions());
    }
    StartRead(&received_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    {
      const absl::MutexLock lock(&mutex_);
      answered_ = true;
    }
    StartRead(&received_);
  }

  void OnDone(const grpc::Status& status) override {
    const absl::MutexLock lock(&mutex_);
    end_ = client::FromGrpc(status);
  }

  void Cancel() { context_.TryCancel(); }

  std::optional<absl::Status> end() const {
    const absl::MutexLock lock(&mutex_);
    return end_;
  }

  void AwaitEnd() const {
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](const std::optional<absl::Status>* end) { return end->has_value(); }, &end_));
  }

  // Returns whether it was answered before it ended.
  bool AwaitAnswerOrEnd() const {
    const absl::MutexLock lock(&mutex_);
    const auto is_answered = [this] { return answered_ || end_.has_value(); };
    mutex_.Await(absl::Condition(&is_answered));
    return answered_;
  }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer sent_;
  grpc::ByteBuffer received_;
  mutable absl::Mutex mutex_;
  bool answered_ = false;
  std::optional<absl::Status> end_;
};

OpenCalls::OpenCalls(const std::string& server, const std::string& principal)
    : OpenCalls(server, Proof("curator-principal", principal)) {}

OpenCalls OpenCalls::WithToken(const std::string& server, const std::string& token) {
  return OpenCalls(server, Proof("authorization", absl::StrCat("Bearer ", token)));
}

OpenCalls::OpenCalls(const std::string& server, Proof proof)
    : proof_(std::move(proof)), channel_(grpc::CreateChannel(server, grpc::InsecureChannelCredentials())) {}

OpenCalls::~OpenCalls() {
  CancelAll();
}

void OpenCalls::OpenWithoutMessage(int count, const std::string& method) {
  Open(count, method, nullptr);
}

void OpenCalls::OpenWithMessage(int count, const std::string& method, const std::string& message) {
  Open(count, method, &message);
}

void OpenCalls::Open(int count, const std::string& method, const std::string* message) {
  for (int i = 0; i < count; ++i) {
    calls_.push_back(std::make_unique<Call>(channel_, proof_, method, message));
  }
}

int OpenCalls::AwaitAnswered() const {
  int answered = 0;
  for (const auto& call : calls_) answered += call->AwaitAnswerOrEnd() ? 1 : 0;
  return answered;
}

std::map<absl::StatusCode, int> OpenCalls::Ended() const {
  std::map<absl::StatusCode, int> ended;
  for (const absl::Status& end : Ends()) ++ended[end.code()];
  return ended;
}

std::vector<absl::Status> OpenCalls::Ends() const {
  std::vector<absl::Status> ends;
  for (const auto& call : calls_) {
    if (std::optional<absl::Status> end = call->end()) ends.push_back(*std::move(end));
  }
  return ends;
}

absl::Status OpenCalls::AwaitEnd(absl::StatusCode code) const {
  while (true) {
    for (const auto& call : calls_) {
      if (const std::optional<absl::Status> end = call->end(); end && end->code() == code) return *end;
    }
    std::this_thread::yield();
  }
}

void OpenCalls::AwaitEnds() const {
  for (const auto& call : calls_) call->AwaitEnd();
}

void OpenCalls::CancelAll() {
  for (const auto& call : calls_) call->Cancel();
  AwaitEnds();
}

}  // namespace curator::testing
