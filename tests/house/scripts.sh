#!/usr/bin/env bash
# The scripts at the root and in cmake/: called through a link, and on a machine without apt.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$1"
  exit 1
}

# A tree in which everything is built: through links, one of them relative, ./modlab finds it.
tree=$work/tree
mkdir -p "$tree/build/release" "$tree"/{src,tasks,studies,web,bench,cmake} "$work/bin"
cp "$root/modlab" "$root/CMakeLists.txt" "$root/CMakePresets.json" "$tree"
printf '#!/bin/sh\necho "built: $*"\n' >"$tree/build/release/modlab"
chmod +x "$tree/build/release/modlab"
touch -d '+1 minute' "$tree/build/release/.built"
ln -s "$tree/modlab" "$work/bin/modlab"
ln -s modlab "$work/bin/lab"
[ "$(cd / && "$work/bin/modlab" --version)" = "built: --version" ] || fail "modlab does not work through a link"
[ "$(cd "$work" && bin/lab graph)" = "built: graph" ] || fail "modlab does not work through a link to a link"

# Without apt: what is needed is named, and what there is is taken.
mkdir "$work/path"
for tool in bash dirname readlink cat grep mkdir mktemp mv rm; do
  ln -s "$(command -v "$tool")" "$work/path/$tool"
done
said=$(PATH=$work/path bash "$root/cmake/install-packages" libfmt-dev curl 2>&1) || fail "install-packages stops without apt"
[[ $said == *"no apt"*"libfmt-dev curl"* ]] || fail "install-packages does not name the packages: $said"
cp -r "$root/cmake" "$tree"
if said=$(PATH=$work/path bash "$tree/cmake/build" modlab 2>&1); then
  fail "cmake/build goes on without a compiler"
fi
[[ $said == *"Highway, fmt, yaml-cpp"*"not found here: c++ cmake ninja pkg-config npm"* ]] ||
  fail "cmake/build does not say what is missing: $said"
# Python comes with the package on its path, and with what stands behind the word.
if [ -x /usr/bin/python3 ]; then
  suffix=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
  mkdir -p "$tree/python" "$tree/build/release/python/modlab"
  touch "$tree/build/release/python/modlab/_core$suffix"
  echo 'name = "the package"' >"$tree/build/release/python/modlab/__init__.py"
  touch -d '+1 minute' "$tree/build/release/.built-modlab_python"
  echo 'import sys, modlab; print(modlab.name, sys.argv[1:])' >"$work/script.py"
  said=$(cd / && PYTHONDONTWRITEBYTECODE=1 "$work/bin/modlab" python "$work/script.py" --help 2>&1)
  [ "$said" = "the package ['--help']" ] || fail "modlab python does not run a script with the package: $said"
fi
for tool in c++ ninja pkg-config npm; do
  printf '#!/bin/sh\n' >"$work/path/$tool"
done
printf '#!/bin/sh\necho cmake "$@"\n' >"$work/path/cmake"
chmod +x "$work/path"/{c++,ninja,pkg-config,npm,cmake}
said=$(PATH=$work/path bash "$tree/cmake/build" modlab 2>&1) || fail "cmake/build stops though all is there: $said"
grep -q 'cmake --build --preset release --target modlab' "$tree/build/release/build.log" || fail "cmake/build builds nothing"

# Ranks that start together build what they need once, and then run.
if dpkg-query -W libopenmpi-dev openmpi-bin >/dev/null 2>&1; then
  printf '#!/bin/sh\necho "$@" >>"%s/builds"\ntouch "%s/build/release/libmodlab_mpi.so"\n' "$work" "$tree" >"$tree/cmake/build"
  touch -d '+1 minute' "$tree/build/release/.built"
  for rank in 1 2 3 4; do
    OMPI_COMM_WORLD_SIZE=4 "$tree/modlab" study "$rank" >"$work/rank$rank" 2>&1 &
  done
  wait
  [ "$(cat "$work/builds")" = "modlab -DMODLAB_MPI=ON" ] || fail "ranks build more than once: $(cat "$work/builds")"
  [ "$(cat "$work"/rank? | sort | tail -n 1)" = "built: study 4" ] || fail "ranks do not run: $(cat "$work"/rank?)"
  [ -z "$("$tree/modlab" --mpi 2>&1)" ] || fail "--mpi alone does more than build"
fi
