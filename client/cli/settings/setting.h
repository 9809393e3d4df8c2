// What is in force of the options of every command.
//
// Thread-safe: plain values.
#pragma once

#include <string>

namespace curator::cli {

// A value in force.
struct Setting {
  std::string key;    // of the configuration file
  std::string value;  // no secret; empty for none
  std::string from;   // "--server", "CURATOR_SERVER", "/home/ana/.config/curator/config.toml:3" or "default"
};

}  // namespace curator::cli
