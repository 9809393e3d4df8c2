#include "ledger/anchor/checkpoint_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "ledger/history/checkpoint.h"

namespace curator::ledger {
namespace {

constexpr char kFileTag[] = "curator.ledger.checkpoint_file";
constexpr int64_t kFileVersion = 1;

// The id comes from the database.
bool IsFileName(const std::string& lineage_id) {
  return !lineage_id.empty() &&
         std::ranges::all_of(lineage_id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

std::filesystem::path PathOf(const CheckpointName& name) {
  return std::filesystem::path(name.directory) / "checkpoints" /
         absl::StrCat(name.ledger_uuid, ".", name.lineage_id, ".checkpoint");
}

std::string ContentOf(const CheckpointName& name, const RecountState& state) {
  const std::string checkpoint = EncodeCheckpoint(state);
  CanonicalWriter writer(kFileTag, kFileVersion);
  writer.Text(name.ledger_uuid);
  writer.Text(name.lineage_id);
  writer.Text(checkpoint);
  writer.Text(Sha256(checkpoint));
  return std::move(writer).Take();
}

}  // namespace

absl::Status WriteCheckpoint(const CheckpointName& name, const RecountState& state) {
  if (!IsFileName(name.lineage_id)) return InvalidField("lineage_id", "has other than letters and digits");
  const std::filesystem::path path = PathOf(name);
  const std::filesystem::path draft = absl::StrCat(path.string(), ".draft");
  std::error_code error;
  if (std::filesystem::create_directory(path.parent_path(), error))
    std::filesystem::permissions(path.parent_path(), std::filesystem::perms::owner_all, error);
  std::ofstream file(draft, std::ios::binary | std::ios::trunc);
  file << ContentOf(name, state);
  file.close();
  if (file && !error) {
    std::filesystem::permissions(
        draft, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
  }
  if (file && !error) std::filesystem::rename(draft, path, error);
  if (file && !error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write the checkpoint ", path.string()));
}

absl::Status RemoveCheckpoint(const CheckpointName& name) {
  if (!IsFileName(name.lineage_id)) return absl::OkStatus();
  std::error_code error;
  std::filesystem::remove(PathOf(name), error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot remove the checkpoint ", PathOf(name).string()));
}

std::optional<RecountState> ReadCheckpoint(const CheckpointName& name) {
  if (!IsFileName(name.lineage_id)) return std::nullopt;
  std::ifstream file(PathOf(name), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  CanonicalReader reader(content, kFileTag, kFileVersion);
  const bool is_its_own = reader.Text() == name.ledger_uuid && reader.Text() == name.lineage_id;
  const std::string checkpoint = reader.Text();
  const std::string hash = reader.Text();
  if (!reader.Finish().ok() || !is_its_own || Sha256(checkpoint) != hash) return std::nullopt;
  absl::StatusOr<RecountState> state = ParseCheckpoint(checkpoint);
  if (!state.ok()) return std::nullopt;
  return *std::move(state);
}

}  // namespace curator::ledger
