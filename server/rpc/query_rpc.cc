#include "rpc/query_rpc.h"

#include <optional>
#include <string>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/event.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/caller.h"
#include "rpc/convert_budget.h"
#include "rpc/convert_workload.h"
#include "rpc/grpc_status.h"
#include "service/releases.h"
#include "service/workloads.h"

namespace curator::rpc {
namespace {

absl::Status ClientLeft() {
  return absl::CancelledError("the client left before the end of the answer");
}

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
  ASSIGN_OR_RETURN(result.spend, rpc::FromProto(request.spend()));
  ASSIGN_OR_RETURN(result.mechanism, rpc::FromProto(request.mechanism()));
  result.parts.assign(request.parts().begin(), request.parts().end());
  if (request.has_target()) return InvalidField("target", "this server answers to a spend only");
  return result;
}

absl::Status Estimate(service::Curator& curator, const grpc::ServerContext& context,
                      const v1::EstimateWorkloadRequest& request, v1::EstimateWorkloadResponse& response) {
  ASSIGN_OR_RETURN(const service::WorkloadRequest workload, FromProto(context, request));
  ASSIGN_OR_RETURN(const double level, ConfidenceLevel(StatedLevel(request)));
  ASSIGN_OR_RETURN(const service::WorkloadEstimate estimate, service::EstimateWorkload(curator, workload));
  ASSIGN_OR_RETURN(const v1::Noise noise, ToProto(estimate.plan.noise, level));
  const dp::Domain& domain = estimate.dataset.schema.domain;
  for (const dp::AttributeSet& marginal : estimate.plan.marginals) {
    v1::EstimateWorkloadResponse::MarginalForecast* forecast = response.add_marginals();
    for (const uint32_t attribute : marginal) forecast->add_attributes(domain.attributes()[attribute].name());
    forecast->set_cells(domain.CellCount(marginal).value_or(0));
    *forecast->mutable_noise() = noise;
  }
  response.set_total_cells(estimate.plan.total_cells);
  for (v1::Cost& cost : ToProto(estimate.price, PriceTense::kWouldCost))
    *response.add_costs() = std::move(cost);
  response.set_event(dp::Describe(estimate.plan.event));
  response.set_fits(estimate.price.Fits());
  return absl::OkStatus();
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
  header.set_marginal_count(static_cast<int32_t>(answer.marginals.size()));
  header.set_event(answer.event);
  return chunk;
}

absl::Status WriteAnswer(const v1::AnswerChunk& header, const dp::Domain& domain,
                         const codec::WorkloadRelease& answer, double level, const ChunkWriter& write) {
  ASSIGN_OR_RETURN(const v1::Noise noise, ToProto(answer.noise, level));
  if (!write(header)) return ClientLeft();
  for (size_t i = 0; i < answer.marginals.size(); ++i) {
    if (!WriteMarginal(domain, answer.marginals[i], noise, answer.counts[i], write)) return ClientLeft();
  }
  return absl::OkStatus();
}

absl::Status Answer(service::Curator& curator, const grpc::ServerContext& context,
                    const v1::AnswerWorkloadRequest& request, grpc::ServerWriter<v1::AnswerChunk>& writer) {
  ASSIGN_OR_RETURN(const service::WorkloadRequest workload, FromProto(context, request));
  ASSIGN_OR_RETURN(const double level, ConfidenceLevel(StatedLevel(request)));
  if (request.prefer_free()) return InvalidField("prefer_free", "this server answers paid requests only");
  if (request.has_post_processing())
    return InvalidField("post_processing", "this server gives answers as they were measured only");
  const service::Intent intent =
      request.validate_only() ? service::Intent::kValidateOnly : service::Intent::kDo;
  ASSIGN_OR_RETURN(const service::WorkloadAnswer answer,
                   service::AnswerWorkload(curator, workload, request.request_id(), intent));
  v1::AnswerChunk header =
      HeaderOf(answer.release, answer.request_id, answer.replayed, answer.price, answer.answer);
  if (intent == service::Intent::kValidateOnly) {
    writer.Write(header);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const service::Receipt receipt,
                   service::ReceiptOf(curator.ledger, curator.signer, answer.release.charge_id));
  *header.mutable_header()->mutable_receipt() = rpc::ToProto(receipt);
  return WriteAnswer(header, answer.dataset.schema.domain, answer.answer, level,
                     [&](const v1::AnswerChunk& chunk) { return writer.Write(chunk); });
}

v1::Release ToProto(const ledger::Release& release, const std::string& dataset,
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

v1::SynthesisSummary ToProto(const codec::SynthesisRelease& synthesis, const dp::Domain& domain) {
  v1::SynthesisSummary proto;
  proto.set_method(synthesis.method);
  for (const uint32_t attribute : synthesis.attributes) {
    proto.add_attributes(domain.attributes()[attribute].name());
  }
  proto.set_records(synthesis.records);
  proto.mutable_settings()->insert(synthesis.settings.begin(), synthesis.settings.end());
  for (const std::string& line : synthesis.transcript) proto.add_transcript(line);
  proto.set_event(synthesis.event);
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
  *first.mutable_release() = ToProto(view.release, view.dataset.record.name, view.charge.request_id);
  if (!writer.Write(first)) return ClientLeft();
  if (const auto* synthesis = std::get_if<codec::SynthesisRelease>(&view.content)) {
    v1::GetReleaseChunk chunk;
    *chunk.mutable_synthesis() = ToProto(*synthesis, domain);
    return writer.Write(chunk) ? absl::OkStatus() : ClientLeft();
  }
  const auto& answer = std::get<codec::WorkloadRelease>(view.content);
  return WriteAnswer(HeaderOf(view.release, view.charge.request_id, true, view.price, answer), domain, answer,
                     level, [&](const v1::AnswerChunk& chunk) {
                       v1::GetReleaseChunk wrapped;
                       *wrapped.mutable_answer() = chunk;
                       return writer.Write(wrapped);
                     });
}

absl::Status List(service::Curator& curator, const grpc::ServerContext& context,
                  const v1::ListReleasesRequest& request, v1::ListReleasesResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const std::vector<service::ReleaseListing> listings,
                   service::ListReleases(curator, principal, request.dataset()));
  for (const service::ReleaseListing& listing : listings) {
    *response.add_releases() = ToProto(listing.release, request.dataset(), listing.request_id);
  }
  return absl::OkStatus();
}

}  // namespace

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
