// A ledger whose PostgreSQL server falls silent, is replaced, or whose rows a frozen server holds: nothing
// waits for ever, nothing is lost or doubled, and no lineage waits for another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "ledger/conformance/invariants.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/postgres/postgres_database.h"
#include "tests/testing/cutting_proxy.h"
#include "tests/testing/postgres_cluster.h"

namespace curator::ledger {
namespace {

using testing::CuttingProxy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PostgresCluster;
using Clock = std::chrono::steady_clock;

// How long a call may take although its server has vanished.
constexpr std::chrono::seconds kNoticed(15);

// Clients that charge, store and charge again until they are stopped.
class Load {
 public:
  // `request` makes the request of a client's n-th charge.
  Load(Ledger& ledger, int clients, std::function<ChargeRequest(const std::string& id)> request)
      : ledger_(ledger), request_(std::move(request)) {
    for (int client = 0; client < clients; ++client) {
      threads_.emplace_back([this, client] {
        for (int i = 0; !is_stopping_; ++i) Charge(absl::StrCat(client, "/", i));
      });
    }
  }
  ~Load() { Stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  void Stop() {
    is_stopping_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // Returns when so many charges more have been made.
  void AwaitCharges(int64_t more) const {
    const int64_t enough = made_ + more;
    while (made_ < enough) std::this_thread::yield();
  }
  int64_t made() const { return made_; }
  // The longest call, and whether any client was refused on the way.
  std::chrono::milliseconds longest() const { return std::chrono::milliseconds(longest_ms_); }
  std::vector<Acknowledged> acknowledged() {
    const std::scoped_lock lock(mutex_);
    return acknowledged_;
  }

 private:
  // The same request until it has its answer, as a client sends it.
  void Charge(const std::string& id) {
    const ChargeRequest request = request_(id);
    while (true) {
      const auto begin = Clock::now();
      const absl::StatusOr<Attempt> attempt = ledger_.Begin(request);
      Note(begin);
      if (!attempt.ok()) {
        EXPECT_EQ(attempt.status().code(), absl::StatusCode::kUnavailable) << attempt.status();
        continue;
      }
      if (attempt->charge.state == ChargeState::kCommitted) break;
      const auto middle = Clock::now();
      const absl::StatusOr<Release> release = ledger_.Store(*attempt, "answer");
      Note(middle);
      if (release.ok()) break;
      EXPECT_EQ(release.status().code(), absl::StatusCode::kUnavailable) << release.status();
    }
    const std::scoped_lock lock(mutex_);
    acknowledged_.push_back({request.principal.name(), id, ChargeState::kCommitted, "answer"});
    ++made_;
  }
  void Note(Clock::time_point begin) {
    const int64_t took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
    int64_t longest = longest_ms_;
    while (took > longest && !longest_ms_.compare_exchange_weak(longest, took)) {
    }
  }

  Ledger& ledger_;
  const std::function<ChargeRequest(const std::string& id)> request_;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<int64_t> made_ = 0;
  std::atomic<int64_t> longest_ms_ = 0;
  std::mutex mutex_;
  std::vector<Acknowledged> acknowledged_;
  std::vector<std::thread> threads_;
};

class SilentServer : public LedgerConformance {
 protected:
  std::string UrlThrough(const CuttingProxy& proxy) {
    const std::string address = absl::StrCat(":", PostgresCluster::Shared().port(), "/");
    return absl::StrCat(absl::StrReplaceAll(url(), {{address, absl::StrCat(":", proxy.port(), "/")}}),
                        "?sslmode=disable&gssencmode=disable");
  }
  // Charges of 1 on the dataset.
  static std::function<ChargeRequest(const std::string& id)> ChargesOn(const Dataset& dataset,
                                                                       int64_t account) {
    return [dataset, account](const std::string& id) {
      return RequestOf(dataset, absl::StrCat(dataset.name, " ", id), account, 1);
    };
  }
};

TEST_P(SilentServer, AHostThatVanishesUnderLoadIsNoticedAndNothingIsLostOrDoubled) {
  CuttingProxy proxy(PostgresCluster::Shared().port());
  auto ledger = Must(TryOpenCopy(UrlThrough(proxy)));
  const Dataset dataset = MakeDataset(*ledger, "census", 1'000'000);
  const int64_t account = FirstAccount(*ledger, dataset);
  Load load(*ledger, 8, [&](const std::string& id) { return RequestOf(dataset, id, account, 1); });
  load.AwaitCharges(50);
  proxy.Vanish();
  const auto vanished = Clock::now();
  EXPECT_TRUE(ledger->Health().ok()) << "it connects again";
  EXPECT_LT(Clock::now() - vanished, kNoticed);
  load.AwaitCharges(50);
  load.Stop();
  EXPECT_LT(load.longest(), kNoticed);
  EXPECT_EQ(BalanceOf(*ledger, dataset).spent, load.made());
  EXPECT_THAT(ViolationsIn(*ledger, *OpenStore(), load.acknowledged()), ElementsAre());
}

// The standby is synchronous, as OPERATING asks, so that the old primary has acknowledged nothing alone.
TEST_P(SilentServer, APrimaryThatIsReplacedUnderLoadLosesAndDoublesNothing) {
  auto primary = Must(PostgresCluster::Start());
  const std::string url = primary->CreateDatabase();
  Must(TryOpenCopy(url)).reset();
  auto standby = Must(primary->StartStandby());
  ASSERT_TRUE(primary->Execute("ALTER SYSTEM SET synchronous_standby_names = '*'").ok());
  ASSERT_TRUE(primary->Execute("SELECT pg_reload_conf()").ok());
  const std::string both =
      absl::StrReplaceAll(url, {{absl::StrCat(":", primary->port(), "/"),
                                 absl::StrCat(":", primary->port(), ",127.0.0.1:", standby->port(), "/")}});
  auto ledger = Must(TryOpenCopy(both));
  const Dataset dataset = MakeDataset(*ledger, "census", 1'000'000);
  const int64_t account = FirstAccount(*ledger, dataset);
  Load load(*ledger, 8, [&](const std::string& id) { return RequestOf(dataset, id, account, 1); });
  load.AwaitCharges(50);
  primary->Crash();
  ASSERT_TRUE(standby->Promote().ok());
  load.AwaitCharges(50);
  load.Stop();
  EXPECT_LT(load.longest(), kNoticed);
  EXPECT_EQ(BalanceOf(*ledger, dataset).spent, load.made());
  EXPECT_THAT(ViolationsIn(*ledger, *OpenStoreOf(both), load.acknowledged()), ElementsAre());
}

TEST_P(SilentServer, ALineageWhoseRowAFrozenServerHoldsDelaysNoOther) {
  auto ledger = Open();
  const Dataset frozen = MakeDataset(*ledger, "frozen", 1'000'000);
  const Dataset other = MakeDataset(*ledger, "other", 1'000'000);
  const int64_t frozen_account = FirstAccount(*ledger, frozen);
  const int64_t other_account = FirstAccount(*ledger, other);
  const ChargeRequest started = RequestOf(frozen, "started", frozen_account, 1);
  Must(ledger->Begin(started));
  Must(ledger->Begin(started));  // from now on its principal is known to repeat requests
  // More clients than there are connections, in both steps of a request.
  Load load_on_frozen(*ledger, 24, ChargesOn(frozen, frozen_account));
  load_on_frozen.AwaitCharges(50);
  const auto peer = OpenStore();
  std::promise<void> thaw;
  std::promise<void> holds;
  std::thread server([&] {
    peer->Write([&](sql::Transaction& transaction) -> absl::Status {
      RETURN_IF_ERROR(
          transaction.Execute("SELECT seq FROM chain_heads WHERE dataset_id = $1 FOR UPDATE", {frozen.id})
              .status());
      holds.set_value();
      thaw.get_future().wait();
      return absl::AbortedError("it is thawed");
    });
  });
  holds.get_future().wait();
  // The ends of charges share the batch of the new charges, so one transaction waits for the row.
  const auto held = Clock::now();
  bool waits = false;
  while (!waits && Clock::now() - held < kNoticed) {
    waits = AskStore(
                "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
                "current_database()") > 0;
  }
  EXPECT_TRUE(waits) << "a batch on the frozen lineage";
  // A client that repeats a request whose draw is not done.
  std::vector<std::thread> repeating;
  for (int i = 0; i < 24; ++i) {
    repeating.emplace_back([&] {
      const absl::Status status = ledger->Begin(started).status();
      EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
    });
  }
  Load load_on_other(*ledger, 4, ChargesOn(other, other_account));
  load_on_other.AwaitCharges(200);
  load_on_other.Stop();
  EXPECT_LT(load_on_other.longest(), std::chrono::seconds(2)) << "and the row is locked for five at least";
  EXPECT_TRUE(ledger->Health().ok());
  for (std::thread& thread : repeating) thread.join();
  // The server cuts a peer that idles in its transaction, and the lineage goes on.
  load_on_frozen.AwaitCharges(1);
  thaw.set_value();
  server.join();
  load_on_frozen.Stop();
  EXPECT_LT(load_on_frozen.longest(), kNoticed);
  EXPECT_EQ(BalanceOf(*ledger, frozen).spent, load_on_frozen.made() + 1);
  EXPECT_EQ(BalanceOf(*ledger, other).spent, load_on_other.made());
  EXPECT_THAT(ViolationsIn(*ledger, *OpenStore()), ElementsAre());
}

// ---- Servers that are refused at start, in one line

class RefusedServer : public LedgerConformance {
 protected:
  static void ExpectRefused(const absl::StatusOr<std::unique_ptr<Ledger>>& opened, absl::StatusCode code,
                            const std::string& words) {
    EXPECT_EQ(opened.status().code(), code) << opened.status();
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr(words));
    EXPECT_THAT(std::string(opened.status().message()), Not(HasSubstr("\n")));
  }
};

TEST_P(RefusedServer, OneThatMayForgetOrThatIsAStandby) {
  auto cluster = Must(PostgresCluster::Start());
  const std::string url = cluster->CreateDatabase();
  Must(TryOpenCopy(url)).reset();
  for (const char* const setting : {"fsync = off", "full_page_writes = off", "synchronous_commit = off",
                                    "synchronous_commit = local", "synchronous_commit = remote_write"}) {
    ASSERT_TRUE(cluster->Execute(absl::StrCat("ALTER SYSTEM SET ", setting)).ok());
    ASSERT_TRUE(cluster->CrashAndRestart().ok());
    ExpectRefused(TryOpenCopy(url), absl::StatusCode::kFailedPrecondition, setting);
    ASSERT_TRUE(cluster->Execute("ALTER SYSTEM RESET ALL").ok());
  }
  ASSERT_TRUE(cluster->CrashAndRestart().ok());
  EXPECT_TRUE(TryOpenCopy(url).ok());
  const auto standby = Must(cluster->StartStandby());
  const std::string of_standby = absl::StrReplaceAll(
      url, {{absl::StrCat(":", cluster->port(), "/"), absl::StrCat(":", standby->port(), "/")}});
  ExpectRefused(TryOpenCopy(of_standby), absl::StatusCode::kUnavailable, "session is read-only");
  ExpectRefused(TryOpenCopy(absl::StrCat(of_standby, "?target_session_attrs=any")),
                absl::StatusCode::kUnavailable, "standby");
}

// Answers whatever it is asked in another protocol.
class WebServer {
 public:
  WebServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, any, size) != 0 || listen(listener_, 4) != 0 ||
        getsockname(listener_, any, &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int client = 0; (client = accept(listener_, nullptr, nullptr)) >= 0; close(client)) {
        constexpr std::string_view kAnswer = "HTTP/1.1 400 Bad Request\r\n\r\n";
        send(client, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
        shutdown(client, SHUT_WR);
        char byte = 0;
        while (read(client, &byte, 1) == 1) {
        }
      }
    });
  }
  ~WebServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  int port() const { return port_; }

 private:
  const int listener_;
  int port_ = 0;
  std::thread thread_;
};

TEST_P(RefusedServer, OneThatIsNotPostgresql) {
  const WebServer server;
  for (const char* const options : {"", "?sslmode=disable"}) {
    ExpectRefused(TryOpenCopy(absl::StrCat("postgresql://curator@127.0.0.1:", server.port(), "/x", options)),
                  absl::StatusCode::kUnavailable, "received");
  }
}

TEST_P(RefusedServer, OneWhoseRoleMayTooLittle) {
  Open().reset();
  ASSERT_TRUE(TryInStore("DO $$ BEGIN CREATE ROLE reader LOGIN IN ROLE curator_auditor; "
                         "EXCEPTION WHEN duplicate_object THEN NULL; END $$")
                  .ok());
  const std::string as_reader = absl::StrReplaceAll(url(), {{"postgres@", "reader@"}});
  ExpectRefused(TryOpenCopy(as_reader), absl::StatusCode::kFailedPrecondition,
                "lacks rights: DELETE open_charges, DELETE pseudonyms, DELETE quota_use, DELETE "
                "release_pieces, DELETE staged_releases, "
                "INSERT account_counters, INSERT account_members");
}

// It is accepted, because the role that migrates a small installation is also its server's.
TEST_P(RefusedServer, OneWhoseRoleMayTooMuchIsReported) {
  ASSERT_TRUE(TryInStore("DO $$ BEGIN CREATE ROLE server LOGIN IN ROLE curator_application; "
                         "EXCEPTION WHEN duplicate_object THEN NULL; END $$")
                  .ok());
  Open().reset();
  for (const auto& [role, finding] :
       {std::pair{"postgres", "the role postgres is a superuser"}, std::pair{"server", ""}}) {
    std::string reported;
    const std::string url_as = absl::StrReplaceAll(url(), {{"postgres@", absl::StrCat(role, "@")}});
    const auto opened = OpenLedger({.url = url_as,
                                    .anchor_dir = anchor_dir(),
                                    .entropy = SeededEntropy(NextSeed()),
                                    .report = [&](std::string_view event, std::string_view detail) {
                                      if (event == "role_may_too_much") reported = detail;
                                    }});
    EXPECT_TRUE(opened.ok()) << opened.status();
    EXPECT_THAT(reported, HasSubstr(finding));
    EXPECT_EQ(reported.empty(), std::string_view(finding).empty());
  }
}

// A COMMIT whose wait for the standby an administrator cancels is not known to be replicated.
TEST_P(RefusedServer, ACommitOfWhichTheServerWarnsHasAnUnknownOutcome) {
  auto cluster = Must(PostgresCluster::Start());
  const std::string url = cluster->CreateDatabase();
  ASSERT_TRUE(cluster->Execute("ALTER SYSTEM SET synchronous_standby_names = 'absent'").ok());
  const auto database = Must(postgres::OpenPostgresDatabase(url));
  ASSERT_TRUE(database
                  ->Write([](sql::Transaction& transaction) {
                    return transaction.ExecuteScript("CREATE TABLE t (x BIGINT)");
                  })
                  .status.ok());
  ASSERT_TRUE(cluster->Execute("SELECT pg_reload_conf()").ok());
  const auto observer = Must(postgres::OpenPostgresDatabase(url));
  auto outcome = std::async(std::launch::async, [&] {
    return database->Write([](sql::Transaction& transaction) {
      return transaction.Execute("INSERT INTO t VALUES ($1)", {int64_t{1}}).status();
    });
  });
  int64_t cancelled = 0;
  while (cancelled == 0) {
    const sql::Outcome read = observer->Read([&](sql::Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(const std::vector<sql::Row> rows,
                       transaction.Execute("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE "
                                           "wait_event = 'SyncRep'",
                                           {}));
      cancelled = static_cast<int64_t>(rows.size());
      return absl::OkStatus();
    });
    ASSERT_TRUE(read.status.ok()) << read.status;
  }
  EXPECT_EQ(outcome.get().ending, sql::Ending::kUnknown);
}

INSTANTIATE_TEST_SUITE_P(OnTheWire, SilentServer, ::testing::Values("postgres"),
                         [](const auto& test) { return test.param; });
INSTANTIATE_TEST_SUITE_P(OnTheWire, RefusedServer, ::testing::Values("postgres"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
