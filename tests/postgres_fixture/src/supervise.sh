# Runs one PostgreSQL for the process at the other end of standard input. Obeys its lines and
# answers each with a line. Stops everything when the pipe closes, however that process ended.
# Arguments: binaries, folder, who to run as ("" for nobody else), then settings of the server.
set -u
bin=$1 folder=$2 user=$3
shift 3
# What interrupts the tests must not keep this from cleaning up after them.
trap '' INT TERM HUP

# Takes the place of the shell that calls it.
become() {
  if [ -n "$user" ]; then
    exec setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups -- "$@"
  else
    exec "$@"
  fi
}

init() {
  (become "$bin/initdb" -D "$folder/data" -U test -A trust -E UTF8 --locale=C \
    --no-sync --no-instructions) >>"$folder/log" 2>&1
}

start() {
  become "$bin/postgres" -D "$folder/data" "$@" >>"$folder/log" 2>&1 &
  server=$!
  tries=0
  until "$bin/pg_isready" -q -h "$folder" -U test -d postgres; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ] || ! kill -0 "$server" 2>/dev/null; then return 1; fi
    sleep 0.05
  done
}

stop() {
  if [ -n "$server" ]; then
    # Immediate: as a crash, without a last word to any client.
    kill -CONT "$server" 2>/dev/null
    kill -QUIT "$server" 2>/dev/null
    wait "$server" 2>/dev/null
  fi
  server=
}

answer() {
  if "$@"; then echo ok; else echo failed; fi
}

server=
cd /
while read -r line; do
  case $line in
    init) answer init ;;
    start) answer start "$@" ;;
    stop) answer stop ;;
    database\ *) answer "$bin/createdb" -h "$folder" -U test "${line#database }" ;;
    backends\ *)
      # Freezes or thaws the whole server: its address stays, and nothing answers.
      for process in "$server" $(ps -o pid= --ppid "$server"); do
        kill "-${line#backends }" "$process" 2>/dev/null
      done
      echo ok ;;
    *) echo failed ;;
  esac
done
stop
rm -rf "$folder"
