#include "service/releases/releases.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "codec/release_codec.h"
#include "dp/domain/attribute_set.h"
#include "dp/noise/drbg.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/workload/memory_forecast.h"
#include "service/workloads/answers.h"
#include "service/workloads/free_answers.h"
#include "service/workloads/resolve_workload.h"

namespace curator::service {
namespace {

constexpr size_t kPieceSize = 64 * 1024;

// The numbers of the parts that the charge paid for.
std::vector<int64_t> PartsPaid(const ledger::Dataset& dataset, const ledger::Charge& charge) {
  std::vector<int64_t> numbers;
  for (const ledger::Part& part : dataset.parts) {
    if (std::ranges::find(charge.postings, part.account_id, &ledger::Posting::account_id) !=
        charge.postings.end()) {
      numbers.push_back(part.number);
    }
  }
  return numbers;
}

absl::Status NoSuchRelease() {
  return absl::NotFoundError("there is no release with this id that you may see");
}

// Sampling is post-processing, so its random bits may be public: they are a function of the request.
dp::DrawKey SamplingKey(const ReleaseView& release, int64_t rows, BinStyle style) {
  CanonicalWriter writer("curator.sampling", 1);
  writer.Text(release.release.id);
  writer.Text(release.release.payload_hash);
  writer.Integer(rows);
  writer.Integer(style == BinStyle::kInterval ? 1 : 0);
  const std::string digest = Sha256(std::move(writer).Take());
  dp::DrawKey::Bytes bytes;
  std::copy(digest.begin(), digest.end(), bytes.begin());
  return dp::DrawKey(bytes);
}

// A CSV field, quoted only where it must be (RFC 4180).
void AppendField(std::string& csv, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    csv.append(field);
    return;
  }
  csv.push_back('"');
  for (const char c : field) {
    if (c == '"') csv.push_back('"');
    csv.push_back(c);
  }
  csv.push_back('"');
}

class CsvPieces {
 public:
  explicit CsvPieces(const std::function<absl::Status(std::string_view)>& sink) : sink_(sink) {}

  std::string& buffer() { return buffer_; }
  absl::Status FlushIfFull() { return buffer_.size() < kPieceSize ? absl::OkStatus() : Flush(); }
  absl::Status Flush() {
    if (buffer_.empty()) return absl::OkStatus();
    const absl::Status status = sink_(buffer_);
    buffer_.clear();
    return status;
  }

 private:
  const std::function<absl::Status(std::string_view)>& sink_;
  std::string buffer_;
};

std::string PrintedBin(const dp::Attribute& attribute, uint32_t code, BinStyle style, dp::BitSource& bits) {
  if (style == BinStyle::kInterval) return attribute.Label(code);
  uint64_t randomness = 0;
  bits.Fill({&randomness, 1});
  return attribute.ValueInside(code, randomness);
}

}  // namespace

absl::StatusOr<ReleaseHead> FindRelease(const Access& access, Method method, const Principal& principal,
                                        std::string_view release_id) {
  absl::StatusOr<ledger::Release> release = access.ledger.GetReleaseWithoutPayload(release_id);
  if (absl::IsNotFound(release.status())) return NoSuchRelease();
  RETURN_IF_ERROR(release.status());
  absl::StatusOr<DatasetView> dataset = FindDatasetById(access, method, principal, release->dataset_id);
  const bool is_given =
      release->principal == principal.name() ||
      std::ranges::find(release->shared_with, principal.name()) != release->shared_with.end();
  // Without such a role the principal does not learn that the release exists.
  const bool is_hidden = absl::IsPermissionDenied(dataset.status()) && !is_given;
  if (absl::IsNotFound(dataset.status()) || is_hidden) return NoSuchRelease();
  RETURN_IF_ERROR(dataset.status());
  if (!MayReadRelease(*release, dataset->record, principal)) return NoSuchRelease();
  return ReleaseHead{*std::move(dataset), *std::move(release)};
}

absl::StatusOr<ReleaseView> GetRelease(Services& services, Method method, const Principal& principal,
                                       std::string_view release_id, const std::stop_token& client_left) {
  return GetRelease(services, method, principal, release_id,
                    RequestMemory(services.memory, principal, client_left));
}

absl::StatusOr<ReleaseView> GetRelease(Services& services, Method method, const Principal& principal,
                                       std::string_view release_id, RequestMemory memory) {
  ASSIGN_OR_RETURN(ReleaseHead head, FindRelease(services.access(), method, principal, release_id));
  const bool is_answer = head.release.kind == "workload";
  const int64_t payload_size = head.release.payload_size;
  RETURN_IF_ERROR(
      memory.Add(is_answer ? dp::StoredAnswerBytes(payload_size) : dp::StoredModelBytes(payload_size)));
  ASSIGN_OR_RETURN(ledger::Release release, services.ledger.GetRelease(release_id));

  ReleaseView view{.dataset = std::move(head.dataset),
                   .release = std::move(release),
                   .charge = {},
                   .price = {},
                   .content = {},
                   .memory = std::move(memory)};
  if (is_answer) {
    ASSIGN_OR_RETURN(view.content,
                     DecodeAnswer(view.dataset.schema.domain, view.release.payload, view.memory));
  } else {
    ASSIGN_OR_RETURN(view.content, codec::DecodeSynthesisRelease(view.release.payload));
  }
  view.release.payload = std::string();  // which gives its memory back
  ASSIGN_OR_RETURN(view.charge, services.ledger.GetCharge(view.release.charge_id));
  ASSIGN_OR_RETURN(std::vector<ledger::Account> accounts,
                   PayingAccounts(services.ledger, view.dataset, view.charge.principal));
  if (!IsPayerOrOwner(view.release, view.dataset.record, principal)) {
    // The release is shared, but neither its payer's own accounts nor its request id.
    std::erase_if(accounts, [&](const ledger::Account& account) { return !PaysFrom(account, principal); });
    view.charge.request_id.clear();
  }
  ASSIGN_OR_RETURN(view.price, PricePaid(view.dataset, accounts, view.charge));
  return view;
}

absl::StatusOr<std::vector<std::string>> ShareRelease(Services& services, const Principal& principal,
                                                      std::string_view release_id, std::string_view grantee,
                                                      Intent intent) {
  ASSIGN_OR_RETURN(const ReleaseView view,
                   GetRelease(services, Method::kShareRelease, principal, release_id));
  const ledger::Dataset& dataset = view.dataset.record;
  if (!IsPayerOrOwner(view.release, dataset, principal)) {
    return absl::PermissionDeniedError(
        "only the principal who paid for a release, or the owner of its dataset, can share it");
  }
  RETURN_IF_ERROR(CheckPrincipalName(grantee));
  // Only the owner learns who may see the dataset. For a grantee without access the share has no effect.
  ASSIGN_OR_RETURN(const ledger::Dataset seen_by_grantee,
                   services.ledger.GetDatasetById(dataset.id, grantee));
  ASSIGN_OR_RETURN(const Roles roles, RolesOn(services.access(), seen_by_grantee, grantee));
  if (dataset.owner == principal.name() && roles.empty()) {
    return InvalidField("principal", absl::StrCat("\"", std::string(grantee), "\" does not see dataset \"",
                                                  dataset.name, "\": its owner has to grant access first"));
  }
  if (intent == Intent::kValidateOnly) return view.release.shared_with;
  std::vector<ledger::Measure> measures;
  if (const auto* answer = std::get_if<dp::WorkloadRelease>(&view.content)) {
    measures = MeasuresOf(PartsPaid(dataset, view.charge), *answer);
  }
  RETURN_IF_ERROR(services.ledger.ShareRelease(release_id, grantee, measures, principal));
  ASSIGN_OR_RETURN(const ledger::Release shared, services.ledger.GetRelease(release_id));
  return shared.shared_with;
}

absl::StatusOr<ledger::ReleaseList> ListReleases(Services& services, const Principal& principal,
                                                 const DatasetName& dataset, const ledger::NewestPage& page) {
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(services.access(), Method::kListReleases, principal, dataset));
  const bool sees_all = view.MayAll(Method::kListReleases);
  ASSIGN_OR_RETURN(
      ledger::ReleaseList list,
      services.ledger.ListReleases(view.record.id, sees_all ? std::string_view() : principal.name(), page));
  // The listing was made for this reader; the rows themselves decide.
  std::erase_if(list.releases, [&](const ledger::Release& release) {
    return !sees_all && !MayReadRelease(release, view.record, principal);
  });
  for (ledger::Release& release : list.releases) {
    if (!IsPayerOrOwner(release, view.record, principal)) release.request_id.clear();
  }
  return list;
}

absl::StatusOr<std::unique_ptr<dp::SynthesisModel>> RestoreModel(ReleaseView& release,
                                                                 const std::stop_token& client_left) {
  const auto* synthesis = std::get_if<dp::SynthesisRelease>(&release.content);
  if (synthesis == nullptr) {
    return absl::FailedPreconditionError(
        "this release is the answer to a workload, not a model: it is shown, and there is nothing to sample "
        "or to ask");
  }
  const dp::Synthesizer* synthesizer = dp::FindSynthesizer(synthesis->method);
  if (synthesizer == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("this server has no method \"", synthesis->method, "\""));
  }
  const dp::Domain& domain = release.dataset.schema.domain;
  ASSIGN_OR_RETURN(const int64_t bytes, synthesizer->ReadingBytes(domain, synthesis->model));
  RETURN_IF_ERROR(release.memory.Add(bytes));
  return synthesizer->Restore(domain, synthesis->model, client_left);
}

namespace {

// What answering from a model holds beside the model: all answers, and while one group is answered its cells,
// those of the marginals that it is made from, and with the response where the model draws groups.
int64_t ModelAnswerBytes(const ReleaseView& release, const dp::SynthesisModel& model,
                         const std::vector<dp::AskedSet>& sets) {
  constexpr int64_t kPerAnswer = 16;
  constexpr int64_t kPerCell = 40;
  constexpr int64_t kMostCells = int64_t{1} << 26;  // no model tabulates more
  const dp::Schema& schema = release.dataset.schema;
  int64_t groups = 0;
  int64_t lists = 0;
  int64_t answers = 0;
  int64_t largest = 0;
  for (const dp::AskedSet& set : sets) {
    groups += std::ssize(set.queries.groups);
    lists += dp::BytesOfLists(set.queries.groups);
    for (const dp::QueryGroup& group : set.queries.groups) {
      dp::AttributeSet tabulated = group.attributes;
      if (model.DrawsGroups() && schema.nesting) tabulated = dp::Union(tabulated, {schema.nesting->response});
      largest = std::max(largest, dp::CellsUpTo(schema.domain, tabulated, kMostCells));
      answers += dp::NumberOfQueries(schema.domain, group);
    }
  }
  return dp::SynthesisPlanningBytes(schema.domain, groups, lists) + kPerAnswer * answers + kPerCell * largest;
}

// The marginals that the model is asked for, in this order: groups that follow one another share one.
std::vector<dp::AttributeSet> MarginalsOf(const std::vector<dp::AskedSet>& sets) {
  std::vector<dp::AttributeSet> marginals;
  for (const dp::AskedSet& set : sets) {
    for (const dp::QueryGroup& group : set.queries.groups) {
      if (marginals.empty() || marginals.back() != group.attributes) marginals.push_back(group.attributes);
    }
  }
  return marginals;
}

}  // namespace

absl::Status CheckModelSteps(const dp::SynthesisModel& model, std::span<const dp::AttributeSet> marginals,
                             std::string_view field, std::string_view remedy) {
  int64_t left = kMostModelSteps;
  for (size_t fit = 0; fit < marginals.size(); ++fit) {
    left -= model.MarginalSteps(marginals[fit]);
    if (left >= 0) continue;
    return InvalidField(field, absl::StrCat("would take the model more than ", kMostModelSteps,
                                            " steps, the most of one request: the first ", fit, " of its ",
                                            marginals.size(), " marginals fit; ", std::string(remedy)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ModelAnswer>> QueryModel(ReleaseView& release,
                                                    const std::vector<QuerySetRequest>& queries,
                                                    const std::stop_token& client_left) {
  ASSIGN_OR_RETURN(const std::unique_ptr<dp::SynthesisModel> model, RestoreModel(release, client_left));
  const dp::Domain& domain = release.dataset.schema.domain;
  ASSIGN_OR_RETURN(std::vector<dp::AskedSet> asked, ResolveCounts(domain, queries));
  const int64_t bytes = ModelAnswerBytes(release, *model, asked);
  if (bytes > kMostFreeBytes)
    return TakesTooMuch("workload", "to answer from the model", bytes, kMostFreeBytes,
                        "ask for fewer answers, or over fewer cells, at once");
  RETURN_IF_ERROR(CheckModelSteps(*model, MarginalsOf(asked), "workload",
                                  "ask for the others with further requests, or over fewer cells"));
  RETURN_IF_ERROR(release.memory.Add(bytes));
  std::vector<ModelAnswer> answers;
  dp::AttributeSet counted;
  std::vector<double> cells;
  for (dp::AskedSet& set : asked) {
    ModelAnswer answer{.asked = std::move(set), .estimates = {}, .deviations = {}};
    for (const dp::QueryGroup& group : answer.asked.queries.groups) {
      RETURN_IF_ERROR(CheckGoesOn(client_left));
      if (cells.empty() || group.attributes != counted) {
        cells = {};  // which gives its memory back
        ASSIGN_OR_RETURN(cells, model->Marginal(group.attributes));
        counted = group.attributes;
      }
      answer.estimates.push_back(dp::AnswersFromEstimates(domain, group, cells));
      // Errors of cells depend on each other: those of their sums are not known.
      answer.deviations.emplace_back();
      if (!std::holds_alternative<dp::EveryCell>(group.queries)) continue;
      ASSIGN_OR_RETURN(answer.deviations.back(), model->CellNoise(group.attributes));
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

absl::Status SampleModel(ReleaseView& release, std::optional<int64_t> rows, BinStyle style,
                         const std::function<absl::Status(std::string_view csv)>& sink,
                         const std::stop_token& client_left) {
  if (rows && (*rows < 0 || *rows > kMaxSampledRows)) {
    return InvalidField("rows", absl::StrCat("must be between 0 and ", kMaxSampledRows));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<dp::SynthesisModel> restored, RestoreModel(release, client_left));
  const dp::SynthesisModel& model = *restored;
  const std::vector<dp::Attribute>& attributes = release.dataset.schema.domain.attributes();
  const int64_t row_count = std::min(rows.value_or(model.records()), kMaxSampledRows);
  dp::Drbg bits(SamplingKey(release, row_count, style));

  CsvPieces pieces(sink);
  const std::optional<dp::Nesting>& nesting = release.dataset.schema.nesting;
  const bool has_groups = nesting && model.DrawsGroups();
  if (has_groups) AppendField(pieces.buffer(), nesting->group_column);
  for (size_t i = 0; i < model.attributes().size(); ++i) {
    if (i > 0 || has_groups) pieces.buffer().push_back(',');
    AppendField(pieces.buffer(), attributes[model.attributes()[i]].name());
  }
  pieces.buffer().push_back('\n');
  RETURN_IF_ERROR(model.SampleGroups(bits, row_count, [&](int64_t group, std::span<const uint32_t> codes) {
    if (has_groups) absl::StrAppend(&pieces.buffer(), group + 1);
    for (size_t i = 0; i < codes.size(); ++i) {
      if (i > 0 || has_groups) pieces.buffer().push_back(',');
      AppendField(pieces.buffer(), PrintedBin(attributes[model.attributes()[i]], codes[i], style, bits));
    }
    pieces.buffer().push_back('\n');
    return pieces.FlushIfFull();
  }));
  return pieces.Flush();
}

absl::Status SampleRecords(ReleaseView& release, int64_t rows, const dp::RecordSink& sink,
                           const std::stop_token& client_left) {
  if (rows < 0 || rows > kMaxSampledRows)
    return InvalidField("rows", absl::StrCat("must be between 0 and ", kMaxSampledRows));
  ASSIGN_OR_RETURN(const std::unique_ptr<dp::SynthesisModel> model, RestoreModel(release, client_left));
  dp::Drbg bits(SamplingKey(release, rows, BinStyle::kInterval));
  return model->Sample(bits, rows, sink);
}

}  // namespace curator::service
