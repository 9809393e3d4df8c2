#include "audit/name_removal.h"

#include <utility>

#include "absl/status/statusor.h"

namespace curator::audit {
namespace {

constexpr int64_t kMicrosecondsOfADay = int64_t{86'400} * 1'000'000;
constexpr int64_t kMostInATransaction = 500;
constexpr int kMostTransactionsInARound = 200;

}  // namespace

NameRemoval::NameRemoval(AuditStore& store, Options options)
    : store_(store), options_(std::move(options)), rounds_(options_.between_rounds, [this] { RunOnce(); }) {}

void NameRemoval::RunOnce() {
  const int64_t before_us = options_.now_us() - options_.days * kMicrosecondsOfADay;
  for (int i = 0; i < kMostTransactionsInARound; ++i) {
    const absl::StatusOr<int64_t> removed = store_.RemoveNames(before_us, kMostInATransaction);
    if (!removed.ok()) return options_.on_error(removed.status());
    if (*removed < kMostInATransaction) return;
  }
}

}  // namespace curator::audit
