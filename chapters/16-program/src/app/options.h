// The command line of `turtle`.
//
// Interface:
//  * ParseCommandLine() reads it and says what to do: serve, or print a text and end.
//
// Nothing is opened or started here, and nothing is printed: the caller decides, and tests see.
//
// Thread: pure, but for looking at the file system.
#pragma once

#include <cstdint>
#include <string>

#include "app/serve_options.h"

namespace TURTLE_SERVER {

/// The program's task.
enum class CommandAction : std::uint8_t {
  kServe,  ///< Serve as `serve` says.
  kPrint,  ///< Print `text` to standard output and end with code 0: help or version.
  kFail    ///< Print `text` to standard error and end with code 2.
};

/// The outcome of ParseCommandLine().
struct CommandLine {
  CommandAction action = CommandAction::kFail;  ///< Which of the others count.
  ServeOptions serve{};                         ///< kServe.
  std::string text{};                           ///< kPrint, kFail; ends with a newline.
};

/// Reads the command line. Never throws for its content.
/// @param argc as of main().
/// @param argv as of main().
/// @return what to do. For kFail, `text` is one line that names the option and the value.
[[nodiscard]] auto ParseCommandLine(int argc, const char* const* argv) -> CommandLine;

}  // namespace TURTLE_SERVER
