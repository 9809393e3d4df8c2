// What an owner has seen of records before it fixed a schema: a report of an import or of a check, under some
// schema. A schema that says other things about values may then have been chosen from the records, which the
// guarantee does not cover (Dataset.domain_from_records).
//
// Files are known by the keyed hash of their bytes (DatasetStore::FileHash()), and remembered for ever, also
// when an import is undone and when a dataset is deleted. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "dp/domain/domain.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"

namespace curator::service {

// Of what a schema says about values: attributes, their bins, and whether missing values have one; measures,
// their bounds and whether a value may be missing; constraints. How cells are written, the unit and the
// groups do not matter.
std::string ValuesHash(const dp::Schema& schema);

// `import`, whose report is remembered as seen by `owner` under this schema before it is returned. Further
// errors of Finish(): those of Ledger::RememberSeen(). `ledger` and `store` must outlive it.
std::unique_ptr<records::RecordImport> RememberingImport(ledger::Ledger& ledger,
                                                         const records::DatasetStore& store,
                                                         const Principal& owner, const dp::Schema& schema,
                                                         std::unique_ptr<records::RecordImport> import);

// Reads a file as an import would, stores nothing of it, and remembers that its report was seen.
std::unique_ptr<records::RecordImport> CheckFile(ledger::Ledger& ledger, const records::DatasetStore& store,
                                                 const Principal& principal, const dp::Schema& schema,
                                                 const records::ImportOptions& options);

}  // namespace curator::service
