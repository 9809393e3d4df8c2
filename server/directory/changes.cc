#include "directory/changes.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::directory {
namespace {

constexpr int64_t kVersion = 1;

std::string TagOf(std::string_view kind) {
  return absl::StrCat("curator.directory.", absl::AsciiStrToLower(std::string(kind)));
}

// The fields of each payload in order, once for writing and for reading: `fields` is called with each of
// them.
template <typename Fields>
void Visit(PrincipalCreated& change, Fields& fields) {
  fields(change.name);
  fields(change.kind);
  fields(change.has_rights);
}
template <typename Fields>
void Visit(PrincipalDisabled& change, Fields& fields) {
  fields(change.name);
  fields(change.reason);
}
template <typename Fields>
void Visit(PrincipalEnabled& change, Fields& fields) {
  fields(change.name);
  fields(change.reason);
}
template <typename Fields>
void Visit(PrincipalForgotten& change, Fields& fields) {
  fields(change.pseudonym);
  fields(change.reason);
}
template <typename Fields>
void Visit(Identity& identity, Fields& fields) {
  fields(identity.kind);
  fields(identity.issuer);
  fields(identity.subject);
}
template <typename Fields>
void Visit(CredentialAdded& change, Fields& fields) {
  fields(change.id);
  fields(change.principal);
  Visit(change.identity, fields);
  fields(change.secret_hash);
  fields(change.label);
  fields(change.expires_at_us);
  fields(change.basis);
  fields(change.is_pending);
}
template <typename Fields>
void Visit(CredentialApproved& change, Fields& fields) {
  fields(change.id);
}
template <typename Fields>
void Visit(CredentialRemoved& change, Fields& fields) {
  fields(change.id);
  fields(change.reason);
}
template <typename Fields>
void Visit(PrincipalRegistered& change, Fields& fields) {
  fields(change.name);
  fields(change.credential_id);
  Visit(change.identity, fields);
}
template <typename Fields>
void Visit(EnrolmentOpened& change, Fields& fields) {
  fields(change.id);
  fields(change.principal);
  Visit(change.identity, fields);
  fields(change.code_hash);
  fields(change.expires_at_us);
  fields(change.makes_administrator);
}
template <typename Fields>
void Visit(EnrolmentTried& change, Fields& fields) {
  fields(change.id);
}
template <typename Fields>
void Visit(EnrolmentUsed& change, Fields& fields) {
  fields(change.id);
  fields(change.credential_id);
}
template <typename Fields>
void VisitRole(auto& change, Fields& fields) {
  fields(change.role);
  fields(change.principal);
  fields(change.dataset_id);
}
template <typename Fields>
void Visit(RoleBound& change, Fields& fields) {
  VisitRole(change, fields);
  fields(change.is_pending);
}
template <typename Fields>
void Visit(RoleApproved& change, Fields& fields) {
  VisitRole(change, fields);
}
template <typename Fields>
void Visit(RoleUnbound& change, Fields& fields) {
  VisitRole(change, fields);
}
template <typename Fields>
void Visit(CustodySet& change, Fields& fields) {
  fields(change.custody);
}

// The largest value of each enumeration; the smallest is 1.
constexpr PrincipalKind LastOf(PrincipalKind) {
  return PrincipalKind::kService;
}
constexpr CredentialKind LastOf(CredentialKind) {
  return CredentialKind::kApiToken;
}
constexpr Basis LastOf(Basis) {
  return Basis::kHost;
}
constexpr Role LastOf(Role) {
  return Role::kAuditor;
}
constexpr Custody LastOf(Custody) {
  return Custody::kSingle;
}

class FieldWriter {
 public:
  explicit FieldWriter(std::string_view kind) : writer_(TagOf(kind), kVersion) {}
  void operator()(const std::string& text) { writer_.Text(text); }
  void operator()(int64_t number) { writer_.Integer(number); }
  void operator()(bool flag) { writer_.Integer(flag ? 1 : 0); }
  template <typename Enumeration>
  requires std::is_enum_v<Enumeration>
  void operator()(Enumeration value) { writer_.Integer(static_cast<int64_t>(value)); }
  std::string Take() && { return std::move(writer_).Take(); }

 private:
  CanonicalWriter writer_;
};

class FieldReader {
 public:
  FieldReader(std::string_view kind, std::string_view payload) : reader_(payload, TagOf(kind), kVersion) {}
  void operator()(std::string& text) { text = reader_.Text(); }
  void operator()(int64_t& number) { number = reader_.Integer(); }
  void operator()(bool& flag) { flag = Within(0, 1) == 1; }
  template <typename Enumeration>
  requires std::is_enum_v<Enumeration>
  void operator()(Enumeration& value) {
    value = static_cast<Enumeration>(Within(1, static_cast<int64_t>(LastOf(Enumeration()))));
  }
  absl::Status Finish() const { return reader_.Finish(); }

 private:
  int64_t Within(int64_t least, int64_t most) {
    const int64_t value = reader_.Integer();
    if (value >= least && value <= most) return value;
    reader_.Refuse();
    return least;
  }

  CanonicalReader reader_;
};

template <typename Payload>
absl::StatusOr<Change> ParseAs(std::string_view payload) {
  FieldReader fields(Payload::kKind, payload);
  Payload change;
  Visit(change, fields);
  RETURN_IF_ERROR(fields.Finish());
  return change;
}

template <typename... Payloads>
std::optional<absl::StatusOr<Change>> ParseAsOneOf(std::string_view kind, std::string_view payload,
                                                   const std::variant<Payloads...>*) {
  std::optional<absl::StatusOr<Change>> parsed;
  static_cast<void>(
      ((kind == Payloads::kKind ? parsed.emplace(ParseAs<Payloads>(payload)), true : false) || ...));
  return parsed;
}

}  // namespace

std::string_view KindOf(const Change& change) {
  return std::visit([](const auto& payload) { return payload.kKind; }, change);
}

std::string EncodeChange(const Change& change) {
  FieldWriter fields(KindOf(change));
  std::visit([&fields](auto payload) { Visit(payload, fields); }, change);
  return std::move(fields).Take();
}

absl::StatusOr<Change> ParseChange(std::string_view kind, std::string_view payload) {
  std::optional<absl::StatusOr<Change>> parsed =
      ParseAsOneOf(kind, payload, static_cast<const Change*>(nullptr));
  if (parsed.has_value()) return *std::move(parsed);
  return absl::DataLossError(absl::StrCat("this program does not know the change ", std::string(kind)));
}

void VisitNames(Change& change, const std::function<void(std::string& name)>& visit) {
  std::visit(
      [&](auto& payload) {
        if constexpr (requires { payload.principal; }) visit(payload.principal);
        if constexpr (requires { payload.name; }) visit(payload.name);
      },
      change);
}

std::string_view NameOf(PrincipalKind kind) {
  return kind == PrincipalKind::kPerson ? "PERSON" : "SERVICE";
}

std::string_view NameOf(CredentialKind kind) {
  switch (kind) {
    case CredentialKind::kOidc:
      return "OIDC";
    case CredentialKind::kCertificate:
      return "CERTIFICATE";
    case CredentialKind::kApiToken:
      return "API_TOKEN";
  }
  return "";
}

std::string_view NameOf(Role role) {
  switch (role) {
    case Role::kAdministrator:
      return "ADMINISTRATOR";
    case Role::kApprover:
      return "APPROVER";
    case Role::kOperator:
      return "OPERATOR";
    case Role::kCreator:
      return "CREATOR";
    case Role::kAuditor:
      return "AUDITOR";
  }
  return "";
}

std::string_view NameOf(Custody custody) {
  return custody == Custody::kSingle ? "SINGLE" : "TWO_PERSONS";
}

}  // namespace curator::directory
