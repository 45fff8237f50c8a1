// Shows the environment of a CGI program: GET /cgi-bin/environment/some/path?a=b
#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

extern char** environ;

int main() {
  std::vector<std::string_view> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    variables.emplace_back(*entry);
  }
  std::sort(variables.begin(), variables.end());

  // text/plain: the values come from the client, and as HTML they could carry a script.
  std::cout << "Content-Type: text/plain; charset=utf-8\r\n\r\n";
  for (const std::string_view variable : variables) {
    std::cout << variable << '\n';
  }
  return std::cout.flush() ? 0 : 1;
}
