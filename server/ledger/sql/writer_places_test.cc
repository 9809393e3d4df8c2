#include "ledger/sql/writer_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace curator::ledger::sql {
namespace {

using std::chrono::milliseconds;

TEST(WriterPlacesTest, OneLineageTakesNoMorePlacesThanItMayAndLeavesTheOthers) {
  WriterPlaces places(2, 4);
  const auto first = places.Enter("census", milliseconds(0));
  auto second = places.Enter("census", milliseconds(0));
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_FALSE(places.Enter("census", milliseconds(1)).has_value());
  EXPECT_TRUE(places.Enter("health", milliseconds(0)).has_value());
  second.reset();
  EXPECT_TRUE(places.Enter("census", milliseconds(0)).has_value());
}

TEST(WriterPlacesTest, ThereAreNoMorePlacesThanInAll) {
  WriterPlaces places(2, 2);
  const auto first = places.Enter("census", milliseconds(0));
  const auto second = places.Enter("health", milliseconds(0));
  EXPECT_FALSE(places.Enter("income", milliseconds(1)).has_value());
}

TEST(WriterPlacesTest, APlaceThatIsLeftGoesToACallerThatWaits) {
  WriterPlaces places(1, 2);
  auto first = places.Enter("census", milliseconds(0));
  auto waiting =
      std::async(std::launch::async, [&] { return places.Enter("census", std::chrono::hours(1)); });
  first.reset();
  EXPECT_TRUE(waiting.get().has_value());
}

TEST(WriterPlacesTest, ACallerWhoseLineageHasNoPlaceLetsOthersPass) {
  WriterPlaces places(1, 2);
  auto first = places.Enter("census", milliseconds(0));
  auto second = places.Enter("health", milliseconds(0));
  auto behind = std::async(std::launch::async, [&] { return places.Enter("census", std::chrono::hours(1)); });
  auto passes = std::async(std::launch::async, [&] { return places.Enter("income", std::chrono::hours(1)); });
  second.reset();
  EXPECT_TRUE(passes.get().has_value());
  EXPECT_EQ(behind.wait_for(milliseconds(0)), std::future_status::timeout);
  first.reset();
  EXPECT_TRUE(behind.get().has_value());
}

}  // namespace
}  // namespace curator::ledger::sql
