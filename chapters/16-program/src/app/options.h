// The command line of `turtle`.
//
// Interface:
//  * ParseCommandLine() reads it and returns what to do: serve, or print a text and end.
//
// Nothing is opened, started or printed here: the caller decides, and tests can check that.
//
// Thread: pure, except that it looks at the file system.
#pragma once

#include <cstdint>
#include <string>

#include "app/serve_options.h"

namespace TURTLE_SERVER {

/// The program's task.
enum class CommandAction : std::uint8_t {
  kServe,  ///< Serve with the options in `serve`.
  kPrint,  ///< Print `text` to standard output and end with code 0: help or version.
  kFail    ///< Print `text` to standard error and end with code 2.
};

/// The outcome of ParseCommandLine().
struct CommandLine {
  CommandAction action = CommandAction::kFail;  ///< Which members apply.
  ServeOptions serve{};                         ///< kServe.
  std::string text{};                           ///< kPrint, kFail; ends with a newline.
};

/// Reads the command line. Never throws for its content.
/// @param argc of main().
/// @param argv of main().
/// @return what to do. For kFail, `text` is one line that names the option and the value.
[[nodiscard]] auto ParseCommandLine(int argc, const char* const* argv) -> CommandLine;

}  // namespace TURTLE_SERVER
