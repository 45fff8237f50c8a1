// The example programs, run the way the server runs them: environment, process, pipes, header.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cgi/cgi.h"
#include "cgi/cgi_environment.h"
#include "http/cgi_header.h"
#include "process/child_process.h"
#include "process/pipe_io.h"
#include "support/child.h"
#include "support/clocked_server.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

auto Environment(std::string_view body) -> CgiEnvironment {
  CgiRequestInfo info;
  info.method = "POST";
  info.script_name = "/cgi-bin/program";
  info.path_info = "/some/path";
  info.query_string = "a=b";
  info.remote_addr = "192.0.2.7";
  info.content_length = body.size();
  info.headers = {{"User-Agent", "test"}, {"Proxy", "http://evil.example"}};
  return CgiEnvironment::Build(info, InheritVariables({})).value();
}

auto RunProgram(const std::string& program, std::vector<std::string> arguments,
                std::string_view body = "") -> std::string {
  const CgiEnvironment environment = Environment(body);
  const UniqueFd directory(
      open(test::ExamplePath("cgi-bin").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Pipe input;
  Pipe output;
  EXPECT_EQ(OpenPipe(PipeMode::kNonBlockingWrite, input), 0);
  EXPECT_EQ(OpenPipe(PipeMode::kNonBlockingRead, output), 0);
  ChildOptions options;
  options.directory_fd = directory.Get();
  options.program = program;
  options.arguments = std::move(arguments);
  options.envp = environment.Envp();
  options.stdin_fd = input.read_end.Get();
  options.stdout_fd = output.write_end.Get();
  ChildProcess child;
  const SpawnResult started = child.Start(options);
  EXPECT_TRUE(started) << program << ": " << started.ToString();
  input.read_end.Reset();
  output.write_end.Reset();
  // The pipe stays open after the body's last byte: a program must not wait for end-of-file.
  EXPECT_EQ(WritePipe(input.write_end.Get(), body).bytes, body.size());

  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    std::array<char, 4096> piece;
    const IoResult result = ReadPipe(output.read_end.Get(), piece.data(), piece.size());
    if (result.status == IoStatus::kBytes) {
      text.append(piece.data(), result.bytes);
    } else if (result.status == IoStatus::kWouldBlock) {
      pollfd waiting{output.read_end.Get(), POLLIN, 0};
      poll(&waiting, 1, 1000);
    } else {
      return text;
    }
  }
  ADD_FAILURE() << program << " does not end";
  return text;
}

// Returns the body of an output that must begin with a header block.
auto BodyOf(const std::string& output, CgiHeader& header) -> std::string {
  const CgiHeaderResult result = CgiHeaderParser().Parse(output, header);
  EXPECT_EQ(result.state, CgiHeaderState::kDone) << result.reason << "\n" << output;
  return output.substr(result.head_bytes);
}

TEST(CgiProgramsTest, AddAnswersInTheShortForm) {
  EXPECT_EQ(RunProgram("add", {"1", "2"}), "1 + 2 = 3\n");
  EXPECT_EQ(RunProgram("add", {"-5", "-6"}), "-5 + -6 = -11\n");
  CgiHeader header;
  EXPECT_EQ(CgiHeaderParser().Parse("1 + 2 = 3\n", header).state, CgiHeaderState::kBad);
}

TEST(CgiProgramsTest, AddRefusesWithAStatus) {
  const std::vector<std::vector<std::string>> mistakes = {
      {}, {"1"}, {"1", "2", "3"}, {"1", "x"}, {"1", ""}, {"1", "9223372036854775807"}};
  for (const std::vector<std::string>& arguments : mistakes) {
    CgiHeader header;
    EXPECT_NE(BodyOf(RunProgram("add", arguments), header), "");
    EXPECT_EQ(header.status, 400);
    EXPECT_EQ(header.content_type, "text/plain");
  }
}

TEST(CgiProgramsTest, EnvironmentShowsWhatItWasGivenAndNothingElse) {
  CgiHeader header;
  const std::string shown = BodyOf(RunProgram("environment", {}, ""), header);
  std::vector<std::string> expected = Environment("").Entries();
  std::sort(expected.begin(), expected.end());
  std::string lines;
  for (const std::string& entry : expected) {
    lines += entry + "\n";
  }
  EXPECT_EQ(shown, lines);
}

// Of the server's own environment, a program sees only PATH, TZ and LANG (SECURITY.md).
class CgiInheritedTest : public testing::Test {
 protected:
  CgiInheritedTest() {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const char* const value = std::getenv(kNames[i]);
      saved_[i] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      ::unsetenv(kNames[i]);
    }
  }
  ~CgiInheritedTest() override {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (saved_[i]) {
        ::setenv(kNames[i], saved_[i]->c_str(), 1);
      } else {
        ::unsetenv(kNames[i]);
      }
    }
  }

  // Compares the lines that `environment` prints, in order, with the expected ones.
  static void Compare(const std::vector<std::string>& inherited) {
    CgiOptions options;
    options.directory = test::ExamplePath("cgi-bin");
    test::ClockedServer server([&](Looper& looper, LoopHttp& http) {
      http.Mount("/cgi-bin", std::make_unique<Cgi>(looper, options));
    });
    test::HttpClient client(server.Port());
    const std::string port = std::to_string(server.Port());
    std::vector<std::string> expected = {"GATEWAY_INTERFACE=CGI/1.1",
                                         "HTTP_HOST=t",
                                         "QUERY_STRING=",
                                         "REMOTE_ADDR=127.0.0.1",
                                         "REMOTE_HOST=127.0.0.1",
                                         "REQUEST_METHOD=GET",
                                         "SERVER_NAME=t",
                                         "SERVER_PORT=" + port,
                                         "SERVER_PROTOCOL=HTTP/1.1",
                                         "SERVER_SOFTWARE=turtle",
                                         "SCRIPT_NAME=/cgi-bin/environment"};
    expected.insert(expected.end(), inherited.begin(), inherited.end());
    std::sort(expected.begin(), expected.end());
    std::string lines;
    for (const std::string& entry : expected) {
      lines += entry + "\n";
    }
    EXPECT_EQ(client.Ask("GET /cgi-bin/environment HTTP/1.1\r\nHost: t\r\n\r\n").body, lines);
  }

 private:
  static constexpr std::array<const char*, 8> kNames = {
      "PATH", "TZ", "LANG", "LC_ALL", "HOME", "LISTEN_FDS", "TURTLE_READY_FD", "HTTP_PROXY"};
  std::array<std::optional<std::string>, kNames.size()> saved_;
};

TEST_F(CgiInheritedTest, ThreeVariablesAndNoOther) {
  for (const char* name : {"LC_ALL", "HOME", "LISTEN_FDS", "TURTLE_READY_FD", "HTTP_PROXY"}) {
    ::setenv(name, "hidden", 1);
  }
  ::setenv("PATH", "/bin:/usr/bin", 1);
  ::setenv("TZ", "UTC0", 1);
  ::setenv("LANG", "C", 1);
  Compare({"PATH=/bin:/usr/bin", "TZ=UTC0", "LANG=C"});
}

TEST_F(CgiInheritedTest, WithoutThemOnlyAPath) { Compare({"PATH=/usr/local/bin:/usr/bin:/bin"}); }

TEST(CgiProgramsTest, UpperReadsAsMuchAsTheLengthSays) {
  const std::string body(20000, 'x');  // more than it reads at once
  CgiHeader header;
  EXPECT_EQ(BodyOf(RunProgram("upper", {}, body), header), std::string(20000, 'X'));
  EXPECT_EQ(header.content_length, 20000U);
  CgiHeader empty;
  EXPECT_EQ(BodyOf(RunProgram("upper", {}, ""), empty), "");
}

TEST(CgiProgramsTest, HelloIsAShellScript) {
  CgiHeader header;
  const std::string body = BodyOf(RunProgram("hello.sh", {}), header);
  EXPECT_EQ(body.rfind("Hello, 192.0.2.7! I am process ", 0), 0U) << body;
}

}  // namespace
}  // namespace TURTLE_SERVER
