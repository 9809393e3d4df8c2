#include "rpc/handle.h"

#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "auth/jwt.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/trace.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "dp/accounting/rule.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace curator::rpc {
namespace {

constexpr char kDomain[] = "curator";
constexpr std::chrono::milliseconds kRetryDelay(200);
constexpr std::chrono::milliseconds kRetryDelayWhenOverloaded(500);

// With amounts in decimals; the ledger's error has them in units of the counter.
std::string DescriptionOf(const FullAccount& account) {
  return absl::StrCat("account ", account.account, " (", account.rule, ") was asked for ", account.counter,
                      " ", dp::FormatCounter(account.counter, account.asked), " and has ",
                      dp::FormatCounter(account.counter, account.remaining), " left");
}

std::string BudgetFullMessage(const std::vector<FullAccount>& accounts) {
  const std::string list = absl::StrJoin(accounts, "; ", [](std::string* out, const FullAccount& account) {
    absl::StrAppend(out, DescriptionOf(account));
  });
  return absl::StrCat("the budget is full: ", list, ". Nothing was charged.");
}

google::rpc::QuotaFailure QuotaFailureOf(const std::vector<FullAccount>& accounts) {
  google::rpc::QuotaFailure failure;
  for (const FullAccount& account : accounts) {
    google::rpc::QuotaFailure::Violation* violation = failure.add_violations();
    violation->set_subject(account.account);
    violation->set_description(DescriptionOf(account));
    violation->set_quota_metric(account.counter);
    auto& dimensions = *violation->mutable_quota_dimensions();
    dimensions["rule"] = account.rule;
    dimensions["asked"] = dp::FormatCounter(account.counter, account.asked);
    dimensions["remaining"] = dp::FormatCounter(account.counter, account.remaining);
  }
  return failure;
}

std::string ReasonOf(const absl::Status& status, const std::vector<FullAccount>& full) {
  if (!full.empty()) return "BUDGET_FULL";
  if (QuotaRetryOf(status)) return "QUOTA";
  if (IsOverloaded(status)) return "OVERLOADED";
  if (IsDatasetReadOnly(status)) return "LEDGER_CONTRADICTS_ITSELF";
  if (IsRefusedByRule(status)) return "OWNER_RULE";
  if (MostLoginAgeOf(status)) return "LOGIN_TOO_OLD";
  if (const std::optional<std::string> reason = AcceptanceNeededBy(status)) return *reason;
  if (const std::optional<PublicError> error = PublicErrorOf(status); error && !error->reason.empty())
    return error->reason;
  return absl::StatusCodeToString(status.code());
}

// None for an error that the same request would meet again.
std::optional<std::chrono::milliseconds> RetryDelayOf(const absl::Status& status) {
  if (IsOverloaded(status)) return kRetryDelayWhenOverloaded;
  if (absl::IsUnavailable(status) || absl::IsAborted(status)) return kRetryDelay;
  return QuotaRetryOf(status);
}

void AddRetryInfo(google::rpc::Status& details, std::chrono::milliseconds delay) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(delay.count() / 1000);
  retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(delay.count() % 1000 * 1'000'000));
  details.add_details()->PackFrom(retry);
}

void AddBadRequest(google::rpc::Status& details, const FieldViolation& violation) {
  google::rpc::BadRequest bad_request;
  google::rpc::BadRequest::FieldViolation* field = bad_request.add_field_violations();
  field->set_field(violation.field);
  field->set_description(violation.description);
  details.add_details()->PackFrom(bad_request);
}

}  // namespace

absl::Status ClientDisconnected() {
  return absl::CancelledError("the client left before the end of the stream");
}

absl::Status ShortOfMemory() {
  return absl::UnavailableError(
      "the server is short of memory; ask again with the same request id, or for less at once");
}

absl::Status NothingCame(absl::Duration patience) {
  return absl::DeadlineExceededError(absl::StrCat("no message came for ", absl::FormatDuration(patience),
                                                  ": send the stream again, without such pauses"));
}

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The singular text with this name; empty where the message has none.
std::string TextIn(const Message& message, const std::string& field_name) {
  const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByName(field_name);
  const bool is_text =
      field != nullptr && !field->is_repeated() && field->type() == FieldDescriptor::TYPE_STRING;
  return is_text ? message.GetReflection()->GetString(message, field) : std::string();
}

// The message's header; the message itself where it has none.
const Message& HeaderOf(const Message& message) {
  const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByName("header");
  const bool is_header = field != nullptr && !field->is_repeated() && field->message_type() != nullptr;
  return is_header ? message.GetReflection()->GetMessage(message, field) : message;
}

// The one dataset of a watch; empty where it has several, of which each is known when it was looked at.
std::string OnlyDatasetIn(const Message& message) {
  v1::WatchLedgerRequest watch;
  watch.CopyFrom(message);
  if (!watch.dataset().empty()) return watch.dataset();
  return watch.positions_size() == 1 ? watch.positions(0).dataset() : std::string();
}

audit::IdentityKind KindOf(const Proof& proof) {
  if (proof.identity.subject.empty()) return audit::IdentityKind::kNone;  // in development mode
  switch (proof.identity.kind) {
    case directory::CredentialKind::kOidc:
      return audit::IdentityKind::kOidc;
    case directory::CredentialKind::kCertificate:
      return audit::IdentityKind::kCertificate;
    case directory::CredentialKind::kApiToken:
      return audit::IdentityKind::kApiToken;
  }
  return audit::IdentityKind::kNone;
}

CallNotes NotesOf(const Caller& caller) {
  return {.principal = caller.principal.name(),
          .identity = KindOf(caller.proof),
          .credential_id = caller.credential_id};
}

// Memory may run out at any place, also after the charge, where the cause could depend on a record.
absl::Status RunGuarded(const std::function<absl::Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return ShortOfMemory();
  } catch (const std::exception&) {
    return absl::InternalError(
        "the server failed while it handled the call: the same request id finds what became of it");
  }
}

void NoteFullAccounts(const Calls& calls, const grpc::ServerContextBase& context,
                      const absl::Status& status) {
  if (status.code() != absl::StatusCode::kResourceExhausted) return;
  try {
    calls.on_noted(context, {.full_accounts = FullAccountsOf(status)});
  } catch (const std::bad_alloc&) {
    // The call's record will lack the accounts.
    return;
  }
}

absl::Status NoThreadOrMemory() {
  return Overloaded("the server has no thread or memory left for this call; ask again");
}

// For what runs on gRPC's own threads.
template <typename Result>
absl::StatusOr<Result> OrOverloaded(const std::function<absl::StatusOr<Result>()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return NoThreadOrMemory();
  }
}

}  // namespace

void NoteNames(const Calls& calls, const grpc::ServerContextBase& context, const Message& request) {
  const Message& message = HeaderOf(request);
  // The one request whose dataset has no name yet.
  const bool creates = message.GetDescriptor() == v1::CreateDatasetRequest::descriptor();
  try {
    CallNotes notes{.dataset = TextIn(message, creates ? "name" : "dataset"),
                    .request_id = TextIn(message, "request_id")};
    if (message.GetDescriptor() == v1::WatchLedgerRequest::descriptor()) {
      notes.dataset = OnlyDatasetIn(message);
      notes.is_watch_of_datasets = true;
    }
    calls.on_noted(context, notes);
  } catch (const std::bad_alloc&) {
    // The call's record will lack the names.
    return;
  }
}

void HandledCall::Begin(Calls& calls, const grpc::CallbackServerContext& context,
                        const service::Permission& permission, CallKind kind, Work work) {
  const TraceScope trace(calls.trace_of(context));
  absl::StatusOr<Admitted> admitted = Admit(calls, context, permission, kind);
  if (!admitted.ok()) return End(ToGrpcStatus(admitted.status()));
  try {
    Queue(calls, context, *std::move(admitted), std::move(work));
  } catch (const std::exception&) {
    End(ToGrpcStatus(NoThreadOrMemory()));
  }
}

void HandledCall::Queue(Calls& calls, const grpc::CallbackServerContext& context, Admitted admitted,
                        Work work) {
  // A task of the threads must be copyable, and these are not.
  struct Held {
    std::optional<Admission::Place> place;
    std::unique_ptr<LiveCalls::Entry> live;
  };
  auto held = std::make_shared<Held>();
  held->place.emplace(std::move(admitted.place));
  held->live =
      calls.live.Add(calls.authenticator, admitted.caller, [state = state_](const absl::Status& revoked) {
        {
          const absl::MutexLock lock(&state->mutex);
          state->revoked = revoked;
        }
        state->is_revoked = true;
        state->client_left.request_stop();
      });
  calls.threads.Run([this, &calls, &context, held, caller = std::move(admitted.caller),
                     work = std::move(work), trace_id = CurrentTraceId()] {
    const TraceScope trace(trace_id);
    const Call call(caller, state_->client_left.get_token());
    absl::Status status = RunGuarded([&] { return work(call); });
    // Before the client has its answer: its next call must find the place free.
    held->place.reset();
    held->live.reset();
    if (state_->is_revoked) {
      const absl::MutexLock lock(&state_->mutex);
      status = state_->revoked;
    }
    if (PublicErrorOf(status)) calls.on_hidden_error(status);
    NoteFullAccounts(calls, context, status);
    End(ToGrpcStatus(status));
  });
}

void HandledCall::BeginForIdentity(Calls& calls, const grpc::CallbackServerContext& context,
                                   WorkForIdentity work) {
  const TraceScope trace(calls.trace_of(context));
  absl::StatusOr<Proof> proof = OrOverloaded<Proof>([&] { return calls.authenticator.Prove(context); });
  if (PublicErrorOf(proof.status())) calls.on_hidden_error(proof.status());
  if (!proof.ok()) return End(ToGrpcStatus(proof.status()));
  calls.on_noted(context, {.identity = KindOf(*proof)});
  absl::StatusOr<Admission::Place> place = calls.admission.Admit(CallKind::kCall, "");
  if (!place.ok()) return End(ToGrpcStatus(place.status()));
  try {
    auto held = std::make_shared<std::optional<Admission::Place>>(*std::move(place));
    calls.threads.Run(
        [this, &calls, held, proof = *std::move(proof), work = std::move(work), trace_id = CurrentTraceId()] {
          const TraceScope current(trace_id);
          const absl::Status status = RunGuarded([&] { return work(proof); });
          held->reset();
          if (PublicErrorOf(status)) calls.on_hidden_error(status);
          End(ToGrpcStatus(status));
        });
  } catch (const std::exception&) {
    End(ToGrpcStatus(NoThreadOrMemory()));
  }
}

absl::Status CheckLoginIsFresh(const Proof& proof, std::chrono::seconds most_age, absl::Time now) {
  const std::string needed =
      absl::StrCat("approvals need a login at most ", most_age.count(), " seconds old: ");
  if (proof.identity.kind != directory::CredentialKind::kOidc) {
    return LoginTooOld(
        absl::StrCat(needed,
                     "API tokens and client certificates prove no login; log in at your identity "
                     "provider"),
        most_age);
  }
  if (!proof.logged_in.has_value()) {
    return LoginTooOld(absl::StrCat(needed, "your token does not say when you logged in (auth_time)"),
                       most_age);
  }
  if (now - *proof.logged_in <= absl::FromChrono(most_age) + auth::kLeeway) return absl::OkStatus();
  return LoginTooOld(absl::StrCat(needed, "log in again"), most_age);
}

absl::StatusOr<Admitted> Admit(Calls& calls, const grpc::CallbackServerContext& context,
                               const service::Permission& permission, CallKind kind) {
  const TraceScope trace(calls.trace_of(context));
  absl::StatusOr<Caller> caller = OrOverloaded<Caller>([&] { return calls.authenticator.Identify(context); });
  if (PublicErrorOf(caller.status())) calls.on_hidden_error(caller.status());
  RETURN_IF_ERROR(caller.status());
  calls.on_noted(context, NotesOf(*caller));
  ASSIGN_OR_RETURN(Admission::Place place, calls.admission.Admit(kind, caller->principal.name()));
  RETURN_IF_ERROR(service::CheckServerRole(calls.services.directory, permission, caller->principal));
  if (calls.most_login_age.has_value() && service::NeedsFreshLogin(permission.method)) {
    RETURN_IF_ERROR(CheckLoginIsFresh(caller->proof, *calls.most_login_age, absl::Now()));
  }
  return Admitted{*std::move(caller), std::move(place)};
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::vector<FullAccount> full = FullAccountsOf(status);
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const std::string message = full.empty() ? PublicMessageOf(status) : BudgetFullMessage(full);

  google::rpc::Status details;
  details.set_code(code);
  details.set_message(message);
  google::rpc::ErrorInfo info;
  info.set_domain(kDomain);
  info.set_reason(ReasonOf(status, full));
  if (const std::optional<std::chrono::seconds> most = MostLoginAgeOf(status))
    (*info.mutable_metadata())["max_age_seconds"] = absl::StrCat(most->count());
  if (const std::optional<std::string> dataset = DatasetConcernedBy(status))
    (*info.mutable_metadata())["dataset"] = *dataset;
  details.add_details()->PackFrom(info);
  if (!full.empty()) details.add_details()->PackFrom(QuotaFailureOf(full));
  if (const std::optional<FieldViolation> violation = FieldViolationOf(status))
    AddBadRequest(details, *violation);
  if (const std::optional<std::chrono::milliseconds> delay = RetryDelayOf(status))
    AddRetryInfo(details, *delay);
  return grpc::Status(code, message, details.SerializeAsString());
}

}  // namespace curator::rpc
