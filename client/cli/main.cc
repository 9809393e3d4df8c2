// The program `curator`.
#include <iostream>

#include "client/cli/program.h"

int main(int argc, char** argv) {
  using namespace curator::cli;
  return static_cast<int>(
      RunProgram({argv + 1, argv + argc}, Terminal::Detect(), {std::cin, std::cout, std::cerr}));
}
