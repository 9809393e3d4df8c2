// What the use cases work with: references to the long-lived parts of the server, made once in app.cc.
#pragma once

#include "absl/time/time.h"
#include "base/executor.h"
#include "host/server_key.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"
#include "service/background_work.h"
#include "service/release_once.h"

namespace curator::service {

struct Curator {
  ledger::Ledger& ledger;
  records::DatasetStore& store;
  const host::KeySealer& sealer;
  const host::ReceiptSigner& signer;
  RunningOperations& operations;
  WorkQueue& work;
  Executor& cores;                   // for counting
  KeyedLock& requests;               // one at a time for each (principal, request id)
  absl::Duration synthesis_timeout;  // a public limit: a synthesis that takes longer is stopped and forfeited
};

}  // namespace curator::service
