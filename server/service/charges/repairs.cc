#include "service/charges/repairs.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "service/charges/pricing.h"

namespace curator::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kProposalDocument[] = "curator.repair_proposal.v1";

std::string HashOf(const std::vector<Receipt>& receipts) {
  CanonicalWriter writer("curator.repair.receipts", 1);
  for (const Receipt& receipt : receipts) writer.Text(receipt.statement);
  return absl::BytesToHexString(Sha256(std::move(writer).Take()));
}

// Counts the passes that are made for an order.
ledger::BeforePass CountedFor(const Principal& principal, PrincipalQuotas* quotas) {
  if (quotas == nullptr) return {};
  return [principal, quotas] { return quotas->CountVerification(principal); };
}

absl::StatusOr<std::vector<ledger::LostCharge>> ChargesOf(ledger::Ledger& ledger,
                                                          const host::ReceiptSigner& signer,
                                                          const std::vector<Receipt>& receipts) {
  std::vector<ledger::LostCharge> charges;
  for (size_t i = 0; i < receipts.size(); ++i) {
    absl::StatusOr<ledger::LostCharge> charge = ChargeOfReceipt(ledger, signer, receipts[i]);
    if (!charge.ok()) return WithinField(absl::StrCat("receipts[", i, "]"), charge.status());
    charges.push_back(*std::move(charge));
  }
  return charges;
}

absl::StatusOr<RepairView> Raise(const Access& access, const DatasetView& dataset,
                                 const ledger::RepairOrder& order) {
  RepairView view;
  ASSIGN_OR_RETURN(view.report, access.ledger.RaiseToAnchor(order));
  for (const ledger::RaisedCounter& raised : view.report.raised) {
    ASSIGN_OR_RETURN(const std::vector<ledger::Account> account,
                     access.ledger.GetAccounts({raised.account_id}));
    view.accounts.push_back(AccountName(dataset, account.front()));
  }
  return view;
}

// What a proposal states.
struct StatedRepair {
  std::string proposed_by;
  int64_t time_us = 0;
  std::string reason;
  std::string receipts_hash;
  std::string effect_hash;
};

RepairProposal SignedProposal(const Access& access, const host::ReceiptSigner& signer,
                              const DatasetView& dataset, const StatedRepair& stated) {
  const Json statement = {{"document", kProposalDocument},
                          {"ledger_id", access.ledger.LedgerId()},
                          {"dataset_id", dataset.record.id},
                          {"proposed_by", stated.proposed_by},
                          {"time_us", stated.time_us},
                          {"reason", stated.reason},
                          {"receipts_hash", stated.receipts_hash},
                          {"effect_hash", stated.effect_hash}};
  RepairProposal proposal{
      .statement = statement.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace),
      .signature = {},
      .public_key = signer.public_key(),
      .receipts = {}};
  proposal.signature = signer.Sign(proposal.statement);
  return proposal;
}

// A signed statement of the right document is well formed.
absl::StatusOr<StatedRepair> ParseProposal(const Access& access, const host::ReceiptSigner& signer,
                                           const DatasetView& dataset, const RepairProposal& proposal) {
  if (!host::IsSignedBy(signer.public_key(), proposal.statement, proposal.signature)) {
    return InvalidField("proposal", "is not this server's: it is forged, or another server made it");
  }
  const Json statement = Json::parse(proposal.statement, nullptr, /*allow_exceptions=*/false);
  if (!statement.is_object() || statement.value("document", "") != kProposalDocument) {
    return InvalidField("proposal", "is no proposal of a repair");
  }
  if (statement.value("ledger_id", "") != access.ledger.LedgerId() ||
      statement.value("dataset_id", "") != dataset.record.id) {
    return InvalidField("proposal", "is of another dataset");
  }
  StatedRepair stated{.proposed_by = statement.value("proposed_by", ""),
                      .time_us = statement.value("time_us", int64_t{0}),
                      .reason = statement.value("reason", ""),
                      .receipts_hash = statement.value("receipts_hash", ""),
                      .effect_hash = statement.value("effect_hash", "")};
  if (stated.receipts_hash != HashOf(proposal.receipts)) {
    return InvalidField("proposal", "has other receipts than those that it was made with");
  }
  return stated;
}

absl::Status CheckStands(const DatasetView& dataset, const StatedRepair& stated) {
  if (absl::Now() > absl::FromUnixMicros(stated.time_us) + kRepairProposalLifetime) {
    return absl::FailedPreconditionError("the proposal is older than 7 days: the owner proposes it again");
  }
  if (dataset.record.owner != stated.proposed_by) {
    return absl::FailedPreconditionError(
        absl::StrCat(stated.proposed_by, ", who proposed this, does not own the dataset any more"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ProposedRepair> ProposeRepair(const Access& access, const host::ReceiptSigner& signer,
                                             const RepairRequest& request, PrincipalQuotas* quotas) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kProposeRepair, request.principal, request.dataset));
  if (request.reason.empty()) return InvalidField("reason", "say why: it stays in the history");
  RETURN_IF_ERROR(CheckLine("reason", request.reason));
  ledger::RepairOrder order{.dataset_id = dataset.record.id,
                            .reason = request.reason,
                            .actor = request.principal,
                            .proposed_by = request.principal.name(),
                            .receipts = {},
                            .only_checked = true,
                            .before_pass = CountedFor(request.principal, quotas)};
  ASSIGN_OR_RETURN(order.receipts, ChargesOf(access.ledger, signer, request.receipts));
  ProposedRepair proposed;
  ASSIGN_OR_RETURN(proposed.effect, Raise(access, dataset, order));
  proposed.proposal = SignedProposal(access, signer, dataset,
                                     {.proposed_by = request.principal.name(),
                                      .time_us = absl::ToUnixMicros(absl::Now()),
                                      .reason = request.reason,
                                      .receipts_hash = HashOf(request.receipts),
                                      .effect_hash = ledger::HashOfEffect(proposed.effect.report)});
  proposed.proposal.receipts = request.receipts;
  return proposed;
}

absl::StatusOr<RepairView> ApproveRepair(const Access& access, const host::ReceiptSigner& signer,
                                         const Principal& principal, const DatasetName& dataset,
                                         const RepairProposal& proposal, Intent intent,
                                         PrincipalQuotas* quotas) {
  ASSIGN_OR_RETURN(const DatasetView view, FindDataset(access, Method::kApproveRepair, principal, dataset));
  ASSIGN_OR_RETURN(const StatedRepair stated, ParseProposal(access, signer, view, proposal));
  RETURN_IF_ERROR(CheckStands(view, stated));
  ASSIGN_OR_RETURN(const ledger::Approval approval, ApprovalOf(access, stated.proposed_by, principal));
  ledger::RepairOrder order{.dataset_id = view.record.id,
                            .reason = stated.reason,
                            .actor = principal,
                            .proposed_by = stated.proposed_by,
                            .approval = approval,
                            .receipts = {},
                            .only_checked = intent == Intent::kValidateOnly,
                            .expected_effect = stated.effect_hash,
                            .before_pass = CountedFor(principal, quotas)};
  ASSIGN_OR_RETURN(order.receipts, ChargesOf(access.ledger, signer, proposal.receipts));
  return Raise(access, view, order);
}

}  // namespace curator::service
