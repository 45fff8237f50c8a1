// Programs whose end the kernel doesn't report, as on macOS and the BSDs. On Linux a filter refuses
// pidfd_open(2) to this whole test program, as the sandbox of a container may.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "cgi/cgi_programs.h"
#include "support/cgi_server.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;

#ifdef __linux__
// @return false: this system has no such filters
auto RefusePidfds() -> bool {
#ifdef SYS_pidfd_open
  constexpr unsigned kNumber = SYS_pidfd_open;
#else
  constexpr unsigned kNumber = 434;
#endif
  std::array<sock_filter, 4> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the call is the first that it sees
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kNumber, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{code.size(), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
auto RefusePidfds() -> bool { return true; }
#endif

// A program that ends its output, and continues as the test says.
class CgiNoExitFdTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { refused = RefusePidfds(); }  // for later threads, too

  void SetUp() override {
    if (!refused) {
      GTEST_SKIP() << "this kernel can't refuse a system call";
    }
  }

  // Starts a program that prints "half", closes its output, waits for Continue(), and does `rest`.
  // When this returns, the server has seen the end of the output.
  void Begin(const std::string& rest) {
    programs_.Program("program", std::string(test::LifeLine::kHold) +
                                     "printf 'Content-Type: text/plain\\n\\nhalf'\n"
                                     "exec >/dev/null; echo >&9; read go < .go\n" +
                                     rest);
    ASSERT_EQ(::mkfifo(programs_.Path(".go").c_str(), 0600), 0);
    go_.Reset(::open(programs_.Path(".go").c_str(), O_RDWR | O_CLOEXEC));
    server_.emplace(programs_);
    client_.emplace(server_->Port());
    ASSERT_TRUE(client_->Send(Get("/cgi-bin/program")));
    ASSERT_TRUE(life_line_.AwaitStart());
    ASSERT_TRUE(life_line_.AwaitStart());  // the second line comes after the output's end
    server_->Loop().RunRounds(5);          // header and "half", then the end
  }

  // Lets the program run to its end. Afterwards it can be reaped, unless the server has done so.
  void Continue() {
    ASSERT_EQ(::write(go_.Get(), "go\n", 3), 3);
    ASSERT_TRUE(life_line_.AwaitEnd());  // its files are closed; now it can only end
    siginfo_t info{};
    while (::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
  }

  test::ProgramFolder programs_;
  test::LifeLine life_line_{programs_};
  UniqueFd go_;
  std::optional<test::CgiServer> server_;
  std::optional<HttpClient> client_;

 private:
  static inline bool refused = false;
};

TEST_F(CgiNoExitFdTest, ACrashAfterTheOutputIsNotASuccess) {
  Begin("kill -SEGV $$\n");
  Continue();
  server_->Advance(CgiPrograms::kPollTime);
  const HttpReply reply = client_->ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "half");
  EXPECT_FALSE(reply.complete) << "the client takes the half for the whole";
}

TEST_F(CgiNoExitFdTest, AnExitEndsTheResponseBeforeTheGraceIsOver) {
  Begin("exit 3\n");
  for (int polls = 0; polls < 5; ++polls) {
    server_->Advance(CgiPrograms::kPollTime);
  }
  Continue();
  server_->Advance(CgiPrograms::kPollTime);
  const HttpReply reply = client_->ReadReply();
  EXPECT_EQ(reply.body, "half");
  EXPECT_TRUE(reply.complete);
}

TEST_F(CgiNoExitFdTest, AProgramThatStaysGetsItsGrace) {
  Begin("echo >&9\n");
  server_->Advance(CgiPrograms::kExitGrace);
  EXPECT_TRUE(client_->ReadReply().complete);
  Continue();
  EXPECT_TRUE(life_line_.HasStarted()) << "it was killed";
}

TEST_F(CgiNoExitFdTest, WhenTheClientGoesNobodyAsksAnyMore) {
  Begin("exec sleep 1000\n");
  client_->Reset();
  EXPECT_TRUE(life_line_.AwaitEnd());
  server_->Advance(CgiPrograms::kPollTime);
  EXPECT_EQ(HttpClient(server_->Port()).Ask(Get("/next")).body, "GET /next");
}

}  // namespace
}  // namespace TURTLE_SERVER
