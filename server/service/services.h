// The long-lived parts of the server that the use cases work with; made once, in app.cc.
//
// Holds references only: the parts must outlive it.
#pragma once

#include "absl/time/time.h"
#include "base/executor.h"
#include "directory/directory_store.h"
#include "host/server_key.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"
#include "service/access.h"
#include "service/accounts/comparison_cache.h"
#include "service/charges/daily_charges.h"
#include "service/charges/dataset_cache.h"
#include "service/memory_budget.h"
#include "service/quotas/principal_quotas.h"
#include "service/release_once.h"
#include "service/repetition_pace.h"
#include "service/running_operations.h"
#include "service/work_queue.h"
#include "service/workloads/recent_releases.h"
#include "service/workloads/sql_program.h"
#include "service/workloads/stored_answers.h"

namespace curator::service {

struct Services {
  ledger::Ledger& ledger;
  records::DatasetStore& store;
  const host::KeySealer& sealer;
  const host::ReceiptSigner& signer;
  RunningOperations& operations;
  WorkQueue& work;
  Executor& cores;         // counts records
  RequestLocks& requests;  // for release_once
  LateEndings& late;       // for release_once
  DatasetCache& datasets;
  RecentReleases& recent;
  StoredAnswers& stored;
  RepetitionPace& repetitions;       // of stored requests
  DailyCharges& daily;               // bounds what one principal adds to histories
  MemoryBudget& memory;              // of requests
  ComparisonCache& comparisons;      // of histories
  absl::Duration synthesis_timeout;  // a public limit: a longer synthesis is stopped and forfeited
  // Null in development mode, where every name is believed.
  const directory::DirectoryStore* directory = nullptr;
  // Null in development mode, where nobody has quotas.
  PrincipalQuotas* quotas = nullptr;
  // Null where no SQL is translated.
  SqlProgram* sql = nullptr;

  Access access() const { return {ledger, directory}; }
};

}  // namespace curator::service
