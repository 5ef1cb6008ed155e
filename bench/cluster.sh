#!/usr/bin/env bash
# bench/cluster.sh [PROGRAM]: what several processes cost. Ranks against threads on this machine, handing out a hundred
# thousand small runs, and merging their stores. Rates are of the training alone, in turns, the best of each; docs/clusters.md
# has the figures. Needs what `./modlab --mpi` builds.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${1:-$here/build/release/modlab}
rounds=${ROUNDS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# rate WORDS...: runs a second, as the program says, of a study from scratch.
rate() {
  rm -rf out
  "$@" --out out 2>/dev/null | sed -n 's/.* runs in .*, \([0-9]*\) a second\.$/\1/p'
}
# best of several rounds of each command, in turns: commands are read from standard input, "name: words".
in_turns() {
  local -A best=()
  local -a names=() commands=()
  local name words now
  while IFS=: read -r name words; do
    names+=("$name")
    commands+=("$words")
    best[$name]=0
  done
  for _ in $(seq "$rounds"); do
    for at in "${!names[@]}"; do
      # shellcheck disable=SC2086  # several words
      now=$(rate ${commands[$at]} </dev/null)
      [ "${now:-0}" -le "${best[${names[$at]}]}" ] || best[${names[$at]}]=$now
    done
  done
  for name in "${names[@]}"; do
    printf '%-34s %8s runs a second\n' "$name" "${best[$name]}"
  done
}

echo "boolean, quick: 3,402 runs"
in_turns <<END
1 thread:$program study run boolean --preset quick --threads 1
1 rank:mpirun -n 1 $program study run boolean --preset quick --threads 1 --mpi
2 threads:$program study run boolean --preset quick --threads 2
2 ranks:mpirun -n 2 $program study run boolean --preset quick --threads 1
END

cat >tiny.yaml <<END
name: tiny
title: Many runs that take no time
tune: none
parameters:
  task: {value: depth1}
  model: {value: modular}
  epochs: {value: 1}
  seed: {values: [0..99999]}
END
echo "100,000 runs of one epoch, keep=results"
rounds=2 in_turns <<END
2 threads:$program study run tiny.yaml keep=results --threads 2
2 ranks:mpirun -n 2 $program study run tiny.yaml keep=results --threads 1
END

for shard in 1 2 3 4; do
  "$program" study run tiny.yaml keep=results --shard "$shard/4" --out "shard$shard" >/dev/null 2>&1
done
echo "four shards of them, merged: $("$program" study merge merged shard? 2>/dev/null | head -n 1)"
echo "again, everything being there: $("$program" study merge merged shard? 2>/dev/null | head -n 1)"
rm -rf merged shard?
for shard in 1 2; do
  "$program" study run boolean --preset quick --shard "$shard/2" --out "shard$shard" >/dev/null 2>&1
done
echo "two shards of boolean, quick, with curves and weights: $("$program" study merge merged shard? 2>/dev/null | head -n 1)"
