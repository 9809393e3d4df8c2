// Layer 5 of the audit, over a real socket: does the time of an answer tell from which of two tables it came?
// A report, not a gate.
//
// The same question is put to two datasets of one server, in random order, and the times of both are
// compared: tables that differ in one record, tables of n and of n + 1 records, and, to show that the
// measurement can see something, tables of n and of 20 n records. Prints the mean microseconds of processor
// time of both, without the slowest tenth, and Welch's t; |t| above 4.5 means that they differ.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "client/request_id.h"
#include "host/logging.h"
#include "tests/statistical/welch.h"
#include "tests/testing/nightly.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

constexpr double kKept = 0.9;
constexpr int kRows = 20'000;

std::string Rows(int rows, const std::string& first) {
  std::string csv = SmallCsv(rows);
  const size_t begin = csv.find('\n') + 1;
  return csv.replace(begin, csv.find('\n', begin) - begin, first);
}

void MakeDataset(const Client& owner, const std::string& name, const std::string& csv) {
  v1::CreateDatasetRequest dataset = NewDataset(name, v1::RULE_PURE, "9000");
  MakeSealed(owner, dataset, csv);
}

// Of this process, which is client and server in one. An onlooker sees the time that passes; it has the noise
// of the machine's other work added, so that this is what he could see at best.
double ProcessorMicroseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double Microseconds(const Client& owner, const std::string& dataset) {
  v1::AnswerWorkloadRequest request;
  request.set_request_id(*client::NewRequestId());
  request.set_dataset(dataset);
  *request.mutable_workload() = AllMarginals(2);
  request.mutable_spend()->set_epsilon("0.5");
  const double start = ProcessorMicroseconds();
  const absl::StatusOr<Answer> answer = owner.AnswerWorkload(request);
  const double end = ProcessorMicroseconds();
  if (!answer.ok()) std::fprintf(stderr, "%s\n", answer.status().ToString().c_str());
  return end - start;
}

double Mean(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

void Report(const Client& owner, const char* what, const std::string& one, const std::string& other) {
  statistics::TwoSamples times;
  std::mt19937_64 random(nightly::Seed(1));
  for (size_t i = 0; i < nightly::Volume(1000, 8000); ++i) {
    const bool first = (random() & 1) == 0;
    const double time = Microseconds(owner, first ? one : other);
    if (i >= 100) (first ? times.one : times.other).push_back(time);
  }
  const statistics::TwoSamples kept = statistics::Cropped(times, kKept);
  std::printf("%-44s %10.1f %10.1f %8.1f\n", what, Mean(kept.one), Mean(kept.other),
              statistics::WelchT(kept.one, kept.other));
}

void ReportAll() {
  host::SetUpLogging(host::LogLevel::kError);
  const TestServer server(Backend::kSqlite);
  const Client owner = server.ClientFor("owner");
  MakeDataset(owner, "table", Rows(kRows, "Female,3,0"));
  MakeDataset(owner, "other", Rows(kRows, "Male,97,3"));
  MakeDataset(owner, "added", Rows(kRows + 1, "Female,3,0"));
  MakeDataset(owner, "large", Rows(20 * kRows, "Female,3,0"));
  std::printf("%-44s %10s %10s %8s\n", "", "us, one", "us, other", "t");
  Report(owner, "answer, 20,000 rows: one replaced", "table", "other");
  Report(owner, "answer, 20,000 rows: one added", "table", "added");
  Report(owner, "answer: 20,000 rows, 400,000 rows", "table", "large");
}

}  // namespace
}  // namespace curator::testing

int main() {
  curator::testing::ReportAll();
}
