// The program `turtle`.
#include <exception>
#include <iostream>
#include <new>

#include "app/options.h"
#include "app/serve_command.h"

namespace {

// Without a configuration there is nothing that could say something else by now.
auto RereadOf(const TURTLE_SERVER::CommandLine& command, int argc, char** argv)
    -> TURTLE_SERVER::Reread {
  if (command.file.empty()) {
    return nullptr;
  }
  return [argc, argv] { return TURTLE_SERVER::ParseCommandLine(argc, argv); };
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  using namespace TURTLE_SERVER;
  const CommandLine command = ParseCommandLine(argc, argv);
  switch (command.action) {
    case CommandAction::kServe:
      return Serve(command.serve, std::cout, std::cerr, RereadOf(command, argc, argv));
    case CommandAction::kPrint:
      std::cout << command.text;
      return 0;
    case CommandAction::kFail:
      break;
  }
  std::cerr << command.text;
  return command.code;
} catch (const std::bad_alloc&) {
  std::cerr << "turtle: out of memory\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "turtle: " << error.what() << '\n';
  return 1;
}
