#include "auth/issuer_keys.h"

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "auth/faults.h"
#include "auth/strict_json.h"
#include "base/status_macros.h"

namespace curator::auth {
namespace {

struct KeyFile {
  KeySet keys;
  absl::Time fetched_at;
};

absl::StatusOr<KeyFile> ParseKeyFile(const Issuer& issuer, const std::string& text) {
  ASSIGN_OR_RETURN(KeySet keys, KeySet::Parse(text));
  ASSIGN_OR_RETURN(const nlohmann::json document, ParseStrictJson(text));
  if (document.value("issuer", nlohmann::json()) != issuer.issuer) {
    return absl::InvalidArgumentError(absl::StrCat("\"issuer\" is not ", issuer.issuer));
  }
  const nlohmann::json fetched = document.value("fetched_at", nlohmann::json());
  absl::Time fetched_at;
  std::string fault;
  if (!fetched.is_string() ||
      !absl::ParseTime(absl::RFC3339_full, fetched.get<std::string>(), &fetched_at, &fault)) {
    return absl::InvalidArgumentError("\"fetched_at\" is no time such as 2026-11-25T12:00:00Z");
  }
  return KeyFile{std::move(keys), fetched_at};
}

}  // namespace

IssuerKeys::IssuerKeys(std::vector<Issuer> issuers, Options options) : options_(std::move(options)) {
  for (Issuer& issuer : issuers) {
    const std::string key = issuer.issuer;
    known_[key].issuer = std::move(issuer);
  }
  Look();
  watcher_.emplace(options_.between_looks, [this] { Look(); });
}

void IssuerKeys::Look() {
  const std::scoped_lock lock(looking_);
  for (auto& [issuer, known] : known_) {
    LookAt(known);
    ReportAge(known);
  }
}

void IssuerKeys::ReportAge(Known& known) {
  absl::Status age;
  {
    const std::scoped_lock lock(mutex_);
    age = CheckAge(known);
  }
  const bool is_news = !age.ok() && known.was_fresh;
  if (is_news) options_.report(known.issuer, absl::StrCat("its tokens are refused: ", age.message()), true);
  known.was_fresh = age.ok();
}

void IssuerKeys::LookAt(Known& known) {
  const std::string path = absl::StrCat(options_.folder, "/", known.issuer.alias, ".json");
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return;
  const FileTime time{.inode = found.st_ino,
                      .size = found.st_size,
                      .seconds = found.st_mtim.tv_sec,
                      .nanoseconds = found.st_mtim.tv_nsec};
  if (time == known.read) return;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  absl::StatusOr<KeyFile> parsed = ParseKeyFile(known.issuer, text);
  // Only now: when memory runs out, the next look reads the file again.
  known.read = time;
  if (!parsed.ok()) {
    options_.report(known.issuer,
                    absl::StrCat("its key file is not used: ", std::string(parsed.status().message())), true);
    return;
  }
  options_.report(known.issuer,
                  absl::StrCat(parsed->keys.size(), " keys, fetched at ",
                               absl::FormatTime(parsed->fetched_at, absl::UTCTimeZone()), ", ",
                               parsed->keys.left_out(), " others left out"),
                  false);
  const std::scoped_lock lock(mutex_);
  known.keys = std::make_shared<const KeySet>(std::move(parsed->keys));
  known.fetched_at = parsed->fetched_at;
}

absl::Status IssuerKeys::State() const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [issuer, known] : known_) RETURN_IF_ERROR(CheckAge(known));
  return absl::OkStatus();
}

const Issuer* IssuerKeys::Find(std::string_view issuer) const {
  const auto found = known_.find(issuer);
  return found == known_.end() ? nullptr : &found->second.issuer;
}

absl::Status IssuerKeys::CheckAge(const Known& known) const {
  if (known.keys == nullptr) {
    return CannotTell(absl::StrCat("no keys of the issuer ", known.issuer.alias, " have been fetched"));
  }
  // A time ahead of this server's clock is as wrong as one that is too old.
  const absl::Duration age = options_.now() - known.fetched_at;
  if (age <= kMostAge && age >= -kLeeway) return absl::OkStatus();
  return CannotTell(absl::StrCat("the keys of the issuer ", known.issuer.alias, " were fetched at ",
                                 absl::FormatTime(known.fetched_at, absl::UTCTimeZone()),
                                 ", and must be no older than 24 hours"));
}

absl::StatusOr<VerificationKey> IssuerKeys::FindKey(const Issuer& issuer, std::string_view kid) {
  bool wakes = false;
  absl::StatusOr<VerificationKey> key = NotAccepted(
      Fault::kInvalid, absl::StrCat("the issuer ", issuer.alias, " has no key with the id of a token"));
  {
    const std::scoped_lock lock(mutex_);
    Known& known = known_.find(issuer.issuer)->second;
    const absl::Status usable = CheckAge(known);
    const VerificationKey* const found = usable.ok() ? known.keys->Find(kid) : nullptr;
    if (found != nullptr) return *found;
    if (!usable.ok()) key = usable;
    const absl::Time now = options_.now();
    wakes = !known.woken_at.has_value() || now - *known.woken_at >= kBetweenWakes;
    if (wakes) known.woken_at = now;
  }
  if (wakes) options_.wake(issuer);
  return key;
}

std::map<std::string, absl::Time> IssuerKeys::FetchedAt() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, absl::Time> times;
  for (const auto& [name, known] : known_)
    times[known.issuer.alias] = known.keys == nullptr ? absl::InfinitePast() : known.fetched_at;
  return times;
}

absl::Status IssuerKeys::CheckHas(const Issuer& issuer, std::string_view thumbprint) const {
  const std::scoped_lock lock(mutex_);
  const Known& known = known_.find(issuer.issuer)->second;
  RETURN_IF_ERROR(CheckAge(known));
  if (known.keys->HasThumbprint(thumbprint)) return absl::OkStatus();
  return NotAccepted(Fault::kInvalid,
                     absl::StrCat("the issuer ", issuer.alias, " has withdrawn the key of a token"));
}

}  // namespace curator::auth
