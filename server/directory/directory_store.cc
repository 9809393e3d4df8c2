#include "directory/directory_store.h"

#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::directory {
namespace {

// Before anything is believed of what the entries after `head` say.
absl::Status CheckLinks(ledger::ChainHead head, const std::vector<ledger::Entry>& entries) {
  for (const ledger::Entry& entry : entries) {
    const std::vector<std::string> findings = BrokenLinks(head, entry);
    if (!findings.empty()) return absl::DataLossError(findings.front());
    head = {entry.seq, entry.hash};
  }
  return absl::OkStatus();
}

}  // namespace

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
  has_read_ = has_read_ || read.ok();
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
    RETURN_IF_ERROR(CheckLinks(head, entries));
    RETURN_IF_ERROR(ForgetNames(entries));
    ASSIGN_OR_RETURN(const Directory::NameOf name_of, NamesIn(entries));
    for (const ledger::Entry& entry : entries) {
      RETURN_IF_ERROR(directory.Apply(entry, name_of));
      head = {entry.seq, entry.hash};
    }
  }
  Publish(std::move(directory), std::move(head));
  return absl::OkStatus();
}

absl::Status DirectoryStore::ForgetNames(const std::vector<ledger::Entry>& entries) {
  std::vector<std::string> pseudonyms;
  for (const ledger::Entry& entry : entries) {
    if (entry.kind != PrincipalForgotten::kKind) continue;
    ASSIGN_OR_RETURN(const Change change, ParseChange(entry.kind, entry.payload));
    pseudonyms.push_back(std::get<PrincipalForgotten>(change).pseudonym);
  }
  if (pseudonyms.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ledger_.NamesOf(pseudonyms));
  for (size_t i = 0; i < pseudonyms.size(); ++i) {
    // A server that starts knows no name, and asks before it writes. Any other may have it in a cache.
    const bool may_be_known = head_.seq > 0 || names.at(i) != pseudonyms[i];
    if (may_be_known) RETURN_IF_ERROR(ForgetName(pseudonyms[i]));
  }
  return absl::OkStatus();
}

absl::Status DirectoryStore::ForgetName(const std::string& pseudonym) {
  RETURN_IF_ERROR(ledger_.ForgetName(pseudonym));
  if (options_.on_forgotten) options_.on_forgotten();
  return absl::OkStatus();
}

absl::StatusOr<Directory::NameOf> DirectoryStore::NamesIn(const std::vector<ledger::Entry>& entries) {
  std::set<std::string> stored;
  for (const ledger::Entry& entry : entries) {
    stored.insert(entry.actor);
    absl::StatusOr<Change> change = ParseChange(entry.kind, entry.payload);
    // What is no change is found when it is applied.
    if (change.ok()) VisitNames(*change, [&](std::string& name) { stored.insert(name); });
  }
  const std::vector<std::string> asked(stored.begin(), stored.end());
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ledger_.NamesOf(asked));
  std::map<std::string, std::string> name_of;
  for (size_t i = 0; i < asked.size(); ++i) name_of[asked[i]] = names.at(i);
  return [name_of = std::move(name_of)](const std::string& each) { return name_of.at(each); };
}

absl::StatusOr<std::string> DirectoryStore::PseudonymOf(const std::string& name, const Directory& directory) {
  ASSIGN_OR_RETURN(std::string pseudonym, ledger_.PseudonymOf(name));
  if (!directory.IsForgotten(pseudonym)) return pseudonym;
  // The table was restored. With this pseudonym the name's new principal would have the former one's rights.
  RETURN_IF_ERROR(ForgetName(pseudonym));
  ASSIGN_OR_RETURN(pseudonym, ledger_.PseudonymOf(name));
  if (!directory.IsForgotten(pseudonym)) return pseudonym;
  return absl::InternalError("a name that was forgotten is back again: ask again");
}

absl::StatusOr<std::string> DirectoryStore::EncodeStored(Change change, const Directory& directory) {
  absl::Status made;
  VisitNames(change, [&](std::string& name) {
    absl::StatusOr<std::string> pseudonym = PseudonymOf(name, directory);
    if (made.ok()) made = pseudonym.status();
    if (pseudonym.ok()) name = *std::move(pseudonym);
  });
  RETURN_IF_ERROR(made);
  return EncodeChange(change);
}

void DirectoryStore::Publish(Directory directory, ledger::ChainHead head) {
  const Snapshot published = std::make_shared<const Directory>(std::move(directory));
  const Custody custody = published->custody();
  // What the history says at the start, this server replaces by what its own configuration says.
  bool is_news = has_read_ && custody != options_.custody;
  head_ = std::move(head);
  {
    const std::scoped_lock lock(mutex_);
    is_news = is_news && current_->custody() != custody;
    current_ = published;
  }
  if (is_news && options_.on_other_custody) options_.on_other_custody(custody);
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
    ASSIGN_OR_RETURN(const std::string payload, EncodeStored(change, *directory));
    absl::StatusOr<ledger::Entry> appended = ledger_.AppendServerEntry({.after_seq = directory->seq(),
                                                                        .kind = std::string(KindOf(change)),
                                                                        .payload = payload,
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
