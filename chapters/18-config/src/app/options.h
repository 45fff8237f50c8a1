// The command line of `turtle`, and the file that it names.
//
// Interface:
//  * ParseCommandLine() reads both and says what to do: serve, or print a text and end.
//  * ReadAgain() reads the file once more.
//
// The settings and their names are in app/serve_settings.cpp.
//
// Nothing is opened or started here, and nothing is printed: the caller decides, and tests see.
//
// Thread: pure, but for looking at the file system and at the environment: MIN_LOG_LEVEL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/serve_options.h"

namespace TURTLE_SERVER {

/// The program's task.
enum class CommandAction : std::uint8_t {
  kServe,  ///< Serve as `serve` says.
  kPrint,  ///< Print `text` to standard output and end with code 0: help or version.
  kFail    ///< Print `text` to standard error and end with `code`.
};

/// A setting that is on the command line.
struct GivenFlag {
  std::string flag;   ///< As its Setting has it: "--port".
  std::string value;  ///< As it was written.
};

/// The outcome of ParseCommandLine().
struct CommandLine {
  CommandAction action = CommandAction::kFail;  ///< Which of the others count.
  ServeOptions serve{};                         ///< kServe.
  std::string file{};                           ///< kServe: the configuration; empty: none.
  std::vector<GivenFlag> flags{};               ///< kServe: count more than the configuration.
  std::string text{};                           ///< kPrint, kFail; ends with a newline.
  int code = 2;                                 ///< kFail: the program's exit code.
  std::string warnings{};                       ///< kPrint: for standard error; lines, or none.
};

/// Reads the command line and the configuration that it names. A flag counts more than the
/// environment, and that more than the file. Never throws for their content.
/// @param argc as of main().
/// @param argv as of main().
/// @return what to do. For kFail, `text` is one line that names the option and the value, or, for
///     a configuration, a line for each mistake.
[[nodiscard]] auto ParseCommandLine(int argc, const char* const* argv) -> CommandLine;

/// Reads the configuration once more; the flags count as they did.
/// @param line of ParseCommandLine(), with a configuration
/// @return kServe or kFail, as ParseCommandLine()
/// @throws std::bad_alloc without memory; any thread
[[nodiscard]] auto ReadAgain(const CommandLine& line) -> CommandLine;

}  // namespace TURTLE_SERVER
