// curator-sql: translates one SQL statement for a server, in a process of its own that has neither records
// nor keys. Reads a SqlTask from standard input, writes a SqlResult to standard output, and ends: 0 after a
// result, a refusal too; 1 for anything else, without a word.
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "client/sql/confinement.h"
#include "client/sql/translate.h"
#include "curator/internal/sql.pb.h"

namespace {

// Of names and kinds: those of the largest schema take a tenth of it.
constexpr size_t kMostTaskBytes = size_t{64} << 20;

// False for an error, and for more than is allowed.
bool ReadAll(std::string& bytes) {
  char buffer[1 << 16];
  while (bytes.size() <= kMostTaskBytes) {
    const ssize_t read_now = read(STDIN_FILENO, buffer, sizeof(buffer));
    if (read_now < 0 && errno == EINTR) continue;
    if (read_now <= 0) return read_now == 0;
    bytes.append(buffer, static_cast<size_t>(read_now));
  }
  return false;
}

bool WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool Run() {
  std::string bytes;
  curator::internal::SqlTask task;
  if (!ReadAll(bytes) || !task.ParseFromString(bytes)) return false;
  curator::internal::SqlResult result;
  absl::StatusOr<curator::v1::TranslateSqlResponse> translated =
      curator::sql::Translate(task.schema(), task.dataset(), task.sql());
  if (translated.ok()) {
    result.mutable_translation()->Swap(&*translated);
  } else if (absl::IsInvalidArgument(translated.status())) {
    result.set_refusal(std::string(translated.status().message()));
  } else {
    return false;
  }
  return WriteAll(result.SerializeAsString());
}

}  // namespace

int main() {
  // Without destructors of globals, whose calls the confinement does not know.
  _exit(curator::sql::ConfineThisProcess() && Run() ? 0 : 1);
}
