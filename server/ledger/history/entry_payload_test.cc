#include "ledger/history/entry_payload.h"

#include <gtest/gtest.h>

namespace curator::ledger {
namespace {

// Every document refuses what its writer would not have written.
template <typename Parse>
void ExpectOnlyWholeDocuments(const std::string& bytes, const Parse& parse) {
  EXPECT_TRUE(parse(bytes).ok());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(parse(bytes.substr(0, length)).status().code(), absl::StatusCode::kDataLoss) << length;
  }
  EXPECT_EQ(parse(bytes + "x").status().code(), absl::StatusCode::kDataLoss);
}

TEST(EntryPayload, ACreatedDatasetComesBackWhole) {
  const DatasetCreated document{.name = "census",
                                .owner = "olga",
                                .lineage_id = "l",
                                .successor_of = "s",
                                .schema_hash = "h",
                                .neighbour_relation = "ADD_REMOVE",
                                .privacy_unit = "PERSON",
                                .max_records_per_unit = 3,
                                .is_public = 0,
                                .partition_attribute = "zone",
                                .accounts = {{7,
                                              {.scope_type = ScopeType::kPart,
                                               .scope_key = "north",
                                               .rule = "r",
                                               .rule_name = "ZCDP",
                                               .limits = {{"rho", 5}, {"delta", 6}}}}}};
  const DatasetCreated back = *ParseDatasetCreated(EncodePayload(document));
  EXPECT_EQ(back.name, "census");
  EXPECT_EQ(back.max_records_per_unit, 3);
  EXPECT_EQ(back.partition_attribute, "zone");
  ASSERT_EQ(back.accounts.size(), 1U);
  EXPECT_EQ(back.accounts[0].id, 7);
  EXPECT_EQ(back.accounts[0].spec.scope_type, ScopeType::kPart);
  EXPECT_EQ(back.accounts[0].spec.limits, document.accounts[0].spec.limits);
  EXPECT_EQ(EncodePayload(back), EncodePayload(document));
  ExpectOnlyWholeDocuments(EncodePayload(document), ParseDatasetCreated);
}

TEST(EntryPayload, AnOpenedAccountComesBackWhole) {
  const OpenedAccount document{8,
                               {.scope_type = ScopeType::kAnalystGroup,
                                .scope_key = "interns",
                                .rule = "r",
                                .rule_name = "PURE",
                                .limits = {{"epsilon", 5}},
                                .members = {"ana", "bob"}}};
  const OpenedAccount back = *ParseOpenedAccount(EncodePayload(document));
  EXPECT_EQ(back.id, 8);
  EXPECT_EQ(back.spec.members, document.spec.members);
  EXPECT_EQ(EncodePayload(back), EncodePayload(document));
  ExpectOnlyWholeDocuments(EncodePayload(document), ParseOpenedAccount);
}

TEST(EntryPayload, AChargeComesBackWhole) {
  const ChargeMade document{.principal = "ana",
                            .request_id = "r",
                            .fingerprint = "f",
                            .dataset_version = 1,
                            .kind = "workload",
                            .event = std::string("\0e", 2),
                            .label = "l",
                            .deadline_us = 9,
                            .postings = {{1, "rho", 2}, {3, "delta", 4}}};
  const ChargeMade back = *ParseChargeMade(EncodePayload(document));
  EXPECT_EQ(back.postings, document.postings);
  EXPECT_EQ(EncodePayload(back), EncodePayload(document));
  ExpectOnlyWholeDocuments(EncodePayload(document), ParseChargeMade);
}

TEST(EntryPayload, AChargeWithADrawIdentityIsTheSecondVersionAndComesBackWhole) {
  ChargeMade document{.principal = "ana", .request_id = "r", .fingerprint = "f", .kind = "workload"};
  const std::string first = EncodePayload(document);
  EXPECT_EQ(ParseChargeMade(first)->draw_identity, "");
  document.draw_identity = "what is drawn";
  const std::string second = EncodePayload(document);
  EXPECT_EQ(ParseChargeMade(second)->draw_identity, "what is drawn");
  EXPECT_EQ(EncodePayload(*ParseChargeMade(second)), second);
  ExpectOnlyWholeDocuments(second, ParseChargeMade);
}

TEST(EntryPayload, SmallDocumentsComeBackWhole) {
  ExpectOnlyWholeDocuments(EncodePayload(DatasetSealed{1, "commitment"}), ParseDatasetSealed);
  ExpectOnlyWholeDocuments(EncodeNote("note"), ParseNote);
  ExpectOnlyWholeDocuments(EncodePayload(LimitChange{"p", 1, "rho", 2, 3, "why"}), ParseLimitChange);
  const LimitChange alone{"p", 1, "rho", 2, 3, "why", Approval::kSingleCustody};
  ExpectOnlyWholeDocuments(EncodePayload(alone), ParseLimitChange);
  ExpectOnlyWholeDocuments(EncodePayload(DatasetPublished{Approval::kSingleCustody}), ParseDatasetPublished);
  ExpectOnlyWholeDocuments(EncodePayload(Repair{.reason = "lost", .proposed_by = "olga"}), ParseRepair);
  ExpectOnlyWholeDocuments(EncodePayload(ChargeChanged{"reason", "release", "hash", 5, {{1, "rho", 2}}}),
                           ParseChargeChanged);
}

TEST(EntryPayload, WhoApprovedIsReadBackAndWhatEarlierVersionsWroteStaysAsItIs) {
  for (const Approval approval : {Approval::kByAnother, Approval::kSingleCustody}) {
    const LimitChange change{.proposal_id = "p", .counter = "rho", .reason = "why", .approval = approval};
    EXPECT_EQ(ParseLimitChange(EncodePayload(change))->approval, approval);
    EXPECT_EQ(ParseDatasetPublished(EncodePayload(DatasetPublished{approval}))->approval, approval);
    const Repair repair{.reason = "lost", .proposed_by = "olga", .approval = approval};
    EXPECT_EQ(ParseRepair(EncodePayload(repair))->approval, approval);
    EXPECT_EQ(ParseRepair(EncodePayload(repair))->proposed_by, "olga");
  }
  CanonicalWriter before("curator.ledger.limit", 1);
  before.Text("p");
  before.Integer(1);
  before.Text("rho");
  before.Integer(2);
  before.Integer(3);
  before.Text("why");
  EXPECT_EQ(EncodePayload(LimitChange{"p", 1, "rho", 2, 3, "why"}), std::move(before).Take());
  EXPECT_EQ(ParseRepair(EncodePayload(Repair{.reason = "lost"}))->proposed_by, "");
}

TEST(EntryPayload, AValueWithoutANameIsNotReadBackAsAnother) {
  EXPECT_FALSE(ChargeStateFromName(StateName(static_cast<ChargeState>(99))).ok());
  EXPECT_FALSE(ScopeFromName(ScopeName(static_cast<ScopeType>(99))).ok());
  EXPECT_FALSE(DatasetStateFromName(DatasetStateName(static_cast<DatasetState>(99))).ok());
}

TEST(EntryPayload, OneDocumentIsNeverReadAsAnother) {
  EXPECT_FALSE(ParseChargeMade(EncodeNote("note")).ok());
  EXPECT_FALSE(ParseNote(EncodePayload(DatasetSealed{1, "commitment"})).ok());
}

TEST(EntryPayload, ACommitmentDependsOnTheDatasetAndItsContent) {
  EXPECT_EQ(ContentCommitment("d", "c"), ContentCommitment("d", "c"));
  EXPECT_NE(ContentCommitment("d", "c"), ContentCommitment("e", "c"));
  EXPECT_NE(ContentCommitment("d", "c"), ContentCommitment("d", "e"));
}

TEST(EntryPayload, EveryNameIsReadBackAndNoOther) {
  for (const ChargeState state : {ChargeState::kReserved, ChargeState::kStarted, ChargeState::kCommitted,
                                  ChargeState::kCancelled, ChargeState::kForfeited}) {
    EXPECT_EQ(*ChargeStateFromName(StateName(state)), state);
  }
  for (const ScopeType scope :
       {ScopeType::kDataset, ScopeType::kAnalyst, ScopeType::kAnalystGroup, ScopeType::kPart}) {
    EXPECT_EQ(*ScopeFromName(ScopeName(scope)), scope);
  }
  for (const DatasetState state : {DatasetState::kCreated, DatasetState::kSealed, DatasetState::kArchived}) {
    EXPECT_EQ(*DatasetStateFromName(DatasetStateName(state)), state);
  }
  EXPECT_FALSE(ChargeStateFromName("started").ok());
}

}  // namespace
}  // namespace curator::ledger
