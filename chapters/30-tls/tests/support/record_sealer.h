// Seals records with a client's keys, after its handshake: OpenSSL makes neither a flood nor half a
// message.
#pragma once

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER::test {

/// The client's direction of a session whose cipher is kCipher or kCipher13. The client itself has
/// written nothing since the handshake.
class RecordSealer {
 public:
  static constexpr const char* kCipher = "ECDHE-ECDSA-AES128-GCM-SHA256";
  static constexpr const char* kCipher13 = "TLS_AES_128_GCM_SHA256";

  /// Prepares a client that has not begun yet. With TLS 1.3, `secret` gets its first secret for
  /// data.
  static void KeepSecret(SSL* client, std::string& secret) {
    Check(SSL_set_ciphersuites(client, kCipher13));
    Check(SSL_set_ex_data(client, 0, &secret));
    SSL_CTX_set_keylog_callback(SSL_get_SSL_CTX(client), [](const SSL* session, const char* line) {
      const std::string_view text(line);
      if (text.substr(0, text.find(' ')) == "CLIENT_TRAFFIC_SECRET_0") {
        *static_cast<std::string*>(SSL_get_ex_data(session, 0)) =
            Unhex(text.substr(text.rfind(' ') + 1));
      }
    });
  }

  /// @param client after its handshake
  /// @param secret that KeepSecret() has kept
  RecordSealer(const SSL& client, const std::string& secret)
      : is_13_(SSL_version(&client) == TLS1_3_VERSION), sequence_(is_13_ ? 0 : 1) {
    if (is_13_) {
      key_ = Expand(secret, "key", kKeySize);
      salt_ = Expand(secret, "iv", kNonceSize);
      return;
    }
    constexpr std::size_t kSaltSize = 4;
    const std::string block = KeyBlock(client, 2 * kKeySize + kSaltSize);
    key_ = block.substr(0, kKeySize);
    salt_ = block.substr(2 * kKeySize) + std::string(kNonceSize - kSaltSize, '\0');
  }

  /// Returns the record. TLS 1.2 is RFC 5288, section 3; TLS 1.3 is RFC 8446, section 5.2.
  auto Seal(int type, std::string plain) -> std::string {
    std::string number(kNumberSize, '\0');
    for (std::size_t i = 0; i < kNumberSize; ++i) {
      number[i] = static_cast<char>(sequence_ >> (8 * (kNumberSize - 1 - i)));
    }
    ++sequence_;
    std::string nonce = salt_;
    for (std::size_t i = 0; i < kNumberSize; ++i) {
      char& byte = nonce[kNonceSize - kNumberSize + i];
      byte = static_cast<char>(byte ^ number[i]);
    }
    if (is_13_) {
      plain.push_back(static_cast<char>(type));
      const std::string head = Head(SSL3_RT_APPLICATION_DATA, plain.size() + kTagSize);
      return head + Encrypt(plain, nonce, head);
    }
    const std::string sealed = Encrypt(plain, nonce, number + Head(type, plain.size()));
    return Head(type, kNumberSize + sealed.size()) + number + sealed;
  }

 private:
  static constexpr std::size_t kKeySize = 16;
  static constexpr std::size_t kNonceSize = 12;
  static constexpr std::size_t kNumberSize = 8;
  static constexpr std::size_t kTagSize = 16;

  static void Check(int result) {
    if (result != 1) {
      throw std::runtime_error("OpenSSL seals no record of a test");
    }
  }

  static auto Unhex(std::string_view digits) -> std::string {
    std::string bytes;
    for (; digits.size() >= 2; digits.remove_prefix(2)) {
      bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(0, 2)), nullptr, 16)));
    }
    return bytes;
  }

  static auto Head(int type, std::size_t size) -> std::string {
    return {static_cast<char>(type), 3, 3, static_cast<char>(size / 256),
            static_cast<char>(size % 256)};
  }

  static auto Octets(std::string& bytes) -> unsigned char* {
    return reinterpret_cast<unsigned char*>(bytes.data());
  }

  // Runs a function of OpenSSL's that derives keys, EVP_KDF(3).
  static auto Derive(const char* name, const std::vector<OSSL_PARAM>& wish, std::size_t size)
      -> std::string {
    std::string bytes(size, '\0');
    EVP_KDF* const kind = EVP_KDF_fetch(nullptr, name, nullptr);
    EVP_KDF_CTX* const context = EVP_KDF_CTX_new(kind);
    const int result = EVP_KDF_derive(context, Octets(bytes), size, wish.data());
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kind);
    Check(result);
    return bytes;
  }

  static auto Expand(std::string secret, const std::string& label, std::size_t size)
      -> std::string {
    const std::string whole = "tls13 " + label;
    std::string info{0, static_cast<char>(size), static_cast<char>(whole.size())};
    info.append(whole).push_back(0);
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    std::string digest = "SHA256";
    return Derive(
        "HKDF",
        {OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
         OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
         OSSL_PARAM_construct_end()},
        size);
  }

  // The keys of both sides, then their salts, RFC 5246, section 6.3.
  static auto KeyBlock(const SSL& client, std::size_t size) -> std::string {
    std::string master(SSL_MAX_MASTER_KEY_LENGTH, '\0');
    SSL_SESSION_get_master_key(SSL_get_session(&client), Octets(master), master.size());
    std::string ours(SSL3_RANDOM_SIZE, '\0');
    std::string theirs(SSL3_RANDOM_SIZE, '\0');
    SSL_get_client_random(&client, Octets(ours), ours.size());
    SSL_get_server_random(&client, Octets(theirs), theirs.size());
    std::string seed = "key expansion" + theirs + ours;
    std::string digest = "SHA256";
    return Derive(
        "TLS1-PRF",
        {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, master.data(), master.size()),
         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed.data(), seed.size()),
         OSSL_PARAM_construct_end()},
        size);
  }

  // Returns the encrypted bytes and their tag.
  auto Encrypt(std::string plain, std::string nonce, std::string known) -> std::string {
    std::string sealed(plain.size(), '\0');
    std::string tag(kTagSize, '\0');
    int size = 0;
    EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
    Check(EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nullptr, Octets(key_), Octets(nonce)));
    EVP_EncryptUpdate(context, nullptr, &size, Octets(known), static_cast<int>(known.size()));
    EVP_EncryptUpdate(context, Octets(sealed), &size, Octets(plain),
                      static_cast<int>(plain.size()));
    Check(EVP_EncryptFinal_ex(context, Octets(sealed) + size, &size));
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(kTagSize), tag.data());
    EVP_CIPHER_CTX_free(context);
    return sealed + tag;
  }

  const bool is_13_;
  std::uint64_t sequence_;  // of the next record
  std::string key_;
  std::string salt_;  // combined with the sequence
};

}  // namespace TURTLE_SERVER::test
