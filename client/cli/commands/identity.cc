// `curator whoami`, `curator enrol`, `curator principal`, `curator credential`, `curator role`: who may be
// whom; and `curator quotas`: how much each may use.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/text.h"
#include "client/client.h"
#include "curator/v1/identity.pb.h"
#include "google/protobuf/util/time_util.h"

namespace curator::cli {
namespace {

using google::protobuf::util::TimeUtil;

struct WhoAmI {};

struct Enrol {
  std::string code;
};

struct InviteIdentity {
  std::string issuer;  // with `subject`
  std::string subject;
  std::string certificate;  // or
};

struct CreatePrincipal {
  std::string name;
  bool is_service = false;
};

struct ChangeState {
  std::string name;
  std::string reason;
  bool enables = false;
};

struct ForgetPrincipal {
  std::string name;
  std::string reason;
  bool confirmed = false;
};

struct ShowPrincipal {
  std::string name;
};

struct ListPrincipals {
  int64_t most = Client::kAll;
};

struct ShowQuotas {
  std::string principal;  // empty: one's own
};

struct LinkIdentity {
  std::string principal;
  InviteIdentity identity;
  std::string label;
};

struct CreateToken {
  std::string principal;
  std::string label;
  int64_t days = 90;
};

struct ApproveCredential {
  std::string id;
};

struct RemoveCredential {
  std::string id;
  std::string reason;
};

struct ChangeRole {
  enum class Kind { kBind, kApprove, kUnbind };
  Kind kind = Kind::kBind;
  v1::RoleBinding::Role role = v1::RoleBinding::ADMINISTRATOR;
  std::string principal;
  std::string dataset;
};

// ---- What they print

std::string TimeOf(bool has_time, const google::protobuf::Timestamp& time) {
  return has_time ? TimeUtil::ToString(time) : "";
}

std::string StateOf(const v1::Credential& credential) {
  return credential.pending() ? "pending" : "active";
}

Table CredentialTable(const google::protobuf::RepeatedPtrField<v1::Credential>& credentials) {
  Table table{.key = "credentials",
              .title = "credentials",
              .columns = {{"id", "id"},
                          {"kind", "kind"},
                          {"issuer", "issuer"},
                          {"subject", "subject"},
                          {"label", "label"},
                          {"state", "state"},
                          {"basis", "by"},
                          {"added_by", "added by"},
                          {"approved_by", "approved by"},
                          {"expire_time", "expires"}},
              .rows = {}};
  for (const v1::Credential& each : credentials) {
    table.rows.push_back({each.id(), v1::Identity::Kind_Name(each.identity().kind()),
                          each.identity().issuer(), each.identity().subject(), each.label(), StateOf(each),
                          v1::Credential::Basis_Name(each.basis()), each.added_by(), each.approved_by(),
                          TimeOf(each.has_expire_time(), each.expire_time())});
  }
  return table;
}

Table RoleTable(const google::protobuf::RepeatedPtrField<v1::RoleBinding>& roles) {
  Table table{.key = "roles",
              .title = "roles",
              .columns = {{"role", "role"},
                          {"dataset", "dataset"},
                          {"state", "state"},
                          {"bound_by", "given by"},
                          {"approved_by", "approved by"}},
              .rows = {}};
  for (const v1::RoleBinding& each : roles) {
    table.rows.push_back({v1::RoleBinding::Role_Name(each.role()), each.dataset(),
                          std::string(each.pending() ? "pending" : "active"), each.bound_by(),
                          each.approved_by()});
  }
  return table;
}

Document DocumentOf(const v1::PrincipalInfo& principal) {
  Document document;
  document.fields = {
      {"name", "principal", principal.name()},
      {"kind", "kind", v1::PrincipalInfo::Kind_Name(principal.kind())},
      {"disabled", "disabled", principal.disabled()},
      {"created_by", "created by", principal.created_by()},
      {"create_time", "created", TimeOf(principal.has_create_time(), principal.create_time())}};
  document.tables = {CredentialTable(principal.credentials()), RoleTable(principal.roles())};
  return document;
}

Document DocumentOf(const v1::Credential& credential) {
  Document document;
  document.fields = {{"credential_id", "credential", credential.id()},
                     {"principal", "principal", credential.principal()},
                     {"state", "state", StateOf(credential)}};
  if (credential.pending()) {
    document.notes.emplace_back(
        "a second administrator, who is another person, approves it: curator credential "
        "approve " +
        credential.id());
  }
  return document;
}

Document DocumentOf(const v1::RoleBinding& role) {
  Document document;
  document.fields = {{"role", "role", v1::RoleBinding::Role_Name(role.role())},
                     {"principal", "principal", role.principal()},
                     {"dataset", "dataset", role.dataset()},
                     {"state", "state", std::string(role.pending() ? "pending" : "active")}};
  if (role.pending()) document.notes.emplace_back("an administrator approves it: curator role approve");
  return document;
}

void PrintWho(Session& session, const v1::WhoAmIResponse& who) {
  Document document = DocumentOf(who.principal());
  document.fields.push_back({"pseudonym", "in histories", who.pseudonym()});
  document.fields.push_back({"credential_id", "this credential", who.credential_id()});
  document.fields.push_back({"expire_time", "expires", TimeOf(who.has_expire_time(), who.expire_time())});
  session.Print(document);
}

// ---- What they do

v1::Identity IdentityOf(const InviteIdentity& chosen) {
  v1::Identity identity;
  const bool is_oidc = chosen.certificate.empty();
  identity.set_kind(is_oidc ? v1::Identity::OIDC : v1::Identity::CERTIFICATE);
  identity.set_issuer(chosen.issuer);
  identity.set_subject(is_oidc ? chosen.subject : chosen.certificate);
  return identity;
}

absl::Status Run(Session& session, const WhoAmI&) {
  ASSIGN_OR_RETURN(const v1::WhoAmIResponse who, session.client.WhoAmI());
  PrintWho(session, who);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const Enrol& command) {
  v1::EnrolRequest request;
  request.set_code(command.code);
  ASSIGN_OR_RETURN(const v1::WhoAmIResponse who, session.client.Enrol(request));
  PrintWho(session, who);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const InviteIdentity& command) {
  v1::OpenEnrolmentRequest request;
  *request.mutable_identity() = IdentityOf(command);
  ASSIGN_OR_RETURN(const v1::OpenEnrolmentResponse opened, session.client.OpenEnrolment(request));
  Document document;
  document.fields = {{"code", "code", opened.code()},
                     {"expire_time", "expires", TimeUtil::ToString(opened.expire_time())}};
  document.notes.emplace_back("with a token of that identity, run: curator enrol CODE");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const CreatePrincipal& command) {
  v1::CreatePrincipalRequest request;
  request.set_name(command.name);
  request.set_kind(command.is_service ? v1::PrincipalInfo::SERVICE : v1::PrincipalInfo::PERSON);
  ASSIGN_OR_RETURN(const v1::PrincipalInfo made, session.client.CreatePrincipal(request));
  session.Print(DocumentOf(made));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ChangeState& command) {
  v1::PrincipalInfo changed;
  if (command.enables) {
    v1::EnablePrincipalRequest request;
    request.set_name(command.name);
    request.set_reason(command.reason);
    ASSIGN_OR_RETURN(changed, session.client.EnablePrincipal(request));
  } else {
    v1::DisablePrincipalRequest request;
    request.set_name(command.name);
    request.set_reason(command.reason);
    ASSIGN_OR_RETURN(changed, session.client.DisablePrincipal(request));
  }
  session.Print(DocumentOf(changed));
  return absl::OkStatus();
}

absl::Status ConfirmForgetting(Session& session, const std::string& name) {
  session.error << "Nobody will be able to say any more whose the charges, releases and entries of " << name
                << " are. This cannot be undone.\nType the name to forget it: " << std::flush;
  std::string typed;
  std::getline(session.in, typed);
  if (typed != name) return absl::CancelledError("not confirmed: nothing was forgotten");
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ForgetPrincipal& command) {
  if (!command.confirmed) RETURN_IF_ERROR(ConfirmForgetting(session, command.name));
  v1::ForgetPrincipalRequest request;
  request.set_name(command.name);
  request.set_reason(command.reason);
  ASSIGN_OR_RETURN(const v1::ForgetPrincipalResponse forgotten, session.client.ForgetPrincipal(request));
  Document document;
  document.fields = {{"pseudonym", "in histories", forgotten.pseudonym()}};
  document.notes.emplace_back(
      "the name is forgotten; backups, logs, and what people wrote as reasons and labels may still have "
      "it");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ShowPrincipal& command) {
  ASSIGN_OR_RETURN(const v1::PrincipalInfo found, session.client.GetPrincipal(command.name));
  session.Print(DocumentOf(found));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListPrincipals& command) {
  ASSIGN_OR_RETURN(const v1::ListPrincipalsResponse listed, session.client.ListPrincipals(command.most));
  Table table{.key = "principals",
              .title = {},
              .columns = {{"name", "principal"},
                          {"kind", "kind"},
                          {"disabled", "disabled"},
                          {"credentials", "credentials", Align::kRight},
                          {"roles", "roles"}},
              .rows = {}};
  for (const v1::PrincipalInfo& each : listed.principals()) {
    std::vector<std::string> roles;
    for (const v1::RoleBinding& role : each.roles()) roles.push_back(v1::RoleBinding::Role_Name(role.role()));
    table.rows.push_back({each.name(), v1::PrincipalInfo::Kind_Name(each.kind()), each.disabled(),
                          int64_t{each.credentials_size()}, roles});
  }
  Document document;
  document.tables = {std::move(table)};
  session.Print(document);
  return absl::OkStatus();
}

// "second", "hour"; in seconds where no unit is so long, and empty without a period.
std::string PeriodName(const v1::Quota& quota) {
  static const std::map<int64_t, std::string> kUnits = {
      {1, "second"}, {60, "minute"}, {3600, "hour"}, {86'400, "day"}};
  if (!quota.has_period()) return "";
  const auto unit = kUnits.find(quota.period().seconds());
  return unit == kUnits.end() ? std::to_string(quota.period().seconds()) + " s" : unit->second;
}

absl::Status Run(Session& session, const ShowQuotas& command) {
  ASSIGN_OR_RETURN(const v1::GetQuotasResponse quotas, session.client.GetQuotas(command.principal));
  Table table{.key = "quotas",
              .title = {},
              .columns = {{"quota", "quota"},
                          {"limit", "limit", Align::kRight},
                          {"period", "a"},
                          {"used", "used", Align::kRight}},
              .rows = {}};
  for (const v1::Quota& quota : quotas.quotas()) {
    table.rows.push_back({quota.name(), quota.limit(), PeriodName(quota),
                          quota.has_used() ? Value(int64_t{quota.used()}) : Value()});
  }
  Document document;
  document.fields = {{"principal", "principal", quotas.principal()}};
  document.tables = {std::move(table)};
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const LinkIdentity& command) {
  v1::LinkIdentityRequest request;
  request.set_principal(command.principal);
  *request.mutable_identity() = IdentityOf(command.identity);
  request.set_label(command.label);
  ASSIGN_OR_RETURN(const v1::Credential linked, session.client.LinkIdentity(request));
  session.Print(DocumentOf(linked));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const CreateToken& command) {
  v1::CreateApiTokenRequest request;
  request.set_principal(command.principal);
  request.set_label(command.label);
  *request.mutable_expire_time() = TimeUtil::GetCurrentTime() + TimeUtil::HoursToDuration(24 * command.days);
  ASSIGN_OR_RETURN(const v1::CreateApiTokenResponse made, session.client.CreateApiToken(request));
  Document document = DocumentOf(made.credential());
  document.fields.push_back({"token", "token", made.token()});
  document.fields.push_back({"expire_time", "expires", TimeUtil::ToString(made.credential().expire_time())});
  document.notes.emplace_back("the token is shown this once: keep it in a file that only you can read");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ApproveCredential& command) {
  v1::ApproveCredentialRequest request;
  request.set_credential_id(command.id);
  ASSIGN_OR_RETURN(const v1::Credential approved, session.client.ApproveCredential(request));
  session.Print(DocumentOf(approved));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const RemoveCredential& command) {
  v1::RemoveCredentialRequest request;
  request.set_credential_id(command.id);
  request.set_reason(command.reason);
  RETURN_IF_ERROR(session.client.RemoveCredential(request).status());
  Document document;
  document.fields = {{"removed", "removed", command.id}};
  session.Print(document);
  return absl::OkStatus();
}

template <typename Request>
Request RoleRequestOf(const ChangeRole& command) {
  Request request;
  request.set_role(command.role);
  request.set_principal(command.principal);
  request.set_dataset(command.dataset);
  return request;
}

absl::Status Run(Session& session, const ChangeRole& command) {
  if (command.kind == ChangeRole::Kind::kUnbind) {
    RETURN_IF_ERROR(session.client.UnbindRole(RoleRequestOf<v1::UnbindRoleRequest>(command)).status());
    Document document;
    document.fields = {{"removed", "removed", v1::RoleBinding::Role_Name(command.role)},
                       {"principal", "principal", command.principal}};
    session.Print(document);
    return absl::OkStatus();
  }
  v1::RoleBinding changed;
  if (command.kind == ChangeRole::Kind::kBind) {
    ASSIGN_OR_RETURN(changed, session.client.BindRole(RoleRequestOf<v1::BindRoleRequest>(command)));
  } else {
    ASSIGN_OR_RETURN(changed, session.client.ApproveRole(RoleRequestOf<v1::ApproveRoleRequest>(command)));
  }
  session.Print(DocumentOf(changed));
  return absl::OkStatus();
}

// ---- How they are called

void AddIdentity(CLI::App* command, InviteIdentity& identity) {
  CLI::Option* const subject =
      command->add_option("--oidc-subject", identity.subject, "Its subject at an issuer (\"sub\")");
  command->add_option("--oidc-issuer", identity.issuer, "The issuer, as the server is configured")
      ->needs(subject);
  command->add_option("--certificate", identity.certificate, "Or: the URI of its client certificate")
      ->excludes(subject);
}

void CheckIdentity(const InviteIdentity& identity) {
  if (identity.subject.empty() == identity.certificate.empty()) {
    throw CLI::ValidationError("name the identity: --oidc-issuer and --oidc-subject, or --certificate");
  }
}

void AddPrincipalCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* const group = AddGroup(app, "principal", "Who is known to the server (administrators)");
  {
    const auto options = std::make_shared<CreatePrincipal>();
    CLI::App* const command =
        AddCommand(*group, "create", "Make a principal, without rights", "curator principal create bob");
    command->add_option("name", options->name, "A name that was never used")->required();
    command->add_flag("--service", options->is_service, "A program, not a person");
    Choose(command, options, chosen);
  }
  for (const bool enables : {false, true}) {
    const auto options = std::make_shared<ChangeState>();
    options->enables = enables;
    const std::string name = enables ? "enable" : "disable";
    CLI::App* const command =
        AddCommand(*group, name, enables ? "Let a principal in again" : "Let a principal in no longer",
                   "curator principal " + name + " bob --reason 'moved to another team'");
    command->add_option("name", options->name)->required();
    command->add_option("--reason", options->reason, "For the server's history")->required();
    Choose(command, options, chosen);
  }
  {
    const auto options = std::make_shared<ForgetPrincipal>();
    CLI::App* const command =
        AddCommand(*group, "forget", "Destroy what tells whose the charges of a disabled principal are",
                   "curator principal forget bob --yes");
    command->add_option("name", options->name)->required();
    command->add_option("--reason", options->reason, "For the server's history, which keeps it");
    command->add_flag("--yes", options->confirmed, "Do not ask before the name is forgotten for good");
    Choose(command, options, chosen);
  }
  AddNameCommand<ShowPrincipal>(*group, "show", "One principal, with its credentials and roles",
                                "curator principal show bob", &ShowPrincipal::name, "name", chosen);
  {
    const auto options = std::make_shared<ListPrincipals>();
    CLI::App* const command = AddCommand(*group, "list", "All principals", "curator principal list");
    AddMost(command, options->most);
    Choose(command, options, chosen);
  }
}

void AddCredentialCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* const group = AddGroup(app, "credential", "What proves who somebody is");
  {
    const auto options = std::make_shared<LinkIdentity>();
    CLI::App* const command =
        AddCommand(*group, "link", "Link an identity to a principal (administrators)",
                   "curator credential link bob --oidc-issuer https://idp.example --oidc-subject 7f3a");
    command->add_option("principal", options->principal)->required();
    AddIdentity(command, options->identity);
    command->add_option("--label", options->label, "One line for people");
    Choose(command, options, chosen, [](const LinkIdentity& link) { CheckIdentity(link.identity); });
  }
  {
    const auto options = std::make_shared<InviteIdentity>();
    CLI::App* const command =
        AddCommand(*group, "add", "Add an identity to yourself: prints a code for `curator enrol`",
                   "curator credential add --certificate spiffe://example/laptop");
    AddIdentity(command, *options);
    Choose(command, options, chosen, CheckIdentity);
  }
  {
    const auto options = std::make_shared<CreateToken>();
    CLI::App* const command =
        AddCommand(*group, "token", "Make an API token, for yourself or for a service without rights",
                   "curator credential token --label 'nightly report' --days 30");
    command->add_option("--for", options->principal, "Another principal (administrators)");
    command->add_option("--label", options->label, "One line for people");
    command->add_option("--days", options->days, "Until it expires")
        ->check(CLI::Range(1, 366))
        ->capture_default_str();
    Choose(command, options, chosen);
  }
  AddNameCommand<ApproveCredential>(
      *group, "approve", "Confirm what another administrator added (administrators)",
      "curator credential approve 4rk2x7q5mzab", &ApproveCredential::id, "id", chosen);
  {
    const auto options = std::make_shared<RemoveCredential>();
    CLI::App* const command = AddCommand(*group, "remove", "Remove one: it proves nothing from now on",
                                         "curator credential remove 4rk2x7q5mzab --reason 'laptop lost'");
    command->add_option("id", options->id)->required();
    command->add_option("--reason", options->reason, "For the server's history")->required();
    Choose(command, options, chosen);
  }
}

void AddRoleCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* const group = AddGroup(app, "role", "Roles of the server, and approvers of datasets");
  const std::vector<std::tuple<std::string, ChangeRole::Kind, std::string>> commands = {
      {"bind", ChangeRole::Kind::kBind,
       "Give a role of the server, or propose an approver of a dataset of yours"},
      {"approve", ChangeRole::Kind::kApprove,
       "Approve what an owner or another administrator proposed (administrators)"},
      {"unbind", ChangeRole::Kind::kUnbind, "Take a role away"}};
  for (const auto& [name, kind, summary] : commands) {
    const auto options = std::make_shared<ChangeRole>();
    options->kind = kind;
    CLI::App* const command =
        AddCommand(*group, name, summary, "curator role " + name + " approver vera --dataset census");
    command
        ->add_option_function<std::string>(
            "role",
            [options](const std::string& role) {
              v1::RoleBinding::Role_Parse(absl::AsciiStrToUpper(role), &options->role);
            },
            "administrator, operator or creator of the server; auditor of all datasets; approver of one or "
            "of all")
        ->check(CLI::IsMember({"administrator", "operator", "creator", "auditor", "approver"}))
        ->required();
    command->add_option("principal", options->principal)->required();
    command->add_option("--dataset", options->dataset, "Of an approver; unless given, of all");
    Choose(command, options, chosen);
  }
}

}  // namespace

void AddIdentityCommands(CLI::App& app, Chosen& chosen) {
  Choose(AddCommand(app, "whoami", "Who you are to the server, and by what", "curator whoami"),
         std::make_shared<WhoAmI>(), chosen);
  const auto enrol = std::make_shared<Enrol>();
  CLI::App* const command =
      AddCommand(app, "enrol", "Become a principal, by a code; or without one, where your issuer allows it",
                 "curator enrol cure_...");
  command->add_option("code", enrol->code, "From `curatord bootstrap` or `curator credential add`");
  Choose(command, enrol, chosen);
  AddPrincipalCommands(app, chosen);
  AddCredentialCommands(app, chosen);
  AddRoleCommands(app, chosen);
  const auto quotas = std::make_shared<ShowQuotas>();
  CLI::App* const show = AddCommand(app, "quotas", "How much you may use of the server, and what you use now",
                                    "curator quotas --principal bob");
  show->add_option("--principal", quotas->principal, "Another principal (administrators)");
  Choose(show, quotas, chosen);
}

}  // namespace curator::cli
