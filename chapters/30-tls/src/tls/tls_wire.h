// A session's way to the wire: what OpenSSL calls a BIO, on the bytes of a Channel.
//
// OpenSSL wants to read from a socket and write to it. A Channel has no socket: its connection
// gives it bytes that have arrived, and takes bytes that are to be sent. So the session gets a BIO
// that reads from the first and appends to the second, without a copy in between.
//
// Interface:
//  * The BIO of Connect() belongs to the session.
//  * Begin() sets what the next calls of OpenSSL read and write; End() says how that went.
//
// Thread: the loop's.
// Source: BIO_meth_new(3), BIO_set_retry_read(3)
#pragma once

#include <cstddef>
#include <exception>
#include <string_view>

#include "core/out_queue.h"
#include "tls/openssl.h"

namespace TURTLE_SERVER {

/// The wire bytes of one session. It must outlive the session.
class TlsWire {
 public:
  TlsWire() = default;
  TlsWire(const TlsWire&) = delete;
  auto operator=(const TlsWire&) -> TlsWire& = delete;

  /// Gives a session a BIO of this wire. Throws std::bad_alloc.
  void Connect(SSL& session);

  /// Sets the bytes of the next calls. Both must stay until End().
  /// @param input to be read; it may be empty
  /// @param output gets what is written, appended
  void Begin(std::string_view input, OutQueue& output) noexcept;

  /// Ends these calls. Throws what `output` threw: no exception may pass through OpenSSL's frames.
  void End();

  /// Moves input to OpenSSL. Called by the BIO.
  /// @param into gets the bytes
  /// @param most that there is room for
  /// @return the number of bytes; 0: all input is read
  auto Read(char* into, std::size_t most) noexcept -> std::size_t;

  /// Takes output of OpenSSL. Called by the BIO.
  /// @return false if there is no memory for it, or no output
  auto Write(std::string_view bytes) noexcept -> bool;

 private:
  std::string_view input_;
  OutQueue* output_ = nullptr;  // set between Begin() and End()
  std::exception_ptr failure_;
};

}  // namespace TURTLE_SERVER
