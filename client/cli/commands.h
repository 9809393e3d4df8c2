// Every command of `curator`: what it takes, as plain data, and what runs it.
//
// The parser (arguments.h) fills these in; Run() is one function for each, in the file of its group. Money
// stays text: exact decimals, judged by the server alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/owner.pb.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::cli {

struct Session;

// --file, and the short options: any mixture of them (workload_choice.h makes a workload of it).
struct WorkloadChoice {
  std::string file;                              // of a workload in JSON; empty for none
  int marginals = 0;                             // all K-way ones
  int parities = 0;                              // all of up to K attributes
  std::vector<std::string> attributes;           // of marginals and parities; all of the dataset when empty
  std::vector<std::vector<std::string>> ranges;  // each of one or several attributes
  std::vector<std::string> prefixes;             // attributes
  std::vector<std::string> thresholds;           // texts (where.h)
  std::vector<std::string> where;                // texts (where.h)
  std::vector<std::string> by;                   // of thresholds and where
  v1::Strategy strategy = v1::STRATEGY_UNSPECIFIED;

  bool asks() const {
    return !file.empty() || marginals > 0 || parities > 0 || !ranges.empty() || !prefixes.empty() ||
           !thresholds.empty() || !where.empty();
  }
};

// --epsilon E [--delta D] | --rho R
struct SpendChoice {
  std::string epsilon;
  std::string delta;
  std::string rho;
};

// --spend options, or --max-error A: the least that reaches it.
struct PriceChoice {
  SpendChoice spend;
  std::optional<double> max_error;

  bool is_given() const { return !spend.epsilon.empty() || !spend.rho.empty() || max_error.has_value(); }
};

// Where an answer goes.
struct DeliveryChoice {
  std::string out;                  // empty for tables on standard output
  std::optional<std::string> plot;  // "" draws on the terminal, else an SVG file
};

// NAME=LABEL,LABEL,...: a part of a partitioned dataset by the labels of its bins.
struct PartChoice {
  std::string name;
  std::vector<std::string> labels;
};

// dataset_commands.cc
struct CreateDataset {
  std::string name;
  std::string schema_file;
  v1::Rule rule = v1::RULE_UNSPECIFIED;
  std::string epsilon;
  std::string delta;
  v1::NeighbourRelation neighbours = v1::NEIGHBOUR_RELATION_ADD_REMOVE;
  bool is_public = false;
  bool confirmed = false;
  std::string successor_of;
  std::string partition_attribute;  // empty: not partitioned
  std::vector<PartChoice> parts;    // each bin is a part when empty
  std::string request_id;
};
struct AddPart {
  std::string dataset;
  PartChoice part;
  v1::Rule rule = v1::RULE_UNSPECIFIED;  // unspecified: the dataset's limit
  std::string epsilon;
  std::string delta;
  std::string request_id;
};
struct ImportRecords {
  std::string dataset;
  std::string file;
  std::string part;  // of a partitioned dataset
  std::string request_id;
};
struct SealDataset {
  std::string dataset;
  std::string part;  // of a partitioned dataset
  std::string request_id;
};
struct GrantAccess {
  std::string dataset;
  std::string principal;
  std::string request_id;
};
struct ListDatasets {};
struct ShowDataset {
  std::string dataset;
};
struct ArchiveDataset {
  std::string dataset;
  std::string request_id;
};
struct CheckSchema {
  std::string schema_file;
  std::string csv_file;  // empty for none
};

// workload_commands.cc
struct EstimateWorkload {
  std::string dataset;
  std::vector<std::string> parts;  // all that are sealed when empty
  WorkloadChoice workload;
  PriceChoice price;
  v1::Mechanism mechanism = v1::MECHANISM_UNSPECIFIED;
  std::optional<double> confidence;
  std::optional<int64_t> assumed_rows;
};
struct AnswerWorkload {
  std::string dataset;
  std::vector<std::string> parts;  // all that are sealed when empty
  WorkloadChoice workload;
  PriceChoice price;
  v1::Mechanism mechanism = v1::MECHANISM_UNSPECIFIED;
  std::optional<double> confidence;
  bool prefer_free = false;
  v1::PostProcessing post_processing;
  std::string receipt;  // a file to which the receipt is appended
  std::string request_id;
  DeliveryChoice delivery;
};

// synthesis_commands.cc
struct SynthesisChoice {
  std::string method;
  SpendChoice spend;
  std::map<std::string, std::string> settings;
  WorkloadChoice workload;  // what the model should answer well; the method's own when nothing is asked
  std::vector<std::string> parts;  // all that are sealed when empty
};
struct ListSynthesizers {};
struct EstimateSynthesis {
  std::string dataset;
  SynthesisChoice choice;
  std::optional<int64_t> assumed_rows;
};
struct RunSynthesis {
  std::string dataset;
  SynthesisChoice choice;
  std::optional<int64_t> rows;
  bool as_bins = false;
  std::string receipt;  // a file to which the receipt is appended
  std::string request_id;
  std::string out;  // empty: nothing is sampled
};

// release_commands.cc
struct ListReleases {
  std::string dataset;
};
struct ShowRelease {
  std::string release;
  std::optional<double> confidence;
  v1::PostProcessing post_processing;
  DeliveryChoice delivery;
};
struct ShareRelease {
  std::string release;
  std::string principal;
};
struct QueryRelease {
  std::string release;
  WorkloadChoice workload;
  DeliveryChoice delivery;
};
struct SampleRelease {
  std::string release;
  std::optional<int64_t> rows;
  bool as_bins = false;
  std::string out;
};

// operation_commands.cc
struct ListOperations {};
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

// charge_commands.cc
// What is done: --event FILE.json, or --epsilon E [--delta D] | --rho R for any mechanism with that
// guarantee.
struct EventChoice {
  std::string file;
  SpendChoice guarantee;
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
  std::optional<EventChoice> final_event;
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

// account_commands.cc
struct CreateAccount {
  std::string dataset;
  std::string analyst;  // or
  std::string group;    // with its members
  std::vector<std::string> members;
  v1::Rule rule = v1::RULE_UNSPECIFIED;
  std::string epsilon;
  std::string delta;
  std::string request_id;
};
struct ListAccounts {
  std::string dataset;
};

// limit_commands.cc
struct ProposeLimit {
  std::string dataset;
  std::string account;  // as ListAccounts names it; empty: the dataset's own
  std::string epsilon;  // or
  std::string delta;
  std::string reason;
  std::string request_id;
};
struct ShowLimitProposal {
  std::string dataset;
  std::string proposal;
};
struct ApproveLimit {
  std::string dataset;
  std::string proposal;
};
struct ListLimitProposals {
  std::string dataset;
};

// budget_commands.cc
struct ShowBudget {
  std::string dataset;
};
struct ShowLedger {
  std::string dataset;
  int64_t after = 0;
  std::optional<int64_t> limit;
};
// One JSON object a line, with everything that the hashes cover.
struct ExportLedger {
  std::string dataset;
  std::string out;  // standard output when empty
};

// ledger_checks.cc
struct VerifyLedger {
  std::string dataset;
  std::string receipts;  // a file of receipts that the history must contain; empty for none
  std::string key;       // hexadecimal: who signed them; empty: the server's own key
};
struct ShowReceiptKey {};
struct RepairLedger {
  std::string dataset;
  std::string reason;
  std::string receipts;  // a file; empty for none
  bool only_show = false;
  std::string request_id;
};

// owner_commands.cc
struct EvaluateRelease {
  std::string dataset;
  std::string release;
  std::vector<std::string> by;
  std::optional<int64_t> pairs;
  std::string request_id;
};
struct CountOwnRows {
  std::string dataset;
  std::string request_id;
};
struct ReportRisk {
  std::string dataset;
  v1::RiskRequest::Grid grid = v1::RiskRequest::GRID_AROUND_FIT;
  std::string request_id;
};

struct ShowVersion {};

// calc_compose.cc, calc_convert.cc, calc_calibrate.cc: without a server. Numbers are text, as typed.
struct ComposeEvents {
  std::vector<std::string> events;  // "gaussian:sigma=10,count=20" (calc_schedule.h)
  std::string file;                 // a curator.v1.Event in JSON; empty for none
  std::string delta;
};
struct ConvertPrivacy {
  std::string epsilon;
  std::string delta;
  std::string rho;
  std::optional<int64_t> group;
};
struct CalibrateNoise {
  std::string epsilon;
  std::string delta;
  std::string rho;  // instead of both
  std::string sensitivity = "1";
};

using Command =
    std::variant<CreateDataset, AddPart, ImportRecords, SealDataset, GrantAccess, ListDatasets, ShowDataset,
                 ArchiveDataset, CheckSchema, EstimateWorkload, AnswerWorkload, ListSynthesizers,
                 EstimateSynthesis, RunSynthesis, ListReleases, ShowRelease, ShareRelease, QueryRelease,
                 SampleRelease, ListOperations, ShowOperation, WaitOperation, CancelOperation, ReserveCharge,
                 StartCharge, CommitCharge, CancelCharge, ExtendCharge, ShowCharge, CreateAccount,
                 ListAccounts, ProposeLimit, ShowLimitProposal, ApproveLimit, ListLimitProposals, ShowBudget,
                 ShowLedger, ExportLedger, VerifyLedger, ShowReceiptKey, RepairLedger, EvaluateRelease,
                 CountOwnRows, ReportRisk, ShowVersion, ComposeEvents, ConvertPrivacy, CalibrateNoise>;

// Each prints its result to the session, or returns the error that the caller prints.
absl::Status Run(Session& session, const CreateDataset& command);
absl::Status Run(Session& session, const AddPart& command);
absl::Status Run(Session& session, const ImportRecords& command);
absl::Status Run(Session& session, const SealDataset& command);
absl::Status Run(Session& session, const GrantAccess& command);
absl::Status Run(Session& session, const ListDatasets& command);
absl::Status Run(Session& session, const ShowDataset& command);
absl::Status Run(Session& session, const ArchiveDataset& command);
absl::Status Run(Session& session, const CheckSchema& command);
absl::Status Run(Session& session, const EstimateWorkload& command);
absl::Status Run(Session& session, const AnswerWorkload& command);
absl::Status Run(Session& session, const ListSynthesizers& command);
absl::Status Run(Session& session, const EstimateSynthesis& command);
absl::Status Run(Session& session, const RunSynthesis& command);
absl::Status Run(Session& session, const ListReleases& command);
absl::Status Run(Session& session, const ShowRelease& command);
absl::Status Run(Session& session, const ShareRelease& command);
absl::Status Run(Session& session, const QueryRelease& command);
absl::Status Run(Session& session, const SampleRelease& command);
absl::Status Run(Session& session, const ListOperations& command);
absl::Status Run(Session& session, const ShowOperation& command);
absl::Status Run(Session& session, const WaitOperation& command);
absl::Status Run(Session& session, const CancelOperation& command);
absl::Status Run(Session& session, const ReserveCharge& command);
absl::Status Run(Session& session, const StartCharge& command);
absl::Status Run(Session& session, const CommitCharge& command);
absl::Status Run(Session& session, const CancelCharge& command);
absl::Status Run(Session& session, const ExtendCharge& command);
absl::Status Run(Session& session, const ShowCharge& command);
absl::Status Run(Session& session, const CreateAccount& command);
absl::Status Run(Session& session, const ListAccounts& command);
absl::Status Run(Session& session, const ProposeLimit& command);
absl::Status Run(Session& session, const ShowLimitProposal& command);
absl::Status Run(Session& session, const ApproveLimit& command);
absl::Status Run(Session& session, const ListLimitProposals& command);
absl::Status Run(Session& session, const ShowBudget& command);
absl::Status Run(Session& session, const ShowLedger& command);
absl::Status Run(Session& session, const ExportLedger& command);
absl::Status Run(Session& session, const VerifyLedger& command);
absl::Status Run(Session& session, const ShowReceiptKey& command);
absl::Status Run(Session& session, const RepairLedger& command);
absl::Status Run(Session& session, const EvaluateRelease& command);
absl::Status Run(Session& session, const CountOwnRows& command);
absl::Status Run(Session& session, const ReportRisk& command);
absl::Status Run(Session& session, const ShowVersion& command);
absl::Status Run(Session& session, const ComposeEvents& command);
absl::Status Run(Session& session, const ConvertPrivacy& command);
absl::Status Run(Session& session, const CalibrateNoise& command);

}  // namespace curator::cli
