# Waits until the tests' run is over, ends the processes that its tests shared, and removes their
# folders and the run's. Arguments: the process that lives as long as the run, the run's folder.
set -u
run=$1 folder=$2
# What interrupts the tests must not keep this from cleaning up after them.
trap '' INT TERM HUP
cd /
while kill -0 "$run" 2>/dev/null; do
  sleep 0.2
done
for note in "$folder"/processes/*; do
  [ -e "$note" ] || continue
  kill -9 "${note##*/}" 2>/dev/null
  rm -rf "$(cat "$note")"
done
rm -rf "$folder"
