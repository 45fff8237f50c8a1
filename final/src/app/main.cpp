// The program `turtle`.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "app/hand_over.h"
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

// Without a configuration and a certificate, a reload can't change anything.
auto RereadOf(const TURTLE_SERVER::CommandLine& command) -> TURTLE_SERVER::Reread {
  if (command.file.empty() && !command.serve.https.HasTls()) {
    return nullptr;
  }
  return [&command] { return TURTLE_SERVER::ReadAgain(command); };
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
      return Serve(command.serve, std::cout, std::cerr, RereadOf(command),
                   std::vector<std::string>(argv, argv + argc));
    case CommandAction::kPrint:
      std::cout << command.text;
      std::cerr << command.warnings;
      return 0;
    case CommandAction::kFail:
      break;
  }
  std::cerr << command.text;
  ReadyPipe().Fail(command.text);  // a predecessor may have its own log
  return command.code;
} catch (const std::bad_alloc&) {
  std::cerr << "turtle: out of memory\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "turtle: " << error.what() << '\n';
  return 1;
}
