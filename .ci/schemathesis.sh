# Installs Schemathesis into a separate folder and prints the path of the program. Sourced by .ci/run.

schemathesis_version=4.32.5

find_schemathesis() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/latchkey-schemathesis-$schemathesis_version
  if ! "$folder/bin/st" --version >/dev/null 2>&1; then
    rm -rf "$folder"
    if ! { python3 -c 'import ensurepip' 2>/dev/null || { apt-get update && apt-get install -y python3-venv; }; } >&2; then return 1; fi
    { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet "schemathesis==$schemathesis_version"; } >&2 || return 1
  fi
  echo "$folder/bin/st"
}
