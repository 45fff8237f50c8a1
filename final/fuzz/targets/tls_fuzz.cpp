// A session of TLS whose client's bytes are cut, changed, lost and made up: the channel opens only
// what the client has sealed, in order, and the client reads only what the server has sealed.
// Without any of that, each session is complete. targets/tls_play.h says what an input means.
#include "targets/check.h"
#include "targets/tls_play.h"
#include "targets/tls_random.h"
#include "targets/tls_shared.h"

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  fuzz::TlsShared::Get();
  fuzz::TlsRandom::Begin();
  fuzz::TlsPlay(fuzz::TextOf(data, size)).Run();
  return 0;
}
