// Workloads, spends, prices and noise between the wire and plain types.
#include "rpc/convert_workload.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "dp/domain/numbers.h"

namespace curator::rpc {
namespace {

using ::testing::ElementsAre;

template <typename Message>
Message ParsedText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

std::string FieldNamedBy(const absl::Status& status) {
  return FieldViolationOf(status).value_or(FieldViolation()).field;
}

TEST(ConvertWorkload, ANumberOfJsonThatIsWholeIsReadAsAnInteger) {
  const auto read = [](double number) {
    v1::Workload workload;
    v1::Predicate& predicate = *workload.add_query_sets()->mutable_predicates()->add_predicates();
    predicate.add_all_of()->add_in()->set_number_value(number);
    const auto sets = FromProto(workload).value();
    return std::get<service::PredicatesQuery>(sets.front().queries)
        .predicates.front()
        .all_of.front()
        .values.front();
  };
  for (const int64_t whole :
       {0L, 7L, 100'000L, 200'000L, 1'000'000L, -100'000L, 1'000'000'000'000'000L, (1L << 53), -(1L << 53)}) {
    const std::string text = read(static_cast<double>(whole));
    EXPECT_EQ(text, std::to_string(whole));
    EXPECT_EQ(std::get<int64_t>(dp::ReadInteger(text)), whole);
  }
  EXPECT_EQ(read(-0.0), "0");
  for (const double other : {0.5, -2.25, 1e300, 0x1p54}) {
    EXPECT_EQ(std::get<double>(dp::ReadNumber(read(other))), other) << "the same double again";
  }
}

TEST(ConvertSpend, IsTheSameAfterBothWays) {
  const auto proto = ParsedText<v1::Spend>(R"pb(epsilon: "0.5" delta: "1e-9" rho: "0.125")pb");
  const dp::Spend spend = FromProto(proto).value();
  EXPECT_EQ(spend.epsilon->ToString(), "0.5");
  EXPECT_EQ(ToProto(spend).SerializeAsString(), proto.SerializeAsString());
  EXPECT_EQ(ToProto(FromProto(v1::Spend()).value()).SerializeAsString(), "");
}

TEST(ConvertSpend, NamesTheAmountThatCannotBeRead) {
  EXPECT_EQ(FieldNamedBy(FromProto(ParsedText<v1::Spend>(R"pb(epsilon: "much")pb")).status()),
            "spend.epsilon");
  EXPECT_EQ(FieldNamedBy(FromProto(ParsedText<v1::Spend>(R"pb(rho: "-1")pb")).status()), "spend.rho");
}

TEST(ConvertTarget, HasAConfidenceOf95PercentUnlessItStatesOne) {
  EXPECT_EQ(FromProto(ParsedText<v1::Target>("max_error: 10"))->confidence, 0.95);
  EXPECT_EQ(FromProto(ParsedText<v1::Target>("max_error: 10 confidence: 0.5"))->confidence, 0.5);
}

TEST(ConvertTarget, IsAnErrorOfAllAnswersOrOfTheirMean) {
  EXPECT_EQ(FromProto(ParsedText<v1::Target>("rmse: 10"))->rmse, 10);
  EXPECT_EQ(FromProto(ParsedText<v1::Target>("max_error: 10"))->rmse, std::nullopt);
  for (const char* both : {"rmse: 10 max_error: 3", "rmse: 10 confidence: 0.9"})
    EXPECT_EQ(FieldNamedBy(FromProto(ParsedText<v1::Target>(both)).status()), "target.rmse") << both;
}

TEST(ConvertObjective, RefusesAValueOfALaterVersion) {
  EXPECT_EQ(FromProto(v1::OBJECTIVE_UNSPECIFIED).value(), std::nullopt);
  EXPECT_EQ(FromProto(v1::OBJECTIVE_SUM).value(), dp::ErrorMeasure::kMean);
  EXPECT_EQ(FromProto(v1::OBJECTIVE_WORST).value(), dp::ErrorMeasure::kLargest);
  EXPECT_EQ(FieldNamedBy(FromProto(static_cast<v1::Objective>(99)).status()), "objective");
}

TEST(ConvertMechanism, RefusesAValueOfALaterVersion) {
  EXPECT_EQ(FromProto(v1::MECHANISM_UNSPECIFIED).value(), std::nullopt);
  EXPECT_EQ(FromProto(v1::MECHANISM_DISCRETE_GAUSSIAN).value(), dp::Mechanism::kDiscreteGaussian);
  EXPECT_EQ(FieldNamedBy(FromProto(static_cast<v1::Mechanism>(99)).status()), "mechanism");
}

TEST(ConfidenceLevel, LiesStrictlyBetweenZeroAndOne) {
  EXPECT_EQ(ConfidenceLevel(std::nullopt).value(), 0.95);
  EXPECT_EQ(ConfidenceLevel(0.5).value(), 0.5);
  EXPECT_EQ(FieldNamedBy(ConfidenceLevel(0).status()), "confidence_level");
  EXPECT_EQ(FieldNamedBy(ConfidenceLevel(1).status()), "confidence_level");
}

TEST(ConvertNoise, StatesTheParameterOfItsMechanismAndNoOther) {
  const v1::Noise laplace = ToProto(service::NoiseSummary{
      .noise = {dp::Mechanism::kDiscreteLaplace, {5, 2}}, .half_width = 7, .level = 0.9});
  EXPECT_EQ(laplace.scale(), "5/2");
  EXPECT_EQ(laplace.sigma_squared(), "");
  EXPECT_EQ(laplace.confidence_half_width(), 7);
  EXPECT_EQ(laplace.confidence_level(), 0.9);
  const v1::Noise gaussian =
      ToProto(service::NoiseSummary{.noise = {dp::Mechanism::kDiscreteGaussian, {320, 1}}});
  EXPECT_EQ(gaussian.sigma_squared(), "320");
  EXPECT_EQ(gaussian.scale(), "");
}

TEST(ConvertPrice, HasARemainderUnlessItIsAForecastThatDoesNotFit) {
  const service::Price price{.counters = {{.account = "dataset/census",
                                           .rule = dp::RuleKind::kPure,
                                           .counter = "epsilon",
                                           .cost = 2 * dp::kEpsilonUnitsPerOne,
                                           .remaining_before = dp::kEpsilonUnitsPerOne}}};
  const std::vector<v1::Cost> forecast = ToProto(price, PriceTense::kWouldCost);
  ASSERT_EQ(forecast.size(), 1U);
  EXPECT_EQ(forecast[0].amount(), "2");
  EXPECT_EQ(forecast[0].remaining(), "");
  EXPECT_EQ(ToProto(price, PriceTense::kHasCost)[0].remaining(), "-1");
}

TEST(ConvertPrice, HasItsSharesOfTheLimit) {
  service::PricedCounter counter{.account = "dataset/census",
                                 .counter = "epsilon",
                                 .cost = 2 * dp::kEpsilonUnitsPerOne,
                                 .remaining_before = 5 * dp::kEpsilonUnitsPerOne,
                                 .limit = 8 * dp::kEpsilonUnitsPerOne};
  const v1::Cost fits = ToProto(service::Price{.counters = {counter}}, PriceTense::kWouldCost).at(0);
  EXPECT_EQ(fits.share_of_promise(), 0.25);
  EXPECT_EQ(fits.share_left(), 0.375);
  counter.remaining_before = dp::kEpsilonUnitsPerOne;
  const v1::Cost does_not = ToProto(service::Price{.counters = {counter}}, PriceTense::kWouldCost).at(0);
  EXPECT_EQ(does_not.share_of_promise(), 0.25);
  EXPECT_EQ(does_not.share_left(), 0) << "as nothing remains";
}

TEST(ConvertQuerySets, KeepNamesAndValuesAsTheCallerWroteThem) {
  const auto workload = ParsedText<v1::Workload>(R"pb(
    query_sets {
      predicates {
        predicates {
          all_of {
            attribute: "age"
            between { from { number_value: 30 } }
          }
        }
        by: "sex"
      }
      strategy: STRATEGY_TREE
    })pb");
  const std::vector<service::QuerySetRequest> sets = FromProto(workload).value();
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].strategy, dp::Strategy::kTree);
  const auto& predicates = std::get<service::PredicatesQuery>(sets[0].queries);
  EXPECT_THAT(predicates.by, ElementsAre("sex"));
  EXPECT_EQ(predicates.predicates.at(0).all_of.at(0).between->from, "30");
  EXPECT_EQ(predicates.predicates.at(0).all_of.at(0).between->to, std::nullopt);
}

TEST(ConvertQuerySets, KeepEachStrategyOfCounts) {
  for (const v1::Strategy strategy :
       {v1::STRATEGY_UNSPECIFIED, v1::STRATEGY_DIRECT, v1::STRATEGY_BASE_HISTOGRAM, v1::STRATEGY_TREE,
        v1::STRATEGY_RESIDUAL, v1::STRATEGY_PARITY}) {
    v1::Workload workload;
    v1::QuerySet& set = *workload.add_query_sets();
    set.mutable_marginals()->mutable_all_k_way()->set_k(2);
    set.set_strategy(strategy);
    EXPECT_EQ(ToProto(FromProto(workload).value().at(0).strategy), strategy);
  }
}

TEST(ConvertQuerySets, KeepExpressionsAsTheCallerWroteThem) {
  const auto predicate = ParsedText<v1::Predicate>(R"pb(
    expression {
      any_of {
        expressions {
          not {
            condition {
              attribute: "age"
              compare {
                operator: LESS
                value { number_value: 65 }
              }
            }
          }
        }
        expressions { condition { attribute: "smoker" is_missing: true } }
      }
    })pb");
  const absl::StatusOr<service::PredicateRequest> request = FromProto(predicate, "where");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_TRUE(request->all_of.empty());
  ASSERT_TRUE(request->expression);
  EXPECT_EQ(request->expression->kind, service::Expression::Kind::kAnyOf);
  ASSERT_EQ(request->expression->operands.size(), 2U);
  const service::Expression& negated = request->expression->operands[0];
  EXPECT_EQ(negated.kind, service::Expression::Kind::kNot);
  EXPECT_EQ(negated.operands.at(0).condition.compare->op, dp::ComparisonOperator::kLess);
  EXPECT_EQ(negated.operands.at(0).condition.compare->value, "65");
  EXPECT_TRUE(request->expression->operands[1].condition.is_missing);
}

TEST(ConvertQuerySets, MalformedExpressionsAreRefusedByTheirField) {
  const auto refusal = [](const std::string& text) {
    return std::string(FromProto(ParsedText<v1::Predicate>(text), "where").status().message());
  };
  EXPECT_EQ(refusal("expression {}"), "where.expression: needs a condition, all_of, any_of or not");
  EXPECT_EQ(refusal("expression { not { all_of {} } }"), "where.expression.not.all_of: has no expression");
  EXPECT_EQ(refusal("expression { any_of { expressions { condition {} } expressions {} } }"),
            "where.expression.any_of.expressions[1]: needs a condition, all_of, any_of or not");
  EXPECT_EQ(refusal("expression { condition { compare { value { number_value: 1 } } } }"),
            "where.expression.condition.compare.operator: must be EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, "
            "GREATER or GREATER_OR_EQUAL");
  EXPECT_EQ(refusal("all_of { compare { operator: 77 } }").substr(0, 34),
            "where.all_of[0].compare.operator: ");
  EXPECT_EQ(refusal("all_of { compare { operator: LESS } }"),
            "where.all_of[0].compare.value: must be a string or a number");
}

TEST(ConvertQuerySets, LeaveOutMarginalsAboveASizeAndNoParities) {
  const auto workload = ParsedText<v1::Workload>(
      R"pb(query_sets { marginals { all_k_way { k: 2 max_cells: 100 } } }
           query_sets { marginals { all_k_way { k: 2 } } })pb");
  const auto sets = FromProto(workload).value();
  EXPECT_EQ(std::get<service::MarginalsQuery>(sets.at(0).queries).max_cells, 100);
  EXPECT_EQ(std::get<service::MarginalsQuery>(sets.at(1).queries).max_cells, std::nullopt);
  const auto parities =
      ParsedText<v1::Workload>(R"pb(query_sets { parities { up_to_k_way { k: 2 max_cells: 100 } } })pb");
  EXPECT_EQ(FieldNamedBy(FromProto(parities).status()),
            "workload.query_sets[0].parities.up_to_k_way.max_cells");
}

TEST(ConvertQuerySets, NameTheFieldThatCannotBeRead) {
  const auto refused = [](const std::string& text) {
    return FieldNamedBy(FromProto(ParsedText<v1::Workload>(text)).status());
  };
  EXPECT_EQ(refused("query_sets { }"), "workload.query_sets[0]");
  EXPECT_EQ(refused(R"pb(query_sets {
                           prefixes { attribute: "age" }
                           strategy: 77
                         })pb"),
            "workload.query_sets[0].strategy");
  EXPECT_EQ(refused("query_sets { marginals {} strategy: STRATEGY_SELECTION }"),
            "workload.query_sets[0].strategy");
  EXPECT_EQ(refused("query_sets { statistics {} strategy: STRATEGY_RESIDUAL }"),
            "workload.query_sets[0].strategy");
  EXPECT_EQ(refused(R"pb(query_sets { marginals {} }
                         query_sets {
                           thresholds {
                             conditions {
                               attribute: "age"
                               in { null_value: 0 }
                             }
                           }
                         })pb"),
            "workload.query_sets[1].thresholds.conditions[0].in[0]");
}

}  // namespace
}  // namespace curator::rpc
