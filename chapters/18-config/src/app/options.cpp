#include "app/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/config.h"
#include "app/memory_reserve.h"
#include "app/serve_check.h"
#include "app/serve_settings.h"
#include "app/suggestion.h"

namespace TURTLE_SERVER {

namespace {

// Adds settings as options of a command; their values are collected in `given`. CLI11 only sees
// texts: its own conversions would take "0x50" for a port and "12.5" for a number of threads, and
// its messages don't contain the permitted values.
void AddFlags(CLI::App& app, const std::vector<Setting>& settings, std::vector<GivenFlag>& given) {
  for (const Setting& setting : settings) {
    // CLI11 accepts each at most once: of two ports, which did you mean?
    app.add_option_function<std::string>(
           setting.name.flag,
           [&given, flag = setting.name.flag](const std::string& text) {
             given.push_back({flag, text});
           },
           setting.help)
        ->type_name(setting.unit)
        ->default_str(setting.show());
  }
}

void TakeFlag(const GivenFlag& given, const std::vector<Setting>& settings) {
  const auto setting = std::find_if(settings.begin(), settings.end(), [&](const Setting& one) {
    return one.name.flag == given.flag;
  });
  if (!setting->take(given.value)) {
    throw CLI::ValidationError(given.flag, "'" + given.value + "' is not " + WantedBy(*setting));
  }
}

constexpr const char* kExitCodes =
    "\nExit codes:\n"
    "  0  ended by a signal, or printed what was asked for\n"
    "  1  can't start or go on: an address in use, a log that can't be opened\n"
    "  2  a mistake on the command line or in the configuration\n";

// Puts a usage error on one line, because a script's errors go to a log.
auto OneLine(std::string text) -> std::string {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return "turtle: " + text + " (see turtle --help)\n";
}

// `turtle -f site.json` is short for `turtle serve -f site.json`.
auto ArgumentsOf(int argc, const char* const* argv) -> std::vector<std::string> {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first.compare(0, 2, "-f") == 0 || first.compare(0, 2, "-t") == 0) {
    arguments.insert(arguments.begin(), "serve");
  }
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 requires
  return arguments;
}

// Returns "; did you mean --port?", or nothing. Compares without hyphens: with them, a short word
// would be near too many.
auto SuggestedOption(const std::string& word, bool serves, const std::vector<Setting>& settings)
    -> std::string {
  const std::vector<std::string> before_serve{"version", "schema"};
  std::vector<std::string> names{"help"};
  for (const Setting& setting : settings) {
    if (setting.name.flag.compare(0, 2, "--") == 0) {
      names.push_back(setting.name.flag.substr(2));
    }
  }
  const std::size_t after_serve = names.size();
  names.insert(names.end(), before_serve.begin(), before_serve.end());
  const std::size_t hyphens = std::min(word.find_first_not_of('-'), word.size());
  const std::optional<std::string> name = NearestName(word.substr(hyphens), names);
  if (!name) {
    return "";
  }
  const auto at = static_cast<std::size_t>(
      std::distance(names.begin(), std::find(names.begin(), names.end(), *name)));
  const char* where = at >= after_serve    ? (serves ? "turtle " : "")
                      : at != 0 && !serves ? "serve "
                                           : "";
  return "; did you mean " + (where + ("--" + *name)) + "?";
}

// Describes an unknown argument. CLI11's own message varies by version and suggests nothing.
auto Unexpected(const std::string& word, bool serves, const std::vector<Setting>& settings)
    -> std::string {
  if (word.size() > 1 && word.front() == '-') {
    const std::string option = word.substr(0, word.find('='));
    return "'" + option + "' is not an option" + (serves ? "" : " without a command") +
           SuggestedOption(option, serves, settings);
  }
  if (serves) {
    return "'" + word + "' is one word too many";
  }
  return "'" + word + "' is not a command" +
         (NearestName(word, {"serve"}) ? "; did you mean serve?" : "");
}

// The environment overrides the file.
void HeedEnvironment(ServeOptions& options) {
  const char* const level = std::getenv("MIN_LOG_LEVEL");
  if (level != nullptr && ParseLogLevel(level)) {
    options.log.level.reset();
  }
}

// Combines log.path and log.base_name, another way to set log.file.
void NameLogFile(ServeOptions& options) {
  if (options.log_base_name.empty()) {
    return;
  }
  if (!options.log.writer.file.empty()) {
    throw CLI::ValidationError("--log-file", "'" + options.log.writer.file +
                                                 "' and log.base_name '" + options.log_base_name +
                                                 "' both name the file of the log");
  }
  options.log.writer.file = options.log_path + "/" + options.log_base_name + ".log";
}

// For -t: tries everything that is possible without starting.
void Check(CommandLine& line) {
  for (const auto& warnings : {ServeWarnings(line.serve), StartWarnings(line.serve)}) {
    for (const std::string& warning : warnings) {
      line.warnings += "turtle: " + line.file + ": warning: " + warning + "\n";
    }
  }
  line.action = CommandAction::kPrint;
  line.text = line.file + " can be served\n";
  const std::vector<std::string> faults = ServeFaults(line.serve);
  if (!faults.empty()) {
    line.action = CommandAction::kFail;
    line.text = line.warnings;
  }
  for (const std::string& fault : faults) {
    line.text += "turtle: " + line.file + ": " + fault + "\n";
  }
}

auto Schema() -> std::string {
  ServeOptions defaults = ConfigDefaults();
  return ConfigSchema(ServeSettings(defaults).All());
}

// Weakest first: each overwrites those before it. The flags wait until the whole line was read, for
// another reason too: the 80 of "--prot 80" would be a bad DIR before "--prot" is a bad option.
void ReadSettings(CommandLine& line) try {
  const SettingList settings = ServeSettings(line.serve);
  line.action = CommandAction::kServe;
  if (!line.file.empty()) {
    line.serve = ConfigDefaults();
    for (const std::string& fault : ReadConfigFile(line.file, settings.All())) {
      line.text += "turtle: " + fault + "\n";
      line.action = CommandAction::kFail;
    }
  }
  HeedEnvironment(line.serve);
  for (const GivenFlag& given : line.flags) {
    TakeFlag(given, settings.All());
  }
  if (line.action == CommandAction::kServe) {
    NameLogFile(line.serve);
  }
} catch (const CLI::ValidationError& error) {
  line.action = CommandAction::kFail;
  line.text = OneLine(error.what());
}

}  // namespace

auto ParseCommandLine(int argc, const char* const* argv) -> CommandLine {
  CommandLine result;
  result.serve.threads = std::max(1U, std::thread::hardware_concurrency());

  CLI::App app("A small web server that you can read.", "turtle");
  app.set_version_flag("--version", "turtle " TURTLE_VERSION);
  bool wants_schema = false;
  app.add_flag("--schema", wants_schema, "print the JSON Schema of a configuration");
  CLI::App& serve = *app.add_subcommand("serve", "Serve the files of a directory");
  AddFlags(serve, ServeSettings(result.serve).All(), result.flags);
  bool only_checks = false;
  serve.add_option("-f", result.file, "configuration; its defaults are port 4507 and 4 threads")
      ->type_name("FILE");
  serve.add_flag("-t", only_checks, "check the configuration, and no more");
  try {
    app.parse(ArgumentsOf(argc, argv));
    if (wants_schema) {
      result.action = CommandAction::kPrint;
      result.text = Schema();
      return result;
    }
    if (!serve.parsed()) {
      throw CLI::RequiredError("A command, such as serve,");
    }
    if (only_checks && result.file.empty()) {
      throw CLI::RequiredError("-f FILE, what -t is to check,");
    }
    ReadSettings(result);
    if (only_checks && result.action == CommandAction::kServe) {
      Check(result);
    }
  } catch (const CLI::CallForHelp&) {
    result.action = CommandAction::kPrint;
    // With several commands, print the help of the requested one.
    result.text = (serve.parsed() ? serve.help("turtle") : app.help()) + SignalsHelp() + kExitCodes;
  } catch (const CLI::CallForVersion& version) {
    result.action = CommandAction::kPrint;
    result.text = std::string(version.what()) + "\n";
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> words = app.remaining(true);
    result.text = OneLine(words.empty() ? error.what()
                                        : Unexpected(words.front(), serve.parsed(),
                                                     ServeSettings(result.serve).All()));
  } catch (const CLI::ParseError& error) {
    result.text = OneLine(error.what());
  }
  return result;
}

auto ReadAgain(const CommandLine& line) -> CommandLine {
  const MemoryReserve reserve;  // there are clients by now, and the parsers need memory to go on
  CommandLine result;
  result.file = line.file;
  result.flags = line.flags;
  ReadSettings(result);
  return result;
}

}  // namespace TURTLE_SERVER
