#include "ledger/sql/dataset_requests.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::ledger::sql {

absl::StatusOr<std::string> FindByRequest(Transaction& transaction, const RequestKey& key) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT dataset_id, fingerprint FROM dataset_requests "
                                       "WHERE principal = $1 AND request_id = $2",
                                       {key.principal, key.request_id}));
  if (rows.empty()) return std::string();
  if (rows.front().Blob(1) != key.fingerprint) {
    return absl::AlreadyExistsError(
        absl::StrCat("request id ", key.request_id, " was used by another request of ", key.principal));
  }
  return rows.front().Text(0);
}

absl::Status RecordRequest(Transaction& transaction, const RequestKey& key, const std::string& dataset_id) {
  return transaction
      .Execute(
          "INSERT INTO dataset_requests (principal, request_id, fingerprint, dataset_id) "
          "VALUES ($1, $2, $3, $4)",
          {key.principal, key.request_id, Bytes{key.fingerprint}, dataset_id})
      .status();
}

}  // namespace curator::ledger::sql
