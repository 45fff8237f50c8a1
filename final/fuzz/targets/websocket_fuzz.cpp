// Frames of a client: whole, byte by byte, and in pieces. The first byte says how they are read,
// and how long the pieces are. The text of a message is checked again, slowly.
#include <algorithm>
#include <string>
#include <vector>

#include "targets/check.h"
#include "websocket/message_reader.h"

namespace {

using namespace TURTLE_SERVER;

constexpr std::size_t kMost = 4096;

// Everything that a reader reports, as one text.
auto Events(const ReaderRules& rules, std::string_view input, std::size_t step) -> std::string {
  MessageReader reader;
  reader.Begin(rules);
  std::string events;
  while (!input.empty()) {
    std::string_view piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    for (;;) {
      const ReadEvent event = reader.Next(piece);
      if (event == ReadEvent::kNeedInput) {
        fuzz::Same("input left", piece.size(), std::size_t{0});
        break;
      }
      events += std::to_string(static_cast<int>(event)) + ' ';
      if (event == ReadEvent::kMessage) {
        events += reader.Kind() == MessageKind::kText ? 't' : 'b';
        fuzz::Same("too long", reader.Bytes().size() > kMost, false);
      } else if (event == ReadEvent::kClose || event == ReadEvent::kFailed) {
        events += std::to_string(static_cast<int>(reader.Code()));
      }
      events.append(reader.Bytes()).append("\n");
      if (event == ReadEvent::kFailed) {
        return events;
      }
    }
  }
  return events;
}

}  // namespace

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  if (size == 0) {
    return 0;
  }
  ReaderRules rules;
  rules.max_message_bytes = kMost;
  rules.max_fragments = 8;
  rules.masked = (data[0] & 1) == 0;
  rules.inflates = (data[0] & 2) != 0;
  rules.keeps_context = (data[0] & 4) != 0;
  const std::string_view input = fuzz::TextOf(data + 1, size - 1);
  const std::string whole = Events(rules, input, std::max<std::size_t>(input.size(), 1));
  fuzz::Same("byte by byte", Events(rules, input, 1), whole);
  fuzz::Same("in pieces", Events(rules, input, 2 + data[0] / 8U), whole);
  return 0;
}
