#!/bin/sh
# Requests per second for a small static file over keep-alive: a few seconds of wrk on loopback.
# One number, for a comparison before and after a change on the same machine.
#
#   tools/benchmark.sh build/final/turtle [SECONDS [CONNECTIONS]]
set -eu
turtle=${1:?usage: tools/benchmark.sh path/to/turtle [SECONDS [CONNECTIONS]]}
seconds=${2:-5}
connections=${3:-100}

if ! [ -x "$turtle" ]; then
  echo "benchmark: $turtle is not there, build it first: cmake --build build --target final" >&2
  exit 1
fi
if ! command -v wrk >/dev/null; then
  echo "benchmark: wrk is not installed (apt install wrk, brew install wrk): nothing measured" >&2
  exit 0
fi

work=$(mktemp -d)
server=
finish() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

mkdir "$work/site"
head -c 1024 /dev/zero | tr '\0' x >"$work/site/small.html"
"$turtle" serve "$work/site" --port 0 --address 127.0.0.1 >"$work/log" 2>&1 &
server=$!

# Port 0 lets the kernel choose; the first line says what it chose.
tries=0
until address=$(grep -o -m 1 '127\.0\.0\.1:[0-9][0-9]*' "$work/log"); do
  tries=$((tries + 1))
  if [ $tries -gt 100 ] || ! kill -0 "$server" 2>/dev/null; then
    echo "benchmark: the server did not start:" >&2
    cat "$work/log" >&2
    exit 1
  fi
  sleep 0.1
done

threads=$(getconf _NPROCESSORS_ONLN)
if [ "$threads" -gt "$connections" ]; then
  threads=$connections
fi
wrk -t "$threads" -c "$connections" -d "${seconds}s" --latency "http://$address/small.html" \
  | tee "$work/result"
if grep -q 'Non-2xx' "$work/result"; then
  echo "benchmark: not every reply was a 200" >&2
  exit 1
fi
