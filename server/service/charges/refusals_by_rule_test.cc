#include "service/charges/refusals_by_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/testing/names.h"
#include "service/charges/accountant.h"
#include "service/datasets/parts.h"
#include "service/datasets/refusal_rules.h"
#include "service/operations/synthesis.h"
#include "service/testing/fixture.h"
#include "service/testing/wrapped_ledger.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

using codec::RefusalRule;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kUnitsOfThousandth = dp::kEpsilonUnitsPerOne / 1000;

class RefusalsByRuleTest : public ServiceTest {
 protected:
  explicit RefusalsByRuleTest(LedgerOpener open_ledger = &OpenSqliteLedger) : ServiceTest(open_ledger) {}

  void SetUp() override { MakeCensus(People("census")); }

  void MakeCensus(const NewDataset& dataset) {
    census_ = MakeSealed(dataset).record.id;
    const ledger::Grant grant{.grantee = "ana", .roles = ledger::kGrantedAnalyst | ledger::kGrantedService};
    ASSERT_TRUE(ledger_->SetGrant(census_, grant, owner_).ok());
  }
  void Add(const RefusalRule& rule) const {
    const auto added = AddRefusalRule(
        {*ledger_},
        {.request_id = NewRequestId(), .principal = owner_, .dataset = DatasetName("census"), .rule = rule},
        Intent::kDo);
    ASSERT_TRUE(added.ok()) << added.status();
  }
  void Remove(const std::string& rule) const {
    ASSERT_TRUE(
        RemoveRefusalRule({*ledger_}, {NewRequestId(), owner_, DatasetName("census"), rule}, Intent::kDo)
            .ok());
  }
  // A marginal over these attributes, for `thousandths` of epsilon.
  WorkloadRequest Question(const std::vector<std::string>& attributes, int64_t thousandths = 10) const {
    return {.principal = ana_,
            .dataset = DatasetName("census"),
            .queries = {{MarginalsQuery{.sets = {attributes}}}},
            .spend = {.epsilon = EpsilonOf(thousandths)}};
  }
  absl::Status Ask(const WorkloadRequest& request, const RequestId& id = NewRequestId(),
                   Intent intent = Intent::kDo) {
    return AnswerWorkload(services_, request, {}, id, intent).status();
  }
  absl::Status Ask(int64_t thousandths = 10) { return Ask(Question({"sex"}, thousandths)); }
  SynthesisRequest Synthesis(const std::vector<std::string>& attributes) const {
    return {.principal = ana_,
            .dataset = DatasetName("census"),
            .method = "mwem",
            .spend = {.epsilon = EpsilonOf(100)},
            .settings = {},
            .workload = {{MarginalsQuery{.sets = {attributes}}}},
            .assume_records = std::nullopt,
            .parts = {}};
  }
  absl::StatusOr<OperationView> Synthesize(const std::vector<std::string>& attributes,
                                           const RequestId& id = NewRequestId()) {
    return CreateSynthesis(services_, Synthesis(attributes), id, Intent::kDo);
  }
  ReservationRequest Reservation(const RequestId& id) const {
    return {.request_id = id,
            .dataset = DatasetName("census"),
            .event = dp::Event{dp::PureEvent{EpsilonOf(10)}},
            .summary = "",
            .lifetime = absl::Hours(1)};
  }
  absl::Status Reserve(const RequestId& id = NewRequestId()) {
    return ReserveBudget(services_, ana_, {Reservation(id)}, Intent::kDo).status();
  }
  int64_t SpentOrHeld() const {
    const ledger::CounterBalance balance = ledger_->ListAccounts(census_)->at(0).counters.at(0);
    return balance.spent + balance.held;
  }

  const Principal owner_ = TestPrincipal("owner");
  const Principal ana_ = TestPrincipal("ana");
  std::string census_;
};

TEST_F(RefusalsByRuleTest, ARuleWithoutConditionsRefusesEveryNewRequestAndNothingIsCharged) {
  Add({.name = "closed", .note = "until the audit"});
  for (const absl::Status& status : {Ask(), Synthesize({"sex"}).status(), Reserve()}) {
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_TRUE(IsRefusedByRule(status)) << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("\"closed\""), HasSubstr("until the audit"),
                                                     HasSubstr("nothing was charged")));
  }
  EXPECT_EQ(SpentOrHeld(), 0);
  Remove("closed");
  EXPECT_TRUE(Ask().ok());
  EXPECT_TRUE(Reserve().ok());
  EXPECT_TRUE(Synthesize({"sex"}).ok());
}

TEST_F(RefusalsByRuleTest, OnlyTheListedPrincipalsAreRefusedAndAreNotToldOfEachOther) {
  Add({.name = "some", .principals = {"zoe", "ana"}});
  const absl::Status refused = Ask();
  EXPECT_TRUE(IsRefusedByRule(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("zoe")));
  WorkloadRequest of_owner = Question({"sex"});
  of_owner.principal = owner_;
  EXPECT_TRUE(Ask(of_owner).ok());
}

TEST_F(RefusalsByRuleTest, TheOwnerIsAPrincipalAsOthersAre) {
  Add({.name = "self", .principals = {"owner"}});
  WorkloadRequest of_owner = Question({"sex"});
  of_owner.principal = owner_;
  EXPECT_TRUE(IsRefusedByRule(Ask(of_owner)));
  EXPECT_TRUE(Ask().ok());
}

TEST_F(RefusalsByRuleTest, AKindThatIsNotListedPasses) {
  Add({.name = "kinds", .kinds = codec::kRuledSynthesis | codec::kRuledReservation});
  EXPECT_TRUE(Ask().ok());
  EXPECT_TRUE(IsRefusedByRule(Synthesize({"sex"}).status()));
  EXPECT_TRUE(IsRefusedByRule(Reserve()));
}

TEST_F(RefusalsByRuleTest, WhatUsesAListedAttributeIsRefusedAndSoIsWhatMayUseAny) {
  Add({.name = "no-age", .attributes = {"age"}});
  EXPECT_TRUE(Ask(Question({"sex", "region"})).ok());
  const absl::Status refused = Ask(Question({"sex", "age"}));
  EXPECT_TRUE(IsRefusedByRule(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ask without age"));
  EXPECT_TRUE(IsRefusedByRule(Synthesize({"sex", "age"}).status()));
  EXPECT_TRUE(Synthesize({"sex", "region"}).ok());
  EXPECT_TRUE(IsRefusedByRule(Reserve())) << "nobody can observe what it reads";
}

TEST_F(RefusalsByRuleTest, AnAttributeOfAConditionIsUsed) {
  Add({.name = "no-age", .attributes = {"age"}});
  WorkloadRequest request = Question({"sex"});
  PredicatesQuery old;
  old.predicates = {{.all_of = {{.attribute = "age", .values = {}, .between = ValueInterval{"10", "19"}}}}};
  request.queries = {{old}};
  const absl::Status refused = Ask(request);
  EXPECT_TRUE(IsRefusedByRule(refused)) << refused;
}

TEST_F(RefusalsByRuleTest, AMeasureIsRefusedByItsNameAndByAnAttributeOfItsColumn) {
  const dp::Measure years = *dp::Measure::Create("years", {0, 80, 1}, std::nullopt, {.column = "age"});
  NewDataset numbers = People("numbers");
  numbers.schema = *dp::CreateSchema(*dp::Domain::Create(numbers.schema.domain.attributes(), {years}),
                                     numbers.schema.unit);
  Make(numbers);
  const StatisticsQuery mean{.statistics = {{.kind = dp::StatisticKind::kMean, .of = "years"}}};
  const WorkloadRequest asked{.principal = owner_,
                              .dataset = DatasetName("numbers"),
                              .queries = {{mean}},
                              .spend = {.epsilon = EpsilonOf(100)}};
  const auto refused_by = [&](const std::string& rule, const std::string& column) {
    const auto added = AddRefusalRule({*ledger_},
                                      {.request_id = NewRequestId(),
                                       .principal = owner_,
                                       .dataset = DatasetName("numbers"),
                                       .rule = {.name = rule, .attributes = {column}}},
                                      Intent::kDo);
    EXPECT_TRUE(added.ok()) << added.status();
    const absl::StatusOr<WorkloadEstimate> estimate = EstimateWorkload(services_, asked);
    EXPECT_TRUE(estimate.ok()) << estimate.status();
    EXPECT_TRUE(
        RemoveRefusalRule({*ledger_}, {NewRequestId(), owner_, DatasetName("numbers"), rule}, Intent::kDo)
            .ok());
    return estimate.ok() ? estimate->refused_by_rule : "";
  };
  EXPECT_EQ(refused_by("no-years", "years"), "no-years");
  EXPECT_EQ(refused_by("no-age", "age"), "no-age");
  EXPECT_EQ(refused_by("no-sex", "sex"), "");
}

TEST_F(RefusalsByRuleTest, AMorePreciseAnswerThanThePriceAllowsIsRefused) {
  Add({.name = "small", .price_above = codec::PriceAbove{"epsilon", 50 * kUnitsOfThousandth}});
  EXPECT_TRUE(Ask(50).ok()) << "as much as is allowed";
  const absl::Status refused = Ask(51);
  EXPECT_TRUE(IsRefusedByRule(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ask for at most epsilon 0.05"));
}

TEST_F(RefusalsByRuleTest, AllConditionsOfARuleMustHold) {
  Add({.name = "both",
       .attributes = {"age"},
       .price_above = codec::PriceAbove{"epsilon", 50 * kUnitsOfThousandth}});
  EXPECT_TRUE(Ask(Question({"age"}, 50)).ok());
  EXPECT_TRUE(Ask(Question({"sex"}, 51)).ok());
  EXPECT_TRUE(IsRefusedByRule(Ask(Question({"age"}, 51))));
}

TEST_F(RefusalsByRuleTest, ARuleHoldsFromItsBeginAndBeforeItsEnd) {
  const int64_t now = absl::ToUnixMicros(absl::Now());
  constexpr int64_t kDayUs = 86'400'000'000;
  Add({.name = "tomorrow", .start_us = now + kDayUs});
  EXPECT_TRUE(Ask().ok());
  Add({.name = "today", .start_us = now - kDayUs, .end_us = now + kDayUs});
  EXPECT_TRUE(IsRefusedByRule(Ask()));
}

TEST_F(RefusalsByRuleTest, TheTimesOfARuleAreTakenToTheMicrosecond) {
  DatasetView dataset = FindDataset({*ledger_}, Method::kGetDataset, owner_, DatasetName("census")).value();
  dataset.record.refusal_rules =
      codec::EncodeRefusalRules({{.name = "window", .start_us = 1'000'000, .end_us = 2'000'000}});
  const Price price;
  const std::vector<ledger::Account> accounts;
  const auto refused_at = [&](int64_t now_us) {
    return !RuleThatRefuses(*ledger_, dataset,
                            [&]() -> RuledRequest {
                              return {.principal = ana_,
                                      .kind = codec::kRuledWorkload,
                                      .attributes = std::set<uint32_t>(),
                                      .price = price,
                                      .accounts = accounts,
                                      .now = absl::FromUnixMicros(now_us)};
                            })
                .value()
                .empty();
  };
  EXPECT_FALSE(refused_at(999'999));
  EXPECT_TRUE(refused_at(1'000'000));
  EXPECT_TRUE(refused_at(1'999'999));
  EXPECT_FALSE(refused_at(2'000'000));
}

TEST_F(RefusalsByRuleTest, WhatWasChargedBeforeIsAnsweredUnderTheRule) {
  const RequestId question = NewRequestId();
  const RequestId reservation = NewRequestId();
  const RequestId synthesis = NewRequestId();
  ASSERT_TRUE(Ask(Question({"sex"}), question).ok());
  ASSERT_TRUE(Reserve(reservation).ok());
  const auto created = Synthesize({"sex"}, synthesis);
  ASSERT_TRUE(created.ok()) << created.status();
  const int64_t before = SpentOrHeld();
  Add({.name = "closed"});
  EXPECT_TRUE(Ask(Question({"sex"}), question).ok());
  EXPECT_TRUE(Reserve(reservation).ok());
  EXPECT_EQ(Synthesize({"sex"}, synthesis)->id, created->id);
  EXPECT_EQ(WaitOperation(services_, ana_, created->id, absl::InfiniteFuture())->state, OperationState::kDone)
      << "what was queued runs to its end";
  EXPECT_EQ(SpentOrHeld(), before);
  EXPECT_TRUE(IsRefusedByRule(Ask()));
}

TEST_F(RefusalsByRuleTest, FreeAnswersAreNotRefused) {
  ASSERT_TRUE(Ask().ok());
  Add({.name = "closed"});
  WorkloadRequest free = Question({"sex"});
  free.spend = {};
  free.prefer_free = true;
  EXPECT_TRUE(Ask(free).ok());
}

TEST_F(RefusalsByRuleTest, ARequestThatIsOnlyValidatedIsRefusedToo) {
  Add({.name = "closed"});
  EXPECT_TRUE(IsRefusedByRule(Ask(Question({"sex"}), NewRequestId(), Intent::kValidateOnly)));
  EXPECT_TRUE(IsRefusedByRule(
      CreateSynthesis(services_, Synthesis({"sex"}), NewRequestId(), Intent::kValidateOnly).status()));
  EXPECT_TRUE(IsRefusedByRule(
      ReserveBudget(services_, ana_, {Reservation(NewRequestId())}, Intent::kValidateOnly).status()));
}

TEST_F(RefusalsByRuleTest, EstimatesNameTheRuleAndAreNotRefused) {
  EXPECT_EQ(EstimateWorkload(services_, Question({"age"}))->refused_by_rule, "");
  Add({.name = "no-age", .attributes = {"age"}});
  const auto workload = EstimateWorkload(services_, Question({"age"}));
  ASSERT_TRUE(workload.ok()) << workload.status();
  EXPECT_EQ(workload->refused_by_rule, "no-age");
  EXPECT_EQ(EstimateWorkload(services_, Question({"sex"}))->refused_by_rule, "");
  const auto synthesis = EstimateSynthesis(services_, Synthesis({"age"}));
  ASSERT_TRUE(synthesis.ok()) << synthesis.status();
  EXPECT_EQ(synthesis->refused_by_rule, "no-age");
  const auto cost =
      EstimateCost(services_, ana_, DatasetName("census"), dp::Event{dp::PureEvent{EpsilonOf(10)}});
  ASSERT_TRUE(cost.ok()) << cost.status();
  EXPECT_EQ(cost->refused_by_rule, "no-age");
}

TEST_F(RefusalsByRuleTest, ABatchSaysWhichOfItsReservationsIsRefused) {
  MakeSealed(People("survey"));
  Add({.name = "closed"});
  ReservationRequest allowed = Reservation(NewRequestId());
  allowed.dataset = DatasetName("survey");
  const absl::Status refused =
      ReserveBudget(services_, owner_, {allowed, Reservation(NewRequestId())}, Intent::kDo).status();
  EXPECT_TRUE(IsRefusedByRule(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("requests[1]: "));
}

TEST_F(RefusalsByRuleTest, RulesThatCannotBeReadLetNothingPass) {
  Corrupt("UPDATE datasets SET refusal_rules = X'00'");
  const absl::Status refused = Ask();
  EXPECT_EQ(refused.code(), absl::StatusCode::kDataLoss) << refused;
  EXPECT_EQ(SpentOrHeld(), 0);
}

TEST_F(RefusalsByRuleTest, ARuleThatAnotherServerAddedBindsWhereTheDatasetIsCached) {
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Ask().ok());
  ASSERT_TRUE(Reserve().ok());
  const int64_t before = SpentOrHeld();
  Add({.name = "closed"});  // the cache is not told
  EXPECT_TRUE(IsRefusedByRule(Ask()));
  EXPECT_TRUE(IsRefusedByRule(Reserve()));
  EXPECT_EQ(SpentOrHeld(), before);
}

TEST_F(RefusalsByRuleTest, ARuleThatAnotherServerRemovedRefusesNothingWhereTheDatasetIsCached) {
  Add({.name = "closed"});
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(IsRefusedByRule(Ask()));
  EXPECT_TRUE(IsRefusedByRule(Reserve()));
  Remove("closed");
  EXPECT_TRUE(Ask().ok());
  EXPECT_TRUE(Reserve().ok());
}

class RulesOfPartsTest : public RefusalsByRuleTest {
 protected:
  void SetUp() override {
    Make(DividedPeople("census"));
    for (const char* const part : {"north", "south"}) FillAndSeal("census", PeopleCsvOf(part), part);
    census_ = ledger_->GetDataset("census")->id;
    ASSERT_TRUE(ledger_->SetGrant(census_, {.grantee = "ana"}, owner_).ok());
  }
  static std::string PeopleCsvOf(const std::string& part) {
    return part == "north" ? "sex,age,region\nFemale,13,0\n" : "sex,age,region\nMale,13,2\n";
  }
};

TEST_F(RulesOfPartsTest, NamingPartsUsesTheAttributeThatDividesThem) {
  Add({.name = "no-region", .attributes = {"region"}});
  EXPECT_TRUE(Ask(Question({"sex"})).ok());
  WorkloadRequest of_part = Question({"sex"});
  of_part.parts = {"north"};
  EXPECT_TRUE(IsRefusedByRule(Ask(of_part)));
}

TEST_F(RulesOfPartsTest, ThePriceIsThatOfAnyPart) {
  Add({.name = "small", .price_above = codec::PriceAbove{"epsilon", 50 * kUnitsOfThousandth}});
  WorkloadRequest of_part = Question({"sex"}, 51);
  of_part.parts = {"south"};
  EXPECT_TRUE(IsRefusedByRule(Ask(of_part)));
  of_part.spend = {.epsilon = EpsilonOf(50)};
  EXPECT_TRUE(Ask(of_part).ok());
}

// The measured variable of nested records is the age.
class RulesOfNestedRecordsTest : public RefusalsByRuleTest {
 protected:
  void SetUp() override {
    NewDataset nested = People("census");
    nested.schema = dp::CreateSchema(PeopleSchema().domain, dp::RecordUnit{},
                                     dp::Nesting{.group_column = "home", .response = 1, .max_group_size = 9})
                        .value();
    census_ = Make(nested).record.id;
    const ledger::Grant grant{.grantee = "ana", .roles = ledger::kGrantedAnalyst};
    ASSERT_TRUE(ledger_->SetGrant(census_, grant, owner_).ok());
  }
  std::string RuleFor(const std::string& method) {
    SynthesisRequest request = Synthesis({"sex", "region"});
    request.method = method;
    const auto estimate = EstimateSynthesis(services_, request);
    EXPECT_TRUE(estimate.ok()) << estimate.status();
    return estimate.ok() ? estimate->refused_by_rule : "";
  }
};

TEST_F(RulesOfNestedRecordsTest, OnlyTheMethodThatMeasuresTheResponseUsesItUnasked) {
  Add({.name = "no-age", .attributes = {"age"}});
  EXPECT_EQ(RuleFor("nested"), "no-age");
  EXPECT_EQ(RuleFor("mwem"), "");
}

}  // namespace
}  // namespace curator::service
