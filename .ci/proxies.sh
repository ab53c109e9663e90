# Unpacks nginx and Caddy from Debian packages, without installing or starting them. Sourced by .ci/run.

proxies_folder=${XDG_CACHE_HOME:-$HOME/.cache}/latchkey-proxies

unpack_proxies() {
  if [ -x "$proxies_folder/usr/sbin/nginx" ] && [ -x "$proxies_folder/usr/bin/caddy" ]; then return 0; fi
  rm -rf "$proxies_folder"
  mkdir -p "$proxies_folder" || return 1
  (
    cd "$proxies_folder" || exit 1
    # A new container may not have Debian's package lists.
    apt-get download nginx caddy 2>/dev/null || { apt-get update && apt-get download nginx caddy; } || exit 1
    for package in ./*.deb; do dpkg-deb -x "$package" . && rm "$package" || exit 1; done
  )
}
