#include "client/cli/testing/command_line.h"

#include <fstream>

#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/synthesis.pb.h"

namespace curator::cli::testing {
namespace {

v1::Dataset SmallDataset() {
  v1::Dataset dataset;
  dataset.set_name("census");
  dataset.set_state(v1::DATASET_STATE_SEALED);
  v1::Attribute& attribute = *dataset.mutable_schema()->add_attributes();
  attribute.set_name("sex");
  attribute.mutable_categorical()->add_values("f");
  attribute.mutable_categorical()->add_values("m");
  return dataset;
}

v1::AnswerChunk Header() {
  v1::AnswerChunk chunk;
  chunk.mutable_header()->set_release_id("r1");
  chunk.mutable_header()->set_marginal_count(1);
  return chunk;
}

v1::AnswerChunk MarginalOfSex() {
  v1::AnswerChunk chunk;
  chunk.mutable_marginal()->add_attributes("sex");
  chunk.mutable_marginal()->add_sizes(2);
  return chunk;
}

v1::AnswerChunk TwoCounts() {
  v1::AnswerChunk chunk;
  chunk.mutable_cells()->add_counts(5);
  chunk.mutable_cells()->add_counts(10);
  return chunk;
}

v1::GetReleaseChunk ReleaseOfCensus() {
  v1::GetReleaseChunk chunk;
  chunk.mutable_release()->set_id("r1");
  chunk.mutable_release()->set_dataset("census");
  return chunk;
}

v1::Operation Ended() {
  v1::Operation operation;
  operation.set_id("o1");
  operation.set_state(v1::Operation::DONE);
  operation.set_release_id("r1");
  return operation;
}

}  // namespace

std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

CommandLine::CommandLine() {
  server.Answer<v1::GetDatasetRequest>(SmallDataset());
  server.Answer<v1::AnswerWorkloadRequest>(Header(), MarginalOfSex(), TwoCounts());
  server.Answer<v1::QueryModelRequest>(Header(), MarginalOfSex(), TwoCounts());
  server.Answer<v1::GetReleaseRequest>(ReleaseOfCensus());
  const v1::Operation operation = Ended();
  server.Answer<v1::CreateSynthesisRequest>(operation);
  server.Answer<v1::GetOperationRequest>(operation);
  server.Answer<v1::WaitOperationRequest>(operation);
  server.Answer<v1::WatchOperationRequest>(operation);
  v1::VerifyLedgerResponse consistent;
  consistent.set_ok(true);
  server.Answer<v1::VerifyLedgerRequest>(consistent);
}

ExitStatus CommandLine::Run(const std::vector<std::string>& arguments) {
  std::vector<std::string> line = {"--server", server.address()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  out_.str("");
  error_.str("");
  std::istringstream in;
  return RunProgram(line, Terminal(), {in, out_, error_});
}

std::string CommandLine::File(const std::string& name, const std::string& content) const {
  std::ofstream(Path(name)) << content;
  return Path(name);
}

std::string CommandLine::Content(const std::string& name) const {
  std::ostringstream content;
  content << std::ifstream(Path(name), std::ios::binary).rdbuf();
  return content.str();
}

}  // namespace curator::cli::testing
