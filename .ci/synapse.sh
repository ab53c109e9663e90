# Installs Synapse and a chat client in Python into a separate folder, and prints the path of its Python interpreter.
# Sourced by .ci/run.

# The version that the tests were written for. Upgrade it in a separate change.
synapse_version=1.163.2
nio_version=0.26.0
# For a Synapse on PostgreSQL.
psycopg_version=2.9.11

find_synapse() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/latchkey-synapse-$synapse_version
  if ! "$folder/bin/python" -c 'import nio, psycopg2, synapse' 2>/dev/null; then
    rm -rf "$folder"
    if ! { python3 -c 'import ensurepip' 2>/dev/null || { apt-get update && apt-get install -y python3-venv; }; } >&2; then return 1; fi
    { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet "matrix-synapse==$synapse_version" "matrix-nio==$nio_version" \
      "psycopg2-binary==$psycopg_version"; } >&2 || return 1
  fi
  echo "$folder/bin/python"
}

# Lets Synapse read its configuration of packaging/compose/matrix.yaml, with the secrets that the file describes.
check_compose_homeserver() {
  local python=$1 folder outcome
  folder=$(mktemp -d)
  echo secret >"$folder/homeserver"
  "$python" -m synapse._scripts.generate_signing_key >"$folder/synapse-signing.key"
  printf 'database: { name: psycopg2, args: { host: postgresql, user: latchkey, dbname: synapse, password: secret } }\n' \
    >"$folder/database.yaml"
  sed -e "s|/run/secrets|$folder|; s|/data|$folder|" packaging/compose/matrix/homeserver.yaml >"$folder/homeserver.yaml"
  "$python" -m synapse.config read server.server_name --config-path "$folder/homeserver.yaml" --config-path "$folder/database.yaml"
  outcome=$?
  rm -rf "$folder"
  return $outcome
}
