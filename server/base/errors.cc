#include "base/errors.h"

#include <charconv>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace curator {
namespace {

constexpr char kFieldViolationUrl[] = "curator/field-violation";
constexpr char kFullAccountsUrl[] = "curator/full-accounts";
constexpr char kOverQuotaUrl[] = "curator/over-quota";
constexpr char kOverloadedUrl[] = "curator/overloaded";
constexpr char kDatasetReadOnlyUrl[] = "curator/dataset-read-only";
constexpr char kDatasetChangedUrl[] = "curator/dataset-changed";
constexpr char kRefusedByRuleUrl[] = "curator/refused-by-rule";
constexpr char kLoginTooOldUrl[] = "curator/login-too-old";
constexpr char kNeedsAcceptanceUrl[] = "curator/needs-acceptance";
constexpr char kDatasetUrl[] = "curator/dataset";
constexpr char kPublicErrorUrl[] = "curator/public-error";

// Payloads are lists of strings, each preceded by its length: "5:hello3:abc".
void AppendString(std::string& bytes, std::string_view value) {
  absl::StrAppend(&bytes, value.size(), ":");
  bytes.append(value);
}

std::string TakeString(std::string_view& bytes) {
  size_t length = 0;
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), length);
  const size_t start = static_cast<size_t>(end - bytes.data()) + 1;
  if (error != std::errc() || start > bytes.size() || length > bytes.size() - start) {
    bytes = {};
    return {};
  }
  std::string value(bytes.substr(start, length));
  bytes.remove_prefix(start + length);
  return value;
}

int64_t TakeInteger(std::string_view& bytes) {
  const std::string text = TakeString(bytes);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<std::string> PayloadOf(const absl::Status& status, const char* url) {
  const auto payload = status.GetPayload(url);
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

}  // namespace

absl::Status InvalidField(std::string_view field, std::string_view description) {
  absl::Status status =
      absl::InvalidArgumentError(absl::StrCat(std::string(field), ": ", std::string(description)));
  std::string bytes;
  AppendString(bytes, field);
  AppendString(bytes, description);
  status.SetPayload(kFieldViolationUrl, absl::Cord(bytes));
  return status;
}

std::optional<FieldViolation> FieldViolationOf(const absl::Status& status) {
  const std::optional<std::string> payload = PayloadOf(status, kFieldViolationUrl);
  if (!payload) return std::nullopt;
  std::string_view bytes = *payload;
  FieldViolation violation;
  violation.field = TakeString(bytes);
  violation.description = TakeString(bytes);
  return violation;
}

absl::Status WithinField(std::string_view prefix, const absl::Status& status) {
  const std::optional<FieldViolation> violation = FieldViolationOf(status);
  if (!violation) return status;
  return InvalidField(violation->field.empty() ? std::string(prefix)
                                               : absl::StrCat(std::string(prefix), ".", violation->field),
                      violation->description);
}

absl::Status BudgetFull(const std::vector<FullAccount>& accounts) {
  std::string message = "the budget is full:";
  std::string bytes;
  for (const FullAccount& account : accounts) {
    absl::StrAppend(&message, " account ", account.account, " (", account.rule, ", counter ", account.counter,
                    ") was asked for ", account.asked, " and has ", account.remaining, " left;");
    AppendString(bytes, account.account);
    AppendString(bytes, account.rule);
    AppendString(bytes, account.counter);
    AppendString(bytes, absl::StrCat(account.asked));
    AppendString(bytes, absl::StrCat(account.remaining));
  }
  absl::StrAppend(&message, " nothing was charged");
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload(kFullAccountsUrl, absl::Cord(bytes));
  return status;
}

std::vector<FullAccount> FullAccountsOf(const absl::Status& status) {
  std::vector<FullAccount> accounts;
  const std::optional<std::string> payload = PayloadOf(status, kFullAccountsUrl);
  if (!payload) return accounts;
  std::string_view bytes = *payload;
  while (!bytes.empty()) {
    FullAccount account;
    account.account = TakeString(bytes);
    account.rule = TakeString(bytes);
    account.counter = TakeString(bytes);
    account.asked = TakeInteger(bytes);
    account.remaining = TakeInteger(bytes);
    accounts.push_back(std::move(account));
  }
  return accounts;
}

absl::Status OverQuota(std::string_view message, std::chrono::milliseconds retry_after) {
  absl::Status status = absl::ResourceExhaustedError(std::string(message));
  std::string bytes;
  AppendString(bytes, absl::StrCat(retry_after.count()));
  status.SetPayload(kOverQuotaUrl, absl::Cord(bytes));
  return status;
}

std::optional<std::chrono::milliseconds> QuotaRetryOf(const absl::Status& status) {
  const std::optional<std::string> payload = PayloadOf(status, kOverQuotaUrl);
  if (!payload) return std::nullopt;
  std::string_view bytes = *payload;
  return std::chrono::milliseconds(TakeInteger(bytes));
}

absl::Status Overloaded(std::string_view message) {
  absl::Status status = absl::UnavailableError(std::string(message));
  status.SetPayload(kOverloadedUrl, absl::Cord());
  return status;
}

bool IsOverloaded(const absl::Status& status) {
  return status.GetPayload(kOverloadedUrl).has_value();
}

absl::Status DatasetReadOnly(std::string_view message) {
  absl::Status status = absl::DataLossError(std::string(message));
  status.SetPayload(kDatasetReadOnlyUrl, absl::Cord());
  return status;
}

bool IsDatasetReadOnly(const absl::Status& status) {
  return status.GetPayload(kDatasetReadOnlyUrl).has_value();
}

absl::Status DatasetChanged() {
  absl::Status status =
      absl::AbortedError("the dataset was changed while this request was priced: ask again");
  status.SetPayload(kDatasetChangedUrl, absl::Cord());
  return status;
}

bool IsDatasetChanged(const absl::Status& status) {
  return status.GetPayload(kDatasetChangedUrl).has_value();
}

absl::Status RefusedByRule(std::string_view message) {
  absl::Status status = absl::PermissionDeniedError(std::string(message));
  status.SetPayload(kRefusedByRuleUrl, absl::Cord());
  return status;
}

bool IsRefusedByRule(const absl::Status& status) {
  return status.GetPayload(kRefusedByRuleUrl).has_value();
}

absl::Status LoginTooOld(std::string_view message, std::chrono::seconds max_age) {
  absl::Status status = absl::PermissionDeniedError(std::string(message));
  std::string bytes;
  AppendString(bytes, absl::StrCat(max_age.count()));
  status.SetPayload(kLoginTooOldUrl, absl::Cord(bytes));
  return status;
}

std::optional<std::chrono::seconds> MostLoginAgeOf(const absl::Status& status) {
  const std::optional<std::string> payload = PayloadOf(status, kLoginTooOldUrl);
  if (!payload) return std::nullopt;
  std::string_view bytes = *payload;
  return std::chrono::seconds(TakeInteger(bytes));
}

absl::Status NeedsAcceptance(std::string_view reason, std::string_view message) {
  absl::Status status = absl::FailedPreconditionError(std::string(message));
  status.SetPayload(kNeedsAcceptanceUrl, absl::Cord(std::string(reason)));
  return status;
}

std::optional<std::string> AcceptanceNeededBy(const absl::Status& status) {
  return PayloadOf(status, kNeedsAcceptanceUrl);
}

absl::Status ConcerningDataset(absl::Status status, std::string_view dataset) {
  status.SetPayload(kDatasetUrl, absl::Cord(std::string(dataset)));
  return status;
}

std::optional<std::string> DatasetConcernedBy(const absl::Status& status) {
  return PayloadOf(status, kDatasetUrl);
}

absl::Status ForOperators(absl::Status status, const PublicError& instead) {
  std::string bytes;
  AppendString(bytes, instead.message);
  AppendString(bytes, instead.reason);
  status.SetPayload(kPublicErrorUrl, absl::Cord(bytes));
  return status;
}

std::optional<PublicError> PublicErrorOf(const absl::Status& status) {
  const std::optional<std::string> payload = PayloadOf(status, kPublicErrorUrl);
  if (!payload) return std::nullopt;
  std::string_view bytes = *payload;
  PublicError error;
  error.message = TakeString(bytes);
  error.reason = TakeString(bytes);
  return error;
}

std::string PublicMessageOf(const absl::Status& status) {
  const std::optional<PublicError> error = PublicErrorOf(status);
  return error ? error->message : std::string(status.message());
}

}  // namespace curator
