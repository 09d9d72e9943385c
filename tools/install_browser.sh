#!/usr/bin/env bash
# The browser that drives the tests of the page: Debian's own, which is signed and patched with the system.
# Where it is missing and cannot be installed, that is said, and those tests are skipped (which `.ci/run` refuses).
set -euo pipefail

for program in chromium-headless-shell chromium chromium-browser google-chrome; do
    if command -v "$program"; then exit 0; fi
done
if ((EUID != 0)) || ! command -v apt-get > /dev/null; then
    echo "No browser is here, and this is not root on Debian: install chromium-headless-shell."
    exit 0
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell
