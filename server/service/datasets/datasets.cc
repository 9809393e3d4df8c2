#include "service/datasets/datasets.h"

#include <gmpxx.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "codec/schema_codec.h"
#include "dp/data/coded_columns.h"
#include "host/logging.h"
#include "service/accounts/accounts.h"
#include "service/charges/request_scope.h"
#include "service/datasets/imports.h"
#include "service/datasets/parts.h"
#include "service/datasets/seen_records.h"

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

absl::Status CheckLines(const std::string& field, const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i)
    RETURN_IF_ERROR(CheckLine(absl::StrCat(field, "[", i, "]"), texts[i]));
  return absl::OkStatus();
}

// Of an attribute or a measure.
template <typename Column>
absl::Status CheckCellTexts(const std::string& path, const Column& column) {
  if (column.missing()) {
    RETURN_IF_ERROR(CheckLines(path + ".missing.tokens", column.missing()->tokens));
    RETURN_IF_ERROR(CheckLine(path + ".missing.bin", column.missing()->bin.value_or("")));
  }
  const dp::Reading& reading = column.reading();
  RETURN_IF_ERROR(CheckLine(path + ".reading.column", reading.column));
  for (size_t i = 0; i < reading.synonyms.size(); ++i)
    RETURN_IF_ERROR(
        CheckLines(absl::StrCat(path, ".reading.synonyms[", i, "].texts"), reading.synonyms[i].texts));
  return CheckLines(path + ".reading.date_formats", reading.date_formats);
}

// Of a new schema. Older ones stay readable: dp::Attribute itself forbids only what no stored name has.
absl::Status CheckLabels(const dp::Schema& schema) {
  if (const auto* person = std::get_if<dp::PersonUnit>(&schema.unit))
    RETURN_IF_ERROR(CheckLine("schema.unit.person.id_column", person->id_column));
  if (const auto* group = std::get_if<dp::GroupUnit>(&schema.unit))
    RETURN_IF_ERROR(CheckLine("schema.unit.group.id_column", group->id_column));
  if (schema.nesting) RETURN_IF_ERROR(CheckLine("schema.nesting.group_column", schema.nesting->group_column));
  const std::vector<dp::Measure>& measures = schema.domain.measures();
  for (size_t i = 0; i < measures.size(); ++i) {
    const std::string path = absl::StrCat("schema.measures[", i, "]");
    RETURN_IF_ERROR(CheckLine(path + ".name", measures[i].name()));
    RETURN_IF_ERROR(CheckCellTexts(path, measures[i]));
  }
  const std::vector<dp::Attribute>& attributes = schema.domain.attributes();
  for (size_t i = 0; i < attributes.size(); ++i) {
    const std::string path = absl::StrCat("schema.attributes[", i, "]");
    RETURN_IF_ERROR(CheckLine(path + ".name", attributes[i].name()));
    RETURN_IF_ERROR(CheckCellTexts(path, attributes[i]));
    const auto* categories = std::get_if<dp::CategoricalKind>(&attributes[i].kind());
    if (categories == nullptr) continue;
    for (size_t j = 0; j < categories->values.size(); ++j)
      RETURN_IF_ERROR(CheckLine(absl::StrCat(path, ".categorical.values[", j, "]"), categories->values[j]));
    if (categories->catch_all)
      RETURN_IF_ERROR(CheckLine(path + ".categorical.catch_all", *categories->catch_all));
  }
  return absl::OkStatus();
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

absl::Status CheckLooks(const NewDataset& dataset) {
  if (dataset.looks.size() > ledger::kMostLooks)
    return InvalidField("looks", absl::StrCat("must be at most ", ledger::kMostLooks));
  for (size_t i = 0; i < dataset.looks.size(); ++i) {
    if (!dataset.looks[i].accepted_domain || dataset.schema.domain_from_records) continue;
    return InvalidField(
        absl::StrCat("looks[", i, "].accepted_domain"),
        "is of a schema with domain_from_records, which this one does not have: that stays in "
        "the schema");
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
// The unit is its kind, its bound and its id column: the visits of a patient are not patients.
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
  if (predecessor.schema.unit != dataset.schema.unit || predecessor.unit_bound.max_records != max_records) {
    return InvalidField("schema.unit",
                        "must be that of the predecessor, whose budget is shared: the same kind of unit, "
                        "identified by the same column, with the same bound of records");
  }
  return absl::OkStatus();
}

absl::StatusOr<records::SealedContent> SealRecords(ledger::Ledger& ledger, records::DatasetStore& store,
                                                   const DatasetView& dataset, const ImportTarget& target,
                                                   const records::SealCheck& check) {
  const std::string& owner = dataset.record.owner;
  if (dataset.record.is_public) return store.SealPublic(target.stored_id, dataset.schema, owner, check);
  if (!target.rows) return store.Seal(target.stored_id, dataset.schema, owner, check);
  return store.SealPart(target.stored_id, StoredIdsOf(ledger, dataset.record), dataset.schema, owner, check);
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

// The hash to seal in the ledger. A table that was sealed in the first format is sealed again with that one,
// which changes nothing.
std::string HashToSeal(const records::SealedContent& content, std::string_view sealed_before) {
  return content.first_format_hash == sealed_before ? content.first_format_hash : content.content_hash;
}

// What the owner of both accepts. A deleted dataset was never charged, and may have had the same name.
std::string EqualContentText(const ledger::Dataset& dataset, const ledger::Dataset& other) {
  if (other.state == ledger::DatasetState::kDeleted) {
    return absl::StrCat("these are the records of the dataset \"", other.name,
                        "\" that you deleted before anything was asked about it. \"", dataset.name,
                        "\" stays unsealed, and open for imports. Accept it if this one is in its place");
  }
  return absl::StrCat("these are the records of your dataset \"", other.name,
                      "\", which has a budget of its own: each record would be protected only by the sum of "
                      "both limits. \"",
                      dataset.name, "\" stays unsealed, and open for imports. Archive it, or accept that");
}

// Records that the caller has sealed as private do not become public, and get no second budget unless the
// caller accepts it. Only the caller's own datasets are compared: a refusal because of another's would reveal
// its content. An empty table has no records to protect.
absl::Status CheckNotSealedElsewhere(ledger::Ledger& ledger, const ledger::Dataset& dataset,
                                     const records::SealedContent& content, const SealOrder& order) {
  if (content.records == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<ledger::Dataset> equal,
                   ledger.FindContent(order.principal, {content.content_hash, content.first_format_hash}));
  for (const ledger::Dataset& other : equal) {
    if (other.is_public || other.lineage_id == dataset.lineage_id) continue;
    if (dataset.is_public) {
      return absl::FailedPreconditionError(absl::StrCat(
          "these are the records of your private dataset \"", other.name,
          "\": they cannot be made public, and public dataset \"", dataset.name, "\" stays unsealed"));
    }
    if (order.accept_equal_content) {
      host::Log(host::LogLevel::kWarning, "second_budget_accepted",
                {{"dataset", dataset.name}, {"other", other.name}, {"principal", order.principal.name()}});
      continue;
    }
    return NeedsAcceptance("EQUAL_CONTENT", EqualContentText(dataset, other));
  }
  return absl::OkStatus();
}

// A dataset without records is sealed by mistake more often than not, and its name is taken for good.
absl::Status CheckHasRecords(const ImportTarget& target, const records::SealedContent& content,
                             const SealOrder& order) {
  if (content.records > 0 || order.accept_no_records) return absl::OkStatus();
  return NeedsAcceptance("NO_RECORDS", absl::StrCat(target.name,
                                                    " has no records. It stays unsealed, and open for "
                                                    "imports"));
}

// Whether the schema may have been chosen from the records, which the seal then says. A public dataset has no
// guarantee that would not cover it.
absl::StatusOr<bool> IsDomainFromRecords(ledger::Ledger& ledger, const DatasetView& dataset,
                                         const ImportTarget& target, const records::SealedContent& content,
                                         const SealOrder& order) {
  if (dataset.record.is_public || dataset.record.facts.domain_from_records) return false;
  ASSIGN_OR_RETURN(const bool has_seen,
                   ledger.HasSeen(order.principal, content.file_hashes, ValuesHash(dataset.schema)));
  if (!has_seen || order.accept_domain_from_records) return has_seen;
  return NeedsAcceptance(
      "DOMAIN_FROM_RECORDS",
      absl::StrCat(
          "you have looked at these records, or have seen a report on them under another schema: this "
          "one may have been chosen from them, and the guarantee does not cover what that says about "
          "them. ",
          target.name, " stays unsealed; sealed all the same, it shows that to everybody, for ever"));
}

// A request to all parts reads them as one table. Whether that table can hold them is checked before a part
// is sealed, not after a request is charged.
absl::Status CheckPartsFitOneTable(const records::DatasetStore& store, const DatasetView& dataset,
                                   std::string_view next_part, const records::SealedContent& next) {
  int64_t records = next.records;
  for (const ledger::Part& part : dataset.record.parts) {
    if (part.sealed_version == 0 || part.name == next_part) continue;
    ASSIGN_OR_RETURN(const int64_t sealed, store.SealedRecords(StoredIdOf(dataset.record, part)));
    records += sealed;
  }
  constexpr char kTooMany[] = "the parts of a dataset hold fewer than 2^31 records together";
  if (records > dp::kMaxRows) return absl::FailedPreconditionError(kTooMany);  // not covered: 2^31 records
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DatasetView> CreateDataset(const Access& access, const NewDataset& dataset, Intent intent) {
  RETURN_IF_ERROR(CheckDatasetName(dataset.name.text()));
  RETURN_IF_ERROR(CheckLabels(dataset.schema));
  RETURN_IF_ERROR(CheckWhoPays(dataset));
  RETURN_IF_ERROR(CheckPartition(dataset));
  RETURN_IF_ERROR(CheckLooks(dataset));
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
                           .accounts = {},
                           .facts = {.domain_from_records = dataset.schema.domain_from_records},
                           .looks = dataset.looks};
  spec.schema_hash = Sha256(spec.schema);
  ASSIGN_OR_RETURN(spec.accounts, NewAccounts(dataset));
  ASSIGN_OR_RETURN(spec.parts, PartsOf(dataset));
  if (!dataset.successor_of.empty()) {
    absl::StatusOr<DatasetView> predecessor =
        FindDataset(access, Method::kGetDataset, dataset.principal, DatasetName(dataset.successor_of));
    RETURN_IF_ERROR(predecessor.status());
    RETURN_IF_ERROR(CheckIsOwner(predecessor->record, dataset.principal));
    RETURN_IF_ERROR(CheckSuccessor(*predecessor, dataset, bound.max_records));
    spec.successor_of = predecessor->record.id;
  }
  if (intent == Intent::kValidateOnly) {
    DatasetView view{.record = {}, .schema = dataset.schema, .unit_bound = bound, .roles = {Role::kOwner}};
    view.record.name = dataset.name.text();
    view.record.owner = dataset.principal.name();
    view.record.neighbour_relation = spec.neighbour_relation;
    view.record.is_public = dataset.is_public;
    view.record.facts = spec.facts;
    return view;
  }
  absl::StatusOr<ledger::Dataset> record = access.ledger.CreateDataset(spec);
  RETURN_IF_ERROR(record.status());
  return DatasetView{*std::move(record), dataset.schema, bound, {Role::kOwner}};
}

absl::StatusOr<DatasetView> GetDataset(const Access& access, const Principal& principal,
                                       const DatasetName& name) {
  ASSIGN_OR_RETURN(DatasetView view, FindDataset(access, Method::kGetDataset, principal, name));
  if (!view.roles.Has(Role::kOwner)) return view;
  ASSIGN_OR_RETURN(view.record, access.ledger.GetDatasetById(view.record.id));
  return view;
}

absl::StatusOr<DatasetViews> ListVisibleDatasets(const Access& access, const Principal& principal,
                                                 const ledger::NamePage& page) {
  ASSIGN_OR_RETURN(const ledger::AlsoListed also, RolesBesideGrants(access, principal));
  ASSIGN_OR_RETURN(ledger::DatasetList list, access.ledger.ListVisibleDatasets(principal, page, also));
  DatasetViews visible{.datasets = {},
                       .unreadable = std::move(list.unreadable),
                       .has_more = list.has_more,
                       .last = std::move(list.last)};
  for (ledger::Dataset& dataset : list.datasets) {
    std::string name = dataset.name;
    ASSIGN_OR_RETURN(const Roles roles, RolesOn(access, dataset, principal.name()));
    if (!CheckMay(Method::kGetDataset, dataset, roles).ok()) continue;
    absl::StatusOr<DatasetView> view = ViewOf(std::move(dataset));
    if (absl::IsDataLoss(view.status())) {
      visible.unreadable.push_back(std::move(name));
      continue;
    }
    RETURN_IF_ERROR(view.status());
    view->roles = roles;
    visible.datasets.push_back(*std::move(view));
  }
  return visible;
}

absl::StatusOr<DatasetView> PublishDataset(const Access& access, const Principal& principal,
                                           const DatasetName& name, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindDataset(access, Method::kPublishDataset, principal, name));
  if (!dataset.record.is_public) {
    return absl::FailedPreconditionError(absl::StrCat(
        "dataset \"", name.text(), "\" is private: only what was created as public is published"));
  }
  ASSIGN_OR_RETURN(const ledger::Approval approval, ApprovalOf(access, dataset.record.owner, principal));
  if (intent == Intent::kValidateOnly) return dataset;
  RETURN_IF_ERROR(access.ledger.PublishDataset(dataset.record.id, principal, approval));
  return GetDataset(access, principal, name);
}

absl::StatusOr<DatasetView> ArchiveDataset(const Access& access, records::DatasetStore& store,
                                           const Principal& principal, const DatasetName& name,
                                           Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindDataset(access, Method::kArchiveDataset, principal, name));
  if (intent == Intent::kValidateOnly) return dataset;
  RETURN_IF_ERROR(access.ledger.ArchiveDataset(dataset.record.id, principal));
  std::vector<std::string> stored_ids = {dataset.record.id};
  for (const ledger::Part& part : dataset.record.parts)
    stored_ids.push_back(StoredIdOf(dataset.record, part));
  store.ready().Forget(stored_ids);
  return GetDataset(access, principal, name);
}

absl::StatusOr<Sealed> SealDataset(const Access& access, records::DatasetStore& store, const SealOrder& order,
                                   Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kSealDataset, order.principal, order.dataset));
  const ledger::Dataset& record = dataset.record;
  ASSIGN_OR_RETURN(const ImportTarget target, TargetOf(dataset, order.part));
  if (record.state == ledger::DatasetState::kArchived) {
    return absl::FailedPreconditionError(absl::StrCat("dataset \"", record.name, "\" is archived"));
  }
  if (intent == Intent::kValidateOnly) return Sealed{.dataset = dataset};
  ledger::DatasetFacts facts;
  const auto check = [&](const records::SealedContent& content) -> absl::Status {
    if (target.is_sealed) return absl::OkStatus();
    RETURN_IF_ERROR(CheckNoneIsUndone(access.ledger, dataset, target, content.import_request_ids));
    RETURN_IF_ERROR(CheckHasRecords(target, content, order));
    RETURN_IF_ERROR(CheckNotSealedElsewhere(access.ledger, record, content, order));
    ASSIGN_OR_RETURN(facts.domain_from_records,
                     IsDomainFromRecords(access.ledger, dataset, target, content, order));
    facts.rows_from_query = content.rows_from_query;
    return target.rows ? CheckPartsFitOneTable(store, dataset, order.part, content) : absl::OkStatus();
  };
  RETURN_IF_ERROR(CompleteUndos(access.ledger, store, dataset, target));
  ASSIGN_OR_RETURN(const records::SealedContent content,
                   SealRecords(access.ledger, store, dataset, target, check));
  absl::StatusOr<ledger::Dataset> sealed;
  if (target.rows) {
    ASSIGN_OR_RETURN(const ledger::Part part, PartNamed(record, order.part));
    const std::string hash = HashToSeal(content, part.content_hash);
    RETURN_IF_ERROR(MakeReady(store, dataset, target, hash));
    sealed = access.ledger.SealPart(record.id, part.name, hash, order.principal, facts);
  } else {
    const std::string hash = HashToSeal(content, record.content_hash);
    RETURN_IF_ERROR(MakeReady(store, dataset, target, hash));
    sealed = access.ledger.SealDataset(record.id, hash, order.principal, facts);
  }
  RETURN_IF_ERROR(sealed.status());
  return Sealed{.dataset = {*std::move(sealed), dataset.schema, dataset.unit_bound},
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
