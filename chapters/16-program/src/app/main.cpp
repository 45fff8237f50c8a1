// The program `turtle`.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <system_error>

#include "app/options.h"
#include "app/serve_command.h"
#include "app/standard_descriptors.h"

namespace {

// CLI11 allocates in functions that promise not to throw, which would call std::terminate(). Before
// there is a client, nothing is lost by ending at once.
void EndWithoutMemory() {
  std::cerr << "turtle: out of memory\n";
  std::_Exit(1);
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  using namespace TURTLE_SERVER;
  std::set_new_handler(EndWithoutMemory);
  if (const int error = OpenStandardDescriptors(); error != 0) {
    std::cerr << "turtle: open /dev/null: " << std::generic_category().message(error) << '\n';
    return 1;
  }
  const CommandLine command = ParseCommandLine(argc, argv);
  std::set_new_handler(nullptr);
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
  return 2;  // a mistake in the command line: a retry would not help
} catch (const std::bad_alloc&) {
  std::cerr << "turtle: out of memory\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "turtle: " << error.what() << '\n';
  return 1;
}
