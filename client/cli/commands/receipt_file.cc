#include "client/cli/commands/receipt_file.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/output/files.h"
#include "client/receipt.h"

namespace curator::cli {

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
      "the receipt cannot be written to ", path, "; the charge stands. Try again with: curator charge show ",
      charge_id, " --receipt FILE"));
}

absl::Status KeepReceipt(Session& session, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  v1::GetChargeRequest request;
  request.set_request_id(session.request_id);
  const absl::StatusOr<v1::Charge> charge = session.client.GetCharge(request);
  return charge.ok() ? AppendReceipt(charge->receipt(), charge->id(), path) : charge.status();
}

}  // namespace curator::cli
