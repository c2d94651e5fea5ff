# Runs stages, each in a process of its own. A stage that fails does not stop the others.

say() { printf '\n== %s (minute %d)\n' "$*" $((($(date +%s) - began) / 60)); }

run_stage() {  # `set -e` holds in the new process; the exit code and the seconds are written down
  local start=$SECONDS code=0
  say "$1"
  bash -euo pipefail -c '. "$1"; "$2"' - "$stages_file" "$1" || code=$?
  echo "$code $((SECONDS - start))" >"$work/$1.result"
}

run_stages() {  # two at once, those of ALONE after the others; print a table, and fail if one failed
  local stage code seconds at_once=0 failed=()
  for stage in "$@"; do
    if [[ " ${ALONE[*]-} " == *" $stage "* ]]; then
      wait
      at_once=1
    elif [ $((++at_once)) -gt 2 ]; then
      wait -n
    fi
    (
      trap - INT
      if [[ " ${LONG[*]} " == *" $stage "* ]]; then
        run_stage "$stage"
        exit
      fi
      run_stage "$stage" >"$work/$stage.output" 2>&1
      flock "$work" cat "$work/$stage.output"
      rm "$work/$stage.output"
    ) &
  done
  wait
  say "minutes of each stage"
  for stage in "$@"; do
    read -r code seconds <"$work/$stage.result"
    printf '%-14s %3d:%02d' "$stage" $((seconds / 60)) $((seconds % 60))
    if [ "$code" = 0 ]; then
      echo
    else
      echo "  failed ($code)"
      failed+=("$stage")
    fi
  done
  [ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" && return 1; }
}
