# packages.sh - Debian packages, installed where they lack: for scripts of this folder and .ci/run, which read it by `.`

installed() { dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed'; }

# Installs them; the lists of packages are fetched only when what is there will not do.
apt_install() {
    sudo=; [ "$(id -u)" -eq 0 ] || sudo=sudo
    set -- $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -qq -y \
        --no-install-recommends "$@"
    "$@" >/dev/null 2>&1 || { $sudo apt-get update -qq && "$@" >/dev/null 2>&1; }
}
