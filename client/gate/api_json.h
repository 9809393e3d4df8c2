// The JSON of pages: messages of the protocol in the JSON of protobuf, under the names of the .proto files,
// and errors.
//
// Thread-safe: pure functions.
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/gate/api_methods.h"
#include "client/gate/http.h"
#include "client/gate/request_guard.h"

namespace curator::gate {

// Errors: INVALID_ARGUMENT, which names the field, for what is no request of this method.
absl::StatusOr<std::unique_ptr<google::protobuf::Message>> RequestFromJson(const ApiMethod& method,
                                                                           std::string_view json);

// All fields, also empty ones; 64-bit integers as strings. For a message that the server sent.
std::string ToJson(const google::protobuf::Message& message);

// An answer in JSON.
HttpResponse JsonResponse(int status, std::string json);

// {"code", "message", "reason", ...} of a call's error, under the status of HTTP that says the same. An
// UNAVAILABLE that no server sent has the reason UNREACHABLE.
HttpResponse ErrorResponse(const absl::Status& error);
HttpResponse ErrorResponse(const Refusal& refusal);

// All places for calls (call_places.h) are taken.
HttpResponse TooManyCalls();

// The session of the request's cookie is over, or there was none.
HttpResponse NoSession();

}  // namespace curator::gate
