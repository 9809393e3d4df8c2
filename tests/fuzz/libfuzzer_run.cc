// A fuzz target as libFuzzer's program. With CURATOR_FUZZ_SEEDS=FOLDER it writes the target's own inputs
// there, for a corpus to start from, and ends.
#include <cstdlib>
#include <fstream>

#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const folder = std::getenv("CURATOR_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  const std::vector<std::string> seeds = curator::fuzz::Seeds();
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(std::string(folder) + "/seed-" + std::to_string(i), std::ios::binary);
    file << seeds[i];
    if (!file.flush()) {
      std::fprintf(stderr, "cannot write into %s\n", folder);
      std::_Exit(1);
    }
  }
  std::_Exit(0);
}

// Also inputs that are not well-formed are worth changing: they may reach further than others.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  curator::fuzz::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
