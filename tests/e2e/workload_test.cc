// Questions over a real socket: priced before anything is touched, charged once, replayed, refused when the
// budget is full.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <sstream>
#include <thread>
#include <vector>

#include "client/error.h"
#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

class Workload : public ::testing::TestWithParam<Backend> {
 protected:
  Workload() : server_(GetParam()), owner_(server_.ClientFor("owner")) {}

  static v1::AnswerWorkloadRequest Question(const std::string& dataset, int k, const std::string& epsilon) {
    v1::AnswerWorkloadRequest request;
    request.set_dataset(dataset);
    *request.mutable_workload() = AllMarginals(k);
    request.mutable_spend()->set_epsilon(epsilon);
    return request;
  }

  std::string Spent(const std::string& dataset) const {
    const absl::StatusOr<v1::GetBudgetResponse> budget = owner_.GetBudget(dataset);
    EXPECT_TRUE(budget.ok()) << budget.status();
    return budget.ok() ? budget->accounts(0).counters(0).spent() : "";
  }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Workload, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Workload, APriceIsKnownBeforeThereIsARecordAndIsWhatTheAnswerCosts) {
  ASSERT_TRUE(owner_.CreateDataset(NewDataset("census", v1::RULE_ZCDP, "2", "1e-9")).ok());
  v1::EstimateWorkloadRequest estimate;
  estimate.set_dataset("census");
  *estimate.mutable_workload() = MeasuredMarginals(2);
  estimate.mutable_spend()->set_rho("0.0123456789");
  const absl::StatusOr<v1::EstimateWorkloadResponse> before = owner_.EstimateWorkload(estimate);
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_EQ(before->total_cells(), 2 * 10 + 2 * 4 + 10 * 4);
  EXPECT_EQ(Spent("census"), "0");

  v1::ImportRecordsRequest::Header header;
  header.set_dataset("census");
  std::istringstream csv(SmallCsv(800));
  ASSERT_TRUE(owner_.ImportRecords(header, csv).ok());
  v1::SealDatasetRequest seal;
  seal.set_dataset("census");
  ASSERT_TRUE(owner_.SealDataset(seal).ok());

  v1::AnswerWorkloadRequest question;
  question.set_dataset("census");
  *question.mutable_workload() = MeasuredMarginals(2);
  question.mutable_spend()->set_rho("0.0123456789");
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->header.costs(0).amount(), before->costs(0).amount());
  EXPECT_EQ(answer->header.event(), before->event());
  EXPECT_EQ(Spent("census"), before->costs(0).amount());
}

TEST_P(Workload, WithoutAPriceSharesOfWhatIsLeftAreOfferedAndAnAnswerCostsWhatWasOffered) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_ZCDP, "2", "1e-9"), SmallCsv(800));
  v1::EstimateWorkloadRequest estimate;
  estimate.set_dataset("census");
  *estimate.mutable_workload() = MeasuredMarginals(1);
  const absl::StatusOr<v1::EstimateWorkloadResponse> offered = owner_.EstimateWorkload(estimate);
  ASSERT_TRUE(offered.ok()) << offered.status();
  EXPECT_FALSE(offered->has_spend());
  EXPECT_TRUE(offered->costs().empty() && offered->event().empty());
  EXPECT_EQ(offered->max_error(), 0);
  EXPECT_EQ(offered->total_cells(), 2 + 10 + 4);
  for (const auto& marginal : offered->marginals()) {
    EXPECT_EQ(marginal.noise().standard_deviation(), 0) << "of no spend";
    EXPECT_EQ(marginal.noise().confidence_level(), 0.95);
  }
  ASSERT_EQ(offered->choices_size(), 4);
  const v1::EstimateWorkloadResponse::Choice& tenth = offered->choices(2);
  EXPECT_EQ(tenth.share_of_left(), 0.1);
  EXPECT_EQ(tenth.spend().rho(), "0.0056") << "of 0.056130501796";

  v1::AnswerWorkloadRequest question;
  question.set_dataset("census");
  question.set_request_id(*client::NewRequestId());
  *question.mutable_workload() = MeasuredMarginals(1);
  *question.mutable_spend() = tenth.spend();
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  const v1::Cost& cost = answer->header.costs(0);
  EXPECT_EQ(cost.amount(), tenth.costs(0).amount());
  EXPECT_EQ(cost.share_of_promise(), tenth.costs(0).share_of_promise());
  EXPECT_NEAR(cost.share_of_promise(), 0.0056 / 0.056130501796, 1e-4);
  EXPECT_NEAR(cost.share_left(), 1 - cost.share_of_promise(), 1e-9);
  ASSERT_EQ(answer->header.share_of_promise_size(), 1);
  EXPECT_EQ(answer->header.share_of_promise(0), cost.share_of_promise());
  const absl::StatusOr<Answer> again = owner_.AnswerWorkload(question);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->header.replayed());
  EXPECT_EQ(again->header.share_of_promise(0), cost.share_of_promise()) << "what it cost when it was charged";

  const v1::Account account = owner_.GetBudget("census")->accounts(0);
  EXPECT_EQ(account.share_spent(), cost.share_of_promise());
  const double used = std::stod(account.epsilon_used());
  EXPECT_GT(used, 2 * account.share_spent()) << "the epsilon of a tenth of rho is more than a tenth";
  EXPECT_LT(used, 2);
  EXPECT_EQ(owner_.ListAccounts("census")->accounts(0).epsilon_used(), account.epsilon_used());
}

TEST_P(Workload, TheSameRequestIdReturnsTheSameBytesOnceChargedAlsoAfterARestart) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(800));
  v1::AnswerWorkloadRequest question = Question("census", 2, "0.25");
  question.set_request_id(*client::NewRequestId());
  const absl::StatusOr<Answer> first = owner_.AnswerWorkload(question);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->header.replayed());

  server_.Restart();
  const Client owner = server_.ClientFor("owner");
  const absl::StatusOr<Answer> second = owner.AnswerWorkload(question);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(second->header.replayed());
  EXPECT_EQ(second->header.release_id(), first->header.release_id());
  ASSERT_EQ(second->marginals.size(), first->marginals.size());
  for (size_t i = 0; i < first->marginals.size(); ++i) {
    EXPECT_EQ(second->marginals[i].counts, first->marginals[i].counts);
  }
  EXPECT_EQ(owner.GetBudget("census")->accounts(0).counters(0).spent(), "0.25");

  question.mutable_spend()->set_epsilon("0.125");
  EXPECT_EQ(owner.AnswerWorkload(question).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(owner.GetBudget("census")->accounts(0).counters(0).spent(), "0.25");
}

TEST_P(Workload, AnArchivedDatasetAnswersAgainWhatItAnsweredAndNothingNew) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  v1::AnswerWorkloadRequest question = Question("census", 1, "0.25");
  question.set_request_id(*client::NewRequestId());
  const absl::StatusOr<Answer> first = owner_.AnswerWorkload(question);
  v1::ArchiveDatasetRequest archive;
  archive.set_dataset("census");
  ASSERT_TRUE(owner_.ArchiveDataset(archive).ok());
  const absl::StatusOr<Answer> again = owner_.AnswerWorkload(question);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->header.release_id(), first->header.release_id());
  EXPECT_EQ(owner_.AnswerWorkload(Question("census", 1, "0.25")).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_P(Workload, TwoRequestsOfTheSameQuestionGetDifferentNoise) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(800));
  const absl::StatusOr<Answer> first = owner_.AnswerWorkload(Question("census", 3, "0.1"));
  const absl::StatusOr<Answer> second = owner_.AnswerWorkload(Question("census", 3, "0.1"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->marginals[0].counts, second->marginals[0].counts);
}

TEST_P(Workload, AFullBudgetNamesTheAccountWhatWasAskedAndWhatIsLeftAndChargesNothing) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  ASSERT_TRUE(owner_.AnswerWorkload(Question("census", 1, "0.7")).ok());
  const absl::Status refused = owner_.AnswerWorkload(Question("census", 1, "0.4")).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  const std::vector<client::FullAccount> full = client::FullAccounts(refused);
  ASSERT_EQ(full.size(), 1u);
  EXPECT_EQ(full[0].account, "dataset/census");
  EXPECT_EQ(full[0].counter, "epsilon");
  EXPECT_EQ(full[0].asked, "0.4");
  EXPECT_EQ(full[0].remaining, "0.3");
  EXPECT_EQ(Spent("census"), "0.7");
  EXPECT_TRUE(owner_.AnswerWorkload(Question("census", 1, "0.3")).ok())
      << "a refusal does not stop the account";
}

TEST_P(Workload, ThirtyTwoClientsAtOnceAreAdmittedExactlyAsOftenAsTheBudgetAllows) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  std::atomic<int> admitted = 0;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 32; ++i) {
      threads.emplace_back([&] {
        const Client client = server_.ClientFor("owner");
        for (int j = 0; j < 2; ++j) {
          const absl::Status status = client.AnswerWorkload(Question("census", 1, "0.03")).status();
          if (status.ok()) ++admitted;
          if (status.code() == absl::StatusCode::kResourceExhausted) ++refused;
        }
      });
    }
  }
  EXPECT_EQ(admitted, 33);  // floor(1 / 0.03)
  EXPECT_EQ(refused, 64 - 33);
  EXPECT_EQ(Spent("census"), "0.99");
  EXPECT_TRUE(owner_.VerifyLedger("census")->ok());
}

TEST_P(Workload, TheErrorThatIsForecastIsTheErrorThatIsMeasured) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_ZCDP, "1000", "1e-9"), SmallCsv(800));
  // Every cell of the three-way marginal of SmallCsv(800) counts 10, so each answer gives 80 independent
  // errors.
  for (const bool gaussian : {false, true}) {
    v1::AnswerWorkloadRequest question = Question("census", 3, "0.5");
    if (gaussian) {
      question.mutable_spend()->clear_epsilon();
      question.mutable_spend()->set_rho("0.02");
    }
    double sum = 0;
    int64_t covered = 0;
    int64_t cells = 0;
    double expected = 0;
    double deviation = 0;
    for (int repetition = 0; repetition < 50; ++repetition) {
      const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(question);
      ASSERT_TRUE(answer.ok()) << answer.status();
      const v1::Noise& noise = answer->marginals[0].header.noise();
      expected = noise.expected_absolute_error();
      deviation = noise.standard_deviation();
      for (const int64_t count : answer->marginals[0].counts) {
        const double error = std::abs(static_cast<double>(count - 10));
        sum += error;
        covered += error <= noise.confidence_half_width() ? 1 : 0;
        ++cells;
      }
    }
    // 4,000 errors; |X| has a standard deviation below that of X. Eight standard errors: by Bernstein's
    // inequality a false alarm is below 1e-9 for both distributions.
    const double tolerance = 8 * deviation / std::sqrt(static_cast<double>(cells));
    EXPECT_NEAR(sum / static_cast<double>(cells), expected, tolerance) << (gaussian ? "Gaussian" : "Laplace");
    // The interval holds the truth at least 95 times in 100: 3,800 expected, standard deviation below 14.
    EXPECT_GE(covered, 3800 - 8 * 14) << (gaussian ? "Gaussian" : "Laplace");
  }
}

TEST_P(Workload, NoiseGrowsWithWhatOneUnitCanChange) {
  const auto scale_of = [this](v1::CreateDatasetRequest dataset) {
    EXPECT_TRUE(owner_.CreateDataset(dataset).ok());
    v1::EstimateWorkloadRequest estimate;
    estimate.set_dataset(dataset.name());
    *estimate.mutable_workload() = AllMarginals(1);  // three marginals
    estimate.mutable_spend()->set_epsilon("0.5");
    return owner_.EstimateWorkload(estimate)->marginals(0).noise().scale();
  };
  v1::CreateDatasetRequest dataset = NewDataset("added", v1::RULE_PURE, "1");
  EXPECT_EQ(scale_of(dataset), "6");
  dataset = NewDataset("replaced", v1::RULE_PURE, "1");
  dataset.set_neighbours(v1::NEIGHBOUR_RELATION_REPLACE_ONE);
  EXPECT_EQ(scale_of(dataset), "12");
  dataset = NewDataset("persons", v1::RULE_PURE, "1");
  dataset.mutable_schema()->mutable_unit()->mutable_person()->set_id_column("pid");
  dataset.mutable_schema()->mutable_unit()->mutable_person()->set_max_records(4);
  EXPECT_EQ(scale_of(dataset), "24");
}

TEST_P(Workload, OfAPersonsRecordsTheFirstAreKeptAcrossImports) {
  v1::CreateDatasetRequest dataset = NewDataset("persons", v1::RULE_PURE, "1000000");
  dataset.mutable_schema()->mutable_unit()->mutable_person()->set_id_column("pid");
  dataset.mutable_schema()->mutable_unit()->mutable_person()->set_max_records(2);
  ASSERT_TRUE(owner_.CreateDataset(dataset).ok());
  for (const char* file : {"pid,sex,age,region\nann,Female,5,0\nbob,Male,5,0\n",
                           "pid,sex,age,region\nann,Female,5,1\nann,Female,5,2\nbob,Male,5,3\n"}) {
    v1::ImportRecordsRequest::Header header;
    header.set_dataset("persons");
    std::istringstream csv(file);
    ASSERT_TRUE(owner_.ImportRecords(header, csv).ok());
  }
  v1::SealDatasetRequest seal;
  seal.set_dataset("persons");
  const absl::StatusOr<v1::SealDatasetResponse> sealed = owner_.SealDataset(seal);
  EXPECT_EQ(sealed->records(), 4);
  EXPECT_EQ(sealed->records_dropped(), 1);
  // At epsilon 1,000 a marginal of scale 2 / 333 has no noise to speak of: exp(-166) a cell.
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(Question("persons", 1, "1000"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->marginals[2].counts, (std::vector<int64_t>{2, 1, 0, 1}));
}

TEST_P(Workload, WhoWasNotGrantedAccessSeesNothing) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  const Client analyst = server_.ClientFor("analyst");
  EXPECT_EQ(analyst.GetDataset("census").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(analyst.AnswerWorkload(Question("census", 1, "0.1")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(analyst.GetBudget("census").status().code(), absl::StatusCode::kNotFound);

  Grant(owner_, "census", "analyst");
  const absl::StatusOr<Answer> answer = analyst.AnswerWorkload(Question("census", 1, "0.1"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(Spent("census"), "0.1");
  v1::SealDatasetRequest seal;
  seal.set_dataset("census");
  EXPECT_EQ(analyst.SealDataset(seal).status().code(), absl::StatusCode::kPermissionDenied);
  v1::GetReleaseRequest release;
  release.set_release_id(answer->header.release_id());
  EXPECT_TRUE(owner_.GetRelease(release).ok())
      << "the owner of the dataset may read what was released from it";
  EXPECT_EQ(server_.ClientFor("stranger").GetRelease(release).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(Workload, ASuccessorSharesItsPredecessorsBudget) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  ASSERT_TRUE(owner_.AnswerWorkload(Question("census", 1, "0.8")).ok());
  v1::CreateDatasetRequest successor = NewDataset("census-2", v1::RULE_PURE, "1");
  successor.clear_limit();
  successor.set_successor_of("census");
  MakeSealed(owner_, successor, SmallCsv(800));
  EXPECT_EQ(owner_.AnswerWorkload(Question("census-2", 1, "0.3")).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(owner_.AnswerWorkload(Question("census-2", 1, "0.2")).ok());
  EXPECT_EQ(owner_.AnswerWorkload(Question("census", 1, "0.1")).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// Ten pupils of one school and one of another.
std::string TwoSchools() {
  std::string csv = "sex,age,region,school\n";
  for (int i = 0; i < 10; ++i) csv += "Female,13,0,north\n";
  return csv + "Male,23,1,south\n";
}

TEST_P(Workload, AGroupIsProtectedByAsManyRecordsAsItMayHave) {
  v1::CreateDatasetRequest pupils = NewDataset("pupils", v1::RULE_PURE, "1");
  pupils.mutable_schema()->mutable_unit()->mutable_group()->set_id_column("school");
  pupils.mutable_schema()->mutable_unit()->mutable_group()->set_max_records(4);
  MakeSealed(owner_, pupils, TwoSchools());
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(Question("pupils", 1, "0.5"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->header.event(), "discrete Laplace (scale = 24, L1 = 12, Linf = 4)") << "three marginals";
  EXPECT_EQ(owner_.GetDataset("pupils")->schema().unit().group().max_records(), 4);
}

TEST_P(Workload, AGroupOfAnyNumberOfRecordsIsRefusedCountsAndChargedNothing) {
  v1::CreateDatasetRequest pupils = NewDataset("pupils", v1::RULE_PURE, "1");
  pupils.mutable_schema()->mutable_unit()->mutable_group()->set_id_column("school");
  MakeSealed(owner_, pupils, TwoSchools());
  EXPECT_FALSE(owner_.GetDataset("pupils")->schema().unit().group().has_max_records());
  EXPECT_EQ(owner_.AnswerWorkload(Question("pupils", 1, "0.5")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  v1::CreateSynthesisRequest synthesis;
  synthesis.set_dataset("pupils");
  synthesis.mutable_spec()->set_method("mwem");
  synthesis.mutable_spec()->mutable_spend()->set_epsilon("0.5");
  EXPECT_EQ(owner_.CreateSynthesis(synthesis).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Spent("pupils"), "0");
}

}  // namespace
}  // namespace curator::testing
