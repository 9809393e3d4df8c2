// The output of commands in files and plots: answers, synthetic records and receipts; the options that choose
// it, and the functions that write it.
//
// Not thread-safe: one command runs at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/answer.h"
#include "client/cli/commands/commands.h"
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

// To be called before the request is sent. FAILED_PRECONDITION when a plot on the terminal would be printed
// inside JSON or CSV.
absl::Status CheckDelivery(const Session& session, const DeliveryChoice& delivery);

// Writes the answer to `delivery.out`, in the form of its extension (else in `session.form`; CSV if that is
// kTable), and a summary to standard output; or, without a path, both to standard output in the session's
// form. A plot on the terminal replaces the tables.
absl::Status DeliverAnswer(Session& session, const Answer& answer, const v1::Schema& schema,
                           const DeliveryChoice& delivery);

// ---- Receipts: one per line of a file, appended by the commands that charge and read by those that verify

// All receipts of the file. INVALID_ARGUMENT names the malformed line; other errors, such as NOT_FOUND, the
// file.
absl::StatusOr<std::vector<v1::Receipt>> ReadReceipts(const std::string& path);

// Appends the receipt of a charge to the file; does nothing when `path` is empty. An error does not undo the
// charge; it says how to fetch the receipt again.
absl::Status AppendReceipt(const v1::Receipt& receipt, const std::string& charge_id, const std::string& path);

// The same for the charge of this command, which is fetched by its request id.
absl::Status KeepReceipt(Session& session, const std::string& path);

// ---- Synthetic records

struct SampleChoice {
  std::optional<int64_t> rows;  // absent: the model's own noisy number of records
  bool as_bins = false;
};
// --rows and --as-bins. With `needed`, both require that option.
void AddSample(CLI::App* command, SampleChoice& sample, CLI::Option* needed = nullptr);

// Samples the model of `release` and writes the records as CSV to `path` ("-" is standard output), completely
// or not at all. Returns the number of bytes written.
absl::StatusOr<int64_t> WriteSample(Session& session, const std::string& release, const SampleChoice& sample,
                                    const std::string& path);

}  // namespace curator::cli
