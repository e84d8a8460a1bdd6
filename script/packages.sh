# Sourced by the scripts beside it: the Debian packages Crossvisor needs, and how they are installed.
# shellcheck shell=bash

# To build: a C compiler and linker, libvirt's and OpenSSL's headers.
build_packages=(gcc libc6-dev make pkg-config libvirt-dev libssl-dev)
# To run: libvirt's QEMU driver, the emulator, what builds guest images, and the tools that the bare host runs.
run_packages=(libvirt-daemon-driver-qemu qemu-system-x86 qemu-utils mmdebstrap e2fsprogs uidmap openssh-client bonnie++ iperf3 fio)
# To test: libvirt's own client, to look at what is left from outside; a C++ compiler, Python and jansson, which plugins
# may be written with; a browser, to look at reports.
test_packages=(libvirt-clients openssh-server g++ python3 libjansson-dev chromium)

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# without_services COMMAND…: no service is started by a package that the command installs (policy-rc.d(8)).
without_services() {
    local policy=/usr/sbin/policy-rc.d ended=0
    [ -e "$policy" ] && { as_root "$@"; return; }
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    as_root "$@" || ended=$?
    as_root rm -f "$policy"
    return "$ended"
}

# install_packages ASK PACKAGE…: installs those that are missing; ASK is yes where a person is asked first.
install_packages() {
    local ask=$1 answer package
    shift
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        echo "These Debian packages are missing: ${missing[*]}"
        if [ "$ask" = yes ]; then
            read -r -p "Install them now? [Y/n] " answer
            case $answer in
            "" | [Yy]*) ;;
            *) echo "Nothing was installed."; return 1 ;;
            esac
        fi
        as_root apt-get update -qq
        without_services env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
        # The tests start SSH servers of their own; the machine gets none because of them.
        if [[ " ${missing[*]} " = *" openssh-server "* ]] && command -v systemctl >/dev/null; then
            as_root systemctl disable --quiet ssh.service
        fi
    fi
    # For root, libvirt's QEMU driver looks up this user although it does not use it here; the package that makes it
    # (libvirt-daemon-system) would also start a daemon and a network.
    if [ "$(id -u)" = 0 ] && ! getent passwd libvirt-qemu >/dev/null; then
        echo "Making the system user libvirt-qemu, which libvirt's QEMU driver looks up."
        useradd --system --user-group --no-create-home --home-dir /var/lib/libvirt --shell /usr/sbin/nologin \
            --comment "Libvirt Qemu" libvirt-qemu
    fi
}

need_rust() {
    [ -x "$HOME/.cargo/bin/cargo" ] && PATH=$HOME/.cargo/bin:$PATH
    if ! command -v cargo >/dev/null; then
        echo "Rust is missing. Install it from https://rustup.rs and run this again." >&2
        return 1
    fi
}
