#include "service/datasets/datasets.h"

#include <gmpxx.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/schema_codec.h"
#include "dp/data/coded_columns.h"
#include "service/accounts/accounts.h"
#include "service/charges/request_scope.h"
#include "service/datasets/parts.h"

namespace curator::service {
namespace {

constexpr size_t kMaxNameLength = 63;

absl::Status CheckDatasetName(std::string_view name) {
  bool is_valid = !name.empty() && name.size() <= kMaxNameLength &&
                  absl::ascii_islower(static_cast<unsigned char>(name[0]));
  for (const char c : name) {
    is_valid = is_valid && (absl::ascii_islower(static_cast<unsigned char>(c)) ||
                            absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '_' || c == '-');
  }
  if (is_valid) return absl::OkStatus();
  return InvalidField("name",
                      "must be 1 to 63 of the characters a-z, 0-9, '_' and '-', and start with a letter");
}

absl::Status CheckWhoPays(const NewDataset& dataset) {
  if (dataset.is_public && !dataset.successor_of.empty()) {
    return InvalidField("public",
                        "a successor of a private dataset is about the same people and cannot be public");
  }
  if (dataset.is_public && dataset.limit)
    return InvalidField("limit", "a public dataset has no budget: leave it out");
  if (!dataset.successor_of.empty() && dataset.limit) {
    return InvalidField("limit", "a successor shares the budget of its predecessor: leave it out");
  }
  if (!dataset.is_public && dataset.successor_of.empty() && !dataset.limit) {
    return InvalidField("limit", "a private dataset needs a rule and a total epsilon");
  }
  return absl::OkStatus();
}

absl::Status CheckPartition(const NewDataset& dataset) {
  if (!dataset.partition) return absl::OkStatus();
  if (!dataset.limit) {
    return InvalidField("partition",
                        "a public dataset has no budget, and a successor has its predecessor's: "
                        "neither is partitioned");
  }
  if (dataset.schema.nesting && std::holds_alternative<dp::RecordUnit>(dataset.schema.unit)) {
    return InvalidField(
        "partition",
        "divides no nested records that are units of their own: a group might lie in several "
        "parts, which do not know of one another. Where the group is the privacy unit, they do");
  }
  if (dp::UnitBoundOf(dataset.schema, dataset.relation).max_records == dp::kNoRecordBound) {
    return InvalidField("partition",
                        "needs a bound of records: a group without one may lie in any number of parts, whose "
                        "costs would add up");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ledger::PartSpec>> PartsOf(const NewDataset& dataset) {
  if (!dataset.partition) return std::vector<ledger::PartSpec>{};
  absl::StatusOr<std::vector<ledger::PartSpec>> parts =
      NewParts(dataset.schema.domain, *dataset.partition, *dataset.limit);
  if (!parts.ok()) return WithinField("partition", parts.status());
  return parts;
}

absl::StatusOr<std::vector<ledger::AccountSpec>> NewAccounts(const NewDataset& dataset) {
  if (!dataset.limit) return std::vector<ledger::AccountSpec>{};
  absl::StatusOr<ledger::AccountSpec> account = AccountUnder(*dataset.limit, ledger::ScopeType::kDataset, "");
  if (!account.ok()) return WithinField("limit", account.status());
  if (dataset.partition) return std::vector<ledger::AccountSpec>{};
  return std::vector<ledger::AccountSpec>{*std::move(account)};
}

std::string UnitName(const dp::PrivacyUnit& unit) {
  if (std::holds_alternative<dp::PersonUnit>(unit)) return "PERSON";
  if (std::holds_alternative<dp::GroupUnit>(unit)) return "GROUP";
  return "RECORD";
}

// A successor must protect the same units in the same way: what one unit can change must not grow unnoticed.
absl::Status CheckSuccessor(const DatasetView& predecessor, const NewDataset& dataset, int64_t max_records) {
  if (predecessor.record.is_public) {
    return InvalidField("successor_of", "is a public dataset: it has no budget to share");
  }
  if (!predecessor.record.parts.empty()) {
    return InvalidField("successor_of", "is partitioned: new records go into a new part of it");
  }
  if (predecessor.unit_bound.relation != dataset.relation) {
    return InvalidField("neighbours", "must be those of the predecessor, whose budget is shared");
  }
  if (predecessor.record.privacy_unit != UnitName(dataset.schema.unit) ||
      predecessor.unit_bound.max_records != max_records) {
    return InvalidField("schema.unit", "must be that of the predecessor, whose budget is shared");
  }
  return absl::OkStatus();
}

// The destination of an import: the dataset, or one of its parts.
struct ImportTarget {
  std::string name;
  std::string stored_id;
  bool is_sealed = false;
  std::optional<records::PartRows> rows;  // of a part
};

absl::StatusOr<ImportTarget> TargetOf(const DatasetView& dataset, std::string_view part_name) {
  const ledger::Dataset& record = dataset.record;
  if (record.parts.empty() && part_name.empty()) {
    return ImportTarget{.name = absl::StrCat("dataset \"", record.name, "\""),
                        .stored_id = record.id,
                        .is_sealed = record.state != ledger::DatasetState::kCreated,
                        .rows = std::nullopt};
  }
  ASSIGN_OR_RETURN(const ledger::Part part, PartNamed(record, part_name));
  ASSIGN_OR_RETURN(const uint32_t attribute, PartitionAttribute(dataset));
  return ImportTarget{.name = absl::StrCat("part \"", part.name, "\" of dataset \"", record.name, "\""),
                      .stored_id = StoredIdOf(record, part),
                      .is_sealed = part.sealed_version > 0,
                      .rows = records::PartRows{part.name, record.id, attribute, part.bins}};
}

absl::StatusOr<records::SealedContent> SealRecords(ledger::Ledger& ledger, records::DatasetStore& store,
                                                   const DatasetView& dataset, const ImportTarget& target) {
  if (dataset.record.is_public) return store.SealPublic(target.stored_id, dataset.schema);
  if (!target.rows) return store.Seal(target.stored_id, dataset.schema);
  return store.SealPart(target.stored_id, StoredIdsOf(ledger, dataset.record), dataset.schema);
}

// Loads the sealed table, in the owner's own call, so that the dataset is not sealed before requests on it
// can be answered.
absl::Status MakeReady(records::DatasetStore& store, const DatasetView& dataset, const ImportTarget& target,
                       const std::string& content_hash) {
  if (dataset.record.is_public) return absl::OkStatus();
  const records::SealedId id{
      .dataset_id = target.stored_id, .content_hash = content_hash, .is_part = target.rows.has_value()};
  if (store.ready().IsReady(id)) return absl::OkStatus();
  ASSIGN_OR_RETURN(records::LoadedTable table, store.Load(id));
  store.ready().Publish(id, std::move(table));
  return absl::OkStatus();
}

// Records that the owner has sealed as private cannot become public. Compares with the owner's own datasets
// only: a refusal because of another owner's would reveal its content.
absl::Status CheckNotPrivateElsewhere(ledger::Ledger& ledger, const ledger::Dataset& dataset,
                                      const std::string& content_hash) {
  ASSIGN_OR_RETURN(const std::vector<ledger::Dataset> all, ledger.ListDatasets());
  for (const ledger::Dataset& other : all) {
    if (other.is_public || other.owner != dataset.owner) continue;
    const bool is_there =
        other.content_hash == content_hash ||
        std::ranges::find(other.parts, content_hash, &ledger::Part::content_hash) != other.parts.end();
    if (is_there) {
      return absl::FailedPreconditionError(absl::StrCat(
          "these are the records of your private dataset \"", other.name,
          "\": they cannot be made public, and public dataset \"", dataset.name, "\" stays unsealed"));
    }
  }
  return absl::OkStatus();
}

// A request to all parts reads them as one table. Whether that table can hold them is checked before a part
// is sealed, not after a request is charged.
absl::Status CheckPartsFitOneTable(ledger::Ledger& ledger, records::DatasetStore& store,
                                   const DatasetView& dataset, const records::SealedContent& next) {
  int64_t records = next.records;
  for (const ledger::Part& part : dataset.record.parts) {
    if (part.sealed_version == 0 || part.content_hash == next.content_hash) continue;
    ASSIGN_OR_RETURN(const records::SealedContent sealed,
                     store.SealPart(StoredIdOf(dataset.record, part), StoredIdsOf(ledger, dataset.record),
                                    dataset.schema));
    records += sealed.records;
  }
  constexpr char kTooMany[] = "the parts of a dataset hold fewer than 2^31 records together";
  if (records > dp::kMaxRows) return absl::FailedPreconditionError(kTooMany);  // not covered: 2^31 records
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DatasetView> CreateDataset(ledger::Ledger& ledger, const NewDataset& dataset, Intent intent) {
  RETURN_IF_ERROR(CheckDatasetName(dataset.name.text()));
  RETURN_IF_ERROR(CheckWhoPays(dataset));
  RETURN_IF_ERROR(CheckPartition(dataset));
  const dp::UnitBound bound = dp::UnitBoundOf(dataset.schema, dataset.relation);
  ledger::DatasetSpec spec{.request_id = dataset.request_id.text(),
                           .name = dataset.name.text(),
                           .owner = dataset.principal,
                           .schema = codec::EncodeSchema(dataset.schema),
                           .schema_hash = {},
                           .neighbour_relation = std::string(RelationName(dataset.relation)),
                           .privacy_unit = UnitName(dataset.schema.unit),
                           .max_records_per_unit = bound.max_records,
                           .is_public = dataset.is_public,
                           .partition_attribute = dataset.partition ? dataset.partition->attribute : "",
                           .successor_of = {},
                           .accounts = {}};
  spec.schema_hash = Sha256(spec.schema);
  ASSIGN_OR_RETURN(spec.accounts, NewAccounts(dataset));
  ASSIGN_OR_RETURN(spec.parts, PartsOf(dataset));
  if (!dataset.successor_of.empty()) {
    absl::StatusOr<DatasetView> predecessor =
        FindOwned(ledger, dataset.principal, DatasetName(dataset.successor_of));
    RETURN_IF_ERROR(predecessor.status());
    RETURN_IF_ERROR(CheckSuccessor(*predecessor, dataset, bound.max_records));
    spec.successor_of = predecessor->record.id;
  }
  if (intent == Intent::kValidateOnly) {
    DatasetView view{.record = {}, .schema = dataset.schema, .unit_bound = bound};
    view.record.name = dataset.name.text();
    view.record.owner = dataset.principal.name();
    view.record.neighbour_relation = spec.neighbour_relation;
    view.record.is_public = dataset.is_public;
    return view;
  }
  absl::StatusOr<ledger::Dataset> record = ledger.CreateDataset(spec);
  RETURN_IF_ERROR(record.status());
  return DatasetView{*std::move(record), dataset.schema, bound};
}

absl::StatusOr<std::vector<DatasetView>> ListVisibleDatasets(ledger::Ledger& ledger,
                                                             const Principal& principal) {
  ASSIGN_OR_RETURN(const std::vector<ledger::Dataset> datasets, ledger.ListDatasets());
  std::vector<DatasetView> visible;
  for (const ledger::Dataset& dataset : datasets) {
    if (!MaySee(dataset, principal.name())) continue;
    ASSIGN_OR_RETURN(DatasetView view, ViewOf(dataset));
    visible.push_back(std::move(view));
  }
  return visible;
}

absl::Status GrantAccess(ledger::Ledger& ledger, const Principal& principal, const DatasetName& name,
                         std::string_view grantee, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindOwned(ledger, principal, name));
  RETURN_IF_ERROR(CheckPrincipalName(grantee));
  if (intent == Intent::kValidateOnly) return absl::OkStatus();
  return ledger.Grant(dataset.record.id, grantee, principal);
}

absl::StatusOr<DatasetView> ArchiveDataset(ledger::Ledger& ledger, records::DatasetStore& store,
                                           const Principal& principal, const DatasetName& name,
                                           Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindOwned(ledger, principal, name));
  if (intent == Intent::kValidateOnly) return dataset;
  RETURN_IF_ERROR(ledger.ArchiveDataset(dataset.record.id, principal));
  std::vector<std::string> stored_ids = {dataset.record.id};
  for (const ledger::Part& part : dataset.record.parts)
    stored_ids.push_back(StoredIdOf(dataset.record, part));
  store.ready().Forget(stored_ids);
  return FindOwned(ledger, principal, name);
}

absl::StatusOr<std::unique_ptr<records::RecordImport>> BeginImport(ledger::Ledger& ledger,
                                                                   records::DatasetStore& store,
                                                                   const ImportOrder& order, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindOwned(ledger, order.principal, order.dataset));
  ASSIGN_OR_RETURN(const ImportTarget target, TargetOf(dataset, order.part));
  if (target.is_sealed || dataset.record.state == ledger::DatasetState::kArchived) {
    return absl::FailedPreconditionError(
        absl::StrCat(target.name, " takes no more records: it has been sealed"));
  }
  records::ImportOptions options = order.options;
  options.only = target.rows;
  if (intent == Intent::kValidateOnly) return records::CheckRecords(dataset.schema, options);
  return store.BeginImport(target.stored_id, dataset.schema, order.request_id.text(), options);
}

absl::StatusOr<Sealed> SealDataset(ledger::Ledger& ledger, records::DatasetStore& store,
                                   const Principal& principal, const DatasetName& name, std::string_view part,
                                   Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindOwned(ledger, principal, name));
  ASSIGN_OR_RETURN(const ImportTarget target, TargetOf(dataset, part));
  if (dataset.record.state == ledger::DatasetState::kArchived) {
    return absl::FailedPreconditionError(absl::StrCat("dataset \"", dataset.record.name, "\" is archived"));
  }
  if (intent == Intent::kValidateOnly) return Sealed{.dataset = dataset};
  ASSIGN_OR_RETURN(const records::SealedContent content, SealRecords(ledger, store, dataset, target));
  if (dataset.record.is_public)
    RETURN_IF_ERROR(CheckNotPrivateElsewhere(ledger, dataset.record, content.content_hash));
  RETURN_IF_ERROR(MakeReady(store, dataset, target, content.content_hash));
  absl::StatusOr<ledger::Dataset> record;
  if (target.rows) {
    RETURN_IF_ERROR(CheckPartsFitOneTable(ledger, store, dataset, content));
    record = ledger.SealPart(dataset.record.id, part, content.content_hash, principal);
  } else {
    record = ledger.SealDataset(dataset.record.id, content.content_hash, principal);
  }
  RETURN_IF_ERROR(record.status());
  return Sealed{.dataset = {*std::move(record), dataset.schema, dataset.unit_bound},
                .records = content.records,
                .records_dropped = content.records_dropped};
}

std::string DomainSize(const dp::Domain& domain) {
  mpz_class cells = 1;
  for (const dp::Attribute& attribute : domain.attributes())
    cells *= static_cast<unsigned long>(attribute.size());
  return cells.get_str();
}

}  // namespace curator::service
