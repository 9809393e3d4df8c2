#include "bench/requests/history.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "base/testing/names.h"
#include "bench/requests/calls.h"
#include "client/request_id.h"
#include "host/entropy.h"
#include "ledger/open_ledger.h"

namespace curator::bench {
namespace {

// As many as share a commit well.
constexpr int kThreads = 128;

ledger::ChargeRequest RequestLike(const ledger::Charge& pattern) {
  return {.dataset_id = pattern.dataset_id,
          .dataset_version = pattern.dataset_version,
          .principal = TestPrincipal(pattern.principal),
          .request_id = Must(client::NewRequestId()),
          .fingerprint = pattern.fingerprint,
          .draw_identity = pattern.draw_identity,
          .kind = pattern.kind,
          .event = pattern.event,
          .label = pattern.label,
          .sealed_key = std::string(60, 'k'),
          .postings = pattern.postings};
}

}  // namespace

void AddCharges(const std::string& url, const std::string& anchor, const std::string& pattern,
                int64_t charges) {
  const std::unique_ptr<ledger::Ledger> ledger =
      Must(ledger::OpenLedger({.url = url, .anchor_dir = anchor, .entropy = host::RandomBytes}));
  const ledger::Charge like = Must(ledger->GetCharge(pattern));
  std::atomic<int64_t> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int64_t number = next++; number < charges; number = next++) {
        const ledger::Attempt attempt = Must(ledger->Begin(RequestLike(like)));
        Must(ledger->Forfeit(attempt, "made for a long history"));
        if (number % 20'000 == 0)
          std::fprintf(stderr, "%lld charges added\n", static_cast<long long>(number));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace curator::bench
