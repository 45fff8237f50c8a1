"""Bytes that two servers might read in two ways, and replies that a request might write itself.

row.py says how to read a row. Behind each stands a canary, and within most of them a request for
/hidden.txt that must never get an answer: what a row accepts is that it is refused and that nothing
behind it is read, or that the RFC's one reading is followed.
"""

from row import GET, HEAD, HIDDEN, LETTERS, MUST, POST, SHOULD, Row

ZERO = "0\r\n\r\n"
HELLO = "5\r\nhello\r\n"
CHUNKED = f"{POST}Transfer-Encoding: chunked\r\n\r\n"
REFUSED = "400/501 close"


def both(name, coding, sentence, accepted=REFUSED, length=len(ZERO + HIDDEN)):
    """CL.TE: a length that covers the hidden request, and a coding that ends before it."""
    sent = f"{POST}Content-Length: {length}\r\n{coding}\r\n\r\n{ZERO}{HIDDEN}"
    return Row(f"cl-te-{name}", "9112 6.1", MUST, sent, accepted, sentence)


def inner(name, coding, sentence, accepted=REFUSED):
    """TE.CL: a chunk that holds the hidden request, and a length that ends before it."""
    chunk = f"{len(HIDDEN):x}\r\n{HIDDEN}\r\n{ZERO}"
    sent = f"{POST}{coding}\r\nContent-Length: {len(f'{len(HIDDEN):x}') + 2}\r\n\r\n{chunk}"
    return Row(f"te-cl-{name}", "9112 6.3", MUST, sent, accepted, sentence)


def coded(name, coding, sentence, accepted=REFUSED, **more):
    """TE.TE: a coding that one side may not recognise, without a length beside it."""
    return Row(f"te-te-{name}", "9112 6.1", MUST, f"{POST}{coding}\r\n\r\n{ZERO}{HIDDEN}", accepted, sentence, **more)


def bodied(name, head, accepted, sentence, **more):
    """CL.0: a body where nobody expects one."""
    sent = f"{head}Content-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}"
    return Row(f"cl-0-{name}", "9110 8.6", MUST, sent, accepted, sentence, **more)


def length(name, value, sentence, accepted="400 close"):
    """A length that might be read as another."""
    return Row(f"length-{name}", "9110 8.6", MUST, f"{POST}Content-Length: {value}\r\n\r\nhello{HIDDEN}", accepted, sentence)


def lengths(name, first, second, sentence):
    """Two of them."""
    sent = f"{POST}Content-Length: {first}\r\nContent-Length: {second}\r\n\r\n{HIDDEN}"
    return Row(f"lengths-{name}", "9112 6.3", MUST, sent, "400 close", sentence)


def chunk(name, content, sentence, accepted="400 close", section="9112 7.1", **more):
    """A chunked body that might be read as another."""
    return Row(f"chunk-{name}", section, MUST, f"{CHUNKED}{content}", accepted, sentence, **more)


def field(name, line, sentence, accepted="400 close", section="9112 5.1", **more):
    """A field line that one side may take for something else."""
    return Row(f"field-{name}", section, MUST, f"{GET}{line}\r\n\r\n{HIDDEN}", accepted, sentence, **more)


def trailer(name, line, sentence, accepted="200", **more):
    """A field behind the last chunk."""
    return chunk(f"trailer-{name}", f"{HELLO}0\r\n{line}\r\n\r\n", sentence, accepted, "9110 6.5.1", **more)


def split(name, target, accepted, sentence, method="GET", **more):
    """A target that wants to write into the reply."""
    sent = f"{method} {target} HTTP/1.1\r\nHost: turtle\r\n\r\n"
    return Row(f"split-{name}", "9112 11.1", MUST, sent, accepted, sentence, lacks=("X-Evil", "Set-Cookie"), **more)


def said(name, program, accepted, sentence, section="3875 6.3", **more):
    """A program's head that wants to write a second reply."""
    sent = f"GET /cgi-bin/said-{name} HTTP/1.1\r\nHost: turtle\r\n\r\n"
    return Row(f"said-{name}", section, MUST, sent, accepted, sentence, program=program, **more)


ROWS = [
    # CL.TE: the front believes the length.
    both("plain", "Transfer-Encoding: chunked", "A length beside a coding is refused."),
    both("case", "tRANSFER-eNCODING: CHUNKED", "In whatever case."),
    both("tab", "Transfer-Encoding:\tchunked", "With a tab before it."),
    both("no-space", "Transfer-Encoding:chunked", "Without a space before it."),
    both("spaces", "Transfer-Encoding:    chunked   ", "With spaces around it."),
    both("list", "Transfer-Encoding: gzip, chunked", "With another coding below it."),
    both("not-last", "Transfer-Encoding: chunked, gzip", "With another coding above it."),
    both("unknown", "Transfer-Encoding: xchunked", "A coding that is none makes the length no better."),
    both("empty", "Transfer-Encoding:", "Nor does an empty one."),
    both("colon-space", "Transfer-Encoding : chunked", "A space before the colon doesn't hide it."),
    both("colon-tab", "Transfer-Encoding\t: chunked", "Nor does a tab."),
    both("folded", "Transfer-Encoding:\r\n chunked", "Nor does a fold before its value."),
    both("folded-name", "X: y\r\n Transfer-Encoding: chunked", "Nor one that makes it the end of another field."),
    both("vertical-tab", "Transfer-Encoding: \x0bchunked", "Nor a vertical tab."),
    both("form-feed", "Transfer-Encoding: chunked\x0c", "Nor a form feed."),
    both("nul", "Transfer-Encoding: chunked\0", "Nor a zero byte."),
    both("bare-cr", "X: y\rTransfer-Encoding: chunked", "Nor a bare CR before it."),
    both("bare-lf", "X: y\nTransfer-Encoding: chunked", "Nor a bare LF before it."),
    both("twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Nor a second coding."),
    both("quoted", 'Transfer-Encoding: "chunked"', "Nor quotes."),
    both("nbsp", "Transfer-Encoding:\xa0chunked", "Nor a space that is none."),
    both("length-zero", "Transfer-Encoding: chunked", "A length of nothing beside it is refused too.", length=0),
    # TE.CL: the front believes the coding.
    inner("plain", "Transfer-Encoding: chunked", "A coding before a length is refused."),
    inner("case", "TRANSFER-ENCODING: chunKED", "Whatever its case is."),
    inner("unknown", "Transfer-Encoding: cow", "Even one that nobody knows."),
    inner("colon-space", "Transfer-Encoding : chunked", "Or one with a space before its colon."),
    inner("leading-space", " Transfer-Encoding: chunked", "Or one with a space before its name."),
    inner("folded", "Transfer-Encoding: \r\n\tchunked", "Or a folded one."),
    inner("two-codings", "Transfer-Encoding: chunked\r\nTransfer-encoding: cow", "Or two."),
    inner("cr-in-value", "Transfer-Encoding: chunked\r", "Or one with a CR at its end."),
    # TE.TE: each side recognises another one.
    coded("x-prefix", "Transfer-Encoding: xchunked", "A coding that is not known is no chunked."),
    coded("suffix", "Transfer-Encoding: chunkedx", "Nor one that begins like it."),
    coded("comma", "Transfer-Encoding: ,chunked", "An empty element is a fault."),
    coded("comma-behind", "Transfer-Encoding: chunked,", "Behind it too."),
    coded("identity-behind", "Transfer-Encoding: chunked, identity", "Chunked that is not the last has no end."),
    coded("identity-line-behind", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Also over two lines."),
    coded("identity-before", "Transfer-Encoding: identity, chunked", "Identity is no coding any more."),
    coded("twice", "Transfer-Encoding: chunked, chunked", "Chunked is applied once."),
    coded("quoted", "Transfer-Encoding: 'chunked'", "A coding has no quotes."),
    coded("parameter", "Transfer-Encoding: chunked; q=1", "Chunked has no parameters."),
    coded("nul", "Transfer-Encoding: chun\0ked", "A zero byte ends no value."),
    coded("vertical-tab", "Transfer-Encoding: chunked\x0b", "A vertical tab is no space."),
    coded("no-break-space", "Transfer-Encoding: chunked\xa0", "A space that is none is none."),
    coded("cr-cr", "Transfer-Encoding: chunked\r\r", "A second CR is no part of the line end."),
    coded("colon-space", "Transfer-Encoding : chunked", "A space before the colon is refused."),
    coded("bare-lf-behind", "Transfer-Encoding: chunked\nX: y", "So is a bare LF behind it."),
    Row("te-te-in-1.0", "9112 6.1", MUST,
        f"POST /cgi-bin/cat HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n{ZERO}{HIDDEN}", REFUSED,
        "HTTP/1.0 knows no codings: what comes with one can't be framed."),
    Row("te-te-underscore", "9110 5.1", MUST,
        f"{POST}Transfer_Encoding: chunked\r\nContent-Length: {len(ZERO)}\r\n\r\n{ZERO}", "200",
        "An underscore makes it another field.", body=ZERO),
    # CL.0: the back believes that there is no body.
    bodied("get", GET, "200", "The body of a GET is no request.", body=LETTERS),
    bodied("head", HEAD, "200", "Nor is that of a HEAD."),
    bodied("post-to-file", "POST /file.txt HTTP/1.1\r\nHost: turtle\r\n", "405", "Nor that of a method that is refused."),
    bodied("put", "PUT /new.txt HTTP/1.1\r\nHost: turtle\r\n", "405/501", "Nor that of a PUT."),
    bodied("delete", "DELETE /file.txt HTTP/1.1\r\nHost: turtle\r\n", "405/501", "Nor that of a DELETE."),
    bodied("missing", "GET /nowhere HTTP/1.1\r\nHost: turtle\r\n", "404", "Nor that beside a 404."),
    bodied("redirect", "GET /docs HTTP/1.1\r\nHost: turtle\r\n", "301", "Nor that beside a redirect."),
    bodied("outside", "GET /link-out.txt HTTP/1.1\r\nHost: turtle\r\n", "403/404", "Nor that beside what lies outside."),
    bodied("not-modified", f"{GET}If-None-Match: *\r\n", "304", "Nor that beside a 304."),
    bodied("range", f"{GET}Range: bytes=900-\r\n", "416", "Nor that beside a 416."),
    bodied("deaf", "POST /cgi-bin/deaf HTTP/1.1\r\nHost: turtle\r\n", "200", "Nor that to a program that doesn't read it.",
           body="deaf\n"),
    bodied("silent", "POST /cgi-bin/silent HTTP/1.1\r\nHost: turtle\r\n", "502", "Nor that to a program that says nothing."),
    bodied("trace", "TRACE / HTTP/1.1\r\nHost: turtle\r\n", "405/501", "Nor that of a TRACE."),
    bodied("upgrade", f"{GET}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
           "200", "An upgrade that is not taken changes nothing.", body=LETTERS),
    bodied("hop-by-hop", f"{GET}Connection: keep-alive, Content-Length\r\n", "200",
           "A length that is called hop-by-hop is a length still.", body=LETTERS),
    Row("cl-0-connect", "9110 9.3.6", MUST, f"CONNECT turtle:80 HTTP/1.1\r\nHost: turtle:80\r\n\r\n{HIDDEN}",
        "400/405/501 close", "Nothing goes through a tunnel that was refused."),
    Row("cl-0-preface", "9113 3.4", MUST, f"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{HIDDEN}", "400/505 close",
        "What follows the preface of HTTP/2 is no request."),
    # One length that is two numbers.
    length("plus", "+5", "A sign is no digit."),
    length("minus", "-1", "Nor is this one."),
    length("hexadecimal", "0x5", "Nor is an x."),
    length("octal", "0o5", "Nor an o."),
    length("underscore", "0_5", "Nor an underscore."),
    length("fraction", "5.0", "Nor a point."),
    length("exponent", "5e0", "Nor an e."),
    length("spaces-inside", "5 0", "Nor a space."),
    length("semicolon", "5;a=b", "A length has no parameters."),
    length("nul", "5\0", "A zero byte does not end it."),
    length("vertical-tab", "\x0b5", "A vertical tab does not stand before it."),
    length("wide-digit", "\xef\xbc\x95", "Digits of other scripts are none."),
    length("wraps", str((1 << 64) + 5), "A length does not wrap.", "400/413 close"),
    length("wraps-32", str((1 << 32) + 5), "Not at 32 bits either.", "400/413 close"),
    length("signed", str((1 << 63) + 5), "Nor does it become negative.", "400/413 close"),
    length("folded", "\r\n 5", "It is not folded."),
    length("list", "5, 5", "It is no list."),
    lengths("short-first", 0, len(HIDDEN), "The first of two does not count."),
    lengths("long-first", len(HIDDEN), 0, "Nor does the second."),
    lengths("same", len(HIDDEN), len(HIDDEN), "Nor do both if they agree."),
    lengths("empty", "", len(HIDDEN), "Nor if one is empty."),
    lengths("zeros", "0", "00", "Nor if they are the same number in two ways."),
    # Chunks.
    chunk("size-sign", f"+5\r\nhello\r\n{ZERO}{HIDDEN}", "A size has no sign."),
    chunk("size-minus", f"-5\r\nhello\r\n{ZERO}{HIDDEN}", "Nor this one."),
    chunk("size-0x", f"0x5\r\nhello\r\n{ZERO}{HIDDEN}", "Nor a prefix."),
    chunk("size-0x-zero", f"0x0\r\n\r\n{HIDDEN}", "The last one neither."),
    chunk("size-underscore", f"0_5\r\nhello\r\n{ZERO}{HIDDEN}", "Nor an underscore."),
    chunk("size-empty", f"\r\nhello\r\n{ZERO}{HIDDEN}", "It is there."),
    chunk("size-space-before", f" 5\r\nhello\r\n{ZERO}{HIDDEN}", "No space stands before it."),
    chunk("size-tab-before", f"\t5\r\nhello\r\n{ZERO}{HIDDEN}", "Nor a tab."),
    chunk("size-wraps", f"10000000000000005\r\nhello\r\n{ZERO}{HIDDEN}", "It does not wrap at 64 bits.", "400/413 close"),
    chunk("size-wraps-32", f"100000005\r\nhello\r\n{ZERO}{HIDDEN}", "Nor at 32.", "400/413 close"),
    chunk("size-largest", f"ffffffffffffffff\r\n{HIDDEN}", "The largest of 64 bits is not -1.", "400/413 close"),
    chunk("size-many-zeros", f"{'0' * 17}5\r\nhello\r\n{ZERO}", "Zeros before it change nothing, or are refused.",
          "400 close"),
    chunk("size-semicolon-only", f";\r\n{HIDDEN}", "An extension without a size is none."),
    chunk("line-bare-lf", f"5\nhello\r\n{ZERO}{HIDDEN}", "A bare LF does not end the line of a size."),
    chunk("line-bare-cr", f"5\rhello\r\n{ZERO}{HIDDEN}", "Nor does a bare CR."),
    chunk("line-cr-cr-lf", f"5\r\r\nhello\r\n{ZERO}{HIDDEN}", "Nor do two CRs."),
    chunk("data-bare-lf", f"5\r\nhello\n{ZERO}{HIDDEN}", "A bare LF does not end the data."),
    chunk("data-bare-cr", f"5\r\nhello\r{ZERO}{HIDDEN}", "Nor does a bare CR."),
    chunk("data-nothing", f"5\r\nhello{ZERO}{HIDDEN}", "Nor does nothing."),
    chunk("data-two-others", f"5\r\nhelloxx{ZERO}{HIDDEN}", "Nor do two other bytes."),
    chunk("last-bare-lf", f"{HELLO}0\n\n{HIDDEN}", "A bare LF does not end the body."),
    chunk("last-half-bare", f"{HELLO}0\r\n\n{HIDDEN}", "Nor does one behind a proper line."),
    chunk("extension-lf", f"5;x\nhello\r\n{ZERO}{HIDDEN}", "A bare LF does not end an extension."),
    chunk("extension-lf-inside", f"0;x\n{HIDDEN}", "Nor does it hide a request in one."),
    chunk("extension-cr-inside", f"5;x\rxx\r\nhello\r\n{ZERO}{HIDDEN}", "Nor does a bare CR."),
    chunk("extension-quoted-lf", f'5;x="\n"\r\nhello\r\n{ZERO}{HIDDEN}', "Quotes don't make it better."),
    chunk("extension-nul", f"5;x\0\r\nhello\r\n{ZERO}{HIDDEN}", "A zero byte is no part of an extension."),
    chunk("extension-too-long", f"5;{'x' * 40000}\r\nhello\r\n{ZERO}{HIDDEN}", "An extension has a limit.", "400/413/431 close"),
    chunk("extensions-too-many", f"1;{'x' * 99}\r\nx\r\n" * 400 + ZERO + HIDDEN, "So have many small ones.",
          "400/413/431 close"),
    # Trailers.
    trailer("length", f"Content-Length: {len(HIDDEN)}", "A length in a trailer frames nothing.", body="hello"),
    trailer("coding", "Transfer-Encoding: chunked", "Nor does a coding.", body="hello"),
    trailer("host", "Host: evil", "A host in a trailer is not the host.", body="hello"),
    trailer("connection", "Connection: close", "Connection in a trailer closes nothing.", body="hello"),
    trailer("space-colon", "X : y", "A space before the colon is refused there, too.", "400 close"),
    trailer("folded", "X: y\r\n z", "A fold too.", "400 close"),
    trailer("bare-lf", f"X: y\n\n{HIDDEN}", "A bare LF too.", "400 close"),
    trailer("bare-cr", "X: y\rz", "A bare CR too.", "400 close"),
    trailer("nul", "X: \0", "A zero byte too.", "400 close"),
    trailer("no-colon", "nonsense", "What is no field too.", "400 close"),
    trailer("too-long", f"X: {'y' * 9000}", "Trailers have a limit.", "431 close"),
    # Fields.
    field("space-colon", "Content-Length : 5", "A space before the colon is refused."),
    field("tab-colon", "Host2\t: x", "A tab too."),
    field("no-colon", "Content-Length 5", "A line without a colon too."),
    field("no-name", ": 5", "A line without a name too."),
    field("leading-space", " Content-Length: 5", "A line that begins with a space too."),
    field("fold", "X: y\r\n\tz", "A fold too.", section="9112 5.2"),
    field("fold-empty", "X: y\r\n ", "A fold of nothing too.", section="9112 5.2"),
    field("bare-cr", "X: y\rContent-Length: 5", "A bare CR too.", section="9112 2.2"),
    field("bare-lf", "X: y\nContent-Length: 5", "A bare LF too.", section="9112 2.2"),
    field("nul-in-name", "Content\0-Length: 5", "A zero byte in a name too."),
    field("nul-in-value", "X: \0", "A zero byte in a value too.", section="9110 5.5"),
    field("high-name", "Content-Length\xa0: 5", "A byte that is no letter in a name too."),
    field("two-hosts", "Host: other", "A second host too.", section="9112 3.2"),
    Row("field-first-line-space", "9112 2.2", MUST, f"GET /file.txt HTTP/1.1\r\n Host: turtle\r\nHost: turtle\r\n\r\n{HIDDEN}",
        "400 close", "Space behind the request line is no field."),
    Row("field-line-lf", "9112 2.2", MUST, f"GET /file.txt HTTP/1.1\nHost: turtle\n\n{HIDDEN}", "400 close",
        "Bare LFs all over are refused."),
    Row("line-three-spaces", "9112 3", MUST, f"GET /file.txt /hidden.txt HTTP/1.1\r\nHost: turtle\r\n\r\n{HIDDEN}",
        "400 close", "A request line has three parts."),
    Row("line-bare-cr", "9112 2.2", MUST, f"GET /file.txt\rHTTP/1.1\r\nHost: turtle\r\n\r\n{HIDDEN}", "400 close",
        "A CR is no space in the request line."),
    Row("line-version", "9112 2.3", MUST, f"GET /file.txt HTTP/1.1x\r\nHost: turtle\r\n\r\n{HIDDEN}", "400/505 close",
        "A version has nothing behind it."),
    # Response splitting.
    split("redirect-crlf", "/docs?%0d%0aX-Evil:%20yes", "301", "A line end in a query stays encoded in Location."),
    split("redirect-lf", "/docs?%0aSet-Cookie:%20a=b", "301", "A bare LF does too."),
    split("redirect-cr", "/docs?a=%0dX-Evil:1", "301", "So does a bare CR."),
    split("redirect-path", "/docs%0d%0aX-Evil:%20yes", "400 close", "A line end in a path names no file."),
    split("redirect-slashes", "//evil.example/..%2fdocs", "400 close", "A target is no other host."),
    split("redirect-utf8", "/docs?%c4%8d%c4%8aX-Evil:1", "301", "Letters whose last bytes are a line end are letters."),
    split("path-raw-cr", "/docs\rX-Evil:1", "400 close", "A raw CR is refused."),
    split("path-raw-lf", "/docs\nX-Evil: 1", "400 close", "A raw LF too."),
    split("path-raw-nul", "/docs\0", "400 close", "A raw zero byte too."),
    split("query-to-program", "/cgi-bin/env?%0aX-Evil:1", "200", "A program gets the query as it came.",
          contains=("QUERY_STRING=%0aX-Evil:1\n",)),
    Row("split-method", "9110 5.6.2", MUST, f"GET\x0b/ HTTP/1.1\r\nHost: turtle\r\n\r\n{HIDDEN}", "400 close",
        "A method is a token."),
    said("crlf", "Content-Type: text/plain\nX-A: b\r\r\nX-Evil: c\n\nbody", "502", "A CR in a program's field is refused.",
         lacks=("X-Evil",)),
    said("cr", "Content-Type: text/plain\nX-A: b\rX-Evil: c\n\nbody", "502", "Wherever it stands.", lacks=("X-Evil",)),
    said("nul", "Content-Type: text/plain\nX-A: \0\n\nbody", "502", "So is a zero byte."),
    said("location", "Location: http://a/\rX-Evil: c\n\n", "502", "In Location too.", lacks=("X-Evil",)),
    said("status", "Status: 200 OK\rX-Evil: c\nContent-Type: text/plain\n\nbody", "502", "And in the status line.",
         lacks=("X-Evil",)),
    said("length-short", f"Content-Type: text/plain\nContent-Length: 5\n\nhello{HIDDEN}", "200",
         "Output beyond its length is dropped.", body="hello"),
    said("length-twice", "Content-Type: text/plain\nContent-Length: 5\nContent-Length: 6\n\nhello!", "502",
         "Two lengths of a program are refused."),
    said("coding", "Content-Type: text/plain\nTransfer-Encoding: chunked\n\n0\r\n\r\nHTTP/1.1 200 OK\r\n", "200/502",
         "A program frames no reply."),
    said("fold", "Content-Type: text/plain\nX-A: b\n X-Evil: c\n\nbody", "502", "A fold of a program is refused.",
         lacks=("X-Evil",)),
    said("interim", "Status: 100 Continue\n\nHTTP/1.1 200 OK\r\n", "502", "A program sends no interim reply."),
    said("reply", "HTTP/1.1 200 OK\r\nX-Evil: c\r\n\r\nbody", "502", "Nor a status line of its own.", lacks=("X-Evil",)),
]
