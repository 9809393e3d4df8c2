// Principals, their credentials, roles and open enrolments, and the custody of the server, as the changes so
// far have made them. A principal is never renamed, and its name never used again: it is disabled. Once it is
// forgotten, there is no such principal, and a new one may have the name. What is kept of it, under what
// entries name it, is who could act as it, because what it vouched for stands.
//
// A value: copyable; thread-safe to read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "directory/changes.h"
#include "ledger/types.h"

namespace curator::directory {

struct Credential {
  std::string id = {};
  std::string principal = {};
  Identity identity = {};
  std::string secret_hash = {};  // of an API token
  std::string label = {};
  int64_t added_at_us = 0;
  int64_t expires_at_us = 0;  // 0: never
  Basis basis = Basis::kAdministrator;
  std::string added_by = {};
  std::string approved_by = {};  // empty unless a second administrator did
  bool is_pending = false;       // proves nothing yet
};

struct PrincipalRecord {
  std::string name = {};
  PrincipalKind kind = PrincipalKind::kPerson;
  std::string created_by = {};
  int64_t created_at_us = 0;
  bool is_disabled = false;
  int64_t disabled_at_us = 0;  // the last time
  // As entries name it: its pseudonym, or the name of a principal that an earlier version made.
  std::string stored_name = {};
  // Whether it may have rights: the ledger knew the name when it was created, or it has had a credential.
  bool may_have_rights = false;
  std::set<std::string> credentials = {};  // ids, without removed ones
  // Administrators who could act as this principal by what they alone did: by the id of the credential that
  // they added alone, also after it was removed.
  std::map<std::string, std::string> vouched_alone = {};
  // Other principals that an identity of this one proved, before or afterwards; forgotten ones as entries
  // name them. The identity is a person's, so these are one person.
  std::set<std::string> same_person = {};
};

struct RoleBinding {
  Role role = Role::kAdministrator;
  std::string principal = {};
  std::string dataset_id = {};  // empty for a role of the server, or on all datasets
  std::string bound_by = {};
  std::string approved_by = {};
  bool is_pending = false;
};

struct Enrolment {
  std::string id = {};
  std::string principal = {};
  Identity identity = {};
  std::string code_hash = {};
  int64_t expires_at_us = 0;
  bool makes_administrator = false;
  std::string opened_by = {};
  int64_t wrong_codes = 0;
};

class Directory {
 public:
  // Makes the change of the entry that follows seq(). After an entry REPAIRED (ledger/ledger.h) nobody is
  // what a lost entry may have ended: all principals are disabled, and credentials, roles and enrolments are
  // gone. DATA_LOSS, and the directory is not to be used any more, for a change that no rule of any version
  // allowed: a name that is taken, an unknown principal.
  //
  // The entry is as it is stored. `name_of` returns the name of each principal in it that the directory does
  // not know yet. A principal keeps the name that it had at first until PRINCIPAL_FORGOTTEN; from then on,
  // everything that named it names its pseudonym.
  using NameOf = std::function<std::string(const std::string& stored)>;
  absl::Status Apply(const ledger::Entry& entry, const NameOf& name_of);

  // Of the last entry; 0 before the first one.
  int64_t seq() const { return seq_; }

  // Null when there is none.
  const PrincipalRecord* FindPrincipal(std::string_view name) const;
  // By what entries name it.
  const PrincipalRecord* FindStored(std::string_view stored_name) const;
  // Whether a principal that entries name so was forgotten.
  bool IsForgotten(std::string_view stored_name) const { return forgotten_.contains(stored_name); }
  const Credential* FindCredential(std::string_view id) const;
  const Credential* FindIdentity(const Identity& identity) const;
  const Enrolment* FindEnrolment(std::string_view id) const;
  const RoleBinding* FindRole(Role role, std::string_view principal, std::string_view dataset_id) const;

  // Whether the principal is active and has the role.
  bool HasRole(Role role, std::string_view principal, std::string_view dataset_id = {}) const;
  // The active administrators.
  std::vector<std::string> Administrators() const;

  // Whether no single person could act as both: no administrator by what he did alone, and nobody whose
  // identity proved both, one after the other. Once they could, they never become two by the removal of a
  // credential, nor by forgetting anybody: a forgotten principal is named here as entries name it. One and
  // the same principal is one person.
  bool AreTwoPersons(std::string_view one, std::string_view other) const;

  // How many persons it takes now, and what it took at that time, as the history says: for statements.
  // Whether this server accepts it is DirectoryStore::CustodyHere(). kTwoPersons until the first CUSTODY_SET.
  Custody custody() const { return custodies_.empty() ? Custody::kTwoPersons : custodies_.rbegin()->second; }
  Custody CustodyAt(int64_t time_us) const;

  // Ascending by name, those after `after`, at most `limit`.
  std::vector<const PrincipalRecord*> ListPrincipals(std::string_view after, size_t limit) const;
  // All roles of the principal, also those that are pending.
  std::vector<const RoleBinding*> RolesOf(std::string_view principal) const;
  size_t principal_count() const { return principals_.size(); }
  // The API tokens that can be used, end within this time, and were made for longer than it: not those
  // that are replaced each day.
  int64_t CountTokensEnding(int64_t now_us, int64_t within_us) const;
  // How often somebody on the host let a principal become an administrator, since the history began.
  int64_t administrators_by_host() const { return administrators_by_host_; }

  // How many changes the actor has made in the 24 hours before `now_us`, counted up to kMostCountedChanges.
  int64_t ChangesToday(std::string_view actor, int64_t now_us) const;
  static constexpr size_t kMostCountedChanges = 1000;

 private:
  using RoleKey = std::tuple<Role, std::string, std::string>;

  absl::Status Make(const PrincipalCreated& change, const ledger::Entry& entry);
  absl::Status Make(const PrincipalDisabled& change, const ledger::Entry& entry);
  absl::Status Make(const PrincipalEnabled& change, const ledger::Entry& entry);
  absl::Status Make(const CredentialAdded& change, const ledger::Entry& entry);
  absl::Status Make(const CredentialApproved& change, const ledger::Entry& entry);
  absl::Status Make(const CredentialRemoved& change, const ledger::Entry& entry);
  absl::Status Make(const PrincipalRegistered& change, const ledger::Entry& entry);
  absl::Status Make(const EnrolmentOpened& change, const ledger::Entry& entry);
  absl::Status Make(const EnrolmentTried& change, const ledger::Entry& entry);
  absl::Status Make(const EnrolmentUsed& change, const ledger::Entry& entry);
  absl::Status Make(const RoleBound& change, const ledger::Entry& entry);
  absl::Status Make(const RoleApproved& change, const ledger::Entry& entry);
  absl::Status Make(const RoleUnbound& change, const ledger::Entry& entry);
  absl::Status Make(const CustodySet& change, const ledger::Entry& entry);
  absl::Status Make(const PrincipalForgotten& change, const ledger::Entry& entry);
  // A lost entry may have disabled anybody, ended any credential, role or enrolment, or given a principal its
  // first credential, after which it could get rights.
  void DistrustAll(int64_t at_us);
  absl::Status AddPrincipal(PrincipalRecord principal);
  absl::Status AddCredential(Credential credential);
  // The credential must be there.
  void EraseCredential(const std::string& id);
  // Its own, and those that it proposed and nobody approved.
  void EraseCredentialsOf(const PrincipalRecord& principal);
  // Whom the credential's identity proved before, and whom it proves now, are one person.
  void TieHolders(const Credential& credential);
  // Everything that has the name has what entries name the principal by in its place.
  void Rename(const std::string& name, const std::string& stored_name);
  // The name of a principal that the directory knows, or knew.
  std::string NameIn(const std::string& stored_name, const NameOf& name_of) const;
  // Null when there is none.
  PrincipalRecord* principal(std::string_view name);
  void Count(const std::string& actor, int64_t at_us);
  // The principal, forgotten or not; every administrator who could act as one of these by what he alone did;
  // and everybody who is the same person as one of these.
  std::set<std::string> ControllersOf(std::string_view principal) const;
  // Those at one remove, into `next`.
  void AddControllers(const std::string& principal, std::vector<std::string>& next) const;

  int64_t seq_ = 0;
  int64_t administrators_by_host_ = 0;
  std::map<std::string, PrincipalRecord, std::less<>> principals_;
  std::map<std::string, std::string, std::less<>> names_;  // of these, by stored name
  // Who could act as a forgotten principal, by its stored name: who vouched alone for it, and who is the same
  // person. For ever, because what it vouched for stands.
  std::map<std::string, std::set<std::string>, std::less<>> forgotten_;
  std::map<std::string, Credential, std::less<>> credentials_;  // by id
  std::set<std::string> pending_;                               // ids of credentials
  std::map<Identity, std::string> identities_;                  // ids of credentials
  // Whom each identity proved last, also when it is nobody's now. Without API tokens, which are one
  // principal's.
  std::map<Identity, std::string> last_proved_;
  std::map<RoleKey, RoleBinding> roles_;
  std::map<std::string, Enrolment, std::less<>> enrolments_;  // by principal: each has one at most
  std::map<int64_t, Custody> custodies_;                      // by the time from which each holds
  std::map<std::string, std::vector<int64_t>, std::less<>> changed_at_us_;  // the last ones, by actor
};

}  // namespace curator::directory
