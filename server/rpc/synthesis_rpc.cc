#include "rpc/synthesis_rpc.h"

#include <optional>
#include <span>
#include <string>

#include "base/status_macros.h"
#include "dp/accounting/event.h"
#include "dp/synthesis/synthesizers.h"
#include "rpc/answer_stream.h"
#include "rpc/convert_schema.h"
#include "rpc/convert_workload.h"
#include "rpc/handle.h"
#include "rpc/operation_rpc.h"
#include "service/operations/synthesis.h"
#include "service/releases/releases.h"

namespace curator::rpc {
namespace {

absl::StatusOr<service::SynthesisRequest> FromProto(const Call& call, const std::string& dataset,
                                                    const v1::SynthesisSpec& spec) {
  service::SynthesisRequest request{
      .principal = call.principal(), .dataset = DatasetName(dataset), .method = spec.method()};
  request.client_left = call.client_left();
  request.settings.insert(spec.settings().begin(), spec.settings().end());
  ASSIGN_OR_RETURN(request.spend, rpc::FromProto(spec.spend()));
  ASSIGN_OR_RETURN(request.workload, rpc::FromProto(spec.workload()));
  request.parts.assign(spec.parts().begin(), spec.parts().end());
  return request;
}

void List(v1::ListSynthesizersResponse& response) {
  for (const dp::Synthesizer* synthesizer : dp::Synthesizers()) {
    v1::Synthesizer* proto = response.add_synthesizers();
    proto->set_method(std::string(synthesizer->name()));
    proto->set_summary(std::string(synthesizer->summary()));
    for (const dp::Setting& setting : synthesizer->settings()) {
      v1::Setting* each = proto->add_settings();
      each->set_key(setting.key);
      each->set_summary(setting.summary);
      each->set_default_value(setting.default_value);
    }
  }
}

absl::Status EstimateSynthesis(service::Services& services, const Call& call,
                               const v1::EstimateSynthesisRequest& request,
                               v1::EstimateSynthesisResponse& response) {
  ASSIGN_OR_RETURN(service::SynthesisRequest synthesis, FromProto(call, request.dataset(), request.spec()));
  if (request.has_assume_rows()) synthesis.assume_records = request.assume_rows();
  ASSIGN_OR_RETURN(const service::SynthesisEstimate estimate,
                   service::EstimateSynthesis(services, synthesis));
  for (v1::Cost& cost : ToProto(estimate.price, PriceTense::kWouldCost))
    *response.add_costs() = std::move(cost);
  response.set_event(dp::Describe(estimate.plan.event));
  for (const std::string& line : estimate.plan.schedule) response.add_schedule(line);
  response.mutable_settings()->insert(estimate.plan.settings.begin(), estimate.plan.settings.end());
  response.set_fits(estimate.price.Fits());
  response.set_refused_by_rule(estimate.refused_by_rule);
  SetFacts(estimate.dataset.record.facts, response);
  response.set_model_cells(estimate.plan.model_cells);
  response.set_protects(service::WhatItProtects(estimate.dataset));
  response.set_predicted_cpu_seconds(estimate.cpu_seconds);
  response.set_predicted_memory_bytes(estimate.bytes);
  return absl::OkStatus();
}

absl::Status CreateSynthesis(service::Services& services, const Call& call,
                             const v1::CreateSynthesisRequest& request, v1::Operation& response) {
  ASSIGN_OR_RETURN(service::SynthesisRequest synthesis, FromProto(call, request.dataset(), request.spec()));
  ASSIGN_OR_RETURN(const RequestId request_id, RequestId::Parse(request.request_id()));
  ASSIGN_OR_RETURN(const service::OperationView operation,
                   service::CreateSynthesis(services, synthesis, request_id, IntentOf(request)));
  response = ToProto(operation);
  return absl::OkStatus();
}

absl::Status SampleModel(service::Services& services, const Call& call, const v1::SampleModelRequest& request,
                         MessageWriter<v1::SampleModelChunk>& writer) {
  ASSIGN_OR_RETURN(service::ReleaseView release,
                   service::GetRelease(services, Method::kSampleModel, call.principal(), request.release_id(),
                                       call.client_left()));
  const std::optional<int64_t> rows =
      request.has_rows() ? std::optional<int64_t>(request.rows()) : std::nullopt;
  const service::BinStyle style =
      request.as_bins() ? service::BinStyle::kInterval : service::BinStyle::kValueInside;
  const auto write = [&](std::string_view csv) {
    v1::SampleModelChunk chunk;
    chunk.set_csv(std::string(csv));
    return writer.Write(chunk) ? absl::OkStatus() : ClientDisconnected();
  };
  return service::SampleModel(release, rows, style, write, call.client_left());
}

absl::Status QueryModel(service::Services& services, const Call& call, const v1::QueryModelRequest& request,
                        MessageWriter<v1::AnswerChunk>& writer) {
  ASSIGN_OR_RETURN(service::ReleaseView release,
                   service::GetRelease(services, Method::kQueryModel, call.principal(), request.release_id(),
                                       call.client_left()));
  ASSIGN_OR_RETURN(const std::vector<service::QuerySetRequest> queries, rpc::FromProto(request.workload()));
  ASSIGN_OR_RETURN(const std::vector<service::ModelAnswer> answers,
                   service::QueryModel(release, queries, call.client_left()));
  v1::AnswerChunk first;
  first.mutable_header()->set_release_id(release.release.id);
  first.mutable_header()->set_charge_id(release.release.charge_id);
  first.mutable_header()->set_request_id(release.charge.request_id);
  first.mutable_header()->set_replayed(true);
  SetFacts(release.dataset.record.facts, *first.mutable_header());
  for (const service::ModelAnswer& answer : answers)
    CountSets(std::span(&answer.asked, 1), *first.mutable_header());
  if (!writer.Write(first)) return ClientDisconnected();
  int position = 0;
  for (const service::ModelAnswer& answer : answers) {
    RETURN_IF_ERROR(WriteModelAnswer(release.dataset.schema.domain, answer, position++,
                                     [&](const v1::AnswerChunk& chunk) { return writer.Write(chunk); }));
  }
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* SynthesisRpc::ListSynthesizers(grpc::CallbackServerContext* context,
                                                         const v1::ListSynthesizersRequest*,
                                                         v1::ListSynthesizersResponse* response) {
  List(*response);
  return AnswerAtOnce(*context);
}

grpc::ServerUnaryReactor* SynthesisRpc::EstimateSynthesis(grpc::CallbackServerContext* context,
                                                          const v1::EstimateSynthesisRequest* request,
                                                          v1::EstimateSynthesisResponse* response) {
  return Handle<Method::kEstimateSynthesis>(calls_, *context, *request, *response, rpc::EstimateSynthesis);
}

grpc::ServerUnaryReactor* SynthesisRpc::CreateSynthesis(grpc::CallbackServerContext* context,
                                                        const v1::CreateSynthesisRequest* request,
                                                        v1::Operation* response) {
  return Handle<Method::kCreateSynthesis>(calls_, *context, *request, *response, rpc::CreateSynthesis);
}

grpc::ServerWriteReactor<v1::SampleModelChunk>* SynthesisRpc::SampleModel(
    grpc::CallbackServerContext* context, const v1::SampleModelRequest* request) {
  return Handle<Method::kSampleModel>(calls_, *context, *request, rpc::SampleModel);
}

grpc::ServerWriteReactor<v1::AnswerChunk>* SynthesisRpc::QueryModel(grpc::CallbackServerContext* context,
                                                                    const v1::QueryModelRequest* request) {
  return Handle<Method::kQueryModel>(calls_, *context, *request, rpc::QueryModel);
}

}  // namespace curator::rpc
