#include <string>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/document.h"
#include "client/cli/output/tables.h"
#include "client/client.h"

namespace curator::cli {
namespace {

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

}  // namespace

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
  request.mutable_limit()->set_rule(command.rule);
  request.mutable_limit()->set_epsilon(command.epsilon);
  request.mutable_limit()->set_delta(command.delta);
  v1::ListAccountsResponse opened;
  ASSIGN_OR_RETURN(const v1::Account account, session.client.CreateAccount(request));
  *opened.add_accounts() = account;
  Document document;
  document.tables.push_back(WithMembers(opened.accounts(), session.terminal));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListAccounts& command) {
  ASSIGN_OR_RETURN(const v1::ListAccountsResponse listed, session.client.ListAccounts(command.dataset));
  Document document;
  document.tables.push_back(WithMembers(listed.accounts(), session.terminal));
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace curator::cli
