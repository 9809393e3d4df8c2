// Layer 4 of the audit, over a real socket: once a release is stored, nothing that a client can ask about it
// looks at the table again. The records are put away, or another dataset's in their place, and every answer
// stays the same to the last byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

namespace fs = std::filesystem;

v1::AnswerWorkloadRequest Question(int k) {
  v1::AnswerWorkloadRequest request;
  request.set_request_id(*client::NewRequestId());
  request.set_dataset("census");
  *request.mutable_workload() = AllMarginals(k);
  request.mutable_spend()->set_epsilon("0.25");
  return request;
}

v1::CreateSynthesisRequest Mwem() {
  v1::CreateSynthesisRequest request;
  request.set_request_id(*client::NewRequestId());
  request.set_dataset("census");
  request.mutable_spec()->set_method("mwem");
  request.mutable_spec()->mutable_spend()->set_epsilon("1");
  return request;
}

std::string Shown(const Answer& answer) {
  std::string text;
  for (const auto& marginal : answer.marginals) {
    for (const int64_t count : marginal.counts) text += std::to_string(count) + " ";
    for (const double estimate : marginal.estimates) text += std::to_string(estimate) + " ";
  }
  return text;
}

template <typename Message>
std::string Shown(const absl::StatusOr<Message>& message) {
  return message.ok() ? message->DebugString() : message.status().ToString();
}

class NonInterference : public ::testing::TestWithParam<Backend> {
 protected:
  using Change = std::function<void(const fs::path& snapshot, const fs::path& of_another)>;

  NonInterference() : server_(GetParam()) {
    const Client owner = server_.ClientFor("owner");
    MakeSealed(owner, NewDataset("census", v1::RULE_PURE, "3"), SmallCsv(800));
    snapshot_ = Snapshots().at(0);
    MakeSealed(owner, NewDataset("another", v1::RULE_PURE, "3"), SmallCsv(37));
    for (const fs::path& snapshot : Snapshots()) {
      if (snapshot != snapshot_) snapshot_of_another_ = snapshot;
    }
    EXPECT_TRUE(owner.AnswerWorkload(question_).ok());
    const absl::StatusOr<v1::Operation> started = owner.CreateSynthesis(synthesis_);
    EXPECT_TRUE(started.ok()) << started.status();
    operation_ = owner.WaitOperation(started->id(), std::chrono::minutes(2)).value();
    EXPECT_EQ(operation_.state(), v1::Operation::DONE);
  }

  std::vector<fs::path> Snapshots() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(server_.options().data_directory)) {
      if (entry.path().filename() == "snapshot") found.push_back(entry.path());
    }
    return found;
  }

  // Everything about the two releases, and about the dataset, that can be asked.
  std::string EverythingThatCanBeAsked() const {
    const Client owner = server_.ClientFor("owner");
    std::string all = Shown(owner.AnswerWorkload(question_).value());
    v1::GetReleaseRequest get;
    const v1::ListReleasesResponse releases = owner.ListReleases("census").value();
    for (const v1::Release& release : releases.releases()) {
      get.set_release_id(release.id());
      const ReleaseContent content = owner.GetRelease(get).value();
      all += content.release.DebugString();
      if (content.answer) all += Shown(*content.answer);
      if (content.synthesis)
        all += content.synthesis->method() + std::to_string(content.synthesis->records());
    }
    v1::QueryModelRequest query;
    query.set_release_id(operation_.release_id());
    *query.mutable_workload() = AllMarginals(2);
    all += Shown(owner.QueryModel(query).value());
    v1::SampleModelRequest sample;
    sample.set_release_id(operation_.release_id());
    sample.set_rows(300);
    EXPECT_TRUE(owner
                    .SampleModel(sample,
                                 [&all](std::string_view bytes) {
                                   all.append(bytes);
                                   return absl::OkStatus();
                                 })
                    .ok());
    all += Shown(owner.CreateSynthesis(synthesis_));
    all += Shown(owner.GetOperation(operation_.id()));
    all += Shown(owner.GetBudget("census")) + Shown(owner.GetDataset("census"));
    absl::StatusOr<v1::VerifyLedgerResponse> verified = owner.VerifyLedger("census");
    if (verified.ok()) verified->clear_verify_time();  // when the ledger was verified after its last start
    return all + Shown(verified);
  }

  void ExpectNoInterference(const Change& change) {
    const std::string before = EverythingThatCanBeAsked();
    EXPECT_EQ(EverythingThatCanBeAsked(), before) << "asking alone changes nothing";
    change(snapshot_, snapshot_of_another_);
    server_.Restart();
    EXPECT_EQ(EverythingThatCanBeAsked(), before);
    // A new question needs what was changed.
    EXPECT_EQ(server_.ClientFor("owner").AnswerWorkload(Question(1)).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }

  TestServer server_;
  const v1::AnswerWorkloadRequest question_ = Question(2);
  const v1::CreateSynthesisRequest synthesis_ = Mwem();
  v1::Operation operation_;
  fs::path snapshot_;
  fs::path snapshot_of_another_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, NonInterference, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(NonInterference, WhatWasReleasedIsToldWithoutTheRecords) {
  ExpectNoInterference([](const fs::path& snapshot, const fs::path&) { fs::remove(snapshot); });
}

TEST_P(NonInterference, WhatWasReleasedIsToldBesideOtherRecords) {
  ExpectNoInterference([](const fs::path& snapshot, const fs::path& of_another) {
    fs::copy_file(of_another, snapshot, fs::copy_options::overwrite_existing);
  });
}

}  // namespace
}  // namespace curator::testing
