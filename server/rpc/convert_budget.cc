#include "rpc/convert_budget.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "dp/accounting/rule.h"
#include "google/protobuf/util/time_util.h"
#include "ledger/history/entry_payload.h"
#include "rpc/convert_schema.h"

namespace curator::rpc {
namespace {

using google::protobuf::util::TimeUtil;

// The shortest decimal that reads back as the same double, so a bound stays a bound.
std::string ExactDecimal(double number) {
  std::array<char, 40> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::string(text.data(), end) : "";
}

// Of the counter of which the largest share was spent.
double ShareSpent(const std::vector<ledger::CounterBalance>& counters) {
  double most = 0;
  for (const ledger::CounterBalance& counter : counters) {
    if (counter.limit <= 0) continue;
    most = std::max(most, static_cast<double>(counter.spent) / static_cast<double>(counter.limit));
  }
  return most;
}

v1::CalculatedEpsilon CalculatedEpsilonProto(const dp::CalculatedEpsilon& calculated) {
  v1::CalculatedEpsilon proto;
  proto.set_calculator(std::string(calculated.calculator));
  proto.set_adaptive(calculated.validity == dp::Validity::kAdaptive);
  proto.set_is_lower_bound(calculated.side == dp::BoundSide::kLower);
  if (!calculated.epsilon.ok()) {
    proto.set_remark(std::string(calculated.epsilon.status().message()));
  } else if (!std::isfinite(*calculated.epsilon)) {
    proto.set_remark("no epsilon: what the mechanisms state uses up delta");
  } else {
    proto.set_epsilon(ExactDecimal(*calculated.epsilon));
    proto.set_remark(calculated.remark);
  }
  return proto;
}

v1::HistoryComparison ComparisonProto(const service::HistoryComparison& comparison) {
  v1::HistoryComparison proto;
  proto.set_delta(comparison.delta.ToString());
  proto.set_charges(comparison.charges);
  proto.set_own_charges_only(comparison.own_charges_only);
  proto.set_not_computed(comparison.not_computed);
  for (const dp::CalculatedEpsilon& one : comparison.calculated)
    *proto.add_calculated() = CalculatedEpsilonProto(one);
  return proto;
}

v1::LimitProposal::State StateProto(service::ProposalState state) {
  switch (state) {
    case service::ProposalState::kPending:
      return v1::LimitProposal::PENDING;
    case service::ProposalState::kApproved:
      return v1::LimitProposal::APPROVED;
    case service::ProposalState::kOutdated:
      return v1::LimitProposal::OUTDATED;
    case service::ProposalState::kRequested:
      return v1::LimitProposal::REQUESTED;
    case service::ProposalState::kRejected:
      return v1::LimitProposal::REJECTED;
    case service::ProposalState::kWithdrawn:
      return v1::LimitProposal::WITHDRAWN;
    case service::ProposalState::kTakenUp:
      return v1::LimitProposal::TAKEN_UP;
  }
  return v1::LimitProposal::STATE_UNSPECIFIED;
}

}  // namespace

v1::Account ToProto(const service::AccountView& account) {
  v1::Account proto;
  proto.set_name(account.name);
  *proto.mutable_promise() = ToProto(account.rule);
  for (const ledger::CounterBalance& balance : account.counters) {
    v1::Counter* counter = proto.add_counters();
    counter->set_name(balance.counter);
    counter->set_limit(dp::FormatCounter(balance.counter, balance.limit));
    counter->set_spent(dp::FormatCounter(balance.counter, balance.spent));
    counter->set_held(dp::FormatCounter(balance.counter, balance.held));
    counter->set_remaining(dp::FormatCounter(balance.counter, balance.limit - balance.spent - balance.held));
  }
  if (account.scope_type == ledger::ScopeType::kPart) proto.set_part(account.scope_key);
  if (account.scope_type == ledger::ScopeType::kAnalyst) proto.set_analyst(account.scope_key);
  if (account.scope_type == ledger::ScopeType::kAnalystGroup) {
    proto.mutable_group()->set_name(account.scope_key);
    for (const std::string& member : account.members) proto.mutable_group()->add_members(member);
  }
  if (account.epsilon_used) proto.set_epsilon_used(account.epsilon_used->ToString());
  proto.set_share_spent(ShareSpent(account.counters));
  if (account.requests_left_like_last) proto.set_requests_left_like_last(*account.requests_left_like_last);
  return proto;
}

v1::GetBurnDownResponse ToProto(const service::BurnDown& burn_down) {
  v1::GetBurnDownResponse proto;
  proto.set_account(burn_down.account);
  for (const service::BurnDownCounter& counter : burn_down.counters) {
    v1::GetBurnDownResponse::Counter& shown = *proto.add_counters();
    shown.set_name(counter.name);
    for (const ledger::CounterPoint& point : counter.points) {
      v1::BurnDownPoint& added = *shown.add_points();
      *added.mutable_time() = TimeUtil::SecondsToTimestamp(point.second);
      added.set_limit(dp::FormatCounter(counter.name, point.limit));
      added.set_spent(dp::FormatCounter(counter.name, point.spent));
      added.set_held(dp::FormatCounter(counter.name, point.held));
    }
  }
  return proto;
}

v1::GetBudgetResponse ToProto(const service::BudgetView& budget) {
  v1::GetBudgetResponse proto;
  for (const service::AccountView& account : budget.accounts) *proto.add_accounts() = ToProto(account);
  proto.set_read_only(std::string(budget.read_only.message()));
  if (budget.last_request) {
    proto.mutable_last_request()->set_summary(budget.last_request->summary);
    *proto.mutable_last_request()->mutable_time() =
        TimeUtil::MicrosecondsToTimestamp(budget.last_request->created_at_us);
  }
  proto.set_protects(budget.protects);
  SetFacts(budget.facts, proto);
  if (budget.approval) {
    proto.set_custody(*budget.approval == ledger::Approval::kSingleCustody ? v1::CUSTODY_SINGLE
                                                                           : v1::CUSTODY_TWO_PERSONS);
  }
  if (budget.comparison) *proto.mutable_comparison() = ComparisonProto(*budget.comparison);
  return proto;
}

v1::Refusal ToProto(const audit::AuditRecord& record) {
  v1::Refusal proto;
  *proto.mutable_time() = TimeUtil::MicrosecondsToTimestamp(record.time_us);
  proto.set_principal(record.principal);
  proto.set_method(record.method);
  proto.set_request_id(record.request_id);
  for (const FullAccount& full : record.full_accounts) {
    v1::Refusal::Account& account = *proto.add_accounts();
    account.set_account(full.account);
    account.set_rule(full.rule);
    account.set_counter(full.counter);
    account.set_asked(dp::FormatCounter(full.counter, full.asked));
    account.set_remaining(dp::FormatCounter(full.counter, full.remaining));
  }
  return proto;
}

v1::LimitProposal ToProto(const service::LimitView& view) {
  const ledger::LimitProposal& proposal = view.proposal;
  v1::LimitProposal proto;
  proto.set_id(proposal.id);
  proto.set_state(StateProto(view.state));
  proto.set_account(view.account);
  *proto.mutable_old_promise() = ToProto(view.before);
  *proto.mutable_new_promise() = ToProto(view.after);
  proto.set_counter(proposal.counter);
  proto.set_old_limit(dp::FormatCounter(proposal.counter, proposal.old_limit));
  proto.set_new_limit(dp::FormatCounter(proposal.counter, proposal.new_limit));
  proto.set_reason(proposal.reason);
  proto.set_proposed_by(proposal.proposed_by);
  if (proposal.proposed_at_us != 0) {
    *proto.mutable_propose_time() = TimeUtil::MicrosecondsToTimestamp(proposal.proposed_at_us);
  }
  proto.set_approved_by(proposal.approved_by);
  proto.set_is_request(proposal.is_request);
  proto.set_ended_by(proposal.ended_by);
  const bool is_taken_up = proposal.end == ledger::ProposalEnd::kTakenUp;
  if (is_taken_up) proto.set_taken_up_by(proposal.end_reason);
  if (!is_taken_up) proto.set_end_reason(proposal.end_reason);
  return proto;
}

v1::LedgerEntry ToProto(const ledger::Entry& entry, std::string_view dataset) {
  v1::LedgerEntry proto;
  proto.set_dataset(std::string(dataset));
  proto.set_sequence(entry.seq);
  proto.set_kind(entry.kind);
  proto.set_actor(entry.actor);
  proto.set_actor_name(ledger::ActorName(entry));
  proto.set_charge_id(entry.charge_id);
  *proto.mutable_time() = TimeUtil::MicrosecondsToTimestamp(entry.created_at_us);
  proto.set_summary(service::Summary(entry));
  proto.set_payload(entry.payload);
  proto.set_previous_hash(entry.prev_hash);
  proto.set_hash(entry.hash);
  proto.set_dataset_id(entry.dataset_id);
  return proto;
}

v1::ChainLink ToProto(const service::LinkView& link, std::string_view dataset) {
  v1::ChainLink proto;
  proto.set_sequence(link.entry.seq);
  proto.set_previous_hash(link.entry.prev_hash);
  proto.set_hash(link.entry.hash);
  proto.set_is_repair(link.entry.kind == ledger::kRepaired);
  if (link.shows_content) *proto.mutable_entry() = ToProto(link.entry, dataset);
  return proto;
}

v1::Receipt ToProto(const service::Receipt& receipt) {
  v1::Receipt proto;
  proto.set_statement(receipt.statement);
  proto.set_signature(receipt.signature);
  proto.set_public_key(receipt.public_key);
  return proto;
}

v1::RepairProposal ToProto(const service::RepairProposal& proposal) {
  v1::RepairProposal proto;
  proto.set_statement(proposal.statement);
  proto.set_signature(proposal.signature);
  proto.set_public_key(proposal.public_key);
  for (const service::Receipt& receipt : proposal.receipts) *proto.add_receipts() = ToProto(receipt);
  return proto;
}

v1::RepairReport ToProto(const service::RepairView& view) {
  const ledger::RepairReport& report = view.report;
  v1::RepairReport proto;
  proto.set_first_lost_sequence(report.first_lost_seq);
  proto.set_last_lost_sequence(report.last_lost_seq);
  for (size_t i = 0; i < report.raised.size(); ++i) {
    const ledger::RaisedCounter& raised = report.raised[i];
    v1::RepairReport::Raised& one = *proto.add_raised();
    one.set_account(view.accounts.at(i));
    one.set_counter(raised.counter);
    one.set_old_spent(dp::FormatCounter(raised.counter, raised.old_spent));
    one.set_new_spent(dp::FormatCounter(raised.counter, raised.new_spent));
    one.set_old_limit(dp::FormatCounter(raised.counter, raised.old_limit));
    one.set_new_limit(dp::FormatCounter(raised.counter, raised.new_limit));
  }
  proto.set_reservations_spent(report.reservations_spent);
  proto.set_charges_forfeited(report.charges_forfeited);
  proto.set_is_needed(report.is_needed);
  proto.set_receipts_counted(report.receipts_counted);
  proto.set_still_read_only(std::string(report.still_read_only.message()));
  return proto;
}

}  // namespace curator::rpc
