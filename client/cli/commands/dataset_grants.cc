// `curator dataset grant`, `revoke` and `grants`: who may use a dataset.
#include <google/protobuf/util/time_util.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/text.h"
#include "client/client.h"

namespace curator::cli {
namespace {

using google::protobuf::util::TimeUtil;

const std::map<std::string, v1::GranteeRole>& RolesByName() {
  static const auto* const kRoles =
      new std::map<std::string, v1::GranteeRole>{{"analyst", v1::ANALYST},
                                                 {"service", v1::SERVICE},
                                                 {"auditor", v1::AUDITOR},
                                                 {"approver", v1::GRANTED_APPROVER}};
  return *kRoles;
}

std::string NameOfRole(v1::GranteeRole role) {
  for (const auto& [name, each] : RolesByName()) {
    if (each == role) return name;
  }
  return role == v1::FORMER ? "former" : "unknown";
}

struct GrantAccess {
  std::string dataset;
  std::string principal;
  std::vector<std::string> roles = {"analyst"};
  int64_t days = 0;  // 0: for ever
  std::string request_id;
};

struct RevokeAccess {
  std::string dataset;
  std::string principal;
  bool with_releases = false;
  std::string request_id;
};

struct ListGrants {
  std::string dataset;
  int64_t most = Client::kAll;
};

absl::Status Run(Session& session, const GrantAccess& command) {
  v1::GrantAccessRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_principal(command.principal);
  for (const std::string& role : command.roles) request.add_roles(RolesByName().at(role));
  Document document;
  document.fields = {{"dataset", "dataset", command.dataset},
                     {"principal", "principal", command.principal},
                     {"roles", "roles", command.roles}};
  if (command.days > 0) {
    *request.mutable_expire_time() =
        TimeUtil::GetCurrentTime() + TimeUtil::HoursToDuration(24 * command.days);
    document.fields.push_back({"expire_time", "until", FormatTime(request.expire_time())});
  }
  RETURN_IF_ERROR(session.client.GrantAccess(std::move(request)).status());
  AddRequestFacts(session, document);
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const RevokeAccess& command) {
  v1::RevokeAccessRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_principal(command.principal);
  request.set_with_releases(command.with_releases);
  RETURN_IF_ERROR(session.client.RevokeAccess(std::move(request)).status());
  Document document;
  document.fields = {
      {"dataset", "dataset", command.dataset},
      {"principal", "principal", command.principal},
      {"keeps", "still reads", std::string(command.with_releases ? "nothing" : "its releases")}};
  AddRequestFacts(session, document);
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListGrants& command) {
  ASSIGN_OR_RETURN(const v1::ListGrantsResponse list,
                   session.client.ListGrants(command.dataset, command.most));
  Table table{.key = "grants",
              .title = "",
              .columns = {{"principal", "principal"}, {"roles", "roles"}, {"expire_time", "until"}},
              .rows = {}};
  for (const v1::Grant& grant : list.grants()) {
    std::vector<std::string> roles;
    for (const int role : grant.roles()) roles.push_back(NameOfRole(static_cast<v1::GranteeRole>(role)));
    table.rows.push_back({grant.principal(), roles,
                          grant.has_expire_time() ? FormatTime(grant.expire_time()) : std::string()});
  }
  Document document;
  document.tables.push_back(std::move(table));
  session.Print(document);
  return absl::OkStatus();
}

void AddGrant(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<GrantAccess>();
  CLI::App* command = AddCommand(group, "grant", "Give another principal access, in place of what it had",
                                 "curator dataset grant census ana --role analyst --days 365");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_option("PRINCIPAL", options->principal, "The principal who gets access")->required();
  command
      ->add_option(
          "--role", options->roles,
          "analyst asks questions (unless given); service charges the dataset for what mechanisms outside "
          "release; auditor sees budgets and history; approver, in development mode, approves limits. May "
          "be repeated")
      ->check(CLI::IsMember({"analyst", "service", "auditor", "approver"}));
  command->add_option("--days", options->days, "Until it expires; unless given it does not")
      ->check(CLI::Range(1, 36500));
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

void AddRevoke(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<RevokeAccess>();
  CLI::App* command = AddCommand(group, "revoke", "Take access away: the principal asks nothing new",
                                 "curator dataset revoke census ana");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_option("PRINCIPAL", options->principal, "Whose access")->required();
  command->add_flag("--with-releases", options->with_releases,
                    "Not even what was released to the principal before");
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

void AddList(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<ListGrants>();
  CLI::App* command = AddCommand(group, "grants", "Who has access, in which roles and until when",
                                 "curator dataset grants census");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  AddMost(command, options->most);
  Choose(command, options, chosen);
}

}  // namespace

void AddDatasetGrantCommands(CLI::App& dataset_group, Chosen& chosen) {
  AddGrant(dataset_group, chosen);
  AddRevoke(dataset_group, chosen);
  AddList(dataset_group, chosen);
}

}  // namespace curator::cli
