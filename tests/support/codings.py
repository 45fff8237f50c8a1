"""The content codings of responses, decoded piece by piece.

Python has only zlib. br and zstd come from the libraries that `turtle` itself needs, libbrotli and libzstd; they are
called by ctypes, so a suite needs no further package.
"""

from __future__ import annotations

import ctypes
import functools
import gzip
import zlib

STEP = 1 << 16


@functools.cache
def _library(name: str) -> ctypes.CDLL:
    return ctypes.CDLL(f"{name}.so.1")


class _Gzip:
    """Bytes after the end of the stream stay in `rest`."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS)

    def feed(self, coded: bytes) -> bytes:
        return self._stream.decompress(coded)

    @property
    def is_whole(self) -> bool:
        return self._stream.eof and not self._stream.unused_data


class _Brotli:
    """https://www.brotli.org/decode.html"""

    ERROR, SUCCESS, NEEDS_MORE_INPUT = 0, 1, 2

    def __init__(self) -> None:
        library = _library("libbrotlidec")
        library.BrotliDecoderCreateInstance.restype = ctypes.c_void_p
        self._decode = library.BrotliDecoderDecompressStream
        self._destroy = library.BrotliDecoderDestroyInstance
        self._state = ctypes.c_void_p(library.BrotliDecoderCreateInstance(None, None, None))
        self.is_whole = False

    def __del__(self) -> None:
        self._destroy(self._state)

    def feed(self, coded: bytes) -> bytes:
        assert not (self.is_whole and coded), "bytes after the end"
        plain = b""
        source = ctypes.create_string_buffer(coded, len(coded))
        left, at = ctypes.c_size_t(len(coded)), ctypes.cast(source, ctypes.c_void_p)
        while True:
            target = ctypes.create_string_buffer(STEP)
            room, to = ctypes.c_size_t(STEP), ctypes.cast(target, ctypes.c_void_p)
            result = self._decode(
                self._state, ctypes.byref(left), ctypes.byref(at), ctypes.byref(room), ctypes.byref(to), None
            )
            assert result != self.ERROR, "damaged br"
            plain += target.raw[: STEP - room.value]
            if result in (self.SUCCESS, self.NEEDS_MORE_INPUT):
                self.is_whole = result == self.SUCCESS
                assert not (self.is_whole and left.value), "bytes after the end"
                return plain


class _ZstdBuffer(ctypes.Structure):
    """ZSTD_inBuffer and ZSTD_outBuffer."""

    _fields_ = [("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t), ("position", ctypes.c_size_t)]


class _Zstd:
    """https://facebook.github.io/zstd/zstd_manual.html"""

    def __init__(self) -> None:
        self._library = _library("libzstd")
        self._library.ZSTD_createDCtx.restype = ctypes.c_void_p
        self._library.ZSTD_decompressStream.restype = ctypes.c_size_t
        self._context = ctypes.c_void_p(self._library.ZSTD_createDCtx())
        self.is_whole = False

    def __del__(self) -> None:
        self._library.ZSTD_freeDCtx(self._context)

    def feed(self, coded: bytes) -> bytes:
        assert not (self.is_whole and coded), "bytes after the end"
        plain = b""
        source = ctypes.create_string_buffer(coded, len(coded))
        given = _ZstdBuffer(ctypes.cast(source, ctypes.c_void_p), len(coded), 0)
        while True:
            target = ctypes.create_string_buffer(STEP)
            taken = _ZstdBuffer(ctypes.cast(target, ctypes.c_void_p), STEP, 0)
            left = self._library.ZSTD_decompressStream(self._context, ctypes.byref(taken), ctypes.byref(given))
            assert not self._library.ZSTD_isError(ctypes.c_size_t(left)), "damaged zstd"
            plain += target.raw[: taken.position]
            self.is_whole = left == 0
            if self.is_whole or (given.position == given.size and taken.position < STEP):
                assert not self.is_whole or given.position == given.size, "bytes after the end"
                return plain


DECODERS = {"gzip": _Gzip, "br": _Brotli, "zstd": _Zstd}
SUFFIXES = {"gzip": ".gz", "br": ".br", "zstd": ".zst"}


def decode(coding: str, coded: bytes) -> bytes:
    """Decodes a whole body; "" is no coding. Damaged and incomplete bytes, and bytes after the end, are an error."""
    if not coding:
        return coded
    decoder = DECODERS[coding]()
    plain = decoder.feed(coded)
    assert decoder.is_whole, f"{coding}: {len(coded)} bytes are not one whole body"
    return plain


def encode(coding: str, plain: bytes) -> bytes:
    """Encodes a whole body as hard as it can, as a tool would in advance."""
    if coding == "gzip":
        return gzip.compress(plain, 9, mtime=0)
    target = ctypes.create_string_buffer(2 * len(plain) + 1024)
    size = ctypes.c_size_t(len(target))
    if coding == "br":
        quality, window, generic = 11, 22, 0
        done = _library("libbrotlienc").BrotliEncoderCompress(
            quality, window, generic, ctypes.c_size_t(len(plain)), plain, ctypes.byref(size), target
        )
        assert done == 1
        return target.raw[: size.value]
    compress = _library("libzstd").ZSTD_compress
    compress.restype = ctypes.c_size_t
    level = 19
    count = compress(target, size, plain, ctypes.c_size_t(len(plain)), level)
    assert count <= len(target), "ZSTD_compress"
    return target.raw[:count]
