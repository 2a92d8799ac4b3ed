# Ends what runs in a folder and removes it, once the process at the other end of standard input is
# gone, however that ended. Argument: the folder.
set -u
folder=$1
trap '' INT TERM HUP
cd /
cat >/dev/null
for file in "$folder"/nginx.pid "$folder"/*/data/postmaster.pid; do
  if [ -e "$file" ]; then kill -QUIT "$(head -n 1 "$file")" 2>/dev/null; fi
done
sleep 0.5
for disk in "$folder"/node*; do
  umount -l "$disk" 2>/dev/null
done
rm -rf "$folder"
