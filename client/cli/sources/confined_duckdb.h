// A connection of DuckDB's library that opens one file and nothing else.
//
// Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/sources/duckdb_library.h"

namespace curator::cli::duckdb {

class ConfinedConnection {
 public:
  // To a database in memory. Its statements may name `file`, but no other file, and no address in a network;
  // they load and install no extension, and change none of that. They use one thread, a bounded amount of
  // memory, and no temporary files. FAILED_PRECONDITION when the library refuses one of the settings.
  static absl::StatusOr<std::unique_ptr<ConfinedConnection>> Open(std::shared_ptr<const Library> library,
                                                                  const std::string& file);
  ~ConfinedConnection();
  ConfinedConnection(const ConfinedConnection&) = delete;
  ConfinedConnection& operator=(const ConfinedConnection&) = delete;

  // Open as long as this object.
  Connection handle() const { return connection_; }

 private:
  explicit ConfinedConnection(std::shared_ptr<const Library> library);

  bool OpenDatabase();
  bool Confine(const std::string& file);

  const std::shared_ptr<const Library> library_;
  Database database_ = nullptr;
  Connection connection_ = nullptr;
};

}  // namespace curator::cli::duckdb
