#include "ledger/history/hash_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Entry FirstEntry() {
  Entry entry{.dataset_id = "d",
              .kind = "GRANTED",
              .charge_id = "",
              .payload = std::string("p\0q", 3),
              .actor = "olga",
              .created_at_us = 1'700'000'000'000'000};
  Append(ChainHead(), entry);
  return entry;
}

TEST(HashChain, HashesTheBytesThatItsHeaderDescribes) {
  // Computed apart from this program: hashlib.sha256 over the fields packed with struct ">q".
  EXPECT_EQ(absl::BytesToHexString(FirstEntry().hash),
            "7360f40766a71c6b4a9270d2529ad3a08c6e1e63ff605930eeeeae0d66246afc");
}

TEST(HashChain, StartsAtOneAfterZeroBytes) {
  const Entry entry = FirstEntry();
  EXPECT_EQ(entry.seq, 1);
  EXPECT_EQ(entry.prev_hash, std::string(32, '\0'));
  EXPECT_THAT(BrokenLinks(ChainHead(), entry), ElementsAre());
}

TEST(HashChain, EveryFieldIsCovered) {
  const auto hash_after = [](void (*change)(Entry&)) {
    Entry entry = FirstEntry();
    change(entry);
    return EntryHash(entry);
  };
  const std::string hash = FirstEntry().hash;
  EXPECT_NE(hash, hash_after([](Entry& entry) { entry.dataset_id = "e"; }));
  EXPECT_NE(hash, hash_after([](Entry& entry) { entry.seq = 2; }));
  EXPECT_NE(hash, hash_after([](Entry& entry) { entry.kind = "SEALED"; }));
  EXPECT_NE(hash, hash_after([](Entry& entry) { entry.charge_id = "c"; }));
  EXPECT_NE(hash, hash_after([](Entry& entry) { entry.payload.pop_back(); }));
  EXPECT_NE(hash, hash_after([](Entry& entry) { entry.actor = "ana"; }));
  EXPECT_NE(hash, hash_after([](Entry& entry) { entry.created_at_us += 1; }));
  EXPECT_NE(hash, hash_after([](Entry& entry) { entry.prev_hash[0] = 'x'; }));
}

TEST(HashChain, BytesCannotMoveFromOneFieldIntoTheNext) {
  Entry one = FirstEntry();
  Entry other = FirstEntry();
  one.kind = "AB";
  one.charge_id = "C";
  other.kind = "A";
  other.charge_id = "BC";
  EXPECT_NE(EntryHash(one), EntryHash(other));
}

TEST(HashChain, SaysWhatIsBroken) {
  Entry entry = FirstEntry();
  EXPECT_THAT(BrokenLinks({3, entry.hash}, entry), ElementsAre(HasSubstr("entry 4 is missing")));
  EXPECT_THAT(BrokenLinks({0, std::string(32, 'x')}, entry), ElementsAre(HasSubstr("does not continue")));
  entry.actor = "mallory";
  EXPECT_THAT(BrokenLinks(ChainHead(), entry), ElementsAre(HasSubstr("was edited")));
}

}  // namespace
}  // namespace curator::ledger
