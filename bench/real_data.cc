// Real data through a real server: how long import, seal and answers take, and how much memory the server
// takes for it.
//
//   bench_real_data [NAME ...]  nist_acs, loans and msnbc by default; names as in
//                               tests/testing/real_datasets.h
//
// A curatord of its own for each data set, on a SQLite ledger in $CURATOR_SCRATCH (or /dev/shm). Times are
// elapsed, from the client's call to its return, over a loopback socket; "server" is the processor time of
// curatord alone. "MB" is the largest resident set of curatord during the step.
#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "client/client.h"
#include "tests/testing/real_datasets.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/server_process.h"
#include "tests/testing/shared_folder.h"

namespace curator::bench {
namespace {

template <typename Value>
Value OrEnd(absl::StatusOr<Value> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

// What a server process has used so far.
class Usage {
 public:
  explicit Usage(pid_t pid) : folder_("/proc/" + std::to_string(pid)) {}

  double ProcessorSeconds() const {
    double seconds = 0;
    std::ifstream stat(folder_ + "/stat");
    std::string word;
    for (int field = 1; field <= 15 && stat >> word; ++field) {
      if (field >= 14) seconds += std::stod(word) / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
    return seconds;
  }

  // The largest resident set since the last call.
  double TakePeakMegabytes() const {
    double kilobytes = 0;
    std::ifstream status(folder_ + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) kilobytes = std::stod(line.substr(6));
    }
    std::ofstream(folder_ + "/clear_refs") << 5;
    return kilobytes / 1024;
  }

 private:
  std::string folder_;
};

class Run {
 public:
  explicit Run(const testing::RealDataset& dataset)
      : dataset_(dataset),
        server_({"--dev", "--listen", "127.0.0.1:0", "--data-dir", scratch_.path() + "/data", "--ledger",
                 "sqlite:" + scratch_.path() + "/ledger.db"}),
        address_(server_.Address().value_or("")),
        usage_(server_.pid()),
        owner_({.server = address_, .principal = "owner"}) {}

  void Measure() {
    const std::string csv = testing::CsvOf(dataset_, std::numeric_limits<int64_t>::max());
    v1::CreateDatasetRequest create = NewDataset();
    std::printf("\n%s: %ld records, %d attributes, %.1f MB of CSV\n", dataset_.name.c_str(),
                static_cast<long>(dataset_.records), create.schema().attributes_size(),
                static_cast<double>(csv.size()) * 1e-6);
    usage_.TakePeakMegabytes();
    Step("create", [&] {
      OrEnd(owner_.CreateDataset(create));
      return std::string();
    });
    Step("import", [&] {
      v1::ImportRecordsRequest::Header header;
      header.set_dataset("d");
      std::istringstream bytes(csv);
      const v1::ImportRecordsResponse report = OrEnd(owner_.ImportRecords(header, bytes));
      return std::to_string(report.rows_accepted()) + " accepted, " + std::to_string(report.rows_rejected()) +
             " rejected";
    });
    Step("seal", [&] {
      v1::SealDatasetRequest seal;
      seal.set_dataset("d");
      return std::to_string(OrEnd(owner_.SealDataset(seal)).records()) + " records";
    });
    for (const int k : {1, 1, 2, 3}) Answers(k);
  }

 private:
  v1::CreateDatasetRequest NewDataset() const {
    v1::CreateDatasetRequest request;
    request.set_name("d");
    const auto parsed = google::protobuf::util::JsonStringToMessage(testing::SchemaJsonOf(dataset_),
                                                                    request.mutable_schema());
    if (!parsed.ok()) OrEnd<int>(absl::InvalidArgumentError(parsed.ToString()));
    request.mutable_limit()->set_rule(v1::RULE_ZCDP);
    request.mutable_limit()->set_epsilon("10");
    request.mutable_limit()->set_delta("1e-9");
    return request;
  }

  void Answers(int k) {
    v1::AnswerWorkloadRequest question;
    question.set_dataset("d");
    question.mutable_workload()->add_query_sets()->mutable_marginals()->mutable_all_k_way()->set_k(k);
    question.mutable_spend()->set_rho("0.1");
    v1::EstimateWorkloadRequest estimate;
    estimate.set_dataset("d");
    *estimate.mutable_workload() = question.workload();
    *estimate.mutable_spend() = question.spend();
    if (const auto forecast = owner_.EstimateWorkload(estimate); !forecast.ok()) {
      std::printf("  all %d-way: refused before any charge: %s\n", k,
                  std::string(forecast.status().message()).c_str());
      return;
    }
    Step("all " + std::to_string(k) + "-way", [&] {
      const Answer answer = OrEnd(owner_.AnswerWorkload(question));
      size_t cells = 0;
      for (const Marginal& marginal : answer.marginals) cells += marginal.cells();
      return std::to_string(answer.marginals.size()) + " marginals, " + std::to_string(cells) + " cells";
    });
  }

  void Step(const std::string& name, const std::function<std::string()>& step) {
    const double processor = usage_.ProcessorSeconds();
    const auto start = std::chrono::steady_clock::now();
    const std::string result = step();
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("  %-10s %8.3f s, server %7.2f s, %6.0f MB   %s\n", name.c_str(), elapsed,
                usage_.ProcessorSeconds() - processor, usage_.TakePeakMegabytes(), result.c_str());
    std::fflush(stdout);
  }

  const testing::RealDataset dataset_;
  const testing::ScratchFolder scratch_;
  testing::ServerProcess server_;
  const std::string address_;
  const Usage usage_;
  const Client owner_;
};

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"nist_acs", "loans", "msnbc"};
  for (const std::string& name : names) {
    const curator::testing::RealDataset& dataset = curator::testing::RealDatasetNamed(name);
    if (!curator::shared::Has(dataset.csv)) {
      std::fprintf(stderr, "absent: %s (set CURATOR_SHARED)\n", curator::shared::PathOf(dataset.csv).c_str());
      return 1;
    }
    curator::bench::Run(dataset).Measure();
  }
}
