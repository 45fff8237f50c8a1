#!/bin/sh
# Makes a Debian or Ubuntu ready for the book. Vagrantfile, .devcontainer/Dockerfile and .ci/run call it.
#
#   tools/provision.sh                          what reading takes
#   tools/provision.sh --all                    and what `./learn test` takes
#   tools/provision.sh --user NAME [UID [GID]]  a machine for the book alone: an account with sudo, an ssh server
#
# The packages are listed in tools/learn/machine.py and nowhere else. It may run at any time again: what is done is
# left as it is, and no package server is asked.
set -eu
export PYTHONDONTWRITEBYTECODE=1  # the tree may be somebody else's
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)

# put FILE MODE: writes standard input there, where it is not what the file has.
put() {
  text=$(cat)
  if ! [ -f "$1" ] || [ "$(cat "$1")" != "$text" ]; then
    printf '%s\n' "$text" >"$1"
    chmod "$2" "$1"
  fi
}

if [ "${1-}" != --user ]; then
  exec sh "$root/learn" setup "$@"
fi

name=$2 uid=${3-1000} gid=${4-${3-1000}}
if [ "$(id -u)" -ne 0 ]; then
  echo "provision.sh: an account is made by root: sudo sh $0 $*" >&2
  exit 1
fi
sh "$root/learn" setup --ssh
# An id that is taken already is shared: a file of the host's is the account's file, whatever the number is called here.
if ! getent group "$name" >/dev/null; then
  groupadd --non-unique --gid "$gid" "$name"
fi
if ! getent passwd "$name" >/dev/null; then
  useradd --create-home --shell /bin/bash --non-unique --uid "$uid" --gid "$gid" "$name"
fi
put "/etc/sudoers.d/$name" 440 <<END
$name ALL=(ALL) NOPASSWD: ALL
END
put /etc/profile.d/turtle.sh 644 <<'END'
# Who enters stands in the book's folder.
if [ "$PWD" = "$HOME" ] && [ -d "$HOME/turtle" ]; then cd "$HOME/turtle"; fi
END
# Git asks whose a folder is. This one may be the host's.
folder=$(getent passwd "$name" | cut -d: -f6)/turtle
if ! git config --system --get-all safe.directory | grep -qxF "$folder"; then
  git config --system --add safe.directory "$folder"
fi
