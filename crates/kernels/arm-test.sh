#!/bin/sh
# Builds the tests of the arithmetic crates for aarch64 and runs them under emulation. Installs nothing.
#
# Needs an aarch64 standard library for some rustc, a cross linker and QEMU's user mode; on Debian 12:
#   dpkg --add-architecture arm64 && apt-get update
#   apt-get install rustc-web libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu qemu-user
# ARM_RUSTC names another rustc.
set -eu

target=aarch64-unknown-linux-gnu
rustc=${ARM_RUSTC:-/usr/bin/rustc}
missing=0

need() {
    if ! eval "$2" >/dev/null 2>&1; then
        echo "missing: $1" >&2
        missing=1
    fi
}
need "a rustc at $rustc (Debian: rustc-web)" "'$rustc' --version"
need "the $target standard library of $rustc (Debian: libstd-rust-web-dev:arm64)" \
    "ls \"\$('$rustc' --print sysroot)\"/lib/rustlib/$target/lib/libstd-*.rlib"
need "aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu)" "command -v aarch64-linux-gnu-gcc"
need "qemu-aarch64 (Debian: qemu-user)" "command -v qemu-aarch64"
[ "$missing" = 0 ] || exit 1

cd "$(dirname "$0")/../.."
export RUSTC="$rustc"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# Loader and C library must come from one place, or threads hang: the installed arm64 libc if there is one (the standard
# library's package brings it), else the cross compiler's.
libraries=
[ -e /lib/ld-linux-aarch64.so.1 ] || libraries="-L /usr/aarch64-linux-gnu"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -cpu max $libraries"
# Not the examples in documentation: they are compiled by a rustdoc, which would have to belong to this rustc.
exec cargo test --lib --tests --target "$target" --target-dir target/arm -p units -p quant -p kernels "$@"
