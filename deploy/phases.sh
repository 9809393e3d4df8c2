# Shared by deploy/quickstart, deploy/install-packages and tests/run: phases of a long command that print one line each, with
# progress and elapsed time, and checks of the machine. To be sourced from the root of the clone.
#
# On a terminal a phase rewrites its line in place. Elsewhere it prints a line when it ends and, before that, one a minute.
# The whole output of its command goes to a file in build/logs/. With verbose=yes it is shown as well.

readonly LOGS=build/logs
REPORT_SECONDS=60
verbose=no

# Ends the script with one line.
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

[[ ${BASH_VERSINFO[0]} -ge 5 ]] || fail "needs Debian 12, or at least its bash 5; this is bash $BASH_VERSION"
shopt -s lastpipe # `follow` runs in the calling shell and leaves it the last state of progress

# The comment at the top of the script.
usage() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

usage_error() {
  printf '%s: %s\n\n' "${0##*/}" "$*" >&2
  usage >&2
  exit 2
}

# ---- Phases -------------------------------------------------------------------------------------------------------------

elapsed() {
  local seconds=$1
  if ((seconds < 60)); then
    printf '%d s' "$seconds"
  elif ((seconds < 3600)); then
    printf '%d min %02d s' $((seconds / 60)) $((seconds % 60))
  else
    printf '%d h %02d min' $((seconds / 3600)) $((seconds % 3600 / 60))
  fi
}

# Counters get one line of output each. They set `counted`, what the phase's line says of progress, and succeed if the line
# need not be shown.
count_nothing() { false; }
count_ninja() { [[ $1 =~ ^\[([0-9]+)/([0-9]+)\] ]] && counted=" ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"; }
count_ctest() {
  local finished='^ *([0-9]+)/([0-9]+) Test +#'
  if [[ $1 =~ $finished ]]; then counted=" ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"; fi
  [[ $1 =~ ^\ *Start\ +[0-9]+: || ( $1 =~ $finished && $1 =~ \ Passed\ +[0-9.]+\ sec ) ]]
}

count_pytest() { # of its options -v --no-header
  if [[ $1 =~ \[\ *([0-9]+)%\]$ ]]; then counted=" ${BASH_REMATCH[1]}%"; fi
  [[ $1 =~ \ PASSED\ |^=+\ test\ session\ starts|^collecting ]]
}

# The functions from here to `phase` use the variables of `phase`.
progress() { printf '%s%s, %s' "$label" "$counted" "$(elapsed $((SECONDS - start)))"; }

take_line() {
  local seen=$rest
  if "$counter" "$1"; then seen=hidden; fi
  if [[ $verbose == yes || $seen == shown ]]; then
    printf '%s%s\n' "$erase" "$1"
    on_screen=""
  fi
}

report_progress() {
  if [[ $verbose == yes ]]; then return; fi
  if [[ -n $erase ]]; then
    if [[ $on_screen == "$(progress)" ]]; then return; fi
    on_screen=$(progress)
    printf '%s%s' "$erase" "$on_screen"
  elif ((SECONDS - reported >= REPORT_SECONDS)); then
    printf '%s\n' "$(progress)"
    reported=$SECONDS
  fi
}

# Reads the output of a phase's command, and looks at the clock every second.
follow() {
  local piece="" line="" status=0
  while [[ $status -ne 1 ]]; do
    status=0
    IFS= read -r -t 1 piece || status=$? # 1: the end; above 128: a second has passed, `piece` holds what came of a line
    line+=$piece
    if [[ $status -eq 0 || ( $status -eq 1 && -n $line ) ]]; then
      take_line "$line"
      line=""
    fi
    if [[ $status -ne 1 ]]; then report_progress; fi
  done
}

# phase LABEL COUNTER LOG COMMAND...: runs COMMAND and appends its output to LOG. Returns its status; a phase that succeeded
# has printed its line. `rest=shown phase ...` also shows the lines that COUNTER does not hide. A function as COMMAND must
# check each of its steps: its caller asks for the status, so `set -e` does not apply to it.
phase() {
  local label=$1 counter=$2 log=$3 start=$SECONDS reported=$SECONDS status=0 erase="" on_screen=""
  local rest=${rest:-hidden} counted=${counted:-}
  shift 3
  if [[ -t 1 && ${TERM:-dumb} != dumb && $verbose == no ]]; then erase=$'\r\e[K'; fi
  "$@" </dev/null 2>&1 | tee -a "$log" | follow || status=$?
  printf '%s' "$erase"
  if [[ $status -eq 0 ]]; then printf '%s\n' "$(progress)"; fi
  return "$status"
}

# An empty log build/logs/NAME.log; sets `log`. It belongs to the clone's owner: root may install for someone else's build.
open_log() {
  log=$LOGS/$1.log
  { mkdir -p "$LOGS" && rm -f "$log" && : >"$log"; } 2>/dev/null ||
    fail "cannot write to $PWD/$LOGS: the clone belongs to $(stat -c %U .), this is $(id -un)"
  if [[ $EUID -eq 0 ]]; then chown --reference=. build "$LOGS" "$log" 2>/dev/null || true; fi
}

# What a reader of a failed phase wants first: the first failed command of a build, or the end of the output.
excerpt() {
  local lines=20
  if [[ -n ${CI:-} ]]; then lines=200; fi
  if grep -q '^FAILED: ' "$1"; then
    awk -v lines="$lines" '/^FAILED: / { found = 1 } found && lines-- > 0' "$1"
  else
    tail -n "$lines" "$1"
  fi
}

# Ends the script after a phase that failed.
phase_failed() {
  local what=$1 log=$2 because=""
  if grep -q 'No space left on device' "$log"; then because=": the disk is full"; fi
  if grep -q 'Killed signal terminated program' "$log"; then
    because=": a compiler was killed, most likely for lack of memory (each of the $(nproc) at a time takes up to 1.5 GB)"
  fi
  printf '\n%s: %s failed%s. The whole output is in %s; from it:\n\n' "${0##*/}" "$what" "$because" "$log" >&2
  excerpt "$log" >&2
  exit 1
}

# ---- The machine --------------------------------------------------------------------------------------------------------

# require_space WHAT FOLDER MB [FOLDER MB ...]: fails unless WHAT fits. Needs of folders on one file system add up.
require_space() {
  local what=$1 mount free
  local -A needed=()
  shift
  while [[ $# -gt 1 ]]; do
    mount=$(df --output=target "$1" | tail -n 1)
    needed[$mount]=$((${needed[$mount]:-0} + $2))
    shift 2
  done
  for mount in "${!needed[@]}"; do
    free=$(df --output=avail --block-size=1MB "$mount" | tail -n 1 | tr -d ' ')
    if ((free < needed[$mount])); then
      fail "not enough disk space: $what needs ${needed[$mount]} MB on $mount, $free MB are free"
    fi
  done
}

# still_needed FOLDER MB: how many of MB megabytes FOLDER does not hold yet.
still_needed() {
  local held=0
  if [[ -d $1 ]]; then held=$(du -s --block-size=1MB "$1" | cut -f 1); fi
  echo $(($2 > held ? $2 - held : 0))
}

# ---- Packages and build -------------------------------------------------------------------------------------------------

# install_and_build PACKAGES PRESET BUILD_MB TMP_MB [ARGUMENT ...]: installs that set of packages, configures and builds. The
# build folder takes BUILD_MB; what compiles and runs needs TMP_MB of temporary files. The arguments are the build's.
install_and_build() {
  local packages=$1 preset=$2 build_mb tmp=${TMPDIR:-/tmp} tmp_mb=$4 log show=()
  [[ -d $tmp ]] || fail "TMPDIR is $tmp, which is not a folder"
  build_mb=$(still_needed "build/$preset" "$3")
  shift 4
  if [[ $verbose == yes ]]; then show=(--verbose); fi
  deploy/install-packages "${show[@]}" --leave "$PWD" "$build_mb" --leave "$tmp" "$tmp_mb" "$packages" || exit $?
  require_space building "$PWD" "$build_mb" "$tmp" "$tmp_mb"

  open_log "configure-$preset"
  phase configuring count_nothing "$log" cmake --preset "$preset" || phase_failed configuring "$log"
  open_log "build-$preset"
  phase building count_ninja "$log" env NINJA_STATUS="[%f/%t] " cmake --build --preset "$preset" "$@" ||
    phase_failed building "$log"
}
