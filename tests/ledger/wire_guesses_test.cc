// A charge by guess is one statement, in one flight of messages: cut, held up, duplicated, answered with a
// shutdown, or sent by a process that dies, at every message of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ledger/conformance/bystander.h"
#include "ledger/conformance/fault_conformance.h"
#include "ledger/conformance/invariants.h"
#include "ledger/postgres/postgres_database.h"
#include "tests/testing/cutting_proxy.h"
#include "tests/testing/postgres_cluster.h"

namespace curator::ledger {
namespace {

using testing::CuttingProxy;
using ::testing::ElementsAre;
using testing::PostgresCluster;
using Direction = CuttingProxy::Direction;

// Bind, Describe, Execute, Sync; the answer has one more. Nothing is locked before Execute has come.
constexpr int kMessagesBeforeLocks = 3;
constexpr int kMessagesOfAGuess = 4;

class WireGuesses : public FaultConformance {
 protected:
  std::string UrlThrough(int port) {
    const std::string address = absl::StrCat(":", PostgresCluster::Shared().port(), "/");
    return absl::StrCat(absl::StrReplaceAll(url(), {{address, absl::StrCat(":", port, "/")}}),
                        "?sslmode=disable&gssencmode=disable&application_name=behind_proxy");
  }
  FragileLedger OpenThrough(const CuttingProxy& proxy) {
    return OpenFragile(Must(postgres::OpenPostgresDatabase(UrlThrough(proxy.port()))), NextSeed());
  }
  // Strikes a guess at one message after the other until none is left; returns how many there were.
  int StrikeEveryMessage(CuttingProxy& proxy, const FragileLedger& fragile,
                         const std::function<void(int message, const ChargeRequest& request)>& arm) {
    int message = 0;
    for (bool has_struck = true; has_struck && !HasFailure(); ++message) {
      charges_ = ChargeUntilGuessed(fragile, "charge", charges_);
      const ChargeRequest request = Request(++charges_, "charge", 1);
      arm(message, request);
      const absl::Status status = fragile.ledger->Begin(request).status();
      EXPECT_TRUE(status.ok()) << "message " << message << ": " << status;
      has_struck = proxy.has_struck();
    }
    proxy.Disarm();
    return message - 1;
  }
  void ExpectCharged(Ledger& ledger, int64_t charges) {
    EXPECT_EQ(BalanceOf(ledger, dataset()).spent, charges);
    EXPECT_THAT(ViolationsIn(ledger, *OpenStore()), ElementsAre());
  }

  int charges_ = 0;  // made by StrikeEveryMessage()
};

TEST_P(WireGuesses, AGuessCutAtAnyMessageChargesOnce) {
  CuttingProxy proxy(PostgresCluster::Shared().port());
  const FragileLedger fragile = OpenThrough(proxy);
  for (const Direction direction : {Direction::kToServer, Direction::kToClient}) {
    const int messages = StrikeEveryMessage(
        proxy, fragile, [&](int message, const ChargeRequest&) { proxy.CutAt(message, direction); });
    EXPECT_GE(messages, kMessagesOfAGuess);
  }
  ExpectCharged(*fragile.ledger, charges_);
}

TEST_P(WireGuesses, AGuessAnsweredWithAShutdownInPlaceOfAnyMessageChargesOnce) {
  CuttingProxy proxy(PostgresCluster::Shared().port());
  const FragileLedger fragile = OpenThrough(proxy);
  const int messages = StrikeEveryMessage(
      proxy, fragile, [&](int message, const ChargeRequest&) { proxy.TellOfShutdownAt(message); });
  EXPECT_GE(messages, kMessagesOfAGuess);
  ExpectCharged(*fragile.ledger, charges_);
}

// What the server says is held up when it has all of the flight, so that it waits for nobody.
TEST_P(WireGuesses, AGuessHeldUpAtAnyMessageAndAnotherServersChargeAreBothMade) {
  CuttingProxy proxy(PostgresCluster::Shared().port());
  const FragileLedger fragile = OpenThrough(proxy);
  Bystander other(OpenFragile());
  int others = 0;
  for (const Direction direction : {Direction::kToServer, Direction::kToClient}) {
    StrikeEveryMessage(proxy, fragile, [&](int message, const ChargeRequest&) {
      EXPECT_TRUE(other.Join().ok());
      proxy.HoldAt(message, direction, [&, message, direction] {
        const bool may_lock = direction == Direction::kToServer && message >= kMessagesBeforeLocks;
        other.Start(may_lock ? Bystander::Holding::kLocks : Bystander::Holding::kNothing,
                    [&, request = Request(++others, "other", 1)](Ledger& ledger) {
                      return ledger.Begin(request).status();
                    });
      });
    });
    EXPECT_TRUE(other.Join().ok());
  }
  EXPECT_GE(others, 2 * kMessagesOfAGuess);
  ExpectCharged(*fragile.ledger, charges_ + others);
}

TEST_P(WireGuesses, AChargeAskedForTwiceWhileItsGuessIsHeldUpAtAnyMessageIsMadeOnce) {
  CuttingProxy proxy(PostgresCluster::Shared().port());
  const FragileLedger fragile = OpenThrough(proxy);
  Bystander other(OpenFragile());
  for (const Direction direction : {Direction::kToServer, Direction::kToClient}) {
    const int messages = StrikeEveryMessage(proxy, fragile, [&](int message, const ChargeRequest& request) {
      EXPECT_TRUE(other.Join().ok());
      proxy.HoldAt(message, direction, [&, message, direction, request] {
        const bool may_lock = direction == Direction::kToServer && message >= kMessagesBeforeLocks;
        other.Start(may_lock ? Bystander::Holding::kLocks : Bystander::Holding::kNothing,
                    [request](Ledger& ledger) { return ledger.Begin(request).status(); });
      });
    });
    EXPECT_TRUE(other.Join().ok());
    EXPECT_GE(messages, kMessagesOfAGuess);
  }
  ExpectCharged(*fragile.ledger, charges_);
}

// A process behind a proxy, which charges until it guesses, and then once more.
class Sender {
 public:
  // Does `work` in the process, given the proxy's port, and two ways to talk with it. There may be no
  // threads.
  explicit Sender(const std::function<void(int port, int reported, int heard)>& work) {
    int reported[2];
    int heard[2];
    if (pipe(reported) != 0 || pipe(heard) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      close(reported[0]);
      close(heard[1]);
      int port = 0;
      if (read(heard[0], &port, sizeof(port)) != sizeof(port)) _exit(2);
      work(port, reported[1], heard[0]);
      _exit(0);
    }
    close(reported[1]);
    close(heard[0]);
    reported_ = reported[0];
    heard_ = heard[1];
  }
  ~Sender() {
    Kill();
    close(reported_);
    close(heard_);
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  template <typename Value>
  void Say(Value value) {
    if (write(heard_, &value, sizeof(value)) != sizeof(value)) std::abort();
  }
  // What it tells next; 0 when it has ended.
  int Hear() {
    int value = 0;
    return read(reported_, &value, sizeof(value)) == sizeof(value) ? value : 0;
  }
  // May come from several threads.
  void Kill() {
    const pid_t pid = pid_.exchange(-1);
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }

 private:
  std::atomic<pid_t> pid_ = -1;
  int reported_ = -1;
  int heard_ = -1;
};

// Its last messages reach the server when it is dead and another server has taken its charge over, or waits.
TEST_P(WireGuesses, AGuessOfADeadProcessThatArrivesLateIsMadeOnceAtMost) {
  int64_t charged = 0;
  int message = 0;
  for (bool has_struck = true; has_struck && !HasFailure(); ++message) {
    const std::string name = absl::StrCat("held at ", message);
    const uint64_t seed = NextSeed();
    Sender sender([&](int port, int reported, int heard) {
      const FragileLedger fragile = OpenFragile(Must(postgres::OpenPostgresDatabase(UrlThrough(port))), seed);
      const int charges = ChargeUntilGuessed(fragile, name, 0);
      int go = 0;
      const bool may_go_on = write(reported, &charges, sizeof(charges)) == sizeof(charges) &&
                             read(heard, &go, sizeof(go)) == sizeof(go);
      if (!may_go_on || !fragile.ledger->Begin(Request(0, name, 1)).ok()) _exit(3);
      if (write(reported, &go, sizeof(go)) != sizeof(go)) _exit(2);
      pause();  // until it is killed, so that it does not end its connection by itself
    });
    CuttingProxy proxy(PostgresCluster::Shared().port());
    sender.Say(proxy.port());
    charged += sender.Hear() + 1;
    Bystander survivor(OpenFragile());
    proxy.HoldAt(message, Direction::kToServer, [&] {
      sender.Kill();
      survivor.Start(
          message < kMessagesBeforeLocks ? Bystander::Holding::kNothing : Bystander::Holding::kLocks,
          [&](Ledger& ledger) { return ledger.Begin(Request(0, name, 1)).status(); });
    });
    sender.Say(1);
    const bool has_ended = sender.Hear() == 0;
    has_struck = proxy.has_struck();
    EXPECT_EQ(has_ended, has_struck);
    sender.Kill();
    while (AskStore("SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'behind_proxy'") > 0) {
      std::this_thread::yield();
    }
    const absl::Status taken_over = survivor.Join();
    EXPECT_TRUE(taken_over.ok()) << "message " << message << ": " << taken_over;
    EXPECT_FALSE(Must(survivor.ledger().Begin(Request(0, name, 1))).newly_charged);
    ExpectCharged(survivor.ledger(), charged);
  }
  EXPECT_GT(message, kMessagesOfAGuess);
}

INSTANTIATE_TEST_SUITE_P(OnTheWire, WireGuesses, ::testing::Values("postgres"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
