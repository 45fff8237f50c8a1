// Takes over renewed certificates without a restart: it looks at the files now and then.
//
//   Tls tls(options);
//   server_options.channel = tls.Channels();
//   HttpServer server(NetAddress("0.0.0.0", 443), {}, server_options);
//   CertificateWatch watch(*server.Loopers().front(), tls, options, std::chrono::minutes(1));
//   server.Begin();
//
// A program that renews a certificate has two files to write, and a look may come between them. The
// new certificate and the old key are no pair, so Tls::Replace() refuses them, and clients still
// get the old certificate. The next look tries again.
//
// Interface:
//  * The constructor reads the files, and begins to look at them.
//  * Replaced() counts the looks that have replaced the certificates.
//
// The files are read on the loop. That takes some milliseconds, and only after a change.
//
// Thread: the loop's. Before and after Looper::Loop(), any one thread.
// Source: stat(2)
#pragma once

#include <chrono>
#include <cstdint>

#include "tls/tls_options.h"

namespace TURTLE_SERVER {

class Looper;
class Tls;

/// Keeps the certificates of a Tls up to date.
class CertificateWatch {
 public:
  /// Notes the state of all files, then has `tls` read them: they may have changed since it read
  /// them first. Afterwards it looks once in each period, for the first time one period from now.
  ///
  /// The files are the chain, the key and, unless their paths are "", the OCSP response of every
  /// certificate, and the authority of clients' certificates. A file's state is its device, inode,
  /// size and modification time, with nanoseconds, or that it can't be found. Symbolic links are
  /// followed: a link to another file is a change.
  ///
  /// A look at which the state of a file differs from the one noted calls Tls::Replace() with all
  /// of `options`. If that fails, each further look calls it again until it succeeds, even if the
  /// state is then the same: permissions are no part of it. A look that finds no difference, after
  /// a success, reads nothing. The state is noted before the files are read, never afterwards, so a
  /// change in between is found by the next look.
  ///
  /// A success is logged as kInfo, "tls: certificates replaced". A failure is logged as kError,
  /// "tls: certificates not replaced: " and the exception's text, unless the same text was logged
  /// since the last success. No failure ends the looks.
  ///
  /// @param looper whose timers it uses; outlives it
  /// @param tls which uses the files; outlives it
  /// @param options those of `tls`
  /// @param period from look to look, at least 1 s
  /// @throws std::invalid_argument "certificate watch: period of 0 s: at least 1"; and as
  ///     Tls::Replace(). Then there is no look.
  CertificateWatch(Looper& looper, Tls& tls, TlsOptions options,
                   std::chrono::seconds period = std::chrono::seconds(60));

  /// Looks no more.
  ~CertificateWatch();

  CertificateWatch(const CertificateWatch&) = delete;
  auto operator=(const CertificateWatch&) -> CertificateWatch& = delete;

  /// Returns how many looks have replaced the certificates; the constructor is no look.
  [[nodiscard]] auto Replaced() const noexcept -> std::uint64_t;

 private:
  // TODO: its data
};

}  // namespace TURTLE_SERVER
