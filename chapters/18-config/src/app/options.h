// Reads the command line of `turtle`, and the file that it names.
//
// Interface:
//  * ParseCommandLine() reads both and returns what to do: serve, or print a text and end.
//  * ReadAgain() reads the file once more.
//
// The settings and their names are in app/serve_settings.cpp.
//
// Nothing is opened, started or printed here: the caller decides, and tests can check that.
//
// Thread: pure, except that it looks at the file system and at MIN_LOG_LEVEL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/serve_options.h"

namespace TURTLE_SERVER {

/// The program's task.
enum class CommandAction : std::uint8_t {
  kServe,  ///< Serve with the options in `serve`.
  kPrint,  ///< Print `text` to standard output and end with code 0: help or version.
  kFail    ///< Print `text` to standard error and end with `code`.
};

/// A setting on the command line.
struct GivenFlag {
  std::string flag;   ///< As in its Setting: "--port".
  std::string value;  ///< As written.
};

/// The outcome of ParseCommandLine().
struct CommandLine {
  CommandAction action = CommandAction::kFail;  ///< Which members apply.
  ServeOptions serve{};                         ///< kServe.
  std::string file{};                           ///< kServe: the configuration; empty: none.
  std::vector<GivenFlag> flags{};               ///< kServe: override the configuration.
  std::string text{};                           ///< kPrint, kFail; ends with a newline.
  int code = 2;                                 ///< kFail: the program's exit code.
  std::string warnings{};                       ///< kPrint: for standard error; lines, or none.
};

/// Reads the command line and the configuration that it names. A flag overrides the environment,
/// and that overrides the file. Never throws for their content.
/// @param argc of main().
/// @param argv of main().
/// @return what to do. For kFail, `text` is one line that names the option and the value, or, for a
///     configuration, a line for each mistake.
[[nodiscard]] auto ParseCommandLine(int argc, const char* const* argv) -> CommandLine;

/// Reads the configuration once more; the flags still override it.
/// @param line of ParseCommandLine(), with a configuration
/// @return kServe or kFail, as for ParseCommandLine()
/// @throws std::bad_alloc without memory; any thread
[[nodiscard]] auto ReadAgain(const CommandLine& line) -> CommandLine;

}  // namespace TURTLE_SERVER
