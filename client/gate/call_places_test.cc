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

TEST(CallPlacesTest, OneSessionHasItsPlacesAndAnotherOneStillHasAll) {
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

TEST(CallPlacesTest, AllSessionsTogetherAreBounded) {
  CallPlaces places;
  size_t taken = 0;
  std::vector<std::vector<std::shared_ptr<void>>> kept;
  for (int i = 0; i < 100; ++i) {
    kept.push_back(TakeAll(places, "session " + std::to_string(i)));
    taken += kept.back().size();
  }
  EXPECT_EQ(taken, size_t{CallPlaces::kMost});
}

TEST(CallPlacesTest, ThoseWhoAreNotSignedInShareTheirs) {
  CallPlaces places;
  EXPECT_EQ(TakeAll(places, "").size(), size_t{CallPlaces::kMostOfNobody});
}

}  // namespace
}  // namespace curator::gate
