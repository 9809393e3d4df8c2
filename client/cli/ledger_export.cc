#include <memory>
#include <string>

#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/output/json_writer.h"
#include "client/cli/output/names.h"
#include "client/client.h"
#include "google/protobuf/util/time_util.h"

namespace curator::cli {
namespace {

// The fields that the entry's hash covers, in its order, and the hash. Bytes are in hexadecimal.
void WriteEntry(JsonWriter& json, const v1::LedgerEntry& entry) {
  const Row row = {entry.dataset_id(),
                   entry.sequence(),
                   entry.kind(),
                   entry.charge_id(),
                   Hex(entry.payload()),
                   entry.actor(),
                   google::protobuf::util::TimeUtil::TimestampToMicroseconds(entry.time()),
                   Hex(entry.previous_hash()),
                   Hex(entry.hash())};
  static constexpr const char* kKeys[] = {"dataset_id", "sequence", "kind",          "charge_id", "payload",
                                          "actor",      "time_us",  "previous_hash", "hash"};
  json.BeginObject();
  for (size_t i = 0; i < row.size(); ++i) {
    json.Key(kKeys[i]);
    json.Write(row[i]);
  }
  json.EndObject();
}

}  // namespace

absl::Status Run(Session& session, const ExportLedger& command) {
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file,
                   OutputFile::Create(command.out.empty() ? "-" : command.out, session.out));
  RETURN_IF_ERROR(session.client.ListLedgerEntries(command.dataset, 0, [&](const v1::LedgerEntry& entry) {
    JsonWriter json(file->stream());
    WriteEntry(json, entry);
    file->stream() << "\n";
    return file->Check();
  }));
  return file->Commit();
}

}  // namespace curator::cli
