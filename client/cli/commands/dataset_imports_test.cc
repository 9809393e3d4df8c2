// Imports, undone imports and seals on the command line: what is reported, accepted and refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "client/cli/commands/acceptance.h"
#include "client/cli/commands/most_rejected.h"
#include "client/cli/program.h"
#include "client/cli/testing/command_line.h"
#include "client/testing/fake_server.h"
#include "google/rpc/error_details.pb.h"

namespace curator::cli {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

bool Exceeds(const std::string& most, int64_t rejected, int64_t read) {
  v1::ImportRecordsResponse import;
  import.set_rows_read(read);
  import.set_rows_rejected(rejected);
  return ParseMostRejected(most)->IsExceededBy(import);
}

TEST(MostRejected, IsAShareOrANumberOfRows) {
  EXPECT_FALSE(Exceeds("1%", 1, 100));
  EXPECT_TRUE(Exceeds("1%", 2, 100));
  EXPECT_FALSE(Exceeds("0.5%", 5, 1000));
  EXPECT_TRUE(Exceeds("0.5%", 6, 1000));
  EXPECT_FALSE(Exceeds("100%", 7, 7));
  EXPECT_TRUE(Exceeds("0%", 1, 1'000'000'000));
  EXPECT_FALSE(Exceeds("0%", 0, 0));
  EXPECT_FALSE(Exceeds("12", 12, 12));
  EXPECT_TRUE(Exceeds("12", 13, 1'000'000));
  for (const char* text : {"", "%", "x", "-1", "-1%", "101%", "1.%", ".5%", "1e2", "1.00001%", "1 %", "1.5",
                           "99999999999999999999", "99999999999999999999%"})
    EXPECT_FALSE(ParseMostRejected(text)) << text;
}

class DatasetImports : public ::testing::Test {
 protected:
  // Answers what `respond` says to the header of an import.
  void OnImport(const std::function<grpc::Status(const v1::ImportRecordsRequest::Header&,
                                                 v1::ImportRecordsResponse&)>& respond) {
    server_.services.on_import = [respond](auto&, auto& reader, v1::ImportRecordsResponse& response) {
      v1::ImportRecordsRequest first;
      reader.Read(&first);
      v1::ImportRecordsRequest rest;
      while (reader.Read(&rest)) {
      }
      return respond(first.header(), response);
    };
  }

  void Report(const v1::ImportRecordsResponse& report) {
    OnImport([report](const auto&, v1::ImportRecordsResponse& response) {
      response = report;
      return grpc::Status::OK;
    });
  }

  static grpc::Status Needs(const std::string& reason, const std::string& message) {
    google::rpc::ErrorInfo info;
    info.set_reason(reason);
    return client::testing::DetailedError(grpc::FAILED_PRECONDITION, message, {&info});
  }

  static v1::ImportRecordsResponse ManyRejected() {
    v1::ImportRecordsResponse report;
    report.set_rows_read(100);
    report.set_rows_accepted(86);
    report.set_rows_rejected(14);
    v1::Rejection* age = report.add_rejections();
    age->set_attribute("age");
    age->set_reason("is missing");
    age->set_rows(12);
    for (const int64_t line : {2, 9, 11, 12, 40}) age->add_lines(line);
    v1::Rejection* sex = report.add_rejections();
    sex->set_attribute("sex");
    sex->set_reason("is empty");
    sex->set_rows(2);
    for (const int64_t line : {3, 9}) sex->add_lines(line);
    v1::RejectedRow* example = report.add_examples();
    example->set_line(2);
    example->set_attribute("age");
    example->set_reason("is missing");
    return report;
  }

  ExitStatus Run(const std::string& line) {
    std::istringstream in;
    out_.str("");
    error_.str("");
    return RunProgram(testing::Words("--server " + server_.address() + " " + line), Terminal(),
                      {in, out_, error_});
  }

  ExitStatus Import(const std::string& options) {
    return Run("dataset import census " + csv_ + (options.empty() ? "" : " " + options));
  }

  client::testing::FakeServer server_;
  testing::CommandLine command_line_;  // with a server that answers every call
  const std::string csv_ = command_line_.File("f.csv", "sex\nM\n");
  std::ostringstream out_;
  std::ostringstream error_;
};

TEST_F(DatasetImports, AreReportedByColumnAndReasonWithTheFirstLines) {
  Report(ManyRejected());
  EXPECT_EQ(Import("--max-rejected 20%"), ExitStatus::kDone) << error_.str();
  const std::string out = out_.str();
  EXPECT_THAT(out, HasSubstr("2, 9, 11, 12, 40 and 7 more"));
  EXPECT_EQ(out.find("is missing"), out.rfind("is missing")) << "said once";
  EXPECT_EQ(Import("--max-rejected 14 --output json"), ExitStatus::kDone);
  const Json rejections = Json::parse(out_.str())["rejections"];
  EXPECT_EQ(rejections, Json::parse(R"([
    {"attribute": "age", "reason": "is missing", "rows": 12, "lines": ["2", "9", "11", "12", "40"]},
    {"attribute": "sex", "reason": "is empty", "rows": 2, "lines": ["3", "9"]}])"));
  EXPECT_EQ(Import("--max-rejected 14 --output csv"), ExitStatus::kDone);
  EXPECT_EQ(out_.str(),
            "attribute,reason,rows,lines\nage,is missing,12,\"2,9,11,12,40\"\nsex,is empty,2,\"3,9\"\n");
}

TEST_F(DatasetImports, SayHowManyNumbersOfEachMeasureWereClipped) {
  v1::ImportRecordsResponse report;
  report.set_rows_read(9);
  report.set_rows_accepted(9);
  Report(report);
  EXPECT_EQ(Import(""), ExitStatus::kDone) << error_.str();
  EXPECT_EQ(out_.str().find("nearest bound"), std::string::npos);
  (*report.mutable_cells_clipped())["income"] = 3;
  (*report.mutable_cells_clipped())["hours"] = 2;
  Report(report);
  EXPECT_EQ(Import(""), ExitStatus::kDone) << error_.str();
  EXPECT_THAT(out_.str(), HasSubstr("numbers set to the nearest bound"));
  EXPECT_THAT(out_.str(), HasSubstr("2 of hours, 3 of income"));
  EXPECT_EQ(Import("--output json"), ExitStatus::kDone);
  EXPECT_EQ(Json::parse(out_.str())["cells_clipped"], Json::parse(R"({"hours": 2, "income": 3})"));
}

TEST_F(DatasetImports, ThatRejectMoreThanIsAllowedAreStoredAndEndWithAnError) {
  Report(ManyRejected());
  for (const char* options : {"", "--max-rejected 13", "--max-rejected 13.9%"}) {
    EXPECT_EQ(Import(options), ExitStatus::kRefused) << options;
    EXPECT_THAT(out_.str(), HasSubstr("86")) << "the report comes first";
    EXPECT_THAT(error_.str(), HasSubstr("14 of 100 rows were rejected"));
    EXPECT_THAT(error_.str(), HasSubstr("curator dataset undo-import census "));
  }
  EXPECT_EQ(Import("--max-rejected 200%"), ExitStatus::kUsage);
}

TEST_F(DatasetImports, OfTheSameFileNeedYesOutsideOfATerminal) {
  OnImport([](const v1::ImportRecordsRequest::Header& header, auto&) {
    return header.accept_same_file() ? grpc::Status::OK
                                     : Needs("SAME_FILE", "the import 7 has brought the same bytes");
  });
  EXPECT_EQ(Import(""), ExitStatus::kRefused);
  EXPECT_THAT(error_.str(), HasSubstr("the import 7 has brought the same bytes. To accept it: --yes"));
  EXPECT_EQ(Import("--yes"), ExitStatus::kDone) << error_.str();
}

TEST_F(DatasetImports, AreListedAndUndone) {
  EXPECT_EQ(command_line_.Sent<v1::ListImportsRequest>("dataset imports census").dataset(), "census");
  const auto undo = command_line_.Sent<v1::UndoImportRequest>("dataset undo-import census i-1");
  EXPECT_EQ(undo.dataset(), "census");
  EXPECT_EQ(undo.import_request_id(), "i-1");
  EXPECT_FALSE(undo.request_id().empty());
  EXPECT_EQ(command_line_.Run("dataset undo-import census"), ExitStatus::kUsage);
}

// A session on a terminal on which this was typed.
class AcceptanceTest : public ::testing::Test {
 protected:
  absl::Status Answer(const std::string& typed, bool is_terminal, bool confirmed = false) {
    in_.str(typed);
    in_.clear();
    Session session{client_,
                    server_,
                    OutputForm::kTable,
                    Terminal{.error_is_terminal = is_terminal, .in_is_terminal = is_terminal},
                    in_,
                    out_,
                    error_};
    return Accept(session, Refused("NO_RECORDS"), confirmed,
                  {{"SAME_FILE", "Import it again", [] { ADD_FAILURE() << "another acceptance"; }},
                   {"NO_RECORDS", "Seal it without records", [this] { ++accepted_; }}});
  }

  static absl::Status Refused(const std::string& reason) {
    google::rpc::ErrorInfo info;
    info.set_reason(reason);
    absl::Status status = absl::FailedPreconditionError("it has no records");
    status.SetPayload("type.googleapis.com/google.rpc.ErrorInfo", absl::Cord(info.SerializeAsString()));
    return status;
  }

  const Client client_{ClientOptions{}};
  const std::string server_ = "here";
  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream error_;
  int accepted_ = 0;
};

TEST_F(AcceptanceTest, IsAskedForOnATerminal) {
  EXPECT_TRUE(Answer("y\n", true).ok());
  EXPECT_EQ(accepted_, 1);
  EXPECT_THAT(error_.str(), HasSubstr("it has no records\nSeal it without records? [y/N] "));
  for (const char* typed : {"n\n", "\n", "", "maybe\n"})
    EXPECT_EQ(Answer(typed, true).code(), absl::StatusCode::kCancelled) << typed;
  EXPECT_EQ(accepted_, 1);
}

TEST_F(AcceptanceTest, IsYesElsewhere) {
  const absl::Status refused = Answer("y\n", false);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(client::Reason(refused), "NO_RECORDS") << "the details stay";
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--yes"));
  EXPECT_EQ(accepted_, 0);
  EXPECT_TRUE(Answer("", false, true).ok());
  EXPECT_EQ(accepted_, 1);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(AcceptanceTest, IsForTheReasonsOfTheCommandAlone) {
  Session session{client_, server_, OutputForm::kTable, Terminal{}, in_, out_, error_};
  EXPECT_EQ(Accept(session, Refused("SEALED"), true, {{"NO_RECORDS", "", [] { ADD_FAILURE(); }}}),
            Refused("SEALED"));
}

TEST_F(DatasetImports, ASealSendsEachAcceptanceThatTheServerAsksFor) {
  server_.services.on_seal = [](auto&, const v1::SealDatasetRequest& request, auto&) {
    if (!request.accept_no_records()) return Needs("NO_RECORDS", "none");
    if (!request.accept_domain_from_records()) return Needs("DOMAIN_FROM_RECORDS", "seen");
    return request.accept_equal_content() ? grpc::Status(grpc::INTERNAL, "never asked for")
                                          : grpc::Status::OK;
  };
  EXPECT_EQ(Run("dataset seal census"), ExitStatus::kRefused);
  EXPECT_EQ(Run("dataset seal census --yes"), ExitStatus::kDone) << error_.str();
}

}  // namespace
}  // namespace curator::cli
