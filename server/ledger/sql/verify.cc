#include "ledger/sql/verify.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/history/hash_chain.h"
#include "ledger/sql/datasets.h"
#include "ledger/sql/points_check.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/seen_files.h"
#include "ledger/sql/staged_releases.h"

namespace curator::ledger::sql {
namespace {

constexpr int64_t kEntriesAtOnce = 256;
constexpr size_t kChargesAtOnce = 1000;

// ---- A page of entries, with the rows that they are compared with

struct StoredRelease {
  std::string payload_hash;
  bool is_whole = false;  // its payload has this hash, and the row is that of its charge
};

struct StoredProposal {
  LimitProposal proposal;
  int64_t entry_seq = 0;  // 0 when an earlier version made it
};

struct EntriesPage {
  std::vector<Entry> entries;
  std::unordered_map<std::string, absl::StatusOr<StoredCharge>> charges;  // by charge id
  std::unordered_map<std::string, StoredRelease> releases;                // by charge id
  std::unordered_map<std::string, StoredProposal> proposals;              // by id
  bool is_last() const { return static_cast<int64_t>(entries.size()) < kEntriesAtOnce; }
};

// One payload at a time, because each may be large.
absl::Status ReadReleaseOf(Transaction& transaction, const std::string& charge_id, EntriesPage& page) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT r.payload, r.payload_hash, r.payload_size, CASE WHEN r.dataset_id = "
                          "c.dataset_id AND r.number = c.entry_seq THEN 1 ELSE 0 END, r.staged_by "
                          "FROM releases r JOIN charges c ON c.id = r.charge_id WHERE r.charge_id = $1",
                          {charge_id}));
  for (const Row& row : rows) {
    std::string payload = row.Blob(0);
    if (const std::string& staged_by = row.Text(4); !staged_by.empty()) {
      ASSIGN_OR_RETURN(payload, ReadPieces(transaction, charge_id, staged_by, row.Integer(2)));
    }
    const bool is_of_charge = row.Integer(2) == static_cast<int64_t>(payload.size()) && row.Integer(3) != 0;
    page.releases[charge_id] = {.payload_hash = row.Blob(1),
                                .is_whole = is_of_charge && Sha256(payload) == row.Blob(1)};
  }
  return absl::OkStatus();
}

bool EndsProposal(const Entry& entry) {
  return entry.kind == kLimitRejected || entry.kind == kLimitWithdrawn || entry.kind == kLimitTakenUp;
}

bool IsAboutProposal(const Entry& entry) {
  return entry.kind == kLimitProposed || entry.kind == kLimitRequested || entry.kind == kLimitChanged ||
         EndsProposal(entry);
}

// Empty when the payload is malformed: the recount reports it.
std::string ProposalIdOf(const Entry& entry) {
  if (EndsProposal(entry)) return ParseLimitEnded(entry.payload).value_or(LimitEnded{}).proposal_id;
  return ParseLimitChange(entry.payload).value_or(LimitChange{}).proposal_id;
}

absl::Status ReadProposalOf(Transaction& transaction, const Entry& entry, EntriesPage& page) {
  const std::string id = ProposalIdOf(entry);
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(
                       "SELECT dataset_id, account_id, counter, old_limit, new_limit, reason, proposed_by, "
                       "approved_by, is_request, ended_as, ended_by, end_reason, entry_seq FROM "
                       "limit_proposals WHERE id = $1",
                       {id}));
  for (const Row& row : rows) {
    page.proposals[id] = {{.id = id,
                           .dataset_id = row.Text(0),
                           .account_id = row.Integer(1),
                           .counter = row.Text(2),
                           .old_limit = row.Integer(3),
                           .new_limit = row.Integer(4),
                           .reason = row.Text(5),
                           .proposed_by = row.Text(6),
                           .approved_by = row.Text(7),
                           .is_request = row.Integer(8) != 0,
                           .end = ProposalEndFromName(row.Text(9)).value_or(ProposalEnd::kNone),
                           .ended_by = row.Text(10),
                           .end_reason = row.Text(11)},
                          row.IsNull(12) ? 0 : row.Integer(12)};
  }
  return absl::OkStatus();
}

absl::StatusOr<EntriesPage> ReadPage(Transaction& transaction, const std::string& dataset_id,
                                     int64_t after_seq) {
  EntriesPage page;
  ASSIGN_OR_RETURN(page.entries, ReadEntries(transaction, dataset_id, after_seq, kEntriesAtOnce));
  std::set<std::string> ids;
  for (const Entry& entry : page.entries) {
    if (!entry.charge_id.empty()) ids.insert(entry.charge_id);
  }
  const std::vector<std::string> charge_ids(ids.begin(), ids.end());
  ASSIGN_OR_RETURN(std::vector<absl::StatusOr<StoredCharge>> charges,
                   ReadEachCharge(transaction, charge_ids));
  for (size_t i = 0; i < charge_ids.size(); ++i) page.charges.emplace(charge_ids[i], std::move(charges[i]));
  for (const Entry& entry : page.entries) {
    if (entry.kind == kCommitted) RETURN_IF_ERROR(ReadReleaseOf(transaction, entry.charge_id, page));
    if (IsAboutProposal(entry)) RETURN_IF_ERROR(ReadProposalOf(transaction, entry, page));
  }
  return page;
}

// ---- Charges

void ReportCharge(Recount& recount, const std::string& charge_id, std::string_view what) {
  recount.AddFinding(charge_id, absl::StrCat("charge ", charge_id, ": ", std::string(what)));
}

void ReportDifference(Recount& recount, const std::string& charge_id, std::string_view what) {
  ReportCharge(recount, charge_id, absl::StrCat("the entries say otherwise about ", std::string(what)));
}

// The charge's row; null, after a finding, when there is none that can be read.
const StoredCharge* FindRow(const EntriesPage& page, const std::string& charge_id, Recount& recount) {
  const auto found = page.charges.find(charge_id);
  if (found == page.charges.end() || absl::IsNotFound(found->second.status())) {
    ReportCharge(recount, charge_id, "the tables do not have it");
    return nullptr;
  }
  if (found->second.ok()) return &*found->second;
  ReportCharge(recount, charge_id, "its row cannot be read");
  return nullptr;
}

// What never changes about a charge.
void CompareMade(const Entry& entry, const StoredCharge& stored, Recount& recount) {
  const Charge& row = stored.charge;
  const absl::StatusOr<ChargeMade> made = ParseChargeMade(entry.payload);
  if (!made.ok()) return;  // The recount reports it.
  const auto compare = [&](bool is_equal, std::string_view what) {
    if (!is_equal) ReportDifference(recount, entry.charge_id, what);
  };
  compare(row.dataset_id == entry.dataset_id, "its dataset");
  compare(row.dataset_version == made->dataset_version, "the version of its dataset");
  compare(row.principal == made->principal, "its principal");
  compare(row.request_id == made->request_id, "its request id");
  compare(row.fingerprint == made->fingerprint, "its fingerprint");
  compare(row.draw_identity == made->draw_identity, "its draw identity");
  compare(row.kind == made->kind, "its kind");
  compare(row.event == made->event, "its event");
  compare(row.label == made->label, "its label");
  compare((row.deadline_us > 0) == (made->deadline_us > 0), "its deadline");
  compare(stored.entry_seq == entry.seq, "its entry");
}

void CompareState(const std::string& charge_id, const Charge& row, const RecountedCharge& counted,
                  Recount& recount) {
  if (row.state != counted.state) ReportDifference(recount, charge_id, "its state");
  if (row.release_id != counted.release_id) ReportDifference(recount, charge_id, "its release");
  if (row.reason != counted.reason) ReportDifference(recount, charge_id, "its reason");
  if (Ascending(row.postings) != Ascending(counted.postings)) {
    ReportDifference(recount, charge_id, "its postings");
  }
}

void CompareRelease(const Entry& entry, const RecountedCharge& ended, const EntriesPage& page,
                    Recount& recount) {
  if (ended.release_id.empty()) return;
  const auto release = page.releases.find(entry.charge_id);
  if (release == page.releases.end()) return;  // CompareState() reports it.
  if (!release->second.is_whole || release->second.payload_hash != ended.payload_hash) {
    recount.AddFinding(entry.charge_id,
                       absl::StrCat("release ", ended.release_id, ": is not the one in the entries"));
  }
}

// Whether the row says what the entry says that was asked for, proposed or approved.
bool IsAsMade(const StoredProposal& row, const Entry& entry) {
  const LimitProposal& stored = row.proposal;
  const LimitChange made = ParseLimitChange(entry.payload).value_or(LimitChange{});
  const bool is_made_here = entry.kind != kLimitChanged;
  const bool is_of_entry = !is_made_here || row.entry_seq == 0 || row.entry_seq == entry.seq;
  const std::string& who = is_made_here ? stored.proposed_by : stored.approved_by;
  const bool is_by_two =
      is_made_here || made.approval == Approval::kSingleCustody || stored.proposed_by != stored.approved_by;
  return stored.account_id == made.account_id && stored.counter == made.counter &&
         stored.old_limit == made.old_limit && stored.new_limit == made.new_limit &&
         stored.reason == made.reason && who == entry.actor && is_of_entry && is_by_two &&
         stored.is_request == (entry.kind == kLimitRequested);
}

bool IsAsEnded(const StoredProposal& row, const Entry& entry) {
  return entry.kind == KindOf(row.proposal.end) && row.proposal.ended_by == entry.actor &&
         row.proposal.end_reason == ParseLimitEnded(entry.payload).value_or(LimitEnded{}).reason;
}

// An open proposal becomes a limit when a second principal approves it, so it must be the one that was made.
void CompareProposal(const Entry& entry, const EntriesPage& page, Recount& recount) {
  const std::string id = ProposalIdOf(entry);
  if (id.empty()) return;
  const auto found = page.proposals.find(id);
  const StoredProposal stored = found == page.proposals.end() ? StoredProposal() : found->second;
  const bool is_equal = stored.proposal.dataset_id == entry.dataset_id &&
                        (EndsProposal(entry) ? IsAsEnded(stored, entry) : IsAsMade(stored, entry));
  if (is_equal) return;
  recount.AddFinding(absl::StrCat(recount.NameOfDataset(entry.dataset_id), ": proposal ", id,
                                  " of a limit is not the one in entry ", entry.seq));
}

// Returns what the entries change of counters, in their order.
std::vector<CounterChange> AddPage(const EntriesPage& page, Recount& recount) {
  std::vector<CounterChange> changes;
  for (const Entry& entry : page.entries) {
    if (IsAboutProposal(entry)) CompareProposal(entry, page, recount);
    const std::optional<RecountedCharge> ended = recount.Add(entry);
    changes.insert(changes.end(), recount.last_changes().begin(), recount.last_changes().end());
    const bool is_made = entry.kind == kCharged || entry.kind == kReserved;
    if (!is_made && !ended.has_value()) continue;
    const StoredCharge* const row = FindRow(page, entry.charge_id, recount);
    if (row == nullptr) continue;
    if (is_made) CompareMade(entry, *row, recount);
    if (!ended.has_value()) continue;
    CompareState(entry.charge_id, row->charge, *ended, recount);
    CompareRelease(entry, *ended, page, recount);
  }
  return changes;
}

void CompareOpenCharge(const std::string& id, const absl::StatusOr<StoredCharge>& row, Recount& recount) {
  const auto counted = recount.open_charges().find(id);
  if (counted == recount.open_charges().end()) {
    ReportCharge(recount, id, "is open in the tables, and in the entries it has ended or never began");
  } else if (!row.ok()) {
    ReportCharge(recount, id, "its row cannot be read");
  } else {
    CompareState(id, row->charge, counted->second, recount);
  }
}

// The charges of the dataset that have not ended according to the tables, each with its row. Their ids are
// read at once, as the recount holds more about each of them: no index has them by dataset, so each page of
// them would read all charges of the dataset again.
absl::Status CompareOpenCharges(Transaction& transaction, const std::string& dataset_id, Recount& recount) {
  std::set<std::string> missing;
  for (const auto& [id, charge] : recount.open_charges()) {
    if (charge.dataset_id == dataset_id) missing.insert(id);
  }
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT o.charge_id FROM open_charges o JOIN charges c ON c.id = "
                                       "o.charge_id WHERE c.dataset_id = $1 ORDER BY o.charge_id",
                                       {dataset_id}));
  for (size_t first = 0; first < rows.size(); first += kChargesAtOnce) {
    std::vector<std::string> ids;
    for (size_t i = first; i < std::min(rows.size(), first + kChargesAtOnce); ++i)
      ids.push_back(rows[i].Text(0));
    ASSIGN_OR_RETURN(const std::vector<absl::StatusOr<StoredCharge>> charges,
                     ReadEachCharge(transaction, ids));
    for (size_t i = 0; i < ids.size(); ++i) {
      missing.erase(ids[i]);
      CompareOpenCharge(ids[i], charges[i], recount);
    }
  }
  for (const std::string& id : missing) ReportDifference(recount, id, "its state");
  return absl::OkStatus();
}

// Each charge and each release of the entries was found among the rows, so equal numbers mean that there are
// no others.
absl::Status CompareNumbers(Transaction& transaction, const std::string& dataset_id,
                            const RecountedDataset& counted, Recount& recount) {
  const std::string name = recount.NameOfDataset(dataset_id);
  ASSIGN_OR_RETURN(const std::vector<Row> charges,
                   transaction.Execute("SELECT CAST(COUNT(*) AS BIGINT) FROM charges WHERE dataset_id = $1",
                                       {dataset_id}));
  if (charges.at(0).Integer(0) != counted.charges) {
    recount.AddFinding(absl::StrCat(name, ": the tables have ", charges.at(0).Integer(0),
                                    " charges, and the entries made ", counted.charges));
  }
  ASSIGN_OR_RETURN(const std::vector<Row> releases,
                   transaction.Execute("SELECT CAST(COUNT(*) AS BIGINT) FROM releases WHERE dataset_id = $1",
                                       {dataset_id}));
  if (releases.at(0).Integer(0) != counted.releases) {
    recount.AddFinding(absl::StrCat(name, ": the tables have ", releases.at(0).Integer(0),
                                    " releases, and the entries ", counted.releases));
  }
  ASSIGN_OR_RETURN(const std::vector<Row> proposals,
                   transaction.Execute("SELECT CAST(COUNT(*) AS BIGINT), CAST(COUNT(NULLIF(approved_by, '')) "
                                       "AS BIGINT), CAST(COUNT(NULLIF(ended_as, '')) AS BIGINT) FROM "
                                       "limit_proposals WHERE dataset_id = $1",
                                       {dataset_id}));
  const Row& stored = proposals.at(0);
  if (stored.Integer(0) != counted.proposals || stored.Integer(1) != counted.approvals ||
      stored.Integer(2) != counted.ended_proposals) {
    recount.AddFinding(absl::StrCat(name, ": the tables have ", stored.Integer(0), " proposals of limits, ",
                                    stored.Integer(1), " of them approved and ", stored.Integer(2),
                                    " ended, and the entries ", counted.proposals, ", ", counted.approvals,
                                    " and ", counted.ended_proposals));
  }
  return absl::OkStatus();
}

// The index by which requests are found again may be damaged, so the rows themselves are compared.
absl::Status CompareRequests(Transaction& transaction, const std::string& lineage_id, Recount& recount) {
  constexpr int64_t kMostNamed = 100;
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT c.principal, c.request_id FROM charges c JOIN datasets d ON "
                          "d.id = c.dataset_id WHERE d.lineage_id = $1 GROUP BY c.principal, c.request_id "
                          "HAVING COUNT(*) > 1 LIMIT $2",
                          {lineage_id, kMostNamed}));
  for (const Row& row : rows) {
    recount.AddFinding(
        absl::StrCat("there are two charges under request id ", row.Text(1), " of ", row.Text(0)));
  }
  return absl::OkStatus();
}

// ---- The dataset, whom it lets in, and its parts

void CompareFacts(const Dataset& stored, const RecountedDataset& counted, Recount& recount) {
  const auto compare = [&](bool is_equal, std::string_view what) {
    if (is_equal) return;
    recount.AddFinding(absl::StrCat(recount.NameOfDataset(stored.id), ": the entries say otherwise about ",
                                    std::string(what)));
  };
  const DatasetCreated& created = counted.created;
  compare(stored.name == created.name, "its name");
  compare(stored.owner == created.owner, "its owner");
  compare(stored.lineage_id == created.lineage_id, "the accounts that it shares");
  compare(stored.schema_hash == created.schema_hash && Sha256(stored.schema) == created.schema_hash,
          "its schema");
  compare(stored.neighbour_relation == created.neighbour_relation, "its neighbour relation");
  compare(stored.privacy_unit == created.privacy_unit, "its privacy unit");
  compare(stored.max_records_per_unit == created.max_records_per_unit, "its records per privacy unit");
  compare(stored.is_public == (created.is_public != 0), "whether it is public");
  compare(stored.awaits_publication == (created.is_public == kAwaitsPublication), "whether it is published");
  compare(stored.partition_attribute == created.partition_attribute, "how it is partitioned");
  compare(stored.state == counted.state, "its state");
  compare(stored.facts == counted.facts, "how its domain and its rows came about");
  const bool are_grants_equal = stored.grants.size() == counted.grants.size() &&
                                std::ranges::all_of(stored.grants, [&](const Grant& each) {
                                  const auto found = counted.grants.find(each.grantee);
                                  return found != counted.grants.end() && found->second == each;
                                });
  compare(are_grants_equal, "its grants");
  compare(stored.refusal_rules == counted.refusal_rules, "its refusal rules");
  if (!stored.partition_attribute.empty()) return;
  const std::string commitment =
      stored.version == 0 ? std::string() : ContentCommitment(stored.id, stored.content_hash);
  compare(stored.version == counted.version && commitment == counted.content_commitment,
          "the version that was sealed");
}

// What a row repeats or refers to.
absl::Status CompareReferences(Transaction& transaction, const std::string& dataset_id,
                               const RecountedDataset& counted, Recount& recount) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT d.successor_of, (SELECT CAST(COUNT(*) AS BIGINT) FROM grants g "
                          "WHERE g.dataset_id = d.id AND g.dataset_name <> d.name), d.name "
                          "FROM datasets d WHERE d.id = $1",
                          {dataset_id}));
  const auto report = [&](std::string_view what) {
    recount.AddFinding(absl::StrCat(recount.NameOfDataset(dataset_id), ": the entries say otherwise about ",
                                    std::string(what)));
  };
  if (rows.at(0).Text(0) != counted.created.successor_of) report("its predecessor");
  if (rows.at(0).Integer(1) != 0) report("the name in its grants");
  if (counted.state == DatasetState::kDeleted && rows.at(0).Text(2) != NameOfDeleted(dataset_id))
    report("whether it can be found by its name");
  return absl::OkStatus();
}

absl::Status CompareShares(Transaction& transaction, const std::string& dataset_id,
                           const RecountedDataset& counted, Recount& recount) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT s.release_id, s.grantee FROM releases r JOIN release_shares s "
                                       "ON s.release_id = r.id WHERE r.dataset_id = $1",
                                       {dataset_id}));
  std::map<std::string, std::set<std::string>> stored;
  for (const Row& row : rows) stored[row.Text(0)].insert(row.Text(1));
  if (stored != counted.shares) {
    recount.AddFinding(absl::StrCat(recount.NameOfDataset(dataset_id),
                                    ": the entries say otherwise about with whom its releases were shared"));
  }
  return absl::OkStatus();
}

// What an owner has looked at is asked about at each of its seals.
absl::Status CompareLooks(Transaction& transaction, const Dataset& stored, const RecountedDataset& counted,
                          Recount& recount) {
  for (const std::string& file_hash : counted.looks) {
    ASSIGN_OR_RETURN(const bool is_remembered, IsLookRemembered(transaction, stored.owner, file_hash));
    if (is_remembered) continue;
    recount.AddFinding(absl::StrCat(recount.NameOfDataset(stored.id),
                                    ": the tables do not have a look of its owner that the entries have"));
  }
  return absl::OkStatus();
}

void CompareParts(const Dataset& stored, const RecountedDataset& counted, Recount& recount) {
  const std::string name = recount.NameOfDataset(stored.id);
  if (stored.parts.size() != counted.parts.size()) {
    return recount.AddFinding(absl::StrCat(name, ": the entries have another number of parts"));
  }
  for (size_t i = 0; i < stored.parts.size(); ++i) {
    Part without_content = stored.parts[i];
    without_content.content_hash.clear();
    const std::string commitment = stored.parts[i].sealed_version == 0
                                       ? std::string()
                                       : ContentCommitment(stored.id, stored.parts[i].content_hash);
    const RecountedPart& expected = counted.parts[i];
    if (without_content == expected.part && commitment == expected.content_commitment) continue;
    recount.AddFinding(
        absl::StrCat(name, ", part ", stored.parts[i].number, ": the entries say otherwise about it"));
  }
}

// ---- One pass

class LineagePass {
 public:
  LineagePass(const ReadTransaction& read, const AnchorState& anchored, const std::string& lineage_id,
              PassOptions options)
      : read_(read),
        anchored_(anchored),
        lineage_id_(lineage_id),
        is_whole_(!options.checkpoint.has_value()),
        on_read_(std::move(options.on_read)),
        recount_(1, std::move(options.amount_text)) {
    if (options.checkpoint) recount_.Resume(*std::move(options.checkpoint));
  }

  absl::StatusOr<VerifiedLineage> Run() {
    VerifiedLineage result = ResultSoFar();
    const absl::Status read = Read(result);
    if (absl::IsDataLoss(read) || absl::IsInternal(read)) {
      // What the entries say counts all the same: it decides who learns of it, and what may be served.
      if (result.names.empty()) {
        RETURN_IF_ERROR(AddEntriesAlone());
        result = ResultSoFar();
      }
      result.findings.Add(absl::StrCat("a row cannot be read: ", std::string(read.message())));
      return result;
    }
    RETURN_IF_ERROR(read);
    const int64_t last = result.entries_checked - recount_.entries();
    if (on_read_ && last > 0) on_read_(last);
    return result;
  }

 private:
  absl::Status Read(VerifiedLineage& result) {
    RETURN_IF_ERROR(ReadDatasetIds());
    for (const std::string& id : dataset_ids_) RETURN_IF_ERROR(AddFullPages(id));
    return read_([&](Transaction& transaction) { return Conclude(transaction, result); });
  }

  VerifiedLineage ResultSoFar() const {
    VerifiedLineage result{.lineage_id = lineage_id_, .is_whole = is_whole_};
    TakeHistory(recount_, result);
    return result;
  }

  static void TakeHistory(const Recount& recount, VerifiedLineage& result) {
    result.findings = recount.findings();
    result.entries_checked = recount.entries();
    result.damaged_charges = recount.damaged_charges();
    for (const auto& [id, counted] : recount.datasets()) {
      result.entries_of[id] = counted.entries;
      result.names[id] = {counted.created.owner,     counted.grants, counted.shares, counted.refusal_rules,
                          counted.created.is_public, counted.facts};
    }
  }

  absl::StatusOr<std::vector<std::string>> DatasetIds(Transaction& transaction) const {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute("SELECT id FROM datasets WHERE lineage_id = $1 "
                            "ORDER BY CASE WHEN successor_of = '' THEN 0 ELSE 1 END, created_at_us, id",
                            {lineage_id_}));
    std::vector<std::string> ids;
    for (const Row& row : rows) ids.push_back(row.Text(0));
    return ids;
  }

  absl::Status ReadDatasetIds() {
    RETURN_IF_ERROR(read_([&](Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(dataset_ids_, DatasetIds(transaction));
      return absl::OkStatus();
    }));
    recount_.set_datasets_in_lineage(dataset_ids_.size());
    return absl::OkStatus();
  }

  static int64_t SeqOf(const Recount& recount, const std::string& dataset_id) {
    const auto found = recount.datasets().find(dataset_id);
    return found == recount.datasets().end() ? 0 : found->second.head.seq;
  }

  // All pages but the last one.
  absl::Status AddFullPages(const std::string& dataset_id) {
    while (true) {
      EntriesPage page;
      RETURN_IF_ERROR(read_([&](Transaction& transaction) -> absl::Status {
        ASSIGN_OR_RETURN(page, ReadPage(transaction, dataset_id, SeqOf(recount_, dataset_id)));
        return absl::OkStatus();
      }));
      if (page.is_last()) return absl::OkStatus();
      RETURN_IF_ERROR(FollowPoints(AddPage(page, recount_)));
      if (on_read_) on_read_(static_cast<int64_t>(page.entries.size()));
    }
  }

  // The order of all charges is known, and what was before them, too.
  bool ComparesAllPoints(size_t datasets) const { return is_whole_ && datasets == 1; }

  absl::Status FollowPoints(const std::vector<CounterChange>& changes) {
    if (changes.empty() || !ComparesAllPoints(dataset_ids_.size())) return absl::OkStatus();
    PointsCheck part;
    RETURN_IF_ERROR(read_([&](Transaction& transaction) {
      part = points_.PartFor(changes);
      return part.Follow(transaction, changes);
    }));
    points_.Merge(std::move(part));
    return absl::OkStatus();
  }

  // The entries that can be read, where another row cannot be: without the rows that they are about.
  absl::Status AddEntriesAlone() {
    for (const std::string& id : dataset_ids_) {
      std::vector<Entry> entries;
      do {
        const absl::Status read = read_([&](Transaction& transaction) -> absl::Status {
          ASSIGN_OR_RETURN(entries, ReadEntries(transaction, id, SeqOf(recount_, id), kEntriesAtOnce));
          return absl::OkStatus();
        });
        if (absl::IsDataLoss(read) || absl::IsInternal(read)) break;
        RETURN_IF_ERROR(read);
        for (const Entry& entry : entries) recount_.Add(entry);
      } while (static_cast<int64_t>(entries.size()) == kEntriesAtOnce);
    }
    return absl::OkStatus();
  }

  // The last pages and the tables, in one transaction, which may run again. `result` has what the entries say
  // also where a row of the tables cannot be read.
  absl::Status Conclude(Transaction& transaction, VerifiedLineage& result) {
    result = {.lineage_id = lineage_id_, .is_whole = is_whole_};
    Recount recount = recount_;
    PointsCheck points = points_;
    // Other servers may have created datasets meanwhile.
    ASSIGN_OR_RETURN(const std::vector<std::string> ids, DatasetIds(transaction));
    recount.set_datasets_in_lineage(ids.size());
    for (const std::string& id : ids) {
      while (true) {
        ASSIGN_OR_RETURN(const EntriesPage page, ReadPage(transaction, id, SeqOf(recount, id)));
        const std::vector<CounterChange> changes = AddPage(page, recount);
        if (ComparesAllPoints(ids.size())) RETURN_IF_ERROR(points.Follow(transaction, changes));
        if (page.is_last()) break;
      }
    }
    recount.Finish();
    if (ComparesAllPoints(ids.size())) RETURN_IF_ERROR(points.Finish(transaction, recount, result.points));
    const absl::Status compared = CompareTables(transaction, ids, recount, result);
    TakeHistory(recount, result);
    if (is_whole_ && compared.ok() && result.ok()) result.state = recount.state();
    return compared;
  }

  absl::Status CompareTables(Transaction& transaction, const std::vector<std::string>& ids, Recount& recount,
                             VerifiedLineage& result) const {
    for (const std::string& id : ids) {
      RETURN_IF_ERROR(CompareDataset(transaction, id, recount));
      RETURN_IF_ERROR(CompareHead(transaction, id, recount, result));
    }
    if (is_whole_) RETURN_IF_ERROR(CompareRequests(transaction, lineage_id_, recount));
    ASSIGN_OR_RETURN(const std::vector<Account> accounts, ReadAccounts(transaction, lineage_id_));
    ASSIGN_OR_RETURN(const AccountOpeners openers, ReadOpeners(transaction));
    CompareAccounts(accounts, openers, recount);
    CompareCounters(accounts, recount, result);
    return CompareNewestPoints(transaction, lineage_id_, recount, result.points);
  }

  absl::Status CompareDataset(Transaction& transaction, const std::string& id, Recount& recount) const {
    const auto found = recount.datasets().find(id);
    const RecountedDataset counted = found == recount.datasets().end() ? RecountedDataset() : found->second;
    ASSIGN_OR_RETURN(const Dataset stored, ReadDataset(transaction, id));
    CompareFacts(stored, counted, recount);
    CompareParts(stored, counted, recount);
    RETURN_IF_ERROR(CompareReferences(transaction, id, counted, recount));
    RETURN_IF_ERROR(CompareShares(transaction, id, counted, recount));
    RETURN_IF_ERROR(CompareLooks(transaction, stored, counted, recount));
    RETURN_IF_ERROR(CompareOpenCharges(transaction, id, recount));
    return is_whole_ ? CompareNumbers(transaction, id, counted, recount) : absl::OkStatus();
  }

  absl::Status CompareHead(Transaction& transaction, const std::string& id, Recount& recount,
                           VerifiedLineage& result) const {
    const auto found = recount.datasets().find(id);
    const ChainHead reached = found == recount.datasets().end() ? ChainHead() : found->second.head;
    const std::string name = recount.NameOfDataset(id);
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute("SELECT seq, hash FROM chain_heads WHERE dataset_id = $1", {id}));
    if (rows.empty() || rows.front().Integer(0) != reached.seq || rows.front().Blob(1) != reached.hash) {
      recount.AddFinding(absl::StrCat(name, ": the stored head is not the last entry, ", reached.seq));
    }
    result.reached.heads[id] = reached;
    const auto anchor = anchored_.heads.find(id);
    if (anchor == anchored_.heads.end()) return absl::OkStatus();
    const ChainHead& expected = anchor->second;
    if (expected.seq > reached.seq) {
      result.is_behind_anchor = true;
      recount.AddFinding(absl::StrCat(name, ": the history ends with entry ", reached.seq,
                                      ", and the anchor knows entry ", expected.seq));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::vector<Entry> entries, ReadEntries(transaction, id, expected.seq - 1, 1));
    if (entries.empty() || EntryHash(entries.front()) != expected.hash) {
      result.is_behind_anchor = true;
      recount.AddFinding(
          absl::StrCat(name, ": entry ", expected.seq, " is not the one that the anchor knows"));
    }
    return absl::OkStatus();
  }

  // The dataset that opened each account: its history orders the changes of the account's limits.
  using AccountOpeners = std::map<int64_t, std::string>;
  absl::StatusOr<AccountOpeners> ReadOpeners(Transaction& transaction) const {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute("SELECT id, dataset_id FROM accounts WHERE lineage_id = $1", {lineage_id_}));
    AccountOpeners openers;
    for (const Row& row : rows) openers.emplace(row.Integer(0), row.Text(1));
    return openers;
  }

  static void CompareAccounts(const std::vector<Account>& accounts, const AccountOpeners& openers,
                              Recount& recount) {
    for (const Account& stored : accounts) {
      const auto opened = recount.accounts().find(stored.id);
      if (opened == recount.accounts().end()) continue;  // CompareCounters() reports it.
      const AccountSpec& expected = opened->second.spec;
      const std::string name = recount.NameOfAccount(stored.id);
      if (openers.at(stored.id) != opened->second.dataset_id) {
        recount.AddFinding(absl::StrCat(name, ": its dataset is not the one whose entries opened it"));
      }
      if (stored.scope_type != expected.scope_type || stored.scope_key != expected.scope_key ||
          stored.rule != expected.rule || stored.rule_name != expected.rule_name ||
          stored.members != expected.members) {
        recount.AddFinding(
            absl::StrCat(name, ": its scope, its members or its rule are not those in the entries"));
      }
    }
  }

  void CompareCounters(const std::vector<Account>& accounts, Recount& recount,
                       VerifiedLineage& result) const {
    size_t compared = 0;
    for (const Account& account : accounts) {
      for (const CounterBalance& stored : account.counters) {
        const CounterKey key(account.id, stored.counter);
        const std::string name =
            absl::StrCat(recount.NameOfAccount(account.id), ", counter ", stored.counter);
        const auto counted = recount.counters().find(key);
        if (counted == recount.counters().end()) {
          recount.AddFinding(absl::StrCat(name, ": no entry opened it"));
          continue;
        }
        ++compared;
        CompareCounter(name, stored, counted->second, recount);
        result.reached.spent[key] = stored.spent;
        const auto anchor = anchored_.spent.find(key);
        if (anchor == anchored_.spent.end() || stored.spent >= anchor->second) continue;
        result.is_behind_anchor = true;
        recount.AddFinding(
            absl::StrCat(name, ": the table says spent ", recount.TextOf(stored.counter, stored.spent),
                         ", and the anchor knows of ", recount.TextOf(stored.counter, anchor->second)));
      }
    }
    if (compared != recount.counters().size()) {
      recount.AddFinding("the entries opened accounts that the tables do not have");
    }
  }

  static void CompareCounter(const std::string& name, const CounterBalance& stored,
                             const RecountedCounter& expected, Recount& recount) {
    if (expected == RecountedCounter{stored.spent, stored.held, stored.limit}) return;
    const auto text = [&](int64_t amount) { return recount.TextOf(stored.counter, amount); };
    recount.AddFinding(absl::StrCat(name, ": the table says spent ", text(stored.spent), ", held ",
                                    text(stored.held), ", limit ", text(stored.limit),
                                    "; the entries say spent ", text(expected.spent), ", held ",
                                    text(expected.held), ", limit ", text(expected.limit)));
  }

  const ReadTransaction& read_;
  const AnchorState& anchored_;
  const std::string& lineage_id_;
  const bool is_whole_;  // not from a checkpoint
  const EntriesRead on_read_;
  std::vector<std::string> dataset_ids_;
  Recount recount_;
  PointsCheck points_;
};

}  // namespace

absl::StatusOr<VerifiedLineage> VerifyLineage(const ReadTransaction& read, const AnchorState& anchored,
                                              const std::string& lineage_id, PassOptions options) {
  return LineagePass(read, anchored, lineage_id, std::move(options)).Run();
}

Verification VerificationOf(const VerifiedLineage& lineage, const AnchorState& anchored,
                            std::string_view dataset_id) {
  const std::string id(dataset_id);
  const auto head = lineage.reached.heads.find(id);
  const auto anchor = anchored.heads.find(id);
  const auto entries = lineage.entries_of.find(id);
  Verification result{.ok = lineage.ok() && lineage.points.count() == 0,
                      .entries_checked = entries == lineage.entries_of.end() ? 0 : entries->second,
                      .head_hash = head == lineage.reached.heads.end() ? std::string() : head->second.hash,
                      .anchored_seq = anchor == anchored.heads.end() ? 0 : anchor->second.seq};
  for (const RecountFindings* const found : {&lineage.findings, &lineage.points}) {
    result.findings.insert(result.findings.end(), found->kept().begin(), found->kept().end());
  }
  const int64_t count = lineage.findings.count() + lineage.points.count();
  if (const auto kept = static_cast<int64_t>(result.findings.size()); count > kept) {
    result.findings.push_back(absl::StrCat("and ", count - kept, " more"));
  }
  return result;
}

absl::StatusOr<std::vector<std::string>> LineageIds(Transaction& transaction) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT DISTINCT lineage_id FROM datasets ORDER BY lineage_id", {}));
  std::vector<std::string> ids;
  for (const Row& row : rows) ids.push_back(row.Text(0));
  return ids;
}

absl::StatusOr<std::vector<std::string>> LostDatasets(Transaction& transaction, const AnchorState& anchored) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.Execute("SELECT id FROM datasets", {}));
  std::set<std::string> stored;
  for (const Row& row : rows) stored.insert(row.Text(0));
  std::vector<std::string> findings;
  for (const auto& [dataset_id, head] : anchored.heads) {
    if (stored.count(dataset_id) > 0 || dataset_id == kServerHistory) continue;
    findings.push_back(absl::StrCat("the anchor knows ", head.seq, " entries of dataset ", dataset_id,
                                    ", which the database does not have"));
  }
  return findings;
}

absl::StatusOr<std::map<CounterKey, int64_t>> SpentBy(Transaction& transaction, const EntriesAfter& entries) {
  // With few counters or many entries, reading all counters of the lineage costs less than finding out which
  // ones moved; the cost never grows with the length of the history.
  constexpr int64_t kFewCounters = 64;
  constexpr int64_t kFewEntries = 256;
  constexpr char kOfLineage[] =
      "SELECT c.account_id, c.counter, c.spent FROM accounts a "
      "JOIN account_counters c ON c.account_id = a.id WHERE a.lineage_id = $1 LIMIT $2";
  // A charge moves what it posts to, a repair anything.
  constexpr char kOfEntries[] =
      "SELECT c.account_id, c.counter, c.spent FROM account_counters c WHERE c.account_id IN ("
      "SELECT p.account_id FROM entries e JOIN postings p ON p.charge_id = e.charge_id "
      "WHERE e.dataset_id = $1 AND e.seq > $2 UNION "
      "SELECT a.id FROM accounts a WHERE a.lineage_id = $3 AND EXISTS (SELECT 1 FROM entries e "
      "WHERE e.dataset_id = $1 AND e.seq > $2 AND e.kind = 'REPAIRED'))";
  const bool are_few = entries.head - entries.seq <= kFewEntries;
  const int64_t most = are_few ? kFewCounters + 1 : std::numeric_limits<int64_t>::max();
  ASSIGN_OR_RETURN(std::vector<Row> rows, transaction.Execute(kOfLineage, {entries.lineage_id, most}));
  if (are_few && rows.size() > static_cast<size_t>(kFewCounters)) {
    ASSIGN_OR_RETURN(rows,
                     transaction.Execute(kOfEntries, {entries.dataset_id, entries.seq, entries.lineage_id}));
  }
  std::map<CounterKey, int64_t> spent;
  for (const Row& row : rows) spent.emplace(CounterKey(row.Integer(0), row.Text(1)), row.Integer(2));
  return spent;
}

}  // namespace curator::ledger::sql
