// What a request without a price is offered: shares of what is left.
#include "service/workloads/spend_choices.h"

#include "base/int128.h"
#include "service/accounts/accounts.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kOne = dp::kEpsilonUnitsPerOne;

dp::RuleSpec ZcdpOf(int64_t thousandths) {
  return {.kind = dp::RuleKind::kZcdp, .epsilon = EpsilonOf(thousandths), .delta = dp::Delta(1'000'000'000)};
}

class SpendChoicesTest : public ServiceTest {
 protected:
  static WorkloadRequest BySex(const std::string& principal = "owner") {
    return {.principal = TestPrincipal(principal),
            .dataset = DatasetName("census"),
            .queries = {{MarginalsQuery{.sets = {{"sex"}}}}}};
  }

  static NewDataset Under(const dp::RuleSpec& limit) {
    NewDataset dataset = People("census");
    dataset.limit = limit;
    return dataset;
  }

  static NewDataset PureOf(int64_t thousandths) {
    return Under({.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(thousandths)});
  }

  void Spend(const dp::Spend& spend) {
    WorkloadRequest request = BySex();
    request.spend = spend;
    const auto answer = AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo);
    ASSERT_TRUE(answer.ok()) << answer.status();
  }

  void OpenAccount(const std::string& analyst, const dp::RuleSpec& limit) {
    const auto account = CreateAccount({*ledger_},
                                       {.request_id = NewRequestId(),
                                        .principal = TestPrincipal("owner"),
                                        .dataset = DatasetName("census"),
                                        .holder = analyst,
                                        .limit = limit},
                                       Intent::kDo);
    ASSERT_TRUE(account.ok()) << account.status();
  }

  std::vector<SpendChoice> Ladder(const WorkloadRequest& request) {
    const auto estimate = EstimateWorkload(services_, request);
    EXPECT_TRUE(estimate.ok()) << estimate.status();
    if (!estimate.ok()) return {};
    return SpendChoicesFor(*estimate, 0.95).value().choices;
  }
};

std::vector<std::string> EpsilonsOf(const std::vector<SpendChoice>& choices) {
  std::vector<std::string> epsilons;
  for (const SpendChoice& choice : choices) {
    EXPECT_FALSE(choice.spend.rho || choice.spend.delta);
    epsilons.push_back(choice.spend.epsilon.value_or(dp::Epsilon()).ToString());
  }
  return epsilons;
}

std::vector<double> SharesOf(const std::vector<SpendChoice>& choices) {
  std::vector<double> shares;
  for (const SpendChoice& choice : choices) shares.push_back(choice.share_of_left);
  return shares;
}

TEST_F(SpendChoicesTest, ALadderHasSharesOfWhatIsLeftNow) {
  MakeSealed(PureOf(10'000));
  const std::vector<SpendChoice> at_first = Ladder(BySex());
  EXPECT_THAT(EpsilonsOf(at_first), ElementsAre("0.1", "0.3", "1", "3"));
  EXPECT_THAT(SharesOf(at_first), ElementsAre(0.01, 0.03, 0.1, 0.3));
  Spend({.epsilon = EpsilonOf(3000)});
  EXPECT_THAT(EpsilonsOf(Ladder(BySex())), ElementsAre("0.07", "0.21", "0.7", "2.1"));
}

TEST_F(SpendChoicesTest, MoreOfWhatIsLeftBuysSmallerErrorsForAHigherPrice) {
  MakeSealed(PureOf(10'000));
  const std::vector<SpendChoice> ladder = Ladder(BySex());
  ASSERT_EQ(ladder.size(), 4U);
  for (size_t i = 1; i < ladder.size(); ++i) {
    EXPECT_LT(ladder[i].standard_deviation, ladder[i - 1].standard_deviation);
    EXPECT_LT(ladder[i].max_error, ladder[i - 1].max_error);
    EXPECT_GT(ladder[i].price.counters[0].cost, ladder[i - 1].price.counters[0].cost);
    EXPECT_TRUE(ladder[i].price.Fits());
  }
}

TEST_F(SpendChoicesTest, AStepIsTheLargestOfTwoDigitsThatTakesAtMostItsShare) {
  MakeSealed(PureOf(1999));
  EXPECT_THAT(EpsilonsOf(Ladder(BySex())), ElementsAre("0.019", "0.059", "0.19", "0.59"));
}

// Canary: the nearest number of two digits would take more than was said.
TEST_F(SpendChoicesTest, TheNearestNumberOfTwoDigitsWouldTakeMoreThanTheShare) {
  MakeSealed(PureOf(1999));
  WorkloadRequest request = BySex();
  request.spend = {.epsilon = EpsilonOf(20)};
  const auto nearest = EstimateWorkload(services_, request);
  ASSERT_TRUE(nearest.ok()) << nearest.status();
  const PricedCounter& counter = nearest->price.counters.at(0);
  EXPECT_GT(counter.cost * 100, counter.remaining_before);
}

TEST_F(SpendChoicesTest, ThePriceOfEachStepIsWithinItsShareOfEveryAccount) {
  MakeSealed(Under(ZcdpOf(1000)));
  Spend({.rho = dp::Rho(1'234'567'890)});
  OpenAccount("ana", ZcdpOf(333));
  ASSERT_TRUE(ledger_
                  ->SetGrant(FindDataset({*ledger_}, Method::kGetDataset, TestPrincipal("owner"),
                                         DatasetName("census"))
                                 ->record.id,
                             {.grantee = "ana", .roles = ledger::kGrantedAnalyst}, TestPrincipal("owner"))
                  .ok());
  const std::vector<SpendChoice> ladder = Ladder(BySex("ana"));
  ASSERT_EQ(ladder.size(), 4U);
  for (const SpendChoice& choice : ladder) {
    ASSERT_TRUE(choice.spend.rho.has_value());
    EXPECT_EQ(choice.price.counters.size(), 2U);
    for (const PricedCounter& counter : choice.price.counters) {
      EXPECT_LE(static_cast<double>(counter.cost),
                choice.share_of_left * static_cast<double>(counter.remaining_before) * (1 + 1e-12));
    }
    // The smaller account is nearly used to its share.
    const PricedCounter& anas = choice.price.counters.at(1);
    EXPECT_EQ(anas.account, "dataset/census/analyst/ana");
    EXPECT_GT(static_cast<double>(anas.cost),
              0.89 * choice.share_of_left * static_cast<double>(anas.remaining_before));
  }
}

TEST_F(SpendChoicesTest, AnAccountUnderAnotherRuleOrLaplaceNoiseMakesTheLadderOneOfEpsilons) {
  MakeSealed(Under(ZcdpOf(1000)));
  EXPECT_TRUE(Ladder(BySex()).at(0).spend.rho.has_value());
  WorkloadRequest laplace = BySex();
  laplace.mechanism = dp::Mechanism::kDiscreteLaplace;
  EXPECT_EQ(EpsilonsOf(Ladder(laplace)).size(), 4U);
  OpenAccount("owner", {.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(100)});
  EXPECT_THAT(EpsilonsOf(Ladder(BySex())), ElementsAre("0.001", "0.003", "0.01", "0.03"));
}

TEST_F(SpendChoicesTest, UnderAdvancedTheSquareOfAStepIsItsShare) {
  MakeSealed(Under(
      {.kind = dp::RuleKind::kAdvanced, .epsilon = EpsilonOf(1000), .delta = dp::Delta(1'000'000'000'000)}));
  const std::vector<SpendChoice> ladder = Ladder(BySex());
  ASSERT_EQ(EpsilonsOf(ladder).size(), 4U);
  for (const SpendChoice& choice : ladder) {
    const PricedCounter& squared = choice.price.counters.at(0);
    ASSERT_EQ(squared.counter, "epsilon_squared");
    const double share = static_cast<double>(squared.cost) / static_cast<double>(squared.remaining_before);
    EXPECT_LE(share, choice.share_of_left * (1 + 1e-12));
    EXPECT_GT(share, 0.8 * choice.share_of_left);
  }
}

TEST_F(SpendChoicesTest, EveryPartThatIsAskedHasItsShareLeft) {
  NewDataset divided = DividedPeople("census");
  divided.limit = ZcdpOf(2000);
  Make(divided);
  FillAndSeal("census", PeopleCsv(2), "north");
  FillAndSeal("census", "sex,age,region\nMale,3,2\n", "south");
  WorkloadRequest north = BySex();
  north.parts = {"north"};
  north.spend = {.rho = dp::Rho(kOne / 50)};
  ASSERT_TRUE(AnswerWorkload(services_, north, {}, NewRequestId(), Intent::kDo).ok());
  const std::vector<SpendChoice> both = Ladder(BySex());
  WorkloadRequest south = BySex();
  south.parts = {"south"};
  const std::vector<SpendChoice> one = Ladder(south);
  ASSERT_EQ(both.size(), 4U);
  ASSERT_EQ(one.size(), 4U);
  EXPECT_EQ(both[0].price.counters.size(), 2U);
  EXPECT_LT(both[0].spend.rho.value(), one[0].spend.rho.value());
}

TEST_F(SpendChoicesTest, WithoutEnoughLeftTheErrorNamesTheAccount) {
  MakeSealed(PureOf(1000));
  Spend({.epsilon = EpsilonOf(1000)});
  const absl::Status refused = EstimateWorkload(services_, BySex()).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("dataset/census has epsilon 0 left"), HasSubstr("with a spend or a target")));
  WorkloadRequest priced = BySex();
  priced.spend = {.epsilon = EpsilonOf(100)};
  EXPECT_TRUE(EstimateWorkload(services_, priced).ok()) << "what it would buy is shown all the same";
}

TEST_F(SpendChoicesTest, StepsBelowTheLeastChargeAreLeftOut) {
  MakeSealed(PureOf(1000));
  Spend({.epsilon = dp::Epsilon(kOne - kOne / 20'000)});  // 0.00005 is left, and 0.00001 the least charge
  EXPECT_THAT(EpsilonsOf(Ladder(BySex())), ElementsAre("1.5e-5"));
}

TEST_F(SpendChoicesTest, AnEstimateWithoutAPriceHasThatOfItsFirstStep) {
  MakeSealed(PureOf(10'000));
  const auto estimate = EstimateWorkload(services_, BySex());
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_EQ(estimate->price.counters.at(0).cost, EpsilonOf(100).units());
  EXPECT_EQ(SpendChoicesFor(*estimate, 0.95)->max_error, 0);
  WorkloadRequest priced = BySex();
  priced.spend = {.epsilon = EpsilonOf(100)};
  EXPECT_TRUE(EstimateWorkload(services_, priced)->ladder.empty());
}

TEST_F(SpendChoicesTest, AnAnswerStillNeedsAPrice) {
  MakeSealed(PureOf(10'000));
  EXPECT_EQ(FieldOf(AnswerWorkload(services_, BySex(), {}, NewRequestId(), Intent::kDo).status()),
            "spend.epsilon");
}

}  // namespace
}  // namespace curator::service
