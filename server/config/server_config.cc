#include "config/server_config.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "auth/strict_json.h"
#include "base/errors.h"
#include "base/principal.h"
#include "base/status_macros.h"

namespace curator::config {
namespace {

using nlohmann::json;

// Reads the members of one object; Finish() refuses those that nobody asked for. The first error stays.
class Members {
 public:
  Members(const json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object_.is_object()) Refuse("", "must be an object");
  }

  void Text(const char* name, std::string& value) {
    const json* const member = Find(name);
    if (member == nullptr) return;
    if (!member->is_string() || member->get<std::string>().empty())
      return Refuse(name, "must be a text that is not empty");
    value = member->get<std::string>();
  }
  void RequiredText(const char* name, std::string& value) {
    Text(name, value);
    if (value.empty()) Refuse(name, "is missing");
  }
  void Integer(const char* name, int64_t least, int64_t most, int64_t& value) {
    const json* const member = Find(name);
    if (member == nullptr) return;
    const bool is_within = member->is_number_integer() && *member >= least && *member <= most;
    if (!is_within) return Refuse(name, absl::StrCat("must be an integer from ", least, " to ", most));
    value = member->get<int64_t>();
  }
  void Bool(const char* name, bool& value) {
    const json* const member = Find(name);
    if (member == nullptr) return;
    if (!member->is_boolean()) return Refuse(name, "must be true or false");
    value = member->get<bool>();
  }
  // One of these names.
  template <typename Value>
  void Choice(const char* name, const std::vector<std::pair<std::string, Value>>& choices, Value& value) {
    std::string text;
    Text(name, text);
    if (text.empty()) return;
    std::vector<std::string> names;
    for (const auto& [choice, meaning] : choices) {
      if (choice == text) {
        value = meaning;
        return;
      }
      names.push_back(absl::StrCat("\"", choice, "\""));
    }
    Refuse(name, absl::StrCat("must be ", absl::StrJoin(names, ", "), "; got \"", text, "\""));
  }
  void Texts(const char* name, std::vector<std::string>& values) {
    const json* const member = Find(name);
    if (member == nullptr) return;
    const auto is_text = [](const json& each) {
      return each.is_string() && !each.get<std::string>().empty();
    };
    if (!member->is_array() || member->empty() || !std::ranges::all_of(*member, is_text)) {
      return Refuse(name, "must be an array of at least one text");
    }
    values = member->get<std::vector<std::string>>();
  }
  // The member, to be read with other Members; null when it is missing.
  const json* Find(const char* name) {
    asked_.insert(name);
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  void Refuse(std::string_view name, std::string_view what) {
    if (status_.ok()) status_ = InvalidField(PathOf(name), what);
  }
  std::string PathOf(std::string_view name) const {
    if (name.empty()) return path_.empty() ? "the configuration" : path_;
    return absl::StrCat(path_, path_.empty() ? "" : ".", std::string(name));
  }
  absl::Status Finish() {
    for (const auto& [name, value] : object_.items()) {
      if (!object_.is_object() || asked_.count(name) > 0) continue;
      Refuse(name, absl::StrCat("is unknown; known here are ", absl::StrJoin(asked_, ", ")));
    }
    return status_;
  }

 private:
  const json& object_;
  const std::string path_;
  std::set<std::string> asked_;
  absl::Status status_;
};

bool IsUnixAddress(std::string_view address) {
  return address.starts_with("unix:/") && address.size() <= 100;  // what the kernel takes is 107 bytes
}

absl::Status CheckListener(const Listener& listener, Members& members) {
  if (listener.kind != ListenerKind::kMutualTls) {
    if (IsUnixAddress(listener.address)) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        members.PathOf("address"),
        ": must be a unix socket, such as unix:/run/curator/edge.sock: one request of a stranger ends any "
        "server of this system's gRPC (CVE-2023-1428), so this server speaks to the network behind haproxy "
        "(kind edge), or with required client certificates (kind mutual_tls)"));
  }
  if (listener.address.rfind(':') == std::string::npos || listener.address.starts_with("unix:")) {
    return InvalidField(members.PathOf("address"), "must be HOST:PORT, such as 10.0.0.5:7878");
  }
  return absl::OkStatus();
}

absl::StatusOr<Listener> ListenerOf(const json& object, std::string path) {
  Listener listener;
  Members members(object, std::move(path));
  std::string kind;
  members.RequiredText("kind", kind);
  members.Choice("kind",
                 std::vector<std::pair<std::string, ListenerKind>>{{"edge", ListenerKind::kEdge},
                                                                   {"local", ListenerKind::kLocal},
                                                                   {"mutual_tls", ListenerKind::kMutualTls}},
                 listener.kind);
  members.RequiredText("address", listener.address);
  if (listener.kind == ListenerKind::kEdge) {
    members.RequiredText("secret_file", listener.secret_file);
    members.Text("client_ca", listener.client_ca);
  }
  if (listener.kind == ListenerKind::kMutualTls) {
    members.RequiredText("tls_folder", listener.tls_folder);
    members.Integer("refresh_seconds", 1, 3600, listener.refresh_seconds);
  }
  RETURN_IF_ERROR(members.Finish());
  RETURN_IF_ERROR(CheckListener(listener, members));
  return listener;
}

bool IsAlias(std::string_view alias) {
  return alias.size() <= 32 && std::ranges::all_of(alias, [](char c) {
           return absl::ascii_islower(static_cast<unsigned char>(c)) ||
                  absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-';
         });
}

absl::StatusOr<IssuerConfig> IssuerOf(const json& object, std::string path) {
  IssuerConfig config;
  Members members(object, std::move(path));
  members.RequiredText("alias", config.issuer.alias);
  members.RequiredText("issuer", config.issuer.issuer);
  members.Texts("audiences", config.issuer.audiences);
  if (config.issuer.audiences.empty()) members.Refuse("audiences", "is missing");
  std::vector<std::string> algorithms;
  members.Texts("algorithms", algorithms);
  members.Choice("unknown",
                 std::vector<std::pair<std::string, UnknownIdentities>>{
                     {"refuse", UnknownIdentities::kRefuse}, {"register", UnknownIdentities::kRegister}},
                 config.unknown);
  members.Text("name_claim", config.name_claim);
  members.Text("client_id", config.client_id);
  members.Text("scope", config.scope);
  if (!algorithms.empty()) config.issuer.algorithms.clear();
  for (const std::string& name : algorithms) {
    const auth::Algorithm* const algorithm = auth::FindAlgorithm(name);
    if (algorithm == nullptr) {
      members.Refuse("algorithms",
                     absl::StrCat("must be of RS256, PS256, ES256 and EdDSA; got \"", name, "\""));
    } else {
      config.issuer.algorithms.push_back(*algorithm);
    }
  }
  const bool is_audience = std::ranges::count(config.issuer.audiences, config.client_id) > 0;
  if (!config.client_id.empty() && !is_audience) {
    members.Refuse(
        "client_id",
        "must be among the audiences: the ID token of a login is for the client that asked for it");
  }
  if (!IsAlias(config.issuer.alias)) members.Refuse("alias", "must be 1 to 32 of a-z, 0-9 and \"-\"");
  RETURN_IF_ERROR(members.Finish());
  return config;
}

absl::StatusOr<Limits> LimitsOf(const json& object) {
  constexpr int64_t kDay = 86'400;
  Limits limits;
  Members members(object, "limits");
  members.Integer("message_bytes", 1 << 20, 64 << 20, limits.message_bytes);
  // Above the 16 KiB of haproxy's buffer, so that its refusal comes first.
  members.Integer("metadata_bytes", 32'768, 1 << 20, limits.metadata_bytes);
  members.Integer("streams_per_connection", 1, 10'000, limits.streams_per_connection);
  members.Integer("connection_idle_seconds", 1, kDay, limits.connection_idle_seconds);
  members.Integer("connection_age_seconds", 1, kDay, limits.connection_age_seconds);
  members.Integer("connection_grace_seconds", 1, kDay, limits.connection_grace_seconds);
  members.Integer("keepalive_seconds", 10, kDay, limits.keepalive_seconds);
  members.Integer("keepalive_timeout_seconds", 1, kDay, limits.keepalive_timeout_seconds);
  RETURN_IF_ERROR(members.Finish());
  return limits;
}

void ReadQuotas(Members& members, Quotas& quotas) {
  constexpr int64_t kMost = 1'000'000;
  constexpr int64_t kMostBytes = int64_t{1} << 50;
  constexpr int64_t kMostSeconds = int64_t{1} << 40;
  members.Integer("calls_per_second", 1, kMost, quotas.calls_per_second);
  members.Integer("calls_after_a_pause", 1, kMost, quotas.calls_after_a_pause);
  members.Integer("concurrent_calls", 1, kMost, quotas.concurrent_calls);
  members.Integer("concurrent_imports", 1, kMost, quotas.concurrent_imports);
  members.Integer("watches", 1, kMost, quotas.watches);
  members.Integer("import_bytes_per_hour", 0, kMostBytes, quotas.import_bytes_per_hour);
  members.Integer("verifications_per_minute", 0, kMost, quotas.verifications_per_minute);
  members.Integer("synthesis_cpu_seconds_per_day", 0, kMostSeconds, quotas.synthesis_cpu_seconds_per_day);
  members.Integer("synthesis_memory_bytes", 0, kMostBytes, quotas.synthesis_memory_bytes);
}

// What "quotas" leaves out has its default; what the quotas of a principal leave out is as for all others.
absl::Status ReadAllQuotas(const json& object, ServerConfig& config) {
  Members members(object, "quotas");
  ReadQuotas(members, config.quotas);
  const json* const principals = members.Find("principals");
  RETURN_IF_ERROR(members.Finish());
  if (principals == nullptr) return absl::OkStatus();
  const std::string path = members.PathOf("principals");
  if (!principals->is_object())
    return InvalidField(path, "must be an object with a member for each principal");
  for (const auto& [name, quotas] : principals->items()) {
    if (!CheckPrincipalName(name).ok()) {
      return InvalidField(
          path, absl::StrCat("\"", name, "\" is no name of a principal, which is 1 to 128 letters, ",
                             "digits, or any of \"._@-\""));
    }
    Members own(quotas, absl::StrCat(path, ".", name));
    ReadQuotas(own, config.principal_quotas.emplace(name, config.quotas).first->second);
    RETURN_IF_ERROR(own.Finish());
  }
  return absl::OkStatus();
}

absl::StatusOr<AuditConfig> AuditOf(const json& object, std::string_view ledger) {
  // The store itself keeps the names of younger records (migrations/audit).
  constexpr int64_t kLeastDays = 31;
  constexpr int64_t kMostDays = 36'500;
  AuditConfig audit;
  Members members(object, "audit");
  members.Text("path", audit.path);
  if (!audit.path.empty() && !ledger.empty() && !ledger.starts_with("sqlite:")) {
    members.Refuse("path", "is for a ledger in SQLite: in PostgreSQL the audit is a table of its database");
  }
  members.Integer("name_days", kLeastDays, kMostDays, audit.name_days);
  RETURN_IF_ERROR(members.Finish());
  return audit;
}

// The items of an array, each read by `read`.
template <typename Item>
absl::StatusOr<std::vector<Item>> ItemsOf(const json* array, const std::string& path,
                                          absl::StatusOr<Item> (*read)(const json&, std::string)) {
  std::vector<Item> items;
  if (array == nullptr) return items;
  if (!array->is_array()) return InvalidField(path, "must be an array");
  for (size_t i = 0; i < array->size(); ++i) {
    ASSIGN_OR_RETURN(Item item, read((*array)[i], absl::StrCat(path, "[", i, "]")));
    items.push_back(std::move(item));
  }
  return items;
}

absl::StatusOr<std::chrono::seconds> MostLoginAgeIn(const json& object) {
  constexpr int64_t kMost = 86'400;
  Members members(object, "approvals");
  int64_t seconds = 0;
  members.Integer("max_login_age_seconds", 1, kMost, seconds);
  if (members.Find("max_login_age_seconds") == nullptr) members.Refuse("max_login_age_seconds", "is missing");
  RETURN_IF_ERROR(members.Finish());
  return std::chrono::seconds(seconds);
}

absl::StatusOr<MetricsConfig> MetricsOf(const json& object) {
  MetricsConfig metrics;
  Members members(object, "metrics");
  members.Text("file", metrics.file);
  members.Bool("per_analyst", metrics.per_analyst);
  RETURN_IF_ERROR(members.Finish());
  return metrics;
}

absl::Status CheckDifferent(const ServerConfig& config) {
  std::set<std::string> seen;
  for (size_t i = 0; i < config.listeners.size(); ++i) {
    if (seen.insert(config.listeners[i].address).second) continue;
    return InvalidField(absl::StrCat("listeners[", i, "].address"), "is another listener's already");
  }
  for (size_t i = 0; i < config.issuers.size(); ++i) {
    const auth::Issuer& issuer = config.issuers[i].issuer;
    const std::string path = absl::StrCat("issuers[", i, "].");
    if (!seen.insert("alias " + issuer.alias).second) {
      return InvalidField(path + "alias", "is another issuer's already");
    }
    if (!seen.insert("issuer " + issuer.issuer).second) {
      return InvalidField(path + "issuer", "is listed already");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServerConfig> ParseServerConfig(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, auth::ParseStrictJson(text));
  ServerConfig config;
  Members members(document, "");
  ASSIGN_OR_RETURN(config.listeners, ItemsOf<Listener>(members.Find("listeners"), "listeners", &ListenerOf));
  ASSIGN_OR_RETURN(config.issuers, ItemsOf<IssuerConfig>(members.Find("issuers"), "issuers", &IssuerOf));
  members.RequiredText("ledger", config.ledger);
  members.RequiredText("data_dir", config.data_dir);
  members.Text("anchor", config.anchor);
  members.Text("jwks_folder", config.jwks_folder);
  members.Text("jwks_wake_socket", config.jwks_wake_socket);
  if (const json* const limits = members.Find("limits"); limits != nullptr) {
    ASSIGN_OR_RETURN(config.limits, LimitsOf(*limits));
  }
  if (const json* const quotas = members.Find("quotas"); quotas != nullptr) {
    RETURN_IF_ERROR(ReadAllQuotas(*quotas, config));
  }
  if (const json* const audit = members.Find("audit"); audit != nullptr) {
    ASSIGN_OR_RETURN(config.audit, AuditOf(*audit, config.ledger));
  }
  if (const json* const metrics = members.Find("metrics"); metrics != nullptr) {
    ASSIGN_OR_RETURN(config.metrics, MetricsOf(*metrics));
  }
  members.Choice<LogLevel>(
      "log_level", {{"info", LogLevel::kInfo}, {"warning", LogLevel::kWarning}, {"error", LogLevel::kError}},
      config.log_level);
  members.Choice<Custody>("custody", {{"two_persons", Custody::kTwoPersons}, {"single", Custody::kSingle}},
                          config.custody);
  if (const json* const approvals = members.Find("approvals"); approvals != nullptr) {
    ASSIGN_OR_RETURN(config.most_login_age, MostLoginAgeIn(*approvals));
  }
  if (config.listeners.empty()) members.Refuse("listeners", "must have at least one listener");
  if (config.most_login_age && config.issuers.empty()) {
    members.Refuse("approvals", "needs issuers: nobody else says when a person logged in");
  }
  if (!config.issuers.empty() && config.jwks_folder.empty()) {
    members.Refuse("jwks_folder", "is missing: the issuers' keys are read from there");
  }
  RETURN_IF_ERROR(members.Finish());
  RETURN_IF_ERROR(CheckDifferent(config));
  return config;
}

absl::StatusOr<ServerConfig> ReadServerConfig(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("--config: ", path, " cannot be read"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const absl::StatusOr<ServerConfig> config = ParseServerConfig(text);
  if (config.ok()) return config;
  return absl::Status(config.status().code(),
                      absl::StrCat(path, ": ", std::string(config.status().message())));
}

}  // namespace curator::config
