#include "tls/tls_wire.h"

#include <openssl/bio.h>

#include <new>
#include <utility>

namespace TURTLE_SERVER {

namespace {

auto WireOf(BIO* bio) noexcept -> TlsWire& { return *static_cast<TlsWire*>(BIO_get_data(bio)); }

// Without the mark, OpenSSL would take the missing bytes for the end of the stream.
auto ReadBio(BIO* bio, char* into, std::size_t most, std::size_t* read) noexcept -> int {
  *read = WireOf(bio).Read(into, most);
  BIO_clear_retry_flags(bio);
  if (*read == 0) {
    BIO_set_retry_read(bio);
  }
  return *read == 0 ? 0 : 1;
}

auto WriteBio(BIO* bio, const char* bytes, std::size_t count, std::size_t* written) noexcept
    -> int {
  BIO_clear_retry_flags(bio);
  const bool taken = WireOf(bio).Write({bytes, count});
  *written = taken ? count : 0;
  return taken ? 1 : 0;
}

auto ControlBio(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) noexcept  // NOLINT
    -> long {                                                                            // NOLINT
  return command == BIO_CTRL_FLUSH ? 1 : 0;  // nothing is held back
}

// Made once, and kept to the end of the process: sessions refer to it. Throws std::bad_alloc, and
// the next session tries again.
auto MakeMethod() -> BIO_METHOD* {
  BIO_METHOD* const method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "wire");
  if (method == nullptr) {
    throw std::bad_alloc();
  }
  BIO_meth_set_read_ex(method, ReadBio);
  BIO_meth_set_write_ex(method, WriteBio);
  BIO_meth_set_ctrl(method, ControlBio);
  return method;
}

}  // namespace

void TlsWire::Connect(SSL& session) {
  static const BIO_METHOD* const method = MakeMethod();
  BIO* const bio = BIO_new(method);
  if (bio == nullptr) {
    throw std::bad_alloc();
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(&session, bio, bio);  // which owns it from now on
}

void TlsWire::Begin(std::string_view input, OutQueue& output) noexcept {
  input_ = input;
  output_ = &output;
}

void TlsWire::End() {
  input_ = {};
  output_ = nullptr;
  if (failure_) {
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

auto TlsWire::Read(char* into, std::size_t most) noexcept -> std::size_t {
  const std::size_t count = input_.copy(into, most);
  input_.remove_prefix(count);
  return count;
}

auto TlsWire::Write(std::string_view bytes) noexcept -> bool {
  try {
    if (output_ == nullptr || failure_) {
      return false;
    }
    output_->Append(bytes);
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

}  // namespace TURTLE_SERVER
