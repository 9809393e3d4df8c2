// `curator operation`: long work.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct ListOperations {
  int64_t most = Client::kAll;
  bool of_all = false;  // of all principals, for operators
};

struct StopOperation {
  std::string operation;
  std::string reason;
};

struct ShowOperation {
  std::string operation;
};

struct WaitOperation {
  std::string operation;
  std::optional<int64_t> timeout_seconds;  // until it ends, when absent
};

struct CancelOperation {
  std::string operation;
};

// One call waits at most this long; the server may cut it further.
constexpr std::chrono::seconds kOneWait{30};

absl::StatusOr<v1::Operation> WaitUntilEnded(Session& session, const WaitOperation& command) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = command.timeout_seconds
                            ? Clock::now() + std::chrono::seconds(*command.timeout_seconds)
                            : Clock::time_point::max();
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    const auto wait = std::clamp<std::chrono::milliseconds>(left, std::chrono::milliseconds(0), kOneWait);
    absl::StatusOr<v1::Operation> operation = session.client.WaitOperation(command.operation, wait);
    if (!operation.ok()) return operation;
    const bool is_queued = operation->state() == v1::Operation::QUEUED;
    if (!is_queued && operation->state() != v1::Operation::RUNNING) return operation;
    if (Clock::now() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat("operation ", command.operation, " is still ",
                                                      is_queued ? "queued" : "running", ", at ",
                                                      static_cast<int>(operation->percent()), "%"));
    }
  }
}

absl::Status ListAll(Session& session, int64_t most) {
  ASSIGN_OR_RETURN(const v1::ListAllOperationsResponse list, session.client.ListAllOperations(most));
  Table table{"operations",
              "",
              {{"id", "operation"},
               {"principal", "principal"},
               {"dataset", "dataset"},
               {"kind", "kind"},
               {"state", "state"},
               {"percent", "percent", Align::kRight},
               {"queue_position", "place", Align::kRight},
               {"create_time", "created"}},
              {}};
  for (const v1::AnyOperation& each : list.operations()) {
    const v1::Operation& operation = each.operation();
    table.rows.push_back({operation.id(), each.principal(), operation.dataset(), operation.kind(),
                          v1::Operation::State_Name(operation.state()),
                          static_cast<int64_t>(operation.percent()), operation.queue_position(),
                          FormatTime(operation.create_time())});
  }
  Document document;
  document.tables.push_back(std::move(table));
  if (list.operations().empty()) document.notes.emplace_back("nothing is queued or runs on this server");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const StopOperation& command) {
  v1::StopOperationRequest request;
  request.set_operation_id(command.operation);
  request.set_reason(command.reason);
  ASSIGN_OR_RETURN(const v1::AnyOperation stopped, session.client.StopOperation(request));
  session.Print(OperationDocument(stopped.operation()));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListOperations& command) {
  if (command.of_all) return ListAll(session, command.most);
  ASSIGN_OR_RETURN(const v1::ListOperationsResponse list, session.client.ListOperations(command.most));
  Table table{"operations",
              "",
              {{"operation_id", "operation"},
               {"state", "state"},
               {"percent", "percent", Align::kRight},
               {"queue_position", "in the queue", Align::kRight},
               {"dataset", "dataset"},
               {"kind", "kind"},
               {"summary", "what"},
               {"create_time", "started"},
               {"release_id", "release"},
               {"request_id", "request id", Align::kLeft, ShownIn::kJsonAndCsv}},
              {}};
  for (const v1::Operation& operation : list.operations()) {
    table.rows.push_back({operation.id(), NameOf(operation.state()), operation.percent(),
                          PositionOrNone(operation), operation.dataset(), operation.kind(),
                          operation.summary(), FormatTime(operation.create_time()), operation.release_id(),
                          operation.request_id()});
  }
  Document document;
  document.tables.push_back(std::move(table));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ShowOperation& command) {
  ASSIGN_OR_RETURN(const v1::Operation operation, session.client.GetOperation(command.operation));
  session.Print(OperationDocument(operation));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const WaitOperation& command) {
  ASSIGN_OR_RETURN(const v1::Operation operation, WaitUntilEnded(session, command));
  session.Print(OperationDocument(operation));
  return StatusOf(operation);
}

absl::Status Run(Session& session, const CancelOperation& command) {
  ASSIGN_OR_RETURN(const v1::Operation operation, session.client.CancelOperation(command.operation));
  Document document = OperationDocument(operation);
  document.notes.emplace_back("the charge of a started operation is not refunded");
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

void AddOperationCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "operation", "Long-running requests: list, show, wait, cancel");
  const auto list = std::make_shared<ListOperations>();
  CLI::App* command =
      AddCommand(*group, "list", "Your operations, newest first", "curator operation list --limit 20");
  AddMost(command, list->most);
  command->add_flag("--all", list->of_all, "Those of all principals that the server works on; for operators");
  Choose(command, list, chosen);
  AddNameCommand(*group, "show", "One operation", "curator operation show ID", &ShowOperation::operation,
                 "ID", chosen);

  const auto wait = std::make_shared<WaitOperation>();
  command = AddCommand(*group, "wait", "Wait until it has ended; exit status 1 when it failed",
                       "curator operation wait ID --timeout 600");
  command->add_option("ID", wait->operation, "The operation")->required();
  command->add_option("--timeout", wait->timeout_seconds, "Give up after this long. Default: never")
      ->type_name("SECONDS")
      ->check(CLI::Range(int64_t{0}, int64_t{366} * 24 * 3600));
  Choose(command, wait, chosen);

  AddNameCommand(*group, "cancel", "Stop an operation; the charge of a started one is not refunded",
                 "curator operation cancel ID", &CancelOperation::operation, "ID", chosen);

  const auto stop = std::make_shared<StopOperation>();
  command = AddCommand(*group, "stop", "Stop an operation of another principal; for operators",
                       "curator operation stop ID --reason 'the host is moved tonight'");
  command->add_option("ID", stop->operation, "The operation")->required();
  command->add_option("--reason", stop->reason, "Why; recorded in the history")
      ->type_name("TEXT")
      ->required();
  Choose(command, stop, chosen);
}

}  // namespace curator::cli
