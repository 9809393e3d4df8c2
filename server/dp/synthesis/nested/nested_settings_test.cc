#include "dp/synthesis/nested/nested_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "dp/synthesis/nested/nested.h"
#include "dp/synthesis/nested/testing/schools.h"

namespace curator::dp {
namespace {

using testing::HasSubstr;

using Settings = std::map<std::string, std::string>;

std::string Refusal(NestedUnit unit, Settings settings) {
  SynthesisInput input = SchoolInput(unit, 10);
  input.settings = std::move(settings);
  return std::string(NestedWithMwem().Plan(input).status().message());
}

TEST(NestedSettings, RefuseWeightsThatHaveNoTheoremForRecordsAndSayWhy) {
  for (const char* option : {"A", "B", "C"}) {
    EXPECT_THAT(Refusal(NestedUnit::kRecord, {{"weights", "group"}, {"option", option}}),
                HasSubstr("changes with each of its records"));
  }
  for (const char* weights : {"none", "scalar", "vector"}) {
    EXPECT_THAT(Refusal(NestedUnit::kRecord, {{"weights", weights}, {"option", "B"}}),
                HasSubstr("only a group as a whole"));
  }
  EXPECT_THAT(Refusal(NestedUnit::kRecord, {{"weights", "vector"}, {"option", "A"}}),
              HasSubstr("no weights of records"));
  EXPECT_THAT(Refusal(NestedUnit::kGroup, {{"bound", "record"}}), HasSubstr("protects whole groups"));
}

TEST(NestedSettings, AllowTheWeightsThatHaveATheorem) {
  for (const Settings& settings :
       {Settings{{"weights", "none"}}, Settings{{"weights", "none"}, {"option", "A"}},
        Settings{{"weights", "scalar"}}, Settings{{"weights", "vector"}}}) {
    EXPECT_EQ(Refusal(NestedUnit::kRecord, settings), "");
    EXPECT_EQ(Refusal(NestedUnit::kGroup, settings), "");
  }
  for (const char* option : {"A", "B", "C"}) {
    EXPECT_EQ(Refusal(NestedUnit::kGroup, {{"weights", "group"}, {"option", option}}), "");
    EXPECT_EQ(Refusal(NestedUnit::kRecord, {{"bound", "group"}, {"weights", "group"}, {"option", option}}),
              "");
  }
}

// Each setting of weights becomes the question that the theorem is about.
TEST(NestedSettings, AskTheKernelForTheUnitThatIsProtected) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 10);
  const auto of_record =
      QuestionFor(*input.nested, ReadNestedSettings(input, NestedWithMwem().settings()).value());
  EXPECT_EQ(std::get<RecordsInGroups>(of_record).records, RecordWeights::kVector);
  input.settings = {{"bound", "group"}, {"weights", "group"}, {"option", "B"}};
  const auto around = std::get<ClippedGroups>(
      QuestionFor(*input.nested, ReadNestedSettings(input, NestedWithMwem().settings()).value()));
  EXPECT_EQ(around.role, GroupRole::kAroundRecord);
  EXPECT_EQ(around.group, GroupWeight::kInside);
  input = SchoolInput(NestedUnit::kGroup, 10);
  const auto of_group = std::get<ClippedGroups>(
      QuestionFor(*input.nested, ReadNestedSettings(input, NestedWithMwem().settings()).value()));
  EXPECT_EQ(of_group.role, GroupRole::kUnit);
}

TEST(NestedSettings, WeighRecordsUnaskedOnlyWhereARecordIsBounded) {
  EXPECT_EQ(
      ReadNestedSettings(SchoolInput(NestedUnit::kRecord, 10), NestedWithMwem().settings()).value().records,
      RecordWeights::kVector);
  EXPECT_EQ(
      ReadNestedSettings(SchoolInput(NestedUnit::kGroup, 10), NestedWithMwem().settings()).value().records,
      RecordWeights::kOne);
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 10);
  input.settings = {{"bound", "group"}};
  EXPECT_EQ(ReadNestedSettings(input, NestedWithMwem().settings()).value().records, RecordWeights::kOne);
  input.settings["weights"] = "vector";
  EXPECT_EQ(ReadNestedSettings(input, NestedWithMwem().settings()).value().records, RecordWeights::kVector);
}

TEST(NestedSettings, ClipGroupsUnaskedWhereTheyAreDeclaredLarge) {
  const auto bound_of = [](std::optional<int64_t> largest, Settings settings) {
    SynthesisInput input = SchoolInput(NestedUnit::kRecord, 10);
    input.nested->group_size_bound = largest;
    input.settings = std::move(settings);
    return ReadNestedSettings(input, NestedWithMwem().settings()).value().bound;
  };
  EXPECT_EQ(bound_of(std::nullopt, {}), NestedBound::kRecord) << "nothing is declared";
  EXPECT_EQ(bound_of(8, {}), NestedBound::kRecord);
  EXPECT_EQ(bound_of(10, {}), NestedBound::kGroup);
  EXPECT_EQ(bound_of(10, {{"bound", "record"}}), NestedBound::kRecord);
  EXPECT_EQ(bound_of(std::nullopt, {{"largest_group", "40"}}), NestedBound::kGroup);
  EXPECT_EQ(bound_of(40, {{"sizes", "public"}, {"group_size", "4"}}), NestedBound::kRecord);
}

// 1000 groups of ten are expected; a tenth of the budget is for their sizes.
TEST(NestedSettings, ClipLessTheMoreGroupsAndBudgetAreDeclared) {
  const auto clip_of = [](NestedUnit unit, int64_t epsilon, std::optional<int64_t> records) {
    SynthesisInput input = SchoolInput(unit, epsilon);
    input.nested->group_size_bound = 19;
    input.assume_records = records;
    return ReadNestedSettings(input, NestedWithMwem().settings()).value().clip;
  };
  EXPECT_EQ(clip_of(NestedUnit::kGroup, 1, std::nullopt), 8);
  EXPECT_EQ(clip_of(NestedUnit::kGroup, 1, 1000), 4);
  EXPECT_EQ(clip_of(NestedUnit::kGroup, 10, std::nullopt), 16);
  EXPECT_EQ(clip_of(NestedUnit::kRecord, 2, std::nullopt), 8) << "900 halves";
  EXPECT_EQ(clip_of(NestedUnit::kGroup, 2, std::nullopt), 16);
  EXPECT_EQ(clip_of(NestedUnit::kGroup, 4, 100), 8) << "ten groups, of an epsilon of 3.6 each";
}

TEST(NestedSettings, WarnOfWeightsThatDriveTheDeviationOfGroupsToItsEdge) {
  SynthesisInput input = SchoolInput(NestedUnit::kGroup, 10);
  const auto lines = [&](const std::string& option) {
    input.settings = {{"weights", "group"}, {"option", option}};
    return NestedWithMwem().Plan(input).value().schedule;
  };
  EXPECT_THAT(lines("B"), testing::Contains(HasSubstr("warning: weights of groups inside the integral")));
  EXPECT_THAT(lines("C"), testing::Contains(HasSubstr("warning: weights of groups inside the integral")));
  EXPECT_THAT(lines("A"), testing::Not(testing::Contains(HasSubstr("warning"))));
}

TEST(NestedSettings, TakeOneNumberOfAnAxisWhoseEndsAreThatNumber) {
  EXPECT_EQ(Refusal(NestedUnit::kRecord, {{"nu_points", "1"}, {"nu_min", "9"}, {"nu_max", "9"}}), "");
}

TEST(NestedSettings, SayWhichWidthLeavesSomeWeightAndWhatTheWeightsAre) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 10);
  input.settings = {{"width", "0.001"}, {"sigma_min", "0.02"}};
  const std::string refusal(NestedWithMwem().Plan(input).status().message());
  EXPECT_THAT(refusal, HasSubstr("take more than 1.9"));
  input.settings["width"] = "1.95";
  const auto plan = NestedWithMwem().Plan(input);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->schedule, testing::Contains(HasSubstr("weights of records by their response (0 for")));
}

TEST(NestedSettings, NameTheFieldThatIsWrong) {
  const std::vector<std::pair<Settings, std::string>> wrong = {
      {{{"weights", "heavy"}}, "settings.weights"},
      {{{"weights", "group"}}, "settings.weights"},
      {{{"option", "B"}}, "settings.option"},
      {{{"tau_min", "0"}}, "settings.tau_min"},
      {{{"sigma_min", "5"}, {"sigma_max", "4"}}, "settings.sigma_min"},
      {{{"sigma_min", "0.001"}}, "settings.sigma_min"},
      {{{"nu_min", "-1"}}, "settings.nu_min"},
      {{{"nu_points", "10000"}, {"tau_points", "1000"}}, "settings.nu_points"},
      {{{"draws", "0"}}, "settings.draws"},
      {{{"draws", "1000"}, {"nu_points", "150"}}, "settings.draws"},
      {{{"nu_points", "1"}}, "settings.nu_points"},
      {{{"tau_points", "1"}, {"tau_min", "1"}, {"tau_max", "2"}}, "settings.tau_points"},
      {{{"sigma_points", "900000"}, {"nu_points", "2"}, {"tau_points", "2"}}, "settings.sigma_points"},
      {{{"width", "0.001"}, {"sigma_min", "0.02"}}, "settings.width"},
      {{{"width", "0.001"}, {"weights", "scalar"}, {"sigma_min", "0.02"}}, "settings.width"},
      {{{"clip", "0"}}, "settings.clip"},
      {{{"sizes", "guess"}}, "settings.sizes"},
      {{{"model", "binomial"}}, "settings.model"},
      {{{"gamma", "1"}}, "settings.gamma"},
      {{{"weights", "none"}, {"sigma_min", "0.03"}}, "settings.weights"},
  };
  for (const auto& [settings, field] : wrong) {
    SynthesisInput input = SchoolInput(NestedUnit::kRecord, 10);
    input.settings = settings;
    const auto violation = FieldViolationOf(NestedWithMwem().Plan(input).status());
    ASSERT_TRUE(violation.has_value()) << field;
    EXPECT_EQ(violation->field, field) << violation->description;
  }
}

TEST(NestedSettings, AreRefusedWithoutGroupsInTheSchema) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 10);
  input.nested.reset();
  EXPECT_THAT(std::string(NestedWithMwem().Plan(input).status().message()), HasSubstr("names no groups"));
}

TEST(NestedSettings, TakeTheBinomialModelForZeroAndOne) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 10);
  input.domain = CodedDomain({2});
  input.nested->numbers = {0, 1};
  input.nested->upper = 1;
  EXPECT_TRUE(std::holds_alternative<BinomialGroups>(
      ReadNestedSettings(input, NestedWithMwem().settings()).value().model));
  input.settings = {{"model", "normal"}};
  EXPECT_TRUE(std::holds_alternative<NormalGroups>(
      ReadNestedSettings(input, NestedWithMwem().settings()).value().model));
}

TEST(NestedSettings, HaveClassesOfSizesUpToThePublicBound) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 10);
  input.nested->group_size_bound = 20;
  const NestedSettings settings = ReadNestedSettings(input, NestedWithMwem().settings()).value();
  EXPECT_THAT(settings.size_bins, testing::ElementsAre(1, 2, 3, 4, 6, 8, 12, 16));
  EXPECT_EQ(settings.largest_group, 20);
  input.settings = {{"sizes", "public"}};
  EXPECT_THAT(ReadNestedSettings(input, NestedWithMwem().settings()).value().size_bins,
              testing::ElementsAre(1));
}

TEST(ParametersAt, RunThroughTheGridInTheOrderOfTheKernel) {
  const GroupModel model = NormalGroups{
      .values = {0}, .low = 0, .high = 9, .means = {1, 2, 3}, .betweens = {4, 5}, .withins = {6, 7}};
  const NestedParameters point = ParametersAt(model, (1 * 2 + 0) * 3 + 2);
  EXPECT_EQ(point.between, 5);
  EXPECT_EQ(point.within, 6);
  EXPECT_EQ(point.mean, 3);
  EXPECT_THAT(WarningsOfEdges(model, point),
              testing::ElementsAre(HasSubstr("a wider nu_min .. nu_max"), HasSubstr("a wider tau_min"),
                                   HasSubstr("a wider sigma_min")));
  EXPECT_THAT(WarningsOfEdges(model, {.mean = 2, .between = 4.5, .within = 6.5}), testing::IsEmpty());
}

TEST(WarningsOfEdges, DoNotAdviseToWidenWhatIsAsWideAsItMayBe) {
  const GroupModel model = NormalGroups{
      .values = {0}, .low = 0, .high = 9, .means = {0, 2, 3}, .betweens = {4, 9}, .withins = {0.009, 7}};
  EXPECT_THAT(WarningsOfEdges(model, {.mean = 0, .between = 9, .within = 0.009}),
              testing::Each(HasSubstr("reaches as far as may be asked for")));
  EXPECT_THAT(WarningsOfEdges(model, {.mean = 3, .between = 4, .within = 7}),
              testing::Each(HasSubstr("a wider")));
}

}  // namespace
}  // namespace curator::dp
