#include "rpc/query_rpc.h"

#include <optional>
#include <string>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/event.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/answer_stream.h"
#include "rpc/caller.h"
#include "rpc/convert_budget.h"
#include "rpc/convert_queries.h"
#include "rpc/convert_workload.h"
#include "rpc/grpc_status.h"
#include "service/releases.h"
#include "service/workloads.h"

namespace curator::rpc {
namespace {

template <typename Request>
std::optional<double> StatedLevel(const Request& request) {
  if (!request.has_confidence_level()) return std::nullopt;
  return request.confidence_level();
}

template <typename Request>
absl::StatusOr<service::WorkloadRequest> FromProto(const grpc::ServerContext& context,
                                                   const Request& request) {
  service::WorkloadRequest result;
  ASSIGN_OR_RETURN(result.principal, CallerOf(context));
  result.dataset = request.dataset();
  ASSIGN_OR_RETURN(result.queries, rpc::FromProto(request.workload()));
  if (request.has_spend() && request.has_target())
    return InvalidField("target", "is given beside a spend: one of them says what is paid");
  ASSIGN_OR_RETURN(result.spend, rpc::FromProto(request.spend()));
  if (request.has_target()) result.target = rpc::FromProto(request.target());
  ASSIGN_OR_RETURN(result.mechanism, rpc::FromProto(request.mechanism()));
  result.parts.assign(request.parts().begin(), request.parts().end());
  return result;
}

absl::Status ForecastSet(const service::WorkloadEstimate& estimate, size_t set, double level,
                         v1::EstimateWorkloadResponse& response) {
  const dp::Domain& domain = estimate.dataset.schema.domain;
  const dp::WorkloadShape& shape = estimate.plan.shape;
  const dp::Measurement& measurement = shape.measurements[set];
  ASSIGN_OR_RETURN(const v1::Noise noise, ToProto(estimate.plan.bought.noise, level));
  if (estimate.asked[set].query_class == dp::QueryClass::kMarginals &&
      measurement.plan.strategy == dp::Strategy::kDirect) {
    for (const dp::QueryGroup& group : shape.asked[set].groups) {
      v1::EstimateWorkloadResponse::MarginalForecast* forecast = response.add_marginals();
      for (const uint32_t attribute : group.attributes)
        forecast->add_attributes(domain.attributes()[attribute].name());
      forecast->set_cells(domain.CellCount(group.attributes).value_or(0));
      *forecast->mutable_noise() = noise;
      forecast->set_query_set(static_cast<int32_t>(set));
    }
    return absl::OkStatus();
  }
  v1::EstimateWorkloadResponse::QuerySetForecast& forecast = *response.add_query_sets();
  forecast.set_query_set(static_cast<int32_t>(set));
  forecast.set_strategy(ToProto(measurement.plan.strategy));
  forecast.set_words(dp::Describe(domain, measurement));
  for (const dp::QueryGroup& group : measurement.measured)
    forecast.set_measurements(forecast.measurements() + dp::NumberOfQueries(domain, group));
  *forecast.mutable_noise() = noise;
  const dp::ErrorClasses classes = dp::ErrorClassesOf(domain, shape, set);
  dp::AnswerError worst{.variance_factor = 0, .terms = 0};
  for (const dp::ErrorClass& each : classes) {
    forecast.set_answers(forecast.answers() + each.answers);
    if (each.error.variance_factor >= worst.variance_factor) worst = each.error;
  }
  forecast.set_standard_deviation(dp::MeanDeviation(estimate.plan.bought.noise, classes));
  forecast.set_largest_standard_deviation(dp::MeanDeviation(estimate.plan.bought.noise, {{worst, 1}}));
  ASSIGN_OR_RETURN(const double width, dp::HalfWidthOf(estimate.plan.bought.noise, worst, level));
  forecast.set_confidence_half_width(width);
  return absl::OkStatus();
}

absl::Status ForecastChoices(const service::WorkloadEstimate& estimate, double confidence,
                             v1::EstimateWorkloadResponse& response) {
  const dp::ErrorClasses classes = dp::ErrorClassesOf(estimate.dataset.schema.domain, estimate.plan.shape);
  ASSIGN_OR_RETURN(const double error,
                   dp::SimultaneousError(estimate.plan.bought.noise, classes, confidence));
  response.set_max_error(error);
  ASSIGN_OR_RETURN(const std::vector<service::SpendChoice> choices, service::SpendChoices(estimate));
  for (const service::SpendChoice& choice : choices) {
    v1::EstimateWorkloadResponse::Choice& proto = *response.add_choices();
    *proto.mutable_spend() = ToProto(choice.spend);
    for (v1::Cost& cost : ToProto(choice.price, PriceTense::kWouldCost)) *proto.add_costs() = std::move(cost);
    proto.set_fits(choice.price.Fits());
    proto.set_standard_deviation(dp::MeanDeviation(choice.noise, classes));
    ASSIGN_OR_RETURN(const double of_choice, dp::SimultaneousError(choice.noise, classes, confidence));
    proto.set_max_error(of_choice);
  }
  return absl::OkStatus();
}

absl::Status Estimate(service::Curator& curator, const grpc::ServerContext& context,
                      const v1::EstimateWorkloadRequest& request, v1::EstimateWorkloadResponse& response) {
  ASSIGN_OR_RETURN(const service::WorkloadRequest workload, FromProto(context, request));
  ASSIGN_OR_RETURN(const double level, ConfidenceLevel(StatedLevel(request)));
  ASSIGN_OR_RETURN(const service::WorkloadEstimate estimate, service::EstimateWorkload(curator, workload));
  for (size_t i = 0; i < estimate.asked.size(); ++i)
    RETURN_IF_ERROR(ForecastSet(estimate, i, level, response));
  response.set_total_cells(estimate.plan.shape.measured_values);
  for (v1::Cost& cost : ToProto(estimate.price, PriceTense::kWouldCost))
    *response.add_costs() = std::move(cost);
  response.set_event(dp::Describe(estimate.plan.bought.event));
  response.set_fits(estimate.price.Fits());
  *response.mutable_spend() = ToProto(estimate.plan.spend);
  if (estimate.free_from) response.add_free_from(*estimate.free_from);
  return ForecastChoices(estimate, workload.target ? workload.target->confidence : level, response);
}

v1::AnswerChunk HeaderOf(const ledger::Release& release, const std::string& request_id, bool replayed,
                         const service::Price& price, const codec::WorkloadRelease& answer) {
  v1::AnswerChunk chunk;
  v1::AnswerHeader& header = *chunk.mutable_header();
  header.set_release_id(release.id);
  header.set_charge_id(release.charge_id);
  header.set_request_id(request_id);
  header.set_replayed(replayed);
  for (v1::Cost& cost : ToProto(price, PriceTense::kHasCost)) *header.add_costs() = std::move(cost);
  CountParts(answer.asked, header);
  header.set_event(answer.event);
  return chunk;
}

absl::Status Answer(service::Curator& curator, const grpc::ServerContext& context,
                    const v1::AnswerWorkloadRequest& request, grpc::ServerWriter<v1::AnswerChunk>& writer) {
  ASSIGN_OR_RETURN(service::WorkloadRequest workload, FromProto(context, request));
  workload.prefer_free = request.prefer_free();
  ASSIGN_OR_RETURN(const double level, ConfidenceLevel(StatedLevel(request)));
  const dp::PostProcessing steps = rpc::FromProto(request.post_processing());
  const service::Intent intent =
      request.validate_only() ? service::Intent::kValidateOnly : service::Intent::kDo;
  ASSIGN_OR_RETURN(const service::WorkloadAnswer answer,
                   service::AnswerWorkload(
                       curator, workload, request.request_id(), intent,
                       [&](const service::DatasetView& dataset, const codec::WorkloadRelease& planned) {
                         return CheckProcessable(dataset.schema.domain, planned.asked, planned.plans,
                                                 planned.measured, planned.noise, steps);
                       }));
  v1::AnswerChunk header =
      HeaderOf(answer.release, answer.request_id, answer.replayed, answer.price, answer.answer);
  if (answer.free_from) header.mutable_header()->add_free_from(*answer.free_from);
  if (answer.could_be_free_from) header.mutable_header()->add_could_be_free_from(*answer.could_be_free_from);
  if (intent == service::Intent::kValidateOnly) {
    writer.Write(header);
    return absl::OkStatus();
  }
  if (!answer.free_from) {
    ASSIGN_OR_RETURN(const service::Receipt receipt,
                     service::ReceiptOf(curator.ledger, curator.signer, answer.release.charge_id));
    *header.mutable_header()->mutable_receipt() = ToProto(receipt);
  }
  header.mutable_header()->set_post_processing(dp::Describe(steps));
  header.mutable_header()->set_confidence_level(level);
  if (!writer.Write(header)) return ClientLeft();
  return WriteAnswers(answer.dataset.schema.domain, answer.answer, level, steps,
                      [&](const v1::AnswerChunk& chunk) { return writer.Write(chunk); });
}

v1::Release ReleaseProto(const ledger::Release& release, const std::string& dataset,
                         const std::string& request_id) {
  v1::Release proto;
  proto.set_id(release.id);
  proto.set_dataset(dataset);
  proto.set_charge_id(release.charge_id);
  proto.set_request_id(request_id);
  proto.set_kind(release.kind);
  proto.set_summary(release.label);
  proto.set_principal(release.principal);
  *proto.mutable_create_time() =
      google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(release.created_at_us);
  proto.set_size_bytes(release.payload_size);
  proto.set_payload_hash(release.payload_hash);
  return proto;
}

v1::SynthesisSummary SynthesisProto(const codec::SynthesisRelease& synthesis,
                                    const service::DatasetView& dataset) {
  const dp::Domain& domain = dataset.schema.domain;
  v1::SynthesisSummary proto;
  proto.set_method(synthesis.method);
  for (const uint32_t attribute : synthesis.attributes) {
    proto.add_attributes(domain.attributes()[attribute].name());
  }
  proto.set_records(synthesis.records);
  proto.mutable_settings()->insert(synthesis.settings.begin(), synthesis.settings.end());
  for (const std::string& line : synthesis.transcript) proto.add_transcript(line);
  proto.set_event(synthesis.event);
  proto.set_protects(service::WhomItProtects(dataset));
  return proto;
}

absl::Status Get(service::Curator& curator, const grpc::ServerContext& context,
                 const v1::GetReleaseRequest& request, grpc::ServerWriter<v1::GetReleaseChunk>& writer) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const double level, ConfidenceLevel(StatedLevel(request)));
  ASSIGN_OR_RETURN(const service::ReleaseView view,
                   service::GetRelease(curator, principal, request.release_id()));
  const dp::Domain& domain = view.dataset.schema.domain;
  v1::GetReleaseChunk first;
  *first.mutable_release() = ReleaseProto(view.release, view.dataset.record.name, view.charge.request_id);
  if (!writer.Write(first)) return ClientLeft();
  if (const auto* synthesis = std::get_if<codec::SynthesisRelease>(&view.content)) {
    v1::GetReleaseChunk chunk;
    *chunk.mutable_synthesis() = SynthesisProto(*synthesis, view.dataset);
    return writer.Write(chunk) ? absl::OkStatus() : ClientLeft();
  }
  const auto& answer = std::get<codec::WorkloadRelease>(view.content);
  const dp::PostProcessing steps = rpc::FromProto(request.post_processing());
  RETURN_IF_ERROR(CheckProcessable(domain, answer.asked, answer.plans, answer.measured, answer.noise, steps));
  const auto write = [&](const v1::AnswerChunk& chunk) {
    v1::GetReleaseChunk wrapped;
    *wrapped.mutable_answer() = chunk;
    return writer.Write(wrapped);
  };
  v1::AnswerChunk header = HeaderOf(view.release, view.charge.request_id, true, view.price, answer);
  header.mutable_header()->set_post_processing(dp::Describe(steps));
  header.mutable_header()->set_confidence_level(level);
  if (!write(header)) return ClientLeft();
  return WriteAnswers(domain, answer, level, steps, write);
}

absl::Status List(service::Curator& curator, const grpc::ServerContext& context,
                  const v1::ListReleasesRequest& request, v1::ListReleasesResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const std::vector<service::ReleaseListing> listings,
                   service::ListReleases(curator, principal, request.dataset()));
  for (const service::ReleaseListing& listing : listings) {
    *response.add_releases() = ReleaseProto(listing.release, request.dataset(), listing.request_id);
  }
  return absl::OkStatus();
}

absl::Status Share(service::Curator& curator, const grpc::ServerContext& context,
                   const v1::ShareReleaseRequest& request, v1::ShareReleaseResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  const service::Intent intent =
      request.validate_only() ? service::Intent::kValidateOnly : service::Intent::kDo;
  ASSIGN_OR_RETURN(
      const std::vector<std::string> shared_with,
      service::ShareRelease(curator, principal, request.release_id(), request.principal(), intent));
  for (const std::string& each : shared_with) response.add_principals(each);
  return absl::OkStatus();
}

}  // namespace

grpc::Status QueryRpc::ShareRelease(grpc::ServerContext* context, const v1::ShareReleaseRequest* request,
                                    v1::ShareReleaseResponse* response) {
  return ToGrpcStatus(Share(curator_, *context, *request, *response));
}

grpc::Status QueryRpc::EstimateWorkload(grpc::ServerContext* context,
                                        const v1::EstimateWorkloadRequest* request,
                                        v1::EstimateWorkloadResponse* response) {
  return ToGrpcStatus(Estimate(curator_, *context, *request, *response));
}

grpc::Status QueryRpc::AnswerWorkload(grpc::ServerContext* context, const v1::AnswerWorkloadRequest* request,
                                      grpc::ServerWriter<v1::AnswerChunk>* writer) {
  return ToGrpcStatus(Answer(curator_, *context, *request, *writer));
}

grpc::Status QueryRpc::GetRelease(grpc::ServerContext* context, const v1::GetReleaseRequest* request,
                                  grpc::ServerWriter<v1::GetReleaseChunk>* writer) {
  return ToGrpcStatus(Get(curator_, *context, *request, *writer));
}

grpc::Status QueryRpc::ListReleases(grpc::ServerContext* context, const v1::ListReleasesRequest* request,
                                    v1::ListReleasesResponse* response) {
  return ToGrpcStatus(List(curator_, *context, *request, *response));
}

}  // namespace curator::rpc
