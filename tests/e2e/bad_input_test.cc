// Bad input over a real socket: a clear error with a fitting code, nothing lost, nothing charged, and a
// server that goes on.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/error.h"
#include "client/request_id.h"
#include "curator/v1/budget.grpc.pb.h"
#include "curator/v1/dataset.grpc.pb.h"
#include "curator/v1/query.grpc.pb.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::HasSubstr;

class BadInput : public ::testing::Test {
 protected:
  BadInput() : server_(Backend::kSqlite), owner_(server_.ClientFor("owner")) {}

  // After whatever was tried: nothing is spent and a good request still works.
  void ExpectUnharmed() const {
    EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), "0");
    EXPECT_TRUE(owner_.AnswerWorkload(Question("0.5")).ok());
    EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), "0.5");
  }

  static v1::AnswerWorkloadRequest Question(const std::string& epsilon) {
    v1::AnswerWorkloadRequest request;
    request.set_dataset("census");
    *request.mutable_workload() = AllMarginals(1);
    request.mutable_spend()->set_epsilon(epsilon);
    return request;
  }

  static void ExpectInvalid(const absl::Status& status, const std::string& field) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    const std::vector<client::FieldViolation> violations = client::FieldViolations(status);
    ASSERT_EQ(violations.size(), 1u) << status;
    EXPECT_EQ(violations[0].field, field) << status;
    EXPECT_FALSE(violations[0].description.empty());
  }

  absl::StatusOr<v1::ImportRecordsResponse> Import(const std::string& csv) const {
    v1::ImportRecordsRequest::Header header;
    header.set_dataset("census");
    std::istringstream bytes(csv);
    return owner_.ImportRecords(header, bytes);
  }

  // Sends an import whose last message is not, or not truly, the number of bytes of its file.
  absl::Status ImportEndedBy(const std::optional<int64_t>& csv_bytes) const {
    const auto channel = grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials());
    const auto stub = v1::DatasetService::NewStub(channel);
    grpc::ClientContext context;
    context.AddMetadata("curator-principal", "owner");
    v1::ImportRecordsResponse response;
    const auto writer = stub->ImportRecords(&context, &response);
    v1::ImportRecordsRequest message;
    message.mutable_header()->set_request_id(client::NewRequestId().value());
    message.mutable_header()->set_dataset("census");
    writer->Write(message);
    message.set_csv(SmallCsv(80));
    writer->Write(message);
    if (csv_bytes) message.set_csv_bytes(*csv_bytes);
    if (csv_bytes) writer->Write(message);
    writer->WritesDone();
    return client::FromGrpc(writer->Finish());
  }

  TestServer server_;
  Client owner_;
};

// A connection that breaks ends the stream like a client that has sent its file: a part would be imported.
TEST_F(BadInput, AnImportThatDoesNotEndWithTheLengthOfItsFileImportsNothing) {
  ASSERT_TRUE(owner_.CreateDataset(NewDataset("census", v1::RULE_PURE, "1")).ok());
  ExpectInvalid(ImportEndedBy(std::nullopt), "csv_bytes");
  ExpectInvalid(ImportEndedBy(static_cast<int64_t>(SmallCsv(80).size()) - 1), "csv_bytes");
  EXPECT_TRUE(ImportEndedBy(static_cast<int64_t>(SmallCsv(80).size())).ok());
  v1::SealDatasetRequest seal;
  seal.set_dataset("census");
  EXPECT_EQ(owner_.SealDataset(seal)->records(), 80);
}

TEST_F(BadInput, AnAmountThatIsNoPositiveExactDecimalIsRefusedByItsField) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  for (const char* amount : {"0", "-0.1", "nan", "NaN", "inf", "1e400",
                             "0.1234567890123456789012345678901234567890", "0x10", "1,5", " ", "1e-13"}) {
    SCOPED_TRACE(amount);
    ExpectInvalid(owner_.AnswerWorkload(Question(amount)).status(), "spend.epsilon");
  }
  ExpectUnharmed();
}

TEST_F(BadInput, ASpendThatTheRuleDoesNotSellIsRefused) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  v1::AnswerWorkloadRequest with_rho = Question("");
  with_rho.mutable_spend()->set_rho("0.1");
  ExpectInvalid(owner_.AnswerWorkload(with_rho).status(), "spend.rho");
  ExpectInvalid(owner_.AnswerWorkload(Question("")).status(), "spend.epsilon");
  v1::AnswerWorkloadRequest gaussian = Question("0.1");
  gaussian.set_mechanism(v1::MECHANISM_DISCRETE_GAUSSIAN);
  EXPECT_FALSE(owner_.AnswerWorkload(gaussian).ok());
  ExpectUnharmed();
}

TEST_F(BadInput, AWorkloadThatTheDomainCannotAnswerIsRefusedByItsPath) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  v1::AnswerWorkloadRequest request = Question("0.1");
  v1::Marginals* marginals = request.mutable_workload()->mutable_query_sets(0)->mutable_marginals();
  marginals->mutable_all_k_way()->set_k(4);
  ExpectInvalid(owner_.AnswerWorkload(request).status(), "workload.query_sets[0].marginals.all_k_way.k");

  marginals->mutable_all_k_way()->set_k(1);
  marginals->mutable_all_k_way()->add_attributes("agee");
  const absl::Status unknown = owner_.AnswerWorkload(request).status();
  ExpectInvalid(unknown, "workload.query_sets[0].marginals.all_k_way.attributes[0]");
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("did you mean \"age\"?"));

  marginals->clear_all_k_way();
  marginals->add_sets()->add_names("sex");
  marginals->add_sets()->add_names("height");
  ExpectInvalid(owner_.AnswerWorkload(request).status(), "workload.query_sets[0].marginals.sets[1].names[0]");
  marginals->mutable_sets(1)->set_names(0, "sex");
  EXPECT_EQ(owner_.AnswerWorkload(request).status().code(), absl::StatusCode::kInvalidArgument)
      << "asked twice";

  request.mutable_workload()->clear_query_sets();
  ExpectInvalid(owner_.AnswerWorkload(request).status(), "workload");
  ExpectUnharmed();
}

TEST_F(BadInput, ARangeOfAHistoryThatIsNoneIsRefusedByItsField) {
  ASSERT_TRUE(owner_.CreateDataset(NewDataset("census", v1::RULE_PURE, "1")).ok());
  const auto list = [this](int64_t after, int64_t before, int32_t newest) {
    v1::ListLedgerEntriesRequest request;
    request.set_dataset("census");
    request.set_after_sequence(after);
    request.set_before_sequence(before);
    request.set_newest(newest);
    return owner_.ListLedgerEntries(request, [](const v1::LedgerEntry&) { return absl::OkStatus(); });
  };
  ExpectInvalid(list(-1, 0, 0), "after_sequence");
  ExpectInvalid(list(0, -1, 0), "before_sequence");
  ExpectInvalid(list(0, 0, -1), "newest");
  ExpectInvalid(list(0, 0, 1001), "newest");
  EXPECT_TRUE(list(0, 0, 1000).ok());
}

TEST_F(BadInput, PlacesInHistoriesThatAreWrongAreRefusedByTheirField) {
  const auto stub =
      v1::BudgetService::NewStub(grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials()));
  const auto watch = [&](const v1::WatchLedgerRequest& request) {
    grpc::ClientContext context;
    context.AddMetadata("curator-principal", "owner");
    const auto reader = stub->WatchLedger(&context, request);
    v1::LedgerEntry entry;
    EXPECT_FALSE(reader->Read(&entry));
    return client::FromGrpc(reader->Finish());
  };
  v1::WatchLedgerRequest request;
  request.set_dataset("census");
  request.set_after_sequence(-1);
  ExpectInvalid(watch(request), "after_sequence");
  request.set_after_sequence(0);
  request.add_positions()->set_dataset("census");
  ExpectInvalid(watch(request), "dataset");
  request.clear_dataset();
  request.set_after_sequence(1);
  ExpectInvalid(watch(request), "after_sequence");
  request.set_after_sequence(0);
  request.add_positions()->set_dataset("census");
  ExpectInvalid(watch(request), "positions[1].dataset");
  request.mutable_positions(1)->set_dataset("other");
  request.mutable_positions(1)->set_after_sequence(-1);
  ExpectInvalid(watch(request), "positions[1].after_sequence");
  request.clear_positions();
  for (int i = 0; i < 101; ++i) request.add_positions()->set_dataset(absl::StrCat("d", i));
  ExpectInvalid(watch(request), "positions");
}

TEST_F(BadInput, ARequestIdThatIsNoUuidIsRefused) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  v1::AnswerWorkloadRequest request = Question("0.1");
  request.set_request_id("again");
  ExpectInvalid(owner_.AnswerWorkload(request).status(), "request_id");
  ExpectUnharmed();
}

TEST_F(BadInput, AnUnknownDatasetOrMethodOrReleaseIsSaidToBeUnknown) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  v1::AnswerWorkloadRequest request = Question("0.1");
  request.set_dataset("nowhere");
  EXPECT_EQ(owner_.AnswerWorkload(request).status().code(), absl::StatusCode::kNotFound);
  v1::CreateSynthesisRequest synthesis;
  synthesis.set_dataset("census");
  synthesis.mutable_spec()->set_method("magic");
  synthesis.mutable_spec()->mutable_spend()->set_epsilon("0.1");
  const absl::Status unknown = owner_.CreateSynthesis(synthesis).status();
  ExpectInvalid(unknown, "method");
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("mwem"));
  v1::GetReleaseRequest release;
  release.set_release_id("no-such-release");
  EXPECT_EQ(owner_.GetRelease(release).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(owner_.GetOperation("no-such-operation").status().code(), absl::StatusCode::kNotFound);
  ExpectUnharmed();
}

TEST_F(BadInput, ADatasetThatIsNotSealedAnswersNothingAndChargesNothing) {
  ASSERT_TRUE(owner_.CreateDataset(NewDataset("census", v1::RULE_PURE, "1")).ok());
  EXPECT_EQ(owner_.AnswerWorkload(Question("0.1")).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), "0");
}

TEST_F(BadInput, AFileThatIsNoTableOfTheSchemaLeavesNoRecordBehind) {
  ASSERT_TRUE(owner_.CreateDataset(NewDataset("census", v1::RULE_PURE, "1")).ok());
  const struct {
    const char* csv;
    const char* complaint;
  } kFiles[] = {
      {"", "empty"},
      {"sex,age\nMale,3\n", "region"},
      {"sex,age,region,age\nMale,3,1,4\n", "age"},
      {"sex,age,region\nMale,3,1\nMale,3\n", "line 3"},
      {"sex,age,region\n\"Male,3,1\n", "quote"},
  };
  for (const auto& file : kFiles) {
    const absl::Status status = Import(file.csv).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << file.csv << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(file.complaint)) << file.csv;
  }
  v1::SealDatasetRequest seal;
  seal.set_dataset("census");
  EXPECT_EQ(client::Reason(owner_.SealDataset(seal).status()), "NO_RECORDS");
  seal.set_accept_no_records(true);
  EXPECT_EQ(owner_.SealDataset(seal)->records(), 0);
  ExpectUnharmed();
}

TEST_F(BadInput, RowsOutsideTheDomainAreCountedForTheOwnerWithTheirLines) {
  ASSERT_TRUE(owner_.CreateDataset(NewDataset("census", v1::RULE_PURE, "1")).ok());
  const absl::StatusOr<v1::ImportRecordsResponse> report =
      Import("sex,age,region,note\nMale,3,1,x\nOther,3,1,x\nMale,100,1,x\nMale,,2,x\nFemale,99,3,x\n");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rows_read(), 5);
  EXPECT_EQ(report->rows_accepted(), 2);
  EXPECT_EQ(report->rows_rejected(), 3);
  ASSERT_EQ(report->examples_size(), 3);
  EXPECT_EQ(report->examples(0).line(), 3);
  EXPECT_EQ(report->examples(0).attribute(), "sex");
  EXPECT_EQ(report->examples(1).attribute(), "age");
  ASSERT_EQ(report->rejections_size(), 3);
  EXPECT_EQ(report->rejections(0).attribute(), "sex");
  EXPECT_EQ(report->rejections(0).lines(0), 3);
  ASSERT_EQ(report->ignored_columns_size(), 1);
  EXPECT_EQ(report->ignored_columns(0), "note");
}

TEST_F(BadInput, ADatasetsDeclarationIsRefusedByItsField) {
  v1::CreateDatasetRequest request = NewDataset("census", v1::RULE_PURE, "1");
  request.mutable_schema()->mutable_attributes(1)->mutable_integer()->set_bin_width(0);
  const absl::Status width = owner_.CreateDataset(request).status();
  EXPECT_EQ(width.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(client::FieldViolations(width).at(0).field,
              HasSubstr("schema.attributes[1].integer.bin_width"));

  ExpectInvalid(owner_.CreateDataset(NewDataset("Census!", v1::RULE_PURE, "1")).status(), "name");
  ExpectInvalid(owner_.CreateDataset(NewDataset("census", v1::RULE_UNSPECIFIED, "1")).status(), "limit.rule");
  ExpectInvalid(owner_.CreateDataset(NewDataset("census", v1::RULE_PURE, "-1")).status(), "limit.epsilon");
  ExpectInvalid(owner_.CreateDataset(NewDataset("census", v1::RULE_ZCDP, "1")).status(), "limit.delta");
  ExpectInvalid(owner_.CreateDataset(NewDataset("census", v1::RULE_ZCDP, "1", "1")).status(), "limit.delta");

  ASSERT_TRUE(owner_.CreateDataset(NewDataset("census", v1::RULE_PURE, "1")).ok());
  EXPECT_EQ(owner_.CreateDataset(NewDataset("census", v1::RULE_PURE, "1")).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(BadInput, AMessageOfAHundredMegabytesIsTurnedAway) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  v1::AnswerWorkloadRequest request = Question("0.1");
  request.set_request_id(*client::NewRequestId());
  request.mutable_workload()->mutable_query_sets(0)->mutable_marginals()->mutable_all_k_way()->add_attributes(
      std::string(100 << 20, 'a'));
  const auto channel = grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials());
  const auto stub = v1::QueryService::NewStub(channel);
  grpc::ClientContext context;
  context.AddMetadata("curator-principal", "owner");
  v1::AnswerChunk chunk;
  const auto reader = stub->AnswerWorkload(&context, request);
  while (reader->Read(&chunk)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  ExpectUnharmed();
}

TEST_F(BadInput, ACallThatNamesNobodyIsNotAuthenticated) {
  EXPECT_EQ(server_.ClientFor("").ListDatasets().status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(server_.ClientFor("a b").ListDatasets().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(BadInput, AServerThatIsNotThereIsUnreachable) {
  const Client nobody(
      {.server = "127.0.0.1:1", .principal = "owner", .retry = {.window = std::chrono::milliseconds(0)}});
  const absl::Status status = nobody.GetVersion().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(client::IsUnreachable(status));
}

}  // namespace
}  // namespace curator::testing
