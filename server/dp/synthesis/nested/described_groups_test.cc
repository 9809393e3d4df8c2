// Groups that attributes describe: what all records of a synthetic group share, how it goes with their
// response, and what is left as it was where groups are not the units.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "absl/strings/str_join.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/synthesis/nested/group_description.h"
#include "dp/synthesis/nested/nested_schedule.h"
#include "dp/synthesis/nested/testing/schools.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using testing::HasSubstr;
using testing::Not;

// score (81 codes), the school's sector and region, and whether the pupil is tall.
constexpr uint32_t kSector = 1;
constexpr uint32_t kRegion = 2;
constexpr uint32_t kTall = 3;

SynthesisInput DescribedInput(NestedUnit unit, int64_t epsilon, int64_t bound = 30) {
  SynthesisInput input = SchoolInput(unit, epsilon);
  input.domain = CodedDomain({81, 2, 3, 2});
  input.workload = WholeMarginals(AllKWayMarginals(input.domain, 2, {}).value());
  if (unit == NestedUnit::kGroup) input.unit_bound.max_records = bound;
  input.nested->group_size_bound = bound == kNoRecordBound ? std::nullopt : std::optional<int64_t>(bound);
  input.nested->group_attributes = {kSector, kRegion};
  input.settings = {{"nu_points", "21"}, {"tau_points", "11"}, {"sigma_points", "11"}};
  return input;
}

constexpr int kPupils = 20;

// A third of the schools is in sector 1, whose means are 4 higher; regions 0, 1 and 2 have a half, a third
// and a sixth. Of sector 1 most pupils are tall.
SealedTableHandle DescribedSchools(const SynthesisInput& input, int groups, uint64_t seed = 3) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const bool is_record = input.nested->unit == NestedUnit::kRecord;
  SealedTableBuilder builder(input.domain, is_record ? RowOwner::kItselfInGroup : RowOwner::kUnit);
  for (int g = 0; g < groups; ++g) {
    const uint32_t sector = g % 3 == 0 ? 1 : 0;
    const uint32_t region = g / 3 % 6 < 3 ? 0 : g / 3 % 6 < 5 ? 1 : 2;
    const double mean = 8 + 4 * sector + normal(random);
    for (int i = 0; i < kPupils; ++i) {
      const double score = std::clamp(mean + 2 * normal(random), 0.0, 20.0);
      const uint32_t tall = random() % 10 < (sector == 1 ? 9 : 2) ? 1 : 0;
      (void)builder.AppendRow(
          std::vector<uint32_t>{static_cast<uint32_t>(std::lround(score * 4)), sector, region, tall},
          static_cast<uint32_t>(g));
    }
  }
  return std::move(builder).Build().value();
}

std::unique_ptr<SynthesisModel> FitTo(const SynthesisInput& input, const SealedTableHandle& table) {
  const Nested& method = NestedWithMwem();
  seeded::SeededBits bits(1);
  Kernel kernel(table, input.domain, input.unit_bound, Meter(method.Plan(input).value().draws), bits);
  Pacer pacer{std::stop_token()};
  return method.Fit(input, kernel, pacer, NoProgress()).value();
}

struct Group {
  std::vector<std::vector<uint32_t>> records;

  double MeanScore() const {
    double sum = 0;
    for (const auto& record : records) sum += 0.25 * record[0];
    return sum / static_cast<double>(records.size());
  }
};

std::vector<Group> Drawn(const SynthesisModel& model, int64_t rows) {
  seeded::SeededBits bits(5);
  std::vector<Group> groups;
  EXPECT_TRUE(model
                  .SampleGroups(bits, rows,
                                [&](int64_t group, std::span<const uint32_t> codes) {
                                  if (group == std::ssize(groups)) groups.emplace_back();
                                  groups.back().records.emplace_back(codes.begin(), codes.end());
                                  return absl::OkStatus();
                                })
                  .ok());
  return groups;
}

// Of the first record's sector and the mean score, over groups.
double CorrelationWithSector(const std::vector<Group>& groups) {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  const auto n = static_cast<double>(groups.size());
  for (const Group& group : groups) {
    const double sector = group.records[0][kSector];
    const double score = group.MeanScore();
    x += sector / n;
    y += score / n;
    xx += sector * sector / n;
    yy += score * score / n;
    xy += sector * score / n;
  }
  return (xy - x * y) / std::sqrt((xx - x * x) * (yy - y * y));
}

// With the budget of a request that nobody would ask for, of 600 schools.
const SynthesisModel& WellKnown() {
  static const SynthesisInput input = DescribedInput(NestedUnit::kGroup, 2000);
  static const std::unique_ptr<SynthesisModel> model = FitTo(input, DescribedSchools(input, 600));
  return *model;
}

TEST(DescribedGroups, AllRecordsOfASyntheticGroupShareItsAttributes) {
  int several = 0;
  for (const Group& group : Drawn(WellKnown(), 20'000)) {
    several += group.records.size() > 1 ? 1 : 0;
    for (const auto& record : group.records) {
      EXPECT_EQ(record[kSector], group.records[0][kSector]);
      EXPECT_EQ(record[kRegion], group.records[0][kRegion]);
    }
  }
  EXPECT_GT(several, 500);
}

TEST(DescribedGroups, HaveTheSharesOfTheRealGroups) {
  double of_sector_1 = 0;
  double of_region[3] = {};
  const std::vector<Group> groups = Drawn(WellKnown(), 20'000);
  for (const Group& group : groups) {
    of_sector_1 += group.records[0][kSector] / static_cast<double>(groups.size());
    of_region[group.records[0][kRegion]] += 1 / static_cast<double>(groups.size());
  }
  EXPECT_NEAR(of_sector_1, 1 / 3.0, 0.02);
  EXPECT_NEAR(of_region[0], 3 / 6.0, 0.02);
  EXPECT_NEAR(of_region[1], 2 / 6.0, 0.02);
  EXPECT_NEAR(of_region[2], 1 / 6.0, 0.02);
}

TEST(DescribedGroups, HaveMeanResponsesThatGoWithTheirAttributesAsTheRealOnesDo) {
  // Between schools of a sector the deviation is 1, between sectors 4 lie apart: of a third, 1.9.
  const double real =
      4 * std::sqrt(2) / 3 / std::hypot(4 * std::sqrt(2) / 3, std::hypot(1, 2 / std::sqrt(kPupils)));
  const std::vector<Group> groups = Drawn(WellKnown(), 20'000);
  EXPECT_NEAR(CorrelationWithSector(groups), real, 0.12);
  double regions = 0;
  for (const Group& group : groups) regions += group.records[0][kRegion] == 0 ? group.MeanScore() - 9.33 : 0;
  EXPECT_NEAR(2 * regions / static_cast<double>(groups.size()), 0, 0.4) << "no more than those do";
}

// What the method did before groups could have attributes.
TEST(DescribedGroups, WithoutCountsOfGroupsAttributesDifferWithinAGroupAndSayLittleOfItsMean) {
  SynthesisInput input = DescribedInput(NestedUnit::kGroup, 2000);
  input.settings["group_percent"] = "0";
  const auto model = FitTo(input, DescribedSchools(input, 600));
  int mixed = 0;
  const std::vector<Group> groups = Drawn(*model, 20'000);
  for (const Group& group : groups) {
    const bool differ = std::ranges::any_of(
        group.records, [&](const auto& record) { return record[kSector] != group.records[0][kSector]; });
    mixed += differ ? 1 : 0;
  }
  EXPECT_GT(mixed, static_cast<int>(groups.size()) / 2);
  EXPECT_LT(CorrelationWithSector(groups), 0.6);
}

TEST(DescribedGroups, RecordsHaveOtherAttributesOfRecordsWithTheSameDescription) {
  double tall[2] = {};
  double all[2] = {};
  for (const Group& group : Drawn(WellKnown(), 20'000)) {
    for (const auto& record : group.records) {
      tall[record[kSector]] += record[kTall];
      ++all[record[kSector]];
    }
  }
  EXPECT_NEAR(tall[0] / all[0], 0.2, 0.1);
  EXPECT_NEAR(tall[1] / all[1], 0.9, 0.1);
}

TEST(DescribedGroups, SampleWhatMarginalsOfTheirAttributesAndTheResponseSay) {
  for (const AttributeSet& set :
       {AttributeSet{kSector}, {kSector, kRegion}, {0, kSector}, {0, kSector, kRegion}}) {
    const std::vector<double> counts = WellKnown().Marginal(set).value();
    const double records = std::accumulate(counts.begin(), counts.end(), 0.0);
    EXPECT_NEAR(records, static_cast<double>(WellKnown().records()), 1e-6 * records);
    std::vector<double> sampled(counts.size());
    constexpr int kRows = 200'000;
    for (const Group& group : Drawn(WellKnown(), kRows)) {
      for (const auto& record : group.records) {
        size_t cell = 0;
        for (const uint32_t attribute : set)
          cell = cell * (attribute == 0 ? 81 : attribute == kSector ? 2 : 3) + record[attribute];
        sampled[cell] += 1.0 / kRows;
      }
    }
    double distance = 0;
    for (size_t cell = 0; cell < counts.size(); ++cell)
      distance += std::abs(sampled[cell] - counts[cell] / records);
    EXPECT_LT(distance, 0.06) << set.size();
    EXPECT_GE(WellKnown().MarginalSteps(set), std::ssize(counts));
  }
}

TEST(DescribedGroups, AreDrawnWithoutABoundOfTheirRecordsToo) {
  SynthesisInput input = DescribedInput(NestedUnit::kGroup, 2000, kNoRecordBound);
  const auto model = FitTo(input, DescribedSchools(input, 600));
  EXPECT_EQ(model->attributes(), (AttributeSet{0, kSector, kRegion}));
  double of_sector_1 = 0;
  const std::vector<Group> groups = Drawn(*model, 20'000);
  for (const Group& group : groups) of_sector_1 += group.records[0][kSector];
  EXPECT_NEAR(of_sector_1 / static_cast<double>(groups.size()), 1 / 3.0, 0.03);
  EXPECT_GT(CorrelationWithSector(groups), 0.6);
}

TEST(DescribedGroups, OfZerosAndOnesDifferInTheirShareOfOnesAsTheRealOnesDo) {
  SynthesisInput input = DescribedInput(NestedUnit::kGroup, 2000);
  input.domain = CodedDomain({2, 2, 3, 2});
  input.workload = WholeMarginals(AllKWayMarginals(input.domain, 2, {}).value());
  input.nested->numbers = {0, 1};
  input.nested->upper = 1;
  input.nested->resolution = 1;
  std::mt19937_64 random(3);
  SealedTableBuilder builder(input.domain, RowOwner::kUnit);
  for (uint32_t g = 0; g < 600; ++g) {
    const uint32_t sector = g % 3 == 0 ? 1 : 0;
    for (int i = 0; i < kPupils; ++i) {
      const uint32_t passed = random() % 10 < (sector == 1 ? 8 : 3) ? 1 : 0;
      (void)builder.AppendRow(std::vector<uint32_t>{passed, sector, g % 3, 0}, g);
    }
  }
  const auto model = FitTo(input, std::move(builder).Build().value());
  double passed[2] = {};
  double all[2] = {};
  for (const Group& group : Drawn(*model, 20'000)) {
    passed[group.records[0][kSector]] += 4 * group.MeanScore();
    ++all[group.records[0][kSector]];
  }
  EXPECT_NEAR(passed[0] / all[0], 0.3, 0.12);
  EXPECT_NEAR(passed[1] / all[1], 0.8, 0.12);
}

TEST(DescribedGroups, OfRecordsThatAreUnitsAreWhatTheyWereAndAnEstimateSaysSo) {
  SynthesisInput input = DescribedInput(NestedUnit::kRecord, 20);
  const SealedTableHandle table = DescribedSchools(input, 60);
  const auto described = FitTo(input, table);
  const SynthesisPlan plan = NestedWithMwem().Plan(input).value();
  EXPECT_THAT(
      absl::StrJoin(plan.schedule, "\n"),
      HasSubstr("differ between the records of a synthetic group: a1, a2; they are counted by group only "
                "where the group is the privacy unit"));
  input.nested->group_attributes.clear();
  EXPECT_EQ(FitTo(input, table)->Serialize(), described->Serialize());
  const SynthesisPlan before = NestedWithMwem().Plan(input).value();
  EXPECT_EQ(before.draws, plan.draws);
  EXPECT_EQ(before.settings, plan.settings);
  EXPECT_EQ(before.drawn_from, plan.drawn_from);
}

TEST(DescribedGroups, ASchemaWithoutAttributesOfGroupsIsPlannedAsItWas) {
  SynthesisInput input = DescribedInput(NestedUnit::kGroup, 1);
  input.nested->group_attributes.clear();
  const SynthesisPlan plan = NestedWithMwem().Plan(input).value();
  EXPECT_EQ(plan.settings.at("group_percent"), "0");
  EXPECT_THAT(absl::StrJoin(plan.schedule, "\n"), Not(HasSubstr("share")));
}

TEST(DescribedGroups, AShareOfTheBudgetIsRefusedWhereThereIsNothingToCount) {
  SynthesisInput record = DescribedInput(NestedUnit::kRecord, 1);
  SynthesisInput undescribed = DescribedInput(NestedUnit::kGroup, 1);
  undescribed.nested->group_attributes.clear();
  SynthesisInput not_asked = DescribedInput(NestedUnit::kGroup, 1);
  not_asked.workload = WholeMarginals(std::vector<AttributeSet>{{0}, {kTall}});
  for (SynthesisInput* input : {&record, &undescribed, &not_asked}) {
    input->settings["group_percent"] = "10";
    const absl::Status refused = NestedWithMwem().Plan(*input).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("group"));
  }
  record.settings["group_percent"] = "0";
  EXPECT_TRUE(NestedWithMwem().Plan(record).ok());
  SynthesisInput too_much = DescribedInput(NestedUnit::kGroup, 1);
  too_much.settings["group_percent"] = "40";
  EXPECT_FALSE(NestedWithMwem().Plan(too_much).ok()) << "10 for sizes, 50 for others, none for draws";
}

TEST(DescribedGroups, AreAFunctionOfTheDraws) {
  SynthesisInput input = DescribedInput(NestedUnit::kGroup, 5);
  const Nested& method = NestedWithMwem();
  seeded::SeededBits bits(1);
  Transcript transcript;
  Kernel kernel(DescribedSchools(input, 40), input.domain, input.unit_bound,
                Meter(method.Plan(input).value().draws), bits);
  RecordingQueries recording(kernel, transcript);
  Pacer pacer{std::stop_token()};
  const std::string fitted = method.Fit(input, recording, pacer, NoProgress()).value()->Serialize();
  EXPECT_TRUE(std::ranges::any_of(
      transcript, [](const Draw& draw) { return std::holds_alternative<GroupMarginalsDraw>(draw); }));
  ReplayingQueries replaying(transcript, input.domain);
  EXPECT_EQ(method.Fit(input, replaying, pacer, NoProgress()).value()->Serialize(), fitted);
}

TEST(DescriptionPlan, CountsPairsAndManyBinsOnlyWhereNoiseLeavesSomethingOfTheGroups) {
  const Domain domain = CodedDomain({81, 2, 3, 400});
  const auto plan_of = [&](double scale, double groups) {
    const auto noise_of = [&](int64_t marginals) -> absl::StatusOr<NoiseSpec> {
      return NoiseSpec{Mechanism::kDiscreteLaplace, {static_cast<int64_t>(scale) * marginals, 1}};
    };
    return PlanDescription(domain, {1, 2, 3}, groups, noise_of).value();
  };
  const DescriptionPlan rich = plan_of(1, 1e6);
  EXPECT_EQ(rich.bins, 8);
  EXPECT_EQ(rich.pairs, (std::vector<AttributeSet>{{1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(rich.noise.parameter, (Rational{6, 1}));
  const DescriptionPlan poor = plan_of(10, 500);
  EXPECT_EQ(poor.bins, 4);
  EXPECT_EQ(poor.pairs, (std::vector<AttributeSet>{{1, 2}}));
  EXPECT_EQ(poor.measured, 4 * (2 + 3 + 400) + 6);
  EXPECT_EQ(plan_of(1000, 100).pairs.size(), 0u);
}

// A guess of very many records makes all pairs legible: of a thousand attributes there are half a million.
TEST(DescriptionPlan, CountsNoPairsOfVeryManyAttributes) {
  const Domain domain = CodedDomain(std::vector<int64_t>(1000, 2));
  AttributeSet all(1000);
  for (uint32_t i = 0; i < 1000; ++i) all[i] = i;
  const auto noise_of = [&](int64_t) -> absl::StatusOr<NoiseSpec> {
    return NoiseSpec{Mechanism::kDiscreteLaplace, {1, 1}};
  };
  const DescriptionPlan plan = PlanDescription(domain, all, 1e12, noise_of).value();
  EXPECT_EQ(plan.pairs.size(), 0u);
  EXPECT_EQ(plan.measured, 1000 * 2 * plan.bins);
}

// The draw would refuse them, after the charge.
TEST(DescriptionPlan, RefusesMoreCellsThanAreCounted) {
  const auto plan_of = [](size_t attributes) {
    const Domain domain = CodedDomain(std::vector<int64_t>(attributes, 65'536));
    AttributeSet all(attributes);
    for (uint32_t i = 0; i < attributes; ++i) all[i] = i;
    const auto noise_of = [](int64_t) -> absl::StatusOr<NoiseSpec> {
      return NoiseSpec{Mechanism::kDiscreteLaplace, {1000, 1}};
    };
    return PlanDescription(domain, all, 100, noise_of).status();
  };
  EXPECT_TRUE(plan_of(200).ok());
  EXPECT_EQ(plan_of(260).code(), absl::StatusCode::kInvalidArgument);
}

TEST(DescribedGroups, AreTheSameWhenRestoredAndRefusedWhenDamaged) {
  const std::string bytes = WellKnown().Serialize();
  const Domain domain = CodedDomain({81, 2, 3, 2});
  Pacer pacer{std::stop_token()};
  const auto restored = NestedWithMwem().RestoreWith(domain, bytes, pacer).value();
  EXPECT_EQ(restored->Serialize(), bytes);
  const std::vector<Group> one = Drawn(*restored, 500);
  const std::vector<Group> other = Drawn(WellKnown(), 500);
  ASSERT_EQ(one.size(), other.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].records, other[i].records);
  EXPECT_GT(NestedWithMwem().ReadingBytes(domain, bytes).value(), std::ssize(bytes));
  for (size_t length = bytes.size() - 200; length < bytes.size(); length += 7) {
    EXPECT_EQ(NestedWithMwem().RestoreWith(domain, bytes.substr(0, length), pacer).status().code(),
              absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(NestedWithMwem().RestoreWith(CodedDomain({81, 2, 4, 2}), bytes, pacer).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::dp
