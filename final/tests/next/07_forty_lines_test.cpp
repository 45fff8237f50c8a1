// Two servers that do different things should share little but the library.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "support/child.h"

namespace TURTLE_SERVER {
namespace {

namespace fs = std::filesystem;

// Returns a source of this chapter's examples. The name of this test's file may be relative to the
// build directory, which contains the examples, or to the one below it, in which the compiler ran.
auto ExampleSource(const std::string& name) -> fs::path {
  const fs::path build = fs::path(test::ExamplePath(name)).parent_path().parent_path();
  for (const fs::path& folder : {build, build / "objects"}) {
    const fs::path next = (folder / __FILE__).parent_path();
    const fs::path source = next / ".." / ".." / "examples" / (name + ".cpp");
    if (fs::exists(source)) {
      return source;
    }
  }
  return {};
}

// Returns its lines of code, without comments, using-declarations and ends of blocks.
auto Code(const fs::path& path) -> std::multiset<std::string> {
  std::multiset<std::string> code;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    line.erase(0, line.find_first_not_of(' '));
    const bool counts = line.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos &&
                        line.rfind("//", 0) != 0 && line.rfind('}', 0) != 0 &&
                        line.rfind("#include", 0) != 0 && line.rfind("using ", 0) != 0 &&
                        line.rfind("namespace ", 0) != 0;
    if (counts) {
      code.insert(line);
    }
  }
  return code;
}

TEST(FortyLines, AreNotWrittenAgainInEveryServer) {
  const std::multiset<std::string> echo = Code(ExampleSource("echo_server"));
  const std::multiset<std::string> chat = Code(ExampleSource("chat_server"));
  ASSERT_GT(echo.size(), 10U);
  ASSERT_GT(chat.size(), 10U);
  std::string both;
  int count = 0;
  for (const std::string& line : std::set<std::string>(echo.begin(), echo.end())) {
    if (chat.count(line) != 0) {
      ++count;
      both += "  " + line + "\n";
    }
  }
  EXPECT_LT(count, 20) << "lines of echo_server are in chat_server too:\n" << both;
}

}  // namespace
}  // namespace TURTLE_SERVER
