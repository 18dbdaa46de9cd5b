#!/usr/bin/env bash
# The digest of all that the bundle is made from. `make lint` compares it with that of the committed bundle, without Node.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
find src package.json .prettierrc.json .prettierignore eslint.config.js package-lock.json tsconfig.json build.sh -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1
