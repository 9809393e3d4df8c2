#include "directory/directory_store.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::directory {

DirectoryStore::DirectoryStore(ledger::Ledger& ledger, Options options)
    : ledger_(ledger), options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<DirectoryStore>> DirectoryStore::Open(ledger::Ledger& ledger,
                                                                     Options options) {
  std::unique_ptr<DirectoryStore> store(new DirectoryStore(ledger, std::move(options)));
  RETURN_IF_ERROR(store->Refresh());
  // After a failure the directory grows old; Current() reports that.
  store->poller_.emplace(store->options_.between_polls,
                         [opened = store.get()] { opened->Refresh().IgnoreError(); });
  return store;
}

absl::StatusOr<DirectoryStore::Snapshot> DirectoryStore::Current() const {
  const std::scoped_lock lock(mutex_);
  RETURN_IF_ERROR(damage_);
  if (options_.now() - confirmed_ <= kMostAge) return current_;
  return absl::UnavailableError("the ledger does not answer, so callers cannot be authenticated: ask again");
}

absl::Status DirectoryStore::Refresh() {
  const std::scoped_lock lock(refreshing_);
  const Steady::time_point asked = options_.now();
  const absl::Status read = ReadNew();
  const std::scoped_lock current_lock(mutex_);
  if (read.ok()) confirmed_ = asked;
  if (read.ok() || absl::IsDataLoss(read)) damage_ = read;
  return read;
}

absl::Status DirectoryStore::ReadNew() {
  ASSIGN_OR_RETURN(const ledger::EntryPlace newest, ledger_.ServerHead());
  if (newest.seq == head_.seq && newest.hash == head_.hash) return absl::OkStatus();
  Snapshot before;
  {
    const std::scoped_lock lock(mutex_);
    before = current_;
  }
  Directory directory = *before;
  ledger::ChainHead head = head_;
  while (head.seq < newest.seq) {
    ASSIGN_OR_RETURN(const std::vector<ledger::Entry> entries,
                     ledger_.ListServerEntries({.after_seq = head.seq}));
    if (entries.empty()) return absl::DataLossError("the history of the server has lost entries");
    for (const ledger::Entry& entry : entries) {
      const std::vector<std::string> findings = BrokenLinks(head, entry);
      if (!findings.empty()) return absl::DataLossError(findings.front());
      RETURN_IF_ERROR(directory.Apply(entry));
      head = {entry.seq, entry.hash};
    }
  }
  Publish(std::move(directory), std::move(head));
  return absl::OkStatus();
}

void DirectoryStore::Publish(Directory directory, ledger::ChainHead head) {
  const Snapshot published = std::make_shared<const Directory>(std::move(directory));
  head_ = std::move(head);
  const std::scoped_lock lock(mutex_);
  current_ = published;
}

absl::StatusOr<ledger::Entry> DirectoryStore::Make(const std::string& actor, const Decide& decide) {
  // Another server's change may come first each time; of those that race, one makes progress.
  constexpr int kMostRaces = 20;
  const std::scoped_lock lock(making_);
  absl::Status raced;
  for (int race = 0; race < kMostRaces; ++race) {
    RETURN_IF_ERROR(Refresh());
    ASSIGN_OR_RETURN(const Snapshot directory, Current());
    ASSIGN_OR_RETURN(const Change change, decide(*directory));
    absl::StatusOr<ledger::Entry> appended = ledger_.AppendServerEntry({.after_seq = directory->seq(),
                                                                        .kind = std::string(KindOf(change)),
                                                                        .payload = EncodeChange(change),
                                                                        .actor = actor});
    if (absl::IsAborted(appended.status())) {
      raced = appended.status();
      continue;
    }
    RETURN_IF_ERROR(appended.status());
    RETURN_IF_ERROR(Refresh());
    return appended;
  }
  return raced;
}

}  // namespace curator::directory
