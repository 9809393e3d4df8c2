#include "tests/statistical/demo_questions.h"

#include <cstdint>
#include <utility>

#include "dp/domain/testing_domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/marginals.h"
#include "dp/queries/testing/all_intervals.h"

namespace curator::statistics {
namespace {

using dp::Boxes;
using dp::LinearQuery;
using dp::QuerySet;

enum Column : uint32_t {
  kAge,
  kSex,
  kRegion,
  kEducation,
  kMarital,
  kOccupation,
  kHours,
  kHousehold,
  kIncome
};
constexpr uint32_t kAges = 8;
constexpr uint32_t kEducations = 5;
constexpr uint32_t kIncomes = 6;

QuerySet Marginals(const std::vector<dp::AttributeSet>& sets) {
  QuerySet marginals;
  for (const dp::AttributeSet& set : sets) marginals.groups.push_back({set, dp::EveryCell()});
  return marginals;
}

QuerySet AllMarginals(int k) {
  return Marginals(dp::AllKWayMarginals(DemoSizes(), k, {}).value());
}

QuerySet Ranges(uint32_t attribute, int64_t codes) {
  return {{{{attribute}, dp::AllIntervals(codes)}}};
}

QuerySet AllBoxesOfAgeAndIncome() {
  Boxes boxes;
  for (const dp::CodeInterval& age : dp::AllIntervals(kAges).sides) {
    for (const dp::CodeInterval& income : dp::AllIntervals(kIncomes).sides) {
      boxes.sides.push_back(age);
      boxes.sides.push_back(income);
    }
  }
  return {{{{kAge, kIncome}, std::move(boxes)}}};
}

QuerySet PrefixesOfIncome() {
  Boxes boxes;
  for (uint32_t last = 0; last < kIncomes; ++last) boxes.sides.push_back({0, last});
  return {{{{kIncome}, std::move(boxes)}}};
}

// 'age in [18,37] and occupation = professional', by education.
QuerySet YoungProfessionals() {
  Boxes boxes;
  for (uint32_t education = 0; education < kEducations; ++education) {
    for (const dp::CodeInterval side : {dp::CodeInterval{0, 1}, {education, education}, {6, 6}})
      boxes.sides.push_back(side);
  }
  return {{{{kAge, kEducation, kOccupation}, std::move(boxes)}}};
}

// 'region in (0, 2, 4)'.
QuerySet ThreeRegions() {
  return {{{{kRegion}, std::vector<LinearQuery>{{{0}, {2}, {4}}}}}};
}

// 'sex = female or marital_status = married': over (sex, marital_status), no product.
QuerySet FemaleOrMarried() {
  return {{{{kSex, kMarital}, std::vector<LinearQuery>{{{0}, {1}, {2}, {3}, {5}}}}}};
}

// At least 1, 2 and 3 of: the first sex, the second marital status, the third household size.
QuerySet Thresholds() {
  std::vector<LinearQuery> queries(3);
  for (uint32_t cell = 0; cell < 2 * 4 * 5; ++cell) {
    const size_t held = (cell / 20 == 0 ? 1 : 0) + (cell / 5 % 4 == 1 ? 1 : 0) + (cell % 5 == 2 ? 1 : 0);
    for (size_t at_least = 1; at_least <= held; ++at_least) queries[at_least - 1].push_back({cell});
  }
  return {{{{kSex, kMarital, kHousehold}, std::move(queries)}}};
}

QuerySet ParityOfSex() {
  return {{{{kSex}, std::vector<LinearQuery>{{{0, 1}, {1, -1}}}}}};
}

}  // namespace

dp::Domain DemoSizes() {
  return dp::CodedDomain({kAges, 2, 5, kEducations, 4, 8, 4, 5, kIncomes});
}

std::vector<Question> DemoQuestions() {
  return {
      {"one marginal of one attribute", {Marginals({{kEducation}})}},
      {"one marginal of three attributes", {Marginals({{kAge, kEducation, kIncome}})}},
      {"marginals of 1 attribute", {AllMarginals(1)}},
      {"marginals of 2 attributes", {AllMarginals(2)}},
      {"marginals of 3 attributes", {AllMarginals(3)}},
      {"ranges of age", {Ranges(kAge, kAges)}},
      {"boxes of age and income", {AllBoxesOfAgeAndIncome()}},
      {"prefixes of income", {PrefixesOfIncome()}},
      {"a predicate by education", {YoungProfessionals()}},
      {"a predicate over one attribute", {ThreeRegions()}},
      {"a predicate with or", {FemaleOrMarried()}},
      {"thresholds", {Thresholds()}},
      {"a parity", {ParityOfSex()}},
      {"marginals of 1 and of 2 attributes", {AllMarginals(1), AllMarginals(2)}},
      {"marginals of 1, 2 and 3 attributes", {AllMarginals(1), AllMarginals(2), AllMarginals(3)}},
      {"a marginal and those within it",
       {Marginals({{kAge, kEducation, kIncome}}), Marginals({{kAge}, {kEducation}, {kIncome}})}},
      {"marginals of 2 attributes, prefixes of income", {AllMarginals(2), PrefixesOfIncome()}},
      {"marginals of 2 attributes, ranges of age, prefixes of income",
       {AllMarginals(2), Ranges(kAge, kAges), PrefixesOfIncome()}},
      {"a predicate by education, prefixes of income", {YoungProfessionals(), PrefixesOfIncome()}},
      {"marginals of 2 attributes, thresholds", {AllMarginals(2), Thresholds()}},
      {"marginals of 1 attribute, a parity", {AllMarginals(1), ParityOfSex()}},
  };
}

}  // namespace curator::statistics
