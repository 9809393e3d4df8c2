#include "client/gate/call_places.h"

#include <gtest/gtest.h>

#include <vector>

namespace curator::gate {
namespace {

std::vector<std::shared_ptr<void>> TakeAll(CallPlaces& places, const std::string& key) {
  std::vector<std::shared_ptr<void>> taken;
  while (std::shared_ptr<void> place = places.Take(key)) taken.push_back(std::move(place));
  return taken;
}

TEST(CallPlacesTest, OnePrincipalHasItsPlacesAndAnotherOneStillHasAll) {
  CallPlaces places;
  const auto first = TakeAll(places, "first");
  EXPECT_EQ(first.size(), size_t{CallPlaces::kMostOfOne});
  EXPECT_EQ(TakeAll(places, "second").size(), size_t{CallPlaces::kMostOfOne});
}

TEST(CallPlacesTest, APlaceThatIsGivenBackIsTakenAgain) {
  CallPlaces places;
  auto taken = TakeAll(places, "one");
  EXPECT_EQ(places.Take("one"), nullptr);
  taken.pop_back();
  EXPECT_NE(places.Take("one"), nullptr);
}

TEST(CallPlacesTest, AllPrincipalsTogetherAreBounded) {
  CallPlaces places;
  size_t taken = 0;
  std::vector<std::vector<std::shared_ptr<void>>> kept;
  for (int i = 0; i < 100; ++i) {
    kept.push_back(TakeAll(places, "principal " + std::to_string(i)));
    taken += kept.back().size();
  }
  EXPECT_EQ(taken, size_t{CallPlaces::kMost});
}

TEST(CallPlacesTest, ThoseWhoAreNotSignedInShareTheirs) {
  CallPlaces places;
  EXPECT_EQ(TakeAll(places, "").size(), size_t{CallPlaces::kMostOfNobody});
}

TEST(CallPlacesTest, AnswersOfOnePrincipalAreBoundedTogetherAndGiveTheirRoomBack) {
  CallPlaces places;
  auto first = places.Take("one");
  const auto second = places.Take("one");
  EXPECT_TRUE(first->Grow(CallPlaces::kMostBytesOfOne - 1));
  EXPECT_FALSE(second->Grow(2));
  EXPECT_TRUE(second->Grow(1));
  EXPECT_TRUE(places.Take("another")->Grow(CallPlaces::kMostBytesOfOne));
  first.reset();
  EXPECT_TRUE(second->Grow(CallPlaces::kMostBytesOfOne - 1));
  EXPECT_FALSE(second->Grow(1));
}

TEST(CallPlacesTest, AnswersOfAllPrincipalsAreBoundedTogether) {
  CallPlaces places;
  std::vector<std::shared_ptr<CallPlaces::Place>> full;
  for (size_t taken = 0; taken < CallPlaces::kMostBytes; taken += CallPlaces::kMostBytesOfOne) {
    full.push_back(places.Take("principal " + std::to_string(taken)));
    ASSERT_TRUE(full.back()->Grow(CallPlaces::kMostBytesOfOne));
  }
  EXPECT_FALSE(places.Take("one more")->Grow(1));
  full.pop_back();
  EXPECT_TRUE(places.Take("one more")->Grow(CallPlaces::kMostBytesOfOne));
}

}  // namespace
}  // namespace curator::gate
