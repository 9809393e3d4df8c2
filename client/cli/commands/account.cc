// `curator account`: accounts of analysts and groups, and changes of their limits.
#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct CreateAccount {
  std::string dataset;
  std::string analyst;  // or
  std::string group;    // with its members
  std::vector<std::string> members;
  PromiseChoice promise;
  std::string request_id;
};

struct ListAccounts {
  std::string dataset;
  int64_t most = Client::kAll;
};

struct ChangeLimit {
  std::string dataset;
  std::string account;  // "analyst/ana"; empty: the dataset's own
  std::string epsilon;  // or
  std::string delta;
  std::string reason;
  std::string request_id;
};

struct ProposeLimit : ChangeLimit {};

struct RequestLimit : ChangeLimit {};

struct TakeUpRequest : ChangeLimit {
  std::string request;
};

struct ShowLimitProposal {
  std::string dataset;
  std::string proposal;
};

struct ApproveLimit {
  std::string dataset;
  std::string proposal;
};

struct RejectLimit {
  std::string dataset;
  std::string proposal;
  std::string reason;
};

struct WithdrawLimit {
  std::string dataset;
  std::string proposal;
};

struct ShowInbox {
  int64_t most = Client::kAll;
};

struct ListLimitProposals {
  std::string dataset;
  int64_t most = Client::kAll;
};

// The accounts with, for groups, who belongs to them.
Table WithMembers(const google::protobuf::RepeatedPtrField<v1::Account>& accounts, const Terminal& terminal) {
  Table table = AccountTable(accounts, terminal);
  table.columns.push_back({"members", "members"});
  size_t row = 0;
  for (const v1::Account& account : accounts) {
    const std::vector<std::string> members(account.group().members().begin(),
                                           account.group().members().end());
    for (int counter = 0; counter < account.counters_size(); ++counter) {
      table.rows[row++].emplace_back(members);
    }
  }
  return table;
}

absl::Status Run(Session& session, const CreateAccount& command) {
  v1::CreateAccountRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  if (command.group.empty()) {
    request.set_analyst(command.analyst);
  } else {
    request.mutable_group()->set_name(command.group);
    for (const std::string& member : command.members) request.mutable_group()->add_members(member);
  }
  *request.mutable_limit() = LimitOf(command.promise);
  v1::ListAccountsResponse opened;
  ASSIGN_OR_RETURN(const v1::Account account, session.client.CreateAccount(request));
  *opened.add_accounts() = account;
  Document document;
  document.tables.push_back(WithMembers(opened.accounts(), session.terminal));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListAccounts& command) {
  ASSIGN_OR_RETURN(const v1::ListAccountsResponse listed,
                   session.client.ListAccounts(command.dataset, command.most));
  Document document;
  document.tables.push_back(WithMembers(listed.accounts(), session.terminal));
  session.Print(document);
  return absl::OkStatus();
}

std::string NameOfState(v1::LimitProposal::State state) {
  switch (state) {
    case v1::LimitProposal::PENDING:
      return "pending";
    case v1::LimitProposal::APPROVED:
      return "approved";
    case v1::LimitProposal::OUTDATED:
      return "outdated";
    case v1::LimitProposal::REQUESTED:
      return "requested";
    case v1::LimitProposal::REJECTED:
      return "rejected";
    case v1::LimitProposal::WITHDRAWN:
      return "withdrawn";
    case v1::LimitProposal::TAKEN_UP:
      return "taken up";
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
                     {"old_promise", "promise", FormatPromise(proposal.old_promise()), ShownIn::kTables},
                     {"new_promise", "new promise", FormatPromise(proposal.new_promise()), ShownIn::kTables},
                     {"old_epsilon", "", proposal.old_promise().epsilon(), ShownIn::kJsonAndCsv},
                     {"old_delta", "", DeltaOf(proposal.old_promise()), ShownIn::kJsonAndCsv},
                     {"new_epsilon", "", proposal.new_promise().epsilon(), ShownIn::kJsonAndCsv},
                     {"new_delta", "", DeltaOf(proposal.new_promise()), ShownIn::kJsonAndCsv},
                     {"counter", "counter", proposal.counter()},
                     {"old_limit", "limit", proposal.old_limit()},
                     {"new_limit", "new limit", proposal.new_limit()},
                     {"reason", "reason", proposal.reason()},
                     {"proposed_by", "proposed by", proposal.proposed_by()},
                     {"propose_time", "proposed at", TextOrNone(FormatTime(proposal.propose_time()))},
                     {"approved_by", "approved by", TextOrNone(proposal.approved_by())}};
  if (!proposal.ended_by().empty()) {
    document.fields.push_back({"ended_by", NameOfState(proposal.state()) + " by", proposal.ended_by()});
  }
  if (!proposal.end_reason().empty()) {
    document.fields.push_back({"end_reason", "because", proposal.end_reason()});
  }
  if (!proposal.taken_up_by().empty()) {
    document.fields.push_back({"taken_up_by", "as proposal", proposal.taken_up_by()});
  }
  return document;
}

std::vector<Column> ProposalColumns() {
  return {{"proposal", "proposal"},
          {"state", "state"},
          {"account", "account"},
          {"old_epsilon", "epsilon", Align::kRight},
          {"new_epsilon", "new epsilon", Align::kRight},
          {"old_delta", "delta", Align::kRight},
          {"new_delta", "new delta", Align::kRight},
          {"counter", "counter", Align::kLeft, ShownIn::kJsonAndCsv},
          {"old_limit", "limit", Align::kRight, ShownIn::kJsonAndCsv},
          {"new_limit", "new limit", Align::kRight, ShownIn::kJsonAndCsv},
          {"proposed_by", "by"},
          {"propose_time", "at"},
          {"approved_by", "approved by"},
          {"ended_by", "ended by", Align::kLeft, ShownIn::kJsonAndCsv},
          {"reason", "reason"}};
}

Row RowOf(const v1::LimitProposal& proposal) {
  return {proposal.id(),
          NameOfState(proposal.state()),
          proposal.account(),
          proposal.old_promise().epsilon(),
          proposal.new_promise().epsilon(),
          DeltaOf(proposal.old_promise()),
          DeltaOf(proposal.new_promise()),
          proposal.counter(),
          proposal.old_limit(),
          proposal.new_limit(),
          proposal.proposed_by(),
          FormatTime(proposal.propose_time()),
          TextOrNone(proposal.approved_by()),
          proposal.ended_by(),
          proposal.reason()};
}

Table ProposalTable(const v1::ListLimitProposalsResponse& listed) {
  Table table{"proposals", "", ProposalColumns(), {}};
  for (const v1::LimitProposal& proposal : listed.proposals()) table.rows.push_back(RowOf(proposal));
  return table;
}

// Of a dataset that waits to be published.
Row PublicationRow() {
  Row row;
  for (const Column& column : ProposalColumns()) {
    row.emplace_back(column.key == "state" ? std::string("PUBLICATION") : std::string());
  }
  return row;
}

// With the dataset of each, which says where to answer.
Table InboxTable(const v1::ListInboxResponse& inbox) {
  Table table{"items", "", ProposalColumns(), {}};
  table.columns.insert(table.columns.begin(), {"dataset", "dataset"});
  for (const v1::ListInboxResponse::Item& item : inbox.items()) {
    Row row = item.has_proposal() ? RowOf(item.proposal()) : PublicationRow();
    row.insert(row.begin(), item.dataset());
    table.rows.push_back(std::move(row));
  }
  return table;
}

v1::ApproveLimitChangeRequest OnProposal(const std::string& dataset, const std::string& proposal) {
  v1::ApproveLimitChangeRequest request;
  request.set_dataset(dataset);
  request.set_proposal_id(proposal);
  return request;
}

// The request of a command that proposes a change or asks for one.
template <typename Request>
absl::StatusOr<Request> RequestOf(Session& session, const ChangeLimit& command) {
  Request request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  if (!command.account.empty()) request.set_account("dataset/" + command.dataset + "/" + command.account);
  if (!command.epsilon.empty()) request.set_epsilon(command.epsilon);
  if (!command.delta.empty()) request.set_delta(command.delta);
  request.set_reason(command.reason);
  return request;
}

absl::Status Propose(Session& session, const v1::ProposeLimitChangeRequest& request) {
  ASSIGN_OR_RETURN(const v1::LimitProposal proposal, session.client.ProposeLimitChange(request));
  Document document = DocumentOf(proposal);
  if (proposal.state() == v1::LimitProposal::PENDING) {
    document.notes.push_back(
        "nothing has changed yet; another principal approves with: curator account limit approve " +
        request.dataset() + " " + proposal.id());
  }
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ProposeLimit& command) {
  ASSIGN_OR_RETURN(const auto request, RequestOf<v1::ProposeLimitChangeRequest>(session, command));
  return Propose(session, request);
}

absl::Status Run(Session& session, const TakeUpRequest& command) {
  ASSIGN_OR_RETURN(auto request, RequestOf<v1::ProposeLimitChangeRequest>(session, command));
  request.set_takes_up(command.request);
  return Propose(session, request);
}

absl::Status Run(Session& session, const RequestLimit& command) {
  ASSIGN_OR_RETURN(const auto request, RequestOf<v1::RequestLimitChangeRequest>(session, command));
  ASSIGN_OR_RETURN(const v1::LimitProposal asked, session.client.RequestLimitChange(request));
  Document document = DocumentOf(asked);
  if (asked.state() == v1::LimitProposal::REQUESTED) {
    document.notes.push_back(
        "nothing has changed yet; the owner proposes it with: curator account limit take-up " +
        command.dataset + " " + asked.id());
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

absl::Status Run(Session& session, const RejectLimit& command) {
  v1::RejectLimitChangeRequest request;
  request.set_dataset(command.dataset);
  request.set_proposal_id(command.proposal);
  request.set_reason(command.reason);
  ASSIGN_OR_RETURN(const v1::LimitProposal proposal, session.client.RejectLimitChange(request));
  session.Print(DocumentOf(proposal));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const WithdrawLimit& command) {
  v1::WithdrawLimitChangeRequest request;
  request.set_dataset(command.dataset);
  request.set_proposal_id(command.proposal);
  ASSIGN_OR_RETURN(const v1::LimitProposal proposal, session.client.WithdrawLimitChange(request));
  session.Print(DocumentOf(proposal));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ShowInbox& command) {
  ASSIGN_OR_RETURN(const v1::ListInboxResponse inbox, session.client.ListInbox(command.most));
  Document document;
  document.tables.push_back(InboxTable(inbox));
  if (inbox.items().empty()) document.notes.emplace_back("nothing waits for you");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListLimitProposals& command) {
  ASSIGN_OR_RETURN(const v1::ListLimitProposalsResponse listed,
                   session.client.ListLimitProposals(command.dataset, command.most));
  Document document;
  document.tables.push_back(ProposalTable(listed));
  if (listed.proposals().empty()) document.notes.emplace_back("no change of a limit was proposed");
  session.Print(document);
  return absl::OkStatus();
}

void AddCreateAccount(CLI::App& group, Chosen& chosen) {
  const auto create = std::make_shared<CreateAccount>();
  CLI::App* command = AddCommand(
      group, "create", "Limit what one analyst, or a group together, may spend of a dataset's budget",
      "curator account create census --analyst ana --rule pure --epsilon 0.5\n"
      "  curator account create census --group interns --members bob,carl --rule pure --epsilon 0.5");
  command->add_option("NAME", create->dataset, "The dataset")->required();
  CLI::Option_group* holder = command->add_option_group(
      "Holder", "The analyst or group whose charges it counts; one of --analyst and --group");
  holder->add_option("--analyst", create->analyst, "One analyst")->type_name("PRINCIPAL");
  CLI::Option* named =
      holder->add_option("--group", create->group, "A name for several analysts")->type_name("GROUP");
  holder->require_option(1);
  CLI::Option* members =
      command->add_option("--members", create->members, "Who belongs to the group, for good")
          ->type_name("PRINCIPAL,...")
          ->delimiter(',')
          ->needs(named);
  named->needs(members);
  AddPromise(command, create->promise);
  command->get_option("--rule")->required();
  command->get_option("--epsilon")->required();
  AddRequestId(command, create->request_id);
  Choose(command, create, chosen);
}

// The account whose limit changes.
void AddHolder(CLI::App& command, const std::shared_ptr<ChangeLimit>& change) {
  CLI::Option_group* holder = command.add_option_group(
      "Holder", "The account's holder; the dataset's own account when none is named");
  const auto add_holder = [&](const std::string& option, const std::string& scope, const std::string& type,
                              const std::string& summary) {
    holder
        ->add_option_function<std::string>(
            option, [change, scope](const std::string& name) { change->account = scope + "/" + name; },
            summary)
        ->type_name(type);
  };
  add_holder("--analyst", "analyst", "PRINCIPAL", "An analyst's");
  add_holder("--group", "group", "GROUP", "A group's");
  add_holder("--part", "part", "LABEL", "A part's");
  holder->require_option(0, 1);
}

// At least `least` of --epsilon and --delta.
void AddNewPromise(CLI::App& command, ChangeLimit& change, size_t least) {
  CLI::Option_group* promise = command.add_option_group("Promise", "One of --epsilon and --delta");
  promise->add_option("--epsilon", change.epsilon, "The new epsilon, at the account's own rule and delta")
      ->type_name("E");
  promise->add_option("--delta", change.delta, "The new delta; under advanced only")->type_name("D");
  promise->require_option(least, 1);
}

CLI::Option* AddReason(CLI::App& command, std::string& reason) {
  return command.add_option("--reason", reason, "Why; recorded in the history")->type_name("TEXT");
}

// A command that proposes another limit, or asks for one.
template <typename Options>
void AddChange(CLI::App& group, const std::string& name, const std::string& summary,
               const std::string& examples, Chosen& chosen) {
  const auto change = std::make_shared<Options>();
  CLI::App* command = AddCommand(group, name, summary, examples);
  command->add_option("NAME", change->dataset, "The dataset")->required();
  AddHolder(*command, change);
  AddNewPromise(*command, *change, 1);
  AddReason(*command, change->reason)->required();
  AddRequestId(command, change->request_id);
  Choose(command, change, chosen);
}

void AddTakeUp(CLI::App& group, Chosen& chosen) {
  const auto take_up = std::make_shared<TakeUpRequest>();
  CLI::App* command =
      AddCommand(group, "take-up",
                 "Propose what an analyst has asked for; for the owner. As asked, unless you say otherwise",
                 "curator account limit take-up census REQUEST\n"
                 "  curator account limit take-up census REQUEST --epsilon 3 --reason 'half of it'");
  command->add_option("NAME", take_up->dataset, "The dataset")->required();
  command->add_option("REQUEST", take_up->request, "Its id, as `curator inbox` shows it")->required();
  AddNewPromise(*command, *take_up, 0);
  AddReason(*command, take_up->reason);
  AddRequestId(command, take_up->request_id);
  Choose(command, take_up, chosen);
}

// A command on one proposal.
template <typename Options>
void AddOnProposal(CLI::App& group, const std::string& name, const std::string& summary, Chosen& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(group, name, summary, "curator account limit " + name + " census PROPOSAL");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_option("PROPOSAL", options->proposal, "Its id, as `propose` printed it")->required();
  if constexpr (requires { options->reason; }) AddReason(*command, options->reason)->required();
  Choose(command, options, chosen);
}

void AddLimitGroup(CLI::App& account, Chosen& chosen) {
  CLI::App* group =
      AddGroup(account, "limit", "Change limits: one proposes, another approves, and the history keeps both");
  AddChange<ProposeLimit>(
      *group, "propose",
      "Propose another limit; for the owner. Nothing changes until another principal approves",
      "curator account limit propose census --epsilon 4 --reason 'a second study'\n"
      "  curator account limit propose census --analyst ana --epsilon 0.7 --reason 'her thesis'",
      chosen);
  AddChange<RequestLimit>(*group, "request", "Ask the owner to raise a limit that binds you",
                          "curator account limit request census --epsilon 4 --reason 'a second study'",
                          chosen);
  AddTakeUp(*group, chosen);
  AddOnProposal<ShowLimitProposal>(*group, "show", "What a proposal would change, before you approve it",
                                   chosen);
  AddOnProposal<ApproveLimit>(*group, "approve", "Approve another principal's proposal: the limit changes",
                              chosen);
  AddOnProposal<RejectLimit>(*group, "reject",
                             "Reject a proposal, for approvers, or a request, for the owner", chosen);
  AddOnProposal<WithdrawLimit>(*group, "withdraw", "Withdraw a proposal or a request of yours", chosen);
  AddNameCommand(*group, "list", "The proposals for accounts that you may see; the owner sees all",
                 "curator account limit list census", &ListLimitProposals::dataset, "NAME", chosen);
}

}  // namespace

void AddAccountCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "account", "Accounts of analysts and groups on a dataset");
  AddCreateAccount(*group, chosen);
  AddNameCommand(*group, "list", "The accounts that you may see; the owner sees all",
                 "curator account list census", &ListAccounts::dataset, "NAME", chosen);
  AddLimitGroup(*group, chosen);
}

void AddInboxCommand(CLI::App& app, Chosen& chosen) {
  Choose(AddCommand(app, "inbox",
                    "What waits for you on all datasets: requests to owners, proposals to approvers",
                    "curator inbox"),
         std::make_shared<ShowInbox>(), chosen);
}

}  // namespace curator::cli
