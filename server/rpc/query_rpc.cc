#include "rpc/query_rpc.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "curator/internal/sql.pb.h"
#include "dp/accounting/event.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/answer_stream.h"
#include "rpc/convert_budget.h"
#include "rpc/convert_schema.h"
#include "rpc/convert_selection.h"
#include "rpc/convert_workload.h"
#include "rpc/handle.h"
#include "rpc/page.h"
#include "service/access.h"
#include "service/releases/releases.h"
#include "service/workloads/plan_forecasts.h"
#include "service/workloads/spend_choices.h"
#include "service/workloads/sql_program.h"
#include "service/workloads/workloads.h"

namespace curator::rpc {
namespace {

template <typename Request>
std::optional<double> StatedLevel(const Request& request) {
  if (!request.has_confidence_level()) return std::nullopt;
  return request.confidence_level();
}

template <typename Request>
absl::StatusOr<std::optional<service::Selection>> SelectionOf(const Request& request) {
  if (!request.has_selection()) return std::nullopt;
  ASSIGN_OR_RETURN(service::Selection selection, rpc::FromProto(request.selection()));
  return selection;
}

template <typename Request>
absl::StatusOr<service::WorkloadRequest> FromProto(const Call& call, const Request& request) {
  service::WorkloadRequest result{.principal = call.principal(),
                                  .dataset = DatasetName(request.dataset()),
                                  .client_left = call.client_left()};
  ASSIGN_OR_RETURN(result.queries, rpc::FromProto(request.workload()));
  if (request.has_spend() && request.has_target())
    return InvalidField("target", "is given beside a spend: one of them says what is paid");
  ASSIGN_OR_RETURN(result.spend, rpc::FromProto(request.spend()));
  if (request.has_target()) {
    ASSIGN_OR_RETURN(result.target, rpc::FromProto(request.target()));
  }
  ASSIGN_OR_RETURN(result.objective, rpc::FromProto(request.objective()));
  ASSIGN_OR_RETURN(result.mechanism, rpc::FromProto(request.mechanism()));
  result.parts.assign(request.parts().begin(), request.parts().end());
  return result;
}

void AddMarginalForecast(const service::WorkloadEstimate& estimate, size_t set, const dp::QueryGroup& group,
                         const v1::Noise& noise, v1::EstimateWorkloadResponse& response) {
  const dp::Domain& domain = estimate.dataset().schema.domain;
  v1::EstimateWorkloadResponse::MarginalForecast& proto = *response.add_marginals();
  for (const uint32_t attribute : group.attributes)
    proto.add_attributes(domain.attributes()[attribute].name());
  proto.set_cells(domain.CellCount(group.attributes).value_or(0));
  *proto.mutable_noise() = noise;
  proto.set_query_set(static_cast<int32_t>(set));
}

// `noise` has the kind and the level that all of them have.
absl::Status AddJointMarginals(const service::WorkloadEstimate& estimate, v1::Noise noise,
                               service::PlanForecasts& forecasts, v1::EstimateWorkloadResponse& response) {
  ASSIGN_OR_RETURN(const std::vector<service::JointMarginalForecast> marginals, forecasts.OfMarginals());
  for (const service::JointMarginalForecast& marginal : marginals) {
    noise.set_standard_deviation(marginal.standard_deviation);
    noise.set_expected_absolute_error(marginal.expected_absolute_error);
    noise.set_confidence_half_width(marginal.half_width);
    AddMarginalForecast(estimate, marginal.set, estimate.asked[marginal.set].queries.groups[marginal.group],
                        noise, response);
  }
  return absl::OkStatus();
}

v1::EstimateWorkloadResponse::QuerySetForecast ForecastProto(const service::SetForecast& forecast, size_t set,
                                                             const v1::Noise& noise) {
  v1::EstimateWorkloadResponse::QuerySetForecast proto;
  proto.set_query_set(static_cast<int32_t>(set));
  proto.set_strategy(ToProto(forecast.measurement.strategy));
  proto.set_words(forecast.measurement.description);
  proto.set_measurements(forecast.measurement.measured_values);
  *proto.mutable_noise() = noise;
  proto.set_answers(forecast.answers);
  proto.set_standard_deviation(forecast.standard_deviation);
  proto.set_largest_standard_deviation(forecast.largest_standard_deviation);
  proto.set_confidence_half_width(forecast.half_width);
  proto.set_gap(forecast.gap);
  return proto;
}

using StatisticForecasts =
    google::protobuf::RepeatedPtrField<v1::EstimateWorkloadResponse::StatisticForecast>;

v1::EstimateWorkloadResponse::StatisticForecast::Unit UnitProto(dp::ErrorUnit unit) {
  using Forecast = v1::EstimateWorkloadResponse::StatisticForecast;
  switch (unit) {
    case dp::ErrorUnit::kRecords:
      return Forecast::RECORDS;
    case dp::ErrorUnit::kValue:
      return Forecast::VALUE;
    case dp::ErrorUnit::kValueTimesRecords:
      return Forecast::VALUE_TIMES_RECORDS;
    case dp::ErrorUnit::kSquaredValueTimesRecords:
      return Forecast::SQUARED_VALUE_TIMES_RECORDS;
    case dp::ErrorUnit::kRank:
      return Forecast::RANK;
  }
  return Forecast::UNIT_UNSPECIFIED;
}

// Of all sets of statistics, where the draws are bought as `bought` says.
absl::Status AddStatistics(const service::WorkloadEstimate& estimate,
                           const std::vector<dp::BoughtDraw>& bought, double level,
                           StatisticForecasts& forecasts) {
  const service::DatasetView& dataset = estimate.dataset();
  const std::vector<dp::AskedStatistics> sets = dp::StatisticsOf(estimate.asked);
  for (size_t i = 0; i < sets.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<dp::StatisticForecast> of_set,
                     dp::ForecastsOf(dataset.schema.domain, dataset.unit_bound, sets, i,
                                     estimate.plan.statistics, bought, level));
    for (const dp::StatisticForecast& forecast : of_set) {
      v1::EstimateWorkloadResponse::StatisticForecast& proto = *forecasts.Add();
      proto.set_query_set(static_cast<int32_t>(i));
      proto.set_statistic(forecast.statistic);
      proto.set_words(forecast.words);
      proto.set_standard_deviation(forecast.standard_deviation);
      proto.set_confidence_half_width(forecast.half_width);
      proto.set_unit(UnitProto(forecast.unit));
      proto.set_groups(forecast.groups);
    }
  }
  return absl::OkStatus();
}

void KeepKindAndLevel(v1::Noise& noise) {
  v1::Noise kept;
  kept.set_mechanism(noise.mechanism());
  kept.set_confidence_level(noise.confidence_level());
  noise = std::move(kept);
}

absl::Status AddForecasts(const service::WorkloadEstimate& estimate, double level,
                          const std::stop_token& client_left, v1::EstimateWorkloadResponse& response) {
  if (dp::AreStatistics(estimate.asked)) {
    int64_t values = 0;
    const std::vector<dp::AskedStatistics> sets = dp::StatisticsOf(estimate.asked);
    for (const dp::StatisticsDraw& draw : estimate.plan.statistics)
      values += dp::NumberOfValues(estimate.dataset().schema.domain, sets, draw);
    response.set_total_cells(values);
    return AddStatistics(estimate, estimate.plan.bought_draws, level, *response.mutable_statistics());
  }
  response.set_total_cells(estimate.plan.shape.measured_values);
  ASSIGN_OR_RETURN(const service::NoiseSummary summary,
                   service::Summarize(estimate.plan.bought.noise, level));
  v1::Noise noise = ToProto(summary);
  // That of residuals differs from set to set, and parities are weighted.
  if (estimate.plan.residual || dp::AreByParity(estimate.plan.shape.joint.plans)) KeepKindAndLevel(noise);
  service::PlanForecasts forecasts(estimate.dataset().schema.domain, estimate.asked, estimate.plan, level,
                                   client_left);
  for (size_t i = 0; i < estimate.asked.size(); ++i) {
    ASSIGN_OR_RETURN(const service::SetForecast forecast, forecasts.OfSet(i));
    if (!forecast.is_measured_marginals) {
      *response.add_query_sets() = ForecastProto(forecast, i, noise);
      continue;
    }
    for (const dp::QueryGroup& group : estimate.plan.shape.asked[i].groups)
      AddMarginalForecast(estimate, i, group, noise, response);
  }
  return AddJointMarginals(estimate, noise, forecasts, response);
}

// Keeps what is measured and the stated level, and nothing of a spend.
void RemoveErrors(v1::EstimateWorkloadResponse& response) {
  const auto remove = [](v1::Noise& noise) {
    const double level = noise.confidence_level();
    noise.Clear();
    noise.set_confidence_level(level);
  };
  for (auto& marginal : *response.mutable_marginals()) remove(*marginal.mutable_noise());
  for (auto& set : *response.mutable_query_sets()) {
    remove(*set.mutable_noise());
    set.clear_standard_deviation();
    set.clear_largest_standard_deviation();
    set.clear_confidence_half_width();
  }
  for (auto& statistic : *response.mutable_statistics()) {
    statistic.clear_standard_deviation();
    statistic.clear_confidence_half_width();
  }
}

void AddPrice(const service::WorkloadEstimate& estimate, v1::EstimateWorkloadResponse& response) {
  for (v1::Cost& cost : ToProto(estimate.price, PriceTense::kWouldCost))
    *response.add_costs() = std::move(cost);
  response.set_event(dp::Describe(estimate.plan.bought.event));
  response.set_fits(estimate.price.Fits());
  *response.mutable_spend() = ToProto(estimate.plan.spend);
}

// What a spend that was found for a target reaches is at most the target, whose bound is computed to a
// millionth.
double ReachedError(const std::optional<dp::Target>& target, double max_error) {
  return target && !target->rmse ? std::min(max_error, target->max_error) : max_error;
}

absl::Status AddChoices(const service::WorkloadEstimate& estimate, const service::SpendChoices& choices,
                        const std::optional<dp::Target>& target, double level,
                        v1::EstimateWorkloadResponse& response) {
  response.set_max_error(ReachedError(target, choices.max_error));
  for (const service::SpendChoice& choice : choices.choices) {
    v1::EstimateWorkloadResponse::Choice& proto = *response.add_choices();
    *proto.mutable_spend() = ToProto(choice.spend);
    for (v1::Cost& cost : ToProto(choice.price, PriceTense::kWouldCost)) *proto.add_costs() = std::move(cost);
    proto.set_fits(choice.price.Fits());
    proto.set_share_of_left(choice.share_of_left);
    proto.set_standard_deviation(choice.standard_deviation);
    const bool is_for_target = choice.spend == estimate.plan.spend;
    proto.set_max_error(is_for_target ? ReachedError(target, choice.max_error) : choice.max_error);
    RETURN_IF_ERROR(AddStatistics(estimate, choice.bought_draws, level, *proto.mutable_statistics()));
  }
  return absl::OkStatus();
}

absl::Status EstimateWorkload(service::Services& services, const Call& call,
                              const v1::EstimateWorkloadRequest& request,
                              v1::EstimateWorkloadResponse& response) {
  ASSIGN_OR_RETURN(const service::WorkloadRequest workload, FromProto(call, request));
  ASSIGN_OR_RETURN(const double level, ConfidenceLevel(StatedLevel(request)));
  ASSIGN_OR_RETURN(const service::WorkloadEstimate estimate, service::EstimateWorkload(services, workload));
  RETURN_IF_ERROR(AddForecasts(estimate, level, call.client_left(), response));
  if (estimate.ladder.empty()) {
    AddPrice(estimate, response);
  } else {
    RemoveErrors(response);
  }
  response.set_refused_by_rule(estimate.refused_by_rule);
  rpc::SetFacts(estimate.dataset().record.facts, response);
  response.set_marginals_left_out(estimate.marginals_left_out);
  if (estimate.free_from) response.add_free_from(*estimate.free_from);
  const double confidence = workload.target ? workload.target->confidence : level;
  ASSIGN_OR_RETURN(const service::SpendChoices choices, service::SpendChoicesFor(estimate, confidence));
  return AddChoices(estimate, choices, workload.target, level, response);
}

v1::AnswerChunk HeaderOf(const ledger::Release& release, const std::string& request_id, bool replayed,
                         const service::Price& price, const dp::WorkloadRelease& answer) {
  v1::AnswerChunk chunk;
  v1::AnswerHeader& header = *chunk.mutable_header();
  header.set_release_id(release.id);
  header.set_charge_id(release.charge_id);
  header.set_request_id(request_id);
  header.set_replayed(replayed);
  for (v1::Cost& cost : ToProto(price, PriceTense::kHasCost)) *header.add_costs() = std::move(cost);
  for (const double share : price.SharesOfPromise()) header.add_share_of_promise(share);
  CountSets(answer.asked, header);
  header.set_event(answer.event);
  return chunk;
}

absl::Status WriteAnswers(const Call& call, const dp::Domain& domain, const dp::WorkloadRelease& release,
                          double level, const dp::PostProcessing& steps,
                          const std::optional<service::Selection>& selection, const ChunkWriter& write) {
  ASSIGN_OR_RETURN(service::ReleaseAnswers answers,
                   service::ReleaseAnswers::Create(domain, release, level, steps, call.client_left()));
  return rpc::WriteAnswers(domain, release.asked, answers, selection, write);
}

absl::Status AnswerWorkload(service::Services& services, const Call& call,
                            const v1::AnswerWorkloadRequest& request,
                            MessageWriter<v1::AnswerChunk>& writer) {
  ASSIGN_OR_RETURN(service::WorkloadRequest workload, FromProto(call, request));
  workload.prefer_free = request.prefer_free();
  ASSIGN_OR_RETURN(workload.selection, SelectionOf(request));
  ASSIGN_OR_RETURN(const double level, ConfidenceLevel(StatedLevel(request)));
  const dp::PostProcessing steps = rpc::FromProto(request.post_processing());
  const service::Intent intent = IntentOf(request);
  ASSIGN_OR_RETURN(const RequestId request_id, RequestId::Parse(request.request_id()));
  ASSIGN_OR_RETURN(const service::WorkloadAnswer answer,
                   service::AnswerWorkload(services, workload, steps, request_id, intent));
  v1::AnswerChunk header =
      HeaderOf(answer.release, answer.request_id, answer.replayed, answer.price, answer.answer);
  if (answer.free_from) header.mutable_header()->add_free_from(*answer.free_from);
  if (answer.could_be_free_from) header.mutable_header()->add_could_be_free_from(*answer.could_be_free_from);
  if (intent == service::Intent::kValidateOnly) {
    writer.Write(header);
    return absl::OkStatus();
  }
  rpc::SetFacts(answer.dataset().record.facts, *header.mutable_header());
  if (answer.receipt) *header.mutable_header()->mutable_receipt() = ToProto(*answer.receipt);
  header.mutable_header()->set_post_processing(dp::Describe(steps));
  header.mutable_header()->set_confidence_level(level);
  if (!writer.Write(header)) return ClientDisconnected();
  return WriteAnswers(call, answer.dataset().schema.domain, answer.answer, level, steps, workload.selection,
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

v1::SynthesisSummary SynthesisProto(const dp::SynthesisRelease& synthesis,
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
  proto.set_protects(service::WhatItProtects(dataset));
  rpc::SetFacts(dataset.record.facts, proto);
  return proto;
}

absl::Status GetRelease(service::Services& services, const Call& call, const v1::GetReleaseRequest& request,
                        MessageWriter<v1::GetReleaseChunk>& writer) {
  ASSIGN_OR_RETURN(const double level, ConfidenceLevel(StatedLevel(request)));
  ASSIGN_OR_RETURN(const std::optional<service::Selection> selection, SelectionOf(request));
  ASSIGN_OR_RETURN(service::ReleaseView view,
                   service::GetRelease(services, Method::kGetRelease, call.principal(), request.release_id(),
                                       call.client_left()));
  const dp::Domain& domain = view.dataset.schema.domain;
  v1::GetReleaseChunk first;
  *first.mutable_release() = ReleaseProto(view.release, view.dataset.record.name, view.charge.request_id);
  if (!writer.Write(first)) return ClientDisconnected();
  if (const auto* synthesis = std::get_if<dp::SynthesisRelease>(&view.content)) {
    if (selection) return InvalidField("selection", "is of answers; a synthesis has none");
    v1::GetReleaseChunk chunk;
    *chunk.mutable_synthesis() = SynthesisProto(*synthesis, view.dataset);
    return writer.Write(chunk) ? absl::OkStatus() : ClientDisconnected();
  }
  const auto& answer = std::get<dp::WorkloadRelease>(view.content);
  const dp::PostProcessing steps = rpc::FromProto(request.post_processing());
  RETURN_IF_ERROR(service::CheckPostProcessing(domain, answer, steps));
  RETURN_IF_ERROR(view.memory.AddUpToAll(service::PostProcessingBytes(domain, answer, steps)));
  if (selection) RETURN_IF_ERROR(service::CheckSelection(domain, answer.asked, *selection));
  const auto write = [&](const v1::AnswerChunk& chunk) {
    v1::GetReleaseChunk wrapped;
    *wrapped.mutable_answer() = chunk;
    return writer.Write(wrapped);
  };
  v1::AnswerChunk header = HeaderOf(view.release, view.charge.request_id, true, view.price, answer);
  rpc::SetFacts(view.dataset.record.facts, *header.mutable_header());
  header.mutable_header()->set_post_processing(dp::Describe(steps));
  header.mutable_header()->set_confidence_level(level);
  if (!write(header)) return ClientDisconnected();
  return WriteAnswers(call, domain, answer, level, steps, selection, write);
}

absl::Status ListReleases(service::Services& services, const Call& call,
                          const v1::ListReleasesRequest& request, v1::ListReleasesResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "releases", request.dataset()));
  ASSIGN_OR_RETURN(const ledger::ReleaseList list,
                   service::ListReleases(services, call.principal(), DatasetName(request.dataset()),
                                         {.after_id = page.after, .limit = page.size}));
  for (const ledger::Release& release : list.releases) {
    *response.add_releases() = ReleaseProto(release, request.dataset(), release.request_id);
  }
  if (list.has_more) response.set_next_page_token(page.TokenAfter(list.last));
  return absl::OkStatus();
}

absl::Status ShareRelease(service::Services& services, const Call& call,
                          const v1::ShareReleaseRequest& request, v1::ShareReleaseResponse& response) {
  if (services.directory != nullptr) {
    // First whether the caller may: only who may share learns who is known.
    RETURN_IF_ERROR(service::ShareRelease(services, call.principal(), request.release_id(),
                                          request.principal(), service::Intent::kValidateOnly)
                        .status());
    RETURN_IF_ERROR(service::CheckCanHoldRights(services.directory, "principal", request.principal()));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> shared_with,
                   service::ShareRelease(services, call.principal(), request.release_id(),
                                         request.principal(), IntentOf(request)));
  for (const std::string& each : shared_with) response.add_principals(each);
  return absl::OkStatus();
}

constexpr size_t kMostSqlBytes = 16'384;

// The names and kinds of a schema, and what may be missing: no categories, tokens or bounds, which would be
// most of its bytes.
v1::Attribute OutlineOf(const dp::Attribute& attribute) {
  v1::Attribute outline;
  outline.set_name(attribute.name());
  if (const auto* integer = std::get_if<dp::IntegerKind>(&attribute.kind()))
    outline.mutable_integer()->set_bin_width(integer->bin_width);
  if (std::holds_alternative<dp::CategoricalKind>(attribute.kind())) outline.mutable_categorical();
  if (std::holds_alternative<dp::NumericKind>(attribute.kind())) outline.mutable_numeric();
  if (std::holds_alternative<dp::CodedKind>(attribute.kind())) outline.mutable_coded();
  if (std::holds_alternative<dp::DateKind>(attribute.kind())) outline.mutable_date();
  if (attribute.missing_code()) outline.mutable_missing()->set_bin("");
  return outline;
}

v1::Schema OutlineOf(const dp::Schema& schema) {
  v1::Schema outline;
  for (const dp::Attribute& attribute : schema.domain.attributes())
    *outline.add_attributes() = OutlineOf(attribute);
  for (const dp::Measure& measure : schema.domain.measures()) {
    v1::Measure& named = *outline.add_measures();
    named.set_name(measure.name());
    if (measure.missing()) named.mutable_missing();
  }
  if (const auto* person = std::get_if<dp::PersonUnit>(&schema.unit))
    outline.mutable_unit()->mutable_person()->set_id_column(person->id_column);
  if (const auto* group = std::get_if<dp::GroupUnit>(&schema.unit))
    outline.mutable_unit()->mutable_group()->set_id_column(group->id_column);
  return outline;
}

// Reads the dataset's schema, and has the statement translated by the program of service::SqlProgram, which
// gets the names and kinds of the schema and nothing else.
absl::Status TranslateSql(service::Services& services, const Call& call,
                          const v1::TranslateSqlRequest& request, v1::TranslateSqlResponse& response) {
  ASSIGN_OR_RETURN(const service::DatasetView dataset,
                   service::FindDataset(services.access(), Method::kTranslateSql, call.principal(),
                                        DatasetName(request.dataset())));
  if (request.sql().size() > kMostSqlBytes) {
    return InvalidField(
        "sql", absl::StrCat("has ", request.sql().size(), " bytes; at most ", kMostSqlBytes, " are read"));
  }
  if (services.sql == nullptr) return absl::UnavailableError("this server translates no SQL");
  internal::SqlTask task;
  *task.mutable_schema() = OutlineOf(dataset.schema);
  task.set_dataset(dataset.record.name);
  task.set_sql(request.sql());
  ASSIGN_OR_RETURN(const std::string output, services.sql->Run(call.principal(), task.SerializeAsString()));
  internal::SqlResult result;
  if (!result.ParseFromString(output)) result.Clear();
  switch (result.result_case()) {
    case internal::SqlResult::kTranslation:
      response.Swap(result.mutable_translation());
      return absl::OkStatus();
    case internal::SqlResult::kRefusal:
      return InvalidField("sql", result.refusal());
    case internal::SqlResult::RESULT_NOT_SET:
      break;
  }
  return absl::InternalError("the program that translates SQL wrote no result");
}

}  // namespace

grpc::ServerUnaryReactor* QueryRpc::ShareRelease(grpc::CallbackServerContext* context,
                                                 const v1::ShareReleaseRequest* request,
                                                 v1::ShareReleaseResponse* response) {
  return Handle<Method::kShareRelease>(calls_, *context, *request, *response, rpc::ShareRelease);
}

grpc::ServerUnaryReactor* QueryRpc::TranslateSql(grpc::CallbackServerContext* context,
                                                 const v1::TranslateSqlRequest* request,
                                                 v1::TranslateSqlResponse* response) {
  return Handle<Method::kTranslateSql>(calls_, *context, *request, *response, rpc::TranslateSql);
}

grpc::ServerUnaryReactor* QueryRpc::EstimateWorkload(grpc::CallbackServerContext* context,
                                                     const v1::EstimateWorkloadRequest* request,
                                                     v1::EstimateWorkloadResponse* response) {
  return Handle<Method::kEstimateWorkload>(calls_, *context, *request, *response, rpc::EstimateWorkload);
}

grpc::ServerWriteReactor<v1::AnswerChunk>* QueryRpc::AnswerWorkload(
    grpc::CallbackServerContext* context, const v1::AnswerWorkloadRequest* request) {
  return Handle<Method::kAnswerWorkload>(calls_, *context, *request, rpc::AnswerWorkload);
}

grpc::ServerWriteReactor<v1::GetReleaseChunk>* QueryRpc::GetRelease(grpc::CallbackServerContext* context,
                                                                    const v1::GetReleaseRequest* request) {
  return Handle<Method::kGetRelease>(calls_, *context, *request, rpc::GetRelease);
}

grpc::ServerUnaryReactor* QueryRpc::ListReleases(grpc::CallbackServerContext* context,
                                                 const v1::ListReleasesRequest* request,
                                                 v1::ListReleasesResponse* response) {
  return Handle<Method::kListReleases>(calls_, *context, *request, *response, rpc::ListReleases);
}

}  // namespace curator::rpc
