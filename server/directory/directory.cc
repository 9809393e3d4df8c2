#include "directory/directory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"

namespace curator::directory {
namespace {

absl::Status Impossible(std::string_view what) {
  return absl::DataLossError(
      absl::StrCat("the history of the server contradicts itself: ", std::string(what)));
}

absl::Status NoPrincipal(std::string_view name) {
  return Impossible(absl::StrCat("there is no principal ", std::string(name)));
}

}  // namespace

absl::Status Directory::Apply(const ledger::Entry& stored, const NameOf& name_of) {
  ledger::Entry entry = stored;
  entry.actor = NameIn(stored.actor, name_of);
  const bool is_repair = entry.kind == ledger::kRepaired;
  if (entry.seq != seq_ + 1 && !(is_repair && entry.seq > seq_)) {
    return Impossible(absl::StrCat("entry ", entry.seq, " follows entry ", seq_));
  }
  absl::Status made;
  if (is_repair) {
    ASSIGN_OR_RETURN(const ledger::Repair repair, ledger::ParseRepair(entry.payload));
    const bool fits = repair.last_kept_seq == seq_ && entry.seq == std::max(seq_, repair.anchored_seq) + 1;
    if (!fits) return Impossible(absl::StrCat("entry ", entry.seq, " repairs another history"));
    DistrustAll(entry.created_at_us);
    custodies_[entry.created_at_us] = Custody::kTwoPersons;
  } else {
    ASSIGN_OR_RETURN(Change change, ParseChange(entry.kind, entry.payload));
    std::map<std::string, std::string> stored_names;
    VisitNames(change, [&](std::string& name) {
      const std::string stored_name = std::exchange(name, NameIn(name, name_of));
      stored_names[name] = stored_name;
    });
    made = std::visit([&](const auto& payload) { return Make(payload, entry); }, change);
    for (const auto& [name, stored_name] : stored_names) {
      PrincipalRecord* const record = principal(name);
      const bool is_new = record != nullptr && record->stored_name.empty();
      if (!is_new) continue;
      record->stored_name = stored_name;
      names_[stored_name] = name;
    }
  }
  if (!made.ok()) return Impossible(absl::StrCat("entry ", entry.seq, ": ", std::string(made.message())));
  Count(entry.actor, entry.created_at_us);
  seq_ = entry.seq;
  return absl::OkStatus();
}

// ---- Changes

absl::Status Directory::Make(const PrincipalCreated& change, const ledger::Entry& entry) {
  return AddPrincipal({.name = change.name,
                       .kind = change.kind,
                       .created_by = entry.actor,
                       .created_at_us = entry.created_at_us,
                       .may_have_rights = change.has_rights});
}

absl::Status Directory::Make(const PrincipalDisabled& change, const ledger::Entry& entry) {
  PrincipalRecord* const found = principal(change.name);
  if (found == nullptr) return NoPrincipal(change.name);
  found->is_disabled = true;
  found->disabled_at_us = entry.created_at_us;
  return absl::OkStatus();
}

absl::Status Directory::Make(const PrincipalEnabled& change, const ledger::Entry&) {
  PrincipalRecord* const found = principal(change.name);
  if (found == nullptr) return NoPrincipal(change.name);
  found->is_disabled = false;
  return absl::OkStatus();
}

absl::Status Directory::Make(const CredentialAdded& change, const ledger::Entry& entry) {
  return AddCredential({.id = change.id,
                        .principal = change.principal,
                        .identity = change.identity,
                        .secret_hash = change.secret_hash,
                        .label = change.label,
                        .added_at_us = entry.created_at_us,
                        .expires_at_us = change.expires_at_us,
                        .basis = change.basis,
                        .added_by = entry.actor,
                        .is_pending = change.is_pending});
}

absl::Status Directory::Make(const CredentialApproved& change, const ledger::Entry& entry) {
  const auto found = credentials_.find(change.id);
  if (found == credentials_.end()) return Impossible(absl::StrCat("there is no credential ", change.id));
  Credential& credential = found->second;
  PrincipalRecord* const holder = principal(credential.principal);
  credential.is_pending = false;
  pending_.erase(credential.id);
  credential.approved_by = entry.actor;
  holder->may_have_rights = true;
  // The maker of an API token has seen its secret; an approval does not change that.
  const bool is_known_to_maker = credential.identity.kind == CredentialKind::kApiToken;
  if (is_known_to_maker) holder->vouched_alone[credential.id] = credential.added_by;
  if (!is_known_to_maker) holder->vouched_alone.erase(credential.id);
  TieHolders(credential);
  return absl::OkStatus();
}

absl::Status Directory::Make(const CredentialRemoved& change, const ledger::Entry&) {
  const auto found = credentials_.find(change.id);
  if (found == credentials_.end()) return Impossible(absl::StrCat("there is no credential ", change.id));
  EraseCredential(change.id);
  return absl::OkStatus();
}

absl::Status Directory::Make(const PrincipalRegistered& change, const ledger::Entry& entry) {
  RETURN_IF_ERROR(
      AddPrincipal({.name = change.name, .created_by = entry.actor, .created_at_us = entry.created_at_us}));
  return AddCredential({.id = change.credential_id,
                        .principal = change.name,
                        .identity = change.identity,
                        .added_at_us = entry.created_at_us,
                        .basis = Basis::kIssuer,
                        .added_by = entry.actor});
}

absl::Status Directory::Make(const EnrolmentOpened& change, const ledger::Entry& entry) {
  if (principal(change.principal) == nullptr) return NoPrincipal(change.principal);
  enrolments_[change.principal] = {.id = change.id,
                                   .principal = change.principal,
                                   .identity = change.identity,
                                   .code_hash = change.code_hash,
                                   .expires_at_us = change.expires_at_us,
                                   .makes_administrator = change.makes_administrator,
                                   .opened_by = entry.actor};
  if (change.makes_administrator && entry.actor == kHostActor) ++administrators_by_host_;
  return absl::OkStatus();
}

int64_t Directory::CountTokensEnding(int64_t now_us, int64_t within_us) const {
  return std::ranges::count_if(credentials_, [&](const auto& each) {
    const Credential& credential = each.second;
    const bool is_token = !credential.secret_hash.empty() && !credential.is_pending;
    return is_token && credential.expires_at_us > now_us && credential.expires_at_us < now_us + within_us &&
           credential.expires_at_us - credential.added_at_us > within_us;
  });
}

absl::Status Directory::Make(const EnrolmentTried& change, const ledger::Entry&) {
  for (auto& [name, enrolment] : enrolments_) {
    if (enrolment.id != change.id) continue;
    ++enrolment.wrong_codes;
    return absl::OkStatus();
  }
  return Impossible("there is no such enrolment");
}

absl::Status Directory::Make(const EnrolmentUsed& change, const ledger::Entry& entry) {
  const Enrolment* const found = FindEnrolment(change.id);
  if (found == nullptr) return Impossible("there is no such enrolment");
  const Enrolment enrolment = *found;
  enrolments_.erase(enrolment.principal);
  if (enrolment.makes_administrator) {
    const RoleKey key{Role::kAdministrator, enrolment.principal, ""};
    roles_[key] = {
        .role = Role::kAdministrator, .principal = enrolment.principal, .bound_by = enrolment.opened_by};
  }
  return AddCredential({.id = change.credential_id,
                        .principal = enrolment.principal,
                        .identity = enrolment.identity,
                        .added_at_us = entry.created_at_us,
                        .basis = enrolment.opened_by == kHostActor ? Basis::kHost : Basis::kOwnProof,
                        .added_by = enrolment.opened_by});
}

absl::Status Directory::Make(const RoleBound& change, const ledger::Entry& entry) {
  if (principal(change.principal) == nullptr) return NoPrincipal(change.principal);
  roles_[{change.role, change.principal, change.dataset_id}] = {.role = change.role,
                                                                .principal = change.principal,
                                                                .dataset_id = change.dataset_id,
                                                                .bound_by = entry.actor,
                                                                .is_pending = change.is_pending};
  return absl::OkStatus();
}

absl::Status Directory::Make(const RoleApproved& change, const ledger::Entry& entry) {
  const auto found = roles_.find({change.role, change.principal, change.dataset_id});
  if (found == roles_.end()) return Impossible("there is no such role");
  found->second.is_pending = false;
  found->second.approved_by = entry.actor;
  return absl::OkStatus();
}

absl::Status Directory::Make(const RoleUnbound& change, const ledger::Entry&) {
  if (roles_.erase({change.role, change.principal, change.dataset_id}) == 1) return absl::OkStatus();
  return Impossible("there is no such role");
}

absl::Status Directory::Make(const CustodySet& change, const ledger::Entry& entry) {
  custodies_[entry.created_at_us] = change.custody;
  return absl::OkStatus();
}

absl::Status Directory::Make(const PrincipalForgotten& change, const ledger::Entry&) {
  const PrincipalRecord* const found = FindStored(change.pseudonym);
  if (found == nullptr) return NoPrincipal(change.pseudonym);
  const PrincipalRecord record = *found;
  const std::string& name = record.name;
  // Removes what it proposed, too: an administrator who could act as it could otherwise approve it.
  EraseCredentialsOf(record);
  std::erase_if(roles_, [&](const auto& each) {
    const RoleBinding& role = each.second;
    return role.principal == name || (role.is_pending && role.bound_by == name);
  });
  std::erase_if(enrolments_, [&](const auto& each) {
    return each.second.principal == name || each.second.opened_by == name;
  });
  // Claim: forgetting makes nobody another person. AreTwoPersons() is as it was for all others.
  std::set<std::string>& could_act_as_it = forgotten_[record.stored_name];
  could_act_as_it.insert(record.same_person.begin(), record.same_person.end());
  for (const auto& [id, administrator] : record.vouched_alone) could_act_as_it.insert(administrator);
  names_.erase(record.stored_name);
  principals_.erase(name);
  // A directory that is read later never has the name, and this one is to be the same.
  if (name != record.stored_name) Rename(name, record.stored_name);
  return absl::OkStatus();
}

void Directory::DistrustAll(int64_t at_us) {
  for (auto& [name, record] : principals_) {
    if (!record.is_disabled) record.disabled_at_us = at_us;
    record.is_disabled = true;
    record.may_have_rights = true;
    record.credentials.clear();
  }
  credentials_.clear();
  pending_.clear();
  identities_.clear();
  roles_.clear();
  enrolments_.clear();
}

absl::Status Directory::AddPrincipal(PrincipalRecord principal) {
  const std::string name = principal.name;
  if (principals_.emplace(name, std::move(principal)).second) return absl::OkStatus();
  return Impossible(absl::StrCat("the name ", name, " is used twice"));
}

absl::Status Directory::AddCredential(Credential credential) {
  PrincipalRecord* const holder = principal(credential.principal);
  if (holder == nullptr) return NoPrincipal(credential.principal);
  if (!identities_.emplace(credential.identity, credential.id).second) {
    return Impossible("two credentials have one identity");
  }
  holder->credentials.insert(credential.id);
  const bool is_one_word = credential.basis == Basis::kAdministrator && !credential.is_pending;
  if (is_one_word) holder->vouched_alone[credential.id] = credential.added_by;
  if (!credential.is_pending) holder->may_have_rights = true;
  if (!credential.is_pending) TieHolders(credential);
  if (credential.is_pending) pending_.insert(credential.id);
  const std::string id = credential.id;
  if (credentials_.emplace(id, std::move(credential)).second) return absl::OkStatus();
  return Impossible(absl::StrCat("the credential ", id, " is added twice"));
}

void Directory::EraseCredential(const std::string& id) {
  const auto found = credentials_.find(id);
  identities_.erase(found->second.identity);
  principal(found->second.principal)->credentials.erase(id);
  pending_.erase(id);
  credentials_.erase(found);
}

void Directory::EraseCredentialsOf(const PrincipalRecord& principal) {
  std::set<std::string> ended = principal.credentials;
  for (const std::string& id : pending_) {
    if (credentials_.at(id).added_by == principal.name) ended.insert(id);
  }
  for (const std::string& id : ended) EraseCredential(id);
}

void Directory::TieHolders(const Credential& credential) {
  if (credential.identity.kind == CredentialKind::kApiToken) return;
  std::string& last = last_proved_[credential.identity];
  const std::string before = std::exchange(last, credential.principal);
  if (before.empty() || before == credential.principal) return;
  principal(credential.principal)->same_person.insert(before);
  PrincipalRecord* const record = principal(before);
  (record == nullptr ? forgotten_[before] : record->same_person).insert(credential.principal);
}

void Directory::Rename(const std::string& name, const std::string& stored_name) {
  const auto rename = [&](std::string& each) {
    if (each == name) each = stored_name;
  };
  const auto rename_in = [&](std::set<std::string>& names) {
    if (names.erase(name) > 0) names.insert(stored_name);
  };
  for (auto& [key, record] : principals_) {
    rename(record.created_by);
    rename_in(record.same_person);
    for (auto& [id, administrator] : record.vouched_alone) rename(administrator);
  }
  for (auto& [key, names] : forgotten_) rename_in(names);
  for (auto& [identity, last] : last_proved_) rename(last);
  for (auto& [id, credential] : credentials_) {
    rename(credential.added_by);
    rename(credential.approved_by);
  }
  for (auto& [key, role] : roles_) {
    rename(role.bound_by);
    rename(role.approved_by);
  }
  auto counted = changed_at_us_.extract(name);
  if (counted.empty()) return;
  counted.key() = stored_name;
  changed_at_us_.insert(std::move(counted));
}

void Directory::Count(const std::string& actor, int64_t at_us) {
  std::vector<int64_t>& times = changed_at_us_[actor];
  if (times.size() == kMostCountedChanges) times.erase(times.begin());
  times.push_back(at_us);
}

// ---- Look-ups

std::string Directory::NameIn(const std::string& stored_name, const NameOf& name_of) const {
  const auto known = names_.find(stored_name);
  if (known != names_.end()) return known->second;
  return IsForgotten(stored_name) ? stored_name : name_of(stored_name);
}

PrincipalRecord* Directory::principal(std::string_view name) {
  const auto found = principals_.find(name);
  return found == principals_.end() ? nullptr : &found->second;
}

const PrincipalRecord* Directory::FindPrincipal(std::string_view name) const {
  const auto found = principals_.find(name);
  return found == principals_.end() ? nullptr : &found->second;
}

const PrincipalRecord* Directory::FindStored(std::string_view stored_name) const {
  const auto found = names_.find(stored_name);
  return found == names_.end() ? nullptr : FindPrincipal(found->second);
}

const Credential* Directory::FindCredential(std::string_view id) const {
  const auto found = credentials_.find(id);
  return found == credentials_.end() ? nullptr : &found->second;
}

const Credential* Directory::FindIdentity(const Identity& identity) const {
  const auto found = identities_.find(identity);
  return found == identities_.end() ? nullptr : FindCredential(found->second);
}

const Enrolment* Directory::FindEnrolment(std::string_view id) const {
  const auto found =
      std::ranges::find_if(enrolments_, [&](const auto& each) { return each.second.id == id; });
  return found == enrolments_.end() ? nullptr : &found->second;
}

const RoleBinding* Directory::FindRole(Role role, std::string_view principal,
                                       std::string_view dataset_id) const {
  const auto found = roles_.find({role, std::string(principal), std::string(dataset_id)});
  return found == roles_.end() ? nullptr : &found->second;
}

bool Directory::HasRole(Role role, std::string_view principal, std::string_view dataset_id) const {
  const PrincipalRecord* const record = FindPrincipal(principal);
  const RoleBinding* const binding = FindRole(role, principal, dataset_id);
  return record != nullptr && !record->is_disabled && binding != nullptr && !binding->is_pending;
}

std::vector<std::string> Directory::Administrators() const {
  std::vector<std::string> names;
  for (auto each = roles_.lower_bound({Role::kAdministrator, "", ""});
       each != roles_.end() && each->second.role == Role::kAdministrator; ++each) {
    const std::string& name = each->second.principal;
    if (HasRole(Role::kAdministrator, name)) names.push_back(name);
  }
  return names;
}

std::set<std::string> Directory::ControllersOf(std::string_view principal) const {
  std::set<std::string> controllers;
  std::vector<std::string> unexplored = {std::string(principal)};
  while (!unexplored.empty()) {
    const std::string name = std::move(unexplored.back());
    unexplored.pop_back();
    if (controllers.insert(name).second) AddControllers(name, unexplored);
  }
  return controllers;
}

void Directory::AddControllers(const std::string& principal, std::vector<std::string>& next) const {
  if (const PrincipalRecord* const record = FindPrincipal(principal); record != nullptr) {
    next.insert(next.end(), record->same_person.begin(), record->same_person.end());
    for (const auto& [credential_id, administrator] : record->vouched_alone) next.push_back(administrator);
  }
  const auto forgotten = forgotten_.find(principal);
  if (forgotten != forgotten_.end()) {
    next.insert(next.end(), forgotten->second.begin(), forgotten->second.end());
  }
}

bool Directory::AreTwoPersons(std::string_view one, std::string_view other) const {
  const std::set<std::string> of_one = ControllersOf(one);
  return std::ranges::none_of(ControllersOf(other),
                              [&](const std::string& each) { return of_one.count(each) > 0; });
}

Custody Directory::CustodyAt(int64_t time_us) const {
  const auto after = custodies_.upper_bound(time_us);
  return after == custodies_.begin() ? Custody::kTwoPersons : std::prev(after)->second;
}

std::vector<const PrincipalRecord*> Directory::ListPrincipals(std::string_view after, size_t limit) const {
  std::vector<const PrincipalRecord*> page;
  for (auto each = principals_.upper_bound(after); each != principals_.end() && page.size() < limit; ++each) {
    page.push_back(&each->second);
  }
  return page;
}

std::vector<const RoleBinding*> Directory::RolesOf(std::string_view principal) const {
  std::vector<const RoleBinding*> roles;
  for (const Role role :
       {Role::kAdministrator, Role::kApprover, Role::kOperator, Role::kCreator, Role::kAuditor}) {
    for (auto each = roles_.lower_bound({role, std::string(principal), ""});
         each != roles_.end() && each->second.role == role && each->second.principal == principal; ++each) {
      roles.push_back(&each->second);
    }
  }
  return roles;
}

int64_t Directory::ChangesToday(std::string_view actor, int64_t now_us) const {
  constexpr int64_t kDay = int64_t{24} * 3600 * 1'000'000;
  const auto found = changed_at_us_.find(actor);
  if (found == changed_at_us_.end()) return 0;
  return std::ranges::count_if(found->second, [&](int64_t at_us) { return at_us > now_us - kDay; });
}

}  // namespace curator::directory
