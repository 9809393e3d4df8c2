// Asks for the mean of a measure in each group of an attribute, after it has shown what that costs.
//
//   mean_by_group SERVER PRINCIPAL DATASET MEASURE ATTRIBUTE RHO
//
// It shows statistics with the client library: a workload, its price, and the answer with its intervals, of
// which those of a mean may be infinite.
#include <cmath>
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>

#include "client/client.h"
#include "client/request_id.h"

namespace {

int Fail(const absl::Status& status) {
  std::cerr << "mean_by_group: " << status.message() << "\n";
  return 1;
}

curator::v1::Workload MeanByGroup(const std::string& measure, const std::string& attribute) {
  curator::v1::Workload workload;
  curator::v1::Statistics& asked = *workload.add_query_sets()->mutable_statistics();
  asked.add_statistics()->mutable_count();  // of records: a mean divides by the number of its values
  asked.add_statistics()->set_mean(measure);
  asked.add_by(attribute);
  return workload;
}

void Print(const curator::QuerySetAnswer& set) {
  const size_t columns = static_cast<size_t>(set.header.columns_size());
  for (size_t i = 0; i < set.size(); ++i) {
    for (size_t column = 0; column < columns; ++column) std::cout << set.labels[i * columns + column] << "  ";
    if (std::isnan(set.estimates[i])) {
      std::cout << "none: hardly a value is in the group\n";
      continue;
    }
    std::cout << set.estimates[i] << "  from " << set.interval_lows[i] << " to " << set.interval_highs[i]
              << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::cerr << "usage: mean_by_group SERVER PRINCIPAL DATASET MEASURE ATTRIBUTE RHO\n";
    return 2;
  }
  const curator::Client client({.server = argv[1], .principal = argv[2]});

  curator::v1::EstimateWorkloadRequest question;
  question.set_dataset(argv[3]);
  *question.mutable_workload() = MeanByGroup(argv[4], argv[5]);
  question.mutable_spend()->set_rho(argv[6]);
  const absl::StatusOr<curator::v1::EstimateWorkloadResponse> estimate = client.EstimateWorkload(question);
  if (!estimate.ok()) return Fail(estimate.status());
  for (const auto& forecast : estimate->statistics())
    std::cout << forecast.statistic() << ": " << forecast.words() << "\n";

  curator::v1::AnswerWorkloadRequest request;
  const absl::StatusOr<std::string> id = curator::client::NewRequestId();
  if (!id.ok()) return Fail(id.status());
  request.set_request_id(*id);
  request.set_dataset(question.dataset());
  *request.mutable_workload() = question.workload();
  *request.mutable_spend() = question.spend();
  const absl::StatusOr<curator::Answer> answer = client.AnswerWorkload(std::move(request));
  if (!answer.ok()) return Fail(answer.status());
  for (const curator::QuerySetAnswer& set : answer->query_sets) Print(set);
}
