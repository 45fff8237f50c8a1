#include "tls/tls_context.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace TURTLE_SERVER {

// The functions that OpenSSL calls.
struct TlsCallbacks {
  static auto Of(SSL* session) noexcept -> const TlsContext& {
    return *static_cast<const TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(session)));
  }

  static auto ClientHello(SSL* session, int* alert, void* /*unused*/) noexcept -> int {
    *alert = SSL_AD_INTERNAL_ERROR;
    return Of(session).OnClientHello(*session) ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR;
  }

  static auto Protocol(SSL* session, const unsigned char** chosen, unsigned char* size,
                       const unsigned char* offered, unsigned offered_size,
                       void* /*unused*/) noexcept -> int {
    const std::string_view name =
        Of(session).ChooseProtocol({reinterpret_cast<const char*>(offered), offered_size});
    *chosen = reinterpret_cast<const unsigned char*>(name.data());
    *size = static_cast<unsigned char>(name.size());
    // RFC 7301, section 3.2: the client understands nothing that would be sent.
    return name.empty() ? SSL_TLSEXT_ERR_ALERT_FATAL : SSL_TLSEXT_ERR_OK;
  }

  static auto Ticket(SSL* session, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                     EVP_MAC_CTX* mac, int seals) noexcept -> int try {
    const TlsContext& context = Of(session);
    return seals != 0 ? context.SealTicket(name, iv, *cipher, *mac)
                      : context.OpenTicket(*session, name, iv, *cipher, *mac);
  } catch (...) {
    return -1;  // the handshake fails
  }

  static auto Staple(SSL* session, void* /*unused*/) noexcept -> int {
    const std::string_view staple = Of(session).StapleFor(*session);
    if (staple.empty()) {
      return SSL_TLSEXT_ERR_NOACK;
    }
    void* const copy = OPENSSL_memdup(staple.data(), staple.size());  // the session frees it
    if (copy == nullptr) {
      return SSL_TLSEXT_ERR_NOACK;
    }
    SSL_set_tlsext_status_ocsp_resp(session, copy, static_cast<long>(staple.size()));  // NOLINT
    return SSL_TLSEXT_ERR_OK;
  }
};

namespace {

// https://wiki.mozilla.org/Security/Server_Side_TLS: "intermediate", version 5.7, without the
// ciphers of DHE, which need parameters of their own.
constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* kCiphers13 =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* kGroups = "X25519:P-256:P-384";
constexpr int kSessionSeconds = 7200;  // after that, a ticket resumes nothing

auto ReadAll(const std::vector<TlsCertificate>& files) -> std::vector<Certificate> {
  if (files.empty()) {
    throw std::invalid_argument("TLS needs a certificate");
  }
  return {files.begin(), files.end()};
}

auto NamesOf(const std::vector<Certificate>& certificates)
    -> std::vector<std::vector<std::string>> {
  std::vector<std::vector<std::string>> names;
  std::transform(certificates.begin(), certificates.end(), std::back_inserter(names),
                 [](const Certificate& each) { return each.Names(); });
  return names;
}

// Takes a number of `Size` bytes, with the most significant first, off the front.
template <std::size_t Size>
auto TakeNumber(std::string_view& bytes) noexcept -> std::size_t {
  std::size_t number = 0;
  for (std::size_t i = 0; i < Size && !bytes.empty(); ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
  }
  return number;
}

// Returns the host that a ClientHello names (RFC 6066, section 3); "" if it names none. The
// extension is a list, of which only names of hosts were ever defined: its length, then the kind of
// the first entry, the length of its name, and the name.
auto HostOf(SSL& session) noexcept -> std::string_view {
  const unsigned char* data = nullptr;
  std::size_t size = 0;
  if (SSL_client_hello_get0_ext(&session, TLSEXT_TYPE_server_name, &data, &size) != 1) {
    return {};
  }
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t list = TakeNumber<2>(bytes);
  const std::size_t kind = TakeNumber<1>(bytes);
  const std::size_t name = TakeNumber<2>(bytes);
  const bool good = list + 2 == size && kind == TLSEXT_NAMETYPE_host_name && name <= bytes.size();
  return good ? bytes.substr(0, name) : std::string_view();  // OpenSSL refuses what is malformed
}

// Starts the cipher and the authentication of a ticket.
auto Begin(const TicketKey& key, const unsigned char* iv, EVP_CIPHER_CTX& cipher, EVP_MAC_CTX& mac,
           bool seals) noexcept -> bool {
  char digest[] = "SHA256";  // NOLINT: OSSL_PARAM takes no constant
  auto* const secret = const_cast<unsigned char*>(key.mac_key.data());  // NOLINT: likewise
  const std::array<OSSL_PARAM, 3> parameters = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, secret, key.mac_key.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  return EVP_CipherInit_ex(&cipher, EVP_aes_256_cbc(), nullptr, key.aes.data(), iv,
                           seals ? 1 : 0) == 1 &&
         EVP_MAC_CTX_set_params(&mac, parameters.data()) == 1;
}

}  // namespace

TlsContext::TlsContext(const TlsOptions& options, std::shared_ptr<TicketKeys> keys)
    : keys_(std::move(keys)),
      certificates_(ReadAll(options.certificates)),
      table_(NamesOf(certificates_)) {
  SetProtocols(options.protocols);
  if (options.clients != ClientCertificates::kNone) {
    authorities_ = ReadCertificates(options.client_ca);
  }
  for (const CertificateTable::Group& group : table_.Groups()) {
    contexts_.push_back(MakeContext(group, options));
    ids_.push_back(IdOf(group));
  }
}

// A digest of the names, not the number of the group: after a replacement, that may be another's.
auto TlsContext::IdOf(const CertificateTable::Group& group) const -> SessionId {
  std::string names;
  for (const std::size_t number : group) {
    for (const std::string& name : certificates_[number].Names()) {
      names.append(name).push_back('\n');
    }
  }
  SessionId id{};
  static_assert(id.size() == SHA256_DIGEST_LENGTH);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(names.data());
  const bool good = SHA256(bytes, names.size(), id.data()) != nullptr;  // it allocates memory
  RequireOpenSsl(good ? 1 : 0, "SHA256");
  return id;
}

auto TlsContext::NewSession() const -> SslPtr {
  SslPtr session(SSL_new(contexts_.front().get()));
  if (!session) {
    ERR_clear_error();
    throw std::bad_alloc();
  }
  SSL_set_accept_state(session.get());
  return session;
}

void TlsContext::SetProtocols(const std::vector<std::string>& protocols) {
  constexpr std::size_t kLongest = 255;
  for (const std::string& name : protocols) {
    if (name.empty() || name.size() > kLongest) {
      throw std::invalid_argument("\"" + name +
                                  "\" is no protocol for ALPN: it needs 1 to 255 bytes");
    }
    protocols_ += static_cast<char>(name.size());
    protocols_ += name;
  }
}

auto TlsContext::MakeContext(const CertificateTable::Group& group, const TlsOptions& options)
    -> SslContextPtr {
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (!context) {
    ERR_clear_error();
    throw std::bad_alloc();
  }
  SSL_CTX& made = *context;
  RequireOpenSsl(SSL_CTX_set_app_data(&made, this), "SSL_CTX_set_app_data");
  const int least = options.least == TlsVersion::k13 ? TLS1_3_VERSION : TLS1_2_VERSION;
  RequireOpenSsl(SSL_CTX_set_min_proto_version(&made, least), "SSL_CTX_set_min_proto_version");
  RequireOpenSsl(SSL_CTX_set_cipher_list(&made, kCiphers12), "SSL_CTX_set_cipher_list");
  RequireOpenSsl(SSL_CTX_set_ciphersuites(&made, kCiphers13), "SSL_CTX_set_ciphersuites");
  RequireOpenSsl(SSL_CTX_set1_groups_list(&made, kGroups), "SSL_CTX_set1_groups_list");
  SSL_CTX_set_options(&made, SSL_OP_NO_RENEGOTIATION);
  // An idle connection holds no buffers, and the chain is the one in the file.
  SSL_CTX_set_mode(&made, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_session_cache_mode(&made, SSL_SESS_CACHE_OFF);  // tickets instead
  SSL_CTX_set_timeout(&made, kSessionSeconds);
  for (auto number = group.rbegin(); number != group.rend(); ++number) {
    certificates_[*number].Use(made);  // of those with the same kind of key, the first remains
  }
  AskClients(made, options.clients);
  // A resumed session would not show its client's certificate again.
  if (options.tickets && options.clients == ClientCertificates::kNone) {
    SSL_CTX_set_tlsext_ticket_key_evp_cb(&made, TlsCallbacks::Ticket);
  } else {
    SSL_CTX_set_options(&made, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(&made, 0);
  }
  SSL_CTX_set_client_hello_cb(&made, TlsCallbacks::ClientHello, nullptr);
  if (!protocols_.empty()) {
    SSL_CTX_set_alpn_select_cb(&made, TlsCallbacks::Protocol, nullptr);
  }
  SSL_CTX_callback_ctrl(&made, SSL_CTRL_SET_TLSEXT_STATUS_REQ_CB,
                        reinterpret_cast<void (*)()>(TlsCallbacks::Staple));
  return context;
}

void TlsContext::AskClients(SSL_CTX& context, ClientCertificates clients) const {
  if (clients == ClientCertificates::kNone) {
    return;
  }
  for (const X509Ptr& authority : authorities_) {
    RequireOpenSsl(X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()),
                   "X509_STORE_add_cert");
    RequireOpenSsl(SSL_CTX_add_client_CA(&context, authority.get()), "SSL_CTX_add_client_CA");
  }
  const bool required = clients == ClientCertificates::kRequired;
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                     nullptr);
}

// A session is resumed only under the names that it began with: the client has verified no
// certificate for another. OpenSSL compares the context of the session for us.
auto TlsContext::OnClientHello(SSL& session) const -> bool {
  const std::size_t group = table_.Find(HostOf(session));
  const SessionId& id = ids_[group];
  return SSL_set_SSL_CTX(&session, contexts_[group].get()) != nullptr &&
         SSL_set_session_id_context(&session, id.data(), id.size()) == 1;
}

// Returns the first of our protocols that the client offers; "" if there is none.
auto TlsContext::ChooseProtocol(std::string_view offered) const -> std::string_view {
  std::string_view ours = protocols_;
  while (!ours.empty()) {
    const std::size_t size = TakeNumber<1>(ours);
    const std::string_view name = ours.substr(0, size);
    ours.remove_prefix(size);
    for (std::string_view rest = offered; !rest.empty();) {
      const std::size_t length = std::min(TakeNumber<1>(rest), rest.size());
      if (rest.substr(0, length) == name) {
        return name;
      }
      rest.remove_prefix(length);
    }
  }
  return {};
}

// @return as SSL_CTX_set_tlsext_ticket_key_evp_cb(3): 1, the ticket can be sealed; -1, it can't
auto TlsContext::SealTicket(unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX& cipher,
                            EVP_MAC_CTX& mac) const -> int {
  const TicketKey key = keys_->Current();
  std::copy(key.name.begin(), key.name.end(), name);
  const bool good = RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1 &&
                    Begin(key, iv, cipher, mac, true);
  return good ? 1 : -1;
}

// @return likewise: 1, the ticket is good; 2, and the client gets a new one; 0, it is unknown, and
//     the whole handshake follows
auto TlsContext::OpenTicket(const SSL& session, const unsigned char* name, const unsigned char* iv,
                            EVP_CIPHER_CTX& cipher, EVP_MAC_CTX& mac) const -> int {
  const auto found = keys_->Find({reinterpret_cast<const char*>(name), TicketKey::kNameSize});
  if (!found) {
    return 0;
  }
  if (!Begin(found->key, iv, cipher, mac, false)) {
    return -1;
  }
  // A client of TLS 1.3 shows each ticket once, so that nobody can link its visits.
  return found->is_old || SSL_version(&session) == TLS1_3_VERSION ? 2 : 1;
}

auto TlsContext::Names() const -> std::set<std::string> {
  std::set<std::string> names;
  for (const Certificate& each : certificates_) {
    names.insert(each.Names().begin(), each.Names().end());
  }
  return names;
}

auto TlsContext::StapleFor(SSL& session) const -> std::string_view {
  const X509* const chosen = SSL_get_certificate(&session);
  for (const Certificate& each : certificates_) {
    if (each.Is(chosen)) {
      return each.Staple();
    }
  }
  return {};
}

}  // namespace TURTLE_SERVER
