# Starts Debian's PostgreSQL for the tests, in a temporary folder, and sets its URI. Sourced by .ci/run and .ci/nightly.

# Installs the server if it is missing.
find_postgres() {
  local bin
  bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | head -n 1)
  if [ -z "$bin" ]; then
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y postgresql; } >&2 || return 1
    bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | head -n 1)
  fi
  echo "$bin"
}

start_postgres() {
  local bin port account=()
  bin=$(find_postgres) || return 1
  port=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
  postgres_folder=$(mktemp -d)
  chmod 755 "$postgres_folder"
  # PostgreSQL does not run as root.
  if [ "$(id -u)" -eq 0 ]; then
    chown postgres "$postgres_folder"
    account=(setpriv --reuid=postgres --regid=postgres --init-groups)
  fi
  "${account[@]}" "$bin/initdb" --pgdata="$postgres_folder/data" --username=latchkey_tests --auth=trust --encoding=UTF8 \
    --locale=C --no-sync >/dev/null || return 1
  # The data need not survive a crash.
  "${account[@]}" "$bin/postgres" -D "$postgres_folder/data" -c listen_addresses=127.0.0.1 -c port="$port" \
    -c fsync=off -c max_connections=300 -c unix_socket_directories= >"$postgres_folder/log" 2>&1 </dev/null &
  postgres_pid=$!
  for _ in $(seq 100); do
    "$bin/pg_isready" -q -h 127.0.0.1 -p "$port" && break
    sleep 0.1
  done
  "$bin/pg_isready" -q -h 127.0.0.1 -p "$port" || return 1
  postgres_uri="postgres://latchkey_tests@127.0.0.1:$port/postgres"
}

stop_postgres() {
  [ -n "${postgres_pid:-}" ] || return 0
  kill -QUIT "$postgres_pid"
  wait "$postgres_pid" 2>/dev/null
  rm -rf "$postgres_folder"
}
