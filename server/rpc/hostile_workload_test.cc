// Hostile requests: whatever a workload asks for, it is resolved and planned, or refused with
// the field and the number, in bounded time and memory, before anything could be charged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>
#include <string>

#include "base/errors.h"
#include "dp/workload/memory_forecast.h"
#include "dp/workload/workload_plan.h"
#include "rpc/convert_workload.h"
#include "service/memory_budget.h"
#include "service/workloads/resolve_workload.h"

namespace curator::rpc {
namespace {

constexpr int kRequests = 100'000;

// Small and enormous attributes, whose products overflow.
const dp::Domain& HostileDomain() {
  static const dp::Domain domain = [] {
    std::vector<dp::Attribute> attributes;
    const auto add = [&](dp::AttributeKind kind) {
      attributes.push_back(
          dp::Attribute::Create("a" + std::to_string(attributes.size()), std::move(kind)).value());
    };
    add(dp::CategoricalKind{{"Female", "Male"}, "other"});
    add(dp::IntegerKind{.min = -5, .max = 99, .bin_width = 7});
    add(dp::IntegerKind{.min = std::numeric_limits<int64_t>::min(),
                        .max = std::numeric_limits<int64_t>::max(),
                        .bin_width = int64_t{1} << 62});
    add(dp::NumericKind{{-1e300, 0, 0.5, 1e300}});
    add(dp::CodedKind{dp::kMaxAttributeSize});
    for (int i = 0; i < 60; ++i) add(dp::CodedKind{2});
    return dp::Domain::Create(std::move(attributes)).value();
  }();
  return domain;
}

class Attacker {
 public:
  explicit Attacker(uint64_t seed) : random_(seed) {}

  v1::Workload Request() {
    v1::Workload workload;
    const int sets = OneIn(20'000) ? 20'000 : Below(4);
    for (int i = 0; i < sets; ++i) AddSet(*workload.add_query_sets());
    return workload;
  }

 private:
  bool OneIn(int n) { return random_() % static_cast<uint64_t>(n) == 0; }
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

  std::string Name() {
    if (OneIn(40)) return "";
    if (OneIn(40)) return std::string(5000, 'a');
    if (OneIn(8)) return "a" + std::to_string(Below(6));  // the odd ones
    return "a" + std::to_string(Below(70));               // some are not there
  }
  int Number() {
    constexpr int kNumbers[] = {0,
                                1,
                                2,
                                3,
                                5,
                                30,
                                59,
                                65,
                                1000,
                                -1,
                                std::numeric_limits<int>::max(),
                                std::numeric_limits<int>::min()};
    return kNumbers[random_() % std::size(kNumbers)];
  }
  google::protobuf::Value Value() {
    google::protobuf::Value value;
    switch (Below(8)) {
      case 0:
        value.set_number_value(std::numeric_limits<double>::quiet_NaN());
        break;
      case 1:
        value.set_number_value(OneIn(2) ? 1e300 : -9.3e18);
        break;
      case 2:
        value.set_string_value(OneIn(2) ? "Male" : "9223372036854775807");
        break;
      case 3: {
        google::protobuf::Value* inner = &value;
        for (int depth = 0; depth < 30; ++depth) inner = inner->mutable_list_value()->add_values();
        break;
      }
      case 4:
        break;
      default:
        value.set_number_value(Below(4));
    }
    return value;
  }
  void Fill(v1::Interval& interval) {
    if (OneIn(2)) *interval.mutable_from() = Value();
    if (OneIn(2)) *interval.mutable_to() = Value();
  }
  template <typename Add>
  void Times(int usually_below, int rarely, const Add& add) {
    const int times = OneIn(20'000) ? rarely : Below(usually_below);
    for (int i = 0; i < times; ++i) add();
  }
  void Fill(v1::Condition& condition) {
    condition.set_attribute(Name());
    if (OneIn(40)) condition.set_is_missing(true);
    switch (Below(5)) {
      case 0:
      case 1:
        Fill(*condition.mutable_between());
        break;
      case 2:
        condition.mutable_compare()->set_operator_(static_cast<v1::Comparison::Operator>(Below(9)));
        *condition.mutable_compare()->mutable_value() = Value();
        break;
      default:
        Times(4, 3000, [&] { *condition.add_in() = Value(); });
    }
  }
  void Fill(v1::Expression& expression, int levels) {
    switch (levels == 0 ? 0 : Below(5)) {
      case 0:
        if (!OneIn(40)) Fill(*expression.mutable_condition());
        break;
      case 1:
        Fill(*expression.mutable_not_(), levels - 1);
        break;
      default: {
        v1::Expressions& operands = OneIn(2) ? *expression.mutable_all_of() : *expression.mutable_any_of();
        Times(4, 1100, [&] { Fill(*operands.add_expressions(), levels / 3); });
      }
    }
  }
  void AddSet(v1::QuerySet& set) {
    set.set_strategy(static_cast<v1::Strategy>(Below(6)));
    switch (Below(7)) {
      case 0:
        if (OneIn(2)) Fill(*set.mutable_marginals()->mutable_all_k_way());
        Times(3, 2000, [&] { Fill(*set.mutable_marginals()->add_sets()); });
        break;
      case 1:
        Times(3, 100, [&] { set.mutable_ranges()->add_attributes(Name()); });
        Times(3, 2000, [&] {
          v1::Box& box = *set.mutable_ranges()->add_boxes();
          Times(4, 100, [&] { Fill(*box.add_sides()); });
        });
        break;
      case 2:
        set.mutable_prefixes()->set_attribute(Name());
        break;
      case 3:
        Times(6, 5000, [&] { Fill(*set.mutable_thresholds()->add_conditions()); });
        Times(3, 500, [&] { set.mutable_thresholds()->add_at_least(Number()); });
        set.mutable_thresholds()->set_k(OneIn(2) ? 0 : Number());
        Times(2, 60, [&] { set.mutable_thresholds()->add_by(Name()); });
        break;
      case 4:
        if (OneIn(2)) Fill(*set.mutable_parities()->mutable_up_to_k_way());
        Times(2, 500, [&] { Fill(*set.mutable_parities()->add_sets()); });
        break;
      case 5:
        Times(4, 500, [&] {
          v1::Predicate& predicate = *set.mutable_predicates()->add_predicates();
          if (OneIn(2)) {
            Times(4, 100, [&] { Fill(*predicate.add_all_of()); });
          } else {
            v1::Expression* expression = predicate.mutable_expression();
            for (int i = OneIn(1000) ? Below(200) : 0; i > 0; --i) expression = expression->mutable_not_();
            Fill(*expression, 9);
          }
        });
        Times(2, 60, [&] { set.mutable_predicates()->add_by(Name()); });
        break;
      default:
        break;
    }
  }
  void Fill(v1::AllKWay& all) {
    all.set_k(Number());
    Times(4, 100, [&] { all.add_attributes(Name()); });
  }
  void Fill(v1::AttributeNames& set) {
    Times(4, 100, [&] { set.add_names(Name()); });
  }

  std::mt19937_64 random_;
};

absl::StatusOr<dp::WorkloadPlan> Plan(const v1::Workload& workload) {
  const absl::StatusOr<std::vector<service::QuerySetRequest>> requests = FromProto(workload);
  if (!requests.ok()) return requests.status();
  const absl::StatusOr<std::vector<dp::AskedSet>> asked = service::ResolveCounts(HostileDomain(), *requests);
  if (!asked.ok()) return asked.status();
  std::vector<dp::QuerySet> sets;
  for (const dp::AskedSet& set : *asked) sets.push_back(set.queries);
  if (const absl::Status valid = dp::ValidateSets(HostileDomain(), sets); !valid.ok()) return valid;
  const int64_t bytes = dp::PlanningBytes(HostileDomain(), sets);
  if (bytes > service::kMostFreeBytes)
    return service::TakesTooMuch("workload", "to plan", bytes, service::kMostFreeBytes, "ask for less");
  dp::RuleSpec rule;
  rule.epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne);
  return dp::PlanWorkload(HostileDomain(), {dp::NeighbourRelation::kReplaceOne, 3}, rule, std::move(sets),
                          {.epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne)}, std::nullopt);
}

// AddressSanitizer keeps what was freed for a while, and a shadow of all memory.
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kMemoryBytes = int64_t{12} << 30;
#else
constexpr int64_t kMemoryBytes = service::kMostFreeBytes;
#endif

int64_t MostMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

TEST(HostileWorkloads, AreRefusedByFieldOrPlannedWithinTheLimits) {
  Attacker attacker(20261121);
  const int64_t before = MostMemoryBytes();
  const dp::PlanLimits limits;
  int planned = 0;
  int refused = 0;
  for (int i = 0; i < kRequests; ++i) {
    const v1::Workload workload = attacker.Request();
    const absl::StatusOr<dp::WorkloadPlan> plan = Plan(workload);
    if (!plan.ok()) {
      ++refused;
      ASSERT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << plan.status();
      ASSERT_TRUE(FieldViolationOf(plan.status())) << plan.status();
      ASSERT_LT(plan.status().message().size(), 20'000u);
      continue;
    }
    ++planned;
    ASSERT_LE(plan->shape.measured_values, limits.most_measured);
    ASSERT_GE(plan->shape.sensitivity.l1, 1);
  }
  EXPECT_GT(planned, kRequests / 100);
  EXPECT_GT(refused, kRequests / 2);
  EXPECT_LT(MostMemoryBytes() - before, kMemoryBytes);
}

TEST(HostileWorkloads, AMillionQuerySetsAreRefusedByTheirNumber) {
  v1::Workload workload;
  for (int i = 0; i < 1'000'000; ++i) workload.add_query_sets()->mutable_prefixes()->set_attribute("a0");
  EXPECT_EQ(Plan(workload).status().message(),
            "workload.query_sets: has 1000000 query sets; at most 10000 are answered in one request");
}

// Of a tree that protobuf itself reads from a string, and of one that only a program makes.
TEST(HostileWorkloads, AnExpressionThatIsTooDeepIsRefusedWithItsPlace) {
  const auto refusal = [](int levels, bool lists) {
    v1::Workload workload;
    v1::Expression* deepest =
        workload.add_query_sets()->mutable_predicates()->add_predicates()->mutable_expression();
    for (int i = 1; i < levels; ++i)
      deepest = lists ? deepest->mutable_any_of()->add_expressions() : deepest->mutable_not_();
    deepest->mutable_condition()->set_attribute("a0");
    deepest->mutable_condition()->add_in()->set_string_value("Male");
    v1::Workload sent;
    const bool is_read = sent.ParseFromString(workload.SerializeAsString());
    return std::pair(is_read, std::string(Plan(workload).status().message()));
  };
  EXPECT_EQ(refusal(40, true), std::pair(true, std::string()));
  EXPECT_EQ(refusal(40, false), std::pair(true, std::string()));
  EXPECT_THAT(refusal(41, true).second, ::testing::EndsWith(".expressions[0]: is deeper than 40 levels"));
  EXPECT_TRUE(refusal(41, true).first);
  EXPECT_THAT(refusal(41, false).second, ::testing::EndsWith(".not.not: is deeper than 40 levels"));
  EXPECT_THAT(refusal(20'000, false).second, ::testing::EndsWith(".not.not: is deeper than 40 levels"));
}

TEST(HostileWorkloads, AnExpressionOfTooManyConditionsIsRefusedAtTheFirstOfThem) {
  v1::Workload workload;
  v1::Expressions& any = *workload.add_query_sets()
                              ->mutable_predicates()
                              ->add_predicates()
                              ->mutable_expression()
                              ->mutable_any_of();
  for (int i = 0; i < 100'000; ++i) {
    v1::Condition& condition = *any.add_expressions()->mutable_condition();
    condition.set_attribute("a0");
    condition.add_in()->set_string_value("Male");
  }
  EXPECT_EQ(
      Plan(workload).status().message(),
      "workload.query_sets[0].predicates.predicates[0].expression.any_of.expressions[1024]: is more than "
      "the 1024 conditions that an expression may have");
}

// Each is small, and all of them together would take hours.
TEST(HostileWorkloads, ExpressionsAreRefusedByTheStepsThatAllOfThemTake) {
  v1::Workload workload;
  v1::Predicates& predicates = *workload.add_query_sets()->mutable_predicates();
  for (int i = 0; i < 3000; ++i) {
    v1::Expressions& any = *predicates.add_predicates()->mutable_expression()->mutable_any_of();
    for (int j = 0; j < 300; ++j) {
      v1::Condition& condition = *any.add_expressions()->mutable_condition();
      condition.set_attribute("a" + std::to_string(5 + j % 10));
      condition.add_in()->set_number_value(j % 2);
    }
  }
  const absl::Status refused = Plan(workload).status();
  EXPECT_THAT(std::string(refused.message()),
              ::testing::HasSubstr("steps, which is the limit of one request"));
}

// 4000 subsets of 3999 conditions on one attribute, each with 500 answers and a text for every one: few
// terms, and 80 GB of words.
TEST(HostileWorkloads, ThresholdsOfManyConditionsAreRefusedByTheLengthOfTheirWords) {
  v1::Workload workload;
  v1::Thresholds& thresholds = *workload.add_query_sets()->mutable_thresholds();
  for (int i = 0; i < 4000; ++i) {
    v1::Condition& condition = *thresholds.add_conditions();
    condition.set_attribute("a0");
    condition.add_in()->set_string_value("Male");
  }
  thresholds.set_k(3999);
  for (int t = 1; t <= 500; ++t) thresholds.add_at_least(t);
  EXPECT_EQ(
      Plan(workload).status().message(),
      "workload.query_sets[0].thresholds: asks, with the sets before it, for more than 16777216 bytes of "
      "labels of its answers, which is the limit of one request");
  thresholds.add_at_least(7);
  EXPECT_EQ(Plan(workload).status().message(), "workload.query_sets[0].thresholds.at_least[500]: repeats 7");
}

}  // namespace
}  // namespace curator::rpc
