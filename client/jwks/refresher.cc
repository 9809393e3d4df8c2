#include "client/jwks/refresher.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "auth/key_set.h"
#include "auth/strict_json.h"
#include "base/status_macros.h"

namespace curator::jwks {
namespace {

using nlohmann::json;

constexpr size_t kMostBytesOfAlias = 32;
constexpr size_t kMostBytesOfSocket = 107;  // what the kernel takes
// After a fetch that failed.
constexpr absl::Duration kAfterFailure = absl::Minutes(1);

absl::Status Wrong(std::string_view member, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(member), ": ", std::string(what)));
}

bool IsHttps(const std::string& url) {
  return url.starts_with("https://");
}

// The text of a member that must be one; empty when it may be missing and is.
absl::StatusOr<std::string> TextOf(const json& object, const char* member, bool is_required,
                                   const std::string& path) {
  const auto found = object.find(member);
  if (found == object.end() && !is_required) return std::string();
  const bool is_text = found != object.end() && found->is_string() && !found->get<std::string>().empty();
  if (is_text) return found->get<std::string>();
  return Wrong(path + member, "must be a text that is not empty");
}

absl::Status CheckMembers(const json& object, const std::set<std::string>& known, const std::string& path) {
  if (!object.is_object()) return Wrong(path.empty() ? "the settings" : path, "must be an object");
  for (const auto& [name, value] : object.items()) {
    if (known.count(name) == 0) return Wrong(path + name, "is unknown");
  }
  return absl::OkStatus();
}

absl::StatusOr<FetchedIssuer> IssuerOf(const json& object, const std::string& path) {
  RETURN_IF_ERROR(CheckMembers(object, {"alias", "issuer", "jwks_uri"}, path));
  FetchedIssuer issuer;
  ASSIGN_OR_RETURN(issuer.alias, TextOf(object, "alias", true, path));
  ASSIGN_OR_RETURN(issuer.issuer, TextOf(object, "issuer", true, path));
  ASSIGN_OR_RETURN(issuer.jwks_uri, TextOf(object, "jwks_uri", false, path));
  // It names a file, and the server sends it in a datagram.
  const bool is_name =
      issuer.alias.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (!is_name || issuer.alias.size() > kMostBytesOfAlias) {
    return Wrong(path + "alias", "must have at most 32 characters of a-z, 0-9 and \"-\"");
  }
  if (!IsHttps(issuer.issuer)) return Wrong(path + "issuer", "must begin with https://");
  if (!issuer.jwks_uri.empty() && !IsHttps(issuer.jwks_uri)) {
    return Wrong(path + "jwks_uri", "must begin with https://");
  }
  return issuer;
}

}  // namespace

absl::StatusOr<Settings> ParseSettings(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, auth::ParseStrictJson(text));
  RETURN_IF_ERROR(
      CheckMembers(document, {"folder", "wake_socket", "authorities", "refresh_seconds", "issuers"}, ""));
  Settings settings;
  ASSIGN_OR_RETURN(settings.folder, TextOf(document, "folder", true, ""));
  ASSIGN_OR_RETURN(settings.wake_socket, TextOf(document, "wake_socket", false, ""));
  if (settings.wake_socket.size() > kMostBytesOfSocket) {
    return Wrong("wake_socket", "must be a path of at most 107 bytes");
  }
  ASSIGN_OR_RETURN(settings.authorities, TextOf(document, "authorities", false, ""));
  if (const auto refresh = document.find("refresh_seconds"); refresh != document.end()) {
    if (!refresh->is_number_integer() || *refresh < 1 || *refresh > 43'200) {
      return Wrong("refresh_seconds", "must be an integer from 1 to 43200");
    }
    settings.refresh = absl::Seconds(refresh->get<int64_t>());
  }
  const auto issuers = document.find("issuers");
  if (issuers == document.end() || !issuers->is_array() || issuers->empty()) {
    return Wrong("issuers", "must be an array of at least one issuer");
  }
  std::set<std::string> aliases;
  for (size_t i = 0; i < issuers->size(); ++i) {
    const std::string path = absl::StrCat("issuers[", i, "].");
    ASSIGN_OR_RETURN(FetchedIssuer issuer, IssuerOf((*issuers)[i], path));
    if (!aliases.insert(issuer.alias).second) return Wrong(path + "alias", "is another issuer's, too");
    settings.issuers.push_back(std::move(issuer));
  }
  return settings;
}

Refresher::Refresher(Settings settings, Parts parts)
    : settings_(std::move(settings)), parts_(std::move(parts)) {
  for (const FetchedIssuer& issuer : settings_.issuers) states_[issuer.alias];
}

absl::Time Refresher::Run() {
  absl::Time next = absl::InfiniteFuture();
  for (const FetchedIssuer& issuer : settings_.issuers) {
    State& state = states_.find(issuer.alias)->second;
    if (parts_.now() >= state.next) {
      state.last_fetch = parts_.now();
      const absl::Status refreshed = Refresh(issuer);
      parts_.report(issuer.alias, refreshed);
      state.next =
          parts_.now() + (refreshed.ok() ? settings_.refresh : std::min(settings_.refresh, kAfterFailure));
    }
    next = std::min(next, state.next);
  }
  return next;
}

void Refresher::Ask(std::string_view alias) {
  const auto found = states_.find(alias);
  if (found == states_.end()) return;
  found->second.next = std::min(found->second.next, found->second.last_fetch + kCoolDown);
}

absl::StatusOr<std::string> Refresher::KeysUri(const FetchedIssuer& issuer) {
  if (!issuer.jwks_uri.empty()) return issuer.jwks_uri;
  const bool has_slash = issuer.issuer.ends_with('/');
  ASSIGN_OR_RETURN(const std::string text, parts_.fetch(absl::StrCat(issuer.issuer, has_slash ? "" : "/",
                                                                     ".well-known/openid-configuration")));
  ASSIGN_OR_RETURN(const json document, auth::ParseStrictJson(text));
  // Else any issuer of one host could name the keys of another.
  if (!document.is_object() || document.value("issuer", json()) != issuer.issuer) {
    return absl::InvalidArgumentError("its discovery document is of another issuer");
  }
  return TextOf(document, "jwks_uri", true, "its discovery document: ");
}

absl::Status Refresher::Refresh(const FetchedIssuer& issuer) {
  ASSIGN_OR_RETURN(const std::string uri, KeysUri(issuer));
  ASSIGN_OR_RETURN(const std::string text, parts_.fetch(uri));
  // What the server would not use is not written over what it uses.
  RETURN_IF_ERROR(auth::KeySet::Parse(text).status());
  ASSIGN_OR_RETURN(const json document, auth::ParseStrictJson(text));
  const json file = {
      {"issuer", issuer.issuer},
      {"fetched_at", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", parts_.now(), absl::UTCTimeZone())},
      {"keys", document.at("keys")}};
  return Write(issuer, file.dump(1));
}

absl::Status Refresher::Write(const FetchedIssuer& issuer, std::string_view content) const {
  const std::string path = absl::StrCat(settings_.folder, "/", issuer.alias, ".json");
  const std::string new_path = path + ".new";
  const int file = open(new_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return absl::UnavailableError(absl::StrCat(new_path, " cannot be written"));
  const bool is_written =
      write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()) && fsync(file) == 0;
  close(file);
  if (is_written && rename(new_path.c_str(), path.c_str()) == 0) return absl::OkStatus();
  unlink(new_path.c_str());
  return absl::UnavailableError(absl::StrCat(path, " cannot be written"));
}

}  // namespace curator::jwks
