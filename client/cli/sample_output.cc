#include "client/cli/sample_output.h"

#include <memory>
#include <string_view>

#include "client/cli/files.h"

namespace curator::cli {

absl::StatusOr<int64_t> WriteSample(Session& session, const Sample& sample, const std::string& path) {
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OutputFile::Create(path, session.out);
  if (!file.ok()) return file.status();
  v1::SampleModelRequest request;
  request.set_release_id(sample.release);
  if (sample.rows) request.set_rows(*sample.rows);
  request.set_as_bins(sample.as_bins);
  int64_t written = 0;
  const absl::Status sampled = session.client.SampleModel(request, [&](std::string_view bytes) {
    (*file)->stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    written += static_cast<int64_t>(bytes.size());
    return (*file)->Check();
  });
  if (!sampled.ok()) return sampled;
  if (absl::Status committed = (*file)->Commit(); !committed.ok()) return committed;
  return written;
}

}  // namespace curator::cli
