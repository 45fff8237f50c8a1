// The program `turtle`.
#include <exception>
#include <iostream>
#include <new>

#include "app/options.h"
#include "app/serve_command.h"

auto main(int argc, char** argv) -> int try {
  using namespace TURTLE_SERVER;
  const CommandLine command = ParseCommandLine(argc, argv);
  switch (command.action) {
    case CommandAction::kServe:
      return Serve(command.serve, std::cout, std::cerr);
    case CommandAction::kPrint:
      std::cout << command.text;
      return 0;
    case CommandAction::kFail:
      break;
  }
  std::cerr << command.text;
  return 1;
} catch (const std::bad_alloc&) {
  std::cerr << "turtle: out of memory\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "turtle: " << error.what() << '\n';
  return 1;
}
