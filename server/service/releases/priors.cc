#include "service/releases/priors.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/text.h"
#include "dp/data/coded_columns.h"
#include "service/access.h"
#include "service/releases/releases.h"

namespace curator::service {
namespace {

constexpr char kField[] = "settings.prior";
constexpr int64_t kFewestSampled = 100'000;
constexpr int64_t kMostSampled = 1'000'000;

absl::Status NoSuchPrior(const std::string& name) {
  return InvalidField(kField, absl::StrCat("there is no public dataset or synthetic release \"", name,
                                           "\" that you may see"));
}

// Where each attribute of `wanted` is among `offered`.
absl::StatusOr<std::vector<size_t>> Positions(const dp::Domain& wanted,
                                              const std::vector<dp::Attribute>& offered,
                                              const std::string& name) {
  std::vector<size_t> positions;
  for (const dp::Attribute& attribute : wanted.attributes()) {
    const auto found = std::ranges::find(offered, attribute.name(), &dp::Attribute::name);
    if (found == offered.end()) {
      return InvalidField(kField, absl::StrCat("\"", name, "\" has no attribute \"", attribute.name(), "\""));
    }
    if (!(*found == attribute)) {
      return InvalidField(kField, absl::StrCat("attribute \"", attribute.name(), "\" has other bins in \"",
                                               name, "\" than in the dataset: declare them alike"));
    }
    positions.push_back(static_cast<size_t>(found - offered.begin()));
  }
  return positions;
}

absl::StatusOr<std::shared_ptr<const dp::PublicTable>> Table(dp::CodedColumns columns) {
  ASSIGN_OR_RETURN(dp::PublicTable table, dp::PublicTable::Create(std::move(columns)));
  return std::make_shared<const dp::PublicTable>(std::move(table));
}

// Called before the records are read.
absl::Status AddTo(RequestMemory& memory, int64_t bytes) {
  if (bytes > kMostFreeBytes)
    return TakesTooMuch(kField, "to be read", bytes, kMostFreeBytes, "take a prior of fewer records");
  return memory.Add(bytes);
}

// A release or a dataset.
struct Source {
  std::string identity;
  std::optional<DatasetView> dataset;
};

absl::StatusOr<Source> FindSource(Services& services, const Principal& principal, const std::string& name) {
  if (IsUuid(name)) {
    const absl::StatusOr<ReleaseHead> found =
        FindRelease(services.access(), Method::kSampleModel, principal, name);
    if (found.ok() && found->release.kind == "workload")
      return InvalidField(kField,
                          absl::StrCat("release ", name, " is the answer to a workload, not a model"));
    if (found.ok()) return Source{absl::StrCat("release ", name), std::nullopt};
    if (!absl::IsNotFound(found.status())) return found.status();
  }
  absl::StatusOr<DatasetView> dataset =
      FindDataset(services.access(), Method::kEstimateSynthesis, principal, DatasetName(name));
  if (absl::IsNotFound(dataset.status())) return NoSuchPrior(name);
  RETURN_IF_ERROR(dataset.status());
  if (!dataset->record.is_public) {
    return InvalidField(kField, absl::StrCat("dataset \"", name,
                                             "\" is private: only a public dataset or a synthetic release "
                                             "can be a prior"));
  }
  if (dataset->record.version < 1)
    return InvalidField(kField, absl::StrCat("dataset \"", name, "\" is not sealed yet"));
  if (dataset->record.awaits_publication) {
    return InvalidField(
        kField,
        absl::StrCat("dataset \"", name, "\" waits for an approver to publish it (curator dataset publish)"));
  }
  return Source{absl::StrCat("dataset ", dataset->record.id, " version ", dataset->record.version),
                *std::move(dataset)};
}

absl::StatusOr<Prior> FromRelease(ReleaseView release, const dp::Domain& domain, const std::string& name,
                                  const std::stop_token& client_left) {
  const auto& synthesis = std::get<dp::SynthesisRelease>(release.content);
  std::vector<dp::Attribute> offered;
  for (const uint32_t attribute : synthesis.attributes)
    offered.push_back(release.dataset.schema.domain.attributes()[attribute]);
  ASSIGN_OR_RETURN(const std::vector<size_t> positions, Positions(domain, offered, name));
  const int64_t rows = std::clamp(synthesis.records, kFewestSampled, kMostSampled);
  int64_t bytes = 0;  // twice, while columns grow
  for (const int64_t size : dp::AttributeSizesOf(domain))
    bytes += 2 * rows * static_cast<int64_t>(dp::BytesOf(dp::WidthFor(size)));
  RETURN_IF_ERROR(AddTo(release.memory, bytes));
  dp::CodedColumns columns(dp::AttributeSizesOf(domain));
  std::vector<uint32_t> row(positions.size());
  const auto append = [&](std::span<const uint32_t> codes) -> absl::Status {
    RETURN_IF_ERROR(CheckGoesOn(client_left));
    for (size_t i = 0; i < row.size(); ++i) row[i] = codes[positions[i]];
    return columns.AppendRow(row);
  };
  RETURN_IF_ERROR(SampleRecords(release, rows, append, client_left));
  ASSIGN_OR_RETURN(auto table, Table(std::move(columns)));
  release.memory.ShrinkTo(bytes);  // the release and its model are not needed any more
  return Prior{std::move(table), "", std::move(release.memory)};
}

absl::StatusOr<Prior> FromDataset(Services& services, const DatasetView& dataset, const dp::Domain& domain,
                                  const std::string& name, RequestMemory memory,
                                  const std::stop_token& client_left) {
  ASSIGN_OR_RETURN(const std::vector<size_t> positions,
                   Positions(domain, dataset.schema.domain.attributes(), name));
  // The file's bytes, the table that they make, and the columns that are kept of it.
  constexpr int64_t kCopies = 3;
  ASSIGN_OR_RETURN(const int64_t stored, services.store.PublicBytes(dataset.record.id));
  RETURN_IF_ERROR(AddTo(memory, kCopies * stored));
  RETURN_IF_ERROR(CheckGoesOn(client_left));
  ASSIGN_OR_RETURN(const std::shared_ptr<const dp::PublicTable> whole,
                   services.store.LoadPublic(dataset.record.id, dataset.record.content_hash));
  const dp::ColumnsView view = whole->columns();
  dp::CodedColumns columns(dp::AttributeSizesOf(domain));
  for (size_t i = 0; i < positions.size(); ++i) {
    RETURN_IF_ERROR(CheckGoesOn(client_left));
    const dp::ColumnView& column = view.columns[positions[i]];
    columns.AppendCodes(i, {column.codes, static_cast<size_t>(view.rows) * dp::BytesOf(column.width)});
  }
  ASSIGN_OR_RETURN(auto table, Table(std::move(columns)));
  return Prior{std::move(table), "", std::move(memory)};
}

}  // namespace

absl::StatusOr<Prior> ResolvePrior(Services& services, const Principal& principal, const dp::Domain& domain,
                                   const std::string& name, RequestMemory memory,
                                   const std::stop_token& client_left) {
  ASSIGN_OR_RETURN(Source source, FindSource(services, principal, name));
  absl::StatusOr<Prior> prior;
  if (source.dataset) {
    prior = FromDataset(services, *source.dataset, domain, name, std::move(memory), client_left);
  } else {
    ASSIGN_OR_RETURN(ReleaseView release,
                     GetRelease(services, Method::kSampleModel, principal, name, std::move(memory)));
    prior = FromRelease(std::move(release), domain, name, client_left);
  }
  if (prior.ok()) prior->identity = std::move(source.identity);
  return prior;
}

absl::StatusOr<std::string> PriorIdentity(Services& services, const Principal& principal,
                                          const std::string& name) {
  ASSIGN_OR_RETURN(Source source, FindSource(services, principal, name));
  return std::move(source.identity);
}

}  // namespace curator::service
