#include "rpc/call_measures.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "service/permissions.h"

namespace curator::rpc {
namespace {

constexpr std::string_view kApiPrefix = "/curator.v1.";

std::string TypeOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) return method.server_streaming() ? "bidi_stream" : "client_stream";
  return method.server_streaming() ? "server_stream" : "unary";
}

ServedMethod Served(const std::string& full_name) {
  const google::protobuf::MethodDescriptor* const method =
      google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(full_name);
  const size_t dot = full_name.rfind('.');
  ServedMethod served{.service = full_name.substr(0, dot), .method = full_name.substr(dot + 1)};
  served.path = absl::StrCat("/", served.service, "/", served.method);
  if (method != nullptr) served.type = TypeOf(*method);
  return served;
}

}  // namespace

Measured MeasuredOf(std::string_view path) {
  constexpr std::string_view kOfRecords[] = {"DatasetService/ImportRecords", "DatasetService/CheckSchema",
                                             "DatasetService/SealDataset", "DatasetService/UndoImport",
                                             "DatasetService/ListImports"};
  constexpr std::string_view kOfDraws[] = {"QueryService/AnswerWorkload", "SynthesisService/CreateSynthesis",
                                           "OperationService/WaitOperation"};
  if (!path.starts_with(kApiPrefix)) return Measured::kAsItIs;
  const std::string_view name = path.substr(kApiPrefix.size());
  if (name.starts_with("OwnerService/")) return Measured::kNothing;
  if (std::ranges::find(kOfRecords, name) != std::end(kOfRecords)) return Measured::kNothing;
  if (name == "OperationService/WatchOperation") return Measured::kStepWithoutBytes;
  return std::ranges::find(kOfDraws, name) != std::end(kOfDraws) ? Measured::kInSteps : Measured::kAsItIs;
}

std::optional<absl::Duration> MeasuredDuration(Measured measured, absl::Duration took) {
  if (measured == Measured::kNothing) return std::nullopt;
  if (measured == Measured::kAsItIs) return took;
  const double seconds = absl::ToDoubleSeconds(took);
  const auto bound = std::ranges::lower_bound(kDurationBounds, seconds);
  if (bound != kDurationBounds.end()) return absl::Seconds(*bound);
  return absl::Seconds(std::ceil(seconds / kDurationBounds.back()) * kDurationBounds.back());
}

std::vector<ServedMethod> ServedMethods() {
  std::vector<ServedMethod> methods;
  for (const service::Permission& row : service::kPermissions) {
    methods.push_back(
        Served(absl::StrCat("curator.v1.", absl::StrReplaceAll(std::string(row.name), {{"/", "."}}))));
  }
  for (const char* const method : {"grpc.health.v1.Health.Check", "grpc.health.v1.Health.Watch"})
    methods.push_back(Served(method));
  return methods;
}

}  // namespace curator::rpc
