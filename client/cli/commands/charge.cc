// `curator charge`: the accountant for mechanisms that the caller runs.
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/delivery.h"
#include "client/cli/commands/workload_choice.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"
#include "client/client.h"
#include "client/receipt.h"

namespace curator::cli {
namespace {

// What is done: --event FILE.json, or --epsilon E [--delta D] | --rho R for any mechanism with that
// guarantee.
struct EventChoice {
  std::string file;
  SpendChoice guarantee;

  bool is_given() const { return !file.empty() || !guarantee.epsilon.empty() || !guarantee.rho.empty(); }
};

struct ReserveCharge {
  std::string dataset;
  EventChoice event;
  std::string summary;
  std::optional<int64_t> lifetime_seconds;
  bool estimate = false;  // the price alone
  std::string receipt;    // a file to which the receipt is appended
  std::string request_id;
};

struct StartCharge {
  std::string charge;
  EventChoice final_event;  // may be none
};

struct CommitCharge {
  std::string charge;
};

struct CancelCharge {
  std::string charge;
  std::string reason;
};

struct ExtendCharge {
  std::string charge;
  int64_t lifetime_seconds = 0;
};

struct ShowCharge {
  std::string charge;
  std::string request_id;
  std::string receipt = {};  // a file to which the receipt is appended
};

// The event for the request's field `field`, of which errors name the option that it comes from.
absl::StatusOr<v1::Event> EventOf(const EventChoice& choice, const std::string& field, FieldOptions& fields) {
  if (!choice.file.empty()) return ReadEvent(choice.file);
  fields.Add(field, choice.guarantee.rho.empty() ? "--epsilon" : "--rho");
  fields.Add(field + ".approximate.delta", "--delta");
  v1::Event event;
  if (!choice.guarantee.rho.empty()) {
    event.mutable_zcdp()->set_rho(choice.guarantee.rho);
  } else if (!choice.guarantee.delta.empty()) {
    event.mutable_approximate()->set_epsilon(choice.guarantee.epsilon);
    event.mutable_approximate()->set_delta(choice.guarantee.delta);
  } else {
    event.mutable_pure()->set_epsilon(choice.guarantee.epsilon);
  }
  return event;
}

// What the holder of a charge in this state does next.
std::string NextStep(const v1::Charge& charge) {
  switch (charge.state()) {
    case v1::Charge::RESERVED:
      return absl::StrCat("before accessing any data: curator charge start ", charge.id());
    case v1::Charge::STARTED:
      return absl::StrCat("it is spent; after publishing: curator charge commit ", charge.id());
    default:
      return "";
  }
}

// An object; null where the server sent none.
Value ReceiptAsJson(const v1::Receipt& receipt) {
  if (receipt.statement().empty()) return std::monostate();
  return RawJson{client::LineOf(receipt)};
}

absl::Status PrintCharge(Session& session, const absl::StatusOr<v1::Charge>& charge) {
  RETURN_IF_ERROR(charge.status());
  Document document;
  document.fields = {{"charge_id", "charge", charge->id()},
                     {"state", "state", NameOf(charge->state())},
                     {"reason", "reason", TextOrNone(charge->reason())},
                     {"dataset", "dataset", charge->dataset()},
                     {"dataset_version", "version", charge->dataset_version()},
                     {"event", "what is done", charge->event(), ShownIn::kJsonAndCsv},
                     {"event", "what is done", FormatEvent(charge->event()), ShownIn::kTables},
                     {"summary", "summary", TextOrNone(charge->summary())},
                     {"deadline", "counts as spent at", TextOrNone(FormatTime(charge->deadline()))},
                     {"request_id", "request id", charge->request_id()},
                     {"create_time", "made", TextOrNone(FormatTime(charge->create_time()))},
                     {"receipt", "", ReceiptAsJson(charge->receipt()), ShownIn::kJsonAndCsv}};
  document.tables.push_back(CostTable(charge->costs()));
  if (const std::string next = NextStep(*charge); !next.empty()) document.notes.push_back(next);
  session.Print(document);
  return absl::OkStatus();
}

absl::Status PrintEstimate(Session& session, const std::string& dataset, const v1::Event& event) {
  v1::EstimateCostRequest request;
  request.set_dataset(dataset);
  *request.mutable_event() = event;
  ASSIGN_OR_RETURN(const v1::EstimateCostResponse estimate, session.client.EstimateCost(request));
  Document document;
  document.fields = {{"dataset", "dataset", dataset},
                     {"event", "what is done", estimate.event()},
                     {"protects", "protects", estimate.protects()},
                     {"fits", "fits the budget", estimate.fits()},
                     RefusalField(estimate.refused_by_rule())};
  document.tables.push_back(CostTable(estimate.costs()));
  AddDataFacts(estimate.domain_from_records(), estimate.rows_from_query(), document);
  document.notes.emplace_back("nothing was charged");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ReserveCharge& command) {
  ASSIGN_OR_RETURN(const v1::Event event, EventOf(command.event, "event", session.fields));
  if (command.estimate) return PrintEstimate(session, command.dataset, event);
  ASSIGN_OR_RETURN(ReceiptFile receipts, ReceiptFile::Open(command.receipt));
  v1::ReserveBudgetRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  *request.mutable_event() = event;
  request.set_summary(command.summary);
  if (command.lifetime_seconds) request.mutable_lifetime()->set_seconds(*command.lifetime_seconds);
  ASSIGN_OR_RETURN(const v1::Charge charge, session.client.ReserveBudget(request));
  RETURN_IF_ERROR(receipts.Append(charge.receipt(), charge.id()));
  return PrintCharge(session, charge);
}

absl::Status Run(Session& session, const StartCharge& command) {
  v1::StartChargeRequest request;
  request.set_charge_id(command.charge);
  if (command.final_event.is_given()) {
    ASSIGN_OR_RETURN(*request.mutable_final_event(),
                     EventOf(command.final_event, "final_event", session.fields));
  }
  return PrintCharge(session, session.client.StartCharge(request));
}

absl::Status Run(Session& session, const CommitCharge& command) {
  return PrintCharge(session, session.client.CommitBudget(command.charge));
}

absl::Status Run(Session& session, const CancelCharge& command) {
  v1::CancelReservationRequest request;
  request.set_charge_id(command.charge);
  request.set_reason(command.reason);
  return PrintCharge(session, session.client.CancelReservation(request));
}

absl::Status Run(Session& session, const ExtendCharge& command) {
  v1::ExtendReservationRequest request;
  request.set_charge_id(command.charge);
  request.mutable_lifetime()->set_seconds(command.lifetime_seconds);
  return PrintCharge(session, session.client.ExtendReservation(request));
}

absl::Status Run(Session& session, const ShowCharge& command) {
  ASSIGN_OR_RETURN(ReceiptFile receipts, ReceiptFile::Open(command.receipt));
  v1::GetChargeRequest request;
  request.set_charge_id(command.charge);
  request.set_request_id(command.request_id);
  ASSIGN_OR_RETURN(const v1::Charge charge, session.client.GetCharge(request));
  RETURN_IF_ERROR(receipts.Append(charge.receipt(), charge.id()));
  return PrintCharge(session, charge);
}

constexpr int64_t kLongestLifetimeSeconds = int64_t{366} * 24 * 3600;

// --event FILE.json | --epsilon E [--delta D] | --rho R
void AddEvent(CLI::App* command, EventChoice& event, int least) {
  CLI::Option_group* group = command->add_option_group(
      "Mechanism", "The event that happens to the data: JSON (curator.v1.Event), or a guarantee");
  group->add_option("--event", event.file, "The event, in JSON")->type_name("FILE.json");
  CLI::Option* epsilon =
      group->add_option("--epsilon", event.guarantee.epsilon, "Any mechanism of this epsilon")
          ->type_name("E");
  group->add_option("--rho", event.guarantee.rho, "Any mechanism of this zCDP rho")->type_name("R");
  group->require_option(least, 1);
  command->add_option("--delta", event.guarantee.delta, "Delta beside --epsilon")
      ->type_name("D")
      ->needs(epsilon);
}

void LimitLifetime(CLI::Option* option) {
  option->type_name("SECONDS")->check(CLI::Range(int64_t{1}, kLongestLifetimeSeconds));
}

void AddReserveCharge(CLI::App& group, Chosen& chosen) {
  const auto reserve = std::make_shared<ReserveCharge>();
  CLI::App* command =
      AddCommand(group, "reserve", "Reserve the cost of a mechanism that you will run yourself",
                 "curator charge reserve census --epsilon 0.1 --summary 'weekly report'");
  command->add_option("NAME", reserve->dataset, "The dataset")->required();
  AddEvent(command, reserve->event, 1);
  command->add_option("--summary", reserve->summary, "One public line about it")->type_name("TEXT");
  LimitLifetime(command->add_option("--lifetime", reserve->lifetime_seconds,
                                    "If it is neither started nor cancelled, it counts as spent after "
                                    "this long. Default: 3600"));
  command->add_flag("--estimate", reserve->estimate, "Show the price, reserve nothing");
  AddRequestId(command, reserve->request_id);
  AddReceipt(command, reserve->receipt);
  Choose(command, reserve, chosen);
}

void AddStartCharge(CLI::App& group, Chosen& chosen) {
  const auto start = std::make_shared<StartCharge>();
  CLI::App* command = AddCommand(group, "start", "Spend it durably, before you access any data",
                                 "curator charge start ID --epsilon 0.05");
  command->add_option("ID", start->charge, "The charge")->required();
  AddEvent(command, start->final_event, 0);
  Choose(command, start, chosen);
}

void AddExtendCharge(CLI::App& group, Chosen& chosen) {
  const auto extend = std::make_shared<ExtendCharge>();
  CLI::App* command =
      AddCommand(group, "extend", "Postpone the deadline at which a reservation counts as spent",
                 "curator charge extend ID --lifetime 7200");
  command->add_option("ID", extend->charge, "The charge")->required();
  LimitLifetime(command->add_option("--lifetime", extend->lifetime_seconds, "From now")->required());
  Choose(command, extend, chosen);
}

void AddCancelCharge(CLI::App& group, Chosen& chosen) {
  const auto cancel = std::make_shared<CancelCharge>();
  CLI::App* command = AddCommand(group, "cancel", "Cancel a reservation; only before its start",
                                 "curator charge cancel ID --reason 'not needed'");
  command->add_option("ID", cancel->charge, "The charge")->required();
  command->add_option("--reason", cancel->reason, "One public line")->type_name("TEXT");
  Choose(command, cancel, chosen);
}

void AddShowCharge(CLI::App& group, Chosen& chosen) {
  const auto show = std::make_shared<ShowCharge>();
  CLI::App* command = AddCommand(group, "show", "The state of a charge, by its id or its request id",
                                 "curator charge show --request-id UUID");
  CLI::Option_group* which = command->add_option_group("Which", "The charge's id, or its request id");
  which->add_option("ID", show->charge, "The charge");
  which->add_option("--request-id", show->request_id, "The request that made it")->type_name("UUID");
  which->require_option(1);
  AddReceipt(command, show->receipt);
  Choose(command, show, chosen);
}

}  // namespace

void AddChargeCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group =
      AddGroup(app, "charge", "The accountant for mechanisms that you run yourself: reserve, start, commit");
  AddReserveCharge(*group, chosen);
  AddStartCharge(*group, chosen);
  AddNameCommand(*group, "commit", "Report that the mechanism has run", "curator charge commit ID",
                 &CommitCharge::charge, "ID", chosen);
  AddCancelCharge(*group, chosen);
  AddExtendCharge(*group, chosen);
  AddShowCharge(*group, chosen);
}

}  // namespace curator::cli
