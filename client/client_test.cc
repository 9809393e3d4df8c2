#include "client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "client/error.h"
#include "client/request_id.h"
#include "client/testing/fake_server.h"
#include "google/rpc/error_details.pb.h"

namespace curator {
namespace {

using client::testing::FakeServer;
using client::testing::FakeServices;
using client::testing::Impatient;
using client::testing::Log;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

const grpc::Status kAway(grpc::StatusCode::UNAVAILABLE, "the store is away");

Client ClientOf(const FakeServer& server) {
  return Client({server.address(), "ana", Impatient()});
}

v1::Operation OperationWith(const std::string& id, double percent, v1::Operation::State state) {
  v1::Operation operation;
  operation.set_id(id);
  operation.set_percent(percent);
  operation.set_state(state);
  return operation;
}

void WriteAnswer(grpc::ServerWriter<v1::AnswerChunk>& writer, const std::vector<int64_t>& counts,
                 size_t sent) {
  v1::AnswerChunk chunk;
  chunk.mutable_header()->set_marginal_count(1);
  writer.Write(chunk);
  chunk.mutable_marginal()->add_attributes("age");
  chunk.mutable_marginal()->add_sizes(static_cast<int64_t>(counts.size()));
  writer.Write(chunk);
  for (size_t i = 0; i < sent; ++i) {
    chunk.mutable_cells()->set_offset(static_cast<int64_t>(i));
    chunk.mutable_cells()->clear_counts();
    chunk.mutable_cells()->add_counts(counts[i]);
    writer.Write(chunk);
  }
}

TEST(Client, RepeatsUnderTheSameRequestIdWhenTheServerIsAway) {
  FakeServer server;
  Log ids;
  server.services.on_create_dataset = [&](auto&, const v1::CreateDatasetRequest& request,
                                          v1::Dataset& dataset) {
    if (ids.Add(request.request_id()) <= 3) return kAway;
    dataset.set_name(request.name());
    return grpc::Status::OK;
  };
  v1::CreateDatasetRequest request;
  request.set_name("census");
  const auto dataset = ClientOf(server).CreateDataset(request);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(dataset->name(), "census");
  ASSERT_THAT(ids.entries(), SizeIs(4));
  EXPECT_TRUE(client::IsRequestId(ids.entries()[0])) << ids.entries()[0];
  EXPECT_THAT(ids.entries(), Each(ids.entries()[0]));
}

TEST(Client, KeepsTheRequestIdThatTheCallerChose) {
  FakeServer server;
  Log ids;
  server.services.on_create_dataset = [&](auto&, const v1::CreateDatasetRequest& request, v1::Dataset&) {
    ids.Add(request.request_id());
    return grpc::Status::OK;
  };
  v1::CreateDatasetRequest request;
  request.set_request_id("1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b");
  ASSERT_TRUE(ClientOf(server).CreateDataset(request).ok());
  EXPECT_THAT(ids.entries(), ElementsAre("1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"));
}

TEST(Client, TwoRequestsHaveTwoIds) {
  FakeServer server;
  Log ids;
  server.services.on_create_dataset = [&](auto&, const v1::CreateDatasetRequest& request, v1::Dataset&) {
    ids.Add(request.request_id());
    return grpc::Status::OK;
  };
  const Client client = ClientOf(server);
  ASSERT_TRUE(client.CreateDataset({}).ok());
  ASSERT_TRUE(client.CreateDataset({}).ok());
  EXPECT_NE(ids.entries()[0], ids.entries()[1]);
}

TEST(Client, ARefusalIsNotRepeated) {
  FakeServer server;
  Log calls;
  server.services.on_get_version = [&](auto&, auto&, auto&) {
    calls.Add("");
    return grpc::Status(grpc::StatusCode::ABORTED, "without RetryInfo");
  };
  EXPECT_EQ(ClientOf(server).GetVersion().status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(calls.entries(), SizeIs(1));
}

TEST(Client, RepeatsWhenTheServerAsksForIt) {
  FakeServer server;
  Log calls;
  server.services.on_get_version = [&](auto&, auto&, v1::GetVersionResponse& response) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(1000);
    if (calls.Add("") == 1)
      return client::testing::DetailedError(grpc::StatusCode::ABORTED, "busy", {&retry});
    response.set_version("1");
    return grpc::Status::OK;
  };
  EXPECT_TRUE(ClientOf(server).GetVersion().ok());
  EXPECT_THAT(calls.entries(), SizeIs(2));
}

// A refusal says nothing of an attempt before it that was lost, and may have been charged.
TEST(Client, ARefusalAfterALostAttemptLeavesTheOutcomeUnknown) {
  google::rpc::ErrorInfo quota;
  quota.set_reason("QUOTA");
  google::rpc::ErrorInfo overloaded;
  overloaded.set_reason("OVERLOADED");
  google::rpc::RetryInfo later;
  later.mutable_retry_delay()->set_seconds(60);
  const auto outcome_after = [](const grpc::Status& refusal) {
    FakeServer server;
    Log calls;
    server.services.on_create_dataset = [&](auto&, auto&, auto&) {
      return calls.Add("") == 1 ? kAway : refusal;
    };
    return ClientOf(server).CreateDataset({}).status();
  };
  using client::testing::DetailedError;
  using grpc::StatusCode;
  for (const grpc::Status& refusal :
       {DetailedError(StatusCode::RESOURCE_EXHAUSTED, "slow down", {&quota, &later}),
        DetailedError(StatusCode::UNAVAILABLE, "busy", {&overloaded, &later}),
        grpc::Status(StatusCode::UNAUTHENTICATED, "who are you?")}) {
    const absl::Status status = outcome_after(refusal);
    EXPECT_TRUE(client::IsOutcomeUnknown(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr(refusal.error_message()));
  }
  for (const StatusCode settled :
       {StatusCode::INVALID_ARGUMENT, StatusCode::ALREADY_EXISTS, StatusCode::FAILED_PRECONDITION}) {
    EXPECT_FALSE(client::IsOutcomeUnknown(outcome_after(grpc::Status(settled, "no"))));
  }
}

TEST(Client, GivesUpWhenTheNextAttemptWouldComeAfterTheWindow) {
  using std::chrono::seconds;
  FakeServer server;
  Log calls;
  server.services.on_get_version = [&](auto&, auto&, auto&) {
    calls.Add("");
    return kAway;
  };
  const Client client({server.address(),
                       "",
                       {.first_delay = seconds(20), .longest_delay = seconds(20), .window = seconds(9)}});
  const absl::Status status = client.GetVersion().status();
  EXPECT_EQ(status, absl::UnavailableError("the store is away"));
  EXPECT_FALSE(client::IsUnreachable(status));
  EXPECT_THAT(calls.entries(), SizeIs(1));
}

TEST(Client, SaysWhenNoServerAnswers) {
  std::string address;
  {
    FakeServer gone;
    address = gone.address();
  }
  const Client client(
      {address,
       "",
       {std::chrono::milliseconds(10), std::chrono::milliseconds(10), std::chrono::milliseconds(200)}});
  const absl::Status status = client.GetVersion().status();
  EXPECT_TRUE(client::IsNeverReached(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(address));
}

TEST(Client, SendsThePrincipalWithEachCall) {
  FakeServer server;
  Log principals;
  server.services.on_get_version = [&](grpc::ServerContext& context, auto&, auto&) {
    const auto found = context.client_metadata().find("curator-principal");
    const bool sent = found != context.client_metadata().end();
    principals.Add(sent ? std::string(found->second.data(), found->second.size()) : "nobody");
    return grpc::Status::OK;
  };
  ASSERT_TRUE(ClientOf(server).GetVersion().ok());
  ASSERT_TRUE(Client({server.address(), "", Impatient()}).GetVersion().ok());
  EXPECT_THAT(principals.entries(), ElementsAre("ana", "nobody"));
}

TEST(Client, APrincipalThatNoHeaderCanCarryIsRefusedHere) {
  FakeServer server;
  const Client client({server.address(), "ana\nboss", Impatient()});
  EXPECT_EQ(client.GetVersion().status().code(), absl::StatusCode::kInvalidArgument);
}

// Reads an import to its end; the pieces' sizes go to `sizes`.
std::string ReadImport(grpc::ServerReader<v1::ImportRecordsRequest>& reader, std::vector<size_t>& sizes) {
  std::string csv;
  v1::ImportRecordsRequest request;
  while (reader.Read(&request)) {
    if (request.has_csv_bytes()) {
      EXPECT_EQ(request.csv_bytes(), static_cast<int64_t>(csv.size()));
    }
    if (!request.has_csv()) continue;
    sizes.push_back(request.csv().size());
    csv += request.csv();
  }
  EXPECT_TRUE(request.has_csv_bytes()) << "the last message says how long the file is";
  return csv;
}

TEST(Client, ImportsInPiecesAndAgainFromTheStart) {
  FakeServer server;
  std::string text = "skipped";
  for (int i = 0; i < 100000; ++i) text += "a,b,c\n";
  Log received;
  std::vector<size_t> sizes;
  server.services.on_import = [&](auto&, auto& reader, v1::ImportRecordsResponse& response) {
    if (received.Add(ReadImport(reader, sizes)) == 1) return kAway;
    response.set_rows_read(100000);
    return grpc::Status::OK;
  };
  std::istringstream csv(text);
  csv.seekg(7);
  const auto import = ClientOf(server).ImportRecords({}, csv);
  ASSERT_TRUE(import.ok()) << import.status();
  EXPECT_EQ(import->rows_read(), 100000);
  EXPECT_TRUE(received.entries() == std::vector<std::string>(2, text.substr(7)));
  EXPECT_THAT(sizes, Each(Le(size_t{256} << 10)));
}

TEST(Client, ARefusedImportStopsBeforeTheEndOfTheFile) {
  FakeServer server;
  server.services.on_import = [](auto&, auto&, auto&) {
    return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "the dataset is sealed");
  };
  std::istringstream csv(std::string(64 << 20, 'x'));
  const auto import = ClientOf(server).ImportRecords({}, csv);
  EXPECT_EQ(import.status(), absl::FailedPreconditionError("the dataset is sealed"));
  EXPECT_FALSE(csv.eof());
}

// An input that can be read once only, such as a pipe.
class OnceOnly : public std::stringbuf {
 public:
  using std::stringbuf::stringbuf;

 protected:
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return pos_type(off_type(-1));
  }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return pos_type(off_type(-1)); }
};

TEST(Client, AnInputThatCannotSeekIsSentOnce) {
  FakeServer server;
  Log received;
  std::vector<size_t> sizes;
  server.services.on_import = [&](auto&, auto& reader, auto&) {
    received.Add(ReadImport(reader, sizes));
    return kAway;
  };
  OnceOnly buffer("a\n1\n");
  std::istream csv(&buffer);
  const auto import = ClientOf(server).ImportRecords({}, csv);
  EXPECT_EQ(import.status().code(), absl::StatusCode::kFailedPrecondition) << import.status();
  EXPECT_THAT(received.entries(), ElementsAre("a\n1\n"));
}

TEST(Client, AnAnswerThatBreaksOffIsAskedForAgainUnderTheSameId) {
  FakeServer server;
  Log ids;
  server.services.on_answer = [&](auto&, const v1::AnswerWorkloadRequest& request, auto& writer) {
    const bool first = ids.Add(request.request_id()) == 1;
    WriteAnswer(writer, {7, -8, 9}, first ? 2 : 3);
    return first ? kAway : grpc::Status::OK;
  };
  const auto answer = ClientOf(server).AnswerWorkload({});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->marginals[0].counts, ElementsAre(7, -8, 9));
  EXPECT_THAT(ids.entries(), SizeIs(2));
  EXPECT_THAT(ids.entries(), Each(ids.entries()[0]));
}

TEST(ClientCanary, AnAnswerThatEndsEarlyWithoutAnErrorIsDataLoss) {
  FakeServer server;
  server.services.on_answer = [](auto&, auto&, auto& writer) {
    WriteAnswer(writer, {7, -8, 9}, 2);
    return grpc::Status::OK;
  };
  EXPECT_EQ(ClientOf(server).AnswerWorkload({}).status().code(), absl::StatusCode::kDataLoss);
}

TEST(Client, ASampleIsDeliveredOnceAcrossRetries) {
  FakeServer server;
  Log calls;
  server.services.on_sample = [&](auto&, auto&, auto& writer) {
    const bool first = calls.Add("") == 1;
    // The second time the chunks are cut elsewhere.
    for (const char* piece : first ? std::vector<const char*>{"age\n1", "7\n"}
                                   : std::vector<const char*>{"ag", "e\n17\n1", "8\n"}) {
      v1::SampleModelChunk chunk;
      chunk.set_csv(piece);
      writer.Write(chunk);
    }
    return first ? kAway : grpc::Status::OK;
  };
  std::string csv;
  const absl::Status status = ClientOf(server).SampleModel({}, [&](std::string_view bytes) {
    csv += bytes;
    return absl::OkStatus();
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(csv, "age\n17\n18\n");
}

TEST(Client, ASinkThatFailsEndsTheSample) {
  FakeServer server;
  server.services.on_sample = [](grpc::ServerContext& context, auto&, auto& writer) {
    v1::SampleModelChunk chunk;
    chunk.set_csv("x\n");
    while (!context.IsCancelled() && writer.Write(chunk)) {
    }
    return grpc::Status::CANCELLED;
  };
  const absl::Status status =
      ClientOf(server).SampleModel({}, [](std::string_view) { return absl::InternalError("disk full"); });
  EXPECT_EQ(status, absl::InternalError("disk full"));
}

TEST(Client, ASinkThatIsUnavailableEndsTheSampleAndIsNotRetried) {
  FakeServer server;
  server.services.on_sample = [](auto&, auto&, auto& writer) {
    v1::SampleModelChunk chunk;
    chunk.set_csv("x\n");
    writer.Write(chunk);
    return grpc::Status::OK;
  };
  int calls = 0;
  const absl::Status status = ClientOf(server).SampleModel({}, [&](std::string_view) {
    ++calls;
    return absl::UnavailableError("the sink's own server is away");
  });
  EXPECT_EQ(status, absl::UnavailableError("the sink's own server is away"));
  EXPECT_EQ(calls, 1);
}

grpc::Status WriteEntries(grpc::ServerWriter<v1::LedgerEntry>& writer, int64_t first, int64_t last,
                          const grpc::Status& end) {
  for (int64_t sequence = first; sequence <= last; ++sequence) {
    v1::LedgerEntry entry;
    entry.set_sequence(sequence);
    writer.Write(entry);
  }
  return end;
}

TEST(Client, LedgerEntriesGoOnAfterTheLastOneSeen) {
  FakeServer server;
  Log calls;
  server.services.on_list_entries = [&](auto&, const v1::ListLedgerEntriesRequest& request, auto& writer) {
    const bool first = calls.Add("") == 1;
    return WriteEntries(writer, request.after_sequence() + 1, first ? 4 : 6,
                        first ? kAway : grpc::Status::OK);
  };
  std::vector<int64_t> seen;
  const absl::Status status =
      ClientOf(server).ListLedgerEntries("census", 1, [&](const v1::LedgerEntry& entry) {
        seen.push_back(entry.sequence());
        return absl::OkStatus();
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(seen, ElementsAre(2, 3, 4, 5, 6));
}

TEST(Client, LedgerEntriesEndWithTheErrorOfTheCallerAlsoWhenItCouldBeRetried) {
  FakeServer server;
  server.services.on_list_entries = [](auto&, const v1::ListLedgerEntriesRequest& request, auto& writer) {
    return WriteEntries(writer, request.after_sequence() + 1, 3, grpc::Status::OK);
  };
  const absl::Status status = ClientOf(server).ListLedgerEntries(
      "census", 0, [](const v1::LedgerEntry&) { return absl::UnavailableError("the sink's own server"); });
  EXPECT_EQ(status, absl::UnavailableError("the sink's own server"));
}

TEST(Client, LedgerEntriesStopWhenTheCallerHasEnough) {
  FakeServer server;
  server.services.on_list_entries = [](auto&, auto&, auto& writer) {
    return WriteEntries(writer, 1, 1000, grpc::Status::OK);
  };
  int taken = 0;
  const absl::Status status = ClientOf(server).ListLedgerEntries("census", 0, [&](const v1::LedgerEntry&) {
    return ++taken == 3 ? absl::CancelledError("enough") : absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(taken, 3);
}

TEST(Client, AnOperationIsWatchedToItsEnd) {
  FakeServer server;
  server.services.on_watch = [](auto&, const v1::WatchOperationRequest& request, auto& writer) {
    writer.Write(OperationWith(request.operation_id(), 10, v1::Operation::RUNNING));
    writer.Write(OperationWith(request.operation_id(), 100, v1::Operation::DONE));
    return grpc::Status::OK;
  };
  std::vector<double> percents;
  const auto operation = ClientOf(server).WatchOperation(
      "op1", [&](const v1::Operation& seen) { percents.push_back(seen.percent()); });
  ASSERT_TRUE(operation.ok()) << operation.status();
  EXPECT_EQ(operation->state(), v1::Operation::DONE);
  EXPECT_THAT(percents, ElementsAre(10, 100));
}

}  // namespace
}  // namespace curator
