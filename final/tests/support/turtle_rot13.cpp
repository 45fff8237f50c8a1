// The program `turtle serve`, all of whose clients have a Rot13Channel. The suites that test the
// program run on it a second time: whatever holds on a plain socket must hold over a channel.
//
// It can neither reload its settings nor restart.
#include <exception>
#include <iostream>
#include <memory>

#include "app/options.h"
#include "app/serve_command.h"
#include "core/connection.h"
#include "support/rot13_channel.h"

auto main(int argc, char** argv) -> int try {
  using namespace TURTLE_SERVER;
  CommandLine command = ParseCommandLine(argc, argv);
  if (command.action != CommandAction::kServe) {
    std::cerr << command.text;
    return 2;
  }
  command.serve.channel = [](Connection& /*client*/) {
    return std::make_unique<test::Rot13Channel>();
  };
  return Serve(command.serve, std::cout, std::cerr);
} catch (const std::exception& error) {
  std::cerr << "turtle_rot13: " << error.what() << '\n';
  return 1;
}
