#include "client/cli/arguments_parts.h"

namespace curator::cli {
namespace {

void AddReleaseGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group =
      app.add_subcommand("release", "What has been answered: show, query and sample it again, free");
  group->require_subcommand(1);
  AddNameCommand(*group, "list", "The releases of a dataset", "curator release list census",
                 &ListReleases::dataset, "NAME", chosen);

  const auto show = std::make_shared<ShowRelease>();
  CLI::App* command = AddCommand(*group, "show", "A release: the answer, or what is known about the model",
                                 "curator release show ID --out pairs.csv");
  command->add_option("ID", show->release, "The release")->required();
  AddConfidence(command, show->confidence);
  AddPostProcessing(command, show->post_processing);
  AddDelivery(command, show->delivery, "Write all answers to this file, CSV or JSON by its extension");
  Choose(command, show, chosen);

  const auto share = std::make_shared<ShareRelease>();
  command = AddCommand(*group, "share", "Let somebody read a release, and be answered free from it",
                       "curator release share ID --with bob");
  command->add_option("ID", share->release, "The release; yours, or of a dataset that you own")->required();
  command->add_option("--with", share->principal, "Who may see the dataset already")
      ->type_name("PRINCIPAL")
      ->required();
  Choose(command, share, chosen);

  const auto query = std::make_shared<QueryRelease>();
  command = AddCommand(*group, "query", "Questions to a model, answered without noise and free",
                       "curator release query ID --marginals 2 --attributes age,sex");
  command->add_option("ID", query->release, "The release of a synthesis")->required();
  AddWorkload(command, query->workload, WorkloadNeed::kRequired);
  AddDelivery(command, query->delivery, "Write all answers to this file, CSV or JSON by its extension");
  command->parse_complete_callback([query] { CheckWorkload(query->workload); });
  Choose(command, query, chosen);

  const auto sample = std::make_shared<SampleRelease>();
  command = AddCommand(*group, "sample",
                       "Synthetic records from a model, free; the same command gives the same file",
                       "curator release sample ID --rows 10000 --out synthetic.csv");
  command->add_option("ID", sample->release, "The release of a synthesis")->required();
  command->add_option("--rows", sample->rows, "How many. Default: the model's own noisy number of records")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--as-bins", sample->as_bins, "Bins as intervals instead of a value inside the bin");
  command->add_option("--out", sample->out, "The CSV file to write; - is standard output")
      ->type_name("FILE.csv")
      ->required();
  Choose(command, sample, chosen);
}

void AddOperationGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("operation", "Long work: list, show, wait, cancel");
  group->require_subcommand(1);
  Choose(AddCommand(*group, "list", "Your operations, newest first", "curator operation list"),
         std::make_shared<ListOperations>(), chosen);
  AddNameCommand(*group, "show", "One operation", "curator operation show ID", &ShowOperation::operation,
                 "ID", chosen);

  const auto wait = std::make_shared<WaitOperation>();
  CLI::App* command = AddCommand(*group, "wait", "Wait until it has ended; exit status 1 when it failed",
                                 "curator operation wait ID --timeout 600");
  command->add_option("ID", wait->operation, "The operation")->required();
  command->add_option("--timeout", wait->timeout_seconds, "Give up after this long. Default: never")
      ->type_name("SECONDS")
      ->check(CLI::Range(int64_t{0}, int64_t{366} * 24 * 3600));
  Choose(command, wait, chosen);

  AddNameCommand(*group, "cancel", "Stop an operation; the charge of a started one is not refunded",
                 "curator operation cancel ID", &CancelOperation::operation, "ID", chosen);
}

void AddVerify(CLI::App& group, Chosen& chosen) {
  const auto verify = std::make_shared<VerifyLedger>();
  CLI::App* command = AddCommand(
      group, "verify",
      "Recompute the hash chain and all balances from the entries alone; exit status 1 when they contradict",
      "curator ledger verify census --receipts mine.jsonl");
  command->add_option("NAME", verify->dataset, "The dataset")->required();
  CLI::Option* receipts =
      command
          ->add_option("--receipts", verify->receipts, "Check that the history still contains these charges")
          ->type_name("FILE");
  command
      ->add_option(
          "--key", verify->key,
          "Who must have signed the receipts, as `curator ledger key` printed it when you trusted it. "
          "Default: the key that the server has now")
      ->type_name("HEX")
      ->needs(receipts)
      ->check([](const std::string& text) {
        const bool is_key =
            text.size() == 64 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
        return is_key ? std::string() : "'" + text + "' is not a key of 64 hexadecimal digits";
      });
  Choose(command, verify, chosen);
}

void AddRepair(CLI::App& group, Chosen& chosen) {
  const auto repair = std::make_shared<RepairLedger>();
  CLI::App* command = AddCommand(
      group, "repair",
      "After a restored backup: raise what is spent to what the anchor knows, so that charges go on; for "
      "owners",
      "curator ledger repair census --raise-to-anchor --reason 'the disk failed on Monday'");
  command
      ->add_option("NAME", repair->dataset,
                   "The dataset; its predecessors and successors are repaired with it")
      ->required();
  command
      ->add_flag_callback(
          "--raise-to-anchor", [] {},
          "Accept that the newest entries are lost, and that everything they spent stays spent")
      ->required();
  command->add_option("--reason", repair->reason, "Why; it stays in the history")
      ->type_name("TEXT")
      ->required();
  command
      ->add_option("--receipts", repair->receipts,
                   "Count also what these receipts tell of charges that are lost")
      ->type_name("FILE");
  command->add_flag("--dry-run", repair->only_show, "Show what would be raised, change nothing");
  AddRequestId(command, repair->request_id);
  Choose(command, repair, chosen);
}

void AddLedgerGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("ledger", "The append-only history of a dataset");
  group->require_subcommand(1);
  const auto show = std::make_shared<ShowLedger>();
  CLI::App* command =
      AddCommand(*group, "show", "The entries, oldest first", "curator ledger show census --after 100");
  command->add_option("NAME", show->dataset, "The dataset")->required();
  command->add_option("--after", show->after, "Only entries with a greater number. Default: 0")
      ->type_name("ENTRY")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--limit", show->limit, "At most this many entries. Default: all")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  Choose(command, show, chosen);
  const auto exported = std::make_shared<ExportLedger>();
  command = AddCommand(*group, "export",
                       "The whole history as JSON lines, enough to verify it with a program of your own",
                       "curator ledger export census --out census.jsonl");
  command->add_option("NAME", exported->dataset, "The dataset")->required();
  command->add_option("--out", exported->out, "The file to write. Default: standard output")
      ->type_name("FILE.jsonl");
  Choose(command, exported, chosen);
  AddVerify(*group, chosen);
  Choose(AddCommand(*group, "key", "The key that the server signs receipts with", "curator ledger key"),
         std::make_shared<ShowReceiptKey>(), chosen);
  AddRepair(*group, chosen);
}

}  // namespace

void AddRecordGroups(CLI::App& app, Chosen& chosen) {
  AddReleaseGroup(app, chosen);
  AddOperationGroup(app, chosen);
  CLI::App* budget = app.add_subcommand("budget", "What has been spent and what is left");
  budget->require_subcommand(1);
  AddNameCommand(*budget, "show", "Each account of a dataset", "curator budget show census",
                 &ShowBudget::dataset, "NAME", chosen);
  AddLedgerGroup(app, chosen);
  Choose(AddCommand(app, "version", "The versions of this client and of the server", "curator version"),
         std::make_shared<ShowVersion>(), chosen);
}

}  // namespace curator::cli
