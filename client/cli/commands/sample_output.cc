#include "client/cli/commands/sample_output.h"

#include <memory>
#include <string_view>

#include "base/status_macros.h"
#include "client/cli/output/files.h"

namespace curator::cli {

absl::StatusOr<int64_t> WriteSample(Session& session, const Sample& sample, const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path, session.out));
  v1::SampleModelRequest request;
  request.set_release_id(sample.release);
  if (sample.rows) request.set_rows(*sample.rows);
  request.set_as_bins(sample.as_bins);
  int64_t written = 0;
  RETURN_IF_ERROR(session.client.SampleModel(request, [&](std::string_view bytes) {
    file->stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    written += static_cast<int64_t>(bytes.size());
    return file->Check();
  }));
  RETURN_IF_ERROR(file->Commit());
  return written;
}

}  // namespace curator::cli
