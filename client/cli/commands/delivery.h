// The output of commands in files and plots: answers, synthetic records and receipts; the options that choose
// it, and the functions that write it.
//
// Every file is opened before the request is sent: a path that cannot be written must not cost budget.
//
// Not thread-safe: one command runs at a time.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/answer.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/files.h"
#include "curator/v1/accountant.pb.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

// The destination of an answer.
struct DeliveryChoice {
  std::string out;                  // empty for tables on standard output
  std::optional<std::string> plot;  // "" draws on the terminal, else an SVG file
};
// --out and --plot.
void AddDelivery(CLI::App* command, DeliveryChoice& delivery, const std::string& out_summary);

void AddPostProcessing(CLI::App* command, v1::PostProcessing& steps);

// A destination whose files are open.
struct OpenDelivery {
  DeliveryChoice choice;
  std::unique_ptr<OutputFile> out;   // null when tables and their summary are printed
  std::unique_ptr<OutputFile> plot;  // null unless the choice names a file
};

// Errors: those of CreateOutput(), where .csv and .json are known unless --output chooses the form;
// FAILED_PRECONDITION when a plot on the terminal would be printed inside JSON or CSV.
absl::StatusOr<OpenDelivery> Open(const Session& session, const DeliveryChoice& choice);

// Beside an answer on standard output, on the error stream: `notes`, its request id, and what it cost.
void WriteNotes(Session& session, const v1::AnswerHeader& header, const std::vector<std::string>& notes);

// Writes the answer to the file, in the form of its extension (else in `session.form`; CSV if that is
// kTable), and a summary to standard output; or, without a file, both to standard output in the session's
// form. A plot on the terminal replaces the tables. An error states how to fetch a stored answer again.
absl::Status DeliverAnswer(Session& session, const Answer& answer, const v1::Schema& schema,
                           OpenDelivery delivery);
// The same for an answer of a model, which is not stored: the model can be asked again.
absl::Status DeliverModelAnswer(Session& session, const Answer& answer, const v1::Schema& schema,
                                OpenDelivery delivery);

// The same error after something was stored: how to fetch it again. `command` is that of `curator release`,
// such as "show ID"; `request_id` may be empty.
absl::Status StoredAgain(const absl::Status& failed, const std::string& request_id,
                         const std::string& command);

// ---- Receipts: one per line of a file, appended by the commands that charge and read by those that verify

// All receipts of the file. INVALID_ARGUMENT names the malformed line; other errors, such as NOT_FOUND, the
// file.
absl::StatusOr<std::vector<v1::Receipt>> ReadReceipts(const std::string& path);

// A file that receipts are appended to; none for an empty path.
class ReceiptFile {
 public:
  // PERMISSION_DENIED, NOT_FOUND, ... when nothing can be appended to it.
  static absl::StatusOr<ReceiptFile> Open(const std::string& path);

  // Appends the receipt of a charge. An error does not undo the charge; it states how to fetch the receipt
  // again.
  absl::Status Append(const v1::Receipt& receipt, const std::string& charge_id);
  // The same for the charge of this command, which is fetched by its request id.
  absl::Status AppendOwn(Session& session);

 private:
  explicit ReceiptFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::ofstream file_;
};

// ---- Synthetic records

struct SampleChoice {
  std::optional<int64_t> rows;  // absent: the model's own noisy number of records
  bool as_bins = false;
};
// --rows and --as-bins. With `needed`, both require that option.
void AddSample(CLI::App* command, SampleChoice& sample, CLI::Option* needed = nullptr);

// The file of synthetic records; to be opened before anything is charged. Errors: those of CreateOutput().
absl::StatusOr<std::unique_ptr<OutputFile>> OpenSample(const Session& session, const std::string& path);

// Samples the model of `release` and writes the records as CSV to `file`, completely or not at all. Returns
// the number of bytes written.
absl::StatusOr<int64_t> WriteSample(Session& session, const std::string& release, const SampleChoice& sample,
                                    OutputFile& file);

}  // namespace curator::cli
