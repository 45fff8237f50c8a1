#include "app/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "app/byte_size.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint64_t kMaxSeconds = 86400;  // a day
constexpr std::uint64_t kMaxRate = 1'000'000'000;
constexpr std::uint64_t kMaxSize = std::numeric_limits<std::size_t>::max();

// All values arrive as text and are checked here. CLI11's own conversion would take "0x50" for a
// port and "12.5" for a number of threads, and its messages don't contain the permitted values.
auto ParseNumber(const std::string& text) -> std::optional<std::uint64_t> {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return number;
}

[[noreturn]] void Refuse(const std::string& option, const std::string& value,
                         const std::string& wanted) {
  throw CLI::ValidationError(option, "'" + value + "' is not " + wanted);
}

auto IsDirectory(const std::string& path) -> bool {
  std::error_code ignored;  // a path that can't be checked is not a directory for us
  return std::filesystem::is_directory(path, ignored);
}

// Options of one command, with the checks for each kind of value. The checks run after
// the whole line is read: the 80 of "--prot 80" would be a bad DIR before "--prot" is a bad option.
class OptionSet {
 public:
  explicit OptionSet(CLI::App& app) : app_(app) {}

  void RunChecks() const {
    for (const std::function<void()>& check : checks_) {
      check();
    }
  }

  template <class Number>
  void Count(const std::string& name, Number& value, std::uint64_t lowest, std::uint64_t highest,
             const std::string& help) {
    Add(name, "N", std::to_string(value), help, [=, &value](const std::string& text) {
      const auto number = ParseNumber(text);
      if (!number || *number < lowest || *number > highest) {
        Refuse(name, text,
               "a number from " + std::to_string(lowest) + " to " + std::to_string(highest));
      }
      value = static_cast<Number>(*number);
    });
  }

  void Seconds(const std::string& name, std::chrono::seconds& value, std::uint64_t lowest,
               const std::string& help) {
    Add(name, "SECONDS", std::to_string(value.count()), help, [=, &value](const std::string& text) {
      const auto number = ParseNumber(text);
      if (!number || *number < lowest || *number > kMaxSeconds) {
        Refuse(name, text,
               "a number of seconds from " + std::to_string(lowest) + " to " +
                   std::to_string(kMaxSeconds));
      }
      value = std::chrono::seconds(*number);
    });
  }

  void Size(const std::string& name, std::uint64_t& value, const std::string& help) {
    Add(name, "SIZE", FormatByteSize(value), help, [=, &value](const std::string& text) {
      const auto size = ParseByteSize(text);
      if (!size || *size > kMaxSize) {
        Refuse(name, text, "a size such as 512, 64K, 16M or 1G");
      }
      value = *size;
    });
  }

  void Directory(const std::string& name, const std::string& kind, std::string& value,
                 const std::string& help) {
    Add(name, kind, value, help, [=, &value](const std::string& text) {
      if (!IsDirectory(text)) {
        Refuse(name, text, "an existing directory");
      }
      value = text;
    });
  }

  void Text(const std::string& name, const std::string& kind, std::string& value,
            const std::string& help) {
    Add(name, kind, value, help, [=, &value](const std::string& text) {
      if (text.empty()) {
        Refuse(name, text, "a name or an address");
      }
      value = text;
    });
  }

  void Check(const std::string& name, CacheCheck& value, const std::string& help) {
    Add(name, "HOW", "watch", help, [=, &value](const std::string& text) {
      if (text != "watch" && text != "always") {
        Refuse(name, text, "one of watch, always");
      }
      value = text == "watch" ? CacheCheck::kWatch : CacheCheck::kAlways;
    });
  }

 private:
  template <class Take>
  void Add(const std::string& name, const std::string& kind, const std::string& default_text,
           const std::string& help, Take take) {
    // CLI11 accepts each at most once: of two ports, which did you mean?
    CLI::Option* option = app_.add_option_function<std::string>(
        name,
        [this, take](const std::string& text) { checks_.push_back([take, text] { take(text); }); },
        help);
    option->type_name(kind);
    option->default_str(default_text);
  }

  CLI::App& app_;
  std::vector<std::function<void()>> checks_;
};

void AddServeOptions(OptionSet& set, ServeOptions& options) {
  set.Directory("DIR", "", options.directory, "the files to serve");
  set.Count("--port", options.port, 0, 65535, "port to listen on; 0: any free one");
  set.Text("--address", "ADDRESS", options.address,
           "address or host name to listen on (0.0.0.0 is all of IPv4, :: all of IPv6)");
  set.Count("--threads", options.threads, 1, kMaxThreads, "number of event loops, one thread each");
  set.Directory("--cgi-dir", "DIR", options.cgi_dir,
                "programs for /cgi-bin/; without it there are none");
  set.Seconds("--cgi-timeout", options.cgi_timeout, 1,
              "when a program that takes longer is killed");
  set.Size("--cache-size", options.cache_size, "memory for cached files; 0: no cache");
  set.Check("--cache-check", options.cache_check,
            "how changes are noticed: watch (the kernel tells) or always (look each time)");
  set.Size("--max-body", options.max_body, "longest request body that is accepted");
  set.Seconds("--head-timeout", options.head_timeout, 1,
              "how long the head of a request may take, from its first byte to its last");
  set.Seconds("--body-timeout", options.body_timeout, 1,
              "how long a body may come more slowly than --min-body-rate");
  set.Seconds("--write-timeout", options.write_timeout, 1,
              "how long a response may be read more slowly than --min-send-rate");
  set.Seconds("--idle-timeout", options.idle_timeout, 1,
              "how long a connection may wait for its next request");
  set.Count("--min-body-rate", options.min_body_rate, 0, kMaxRate,
            "bytes a second that a client must send of a body; 0: any");
  set.Count("--min-send-rate", options.min_send_rate, 0, kMaxRate,
            "bytes a second that a client must read of a response; 0: any");
  set.Seconds("--deferred-accept", options.deferred_accept, 0,
              "accept a client with its first byte, or after so long: faster for short "
              "connections, but till then silent clients are not seen; 0: at once");
  set.Seconds("--stop-timeout", options.stop_timeout, 1,
              "how long responses under way may take after SIGINT or SIGTERM");
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

}  // namespace

auto ParseCommandLine(int argc, const char* const* argv) -> CommandLine {
  CommandLine result;
  result.serve.threads = std::max(1U, std::thread::hardware_concurrency());

  CLI::App app("A small web server that you can read.", "turtle");
  app.set_version_flag("--version", "turtle " TURTLE_VERSION);
  CLI::App& serve = *app.add_subcommand("serve", "Serve the files of a directory");
  OptionSet set(serve);
  AddServeOptions(set, result.serve);
  try {
    app.parse(argc, argv);
    if (!serve.parsed()) {
      throw CLI::RequiredError("A command, such as serve,");
    }
    set.RunChecks();
    result.action = CommandAction::kServe;
  } catch (const CLI::CallForHelp&) {
    result.action = CommandAction::kPrint;
    // With several commands, print the help of the requested one.
    result.text = (serve.parsed() ? serve.help("turtle") : app.help()) + kExitCodes;
  } catch (const CLI::CallForVersion& version) {
    result.action = CommandAction::kPrint;
    result.text = std::string(version.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    result.text = OneLine(error.what());
  }
  return result;
}

}  // namespace TURTLE_SERVER
