#include "tests/testing/scripted_calls.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/testing/payload_words.h"

namespace curator::testing {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;
using google::protobuf::Reflection;

const std::filesystem::path& Root() {
  static const std::filesystem::path root(CURATOR_SOURCE_DIR);
  return root;
}

std::vector<const FileDescriptor*> ProtocolFiles() {
  std::vector<const FileDescriptor*> files;
  for (const auto& entry : std::filesystem::directory_iterator(Root() / "proto/curator/v1")) {
    const std::string name = absl::StrCat("curator/v1/", entry.path().filename().string());
    const FileDescriptor* file = DescriptorPool::generated_pool()->FindFileByName(name);
    EXPECT_NE(file, nullptr) << name << " is not linked into this program";
    if (file != nullptr) files.push_back(file);
  }
  return files;
}

const MethodDescriptor* MethodNamed(const std::string& call) {
  return DescriptorPool::generated_pool()->FindMethodByName("curator.v1." + call);
}

// The rows of docs/PRIVACY-fields.md: name -> {who, from}.
const std::map<std::string, std::pair<std::string, std::string>>& Rows() {
  static const auto rows = [] {
    static const std::regex kRow(R"(^\| `([\w.]+)` \| ([\w ]+) \| `?([\w.]+)`? \|$)");
    std::map<std::string, std::pair<std::string, std::string>> found;
    std::ifstream page(Root() / "docs/PRIVACY-fields.md");
    std::smatch match;
    for (std::string line; std::getline(page, line);) {
      if (std::regex_match(line, match, kRow)) found[match[1]] = {match[2], match[3]};
    }
    EXPECT_GT(found.size(), 300U);
    return found;
  }();
  return rows;
}

std::string SourceOf(const FieldDescriptor& field) {
  const Descriptor& message = *field.containing_type();
  const std::string name = message.full_name().substr(message.file()->package().size() + 1);
  const auto row = Rows().find(absl::StrCat(name, ".", field.name()));
  return row == Rows().end() ? "" : row->second.second;
}

// ---- What is written in one way

struct Rule {
  bool is_shared = false;
  std::string summary = {};  // of what was left out
};

// The numbers of an evaluation compare the records with a drawn model.
bool IsDrawn(const FieldDescriptor& field) {
  const bool is_evaluation = field.full_name().starts_with("curator.v1.EvaluateResponse.");
  return SourceOf(field) == "draw" || (is_evaluation && SourceOf(field) == "records");
}

bool IsLeftOut(const FieldDescriptor& field, const Rule& rule) {
  const std::string source = SourceOf(field);
  return IsDrawn(field) || source == "measured" ||
         (rule.is_shared && (source == "counter" || source == "history"));
}

// A statement without what differs between any two runs: its time and its hash, and where others use the
// dataset its place in the history.
std::string StatementWords(std::string statement, bool is_shared) {
  static const std::regex kTime(R"("time_us":\d+)");
  static const std::regex kHash("[0-9a-f]{64}");
  static const std::regex kSequence(R"("sequence":\d+)");
  statement = std::regex_replace(std::regex_replace(statement, kTime, "\"time_us\""), kHash, "hash");
  return is_shared ? std::regex_replace(statement, kSequence, "\"sequence\"") : statement;
}

void Normalise(Message& message, Rule& rule) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_time =
        field->message_type() != nullptr && field->message_type()->full_name() == "google.protobuf.Timestamp";
    if (IsLeftOut(*field, rule)) {
      if (IsDrawn(*field) && field->is_repeated()) {
        absl::StrAppend(&rule.summary, "# ", reflection.FieldSize(message, field),
                        " drawn: ", field->full_name(), "\n");
      }
      reflection.ClearField(&message, field);
    } else if (is_time) {
      reflection.MutableMessage(&message, field)->Clear();
    } else if (field->name() == "statement") {
      reflection.SetString(&message, field,
                           StatementWords(reflection.GetString(message, field), rule.is_shared));
    } else if (field->full_name() == "curator.v1.LedgerEntry.payload") {
      reflection.SetString(&message, field, PayloadWords(reflection.GetString(message, field)));
    } else if (field->type() == FieldDescriptor::TYPE_BYTES) {
      reflection.SetString(&message, field, "bytes");
    } else if (field->message_type() != nullptr && !field->is_map()) {
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        Normalise(field->is_repeated() ? *reflection.MutableRepeatedMessage(&message, field, i)
                                       : *reflection.MutableMessage(&message, field),
                  rule);
      }
    }
  }
}

void LeaveOutProgress(Message& message) {
  for (const char* name : {"state", "percent", "queue_position", "release_id"})
    message.GetReflection()->ClearField(&message, message.GetDescriptor()->FindFieldByName(name));
}

bool HasEntry(const Message& link) {
  return link.GetReflection()->HasField(link, link.GetDescriptor()->FindFieldByName("entry"));
}

std::string Written(const Step& step, const Message& message) {
  if (step.is_shared && step.call == "BudgetService.ListChainLinks" && !HasEntry(message)) return "";
  const std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  Rule rule{.is_shared = step.is_shared};
  Normalise(*copy, rule);
  if (step.call == "SynthesisService.CreateSynthesis") LeaveOutProgress(*copy);
  return absl::StrCat("{\n", copy->DebugString(), rule.summary, "}\n");
}

std::string WithoutIds(std::string text, std::map<std::string, std::string>& ids) {
  static const std::regex kRandom(
      // UUIDs of the versions that are random, or a time and random bits.
      "[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|"
      // 2^51 = 2251799813685248 to 2^52 - 1 = 4503599627370495
      "\\b(2[2-9]|3[0-9]|4[0-5])[0-9]{14}\\b|"
      // Pseudonyms, of keys that are random.
      "~[0-9a-f]{32}");
  std::string written;
  std::smatch match;
  while (std::regex_search(text, match, kRandom)) {
    const auto [known, is_new] = ids.try_emplace(match[0], "");
    if (is_new) known->second = absl::StrCat("#", ids.size());
    absl::StrAppend(&written, match.prefix().str(), known->second);
    text = match.suffix().str();
  }
  return written + text;
}

// ---- A call of any kind

grpc::ByteBuffer BytesOf(const Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

std::string StringOf(grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  EXPECT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

bool NextIsOk(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool is_ok = false;
  return queue.Next(&tag, &is_ok) && is_ok;
}

std::string DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return "details that cannot be read";
  return details.details_size() == 0 ? "" : details.DebugString();
}

}  // namespace

std::set<std::string> AllCalls() {
  std::set<std::string> calls;
  for (const FileDescriptor* file : ProtocolFiles()) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m)
        calls.insert(absl::StrCat(file->service(s)->name(), ".", file->service(s)->method(m)->name()));
    }
  }
  std::erase_if(calls, [](const std::string& call) {
    if (call.starts_with("AuditService.")) return true;
    return call.starts_with("IdentityService.") && call != "IdentityService.WhoAmI";
  });
  return calls;
}

std::set<std::string> CallsOf(const std::string& who) {
  const std::set<std::string> all = AllCalls();
  std::set<std::string> calls;
  for (const auto& [name, row] : Rows()) {
    if (all.contains(name) && row.first == who) calls.insert(name);
  }
  return calls;
}

struct ScriptedCalls::Result {
  grpc::Status status;
  std::vector<std::unique_ptr<Message>> responses;
};

ScriptedCalls::ScriptedCalls(const std::string& address, std::string principal)
    : ScriptedCalls(address, principal, "curator-principal", principal) {}

ScriptedCalls ScriptedCalls::WithToken(const std::string& address, const std::string& token) {
  return ScriptedCalls(address, "", "authorization", absl::StrCat("Bearer ", token));
}

ScriptedCalls::ScriptedCalls(const std::string& address, std::string principal, std::string key,
                             std::string value)
    : principal_(std::move(principal)),
      proof_(std::move(key), std::move(value)),
      channel_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())),
      stub_(channel_) {}

std::string ScriptedCalls::Filled(std::string text) {
  for (size_t at = text.find("$NEW"); at != std::string::npos; at = text.find("$NEW"))
    text.replace(at, 4, absl::StrFormat("5c21f0de-0000-4000-8000-%012d", ++requests_made_));
  for (const auto& [name, value] : remembered_) text = absl::StrReplaceAll(text, {{"$" + name, value}});
  return text;
}

ScriptedCalls::Result ScriptedCalls::Call(const Step& step) {
  const MethodDescriptor* method = MethodNamed(step.call);
  if (method == nullptr) {
    ADD_FAILURE() << "there is no call " << step.call;
    return {};
  }
  // A stream that does not end by itself is left after its first message, or when none comes.
  const bool ends_by_itself = step.call != "BudgetService.WatchLedger";
  grpc::ClientContext context;
  if (!ends_by_itself) context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
  if (!proof_.second.empty()) context.AddMetadata(proof_.first, proof_.second);
  grpc::CompletionQueue queue;
  const auto call = stub_.PrepareCall(
      &context, absl::StrCat("/", method->service()->full_name(), "/", method->name()), &queue);
  call->StartCall(nullptr);
  bool goes_on = NextIsOk(queue);
  for (const std::string& text : step.requests) {
    const std::unique_ptr<Message> request(
        MessageFactory::generated_factory()->GetPrototype(method->input_type())->New());
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(Filled(text), request.get())) << text;
    if (!goes_on) break;
    call->Write(BytesOf(*request), nullptr);
    goes_on = NextIsOk(queue);
  }
  if (goes_on) {
    call->WritesDone(nullptr);
    NextIsOk(queue);
  }
  Result result;
  while (true) {
    grpc::ByteBuffer bytes;
    call->Read(&bytes, nullptr);
    if (!NextIsOk(queue)) break;
    result.responses.emplace_back(
        MessageFactory::generated_factory()->GetPrototype(method->output_type())->New());
    EXPECT_TRUE(result.responses.back()->ParseFromString(StringOf(bytes)));
    if (ends_by_itself) continue;
    context.TryCancel();
    break;
  }
  call->Finish(&result.status, nullptr);
  NextIsOk(queue);
  const grpc::StatusCode code = result.status.error_code();
  const bool is_left = code == grpc::CANCELLED || code == grpc::DEADLINE_EXCEEDED;
  if (!ends_by_itself && is_left) result.status = grpc::Status::OK;
  return result;
}

void ScriptedCalls::Remember(const Step& step, const Message& response) {
  for (const auto& [name, path] : step.remember) {
    const Message* message = &response;
    const std::vector<std::string> names = absl::StrSplit(path, '.');
    for (const std::string& part : names) {
      const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(part);
      ASSERT_NE(field, nullptr) << path;
      if (field->message_type() == nullptr) {
        remembered_[name] = field->is_repeated()
                                ? message->GetReflection()->GetRepeatedString(*message, field, 0)
                                : message->GetReflection()->GetString(*message, field);
      } else {
        message = field->is_repeated() ? &message->GetReflection()->GetRepeatedMessage(*message, field, 0)
                                       : &message->GetReflection()->GetMessage(*message, field);
      }
    }
  }
}

void ScriptedCalls::Run(const std::vector<Step>& script) {
  for (const Step& step : script) {
    const Result result = Call(step);
    ends_.push_back(result.status.error_code());
    codes_[step.call].insert(static_cast<int>(result.status.error_code()));
    std::string seen = absl::StrCat(step.call, " of ", principal_, "\n");
    for (const std::string& request : step.requests) absl::StrAppend(&seen, "< ", request, "\n");
    absl::StrAppend(&seen, "> ", static_cast<int>(result.status.error_code()), " ");
    const bool is_full = result.status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
    if (!step.is_shared || !is_full)
      absl::StrAppend(&seen, result.status.error_message(), "\n", DetailsOf(result.status));
    for (const auto& response : result.responses) absl::StrAppend(&seen, Written(step, *response));
    seen_.push_back(std::move(seen));
    if (!result.responses.empty()) Remember(step, *result.responses.front());
  }
}

std::vector<std::string> ScriptedCalls::Seen() const {
  std::map<std::string, std::string> ids;
  std::vector<std::string> written;
  for (const std::string& seen : seen_) written.push_back(WithoutIds(seen, ids));
  return written;
}

}  // namespace curator::testing
