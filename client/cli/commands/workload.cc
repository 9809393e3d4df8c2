// `curator workload`: questions, what they would cost, and their answers.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/delivery.h"
#include "client/cli/commands/workload_choice.h"
#include "client/cli/output/document.h"
#include "client/cli/output/forecast.h"
#include "client/client.h"

namespace curator::cli {
namespace {

// What is asked and for how much.
struct Question {
  std::string dataset;
  std::vector<std::string> parts;  // all that are sealed when empty
  WorkloadChoice workload;
  PriceChoice price;
  v1::Objective objective = v1::OBJECTIVE_UNSPECIFIED;
  v1::Mechanism mechanism = v1::MECHANISM_UNSPECIFIED;
  std::optional<double> confidence;
  std::optional<int64_t> assumed_rows;
};

struct EstimateWorkload : Question {};

struct AnswerWorkload : Question {
  bool prefer_free = false;
  v1::PostProcessing post_processing;
  std::string receipt;  // a file to which the receipt is appended
  std::string request_id;
  DeliveryChoice delivery;
};

// Fills an EstimateWorkloadRequest or an AnswerWorkloadRequest. Returns the dataset, whose schema is needed
// for the labels: an answer that is paid for must not end in an error about them.
template <typename Request>
absl::StatusOr<v1::Dataset> Fill(Session& session, const Question& question, Request& request) {
  ASSIGN_OR_RETURN(v1::Dataset dataset, session.client.GetDataset(question.dataset));
  ASSIGN_OR_RETURN(v1::Workload workload, WorkloadOf(question.workload, dataset.schema()));
  NameQuerySets(question.workload, workload, session.fields);
  request.set_dataset(question.dataset);
  for (const std::string& part : question.parts) request.add_parts(part);
  *request.mutable_workload() = std::move(workload);
  ASSIGN_OR_RETURN(const PriceChoice price, InRecords(session, question.price, question.assumed_rows));
  SetPrice(price, question.confidence, request);
  request.set_objective(question.objective);
  request.set_mechanism(question.mechanism);
  if (question.confidence) request.set_confidence_level(*question.confidence);
  return dataset;
}

absl::Status Run(Session& session, const EstimateWorkload& command) {
  v1::EstimateWorkloadRequest request;
  RETURN_IF_ERROR(Fill(session, command, request).status());
  ASSIGN_OR_RETURN(const v1::EstimateWorkloadResponse estimate, session.client.EstimateWorkload(request));
  const double level = command.confidence.value_or(0.95);
  session.Print(EstimateDocument(command.dataset, estimate, command.price.is_given(), command.assumed_rows,
                                 level, session.form, request));
  return absl::OkStatus();
}

// n choose k, for the numbers of marginals that a request may have.
int64_t Subsets(int64_t n, int64_t k) {
  int64_t subsets = 1;
  for (int64_t i = 1; i <= k; ++i) subsets = subsets * (n - k + i) / i;
  return subsets;
}

// How many of all k-way marginals the answer lacks because they are larger than was asked for.
int64_t LeftOut(const v1::Workload& workload, const v1::Schema& schema, const Answer& answer) {
  int64_t left_out = 0;
  for (int i = 0; i < workload.query_sets_size(); ++i) {
    const v1::AllKWay& all = workload.query_sets(i).marginals().all_k_way();
    if (!all.has_max_cells()) continue;
    const int attributes = all.attributes().empty() ? schema.attributes_size() : all.attributes_size();
    left_out += Subsets(attributes, std::min<int64_t>(all.k(), attributes - all.k()));
    for (const Marginal& marginal : answer.marginals) left_out -= marginal.header.query_set() == i ? 1 : 0;
  }
  return left_out;
}

absl::Status Run(Session& session, const AnswerWorkload& command) {
  ASSIGN_OR_RETURN(OpenDelivery delivery, Open(session, command.delivery));
  ASSIGN_OR_RETURN(ReceiptFile receipts, ReceiptFile::Open(command.receipt));
  v1::AnswerWorkloadRequest request;
  ASSIGN_OR_RETURN(const v1::Dataset dataset, Fill(session, command, request));
  request.set_prefer_free(command.prefer_free);
  if (command.post_processing.ByteSizeLong() > 0)
    *request.mutable_post_processing() = command.post_processing;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  const v1::Workload workload = request.workload();
  ASSIGN_OR_RETURN(const Answer answer, session.client.AnswerWorkload(std::move(request)));
  if (const int64_t left_out = LeftOut(workload, dataset.schema(), answer); left_out > 0)
    session.error << left_out << (left_out == 1 ? " marginal was" : " marginals were")
                  << " left out for size\n";
  // What is paid for is delivered, whatever becomes of its receipt.
  const absl::Status delivered = DeliverAnswer(session, answer, dataset.schema(), std::move(delivery));
  // A free answer has no charge, and so no receipt.
  if (!answer.header.free_from().empty()) return delivered;
  const absl::Status kept = receipts.Append(answer.header.receipt(), answer.header.charge_id());
  return delivered.ok() ? kept : delivered;
}

void AddQuestion(CLI::App* command, Question& question) {
  command->add_option("NAME", question.dataset, "The dataset")->required();
  AddParts(command, question.parts);
  AddWorkload(command, question.workload, WorkloadNeed::kRequired, AskedOf::kRecords);
  AddPrice(command, question.price);
  AddChoice<v1::Objective>(
      *command, "--objective", "sum|worst", question.objective,
      {{"sum", v1::OBJECTIVE_SUM}, {"worst", v1::OBJECTIVE_WORST}},
      "What the strategies make least with a budget: the sum of the mean variances of the "
      "query sets, or the variance of the worst answer; each by the weights of the sets. "
      "Default: sum");
}

// Throws a CLI11 error for options that contradict each other.
void CheckQuestion(const Question& question) {
  CheckWorkload(question.workload);
  CheckPrice(question.price, question.assumed_rows);
  if (question.price.has_max_error() && !question.workload.weights.empty()) {
    throw CLI::ValidationError("--weight",
                               "does not count beside --max-error, which holds for all answers "
                               "alike: give --rmse or a budget, or leave it out");
  }
  if (question.objective == v1::OBJECTIVE_UNSPECIFIED) return;
  if (question.price.has_max_error() || question.price.has_rmse()) {
    throw CLI::ValidationError("--objective",
                               "goes with a budget: --max-error makes the worst error least, "
                               "--rmse the mean");
  }
  if (question.workload.statistics.asks())
    throw CLI::ValidationError("--objective", "is of counts; statistics share a budget evenly");
}

}  // namespace

void AddWorkloadCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "workload", "Queries: noisy counts, and their costs");

  const auto estimate = std::make_shared<EstimateWorkload>();
  CLI::App* command =
      AddCommand(*group, "estimate",
                 "Price and expected error, computed from public facts; free. Without a budget: what 1%, 3%, "
                 "10% and 30% of what is left would buy",
                 "curator workload estimate census --marginals 1\n"
                 "  curator workload estimate census --marginals 2 --attributes age,sex,zone --rho 0.1\n"
                 "  curator workload estimate census --ranges age --max-error 100 --confidence 0.9\n"
                 "  curator workload estimate census --marginals 2 --ranges age --weight ranges=5 --rmse 40");
  AddQuestion(command, *estimate);
  AddMechanism(command, estimate->mechanism);
  AddConfidence(command, estimate->confidence);
  AddAssumedRows(command, estimate->assumed_rows,
                 "Also show errors as shares of this many records; a percentage in --max-error or --rmse is "
                 "of it");
  command->parse_complete_callback([estimate] { CheckQuestion(*estimate); });
  Choose(command, estimate, chosen);

  const auto answer = std::make_shared<AnswerWorkload>();
  command = AddCommand(
      *group, "answer", "Charge the budget and answer with noise",
      "curator workload answer census --marginals 2 --rho 0.1 --out pairs.csv\n"
      "  curator workload answer census --where 'age in [30,40] and sex = Female' --by education --rho 0.01\n"
      "  curator workload answer census --mean income --count --by zone --where 'age >= 18' --rho 0.01\n"
      "  curator workload answer census --quantiles 'income 0.25,0.5,0.75' --by sex --rho 0.01 --plot\n"
      "  curator workload answer census --prefixes age --max-error 100 --plot\n"
      "  curator workload answer census --marginals 1 --attributes age --prefer-free --plot ages.svg");
  AddQuestion(command, *answer);
  command->add_flag("--prefer-free", answer->prefer_free,
                    "Answer from earlier releases, free, if they determine all answers; otherwise pay, if a "
                    "budget is given");
  AddMechanism(command, answer->mechanism);
  AddConfidence(command, answer->confidence);
  AddPostProcessing(command, answer->post_processing);
  AddRequestId(command, answer->request_id);
  AddAssumedRows(command, answer->assumed_rows,
                 "A percentage in --max-error or --rmse is of this many records");
  AddReceipt(command, answer->receipt);
  AddDelivery(
      command, answer->delivery,
      "Write all answers to this file, CSV or JSON by its extension; - is standard output. Default: the "
      "first rows as tables");
  command->parse_complete_callback([answer] {
    CheckQuestion(*answer);
    if (!answer->prefer_free && !answer->price.is_given()) {
      throw CLI::ValidationError("--epsilon, --rho, --max-error, --rmse",
                                 "or --prefer-free: one of them is needed");
    }
  });
  Choose(command, answer, chosen);
}

}  // namespace curator::cli
