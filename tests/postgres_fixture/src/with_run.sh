# Keeps one PostgreSQL as long as the tests' run lasts. Arguments: the process that lives as long as
# the run, the supervisor's program, the supervisor's arguments.
set -u
run=$1 program=$2
shift 2
# What interrupts the tests must not keep this from cleaning up after them.
trap '' INT TERM HUP
{
  echo init
  echo start
  while kill -0 "$run" 2>/dev/null; do
    sleep 0.2
  done
} | sh -c "$program" sh "$@"
