// The program `turtle-bench`.
#include <iostream>

#include "bench/load_run.h"
#include "bench/options.h"

auto main(int argc, char** argv) -> int {
  using namespace TURTLE_SERVER;
  const BenchCommandLine command = ParseBenchCommandLine(argc, argv);
  switch (command.action) {
    case BenchAction::kRun:
      return RunLoad(command.options, std::cout, std::cerr);
    case BenchAction::kPrint:
      std::cout << command.text;
      return 0;
    case BenchAction::kFail:
      break;
  }
  std::cerr << command.text;
  return 1;
}
