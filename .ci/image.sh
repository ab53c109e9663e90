# Builds the image of `packaging/Containerfile` and starts it. Sourced by .ci/packaging.sh.

# With a container engine.
build_image_by_docker() {
  docker build --quiet --file packaging/Containerfile --tag latchkey:check . || return 1
  docker run --rm --read-only --tmpfs /tmp latchkey:check --version
}

# Without an engine: Debian's buildah needs neither a daemon nor an image registry. The base image is built from Debian
# packages and the Node.js of this machine.
build_image_by_buildah() {
  local place outcome
  if ! command -v buildah mmdebstrap crun >/dev/null; then
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends buildah mmdebstrap crun; } \
      >/dev/null || return 1
  fi
  place=$(mktemp -d)
  (
    set -e
    make_node_image "$place" >"$place/log" 2>&1
    within "$place" build --isolation chroot --pull-never --quiet --build-arg NODE_IMAGE=localhost/node \
      --file packaging/Containerfile --tag localhost/latchkey . >>"$place/log" 2>&1
    start_image "$place"
  )
  outcome=$?
  [ "$outcome" -eq 0 ] || tail -n 40 "$place/log"
  rm -rf "$place"
  return $outcome
}

# Runs buildah with a separate storage.
within() {
  buildah --root "$1/storage" --runroot "$1/run" --storage-driver vfs "${@:2}"
}

make_node_image() {
  local container npm
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  mmdebstrap --variant=minbase --quiet "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$1/system.tar"
  container=$(within "$1" from scratch)
  within "$1" add "$container" "$1/system.tar" /
  within "$1" copy "$container" "$(node --print process.execPath)" /usr/local/bin/node
  within "$1" copy "$container" "$npm" /usr/local/lib/node_modules/npm
  within "$1" run --isolation chroot "$container" -- ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
  within "$1" run --isolation chroot "$container" -- useradd --uid 1000 --create-home node
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    within "$1" copy "$container" "$NODE_EXTRA_CA_CERTS" /etc/node-certificates.pem
    within "$1" config --env NODE_EXTRA_CA_CERTS=/etc/node-certificates.pem "$container"
  fi
  within "$1" commit --quiet "$container" localhost/node
  within "$1" rm "$container"
}

# Starts the service with a new database, under an account with write access only to its data.
start_image() {
  local container port service answer=
  container=$(within "$1" from --pull-never localhost/latchkey)
  port=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
  # A separate process group, to find the service: after SIGTERM it must end together with its database.
  set -m
  # shellcheck disable=SC2046 # several words on purpose
  within "$1" run --isolation chroot --env PORT="$port" "$container" -- \
    $(within "$1" inspect --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}' "$container") serve >>"$1/log" 2>&1 &
  service=$!
  set +m
  for _ in $(seq 120); do
    kill -0 "$service" 2>/dev/null || break
    answer=$(node -e 'fetch(process.argv[1]).then(async (a) => console.log(a.status, await a.text()), () => {})' "http://localhost:$port/health")
    [ -n "$answer" ] && break
    sleep 0.5
  done
  pkill -TERM -g "$service" -f "^/usr/local/bin/node " || true
  wait "$service" || true
  echo "the image answers $answer"
  [[ $answer = 200* ]]
}
