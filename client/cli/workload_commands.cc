#include <string>
#include <utility>

#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/receipt_file.h"
#include "client/cli/commands/session.h"
#include "client/cli/commands/workload_choice.h"
#include "client/cli/output/answer_output.h"
#include "client/cli/output/document.h"
#include "client/cli/output/forecast.h"
#include "client/client.h"

namespace curator::cli {
namespace {

// What an estimate and a request for answers have in common. Returns the dataset, whose schema is needed for
// the labels: an answer that is paid for must not end in an error about them.
template <typename Command, typename Request>
absl::StatusOr<v1::Dataset> Fill(Session& session, const Command& command, Request& request) {
  ASSIGN_OR_RETURN(v1::Dataset dataset, session.client.GetDataset(command.dataset));
  ASSIGN_OR_RETURN(v1::Workload workload, WorkloadOf(command.workload, dataset.schema()));
  request.set_dataset(command.dataset);
  for (const std::string& part : command.parts) request.add_parts(part);
  *request.mutable_workload() = std::move(workload);
  SetPrice(command.price, command.confidence, request);
  request.set_mechanism(command.mechanism);
  if (command.confidence) request.set_confidence_level(*command.confidence);
  return dataset;
}

}  // namespace

absl::Status Run(Session& session, const EstimateWorkload& command) {
  v1::EstimateWorkloadRequest request;
  RETURN_IF_ERROR(Fill(session, command, request).status());
  ASSIGN_OR_RETURN(const v1::EstimateWorkloadResponse estimate, session.client.EstimateWorkload(request));
  Document document = ForecastDocument(command.dataset, estimate, command.assumed_rows);
  if (session.form == OutputForm::kCsv) {
    document = Document();
    document.tables.push_back(ForecastRecords(estimate, command.assumed_rows));
  }
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const AnswerWorkload& command) {
  RETURN_IF_ERROR(CheckDelivery(session, command.delivery));
  v1::AnswerWorkloadRequest request;
  ASSIGN_OR_RETURN(const v1::Dataset dataset, Fill(session, command, request));
  request.set_prefer_free(command.prefer_free);
  if (command.post_processing.ByteSizeLong() > 0)
    *request.mutable_post_processing() = command.post_processing;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  ASSIGN_OR_RETURN(const Answer answer, session.client.AnswerWorkload(std::move(request)));
  // What is paid for is delivered, whatever becomes of its receipt.
  const absl::Status delivered = DeliverAnswer(session, answer, dataset.schema(), command.delivery);
  // A free answer has no charge, and so no receipt.
  if (!answer.header.free_from().empty()) return delivered;
  const absl::Status kept =
      AppendReceipt(answer.header.receipt(), answer.header.charge_id(), command.receipt);
  return delivered.ok() ? kept : delivered;
}

}  // namespace curator::cli
