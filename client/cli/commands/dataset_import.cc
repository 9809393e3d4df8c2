// `curator dataset import`: files, tables and queries become records of a dataset.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/acceptance.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/dataset_document.h"
#include "client/cli/commands/most_rejected.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/sources/csv_source.h"
#include "client/cli/sources/parquet_source.h"
#include "client/cli/sources/postgres_source.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct ImportRecords {
  std::string dataset;
  std::string file;      // either a file ...
  std::string database;  // ... or the URL of a database, with a table or a query
  TableChoice table;
  std::string query;
  bool confirmed = false;
  std::string part;  // of a partitioned dataset
  MostRejected most_rejected;
  std::string request_id;
};

struct OpenedSource {
  std::unique_ptr<CsvSource> rows;
  v1::RecordSource kind = v1::RECORD_SOURCE_FILE;
};

absl::StatusOr<OpenedSource> OpenSource(const ImportRecords& command, const CsvForm& form) {
  OpenedSource source;
  if (command.database.empty()) {
    ASSIGN_OR_RETURN(source.rows, OpenParquet(command.file, form));
  } else if (!command.query.empty()) {
    source.kind = v1::RECORD_SOURCE_QUERY;
    ASSIGN_OR_RETURN(source.rows, OpenPostgresQuery(command.database, command.query, form));
  } else {
    source.kind = v1::RECORD_SOURCE_TABLE;
    ASSIGN_OR_RETURN(source.rows, OpenPostgresTable(command.database, command.table, form));
  }
  return source;
}

absl::StatusOr<v1::ImportRecordsResponse> ImportSource(Session& session, const ImportRecords& command,
                                                       v1::ImportRecordsRequest::Header header) {
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.GetDataset(command.dataset));
  ASSIGN_OR_RETURN(OpenedSource source, OpenSource(command, CsvFormOf(dataset.schema())));
  header.set_source(source.kind);
  CsvStream stream(std::move(source.rows));
  absl::StatusOr<v1::ImportRecordsResponse> import = session.client.ImportRecords(std::move(header), stream);
  // What went wrong with the source is the cause of what went wrong with the import.
  RETURN_IF_ERROR(stream.status());
  return import;
}

absl::StatusOr<v1::ImportRecordsResponse> ImportCsv(Session& session, const ImportRecords& command,
                                                    v1::ImportRecordsRequest::Header header) {
  ASSIGN_OR_RETURN(InputFile file, OpenInput(command.file));
  header.set_gzip(file.compression == Client::Compression::kGzip);
  session.fields.Add("csv", command.file);
  return session.client.ImportRecords(std::move(header), file.stream);
}

// The error of an import that has brought its records, but has rejected too many rows.
absl::Status CheckStored(const Session& session, const ImportRecords& command,
                         const v1::ImportRecordsResponse& import) {
  if (!command.most_rejected.IsExceededBy(import)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      command.most_rejected.Complaint(import), " The other ", import.rows_accepted(),
      " are imported; to undo that: curator dataset undo-import ", command.dataset, " ", session.request_id));
}

absl::Status Run(Session& session, const ImportRecords& command) {
  v1::ImportRecordsRequest::Header header;
  RETURN_IF_ERROR(session.SetRequestId(header, command.request_id));
  header.set_dataset(command.dataset);
  header.set_part(command.part);
  // What is accepted already is sent at once: some sources can be read once only.
  header.set_accept_same_file(command.confirmed);
  const bool is_csv = command.database.empty() && !IsParquet(command.file);
  const std::vector<Acceptance> acceptances = {
      {"SAME_FILE", "Import it again", [&header] { header.set_accept_same_file(true); }}};
  ASSIGN_OR_RETURN(
      const v1::ImportRecordsResponse import, SendAccepting(session, command.confirmed, acceptances, [&] {
        return is_csv ? ImportCsv(session, command, header) : ImportSource(session, command, header);
      }));

  Document document;
  document.fields.push_back({"dataset", "dataset", command.dataset});
  AddImportFacts(import, document);
  PrintForOwner(session, document);
  return CheckStored(session, command, import);
}

// One source, with what belongs to it.
void CheckSource(const ImportRecords& options) {
  const bool has_table = !options.table.table.empty();
  const bool has_query = !options.query.empty();
  const bool has_choice = !options.table.columns.empty() || !options.table.where.empty();
  // Here, so that no server is asked, not even that of the dataset, while a password is in the command line.
  if (!options.database.empty()) {
    const absl::Status url = CheckDatabaseUrl(options.database);
    if (!url.ok()) throw CLI::ValidationError(std::string(url.message()));
  }
  if (options.file.empty() == options.database.empty()) {
    throw CLI::ValidationError("FILE", "name one source: FILE, or --from with --table or --query");
  }
  if (!options.database.empty() && has_table == has_query) {
    throw CLI::ValidationError("--from", "name --table or --query: what is read of the database");
  }
  if (options.database.empty() && (has_table || has_query)) throw CLI::RequiredError("--from");
  if (options.database.empty() && has_choice) {
    throw CLI::ValidationError(
        "FILE", "--columns and --where are for --table of a database; all rows of a file are read");
  }
  if (!has_table && has_choice) {
    throw CLI::ValidationError("--query", "--columns and --where are for --table; a query has its own");
  }
  if (has_query && !options.confirmed) {
    throw CLI::ValidationError(
        "--query",
        "needs --yes: in a query one person may change the rows of others (by a join, a window, DISTINCT, "
        "an aggregate or LIMIT). Then the guarantee is about the imported rows, not about the people, and "
        "the dataset says so permanently. --table with --columns and --where has no such rows");
  }
}

void AddDatabaseOptions(CLI::App* command, ImportRecords& options) {
  command
      ->add_option("--from", options.database,
                   "A PostgreSQL database, whose rows are read here and never by the server of the dataset. "
                   "Passwords come from ~/.pgpass, PGPASSFILE, PGPASSWORD or a service file")
      ->type_name("postgresql://USER@HOST:PORT/DATABASE");
  command
      ->add_option("--table", options.table.table,
                   "An ordinary table of the database, no view. Names are written exactly as they are there")
      ->type_name("SCHEMA.TABLE");
  command
      ->add_option_function<std::string>(
          "--columns", [&options](const std::string& text) { options.table.columns = SplitAtCommas(text); },
          "Its columns that are read. Default: those that the dataset's schema names")
      ->type_name("A,B,C")
      ->check(CheckNames);
  command
      ->add_option("--where", options.table.where,
                   "Its rows that are read: comparisons of columns with values, in (...), is null, and, or, "
                   "not, e.g. \"age >= 18 and region in ('north', 'south')\"")
      ->type_name("CONDITION");
  command
      ->add_option("--query", options.query,
                   "A SELECT instead of --table. One person may change the rows of others in it: needs --yes")
      ->type_name("SQL");
  command->add_flag("--yes", options.confirmed,
                    "Accept that the guarantee is about the imported rows of --query, not about the people; "
                    "import the same file again without asking");
}

}  // namespace

void AddDatasetImportCommand(CLI::App& dataset_group, Chosen& chosen) {
  const auto options = std::make_shared<ImportRecords>();
  CLI::App* command = AddCommand(
      dataset_group, "import", "Send a CSV or Parquet file, or rows of a database; all or nothing",
      "curator dataset import census people.csv.gz\n"
      "  curator dataset import census --from postgresql://ana@db.example/clinic --table public.people\n"
      "\nParquet is read with DuckDB's library (libduckdb.so, or the file that CURATOR_DUCKDB_LIBRARY "
      "names).");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_option(
      "FILE", options->file,
      "CSV with a header line, plain or gzip, or Parquet; it is streamed, never in memory whole");
  AddDatabaseOptions(command, *options);
  AddPartName(command, options->part);
  AddMaxRejected(command, options->most_rejected);
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen, CheckSource);
}

}  // namespace curator::cli
