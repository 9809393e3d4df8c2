#include "ledger/sql/head_cache.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace curator::ledger::sql {
namespace {

// A store that answers what locks one dataset with accounts 1, 2, ... of its lineage.
class OneDataset final : public Transaction {
 public:
  OneDataset(std::string id, std::string lineage, int64_t seq, int accounts)
      : id_(std::move(id)), lineage_(std::move(lineage)), seq_(seq), accounts_(accounts) {}

  absl::StatusOr<std::vector<Answers>> ExecuteTogether(const std::vector<Statement>&) override {
    const std::string hash = absl::StrCat("hash ", seq_);
    const Row chain(RowOf(id_, absl::StrCat("name of ", id_), lineage_, std::string("SEALED"), int64_t{0},
                          seq_, Bytes{hash}, int64_t{1}, int64_t{1000}, int64_t{0}, int64_t{0}, int64_t{1},
                          int64_t{0}, int64_t{1}, Bytes{""}));
    Answers counters;
    for (int64_t account = 1; account <= accounts_; ++account) {
      counters.push_back(
          {Row(RowOf(account, std::string("rho"), int64_t{0}, int64_t{0}, int64_t{10}, lineage_,
                     std::string("ZCDP"), std::string("DATASET"), std::string(), lineage_))});
    }
    return std::vector<Answers>{{}, {{chain}}, counters, {}};
  }
  absl::StatusOr<std::vector<Row>> Execute(std::string_view, const Parameters&) override {
    return NotAsked();
  }
  absl::StatusOr<std::vector<std::vector<Row>>> ExecuteEach(std::string_view,
                                                            const std::vector<Parameters>&) override {
    return NotAsked();
  }
  absl::Status InsertRows(std::string_view, const std::vector<Column>&,
                          const std::vector<Parameters>&) override {
    return NotAsked();
  }
  absl::Status ExecuteScript(const std::string&) override { return NotAsked(); }

 private:
  static absl::Status NotAsked() { return absl::UnimplementedError("a lock asks this of no store"); }

  const std::string id_;
  const std::string lineage_;
  const int64_t seq_;
  const int accounts_;
};

constexpr int64_t kSchema = 1;

// The cache learns the dataset as it is at `seq`: the first of its lineage, unless `lineage` names another.
void Learn(HeadCache& cache, const std::string& id, int64_t seq, int accounts, std::string lineage = "") {
  OneDataset transaction(id, lineage.empty() ? id : std::move(lineage), seq, accounts);
  AnchorState anchored;
  anchored.heads[id] = {seq, absl::StrCat("hash ", seq)};
  const StateView view(anchored);
  const Dialect dialect;
  WriteSet change(transaction, dialect, view, kSchema);
  change.MarkChargesOnly();
  ASSERT_TRUE(change.LockAll({id}, {1}, {}).ok());
  cache.Update(change);
}

TEST(HeadCache, KnowsWhatTheLastChangeLeft) {
  HeadCache cache;
  EXPECT_FALSE(cache.Find({"a"}, {1}).has_value());
  Learn(cache, "a", 7, 2);
  const auto found = cache.Find({"a"}, {1, 2});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->datasets.at("a").head.seq, 7);
  EXPECT_EQ(found->counters.size(), 2U);
  EXPECT_FALSE(cache.Find({"a"}, {3}).has_value()) << "no such account is known";
  EXPECT_FALSE(cache.Find({"a", "b"}, {1}).has_value());
}

TEST(HeadCache, AChangeThatIsNotedLateDoesNotPutTheHeadBack) {
  HeadCache cache;
  Learn(cache, "a", 9, 1);
  Learn(cache, "a", 7, 1);
  EXPECT_EQ(cache.Find({"a"}, {1})->datasets.at("a").head.seq, 9);
  // A database that was restored meanwhile.
  cache.RecordMiss({"a"});
  Learn(cache, "a", 7, 1);
  EXPECT_FALSE(cache.Find({"a"}, {1}).has_value());
  EXPECT_EQ(cache.Find({"a"}, {1})->datasets.at("a").head.seq, 7);
}

TEST(HeadCache, AMissIsTheFaultOfTheLineageWhoseHeadHadMoved) {
  HeadCache cache;
  Learn(cache, "moved", 7, 1);
  Learn(cache, "still", 3, 1);
  cache.RecordMiss({"moved", "still"});
  EXPECT_FALSE(cache.Find({"moved"}, {1}).has_value());
  EXPECT_FALSE(cache.Find({"still"}, {1}).has_value());
  Learn(cache, "moved", 9, 1);
  Learn(cache, "still", 3, 1);
  EXPECT_TRUE(cache.Find({"still"}, {1}).has_value());
  EXPECT_FALSE(cache.Find({"moved"}, {1}).has_value()) << "one batch is skipped";
  EXPECT_TRUE(cache.Find({"moved"}, {1}).has_value());
}

TEST(HeadCache, AttemptsBecomeRarerWhileTheyMissAndNormalAfterAHit) {
  HeadCache cache;
  Learn(cache, "a", 1, 1);
  int64_t seq = 1;
  for (int expected = 1; expected <= 64; expected *= 2) {
    cache.RecordMiss({"a"});
    Learn(cache, "a", seq += 2, 1);
    int skipped = 0;
    while (!cache.Find({"a"}, {1}).has_value()) ++skipped;
    EXPECT_EQ(skipped, expected);
  }
  cache.RecordHit({"a"});
  cache.RecordMiss({"a"});
  Learn(cache, "a", seq + 2, 1);
  EXPECT_FALSE(cache.Find({"a"}, {1}).has_value());
  EXPECT_TRUE(cache.Find({"a"}, {1}).has_value());
}

TEST(HeadCache, TheDatasetsOfALineageShareItsCountersAndItsMisses) {
  HeadCache cache;
  Learn(cache, "first", 7, 1);
  Learn(cache, "second", 3, 2, "first");
  EXPECT_EQ(cache.counters(), 2U);
  const auto found = cache.Find({"first", "second"}, {1, 2});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->datasets.at("second").head.seq, 3);
  cache.RecordMiss({"second"});
  EXPECT_FALSE(cache.Find({"first"}, {1}).has_value());
  Learn(cache, "second", 5, 2, "first");
  EXPECT_FALSE(cache.Find({"second"}, {1}).has_value()) << "one batch is skipped";
  EXPECT_TRUE(cache.Find({"second"}, {1}).has_value());
  EXPECT_FALSE(cache.Find({"first"}, {1}).has_value()) << "it was forgotten with the counters";
}

TEST(HeadCache, ForgetsTheLineagesUsedLongestAgoBeyondItsBounds) {
  HeadCache cache({.datasets = 3, .counters = 10});
  for (const char* const id : {"a", "b", "c"}) Learn(cache, id, 1, 2);
  cache.Find({"a"}, {1});
  Learn(cache, "d", 1, 2);
  EXPECT_EQ(cache.datasets(), 3U);
  EXPECT_FALSE(cache.Find({"b"}, {1}).has_value());
  EXPECT_TRUE(cache.Find({"a"}, {1}).has_value());
  Learn(cache, "wide", 1, 7);
  EXPECT_LE(cache.counters(), 10U);
  EXPECT_TRUE(cache.Find({"wide"}, {1, 7}).has_value());
  EXPECT_TRUE(cache.Find({"a"}, {1}).has_value());
}

TEST(HeadCache, LearnsNoCounterOfALineageThatItDoesNotCache) {
  HeadCache cache({.datasets = 0, .counters = 10});
  for (int i = 0; i < 100; ++i) Learn(cache, absl::StrCat("lineage ", i), 1, 10);
  EXPECT_EQ(cache.counters(), 0U);
}

}  // namespace
}  // namespace curator::ledger::sql
