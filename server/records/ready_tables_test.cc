#include "records/ready_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::CodeRows;
using testing::ContentOf;
using testing::Import;
using testing::Open;
using testing::OpenStore;
using testing::Overwrite;
using testing::Push;
using testing::RowsOf;
using testing::ScratchFolder;
using testing::SexAge;

constexpr char kTwoPeople[] = "sex,age\nM,35\nF,7\n";

class ReadyTablesTest : public ::testing::Test {
 protected:
  SealedId Sealed(const std::string& id, std::string_view csv = kTwoPeople) {
    const auto import = store_->BeginImport(id, SexAge(), "r1", {}).value();
    EXPECT_TRUE(Push(*import, csv).ok());
    return {id, store_->Seal(id, SexAge(), "olga").value().content_hash};
  }

  ReadyTables& ready() { return store_->ready(); }

  const ScratchFolder folder_;
  const std::unique_ptr<DatasetStore> store_ = OpenStore(folder_);
};

TEST_F(ReadyTablesTest, ATableIsUnavailableUntilItIsPublishedAndNoRequestPublishesIt) {
  const SealedId people = Sealed("people");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(ready().Find({people}).status().code(), absl::StatusCode::kUnavailable);
  ready().Publish(people, store_->Load(people).value());
  EXPECT_EQ(RowsOf(*ready().Find({people})->Open().value()), (CodeRows{{1, 3}, {0, 0}}));
  EXPECT_EQ(ready().Find({{"people", "another content"}}).status().code(), absl::StatusCode::kUnavailable)
      << "the loader has not examined this content yet";
}

TEST_F(ReadyTablesTest, AnUnreadableTableIsRefusedInTheSameWordsWhateverTheCauseAndTheRecords) {
  const SealedId people = Sealed("people");
  const SealedId pupils = Sealed("pupils", "sex,age\nM,35\nF,7\nF,8\n");
  ready().PublishUnreadable(people);
  ready().PublishUnreadable(pupils);
  const absl::Status refused = ready().Find({people}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ready().Find({pupils}).status(), refused);
  ready().Publish(people, store_->Load(people).value());
  EXPECT_TRUE(ready().Find({people}).ok());
}

TEST_F(ReadyTablesTest, AReadyTableNeedsNoFile) {
  const SealedId people = Sealed("people");
  ready().Publish(people, store_->Load(people).value());
  std::filesystem::remove_all(folder_ / "people");
  EXPECT_EQ(ready().Find({people})->Open().value()->rows(), 2);
}

TEST_F(ReadyTablesTest, SeveralTablesAreOpenedAsOne) {
  std::vector<SealedId> ids = {Sealed("first"), Sealed("second", "sex,age\nF,90\n"),
                               Sealed("none", "sex,age\n")};
  const dp::SealedTableHandle joined = Open(*store_, ids).value();
  EXPECT_EQ(RowsOf(*joined), (CodeRows{{1, 3}, {0, 0}, {0, 9}}));
  EXPECT_EQ(Open(*store_, ids).value(), joined) << "it is kept";
  EXPECT_EQ(RowsOf(*Open(*store_, {ids[1]}).value()), (CodeRows{{0, 9}}));
  EXPECT_EQ(RowsOf(*Open(*store_, {ids[2], ids[1]}).value()), (CodeRows{{0, 9}}));
  for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(Open(*store_, {ids[i], ids[(i + 1) % 3]}).ok());
  EXPECT_NE(Open(*store_, ids).value(), joined) << "only the last few are";
}

TEST_F(ReadyTablesTest, PartsThatAreOpenedAtTheSameTimeAreJoinedOnce) {
  std::string csv = "sex,age\n";
  for (int i = 0; i < 20'000; ++i) csv += "M,35\n";
  const SealedId one = Sealed("one", csv);
  const SealedId other = Sealed("other", csv);
  ready().Publish(one, store_->Load(one).value());
  ready().Publish(other, store_->Load(other).value());
  const ReadyTable parts = ready().Find({one, other}).value();
  constexpr int kRequests = 8;
  std::latch all_are_here(kRequests);
  std::vector<dp::SealedTableHandle> joined(kRequests);
  {
    std::vector<std::jthread> requests;
    for (dp::SealedTableHandle& own : joined) {
      requests.emplace_back([&] {
        all_are_here.arrive_and_wait();
        own = parts.Open().value();
      });
    }
  }
  EXPECT_THAT(joined, ::testing::Each(joined.front()));
}

TEST_F(ReadyTablesTest, OnePartThatIsNotReadyMakesAllOfThemUnready) {
  const std::vector<SealedId> ids = {Sealed("first"), Sealed("second")};
  ready().Publish(ids[0], store_->Load(ids[0]).value());
  EXPECT_EQ(ready().Find(ids).status().code(), absl::StatusCode::kUnavailable);
  ready().PublishUnreadable(ids[1]);
  EXPECT_EQ(ready().Find(ids).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ReadyTablesTest, ForgottenTablesAreReleasedUnlessTheyAreInUse) {
  const SealedId people = Sealed("people");
  dp::SealedTableHandle in_use = Open(*store_, {people}).value();
  const std::weak_ptr<const dp::SealedTable> watched = in_use;
  ready().Forget({"pupils"});
  EXPECT_EQ(Open(*store_, {people}).value(), in_use) << "another dataset's table stays";

  ready().Forget({"people"});
  EXPECT_EQ(ready().Find({people}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(RowsOf(*in_use), (CodeRows{{1, 3}, {0, 0}}));
  in_use.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_F(ReadyTablesTest, ForgettingOnePartReleasesItsJoinedTables) {
  const std::vector<SealedId> ids = {Sealed("p0"), Sealed("p1"), Sealed("p2")};
  const auto watch = [&](const std::vector<SealedId>& parts) {
    return std::weak_ptr<const dp::SealedTable>(Open(*store_, parts).value());
  };
  const auto with_p1 = watch({ids[0], ids[1]});
  const auto without = watch({ids[0], ids[2]});
  ASSERT_FALSE(with_p1.expired() || without.expired());
  const ReadyTable late = ready().Find({ids[0], ids[1]}).value();
  ready().Forget({"p1"});
  EXPECT_TRUE(with_p1.expired());
  EXPECT_FALSE(without.expired());
  const std::weak_ptr<const dp::SealedTable> opened_late = late.Open().value();
  EXPECT_TRUE(opened_late.expired()) << "a request that still held its parts does not keep them for others";
  ready().Forget({"p2", "p0"});
  EXPECT_TRUE(without.expired());
}

}  // namespace
}  // namespace curator::records
