#include <string>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/document.h"
#include "client/cli/output/names.h"
#include "client/cli/output/tables.h"
#include "client/client.h"

namespace curator::cli {
namespace {

std::string NameOfState(v1::LimitProposal::State state) {
  switch (state) {
    case v1::LimitProposal::PENDING:
      return "pending";
    case v1::LimitProposal::APPROVED:
      return "approved";
    case v1::LimitProposal::OUTDATED:
      return "outdated";
    default:
      return "unknown";
  }
}

std::string DeltaOf(const v1::BudgetLimit& promise) {
  return promise.delta().empty() ? "0" : promise.delta();
}

Document DocumentOf(const v1::LimitProposal& proposal) {
  Document document;
  document.fields = {{"proposal", "proposal", TextOrNone(proposal.id())},
                     {"state", "state", NameOfState(proposal.state())},
                     {"account", "account", proposal.account()},
                     {"rule", "rule", NameOf(proposal.old_promise().rule())},
                     {"old_promise", "promise", TextOfPromise(proposal.old_promise()), Audience::kPeople},
                     {"new_promise", "new promise", TextOfPromise(proposal.new_promise()), Audience::kPeople},
                     {"old_epsilon", "", proposal.old_promise().epsilon(), Audience::kPrograms},
                     {"old_delta", "", DeltaOf(proposal.old_promise()), Audience::kPrograms},
                     {"new_epsilon", "", proposal.new_promise().epsilon(), Audience::kPrograms},
                     {"new_delta", "", DeltaOf(proposal.new_promise()), Audience::kPrograms},
                     {"counter", "counter", proposal.counter()},
                     {"old_limit", "limit", proposal.old_limit()},
                     {"new_limit", "new limit", proposal.new_limit()},
                     {"reason", "reason", proposal.reason()},
                     {"proposed_by", "proposed by", proposal.proposed_by()},
                     {"propose_time", "proposed at", TextOrNone(TextOfTime(proposal.propose_time()))},
                     {"approved_by", "approved by", TextOrNone(proposal.approved_by())}};
  return document;
}

Table ProposalTable(const v1::ListLimitProposalsResponse& listed) {
  Table table{"proposals",
              "",
              {{"proposal", "proposal"},
               {"state", "state"},
               {"account", "account"},
               {"old_epsilon", "epsilon", Align::kRight},
               {"new_epsilon", "new epsilon", Align::kRight},
               {"old_delta", "delta", Align::kRight},
               {"new_delta", "new delta", Align::kRight},
               {"counter", "counter", Align::kLeft, Audience::kPrograms},
               {"old_limit", "limit", Align::kRight, Audience::kPrograms},
               {"new_limit", "new limit", Align::kRight, Audience::kPrograms},
               {"proposed_by", "by"},
               {"propose_time", "at"},
               {"approved_by", "approved by"},
               {"reason", "reason"}},
              {}};
  for (const v1::LimitProposal& proposal : listed.proposals()) {
    table.rows.push_back(
        {proposal.id(), NameOfState(proposal.state()), proposal.account(), proposal.old_promise().epsilon(),
         proposal.new_promise().epsilon(), DeltaOf(proposal.old_promise()), DeltaOf(proposal.new_promise()),
         proposal.counter(), proposal.old_limit(), proposal.new_limit(), proposal.proposed_by(),
         TextOfTime(proposal.propose_time()), TextOrNone(proposal.approved_by()), proposal.reason()});
  }
  return table;
}

v1::ApproveLimitChangeRequest OnProposal(const std::string& dataset, const std::string& proposal) {
  v1::ApproveLimitChangeRequest request;
  request.set_dataset(dataset);
  request.set_proposal_id(proposal);
  return request;
}

}  // namespace

absl::Status Run(Session& session, const ProposeLimit& command) {
  v1::ProposeLimitChangeRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  if (!command.account.empty()) request.set_account("dataset/" + command.dataset + "/" + command.account);
  if (command.delta.empty()) {
    request.set_epsilon(command.epsilon);
  } else {
    request.set_delta(command.delta);
  }
  request.set_reason(command.reason);
  ASSIGN_OR_RETURN(const v1::LimitProposal proposal, session.client.ProposeLimitChange(request));
  Document document = DocumentOf(proposal);
  if (proposal.state() == v1::LimitProposal::PENDING) {
    document.notes.push_back(
        "nothing has changed yet; somebody else approves with: curator account limit "
        "approve " +
        command.dataset + " " + proposal.id());
  }
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ShowLimitProposal& command) {
  v1::ApproveLimitChangeRequest request = OnProposal(command.dataset, command.proposal);
  request.set_validate_only(true);
  ASSIGN_OR_RETURN(const v1::LimitProposal proposal, session.client.ApproveLimitChange(request));
  session.Print(DocumentOf(proposal));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ApproveLimit& command) {
  ASSIGN_OR_RETURN(const v1::LimitProposal proposal,
                   session.client.ApproveLimitChange(OnProposal(command.dataset, command.proposal)));
  session.Print(DocumentOf(proposal));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListLimitProposals& command) {
  ASSIGN_OR_RETURN(const v1::ListLimitProposalsResponse listed,
                   session.client.ListLimitProposals(command.dataset));
  Document document;
  document.tables.push_back(ProposalTable(listed));
  if (listed.proposals().empty()) document.notes.emplace_back("no change of a limit was proposed");
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace curator::cli
