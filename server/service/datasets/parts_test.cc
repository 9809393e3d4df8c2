// Parts that are refused, and parts of a ledger that contradicts itself.
#include "service/datasets/parts.h"

#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class PartsTest : public ServiceTest {
 protected:
  static PartOrder West() {
    return {.request_id = NewRequestId(),
            .principal = TestPrincipal("owner"),
            .dataset = DatasetName("visits"),
            .part = {"west", {"3"}},
            .limit = std::nullopt};
  }

  absl::Status RefusalOf(const PartOrder& order) const {
    return AddPart({*ledger_}, order, Intent::kDo).status();
  }
};

TEST_F(PartsTest, AnAttributeOfVeryManyBinsDividesNothing) {
  const auto divided = [](int64_t codes) {
    const dp::Domain domain =
        dp::Domain::Create({dp::Attribute::Create("zone", dp::CodedKind{codes}).value()}).value();
    return NewParts(domain, {.attribute = "zone", .parts = {{"first", {"0"}}}}, *People("visits").limit);
  };
  EXPECT_EQ(FieldOf(divided(10'001).status()), "attribute");
  EXPECT_TRUE(divided(10'000).ok());
}

TEST_F(PartsTest, APartIsCountedByTheRuleOfItsDataset) {
  Make(DividedPeople("visits"));
  PartOrder west = West();
  west.limit =
      dp::RuleSpec{.kind = dp::RuleKind::kZcdp, .epsilon = EpsilonOf(100), .delta = dp::Delta(1'000'000'000)};
  EXPECT_EQ(FieldOf(RefusalOf(west)), "limit.rule");
  EXPECT_EQ(FindDataset({*ledger_}, Method::kAddPart, TestPrincipal("owner"), DatasetName("visits"))
                ->record.parts.size(),
            2u);
}

TEST_F(PartsTest, NoPartIsAddedToADatasetWhosePartsHaveLostTheirAccounts) {
  Make(DividedPeople("visits"));
  Corrupt("UPDATE dataset_parts SET account_id = 99 WHERE number = 1");
  EXPECT_EQ(RefusalOf(West()).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ledger_->GetDataset("visits")->parts.size(), 2u);
}

TEST_F(PartsTest, APartitionByAnAttributeThatTheSchemaDoesNotHaveIsFoundOut) {
  DatasetView visits = Make(DividedPeople("visits"));
  EXPECT_THAT(LabelsOf(visits, visits.record.parts[0]), ::testing::ElementsAre("0", "1"));
  visits.record.partition_attribute = "zone";
  EXPECT_EQ(PartitionAttribute(visits).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(LabelsOf(visits, visits.record.parts[0]).empty());
}

}  // namespace
}  // namespace curator::service
