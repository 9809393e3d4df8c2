#include "service/datasets/seen_records.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "codec/schema_codec.h"
#include "records/files.h"

namespace curator::service {
namespace {

class Remembering final : public records::RecordImport {
 public:
  Remembering(ledger::Ledger& ledger, const records::DatasetStore& store, Principal owner,
              std::string values_hash, std::unique_ptr<records::RecordImport> import)
      : ledger_(ledger),
        store_(store),
        owner_(std::move(owner)),
        values_hash_(std::move(values_hash)),
        import_(std::move(import)) {}

  absl::Status Append(std::string_view bytes) override {
    digest_.Add(bytes);
    return import_->Append(bytes);
  }

  absl::StatusOr<records::ImportReport> Finish() override {
    ASSIGN_OR_RETURN(records::ImportReport report, import_->Finish());
    const ledger::SeenFile seen{.file_hash = store_.FileHash(digest_.Finish()), .values_hash = values_hash_};
    RETURN_IF_ERROR(ledger_.RememberSeen(owner_, {seen}));
    return report;
  }

 private:
  ledger::Ledger& ledger_;
  const records::DatasetStore& store_;
  const Principal owner_;
  const std::string values_hash_;
  const std::unique_ptr<records::RecordImport> import_;
  records::Digest digest_;
};

// The attribute without what only says how its cells are written.
absl::StatusOr<dp::Attribute> PlainlyWritten(const dp::Attribute& attribute) {
  std::optional<dp::Missing> missing;
  if (attribute.missing()) missing = dp::Missing{.tokens = {}, .bin = attribute.missing()->bin};
  return dp::Attribute::Create(attribute.name(), attribute.kind(), std::move(missing));
}

absl::StatusOr<dp::Measure> PlainlyWritten(const dp::Measure& measure) {
  std::optional<dp::Missing> missing;
  if (measure.missing()) missing.emplace();
  return dp::Measure::Create(measure.name(), measure.bounds(), std::move(missing));
}

std::vector<dp::ConstraintRule> RulesOf(const dp::Domain& domain) {
  std::vector<dp::ConstraintRule> rules;
  for (const dp::Constraint& constraint : domain.constraints()) rules.push_back(constraint.rule());
  return rules;
}

}  // namespace

std::string ValuesHash(const dp::Schema& schema) {
  std::vector<dp::Attribute> attributes;
  for (const dp::Attribute& attribute : schema.domain.attributes()) {
    absl::StatusOr<dp::Attribute> plain = PlainlyWritten(attribute);
    // One whose categories are all the usual tokens has none left: it stays as it is.
    attributes.push_back(plain.ok() ? *std::move(plain) : attribute);
  }
  std::vector<dp::Measure> measures;
  for (const dp::Measure& measure : schema.domain.measures()) {
    absl::StatusOr<dp::Measure> plain = PlainlyWritten(measure);
    measures.push_back(plain.ok() ? *std::move(plain) : measure);
  }
  absl::StatusOr<dp::Domain> domain = dp::Domain::Create(std::move(attributes), std::move(measures));
  if (domain.ok()) domain = domain->WithConstraints(RulesOf(schema.domain));
  const dp::Schema values{.domain = domain.ok() ? *domain : schema.domain, .unit = dp::RecordUnit{}};
  return Sha256(codec::EncodeSchema(values));
}

std::unique_ptr<records::RecordImport> RememberingImport(ledger::Ledger& ledger,
                                                         const records::DatasetStore& store,
                                                         const Principal& owner, const dp::Schema& schema,
                                                         std::unique_ptr<records::RecordImport> import) {
  return std::make_unique<Remembering>(ledger, store, owner, ValuesHash(schema), std::move(import));
}

std::unique_ptr<records::RecordImport> CheckFile(ledger::Ledger& ledger, const records::DatasetStore& store,
                                                 const Principal& principal, const dp::Schema& schema,
                                                 const records::ImportOptions& options) {
  return RememberingImport(ledger, store, principal, schema, records::CheckRecords(schema, options));
}

}  // namespace curator::service
