#!/usr/bin/env bash
# Stands in for cargo while a page is typed in a checkout. It skips a build of the program under
# test, which is there already. It builds an example as the tests are built, with the whole
# workspace's features, so that nothing else is built twice. Every other command goes to cargo.
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
