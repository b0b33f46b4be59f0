#!/bin/sh
# Runs a program as a container engine would that is told --read-only --network none --cap-drop all: a read-only root,
# one volume at /data, an own network with loopback alone, user 1000, no rights. Engines want control groups, which not
# every machine has.
# usage: unshare --net --mount --pid --ipc --uts --fork --kill-child run-contained.sh <root> <volume> NAME=value … program …
set -eu
root=$1
volume=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount --bind "$volume" "$root/data"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777,size=64m,nosuid,nodev,noexec tmpfs "$root/dev/shm"
mount -o remount,ro "$root/dev"
mount -o remount,bind,ro "$root"
ip link set lo up
exec chroot "$root" setpriv --reuid=1000 --regid=1000 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
  env -i --chdir=/app "$@"
