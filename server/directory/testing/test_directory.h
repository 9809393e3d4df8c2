// A directory in a test: changes are decided by the rules and made at once, without a ledger.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "directory/rules.h"
#include "ledger/pseudonyms/pseudonym.h"

namespace curator::directory {

inline Identity OidcOf(const std::string& subject) {
  return {.kind = CredentialKind::kOidc, .issuer = "https://idp.example", .subject = subject};
}

inline Identity CertificateOf(const std::string& uri) {
  return {.kind = CredentialKind::kCertificate, .subject = uri};
}

class TestDirectory {
 public:
  static constexpr int64_t kMinute = int64_t{60} * 1'000'000;

  const Directory& directory() const { return directory_; }
  Asked By(const std::string& actor) const { return {.by = actor, .at_us = now_us_}; }
  void Advance(int64_t us) { now_us_ += us; }
  int64_t now_us() const { return now_us_; }

  // Makes the change that a rule returned, or returns its error.
  absl::Status Make(const std::string& actor, const absl::StatusOr<Change>& change) {
    if (!change.ok()) return change.status();
    Change stored = *change;
    VisitNames(stored, [this](std::string& name) { name = PseudonymOf(name); });
    ledger::Entry entry;
    entry.dataset_id = ledger::kServerHistory;
    entry.seq = directory_.seq() + 1;
    entry.kind = std::string(KindOf(stored));
    entry.payload = EncodeChange(stored);
    entry.actor = actor.starts_with('@') ? actor : PseudonymOf(actor);
    entry.created_at_us = now_us_;
    const absl::Status applied = directory_.Apply(entry, Names());
    if (applied.ok()) entries_.push_back(std::move(entry));
    return applied;
  }

  // As a server has it that starts now, and never knew the names that were forgotten.
  Directory ReadAgain() const {
    Directory directory;
    for (const ledger::Entry& entry : entries_) EXPECT_TRUE(directory.Apply(entry, Names()).ok());
    return directory;
  }

  // As entries name the principal; a name that was forgotten gets another one.
  std::string PseudonymOf(const std::string& name) {
    const std::string pseudonym = ledger::MakePseudonym("key" + std::to_string(forgettings_[name]), name);
    names_[pseudonym] = name;
    return pseudonym;
  }

  absl::Status Create(const std::string& by, const std::string& name, bool has_rights = false) {
    return Make(by, CreatePrincipal(directory_, By(by), {.name = name, .has_rights = has_rights}));
  }
  // The credential's id is that of its identity's subject.
  absl::Status Link(const std::string& by, const std::string& principal, const Identity& identity) {
    return Make(by, AddIdentity(directory_, By(by),
                                {.id = identity.subject, .principal = principal, .identity = identity}));
  }
  absl::Status Token(const std::string& by, const std::string& principal, const std::string& id) {
    return Make(by, AddToken(directory_, By(by),
                             {.id = id,
                              .principal = principal,
                              .identity = {.kind = CredentialKind::kApiToken, .subject = id},
                              .secret_hash = "hash",
                              .expires_at_us = now_us_ + kMinute}));
  }
  absl::Status Approve(const std::string& by, const std::string& credential_id) {
    return Make(by, ApproveCredential(directory_, By(by), {.id = credential_id}));
  }
  absl::Status Register(const std::string& name) { return Register(name, OidcOf(name)); }
  absl::Status Register(const std::string& name, const Identity& identity) {
    return Make(kIssuerActor,
                RegisterPrincipal(directory_, {.name = name, .credential_id = name, .identity = identity}));
  }
  absl::Status Open(const std::string& by, const std::string& principal, const Identity& identity,
                    bool makes_administrator = false, bool break_glass = false) {
    return Make(by, OpenEnrolment(directory_, By(by),
                                  {.id = "enrolment of " + principal,
                                   .principal = principal,
                                   .identity = identity,
                                   .code_hash = "right code",
                                   .expires_at_us = now_us_ + kEnrolmentLifetimeUs,
                                   .makes_administrator = makes_administrator},
                                  break_glass));
  }
  absl::Status Use(const std::string& principal, const Identity& identity,
                   const std::string& code_hash = "right code") {
    return Make(principal, UseEnrolment(directory_, By(principal),
                                        {.enrolment_id = "enrolment of " + principal,
                                         .identity = identity,
                                         .code_hash = code_hash,
                                         .credential_id = identity.subject}));
  }
  // An administrator by `curatord bootstrap`.
  void LetInAdministrator(const std::string& name) {
    const Identity identity = OidcOf("sub of " + name);
    ASSERT_TRUE(Create(kHostActor, name).ok());
    ASSERT_TRUE(Open(kHostActor, name, identity, /*makes_administrator=*/true, /*break_glass=*/true).ok());
    ASSERT_TRUE(Use(name, identity).ok());
  }
  absl::Status Disable(const std::string& by, const std::string& name) {
    return Make(by, DisablePrincipal(directory_, By(by), {.name = name, .reason = "left"}));
  }
  absl::Status Remove(const std::string& by, const std::string& credential_id) {
    return Make(by, RemoveCredential(directory_, By(by), {.id = credential_id, .reason = "old"}));
  }
  absl::Status Forget(const std::string& by, const std::string& name, const ForgettingFacts& facts = {}) {
    const std::string pseudonym = PseudonymOf(name);
    const absl::Status made = Make(by, ForgetPrincipal(directory_, By(by), name, "asked for it", facts));
    if (!made.ok()) return made;
    names_.erase(pseudonym);
    ++forgettings_[name];
    return made;
  }
  // Its pseudonym, as soon as it may be forgotten.
  std::string DisableAndForget(const std::string& by, const std::string& name) {
    const std::string pseudonym = PseudonymOf(name);
    EXPECT_TRUE(Disable(by, name).ok());
    Advance(kForgetAfterUs);
    const absl::Status forgotten = Forget(by, name);
    EXPECT_TRUE(forgotten.ok()) << forgotten;
    return pseudonym;
  }
  // A principal that this administrator alone vouches for, by an identity of the same name.
  void VouchFor(const std::string& by, const std::string& name) {
    ASSERT_TRUE(Create(by, name).ok());
    ASSERT_TRUE(Link(by, name, OidcOf(name)).ok());
    ASSERT_TRUE(IsActive(OidcOf(name)));
  }
  absl::Status Bind(const std::string& by, Role role, const std::string& principal,
                    const std::string& dataset_id = {}, const RoleFacts& facts = {}) {
    return Make(by, BindRole(directory_, By(by),
                             {.role = role, .principal = principal, .dataset_id = dataset_id}, facts));
  }
  absl::Status ApproveBinding(const std::string& by, const std::string& principal,
                              const std::string& dataset_id, Role role = Role::kApprover) {
    return Make(by, ApproveRole(directory_, By(by),
                                {.role = role, .principal = principal, .dataset_id = dataset_id}));
  }

  bool IsActive(const Identity& identity) const {
    const Credential* const found = directory_.FindIdentity(identity);
    return found != nullptr && !found->is_pending;
  }

 private:
  Directory::NameOf Names() const {
    return [this](const std::string& each) {
      const auto found = names_.find(each);
      return found == names_.end() ? each : found->second;
    };
  }

  Directory directory_;
  std::vector<ledger::Entry> entries_;
  std::map<std::string, std::string> names_;  // by pseudonym
  std::map<std::string, int> forgettings_;    // by name
  int64_t now_us_ = int64_t{1'800'000'000} * 1'000'000;
};

}  // namespace curator::directory
