#include "client/gate/api_json.h"

#include <google/protobuf/util/json_util.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/error.h"
#include "google/rpc/error_details.pb.h"

namespace curator::gate {
namespace {

using nlohmann::ordered_json;

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kAlreadyExists:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

template <typename Details>
Details DetailsOf(const absl::Status& error) {
  Details details;
  const auto payload = error.GetPayload("type.googleapis.com/" + Details::descriptor()->full_name());
  if (payload && !details.ParseFromString(std::string(*payload))) details.Clear();
  return details;
}

// A server's messages are UTF-8; a transport's need not be.
std::string Dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json ErrorObject(const absl::Status& error) {
  ordered_json object = {{"code", absl::StatusCodeToString(error.code())},
                         {"message", std::string(error.message())},
                         {"reason", client::Reason(error)}};
  const auto info = DetailsOf<google::rpc::ErrorInfo>(error);
  ordered_json& metadata = object["metadata"] = ordered_json::object();
  for (const auto& [name, value] : info.metadata()) metadata[name] = value;
  for (const client::FieldViolation& violation : client::FieldViolations(error)) {
    object["fields"].push_back({{"field", violation.field}, {"description", violation.description}});
  }
  const auto full = DetailsOf<google::rpc::QuotaFailure>(error);
  for (const auto& violation : full.violations()) {
    object["quota"].push_back({{"subject", violation.subject()}, {"description", violation.description()}});
  }
  if (const auto delay = client::RetryDelay(error)) {
    object["retry_seconds"] = std::chrono::duration<double>(*delay).count();
  }
  return object;
}

}  // namespace

absl::StatusOr<std::unique_ptr<google::protobuf::Message>> RequestFromJson(const ApiMethod& method,
                                                                           std::string_view json) {
  std::unique_ptr<google::protobuf::Message> request(method.request->New());
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), request.get());
  if (parsed.ok()) return request;
  return absl::InvalidArgumentError(
      absl::StrCat("the body is no ", method.request->GetDescriptor()->name(), ": ",
                   std::string(parsed.message().data(), parsed.message().size())));
}

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails only for an invalid Timestamp or Value, which a server never sends.
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "null";
  return json;
}

HttpResponse JsonResponse(int status, std::string json) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          .body = std::move(json)};
}

HttpResponse ErrorResponse(const absl::Status& error) {
  ordered_json object = ErrorObject(error);
  if (absl::IsUnavailable(error) && client::Reason(error).empty()) {
    object["message"] = "the server cannot be reached";
    object["reason"] = "UNREACHABLE";
  }
  return JsonResponse(HttpStatusOf(error.code()), Dump(object));
}

HttpResponse ErrorResponse(const Refusal& refusal) {
  return JsonResponse(
      refusal.status,
      Dump({{"code", refusal.code}, {"message", refusal.message}, {"reason", refusal.reason}}));
}

HttpResponse TooManyCalls() {
  return ErrorResponse(Refusal{.status = 429,
                               .code = "RESOURCE_EXHAUSTED",
                               .reason = "TOO_MANY_CALLS",
                               .message = "too many calls at a time: wait for some to end"});
}

HttpResponse NoSession() {
  return ErrorResponse(Refusal{.status = 401,
                               .code = "UNAUTHENTICATED",
                               .reason = "NO_SESSION",
                               .message = "nobody is signed in, or the session is over: sign in"});
}

}  // namespace curator::gate
