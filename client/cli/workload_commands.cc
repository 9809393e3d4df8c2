#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/answer_output.h"
#include "client/cli/commands.h"
#include "client/cli/document.h"
#include "client/cli/receipt_file.h"
#include "client/cli/session.h"
#include "client/cli/tables.h"
#include "client/client.h"

namespace curator::cli {

absl::Status Run(Session& session, const EstimateWorkload& command) {
  v1::EstimateWorkloadRequest request;
  request.set_dataset(command.dataset);
  for (const std::string& part : command.parts) request.add_parts(part);
  *request.mutable_workload() = WorkloadOf(command.workload);
  *request.mutable_spend() = SpendOf(command.spend);
  request.set_mechanism(command.mechanism);
  if (command.confidence) request.set_confidence_level(*command.confidence);
  const absl::StatusOr<v1::EstimateWorkloadResponse> estimate = session.client.EstimateWorkload(request);
  if (!estimate.ok()) return estimate.status();

  Document document;
  document.fields = {{"dataset", "dataset", command.dataset},
                     {"marginal_count", "marginals", int64_t{estimate->marginals_size()}},
                     {"total_cells", "cells", estimate->total_cells()},
                     {"event", "would be recorded as", estimate->event()},
                     {"fits", "fits the budget", estimate->fits()}};
  document.tables = {ForecastTable(*estimate, command.assumed_rows), CostTable(estimate->costs())};
  document.notes.push_back("errors are in counts; nothing was charged, no record was read");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const AnswerWorkload& command) {
  v1::AnswerWorkloadRequest request;
  request.set_dataset(command.dataset);
  for (const std::string& part : command.parts) request.add_parts(part);
  *request.mutable_workload() = WorkloadOf(command.workload);
  *request.mutable_spend() = SpendOf(command.spend);
  request.set_mechanism(command.mechanism);
  if (command.confidence) request.set_confidence_level(*command.confidence);
  // The schema first: an answer that is paid for must not end in an error about its labels.
  const absl::StatusOr<v1::Dataset> dataset = session.client.GetDataset(command.dataset);
  if (!dataset.ok()) return dataset.status();
  if (absl::Status status = session.SetRequestId(request, command.request_id); !status.ok()) return status;
  const absl::StatusOr<Answer> answer = session.client.AnswerWorkload(std::move(request));
  if (!answer.ok()) return answer.status();
  // What is paid for is delivered, whatever becomes of its receipt.
  const absl::Status delivered = DeliverAnswer(session, *answer, dataset->schema(), command.out);
  const absl::Status kept =
      AppendReceipt(answer->header.receipt(), answer->header.charge_id(), command.receipt);
  return delivered.ok() ? kept : delivered;
}

}  // namespace curator::cli
