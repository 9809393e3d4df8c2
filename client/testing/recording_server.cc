#include "client/testing/recording_server.h"

#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/async_generic_service.h>

#include <algorithm>
#include <utility>

namespace curator::client::testing {
namespace {

// "/curator.v1.DatasetService/GetDataset"; null for a method that no linked protocol file has.
const google::protobuf::MethodDescriptor* MethodOf(const std::string& path) {
  std::string name = path.substr(path.empty() ? 0 : 1);
  std::replace(name.begin(), name.end(), '/', '.');
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
}

std::string TextOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok()) return "";
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

}  // namespace

// One call: reads to the end of what the client sends, then writes the replies.
class RecordingServer::Reactor : public grpc::ServerGenericBidiReactor {
 public:
  Reactor(RecordingServer& server, const google::protobuf::MethodDescriptor& method)
      : server_(server), request_type_(method.input_type()->full_name()) {
    const std::lock_guard<std::mutex> lock(server_.mutex_);
    const auto replies = server_.replies_.find(request_type_);
    if (replies != server_.replies_.end()) {
      replies_ = replies->second;
    } else if (!method.server_streaming()) {
      replies_ = {""};
    }
  }

  void Begin() { StartRead(&read_); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      WriteNext();
      return;
    }
    {
      const std::lock_guard<std::mutex> lock(server_.mutex_);
      server_.received_[request_type_].push_back(TextOf(read_));
    }
    StartRead(&read_);
  }

  void OnWriteDone(bool /*ok*/) override { WriteNext(); }

  void OnDone() override { delete this; }

 private:
  void WriteNext() {
    if (next_ == replies_.size()) {
      Finish(grpc::Status::OK);
      return;
    }
    const grpc::Slice slice(replies_[next_++]);
    written_ = grpc::ByteBuffer(&slice, 1);
    StartWrite(&written_);
  }

  RecordingServer& server_;
  const std::string request_type_;
  std::vector<std::string> replies_;
  size_t next_ = 0;
  grpc::ByteBuffer read_;
  grpc::ByteBuffer written_;
};

class RecordingServer::Service : public grpc::CallbackGenericService {
 public:
  explicit Service(RecordingServer& server) : server_(server) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    const google::protobuf::MethodDescriptor* method = MethodOf(context->method());
    if (method == nullptr) return CallbackGenericService::CreateReactor(context);
    const auto principal = context->client_metadata().find("curator-principal");
    if (principal != context->client_metadata().end()) {
      const std::lock_guard<std::mutex> lock(server_.mutex_);
      server_.last_principal_ = std::string(principal->second.begin(), principal->second.end());
    }
    auto* reactor = new Reactor(server_, *method);  // deletes itself when the call is done
    reactor->Begin();
    return reactor;
  }

 private:
  RecordingServer& server_;
};

RecordingServer::RecordingServer() : service_(std::make_unique<Service>(*this)) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(service_.get());
  server_ = builder.BuildAndStart();
  address_ = "127.0.0.1:" + std::to_string(port);
}

RecordingServer::~RecordingServer() {
  server_->Shutdown(std::chrono::system_clock::now());
}

std::string RecordingServer::last_principal() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_principal_;
}

void RecordingServer::SetReplies(const std::string& request_type, std::vector<std::string> replies) {
  const std::lock_guard<std::mutex> lock(mutex_);
  replies_[request_type] = std::move(replies);
}

std::vector<std::string> RecordingServer::ReceivedBytes(const std::string& request_type) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = received_.find(request_type);
  return found == received_.end() ? std::vector<std::string>() : found->second;
}

}  // namespace curator::client::testing
