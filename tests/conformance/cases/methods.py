"""What the methods mean for files, and Expect: RFC 9110, sections 9 and 10.1.1."""

from row import GET, HEAD, HIDDEN, LETTERS, MAY, MUST, POST, SHOULD, Row, get

ALLOWED = "GET, HEAD, OPTIONS"


def expect(value: str, body: str = "hello") -> str:
    return f"{POST}Expect: {value}\r\nContent-Length: {len(body)}\r\n\r\n{body}"


ROWS = [
    Row("get", "9110 9.3.1", MUST, get("/docs/page.txt"), "200", "GET brings the file.", body="page\n",
        has={"Content-Length": "5"}),
    Row("head", "9110 9.3.2", MUST, f"{HEAD}\r\n", "200", "HEAD brings the fields of GET and no body.",
        has={"Content-Length": "26", "Last-Modified": "Thu, 02 Jan 2020 03:04:05 GMT", "ETag": "<etag>"}),
    Row("head-type", "9110 9.3.2", SHOULD, get("/index.html", method="HEAD"), "200", "The type of a HEAD is that of a GET.",
        has={"Content-Type": "text/html; charset=utf-8", "Content-Length": "14", "Accept-Ranges": "bytes"}),
    Row("head-large", "9110 9.3.2", MUST, get("/large.bin", method="HEAD"), "200", "A large file has no body for HEAD either.",
        has={"Content-Length": "2097152"}),
    Row("head-missing", "9110 9.3.2", MUST, get("/no", method="HEAD"), "404", "Nor has an error."),
    Row("head-folder", "9110 9.3.2", MUST, get("/docs", method="HEAD"), "301", "Nor has a redirect.", has={"Location": "/docs/"}),
    Row("head-refused", "9110 9.3.2", MUST, "HEAD /file.txt HTTP/1.1\r\n\r\n", "400 close",
        "Nor has the refusal of a HEAD whose line could be read."),
    Row("head-program", "9110 9.3.2", MUST, get("/cgi-bin/env", method="HEAD"), "200", "Nor has what a program says."),
    Row("head-empty", "9110 9.3.2", SHOULD, get("/empty.txt", method="HEAD"), "200", "The length of nothing is said.",
        has={"Content-Length": "0"}),
    *(
        Row(f"{method.lower()}-file", "9110 15.5.6", MUST, get("/file.txt", method=method), "405",
            f"A file takes no {method}, and the reply says what it takes.", has={"Allow": ALLOWED})
        for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE")
    ),
    Row("put-body", "9110 9.3.4", MUST, f"PUT /new.txt HTTP/1.1\r\nHost: turtle\r\nContent-Length: 5\r\n\r\nhello", "405",
        "Nothing is put, and the body is passed over."),
    Row("put-chunked", "9110 9.3.4", MUST, f"PUT /new.txt HTTP/1.1\r\nHost: turtle\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "405", "A refused body does not cost the connection if all of it is there."),
    Row("put-did-nothing", "9110 9.3.4", MUST, get("/new.txt"), "404", "What was refused was not done."),
    Row("post-missing", "9110 15.5.6", MAY, get("/no", method="POST"), "404/405", "A file that is missing takes no POST either."),
    Row("trace-hides-cookie", "9110 9.3.8", SHOULD, get("/cgi-bin/env", "Cookie: secret", method="TRACE"), "405/501",
        "TRACE gives nobody's cookies back.", without=("secret",)),
    Row("options-file", "9110 9.3.7", SHOULD, get("/file.txt", method="OPTIONS"), "200/204", "OPTIONS says what a file takes.",
        has={"Allow": ALLOWED}),
    Row("options-no-content", "9110 9.3.7", MUST, get("/docs/", method="OPTIONS"), "200/204", "It says so of a folder, without a body.",
        has={"Allow": ALLOWED}, body=""),
    Row("expect-continue", "9110 10.1.1", MUST, f"{POST}Expect: 100-continue\r\nContent-Length: 0\r\n\r\n", "200",
        "Nobody is told to go on when there is no body.", body=""),
    Row("expect-body-there", "9110 10.1.1", MAY, expect("100-continue"), "200",
        "Nor when the body is already there.", body="hello"),
    Row("expect-waits", "9110 10.1.1", MUST, f"{POST}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n", "100, 200",
        "A client that waits is told to go on, and then answered.", body="hello", later="hello"),
    Row("expect-waits-chunked", "9110 10.1.1", MUST, f"{POST}Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n", "100, 200",
        "So is one that does not know how long its body will be.", body="hello", later="5\r\nhello\r\n0\r\n\r\n"),
    Row("expect-waits-then-fault", "9110 10.1.1", MUST, f"{POST}Expect: 100-continue\r\nTransfer-Encoding: chunked\r\nX: 1\r\n\r\n",
        "100, 400 close", "A body that was asked for may still be refused.", later="x\r\n"),
    Row("expect-any-case", "9110 10.1.1", MUST, expect("100-CONTINUE", "hello!"), "200", "The expectation has no case.",
        body="hello!"),
    Row("expect-file", "9110 10.1.1", MUST, "PUT /file.txt HTTP/1.1\r\nHost: turtle\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
        "405 close", "A final status comes instead of 100 when the head decides it."),
    Row("expect-too-large", "9110 10.1.1", MUST, f"{POST}Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", "413 close",
        "A body that is too large is not asked for."),
    Row("expect-invalid-length", "9110 10.1.1", MUST, f"{POST}Expect: 100-continue\r\nContent-Length: x\r\n\r\n", "400 close",
        "Nor one whose end is unknown."),
    Row("expect-unknown", "9110 10.1.1", MAY, f"{GET}Expect: the-worst\r\n\r\n", "417", "Another expectation is 417."),
    Row("expect-unknown-too", "9110 10.1.1", MAY, f"{GET}Expect: 100-continue, the-worst\r\n\r\n", "417",
        "So is another one beside the known."),
    Row("expect-empty-elements", "9110 5.6.1.2", MUST, expect(",100-continue, ,"), "200",
        "Empty elements of the list of expectations are passed over.", body="hello"),
    Row("expect-empty", "9110 5.6.1.2", MUST, expect(""), "200", "An empty list of expectations expects nothing.", body="hello"),
    Row("expect-empty-elements-wait", "9110 5.6.1.2", MUST, f"{POST}Expect: ,100-continue\r\nContent-Length: 5\r\n\r\n", "100, 200",
        "A client whose list has empty elements is told to go on all the same.", body="hello", later="hello"),
    Row("expect-in-1.0", "9110 10.1.1", MUST,
        "POST /cgi-bin/cat HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello", "200 close",
        "In HTTP/1.0 it is ignored: that client knows no 100.", body="hello"),
    Row("expect-get", "9110 10.1.1", MUST, f"{GET}Expect: 100-continue\r\n\r\n", "200", "A request without a body gets no 100.",
        body=LETTERS),
    Row("expect-hidden", "9110 10.1.1", MUST,
        f"PUT /file.txt HTTP/1.1\r\nHost: turtle\r\nExpect: 100-continue\r\nContent-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}",
        "405 close", "A body that came though it was not asked for is not answered."),
]
