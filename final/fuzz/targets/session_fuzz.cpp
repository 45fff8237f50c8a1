// A whole session on a loop: the client gets valid HTTP, however its requests arrive, whatever the
// clock does, and whenever it reads. The cuts between its pieces make no difference to the
// responses. targets/session_play.h says what an input means.
#include <algorithm>
#include <string>

#include "reference/replies.h"
#include "reference/text.h"
#include "targets/check.h"
#include "targets/session_play.h"

namespace TURTLE_SERVER::fuzz {
namespace {

auto Holds(std::string_view text, std::string_view part) -> bool {
  return text.find(part) != std::string_view::npos;
}

// Returns the script without its rounds and pauses: all at once, up to the FIN.
auto Uncut(std::string_view script) -> std::string {
  std::string bytes;
  for (const char c : script.substr(0, script.find('\5'))) {
    if (c < '\1' || c > '\7') {
      bytes += c;
    }
  }
  return bytes;
}

auto Describe(const reference::Reply& reply) -> std::string {
  return std::to_string(reply.status) + " " + reply.body;
}

// A fault in a head without its end may be noticed only in one piece; its response is the last.
void Compare(const reference::Replies& cut, const reference::Replies& whole) {
  for (std::size_t i = 0; i < std::min(cut.all.size(), whole.all.size()); ++i) {
    Same("reply, cut and whole", Describe(cut.all[i]), Describe(whole.all[i]));
  }
  const bool is_late = whole.all.size() == cut.all.size() + 1 && whole.all.back().status >= 400;
  if (cut.all.size() != whole.all.size() && !is_late) {
    Fail(std::to_string(cut.all.size()) + " replies when cut, " + std::to_string(whole.all.size()) +
         " when whole");
  }
}

auto Play(std::string_view script) -> reference::Replies {
  const std::string received = SessionPlay(script).Run();
  reference::Replies replies = reference::ReadReplies(received, Holds(Uncut(script), "HEAD"));
  if (!replies.fault.empty()) {
    Fail(replies.fault + "\nin: " + received);
  }
  return replies;
}

}  // namespace
}  // namespace TURTLE_SERVER::fuzz

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  const std::string_view script = fuzz::TextOf(data, size);
  const std::string bytes = fuzz::Uncut(script);  // a round may have begun in the middle of a word
  // An echoed body may look like a response where the one to HEAD has none.
  if (fuzz::Holds(bytes, "HEAD") && fuzz::Holds(bytes, "/echo")) {
    return 0;
  }
  const reference::Replies cut = fuzz::Play(script);
  // With these bytes, the time at which input arrives matters.
  const std::string lower = reference::Lower(bytes);
  for (const char* part : {"expect", "/echo", "/cut"}) {
    if (fuzz::Holds(lower, part)) {
      return 0;
    }
  }
  if (script.find_first_of("\3\4\6") != std::string_view::npos) {
    return 0;
  }
  if (!cut.all.empty() && !cut.all.back().is_complete) {
    fuzz::Fail("a response breaks off");
  }
  fuzz::Compare(cut, fuzz::Play(bytes));
  return 0;
}
