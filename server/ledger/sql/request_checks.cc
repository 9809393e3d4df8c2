#include "ledger/sql/request_checks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace curator::ledger::sql {
namespace {

constexpr size_t kMostTextBytes = 1000;
constexpr size_t kMostDocumentBytes = size_t{16} << 20;
constexpr size_t kMostMembers = 1000;
constexpr size_t kMostParts = 1000;
constexpr size_t kMostPartBins = 10'000;

// Counters are words because anchors and messages separate them by blanks.
bool IsCounterName(std::string_view name) {
  constexpr size_t kMostBytes = 64;
  return !name.empty() && name.size() <= kMostBytes && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

absl::Status CheckDocument(std::string_view field, std::string_view bytes) {
  if (bytes.size() <= kMostDocumentBytes) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("is ", bytes.size(), " bytes long; at most ", kMostDocumentBytes));
}

absl::Status CheckAccountSpec(const AccountSpec& account) {
  RETURN_IF_ERROR(CheckOptionalText("scope_key", account.scope_key));
  if ((account.scope_type == ScopeType::kDataset) != account.scope_key.empty()) {
    return InvalidField(
        "scope_key",
        "must be empty for the dataset itself, and otherwise name the analyst, the group or the part");
  }
  RETURN_IF_ERROR(CheckText("rule_name", account.rule_name));
  RETURN_IF_ERROR(CheckDocument("rule", account.rule));
  if (account.limits.empty()) return InvalidField("limits", "an account needs at least one counter");
  std::set<std::string> counters;
  for (const CounterLimit& limit : account.limits) {
    if (!IsCounterName(limit.counter)) {
      return InvalidField("counter", "is a word of at most 64 letters, digits, '_', '-' and '.'");
    }
    if (limit.limit < 0) return InvalidField("limit", "is negative");
    if (!counters.insert(limit.counter).second)
      return InvalidField("counter", "appears twice in one account");
  }
  return absl::OkStatus();
}

absl::Status CheckPartSpec(const PartSpec& part) {
  if (part.account.scope_type != ScopeType::kPart || !part.account.members.empty()) {
    return InvalidField("account.scope_type", "a part has an account of its own scope, without members");
  }
  if (const absl::Status status = CheckAccountSpec(part.account); !status.ok()) {
    return WithinField("account", status);
  }
  if (part.bins.empty()) return InvalidField("bins", "is empty: a part holds at least one bin");
  if (part.bins.size() > kMostPartBins) {
    return InvalidField("bins", absl::StrCat("has more than ", kMostPartBins, " bins"));
  }
  for (size_t i = 0; i < part.bins.size(); ++i) {
    if (part.bins[i] < 0 || (i > 0 && part.bins[i - 1] >= part.bins[i])) {
      return InvalidField("bins", "must be bin numbers in ascending order, each once");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckParts(const DatasetSpec& spec) {
  if (spec.partition_attribute.empty() && !spec.parts.empty()) {
    return InvalidField("parts", "only a partitioned dataset has parts");
  }
  if (spec.partition_attribute.empty()) return absl::OkStatus();
  if (spec.is_public || !spec.successor_of.empty()) {
    return InvalidField("partition_attribute",
                        "a public dataset has no accounts, and a successor has those of its predecessor: "
                        "neither is partitioned");
  }
  if (spec.parts.empty()) return InvalidField("parts", "a partitioned dataset needs at least one part");
  for (size_t i = 0; i < spec.parts.size(); ++i) {
    const absl::Status status = CheckPartSpec(spec.parts[i]);
    if (!status.ok()) return WithinField(absl::StrCat("parts[", i, "]"), status);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPartCount(size_t parts) {
  if (parts <= kMostParts) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("a dataset has at most ", kMostParts, " parts"));
}

absl::Status CheckNewPart(const NewPart& part) {
  RETURN_IF_ERROR(CheckText("request_id", part.request_id));
  RETURN_IF_ERROR(CheckText("dataset_id", part.dataset_id));
  RETURN_IF_ERROR(CheckText("actor", part.actor.name()));
  return CheckPartSpec(part.part);
}

absl::Status CheckOptionalText(std::string_view field, std::string_view text) {
  if (text.size() > kMostTextBytes) {
    return InvalidField(field, absl::StrCat("is ", text.size(), " bytes long; at most ", kMostTextBytes));
  }
  if (!IsUtf8(text) || text.find('\0') != std::string_view::npos)
    return InvalidField(field, "is not UTF-8 text without zero bytes");
  return absl::OkStatus();
}

absl::Status CheckText(std::string_view field, std::string_view text) {
  if (text.empty()) return InvalidField(field, "is empty");
  return CheckOptionalText(field, text);
}

absl::Status CheckFileHash(std::string_view hash) {
  constexpr size_t kMostHashBytes = 64;
  if (!hash.empty() && hash.size() <= kMostHashBytes) return absl::OkStatus();
  return InvalidField("file_hash", absl::StrCat("must have 1 to ", kMostHashBytes, " bytes"));
}

absl::Status CheckDatasetSpec(const DatasetSpec& spec) {
  RETURN_IF_ERROR(CheckText("request_id", spec.request_id));
  RETURN_IF_ERROR(CheckText("name", spec.name));
  RETURN_IF_ERROR(CheckText("owner", spec.owner.name()));
  RETURN_IF_ERROR(CheckDocument("schema", spec.schema));
  RETURN_IF_ERROR(CheckDocument("schema_hash", spec.schema_hash));
  RETURN_IF_ERROR(CheckText("neighbour_relation", spec.neighbour_relation));
  RETURN_IF_ERROR(CheckText("privacy_unit", spec.privacy_unit));
  RETURN_IF_ERROR(CheckOptionalText("partition_attribute", spec.partition_attribute));
  RETURN_IF_ERROR(CheckOptionalText("successor_of", spec.successor_of));
  if (spec.max_records_per_unit < 1) return InvalidField("max_records_per_unit", "is less than 1");
  RETURN_IF_ERROR(CheckParts(spec));
  if (spec.looks.size() > kMostLooks)
    return InvalidField("looks", absl::StrCat("are more than ", kMostLooks));
  for (size_t i = 0; i < spec.looks.size(); ++i) {
    const absl::Status status = CheckFileHash(spec.looks[i].file_hash);
    if (!status.ok()) return WithinField(absl::StrCat("looks[", i, "]"), status);
  }
  const bool has_own_accounts =
      !spec.is_public && spec.successor_of.empty() && spec.partition_attribute.empty();
  if (has_own_accounts == spec.accounts.empty()) {
    return InvalidField("accounts", has_own_accounts
                                        ? "a private dataset needs at least one account"
                                        : "a public dataset has none, a successor shares those of "
                                          "its predecessor, and a partitioned one has those of its parts");
  }
  std::set<std::pair<ScopeType, std::string>> scopes;
  for (size_t i = 0; i < spec.accounts.size(); ++i) {
    const std::string field = absl::StrCat("accounts[", i, "]");
    const absl::Status status = CheckAccountSpec(spec.accounts[i]);
    if (!status.ok()) return WithinField(field, status);
    if (spec.accounts[i].scope_type == ScopeType::kPart) {
      return InvalidField(field, "the account of a part is opened with its part");
    }
    if (spec.accounts[i].scope_type == ScopeType::kAnalystGroup || !spec.accounts[i].members.empty()) {
      return InvalidField(field, "a group's account is opened after its dataset is created");
    }
    if (!scopes.emplace(spec.accounts[i].scope_type, spec.accounts[i].scope_key).second) {
      return InvalidField(field, "is the second account of the same scope");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNewAccount(const NewAccount& account) {
  RETURN_IF_ERROR(CheckText("request_id", account.request_id));
  RETURN_IF_ERROR(CheckText("dataset_id", account.dataset_id));
  RETURN_IF_ERROR(CheckText("actor", account.actor.name()));
  const AccountSpec& spec = account.account;
  if (spec.scope_type != ScopeType::kAnalyst && spec.scope_type != ScopeType::kAnalystGroup) {
    return InvalidField("scope_type", "only accounts of analysts and analyst groups can be opened later");
  }
  RETURN_IF_ERROR(CheckAccountSpec(spec));
  if ((spec.scope_type == ScopeType::kAnalystGroup) == spec.members.empty()) {
    return InvalidField("members", "a group has at least one member, and an analyst has none");
  }
  if (spec.members.size() > kMostMembers) {
    return InvalidField("members", absl::StrCat("has more than ", kMostMembers, " members"));
  }
  for (size_t i = 0; i < spec.members.size(); ++i) {
    RETURN_IF_ERROR(CheckText(absl::StrCat("members[", i, "]"), spec.members[i]));
    if (i > 0 && spec.members[i - 1] >= spec.members[i]) {
      return InvalidField("members", "must be in ascending order, each once");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPostings(const std::vector<Posting>& postings) {
  std::set<std::pair<int64_t, std::string>> seen;
  for (size_t i = 0; i < postings.size(); ++i) {
    const std::string field = absl::StrCat("postings[", i, "]");
    if (postings[i].cost < 0) return InvalidField(absl::StrCat(field, ".cost"), "is negative");
    if (!IsCounterName(postings[i].counter))
      return InvalidField(absl::StrCat(field, ".counter"), "is not a counter name");
    if (!seen.emplace(postings[i].account_id, postings[i].counter).second) {
      return InvalidField(field, "names a counter that another posting names");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckChargeRequest(const ChargeRequest& request) {
  RETURN_IF_ERROR(CheckText("dataset_id", request.dataset_id));
  RETURN_IF_ERROR(CheckText("principal", request.principal.name()));
  RETURN_IF_ERROR(CheckText("request_id", request.request_id));
  RETURN_IF_ERROR(CheckText("kind", request.kind));
  RETURN_IF_ERROR(CheckOptionalText("label", request.label));
  if (request.fingerprint.empty()) return InvalidField("fingerprint", "is empty");
  RETURN_IF_ERROR(CheckDocument("fingerprint", request.fingerprint));
  RETURN_IF_ERROR(CheckDocument("draw_identity", request.draw_identity));
  RETURN_IF_ERROR(CheckDocument("event", request.event));
  RETURN_IF_ERROR(CheckDocument("sealed_key", request.sealed_key));
  return CheckPostings(request.postings);
}

absl::Status CheckPageLimit(int64_t limit) {
  constexpr int64_t kMostRows = 1000;
  return limit >= 1 && limit <= kMostRows ? absl::OkStatus()
                                          : InvalidField("page.limit", "is not within 1 and 1,000");
}

}  // namespace curator::ledger::sql
