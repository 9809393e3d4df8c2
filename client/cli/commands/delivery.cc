#include "client/cli/commands/delivery.h"

#include <fstream>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/output/answer_output.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/plot/bar_chart.h"
#include "client/cli/plot/svg_chart.h"
#include "client/receipt.h"

namespace curator::cli {
namespace {

OutputForm FormOf(const std::string& path, OutputForm fallback) {
  if (path.ends_with(".json")) return OutputForm::kJson;
  if (path.ends_with(".csv") || fallback == OutputForm::kTable) return OutputForm::kCsv;
  return fallback;
}

absl::Status WriteAnswer(const Answer& answer, const v1::Schema& schema, OutputForm form, std::ostream& out) {
  return form == OutputForm::kJson ? WriteAnswerJson(answer, schema, out)
                                   : WriteAnswerCsv(answer, schema, out);
}

// Draws the tables with one label column: to standard output when `file` is empty, else as SVG. An answer
// without such a table is not an error, since it is paid for: a line on the error stream reports it.
absl::Status DeliverPlot(Session& session, const Answer& answer, const v1::Schema& schema,
                         const std::string& file) {
  ASSIGN_OR_RETURN(const std::vector<BarChart> charts, ChartsOf(answer, schema, ChartLimits()));
  if (charts.empty()) {
    session.error
        << "nothing to plot: the request has no marginal over one attribute, and no other table with "
           "one label\n";
    return absl::OkStatus();
  }
  if (file.empty()) {
    for (size_t i = 0; i < charts.size(); ++i) {
      if (i > 0) session.out << "\n";
      DrawOnTerminal(charts[i], session.terminal, session.out);
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> output, OutputFile::Create(file, session.out));
  output->stream() << SvgOf(charts);
  return output->Commit();
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
          "Draw the one-way marginals with their intervals: as bars on the terminal, or into an SVG file")
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

absl::Status CheckDelivery(const Session& session, const DeliveryChoice& delivery) {
  const bool drawn = delivery.plot && delivery.plot->empty();
  if (!drawn || (session.form == OutputForm::kTable && delivery.out != "-")) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "--plot draws on the terminal, where other output goes too: name a file, --plot FILE.svg");
}

absl::Status DeliverAnswer(Session& session, const Answer& answer, const v1::Schema& schema,
                           const DeliveryChoice& delivery) {
  const std::string& path = delivery.out;
  if (delivery.plot) {
    RETURN_IF_ERROR(DeliverPlot(session, answer, schema, *delivery.plot));
  }
  if (path.empty() && session.form == OutputForm::kTable) {
    const bool drawn = delivery.plot && delivery.plot->empty();
    if (!drawn) {
      RETURN_IF_ERROR(WriteAnswerTables(answer, schema, session.terminal, session.out));
    }
    session.out << "\n";
    session.Print(SummaryOf(answer));
    return absl::OkStatus();
  }
  const bool to_standard_output = path.empty() || path == "-";
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file,
                   OutputFile::Create(to_standard_output ? "-" : path, session.out));
  RETURN_IF_ERROR(WriteAnswer(answer, schema, FormOf(path, session.form), file->stream()));
  RETURN_IF_ERROR(file->Commit());

  Document summary = SummaryOf(answer);
  if (to_standard_output) {
    if (!answer.header.request_id().empty())
      session.error << "request id " << answer.header.request_id() << "\n";
    return absl::OkStatus();
  }
  summary.fields.push_back({"out", "written to", path});
  session.Print(summary);
  return absl::OkStatus();
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

absl::Status AppendReceipt(const v1::Receipt& receipt, const std::string& charge_id,
                           const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::ofstream file(path, std::ios::app);
  file << client::LineOf(receipt) << "\n";
  file.close();
  if (file) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the receipt cannot be written to ", path,
      "; the charge stands. Fetch it again with: curator charge show ", charge_id, " --receipt FILE"));
}

absl::Status KeepReceipt(Session& session, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  v1::GetChargeRequest request;
  request.set_request_id(session.request_id);
  const absl::StatusOr<v1::Charge> charge = session.client.GetCharge(request);
  return charge.ok() ? AppendReceipt(charge->receipt(), charge->id(), path) : charge.status();
}

void AddSample(CLI::App* command, SampleChoice& sample, CLI::Option* needed) {
  CLI::Option* rows =
      command->add_option("--rows", sample.rows, "How many. Default: the model's own noisy number of records")
          ->type_name("N")
          ->check(CLI::PositiveNumber);
  CLI::Option* as_bins =
      command->add_flag("--as-bins", sample.as_bins, "Bins as intervals instead of a value inside the bin");
  if (needed == nullptr) return;
  rows->needs(needed);
  as_bins->needs(needed);
}

absl::StatusOr<int64_t> WriteSample(Session& session, const std::string& release, const SampleChoice& sample,
                                    const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path, session.out));
  v1::SampleModelRequest request;
  request.set_release_id(release);
  if (sample.rows) request.set_rows(*sample.rows);
  request.set_as_bins(sample.as_bins);
  int64_t written = 0;
  RETURN_IF_ERROR(session.client.SampleModel(request, [&](std::string_view bytes) {
    file->stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    written += static_cast<int64_t>(bytes.size());
    return file->Check();
  }));
  RETURN_IF_ERROR(file->Commit());
  return written;
}

}  // namespace curator::cli
