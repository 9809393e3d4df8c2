#include "service/accounts/budgets.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/accounting_codec.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/kept_promise.h"
#include "dp/accounting/units.h"
#include "ledger/history/entry_payload.h"
#include "service/accounts/accounts.h"
#include "service/charges/pricing.h"

namespace curator::service {
namespace {

// "4 marginals, 120 cells: rho 0.1"
std::string PostingsSummary(const std::string& label, const std::vector<ledger::Posting>& postings) {
  std::string summary = label;
  for (const ledger::Posting& posting : postings) {
    absl::StrAppend(&summary,
                    summary.empty()               ? ""
                    : &posting == postings.data() ? ": "
                                                  : ", ",
                    posting.counter, " ", dp::FormatCounter(posting.counter, posting.cost));
  }
  return summary;
}

std::string ChargeSummary(std::string_view payload) {
  const absl::StatusOr<ledger::ChargeMade> charge = ledger::ParseChargeMade(payload);
  return charge.ok() ? PostingsSummary(charge->label, charge->postings) : "";
}

// The postings of the charge to the first of `accounts` that it posted to: the dataset's own, or a part's.
// Other accounts may repeat the same counters.
std::vector<ledger::Posting> PostingsOfFirst(const std::vector<ledger::Account>& accounts,
                                             const ledger::Charge& charge) {
  std::vector<ledger::Posting> first;
  for (const ledger::Account& account : accounts) {
    if (!first.empty()) break;
    std::ranges::copy_if(charge.postings, std::back_inserter(first),
                         [&](const ledger::Posting& posting) { return posting.account_id == account.id; });
  }
  return first;
}

// The least remaining / cost over the counters that the charge posted to.
std::optional<int64_t> RequestsLeft(const ledger::Account& account, const ledger::Charge& charge) {
  std::optional<int64_t> left;
  for (const ledger::Posting& posting : charge.postings) {
    if (posting.account_id != account.id || posting.cost <= 0) continue;
    for (const ledger::CounterBalance& balance : account.counters) {
      if (balance.counter != posting.counter) continue;
      const int64_t remaining = std::max<int64_t>(0, balance.limit - balance.spent - balance.held);
      left = std::min(left.value_or(std::numeric_limits<int64_t>::max()), remaining / posting.cost);
    }
  }
  return left;
}

// The accounts that the principal may see; the first 1,000 of many.
absl::StatusOr<std::vector<ledger::Account>> FirstVisible(ledger::Ledger& ledger, const DatasetView& view,
                                                          const Principal& principal) {
  constexpr int64_t kMostAccounts = 1000;
  ASSIGN_OR_RETURN(std::vector<ledger::Account> paying, PayingAccounts(ledger, view, principal.name()));
  if (!view.MayAll(Method::kGetBudget)) return paying;
  return ledger.ListAccounts(view.record.id, {.limit = kMostAccounts});
}

// All events as one schedule.
absl::StatusOr<dp::Schedule> ScheduleOfAll(const std::vector<ledger::EventCount>& events) {
  dp::Schedule schedule;
  for (const auto& [bytes, charges] : events) {
    ASSIGN_OR_RETURN(const dp::Event event, codec::DecodeEvent(bytes));
    ASSIGN_OR_RETURN(dp::Schedule parts, dp::ScheduleOf(event));
    if (schedule.size() + parts.size() > kMostMechanismsCompared) {
      return absl::OutOfRangeError(
          absl::StrCat("the charges are of more than ", kMostMechanismsCompared, " mechanisms"));
    }
    for (dp::CountedEvent& part : parts) {
      ASSIGN_OR_RETURN(part.count, dp::CheckedMultiply(part.count, charges));
      schedule.push_back(std::move(part));
    }
  }
  return schedule;
}

// What is compared, and for whom.
struct History {
  const ledger::Dataset& dataset;
  const Principal& caller;
  const std::stop_token& client_left;
  bool own_charges_only = false;
  dp::Delta delta;

  // As the ledger's counts have it.
  std::string_view whose() const { return own_charges_only ? caller.name() : std::string_view(); }
};

// The comparison's numbers are a function of what is written here.
std::string KeyOf(const History& history, const std::vector<ledger::EventCount>& events) {
  CanonicalWriter writer("curator.comparison", 1);
  writer.Text(history.dataset.id);
  writer.Integer(history.delta.units());
  for (const ledger::EventCount& event : events) {
    writer.Text(event.event);
    writer.Integer(event.charges);
  }
  return Sha256(std::move(writer).Take());
}

absl::StatusOr<ComparisonCache::Rows> RowsFor(Services& services, const History& history,
                                              const std::vector<ledger::EventCount>& events,
                                              const dp::Schedule& schedule) {
  const std::string key = KeyOf(history, events);
  if (std::optional<ComparisonCache::Rows> kept = services.comparisons.Find(history.caller, key))
    return *std::move(kept);
  ASSIGN_OR_RETURN(const MemoryBudget::Lease memory,
                   services.memory.Take(history.caller, dp::kBoundedBytes, history.client_left));
  // Another call may have computed it while this one waited.
  if (std::optional<ComparisonCache::Rows> kept = services.comparisons.Find(history.caller, key))
    return *std::move(kept);
  ASSIGN_OR_RETURN(
      ComparisonCache::Rows rows,
      dp::CompareCalculators(schedule, history.delta, dp::Effort::kBounded, history.client_left));
  services.comparisons.Keep(history.caller, key, rows);
  return rows;
}

// Each distinct event is decoded once: the ledger groups equal ones.
absl::StatusOr<HistoryComparison> CompareHistory(Services& services, const History& history) {
  HistoryComparison comparison{.delta = history.delta, .own_charges_only = history.own_charges_only};
  if (!history.dataset.partition_attribute.empty()) {
    comparison.not_computed = "not computed: each part of a partitioned dataset is counted on its own";
    return comparison;
  }
  absl::StatusOr<std::vector<ledger::EventCount>> counted =
      services.ledger.CountEvents(history.dataset.id, history.whose(), kMostEventsCompared + 1);
  // The store's own errors have other words for clients.
  if (absl::IsUnavailable(counted.status()) && !PublicErrorOf(counted.status()).has_value()) {
    comparison.not_computed = absl::StrCat("not computed: ", std::string(counted.status().message()));
    return comparison;
  }
  RETURN_IF_ERROR(counted.status());
  const std::vector<ledger::EventCount> events = *std::move(counted);
  if (static_cast<int64_t>(events.size()) > kMostEventsCompared) {
    comparison.not_computed =
        absl::StrCat("not computed: the charges are of more than ", kMostEventsCompared, " different kinds");
    return comparison;
  }
  for (const ledger::EventCount& event : events) comparison.charges += event.charges;
  if (events.empty()) return comparison;
  const absl::StatusOr<dp::Schedule> schedule = ScheduleOfAll(events);
  if (absl::IsDataLoss(schedule.status())) return schedule.status();
  if (!schedule.ok()) {
    comparison.not_computed = absl::StrCat("not computed: ", std::string(schedule.status().message()));
    return comparison;
  }
  ASSIGN_OR_RETURN(comparison.calculated, RowsFor(services, history, events, *schedule));
  return comparison;
}

// At the delta that the dataset's own account promises.
absl::StatusOr<dp::Delta> ComparedAt(const std::vector<ledger::Account>& accounts) {
  for (const ledger::Account& account : accounts) {
    if (account.scope_type != ledger::ScopeType::kDataset) continue;
    ASSIGN_OR_RETURN(const dp::RuleSpec rule, PromiseOf(account));
    if (rule.delta.units() > 0) return rule.delta;
  }
  return kDeltaComparedUnderPure;
}

// "analyst ana: epsilon 0.5", "group interns (2 members): rho 0.1", "part 2024: rho 0.1"
std::string OpeningSummary(const ledger::OpenedAccount& opened) {
  const ledger::AccountSpec& account = opened.spec;
  std::string summary = absl::StrCat("analyst ", account.scope_key);
  if (account.scope_type == ledger::ScopeType::kPart) summary = absl::StrCat("part ", account.scope_key);
  if (account.scope_type == ledger::ScopeType::kAnalystGroup) {
    summary = absl::StrCat("group ", account.scope_key, " (", account.members.size(),
                           account.members.size() == 1 ? " member)" : " members)");
  }
  for (const ledger::CounterLimit& limit : account.limits) {
    absl::StrAppend(&summary, &limit == account.limits.data() ? ": " : ", ", limit.counter, " ",
                    dp::FormatCounter(limit.counter, limit.limit));
  }
  return summary;
}

std::string TextOf(ledger::Approval approval) {
  return approval == ledger::Approval::kSingleCustody ? " (single custody)" : "";
}

// "entries 12 to 15 are lost; epsilon raised by 0.3: the disk failed"
std::string RepairSummary(const ledger::Entry& entry) {
  const absl::StatusOr<ledger::Repair> repair = ledger::ParseRepair(ledger::NamedPayload(entry));
  if (!repair.ok()) return "";
  std::string summary;
  if (entry.seq > repair->last_kept_seq + 1) {
    absl::StrAppend(&summary, "entries ", repair->last_kept_seq + 1, " to ", entry.seq - 1, " are lost");
  }
  for (const ledger::RaisedBy& raised : repair->raised) {
    absl::StrAppend(&summary, summary.empty() ? "" : "; ", raised.counter, " raised by ",
                    dp::FormatCounter(raised.counter, raised.amount));
  }
  if (!repair->proposed_by.empty()) absl::StrAppend(&summary, ", proposed by ", repair->proposed_by);
  return absl::StrCat(summary, TextOf(repair->approval), ": ", repair->reason);
}

// "ana: analyst, service until 2027-01-01T00:00:00Z"
std::string GrantSummary(std::string_view payload) {
  const absl::StatusOr<ledger::Grant> grant = ledger::ParseGrant(payload);
  if (!grant.ok()) return "";
  const std::string until =
      grant->expires_at_us == 0
          ? ""
          : absl::StrCat(" until ",
                         absl::FormatTime(absl::RFC3339_sec, absl::FromUnixMicros(grant->expires_at_us),
                                          absl::UTCTimeZone()));
  return absl::StrCat(grant->grantee, ": ", DescribeGranted(grant->roles), until);
}

// "epsilon 0.5 to 0.7: a second study"
std::string LimitSummary(std::string_view payload) {
  const absl::StatusOr<ledger::LimitChange> change = ledger::ParseLimitChange(payload);
  if (!change.ok()) return "";
  return absl::StrCat(change->counter, " ", dp::FormatCounter(change->counter, change->old_limit), " to ",
                      dp::FormatCounter(change->counter, change->new_limit), TextOf(change->approval), ": ",
                      change->reason);
}

std::string FactsSummary(const ledger::DatasetFacts& facts) {
  std::vector<std::string> said;
  if (facts.domain_from_records) said.emplace_back("domain_from_records");
  if (facts.rows_from_query) said.emplace_back("rows_from_query");
  return absl::StrJoin(said, ", ");
}

std::string AfterSemicolon(const std::string& text) {
  return text.empty() ? text : absl::StrCat("; ", text);
}

std::string LookSummary(std::string_view payload) {
  const absl::StatusOr<ledger::OwnerLook> look = ledger::ParseOwnerLook(payload);
  if (!look.ok()) return "";
  return absl::StrCat(
      "at a file on ",
      absl::FormatTime("%Y-%m-%d %H:%M", absl::FromUnixMicros(look->time_us), absl::UTCTimeZone()), " UTC",
      look->accepted_domain ? "; ranges, categories or bins were taken from it" : "");
}

}  // namespace

namespace {

// What is not computed is taken to be all that the promise allows.
std::optional<dp::Epsilon> EpsilonUsedOf(const dp::RuleSpec& promise,
                                         const std::vector<ledger::CounterBalance>& counters) {
  std::vector<dp::CounterAmount> limits;
  std::vector<dp::CounterAmount> spent;
  bool is_within = true;
  for (const ledger::CounterBalance& counter : counters) {
    limits.push_back({counter.counter, counter.limit});
    spent.push_back({counter.counter, counter.spent});
    is_within = is_within && counter.spent <= counter.limit;
  }
  const absl::StatusOr<dp::Epsilon> used = dp::EpsilonUsed(promise, limits, spent);
  if (used.ok()) return *used;
  return is_within ? std::optional(promise.epsilon) : std::nullopt;
}

// Whether epsilons that were used of both are about the same delta.
bool AreComparable(const dp::RuleSpec& a, const dp::RuleSpec& b) {
  return a.kind == b.kind && a.delta == b.delta;
}

}  // namespace

absl::StatusOr<AccountView> ViewOf(const DatasetView& dataset, const ledger::Account& account) {
  ASSIGN_OR_RETURN(const dp::RuleSpec rule, PromiseOf(account));
  return AccountView{
      .name = AccountName(dataset, account),
      .rule = rule,
      .counters = account.counters,
      .epsilon_used = EpsilonUsedOf(rule, account.counters),
      .scope_type = account.scope_type,
      .scope_key = account.scope_key,
      .members = dataset.MayAll(Method::kListAccounts) ? account.members : std::vector<std::string>()};
}

absl::StatusOr<BudgetView> GetBudget(Services& services, const Principal& principal,
                                     const DatasetName& dataset, BudgetDetail detail,
                                     const std::stop_token& client_left) {
  ledger::Ledger& ledger = services.ledger;
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(services.access(), Method::kGetBudget, principal, dataset));
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts, FirstVisible(ledger, view, principal));
  const absl::StatusOr<ledger::Charge> last = ledger.LatestCharge(view.record.id, principal);
  BudgetView budget;
  budget.read_only = ledger.DatasetHealth(view.record.id);
  // A damaged row may be the reason for which the dataset is read-only.
  if (!last.ok() && !absl::IsNotFound(last.status()) && budget.read_only.ok()) return last.status();
  budget.protects = WhatItProtects(view);
  budget.facts = view.record.facts;
  if (services.directory != nullptr) {
    ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, services.directory->Current());
    budget.approval = current->custody() == directory::Custody::kSingle ? ledger::Approval::kSingleCustody
                                                                        : ledger::Approval::kByAnother;
  }
  if (last.ok()) {
    budget.last_request = {PostingsSummary(last->label, PostingsOfFirst(accounts, *last)),
                           last->created_at_us};
  }
  if (detail == BudgetDetail::kWithComparison && budget.read_only.ok()) {
    ASSIGN_OR_RETURN(const dp::Delta delta, ComparedAt(accounts));
    ASSIGN_OR_RETURN(budget.comparison,
                     CompareHistory(services, {.dataset = view.record,
                                               .caller = principal,
                                               .client_left = client_left,
                                               .own_charges_only = !view.MayAll(Method::kGetBudget),
                                               .delta = delta}));
  }
  for (const ledger::Account& account : accounts) {
    ASSIGN_OR_RETURN(AccountView account_view, ViewOf(view, account));
    if (last.ok()) account_view.requests_left_like_last = RequestsLeft(account, *last);
    budget.accounts.push_back(std::move(account_view));
  }
  return budget;
}

std::optional<AccountView> LargestPart(std::string_view dataset, const std::vector<AccountView>& accounts) {
  std::optional<AccountView> largest;
  for (const AccountView& account : accounts) {
    if (account.scope_type != ledger::ScopeType::kPart) continue;
    if (!largest) {
      largest = account;
      largest->name = ledger::AccountName(dataset, ledger::ScopeType::kDataset, "");
      largest->scope_type = ledger::ScopeType::kDataset;
      largest->scope_key.clear();
      continue;
    }
    if (!AreComparable(largest->rule, account.rule) || !account.epsilon_used) largest->epsilon_used.reset();
    if (largest->epsilon_used)
      largest->epsilon_used = std::max(*largest->epsilon_used, *account.epsilon_used);
    for (size_t i = 0; i < largest->counters.size() && i < account.counters.size(); ++i) {
      ledger::CounterBalance& most = largest->counters[i];
      most.limit = std::max(most.limit, account.counters[i].limit);
      most.spent = std::max(most.spent, account.counters[i].spent);
      most.held = std::max(most.held, account.counters[i].held);
    }
  }
  return largest;
}

absl::StatusOr<EntriesPage> ReadVisibleEntries(const Access& access, Method method,
                                               const Principal& principal, std::string_view dataset_id,
                                               Roles roles, const ledger::EntryRange& range) {
  const bool sees_all = PermissionFor(method).ExtentFor(roles) == Extent::kAll;
  ledger::EntryRange visible = range;
  if (!sees_all) visible.charges_of = principal.name();
  EntriesPage read;
  ASSIGN_OR_RETURN(read.entries, access.ledger.ListEntries(dataset_id, visible));
  read.last_seq = read.entries.empty() ? range.after_seq : read.entries.back().seq;
  read.has_more = static_cast<int64_t>(read.entries.size()) == range.limit;
  const auto is_hidden = [&](const ledger::Entry& entry) { return !MayReadEntry(roles, entry, principal); };
  // Viewers of the whole history see that there is an entry of which no principal reads the content.
  if (!sees_all) std::erase_if(read.entries, is_hidden);
  for (ledger::Entry& entry : read.entries) {
    if (is_hidden(entry)) entry.payload.clear();
  }
  return read;
}

absl::StatusOr<EntriesPage> ListLedgerEntries(const Access& access, const Principal& principal,
                                              const DatasetName& dataset, const ledger::EntryRange& range) {
  constexpr Method kMethod = Method::kListLedgerEntries;
  ASSIGN_OR_RETURN(const DatasetView view, FindHistory(access, kMethod, principal, dataset));
  return ReadVisibleEntries(access, kMethod, principal, view.record.id, view.roles, range);
}

std::string Summary(const ledger::Entry& entry) {
  if (entry.kind == ledger::kCharged || entry.kind == ledger::kReserved) return ChargeSummary(entry.payload);
  if (entry.kind == ledger::kGranted || entry.kind == ledger::kRevoked)
    return GrantSummary(ledger::NamedPayload(entry));
  if (entry.kind == ledger::kReleaseShared || entry.kind == ledger::kOwnerAction) {
    return ledger::ParseNote(ledger::NamedPayload(entry)).value_or("");
  }
  if (entry.kind == ledger::kPublished) {
    const absl::StatusOr<ledger::DatasetPublished> published = ledger::ParseDatasetPublished(entry.payload);
    return published.ok() ? absl::StrCat("without any guarantee", TextOf(published->approval)) : "";
  }
  if (entry.kind == ledger::kRulesSet) {
    return ledger::ParseRulesSet(entry.payload).value_or(ledger::RulesSet{}).summary;
  }
  if (entry.kind == ledger::kRepaired) return RepairSummary(entry);
  if (entry.kind == ledger::kLimitRequested || entry.kind == ledger::kLimitProposed ||
      entry.kind == ledger::kLimitChanged) {
    return LimitSummary(entry.payload);
  }
  if (const absl::StatusOr<ledger::LimitEnded> ended = ledger::ParseLimitEnded(entry.payload); ended.ok()) {
    return ended->reason;
  }
  if (entry.kind == ledger::kAccountOpened) {
    const absl::StatusOr<ledger::OpenedAccount> opened =
        ledger::ParseOpenedAccount(ledger::NamedPayload(entry));
    return opened.ok() ? OpeningSummary(*opened) : "";
  }
  if (entry.kind == ledger::kPartAdded) {
    const absl::StatusOr<ledger::PartAdded> added = ledger::ParsePartAdded(entry.payload);
    return added.ok() ? OpeningSummary(added->account) : "";
  }
  if (entry.kind == ledger::kPartSealed) {
    const absl::StatusOr<ledger::PartSealed> sealed = ledger::ParsePartSealed(entry.payload);
    if (!sealed.ok()) return "";
    return absl::StrCat("part no. ", sealed->number, " makes version ", sealed->version,
                        AfterSemicolon(FactsSummary(sealed->facts)));
  }
  if (entry.kind == ledger::kDatasetCreated) {
    return FactsSummary(ledger::ParseDatasetCreated(entry.payload).value_or(ledger::DatasetCreated{}).facts);
  }
  if (entry.kind == ledger::kSealed) {
    return FactsSummary(ledger::ParseDatasetSealed(entry.payload).value_or(ledger::DatasetSealed{}).facts);
  }
  if (entry.kind == ledger::kOwnerLooked) return LookSummary(entry.payload);
  if (entry.kind == ledger::kImportUndone) {
    const absl::StatusOr<ledger::ImportUndone> undone = ledger::ParseImportUndone(entry.payload);
    return undone.ok() ? absl::StrCat("import ", undone->import_request_id) : "";
  }
  const absl::StatusOr<ledger::ChargeChanged> change = ledger::ParseChargeChanged(entry.payload);
  if (!change.ok()) return "";
  return change->release_id.empty() ? change->reason : absl::StrCat("release ", change->release_id);
}

absl::StatusOr<std::vector<LinkView>> ListChainLinks(const Access& access, const Principal& principal,
                                                     const DatasetName& dataset, const ledger::Page& page) {
  ASSIGN_OR_RETURN(const DatasetView view, FindHistory(access, Method::kListChainLinks, principal, dataset));
  ASSIGN_OR_RETURN(
      std::vector<ledger::Entry> entries,
      access.ledger.ListEntries(view.record.id, {.after_seq = page.after_seq, .limit = page.limit}));
  std::vector<LinkView> links;
  for (ledger::Entry& entry : entries) {
    const bool shows_content = MayReadEntry(view.roles, entry, principal);
    links.push_back({std::move(entry), shows_content});
  }
  return links;
}

absl::StatusOr<VerifiedLedger> VerifyLedger(const Access& access, const Principal& principal,
                                            const DatasetName& dataset, PrincipalQuotas* quotas) {
  ASSIGN_OR_RETURN(const DatasetView view, FindHistory(access, Method::kVerifyLedger, principal, dataset));
  constexpr int64_t kMinuteUs = 60'000'000;
  const bool sees_findings = view.roles.Has(Role::kOwner) || view.roles.Has(Role::kAuditor);
  const std::optional<int64_t> most_age_us = sees_findings ? std::optional(kMinuteUs) : std::nullopt;
  VerifiedLedger verified{.verification = {}, .dataset_id = view.record.id};
  const auto count = [&] {
    return quotas == nullptr ? absl::OkStatus() : quotas->CountVerification(principal);
  };
  ASSIGN_OR_RETURN(verified.verification, access.ledger.LastVerification(view.record.id, most_age_us, count));
  std::vector<std::string>& findings = verified.verification.findings;
  // Not how many, either: they may concern other datasets of the lineage.
  if (!sees_findings && !findings.empty()) {
    findings = {"the dataset's owner and its auditors may read what contradicts what"};
  }
  return verified;
}

}  // namespace curator::service
