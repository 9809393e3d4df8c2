// Programs of the shell, for tests of what runs a program.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace curator {

// How long a program may take: longer than any test waits for it, and too short for one that sleeps.
inline constexpr std::chrono::milliseconds kLongPatience{60'000};
inline constexpr std::chrono::milliseconds kShortPatience{300};

// Writes the program into `folder`, in the place of the one that was written before.
inline std::string ShellProgram(const std::filesystem::path& folder, const std::string& script) {
  const std::filesystem::path path = folder / "program";
  std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

}  // namespace curator
