#!/usr/bin/env bash
# In the place of cargo while a page is typed in a checkout. The program under test is built already, which scripts ask for too; an example
# is built as the tests are, with the whole workspace's features, so that nothing else is built twice. Everything else is cargo's.
set -euo pipefail
if [ "$*" = 'build --quiet --package domesday-cli' ]; then
  exit
fi
asked=("$@")
package='' example='' known=yes
if [ "${1:-}" = run ]; then
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
      -p | --package) package=${2:-} && shift ;;
      --example) example=${2:-} && shift ;;
      -q | --quiet) ;;
      *) known= ;;
    esac
    shift
  done
  shift || true
  if [ -n "$known" ] && [ -n "$example" ]; then
    (cd '@REPOSITORY@' && '@CARGO@' build --quiet --workspace --example "$example") >&2
    exec "@BUILT@/examples/$example" "$@"
  fi
  if [ -n "$known" ] && [ "$package" = domesday-cli ]; then
    exec domesday "$@"
  fi
fi
exec '@CARGO@' "${asked[@]}"
