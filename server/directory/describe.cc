#include "directory/describe.h"

#include <variant>

#include "absl/strings/str_cat.h"

namespace curator::directory {
namespace {

std::string TextOf(const Identity& identity) {
  return absl::StrCat(std::string(NameOf(identity.kind)), identity.issuer.empty() ? "" : " ", identity.issuer,
                      " ", identity.subject);
}

std::string TextOf(Basis basis) {
  switch (basis) {
    case Basis::kAdministrator:
      return "by an administrator";
    case Basis::kOwnProof:
      return "by its own proof";
    case Basis::kIssuer:
      return "by its issuer";
    case Basis::kHost:
      return "on the server's host";
  }
  return "";
}

std::string TextOf(Role role, const std::string& principal, const std::string& dataset_id) {
  return absl::StrCat(principal, " ", std::string(NameOf(role)), dataset_id.empty() ? "" : " of dataset ",
                      dataset_id);
}

std::string TextOf(const PrincipalCreated& change) {
  return absl::StrCat(change.name, " (", std::string(NameOf(change.kind)), ")",
                      change.has_rights ? ", whose name the ledger knew" : "");
}
std::string TextOf(const PrincipalDisabled& change) {
  return absl::StrCat(change.name, ": ", change.reason);
}
std::string TextOf(const PrincipalEnabled& change) {
  return absl::StrCat(change.name, ": ", change.reason);
}
std::string TextOf(const PrincipalForgotten& change) {
  return absl::StrCat(change.pseudonym, ": ", change.reason);
}
std::string TextOf(const CredentialAdded& change) {
  return absl::StrCat(change.id, " for ", change.principal, ": ", TextOf(change.identity), ", ",
                      TextOf(change.basis), change.is_pending ? ", pending" : "");
}
std::string TextOf(const CredentialApproved& change) {
  return change.id;
}
std::string TextOf(const CredentialRemoved& change) {
  return absl::StrCat(change.id, ": ", change.reason);
}
std::string TextOf(const PrincipalRegistered& change) {
  return absl::StrCat(change.name, " with ", change.credential_id, ": ", TextOf(change.identity));
}
std::string TextOf(const EnrolmentOpened& change) {
  return absl::StrCat(change.id, " for ", change.principal, ": ", TextOf(change.identity),
                      change.makes_administrator ? ", makes it an administrator" : "");
}
std::string TextOf(const EnrolmentTried& change) {
  return absl::StrCat(change.id, ", with a wrong code");
}
std::string TextOf(const EnrolmentUsed& change) {
  return absl::StrCat(change.id, ", which added ", change.credential_id);
}
std::string TextOf(const RoleBound& change) {
  return absl::StrCat(TextOf(change.role, change.principal, change.dataset_id),
                      change.is_pending ? ", pending" : "");
}
std::string TextOf(const RoleApproved& change) {
  return TextOf(change.role, change.principal, change.dataset_id);
}
std::string TextOf(const RoleUnbound& change) {
  return TextOf(change.role, change.principal, change.dataset_id);
}
std::string TextOf(const CustodySet& change) {
  return change.custody == Custody::kSingle ? "single custody: owners approve what they proposed"
                                            : "two persons: one proposes, another one approves";
}

}  // namespace

std::string Describe(const Change& change) {
  return std::visit([](const auto& each) { return TextOf(each); }, change);
}

}  // namespace curator::directory
