// Command lines, run in this process against a server that records what it is sent.
//
// Not thread-safe: belongs to one test.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "client/cli/program.h"
#include "client/testing/recording_server.h"
#include "tests/testing/scratch_folder.h"

namespace curator::cli::testing {

// The words of a line, separated by single blanks.
std::vector<std::string> Words(const std::string& line);

class CommandLine {
 public:
  // The server knows a dataset with the attribute `sex`, answers with its marginal, and synthesises at once.
  CommandLine();

  // Runs `arguments` with --server added in front.
  ExitStatus Run(const std::vector<std::string>& arguments);
  ExitStatus Run(const std::string& line) { return Run(Words(line)); }

  // The last request of this type that the line sends; a failure of the test when the line ends otherwise
  // than well, or sends none.
  template <typename Request, typename Line>
  Request Sent(const Line& line) {
    const size_t before = server.Received<Request>().size();
    EXPECT_EQ(Run(line), ExitStatus::kDone) << error();
    const std::vector<Request> requests = server.Received<Request>();
    if (requests.size() > before) return requests.back();
    ADD_FAILURE() << "no " << Request::descriptor()->name() << " was sent";
    return {};
  }

  // What the last line printed.
  std::string out() const { return out_.str(); }
  std::string error() const { return error_.str(); }

  // A file of the test's own folder.
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  // The same, with this content.
  std::string File(const std::string& name, const std::string& content) const;
  std::string Content(const std::string& name) const;

  client::testing::RecordingServer server;

 private:
  const curator::testing::ScratchFolder folder_;
  std::ostringstream out_;
  std::ostringstream error_;
};

}  // namespace curator::cli::testing
