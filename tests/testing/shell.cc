#include "tests/testing/shell.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>

namespace curator::testing {

std::pair<int, std::string> Shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), size);
  return {WEXITSTATUS(pclose(pipe)), output};
}

}  // namespace curator::testing
