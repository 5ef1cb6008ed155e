#!/usr/bin/env bash
# slurm.sh PROGRAM: a study on a real Slurm with two nodes, submitted by `modlab study submit --slurm --run`, ends with the
# tables of one that was trained in one piece. A shard that is killed stops the merge, and what is submitted again goes on.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/small.yaml" <<'END'
name: small
title: A study for two nodes
tune: [lr]
parameters:
  task: {value: depth2}
  split_seed: {values: [40, 41, 42]}
  seed: {values: [0..47]}
  lr: {values: [0.1, 0.01]}
grids:
  - {series: modular, parameters: {model: modular}}
  - {series: shared, parameters: {model: modular-shared}}
END

on_cluster() {
  fail() {
    echo "$1"
    squeue || true
    tail -n 20 slurm-here/*.log results/small/slurm/*.out 2>/dev/null || true
    exit 1
  }
  # Until no job is left, however it ended.
  wait_for_jobs() {
    for _ in $(seq 1500); do
      [ -n "$(squeue --noheader --states=all --format='%T' | grep -vE 'COMPLETED|FAILED|CANCELLED|NODE_FAIL')" ] || return 0
      sleep 0.2
    done
    fail "jobs do not end"
  }
  cd "$work"
  "$program" study run small.yaml --out whole >/dev/null 2>&1
  said=$("$program" study submit small.yaml --slurm --shards 4 --run)
  echo "$said"
  [[ $said == *"Submitted: job "*" with 4 shards"* ]] || fail "nothing was submitted"
  wait_for_jobs
  [ -e results/small/report.html ] || fail "there is no report"
  grep -q "All 576 runs of small are in " results/small/slurm/merge.out || fail "the merge is not complete"

  # The same elsewhere: one shard is cancelled, so the merge is too. Submitted again, the rest is trained.
  "$program" study submit small.yaml --slurm --shards 4 --out again epochs=3000 >/dev/null
  (cd again/slurm && sbatch --parsable --hold array.sh >array.id)
  job=$(cat again/slurm/array.id)
  merge=$(cd again/slurm && sbatch --parsable --dependency=afterok:"$job" --kill-on-invalid-dep=yes merge.sh)
  scancel "${job}_3"
  scontrol release "$job"
  wait_for_jobs
  [ ! -e again/study.sqlite ] || fail "an unfinished study was merged"
  [ -n "$merge" ] || fail "no merge was submitted"
  (cd again/slurm && sh submit.sh >/dev/null)
  wait_for_jobs
  grep -q "All 576 runs of small are in " again/slurm/merge.out || fail "the second merge is not complete"
  "$program" study status again-shard1of4 again-shard2of4 again-shard3of4 again-shard4of4

  for folder in whole results/small; do
    "$program" export "$folder" --csv >/dev/null
  done
  for table in runs chosen means claims; do
    cmp "whole/csv/$table.csv" "results/small/csv/$table.csv" || fail "$table.csv differs"
  done
  echo "a study on two nodes of Slurm has the tables of one piece"
}
export -f on_cluster
export work program
"$here/slurm_here.sh" "$work/slurm-here" bash -euc on_cluster
