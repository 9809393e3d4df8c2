#include "ledger/sql/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

namespace curator::ledger::sql {
namespace {

using ::testing::ElementsAre;

void AwaitWaiting(const Turns& turns, int64_t callers) {
  while (turns.waiting() < callers) std::this_thread::yield();
}

TEST(Turns, GoToThoseWhoAskedFirst) {
  Turns turns;
  std::vector<std::string> order;
  std::vector<std::thread> others;
  {
    const Turns::Turn first = turns.Take();
    for (const char* name : {"one who waits", "another"}) {
      others.emplace_back([&, name] {
        const Turns::Turn turn = turns.Take();
        order.emplace_back(name);
      });
      AwaitWaiting(turns, static_cast<int64_t>(others.size()));
    }
  }
  {
    const Turns::Turn again = turns.Take();
    order.emplace_back("the first again");
  }
  for (std::thread& other : others) other.join();
  EXPECT_THAT(order, ElementsAre("one who waits", "another", "the first again"));
}

TEST(Turns, ThatDoNotComeInTimeAreNotTaken) {
  Turns turns;
  std::optional<Turns::Turn> first = turns.TakeWithin(std::chrono::milliseconds(0));
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(turns.TakeWithin(std::chrono::milliseconds(1)).has_value());
  EXPECT_EQ(turns.waiting(), 0) << "it does not wait any more";
  first.reset();
  EXPECT_TRUE(turns.TakeWithin(std::chrono::milliseconds(0)).has_value());
}

}  // namespace
}  // namespace curator::ledger::sql
