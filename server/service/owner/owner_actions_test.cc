// An owner's access to exact values: what it computes, what it refuses, and that a refusal is no access.
#include "service/owner/owner_actions.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codec/release_codec.h"
#include "service/operations/synthesis.h"
#include "service/owner/owner_reports.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::HasSubstr;

class OwnersLook : public ServiceTest {
 protected:
  // With all but no noise: of the marginals of single attributes, which are then taken to be independent.
  std::string IndependentModelOf(const std::string& dataset,
                                 const std::map<std::string, std::string>& settings = {}) {
    MarginalsQuery single{.sets = {}, .k = 1, .attributes = {}};
    const auto started = CreateSynthesis(services_,
                                         {.principal = TestPrincipal("owner"),
                                          .dataset = DatasetName(dataset),
                                          .method = "mwem",
                                          .spend = {.epsilon = EpsilonOf(1'000'000)},
                                          .settings = settings,
                                          .workload = {{single}},
                                          .assume_records = std::nullopt,
                                          .parts = {}},
                                         NewRequestId(), Intent::kDo);
    EXPECT_TRUE(started.ok()) << started.status();
    return WaitOperation(services_, TestPrincipal("owner"), started->id, absl::InfiniteFuture())->release_id;
  }

  // A release that says of itself that it covers these attributes.
  std::string ModelOver(const DatasetView& dataset, const dp::AttributeSet& attributes) {
    return Released(dataset, "synthesis",
                    codec::EncodeRelease(dp::SynthesisRelease{.method = "mwem",
                                                              .settings = {},
                                                              .attributes = attributes,
                                                              .records = 1,
                                                              .transcript = {},
                                                              .event = "",
                                                              .model = ""}));
  }

  static EvaluationRequest Request(const std::string& release, const std::vector<std::string>& by = {}) {
    return {.request_id = NewRequestId(),
            .principal = TestPrincipal("owner"),
            .dataset = DatasetName("census"),
            .release_id = release,
            .by = by};
  }

  absl::Status RefusalOf(const EvaluationRequest& request) {
    return EvaluateRelease(services_, request, Intent::kDo).status();
  }

  // The number of recorded accesses.
  size_t Looks(const DatasetView& dataset) const {
    const std::vector<ledger::Entry> entries = ledger_->ListEntries(dataset.record.id, {}).value();
    return static_cast<size_t>(std::ranges::count(entries, "OWNER_ACTION", &ledger::Entry::kind));
  }
};

TEST_F(OwnersLook, GroupsWithoutRecordsAreCountedAndLeftOut) {
  MakeSealed(People("census", 2000), PeopleCsv(/*regions=*/3));
  const auto evaluated =
      EvaluateRelease(services_, Request(IndependentModelOf("census"), {"region"}), Intent::kDo);
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  EXPECT_EQ(evaluated->empty_groups, 1);
  ASSERT_EQ(evaluated->groups.size(), 3u);
  for (const GroupEvaluation& group : evaluated->groups) EXPECT_EQ(group.records, 20) << group.label;
  EXPECT_LT(evaluated->error, 0.1) << "the mean is that of the groups that have records";
}

// In each of 64 groups a equals b, and c is independent of both: of the three pairs, the release is wrong
// about one, by 1.
TEST_F(OwnersLook, FewerPairsThanThereAreAreDrawnForEachGroupAnewAndTheSameAgain) {
  std::vector<dp::Attribute> attributes = {dp::Attribute::Create("zone", dp::CodedKind{64}).value()};
  for (const char* name : {"a", "b", "c"})
    attributes.push_back(dp::Attribute::Create(name, dp::CodedKind{2}).value());
  NewDataset dataset = People("census", 2000);
  dataset.schema = dp::CreateSchema(dp::Domain::Create(attributes).value(), dp::RecordUnit()).value();
  std::string csv = "zone,a,b,c\n";
  for (int i = 0; i < 64 * 4 * 8; ++i) {
    const std::string a = std::to_string(i / 64 % 2);
    csv += std::to_string(i % 64) + "," + a + "," + a + "," + std::to_string(i / 128 % 2) + "\n";
  }
  MakeSealed(dataset, csv);
  EvaluationRequest request = Request(IndependentModelOf("census"), {"zone"});
  const Evaluation all = EvaluateRelease(services_, request, Intent::kDo).value();
  for (const GroupEvaluation& group : all.groups) EXPECT_NEAR(group.distance, 1.0 / 3, 0.1) << group.label;

  request.pairs = 1;
  const Evaluation once = EvaluateRelease(services_, request, Intent::kDo).value();
  const Evaluation again = EvaluateRelease(services_, request, Intent::kDo).value();
  ASSERT_EQ(once.groups.size(), 64u);
  std::set<int64_t> seen;
  for (size_t i = 0; i < once.groups.size(); ++i) {
    const double distance = once.groups[i].distance;
    EXPECT_EQ(distance, again.groups[i].distance) << once.groups[i].label;
    EXPECT_LT(std::abs(distance - std::round(distance)), 0.3) << once.groups[i].label;
    seen.insert(std::llround(distance));
  }
  // All groups draw alike, or none draws the pair that is wrong, less than once in 10^11 times.
  EXPECT_EQ(seen, (std::set<int64_t>{0, 1}));
}

// A dense model of 2^23 cells has 253 pairs, each of which sums about half as many steps.
TEST_F(OwnersLook, MorePairsThanAModelSumsInASecondAreRefusedBeforeTheLook) {
  constexpr int kAttributes = 23;
  std::vector<dp::Attribute> attributes;
  std::vector<std::string> names;
  for (int i = 0; i < kAttributes; ++i) {
    names.push_back(absl::StrCat("a", i));
    attributes.push_back(dp::Attribute::Create(names.back(), dp::CodedKind{2}).value());
  }
  NewDataset large = People("census", 2000);
  large.schema = dp::CreateSchema(dp::Domain::Create(attributes).value(), dp::RecordUnit()).value();
  const DatasetView dataset =
      MakeSealed(large, absl::StrCat(absl::StrJoin(names, ","), "\n",
                                     absl::StrJoin(std::vector<int>(kAttributes, 1), ","), "\n"));
  EvaluationRequest request = Request(IndependentModelOf("census", {{"form", "dense"}, {"rounds", "1"}}));
  request.pairs = 1000;
  const absl::Status refused = RefusalOf(request);
  EXPECT_EQ(FieldOf(refused), "pairs") << refused;
  EXPECT_THAT(std::string(refused.message()),
              ::testing::ContainsRegex("the first [1-9][0-9]* of its 253 marginals fit"));
  EXPECT_EQ(Looks(dataset), 0u);
  request.pairs = 5;
  EXPECT_EQ(RefusalOf(request), absl::OkStatus());
  EXPECT_EQ(Looks(dataset), 1u);
}

TEST_F(OwnersLook, WhatIsNoModelOfTheDatasetIsRefusedBeforeTheLook) {
  const DatasetView census = MakeSealed(People("census"));
  const DatasetView visits = MakeSealed(People("visits"), PeopleCsv(3));
  dp::WorkloadRelease answer;
  answer.asked.emplace_back();
  answer.plans.emplace_back();
  const std::string answered = Released(census, "workload", codec::EncodeRelease(answer));
  EXPECT_EQ(FieldOf(RefusalOf(Request(answered))), "release_id");
  EXPECT_EQ(FieldOf(RefusalOf(Request(ModelOver(visits, {0, 1, 2})))), "release_id");
  EXPECT_EQ(FieldOf(RefusalOf(Request(ModelOver(census, {0, 1}), {"sex", "region"}))), "by[1]");
  EXPECT_EQ(Looks(census) + Looks(visits), 0u);
}

TEST_F(OwnersLook, MoreGroupsThanAreEvaluatedAreRefusedBeforeTheLook) {
  NewDataset dataset = People("census");
  dataset.schema =
      dp::CreateSchema(dp::Domain::Create({dp::Attribute::Create("zone", dp::CodedKind{65'537}).value(),
                                           dp::Attribute::Create("a", dp::CodedKind{2}).value()})
                           .value(),
                       dp::RecordUnit())
          .value();
  const DatasetView census = MakeSealed(dataset, "zone,a\n7,1\n");
  const absl::Status refused = RefusalOf(Request(ModelOver(census, {0, 1}), {"zone"}));
  EXPECT_EQ(FieldOf(refused), "by");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("more than 65536 groups"));
  EXPECT_EQ(Looks(census), 0u);
}

TEST_F(OwnersLook, NobodyElseOpensOneEvenWhereTheDatasetWasFoundForThem) {
  const DatasetView census = MakeSealed(People("census"));
  const auto opened = OwnerActions::Open(services_, census, TestPrincipal("ana"), "count rows");
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Looks(census), 0u);
  EXPECT_EQ(OwnerActions::Open(services_, census, TestPrincipal("owner"), "count rows")->Records(), 80);
  EXPECT_EQ(Looks(census), 1u);
}

TEST_F(OwnersLook, APublicDatasetHasNoPrivateRecordsToLookAt) {
  NewDataset open = People("open");
  open.limit.reset();
  open.is_public = true;
  const DatasetView dataset = MakeSealed(open);
  const auto counted =
      CountRows(services_, NewRequestId(), TestPrincipal("owner"), DatasetName("open"), Intent::kDo);
  EXPECT_EQ(counted.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(counted.status().message()), HasSubstr("is public"));
  EXPECT_EQ(Looks(dataset), 0u);
}

}  // namespace
}  // namespace curator::service
