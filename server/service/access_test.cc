// A stored dataset that contradicts itself is found out before anybody relies on it.
#include "service/access.h"

#include "codec/schema_codec.h"
#include "ledger/history/entry_payload.h"
#include "service/accounts/budgets.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

ledger::Dataset StoredPeople() {
  ledger::Dataset record;
  record.name = "census";
  record.schema = codec::EncodeSchema(PeopleSchema(dp::PersonUnit{.id_column = "pid", .max_records = 3}));
  record.neighbour_relation = "ADD_REMOVE";
  record.max_records_per_unit = 3;
  return record;
}

TEST(ViewOf, ReadsTheUnitThatTheAccountCountsFor) {
  const auto view = ViewOf(StoredPeople());
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->unit_bound, (dp::UnitBound{dp::NeighbourRelation::kAddRemove, 3}));
}

TEST(ViewOf, RefusesARelationOfNeighboursThatItDoesNotKnow) {
  ledger::Dataset record = StoredPeople();
  record.neighbour_relation = "REPLACE_TWO";
  EXPECT_EQ(ViewOf(record).status().code(), absl::StatusCode::kDataLoss);
}

TEST(ViewOf, RefusesASchemaWhoseUnitsHaveMoreRecordsThanTheAccountCountsFor) {
  ledger::Dataset record = StoredPeople();
  record.max_records_per_unit = 2;
  EXPECT_EQ(ViewOf(record).status().code(), absl::StatusCode::kDataLoss);
}

// It names a dataset with the same records, which may be another's.
TEST(MayReadEntry, NoPrincipalReadsAnOldNoteOfEqualContent) {
  DatasetView view = ViewOf(StoredPeople()).value();
  view.roles = {Role::kOwner};
  const auto may_read = [&](const ledger::Entry& entry) {
    return MayReadEntry(view.roles, entry, TestPrincipal("mallory"));
  };
  ledger::Entry entry{.kind = ledger::kGranted, .payload = ledger::EncodeNote("ana"), .actor = "mallory"};
  EXPECT_TRUE(may_read(entry));
  EXPECT_EQ(Summary(entry), "ana: analyst, service");
  entry.kind = ledger::kEqualContent;
  entry.payload = ledger::EncodeNote("clinic");
  EXPECT_FALSE(may_read(entry));
  EXPECT_EQ(Summary(entry), "");
}

TEST(MayReadEntry, APrincipalReadsTheEntriesOfItsChargesByItsNameAndNobodyElses) {
  DatasetView view = ViewOf(StoredPeople()).value();
  view.roles = {Role::kAnalyst};
  const std::string pseudonym = "~" + std::string(32, 'a');
  ledger::Entry entry{.kind = ledger::kCharged, .charge_id = "c", .actor = pseudonym, .actor_name = "ana"};
  EXPECT_TRUE(MayReadEntry(view.roles, entry, TestPrincipal("ana")));
  EXPECT_FALSE(MayReadEntry(view.roles, entry, TestPrincipal("bob")));
  entry.actor_name = pseudonym;
  EXPECT_FALSE(MayReadEntry(view.roles, entry, TestPrincipal("ana")))
      << "another ana, after she was forgotten";
}

TEST(Summary, HasNamesWhereTheEntryHasPseudonyms) {
  const std::string pseudonym = "~" + std::string(32, 'a');
  ledger::Entry entry{.kind = ledger::kGranted,
                      .payload = EncodePayload(ledger::Grant{.grantee = pseudonym})};
  EXPECT_EQ(Summary(entry), pseudonym + ": analyst");
  entry.named_payload = EncodePayload(ledger::Grant{.grantee = "ana"});
  EXPECT_EQ(Summary(entry), "ana: analyst");
}

}  // namespace
}  // namespace curator::service
