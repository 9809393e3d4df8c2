#include "client/gate/settings.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "auth/strict_json.h"
#include "base/status_macros.h"

namespace curator::gate {
namespace {

using nlohmann::json;

absl::Status Wrong(std::string_view member, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(member), ": ", std::string(what)));
}

absl::Status CheckMembers(const json& object, std::initializer_list<std::string_view> known,
                          const std::string& path) {
  if (!object.is_object()) {
    return Wrong(path.empty() ? "the configuration" : path.substr(0, path.size() - 1), "must be an object");
  }
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) == known.end()) return Wrong(path + name, "is unknown");
  }
  return absl::OkStatus();
}

// Sets `text` where the member is there; it must be there unless `text` has a value for when it is not.
absl::Status Read(const json& object, const char* member, const std::string& path, bool is_required,
                  std::string& text) {
  const auto found = object.find(member);
  if (found == object.end() && !is_required) return absl::OkStatus();
  if (found == object.end() || !found->is_string() || found->get<std::string>().empty()) {
    return Wrong(path + member, "must be a text that is not empty");
  }
  text = found->get<std::string>();
  return absl::OkStatus();
}

bool IsHttps(std::string_view url) {
  return absl::StartsWith(absl::string_view(url.data(), url.size()), "https://");
}

bool IsAlias(const std::string& alias) {
  constexpr size_t kMostBytes = 32;
  return alias.size() <= kMostBytes &&
         alias.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

absl::StatusOr<ProviderSettings> ProviderOf(const json& object, const std::string& path) {
  RETURN_IF_ERROR(CheckMembers(
      object, {"alias", "issuer", "client_id", "client_secret_file", "scope", "authorities"}, path));
  ProviderSettings provider;
  RETURN_IF_ERROR(Read(object, "alias", path, true, provider.alias));
  RETURN_IF_ERROR(Read(object, "issuer", path, true, provider.issuer));
  RETURN_IF_ERROR(Read(object, "client_id", path, true, provider.client_id));
  RETURN_IF_ERROR(Read(object, "client_secret_file", path, false, provider.client_secret_file));
  RETURN_IF_ERROR(Read(object, "scope", path, false, provider.scope));
  RETURN_IF_ERROR(Read(object, "authorities", path, false, provider.authorities));
  if (!IsAlias(provider.alias)) {
    return Wrong(path + "alias", "must have at most 32 characters of a-z, 0-9 and \"-\"");
  }
  if (!IsHttps(provider.issuer)) return Wrong(path + "issuer", "must begin with https://");
  return provider;
}

absl::Status ReadLogins(const json& document, Settings& settings) {
  const auto logins = document.find("logins");
  if (logins == document.end()) return absl::OkStatus();
  if (!logins->is_array()) return Wrong("logins", "must be an array");
  std::set<std::string> aliases;
  for (size_t i = 0; i < logins->size(); ++i) {
    const std::string path = absl::StrCat("logins[", i, "].");
    ASSIGN_OR_RETURN(ProviderSettings provider, ProviderOf((*logins)[i], path));
    if (!aliases.insert(provider.alias).second) return Wrong(path + "alias", "is another one's, too");
    settings.logins.push_back(std::move(provider));
  }
  return absl::OkStatus();
}

bool IsOrigin(const std::string& origin) {
  constexpr std::string_view kScheme = "https://";
  if (!IsHttps(origin)) return false;
  const std::string host = origin.substr(kScheme.size());
  const size_t colon = host.find(':');
  const std::string port = colon == std::string::npos ? "1" : host.substr(colon + 1);
  int number = 0;
  return colon != 0 && !host.empty() && port != "443" && absl::SimpleAtoi(port, &number) && number > 0 &&
         port == absl::StrCat(number) &&
         host.substr(0, colon).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") ==
             std::string::npos;
}

bool IsSocket(const std::string& address) {
  return absl::StartsWith(address, "unix:/");
}

bool IsLoopback(const std::string& address) {
  constexpr absl::string_view kHost = "127.0.0.1:";
  int port = 0;
  return absl::StartsWith(address, kHost) && absl::SimpleAtoi(address.substr(kHost.size()), &port) &&
         port > 0 && port <= 65'535;
}

}  // namespace

absl::StatusOr<Settings> ParseSettings(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, auth::ParseStrictJson(text));
  RETURN_IF_ERROR(CheckMembers(document, {"listen", "origin", "server", "metrics_listen", "logins"}, ""));
  Settings settings;
  RETURN_IF_ERROR(Read(document, "listen", "", true, settings.listen));
  RETURN_IF_ERROR(Read(document, "origin", "", true, settings.origin));
  RETURN_IF_ERROR(Read(document, "server", "", true, settings.server));
  RETURN_IF_ERROR(Read(document, "metrics_listen", "", false, settings.metrics_listen));
  // Sessions' cookies would otherwise pass a network or other users' programs in the clear.
  if (!IsSocket(settings.listen))
    return Wrong("listen", "must be unix:/PATH, which a proxy passes requests to");
  if (!IsSocket(settings.server)) return Wrong("server", "must be unix:/PATH, the server's local listener");
  if (!settings.metrics_listen.empty() && !IsSocket(settings.metrics_listen) &&
      !IsLoopback(settings.metrics_listen)) {
    return Wrong("metrics_listen", "must be unix:/PATH or 127.0.0.1:PORT");
  }
  if (!IsOrigin(settings.origin)) {
    return Wrong(
        "origin",
        "must be https://HOST or https://HOST:PORT as browsers write it: lower case, no path, not :443");
  }
  RETURN_IF_ERROR(ReadLogins(document, settings));
  return settings;
}

}  // namespace curator::gate
