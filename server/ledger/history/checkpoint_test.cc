#include "ledger/history/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Entries of one dataset with everything that a checkpoint holds.
std::vector<Entry> LongHistory() {
  std::vector<Entry> entries;
  ChainHead head;
  const auto write = [&](const char* kind, const std::string& charge_id, const std::string& payload) {
    Entry entry{.dataset_id = "d", .kind = kind, .charge_id = charge_id, .payload = payload, .actor = "ana"};
    head = Append(head, entry);
    entries.push_back(entry);
  };
  const auto made = [](int64_t cost, const std::string& draw_identity = "") {
    return EncodePayload(
        ChargeMade{.principal = "ana", .postings = {{1, "rho", cost}}, .draw_identity = draw_identity});
  };
  write(kDatasetCreated, "",
        EncodePayload(DatasetCreated{.name = "census",
                                     .owner = "olga",
                                     .lineage_id = "d",
                                     .partition_attribute = "year",
                                     .accounts = {{1, {.limits = {{"rho", 100}}}}}}));
  write(kPartAdded, "",
        EncodePayload(PartAdded{
            1, {0, 2}, {2, {.scope_type = ScopeType::kPart, .scope_key = "2024", .limits = {{"rho", 9}}}}}));
  write(kPartSealed, "", EncodePayload(PartSealed{1, 1, "commitment"}));
  write(kGranted, "", EncodeNote("ana"));
  write(kRulesSet, "", EncodePayload(RulesSet{"rules", "added night"}));
  write(kAccountOpened, "",
        EncodePayload(OpenedAccount{3,
                                    {.scope_type = ScopeType::kAnalystGroup,
                                     .scope_key = "students",
                                     .limits = {{"rho", 50}},
                                     .members = {"ana", "bob"}}}));
  write(kCharged, "answered", made(4));
  write(kCommitted, "answered", EncodePayload(ChargeChanged{.release_id = "r", .payload_hash = "h"}));
  write(kReleaseShared, "", EncodeNote("r bob"));
  write(kReserved, "held", made(5));
  write(kReserved, "queued", made(6, "what is drawn"));
  write(kCharged, "drawing", made(7));
  write(kLimitChanged, "", EncodePayload(LimitChange{"p", 1, "rho", 100, 200, "why"}));
  write(kCancelled, "queued", EncodePayload(ChargeChanged{.reason = "cancelled"}));
  write(kCommitted, "held", EncodePayload(ChargeChanged{}));
  write(kForfeited, "drawing", EncodePayload(ChargeChanged{.reason = "failed"}));
  write(kArchived, "", EncodeNote(""));
  return entries;
}

Recount Resumed(const std::string& checkpoint) {
  Recount recount(1);
  recount.Resume(ParseCheckpoint(checkpoint).value());
  return recount;
}

TEST(Checkpoint, ARecountGoesOnFromAnyEntryAsIfItHadReadAll) {
  const std::vector<Entry> entries = LongHistory();
  Recount whole(1);
  for (const Entry& entry : entries) whole.Add(entry);
  whole.Finish();
  ASSERT_THAT(whole.findings().kept(), IsEmpty());
  for (size_t stop = 1; stop <= entries.size(); ++stop) {
    Recount before(1);
    for (size_t i = 0; i < stop; ++i) before.Add(entries[i]);
    Recount after = Resumed(EncodeCheckpoint(before.state()));
    for (size_t i = stop; i < entries.size(); ++i) after.Add(entries[i]);
    after.Finish();
    EXPECT_THAT(after.findings().kept(), IsEmpty()) << "after entry " << stop;
    EXPECT_EQ(EncodeCheckpoint(after.state()), EncodeCheckpoint(whole.state())) << "after entry " << stop;
  }
}

TEST(Checkpoint, AnEntryThatDoesNotFollowItIsFound) {
  const std::vector<Entry> entries = LongHistory();
  Recount before(1);
  for (size_t i = 0; i < 6; ++i) before.Add(entries[i]);
  Recount after = Resumed(EncodeCheckpoint(before.state()));
  after.Add(entries[7]);
  EXPECT_THAT(after.findings().kept(), Contains(HasSubstr("entry")));
}

TEST(Checkpoint, BytesThatAreCutShortOrFollowedByOthersAreRefused) {
  Recount recount(1);
  for (const Entry& entry : LongHistory()) recount.Add(entry);
  const std::string bytes = EncodeCheckpoint(recount.state());
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(ParseCheckpoint(std::string_view(bytes).substr(0, length)).ok()) << length;
  EXPECT_FALSE(ParseCheckpoint(bytes + "x").ok());
}

}  // namespace
}  // namespace curator::ledger
