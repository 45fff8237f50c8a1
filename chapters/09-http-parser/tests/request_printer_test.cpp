// The two examples of the chapter, from outside.
#include <gtest/gtest.h>

#include <string>

#include "support/child.h"

namespace TURTLE_SERVER {
namespace {

using test::Child;
using test::ExamplePath;

// Returns the output of request_printer for `input` when it reads `size` bytes at a time.
auto Printed(const std::string& input, const std::string& size, int expected_status = 0)
    -> std::string {
  Child printer(ExamplePath("request_printer"), {size});
  printer.Write(input);
  printer.CloseInput();
  std::string output = printer.ReadOutput();
  EXPECT_EQ(printer.Wait(), expected_status) << printer.ReadErrors();
  return output;
}

TEST(RequestPrinterTest, PiecesMakeNoDifference) {
  const std::string input =
      "POST /a%20b?c HTTP/1.1\r\nHost: d\r\nContent-Length: 5\r\n\r\nhello"
      "GET /second HTTP/1.0\r\n\r\n";
  const std::string whole = Printed(input, "4096");
  EXPECT_NE(whole.find("POST /a%20b?c HTTP/1.1\n  path       /a b\n  query      c\n"),
            std::string::npos)
      << whole;
  EXPECT_NE(whole.find("  body       5 bytes\n"), std::string::npos) << whole;
  EXPECT_NE(whole.find("GET /second HTTP/1.0\n"), std::string::npos) << whole;
  EXPECT_NE(Printed(input, "1").find("GET /second HTTP/1.0\n"), std::string::npos);
}

TEST(RequestPrinterTest, SaysWhatItRefuses) {
  EXPECT_EQ(Printed("GET / HTTP/1.1\r\n\r\n", "1", 1), "refused: 400 HTTP/1.1 without Host\n");
  EXPECT_EQ(Printed("GET / HT", "1", 1), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
