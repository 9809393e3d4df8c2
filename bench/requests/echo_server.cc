#include "bench/requests/echo_server.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"

namespace curator::bench {
namespace {

std::string FileOf(const std::string& folder, Kind kind, size_t message) {
  return absl::StrCat(folder, "/", NameOf(kind), ".", message);
}

template <typename Message>
std::map<Kind, std::vector<Message>> ReadRecording(const std::string& folder,
                                                   const std::vector<Kind>& kinds) {
  std::map<Kind, std::vector<Message>> recording;
  for (const Kind kind : kinds) {
    for (size_t i = 0; std::filesystem::exists(FileOf(folder, kind, i)); ++i) {
      std::ifstream file(FileOf(folder, kind, i), std::ios::binary);
      if (!recording[kind].emplace_back().ParseFromIstream(&file))
        Must(absl::DataLossError("a bad recording"));
    }
  }
  return recording;
}

// What was recorded for the principal that calls; null when it is of another kind.
template <typename Message>
const std::vector<Message>* RecordedFor(const std::map<Kind, std::vector<Message>>& recording,
                                        const grpc::CallbackServerContext& context) {
  const auto named = context.client_metadata().find("curator-principal");
  if (named == context.client_metadata().end()) return nullptr;
  const auto kind = KindOfPrincipal({named->second.data(), named->second.size()});
  const auto found = kind ? recording.find(*kind) : recording.end();
  return found == recording.end() ? nullptr : &found->second;
}

const grpc::Status kUnknown(grpc::StatusCode::INVALID_ARGUMENT, "nothing was recorded for this principal");

class AnswerStream final : public grpc::ServerWriteReactor<v1::AnswerChunk> {
 public:
  explicit AnswerStream(const std::vector<v1::AnswerChunk>* chunks) : chunks_(chunks) {
    if (chunks_ == nullptr) {
      Finish(kUnknown);
    } else {
      WriteNext();
    }
  }
  void OnWriteDone(bool ok) override {
    if (!ok) {
      Finish(grpc::Status::CANCELLED);
    } else if (next_ < chunks_->size()) {
      WriteNext();
    }
  }
  void OnDone() override { delete this; }

 private:
  void WriteNext() {
    const v1::AnswerChunk& chunk = (*chunks_)[next_++];
    if (next_ == chunks_->size()) {
      StartWriteAndFinish(&chunk, {}, grpc::Status::OK);
    } else {
      StartWrite(&chunk);
    }
  }

  const std::vector<v1::AnswerChunk>* chunks_;
  size_t next_ = 0;
};

class QueryEcho final : public v1::QueryService::CallbackService {
 public:
  explicit QueryEcho(const std::string& folder)
      : recording_(ReadRecording<v1::AnswerChunk>(
            folder, {Kind::kAnswer, Kind::kWide, Kind::kReplay, Kind::kFree})) {}
  grpc::ServerWriteReactor<v1::AnswerChunk>* AnswerWorkload(grpc::CallbackServerContext* context,
                                                            const v1::AnswerWorkloadRequest*) override {
    return new AnswerStream(RecordedFor(recording_, *context));
  }

 private:
  const std::map<Kind, std::vector<v1::AnswerChunk>> recording_;
};

class AccountantEcho final : public v1::AccountantService::CallbackService {
 public:
  explicit AccountantEcho(const std::string& folder)
      : recording_(ReadRecording<v1::Charge>(folder, {Kind::kReserve, Kind::kCycle})) {}
  grpc::ServerUnaryReactor* ReserveBudget(grpc::CallbackServerContext* context,
                                          const v1::ReserveBudgetRequest*, v1::Charge* response) override {
    return Answer(*context, 0, *response);
  }
  grpc::ServerUnaryReactor* StartCharge(grpc::CallbackServerContext* context, const v1::StartChargeRequest*,
                                        v1::Charge* response) override {
    return Answer(*context, 1, *response);
  }
  grpc::ServerUnaryReactor* CommitBudget(grpc::CallbackServerContext* context, const v1::CommitBudgetRequest*,
                                         v1::Charge* response) override {
    return Answer(*context, 2, *response);
  }

 private:
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context, size_t message,
                                   v1::Charge& response) {
    const std::vector<v1::Charge>* charges = RecordedFor(recording_, context);
    const bool is_known = charges != nullptr && message < charges->size();
    if (is_known) response = (*charges)[message];
    grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
    reactor->Finish(is_known ? grpc::Status::OK : kUnknown);
    return reactor;
  }

  const std::map<Kind, std::vector<v1::Charge>> recording_;
};

}  // namespace

void WriteRecording(const Recording& recording, const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const auto& [kind, messages] : recording) {
    for (size_t i = 0; i < messages.size(); ++i)
      std::ofstream(FileOf(folder, kind, i), std::ios::binary) << messages[i];
  }
}

void ServeEcho(const std::string& folder) {
  QueryEcho queries(folder);
  AccountantEcho accountant(folder);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&queries);
  builder.RegisterService(&accountant);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  std::fprintf(stderr, "{\"event\":\"serving\",\"address\":\"127.0.0.1:%d\"}\n", port);
  while (true) pause();
}

}  // namespace curator::bench
