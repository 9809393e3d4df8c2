// A ledger whose store can be made to fail.
#pragma once

#include <memory>

#include "ledger/conformance/faulty_database.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {

struct FragileLedger {
  FaultyDatabase* store = nullptr;  // the ledger's
  std::unique_ptr<sql::SqlLedger> ledger;
};

}  // namespace curator::ledger
