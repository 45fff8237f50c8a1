#include "bench/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "app/byte_size.h"
#include "base/ascii.h"
#include "core/connection.h"
#include "core/read_scratch.h"
#include "websocket/frame.h"
#include "websocket/masking.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::uint64_t kMaxConnections = 1'000'000;
constexpr std::uint64_t kMaxThreads = 1024;
constexpr double kMaxSeconds = 86400;  // a day
constexpr double kMaxRate = 1e9;
constexpr std::uint64_t kMaxMessage = std::uint64_t{128} << 10;
constexpr std::uint64_t kMaxReadSize = std::uint64_t{16} << 20;
// 64 bytes that form a response when they come back.
constexpr const char* kEchoed =
    "HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\nabcdefghijklmnopqrstuvwxy";

// The command line as it was written. CLI11's own conversion would take "0x50" for a number, and
// its messages don't contain the permitted values.
struct Words {
  std::string url;
  std::string connections = "64";
  std::string time = "5";
  std::string threads = "1";
  std::string pipeline;
  std::string rate;
  std::string read_size;
  std::string websocket;
  std::string timeout = "10";
  std::string json;
  std::string body;
  std::string ca;
  std::vector<std::string> fields;
  bool close = false;
  bool keep_alive = false;
  bool idle = false;
  bool http10 = false;
  bool http11 = false;
  bool get = false;
  bool head = false;
  bool any_body = false;
  bool echo = false;
  bool quiet = false;
  bool insecure = false;
  bool no_resume = false;
};

[[noreturn]] void Refuse(const std::string& option, const std::string& value,
                         const std::string& wanted) {
  throw CLI::ValidationError(option, "'" + value + "' is not " + wanted);
}

auto ParseCount(const std::string& option, const std::string& text, std::uint64_t highest)
    -> std::uint64_t {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number == 0 || number > highest) {
    Refuse(option, text, "a number from 1 to " + std::to_string(highest));
  }
  return number;
}

// "5", "0.25": digits with at most one point among them, above 0. No sign, no exponent, no "inf".
auto ParseDecimal(const std::string& text) -> std::optional<double> {
  const bool sound =
      !text.empty() && ascii::IsDigit(text.front()) && ascii::IsDigit(text.back()) &&
      std::count(text.begin(), text.end(), '.') < 2 &&
      std::all_of(text.begin(), text.end(), [](char c) { return ascii::IsDigit(c) || c == '.'; });
  if (!sound) {
    return std::nullopt;
  }
  double number = 0;
  double place = 0;  // of the next digit after the point
  for (const char c : text) {
    if (c == '.') {
      place = 0.1;
    } else if (place == 0) {
      number = number * 10 + (c - '0');
    } else {
      number += (c - '0') * place;
      place /= 10;
    }
  }
  return number;
}

auto ParseSeconds(const std::string& option, const std::string& text) -> std::chrono::milliseconds {
  const std::optional<double> seconds = ParseDecimal(text);
  if (!seconds || *seconds < 0.001 || *seconds > kMaxSeconds) {
    Refuse(option, text, "a number of seconds from 0.001 to 86400");
  }
  return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

auto ParseReadSize(const std::string& text) -> std::size_t {
  const std::optional<std::uint64_t> size = ParseByteSize(text);
  if (!size || *size == 0 || *size > kMaxReadSize) {
    Refuse("--read-size", text, "a size from 1 to 16M, such as 8K");
  }
  return *size == ReadScratch::kSize ? 0 : static_cast<std::size_t>(*size);
}

void CheckField(const std::string& field) {
  const std::size_t colon = field.find(':');
  const std::string_view name = std::string_view(field).substr(0, colon);
  const bool sound = colon != std::string::npos && !name.empty() &&
                     std::all_of(name.begin(), name.end(), ascii::IsToken) &&
                     std::none_of(field.begin(), field.end(), ascii::IsControl);
  if (!sound) {
    Refuse("-H", field, "a field such as 'Accept: text/html'");
  }
  for (const std::string_view ours : {"connection", "content-length", "transfer-encoding"}) {
    if (ascii::EqualIgnoreCase(name, ours)) {
      Refuse("-H", field, "for you to say: the mode decides it");
    }
  }
}

void TakeMode(const Words& words, BenchOptions& options) {
  const bool pipelines = !words.pipeline.empty();
  if (words.close + words.keep_alive + words.idle + pipelines > 1) {
    throw CLI::ValidationError("--close, --keep-alive, --pipeline, --idle", "take one of them");
  }
  if (words.get + words.head + !words.body.empty() > 1) {
    throw CLI::ValidationError("--get, --head, --post", "take one of them");
  }
  if (words.http10 && words.http11) {
    throw CLI::ValidationError("-1, -2", "take one of them");
  }
  if (words.close) {
    options.mode = LoadMode::kClose;
  } else if (words.idle) {
    options.mode = LoadMode::kIdle;
  } else if (pipelines) {
    options.mode = LoadMode::kPipeline;
    constexpr std::uint64_t kMaxDepth = 10'000;
    options.depth = static_cast<std::uint32_t>(ParseCount("--pipeline", words.pipeline, kMaxDepth));
  }
  options.minor_version = words.http10 ? 0 : 1;
  options.to_head = words.head;
  options.body = words.body;
}

// The request to an echo server. It comes back as a response, and is read like any other.
void TakeEcho(const Words& words, BenchOptions& options) {
  if (words.echo && (words.close || words.get || words.head || words.http10 || words.http11 ||
                     !words.body.empty() || !words.fields.empty())) {
    throw CLI::ValidationError("--echo",
                               "goes with none of --close, --get, --head, --post, -1, -2, -H");
  }
  options.echo = words.echo;
}

void TakeWebSocket(const Words& words, BenchOptions& options) {
  if (words.websocket.empty()) {
    return;
  }
  if (words.close || words.get || words.head || words.http10 || words.http11 || words.echo ||
      !words.body.empty()) {
    throw CLI::ValidationError("--websocket",
                               "goes with none of --close, --get, --head, --post, -1, -2, --echo");
  }
  const std::optional<std::uint64_t> size = ParseByteSize(words.websocket);
  if (!size || *size == 0 || *size > kMaxMessage) {
    Refuse("--websocket", words.websocket, "a size from 1 to 128K");
  }
  options.websocket = static_cast<std::size_t>(*size);
}

void TakeRate(const Words& words, BenchOptions& options) {
  if (words.rate.empty()) {
    return;
  }
  const std::optional<double> rate = ParseDecimal(words.rate);
  if (!rate || *rate <= 0 || *rate > kMaxRate) {
    Refuse("--rate", words.rate, "a number of requests per second above 0");
  }
  if (options.mode == LoadMode::kPipeline || options.mode == LoadMode::kIdle) {
    throw CLI::ValidationError("--rate", std::string("does not go with --") + NameOf(options.mode));
  }
  options.rate = *rate;
}

void TakeTls(const Words& words, BenchOptions& options) {
  if (!options.url.secure && (!words.ca.empty() || words.insecure || words.no_resume)) {
    throw CLI::ValidationError("--ca, --insecure, --no-resume", "need an https URL");
  }
  if (words.insecure && !words.ca.empty()) {
    throw CLI::ValidationError("--ca, --insecure", "take one of them");
  }
  if (options.url.secure && options.read_size != 0) {
    throw CLI::ValidationError("--read-size", "does not go with https, whose records have a size");
  }
  options.ca = words.ca;
  options.verify = !words.insecure;
  options.resume = !words.no_resume;
}

auto TakeWords(const Words& words) -> BenchOptions {
  BenchOptions options;
  try {
    options.url = ParseUrl(words.url);
  } catch (const std::invalid_argument& error) {
    throw CLI::ValidationError("URL", "'" + words.url + "': " + error.what());
  }
  options.url_text = words.url;
  options.connections =
      static_cast<std::size_t>(ParseCount("-c", words.connections, kMaxConnections));
  options.time = ParseSeconds("-t", words.time);
  options.threads = static_cast<std::size_t>(ParseCount("--threads", words.threads, kMaxThreads));
  if (options.threads > options.connections) {
    Refuse("--threads", words.threads, "at most the number of connections");
  }
  TakeMode(words, options);
  TakeEcho(words, options);
  TakeWebSocket(words, options);
  TakeRate(words, options);
  std::for_each(words.fields.begin(), words.fields.end(), CheckField);
  options.fields = words.fields;
  if (!words.read_size.empty()) {
    options.read_size = ParseReadSize(words.read_size);
  }
  TakeTls(words, options);
  options.timeout = ParseSeconds("--timeout", words.timeout);
  options.any_body = words.any_body;
  options.quiet = words.quiet;
  options.json = words.json;
  // Beyond that a connection stops reading until its output has been sent, and so may the server
  // until its responses are.
  if (RequestText(options).size() * options.depth > Connection::kHighWater) {
    const std::string most = " more than " + FormatByteSize(Connection::kHighWater);
    if (words.pipeline.empty()) {
      throw CLI::ValidationError("--post", "with its head the text is" + most);
    }
    throw CLI::ValidationError("--pipeline", "'" + words.pipeline + "' such requests are" + most);
  }
  return options;
}

void Describe(CLI::App& app, Words& words) {
  const auto option = [&app](const std::string& name, std::string& word, const std::string& kind,
                             const std::string& help) {
    app.add_option(name, word, help)->type_name(kind)->default_str(word);
  };
  app.add_option("URL", words.url, "what to ask for: http://HOST[:PORT][/PATH], or https")
      ->required()
      ->type_name("");
  option("-c,--clients", words.connections, "N", "connections");
  option("-t,--time", words.time, "SECONDS", "how long");
  option("--threads", words.threads, "N", "threads, which share the connections out");
  app.add_flag("--keep-alive", words.keep_alive,
               "one request after the other on each connection (default)");
  app.add_flag("--close", words.close, "a connection for each request");
  option("--pipeline", words.pipeline, "N", "N requests at once, then their responses");
  app.add_flag("--idle", words.idle,
               "one request on each connection; print READY, hold them until stdin ends");
  option("--rate", words.rate, "R",
         "R requests per second in all, latency counted from when each was due");
  app.add_flag("-1,--http10", words.http10, "HTTP/1.0");
  app.add_flag("-2,--http11", words.http11, "HTTP/1.1 (default)");
  app.add_flag("--get", words.get, "GET (default)");
  app.add_flag("--head", words.head, "HEAD");
  app.add_option("--post", words.body, "POST, with this text as its body")->type_name("TEXT");
  app.add_option("-H,--header", words.fields, "one more field, 'Name: value'; may be repeated")
      ->type_name("FIELD")
      ->allow_extra_args(false);
  app.add_option("--ca", words.ca, "https: file of trusted roots, in PEM (default: the system's)")
      ->type_name("FILE");
  app.add_flag("--insecure", words.insecure, "https: accept any certificate");
  app.add_flag("--no-resume", words.no_resume,
               "https: a full handshake for each connection; else sessions are resumed");
  app.add_flag("--echo", words.echo, "for an echo server: 64 bytes, which have to come back");
  option("--websocket", words.websocket, "BYTES",
         "messages of BYTES over WebSocket, which have to come back");
  option("--timeout", words.timeout, "SECONDS",
         "for a connection to be made, for TLS, and for a response");
  option("--read-size", words.read_size, "BYTES", "how much a connection takes at once, 64K");
  app.add_flag("--any-body", words.any_body,
               "responses may differ; else each is compared with the first");
  option("--json", words.json, "FILE", "write the results as JSON; -: to standard output");
  app.add_flag("--quiet", words.quiet, "no line each second on standard error");
}

// A fixed key will do: there is no cache on the way that anybody could poison.
auto MessageOf(std::size_t size) -> std::string {
  FrameHead head;
  head.opcode = Opcode::kBinary;
  head.masked = true;
  head.length = size;
  head.key = {0x37, 0xfa, 0x21, 0x3d};
  std::string frame(kMaxFrameHead, '\0');
  frame.resize(WriteFrameHead(head, frame.data()));
  const std::size_t begin = frame.size();
  frame.resize(begin + size);
  Mask(head.key, 0, frame.data() + begin, frame.data() + begin, size);
  return frame;
}

auto OneLine(std::string text) -> std::string {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return "turtle-bench: " + text + " (turtle-bench --help tells more)\n";
}

}  // namespace

auto ParseBenchCommandLine(int argc, const char* const* argv) -> BenchCommandLine {
  BenchCommandLine result;
  CLI::App app("Puts a web server under load and says how it did.", "turtle-bench");
  app.set_version_flag("--version", "turtle-bench " TURTLE_VERSION);
  Words words;
  Describe(app, words);
  try {
    app.parse(argc, argv);
    result.options = TakeWords(words);
    result.action = BenchAction::kRun;
  } catch (const CLI::CallForHelp&) {
    result.action = BenchAction::kPrint;
    result.text = app.help();
  } catch (const CLI::CallForVersion& version) {
    result.action = BenchAction::kPrint;
    result.text = std::string(version.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    result.text = OneLine(error.what());
  }
  return result;
}

auto HandshakeText(const BenchOptions& options) -> std::string {
  BenchOptions upgrade = options;
  upgrade.websocket.reset();
  upgrade.fields.insert(upgrade.fields.end(),
                        {"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="});
  return RequestText(upgrade);
}

auto RequestText(const BenchOptions& options) -> std::string {
  if (options.websocket) {
    return MessageOf(*options.websocket);
  }
  if (options.echo) {
    return kEchoed;
  }
  std::string text = options.to_head ? "HEAD " : options.body.empty() ? "GET " : "POST ";
  text += options.url.target + " HTTP/1." + std::to_string(options.minor_version) + "\r\n";
  const bool has_host =
      std::any_of(options.fields.begin(), options.fields.end(), [](const std::string& field) {
        return ascii::EqualIgnoreCase(std::string_view(field).substr(0, field.find(':')), "host");
      });
  if (!has_host) {
    text += "Host: " + options.url.authority + "\r\n";
  }
  if (options.mode == LoadMode::kClose) {
    text += "Connection: close\r\n";
  } else if (options.minor_version == 0) {
    text += "Connection: keep-alive\r\n";
  }
  for (const std::string& field : options.fields) {
    text += field + "\r\n";
  }
  if (!options.body.empty()) {
    text += "Content-Length: " + std::to_string(options.body.size()) + "\r\n";
  }
  return text + "\r\n" + options.body;
}

}  // namespace TURTLE_SERVER
