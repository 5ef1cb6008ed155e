#!/usr/bin/env bash
# A room includes headers only from rooms on its left, or from core/ and io/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../src"
declare -A allowed=(
  [core]="core"
  [mpi]="core"
  [torch]="core io tasks engine models torch"
  [io]="core io"
  [settings]="core io settings"
  [tasks]="core io tasks"
  [engine]="core engine hwy"
  [models]="core io settings tasks engine models"
  [measures]="core io settings tasks engine models measures"
  [methods]="core io settings tasks engine models measures methods"
  [experiments]="core io settings tasks engine models measures methods experiments"
  [studies]="core io settings tasks engine models measures methods experiments studies"
  [report]="core io settings tasks engine models measures methods experiments studies report"
  [cli]="core io settings tasks engine models measures methods experiments studies report cli bench"
)
failed=0
for room in */; do
  room=${room%/}
  if [ -z "${allowed[$room]:-}" ]; then
    echo "src/$room is not in the list of rooms; add it where it belongs"
    failed=1
    continue
  fi
  [ -e "$room/README.md" ] || { echo "src/$room has no README.md"; failed=1; }
  while IFS=: read -r file line included; do
    if [[ " ${allowed[$room]} " != *" $included "* ]]; then
      echo "src/$file:$line includes $included/, which is not on the left of $room/"
      failed=1
    fi
  done < <(grep -rnoP '^#include "\K[a-z_]+(?=/)' "$room")
done
exit $failed
