#include "client/cli/commands/delivery.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/output/answer_output.h"
#include "client/cli/output/document.h"
#include "client/cli/output/statistics_table.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"
#include "client/cli/plot/bar_chart.h"
#include "client/cli/plot/svg_chart.h"
#include "client/cli/syntax/number_checks.h"
#include "client/receipt.h"

namespace curator::cli {
namespace {

OutputForm FormOf(const std::string& path, OutputForm fallback) {
  const std::string extension = ExtensionOf(path);
  if (extension == ".json") return OutputForm::kJson;
  if (extension == ".csv" || fallback == OutputForm::kTable) return OutputForm::kCsv;
  return fallback;
}

absl::Status WriteAnswer(const Answer& answer, const v1::Schema& schema, OutputForm form, std::ostream& out) {
  return form == OutputForm::kJson ? WriteAnswerJson(answer, schema, out)
                                   : WriteAnswerCsv(answer, schema, out);
}

// The file of --out. Its extension says the form of the answers, unless --output does.
absl::StatusOr<std::unique_ptr<OutputFile>> OpenAnswers(const Session& session, const std::string& path) {
  OutputOption option{"--out", "answers"};
  if (session.form == OutputForm::kTable) option.extensions = {".csv", ".json"};
  if (const absl::Status named = CheckExtension(option, path); !named.ok()) {
    return absl::Status(
        named.code(), absl::StrCat(named.message(), "; for other names choose the form: --output csv|json"));
  }
  return CreateOutput(option, path, session.out);
}

// Draws the tables with one label column: to standard output when `file` is null, else as SVG. An answer
// without such a table is not an error, since it is paid for: a line on the error stream reports it, and the
// result is false.
absl::StatusOr<bool> DeliverPlot(Session& session, const Answer& answer, const v1::Schema& schema,
                                 OutputFile* file) {
  ASSIGN_OR_RETURN(const std::vector<BarChart> charts, ChartsOf(answer, schema, ChartLimits()));
  if (charts.empty()) {
    session.error
        << "nothing to plot: the request has no marginal over one attribute, no statistics by one attribute, "
           "and no other table with one label\n";
    return false;
  }
  if (file == nullptr) {
    for (size_t i = 0; i < charts.size(); ++i) {
      if (i > 0) session.out << "\n";
      DrawOnTerminal(charts[i], session.terminal, session.out);
    }
    return true;
  }
  file->stream() << SvgOf(charts);
  RETURN_IF_ERROR(file->Commit());
  return true;
}

// To what bounds the values were clipped whose statistics a table in CSV has, which does not say so itself.
std::vector<std::string> ClippedIn(const Answer& answer, const v1::Schema& schema) {
  std::vector<std::string> notes;
  for (const QuerySetAnswer& set : answer.query_sets) {
    if (!IsStatistics(set)) continue;
    for (std::string& note : ClippedNotes(MeasuresNamed(set, schema)))
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  }
  return notes;
}

// Writes plot, tables, file and summary.
absl::Status WriteAll(Session& session, const Answer& answer, const v1::Schema& schema,
                      const OpenDelivery& delivery) {
  bool drawn = false;
  if (delivery.choice.plot) {
    ASSIGN_OR_RETURN(const bool has_plot, DeliverPlot(session, answer, schema, delivery.plot.get()));
    drawn = has_plot && delivery.plot == nullptr;
  }
  Document summary = SummaryOf(answer);
  if (delivery.out == nullptr) {
    if (!drawn) RETURN_IF_ERROR(WriteAnswerTables(answer, schema, session.terminal, session.out));
    session.out << "\n";
    session.Print(summary);
    return absl::OkStatus();
  }
  const std::string& path = delivery.choice.out;
  const OutputForm form = FormOf(path, session.form);
  RETURN_IF_ERROR(WriteAnswer(answer, schema, form, delivery.out->stream()));
  RETURN_IF_ERROR(delivery.out->Commit());
  std::vector<std::string> notes;
  if (form == OutputForm::kCsv) notes = ClippedIn(answer, schema);
  if (path.empty() || path == "-") {
    WriteNotes(session, answer.header, notes);
    return absl::OkStatus();
  }
  summary.notes.insert(summary.notes.begin(), notes.begin(), notes.end());
  summary.fields.push_back({"out", "written to", path});
  session.Print(summary);
  return absl::OkStatus();
}

}  // namespace

void AddDelivery(CLI::App* command, DeliveryChoice& delivery, const std::string& out_summary) {
  command->add_option("--out", delivery.out, out_summary)->type_name("FILE");
  command
      ->add_option_function<std::vector<std::string>>(
          "--plot",
          [&delivery](const std::vector<std::string>& given) {
            delivery.plot = given.empty() || given.front().empty() ? "" : given.front();
          },
          "Draw the one-way marginals, and statistics by one attribute, with their intervals: as bars on the "
          "terminal, or into an SVG file")
      ->type_name("[FILE.svg]")
      ->expected(0, 1)
      ->check([](const std::string& text) {
        return text.empty() || text.ends_with(".svg")
                   ? std::string()
                   : "'" + text + "' does not end in .svg: plots are SVG files";
      });
}

void AddPostProcessing(CLI::App* command, v1::PostProcessing& steps) {
  const auto apply = [](const std::string& text, v1::PostProcessing& into) -> std::string {
    for (const std::string& step : SplitAtCommas(text)) {
      if (step == "non-negative") {
        into.set_non_negative(true);
      } else if (step == "consistent") {
        into.set_consistent(true);
      } else if (step == "integer") {
        into.set_integer(true);
      } else {
        return "'" + step + "' is none of non-negative, consistent, integer";
      }
    }
    return "";
  };
  command
      ->add_option_function<std::string>(
          "--postprocess", [&steps, apply](const std::string& text) { apply(text, steps); },
          "Post-process the measured answers, free; the output says so: no negative counts; marginals that "
          "agree with each "
          "other "
          "(least squares); whole numbers. Any of these, separated by commas")
      ->type_name("non-negative,consistent,integer")
      ->check([apply](const std::string& text) {
        v1::PostProcessing tried;
        return apply(text, tried);
      });
}

absl::StatusOr<OpenDelivery> Open(const Session& session, const DeliveryChoice& choice) {
  const bool drawn = choice.plot && choice.plot->empty();
  if (drawn && (session.form != OutputForm::kTable || choice.out == "-")) {
    return absl::FailedPreconditionError(
        "--plot draws on the terminal, where other output goes too: name a file, --plot FILE.svg");
  }
  OpenDelivery open{.choice = choice, .out = nullptr, .plot = nullptr};
  if (!choice.out.empty() || session.form != OutputForm::kTable) {
    const std::string path = choice.out.empty() ? "-" : choice.out;
    ASSIGN_OR_RETURN(open.out, OpenAnswers(session, path));
  }
  if (choice.plot && !drawn) {
    ASSIGN_OR_RETURN(open.plot, CreateOutput({"--plot", "plots", {".svg"}}, *choice.plot, session.out));
  }
  return open;
}

void WriteNotes(Session& session, const v1::AnswerHeader& header, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) session.error << Printable(note) << "\n";
  if (!header.request_id().empty()) session.error << "request id " << header.request_id() << "\n";
  if (const std::string cost = CostNote(header); !cost.empty()) session.error << Printable(cost) << "\n";
}

absl::Status DeliverAnswer(Session& session, const Answer& answer, const v1::Schema& schema,
                           OpenDelivery delivery) {
  const absl::Status written = WriteAll(session, answer, schema, delivery);
  const v1::AnswerHeader& header = answer.header;
  if (written.ok()) return written;
  if (!header.release_id().empty()) {
    return StoredAgain(written, header.request_id().empty() ? session.request_id : header.request_id(),
                       "show " + header.release_id());
  }
  if (header.free_from().empty()) return written;
  return absl::Status(written.code(),
                      absl::StrCat(written.message(), ". Nothing was charged: repeat the command"));
}

absl::Status DeliverModelAnswer(Session& session, const Answer& answer, const v1::Schema& schema,
                                OpenDelivery delivery) {
  return WriteAll(session, answer, schema, delivery);
}

absl::Status StoredAgain(const absl::Status& failed, const std::string& request_id,
                         const std::string& command) {
  const std::string request =
      request_id.empty() ? ""
                         : absl::StrCat(" The request was ", request_id, ", which is never charged twice.");
  return absl::Status(failed.code(),
                      absl::StrCat(failed.message(), ". It is stored, and fetched again free: ",
                                   "curator release ", command, " --out FILE.", request));
}

absl::StatusOr<std::vector<v1::Receipt>> ReadReceipts(const std::string& path) {
  ASSIGN_OR_RETURN(InputFile file, OpenInput(path));
  std::vector<v1::Receipt> receipts;
  int64_t number = 0;
  for (std::string line; std::getline(file.stream, line);) {
    ++number;
    if (line.empty()) continue;
    absl::StatusOr<v1::Receipt> receipt = client::ReceiptOfLine(line);
    if (!receipt.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ", line ", number, ": ", receipt.status().message()));
    }
    receipts.push_back(*std::move(receipt));
  }
  if (receipts.empty()) return absl::InvalidArgumentError(absl::StrCat(path, " holds no receipt"));
  return receipts;
}

absl::StatusOr<ReceiptFile> ReceiptFile::Open(const std::string& path) {
  ReceiptFile receipts(path);
  if (path.empty()) return receipts;
  receipts.file_.open(path, std::ios::app);
  if (!receipts.file_) return absl::ErrnoToStatus(errno, absl::StrCat("--receipt ", path));
  return receipts;
}

absl::Status ReceiptFile::Append(const v1::Receipt& receipt, const std::string& charge_id) {
  if (path_.empty()) return absl::OkStatus();
  file_ << client::LineOf(receipt) << "\n";
  file_.close();
  if (file_) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the receipt cannot be written to ", path_,
      "; the charge stands. Fetch it again with: curator charge show ", charge_id, " --receipt FILE"));
}

absl::Status ReceiptFile::AppendOwn(Session& session) {
  if (path_.empty()) return absl::OkStatus();
  v1::GetChargeRequest request;
  request.set_request_id(session.request_id);
  const absl::StatusOr<v1::Charge> charge = session.client.GetCharge(request);
  return charge.ok() ? Append(charge->receipt(), charge->id()) : charge.status();
}

void AddSample(CLI::App* command, SampleChoice& sample, CLI::Option* needed) {
  CLI::Option* rows =
      command->add_option("--rows", sample.rows, "How many. Default: the model's own noisy number of records")
          ->type_name("N")
          ->check(PositiveNumber);
  CLI::Option* as_bins =
      command->add_flag("--as-bins", sample.as_bins, "Bins as intervals instead of a value inside the bin");
  if (needed == nullptr) return;
  rows->needs(needed);
  as_bins->needs(needed);
}

absl::StatusOr<std::unique_ptr<OutputFile>> OpenSample(const Session& session, const std::string& path) {
  return CreateOutput({"--out", "synthetic records", {".csv"}}, path, session.out);
}

absl::StatusOr<int64_t> WriteSample(Session& session, const std::string& release, const SampleChoice& sample,
                                    OutputFile& file) {
  v1::SampleModelRequest request;
  request.set_release_id(release);
  if (sample.rows) request.set_rows(*sample.rows);
  request.set_as_bins(sample.as_bins);
  int64_t written = 0;
  RETURN_IF_ERROR(session.client.SampleModel(request, [&](std::string_view bytes) {
    file.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    written += static_cast<int64_t>(bytes.size());
    return file.Check();
  }));
  RETURN_IF_ERROR(file.Commit());
  return written;
}

}  // namespace curator::cli
