#!/usr/bin/env bash
# Builds the web console into host/internal/web/static, which is committed: `make build` needs Go alone. The compiler
# is the one in Go that .ci/tools.mod pins; Node only fetches the libraries, checks types, form and what eslint finds
# (import circles, complexity, unused), and runs the unit tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
npm ci --no-progress >/dev/null
rm -rf node_modules/flatted/golang # a package of Go, which the go command would take for one of this module
node_modules/.bin/tsc --noEmit
node_modules/.bin/prettier --check --log-level warn 'src/**/*.{ts,tsx,css,html}' # npm run format mends it
node_modules/.bin/eslint src
tests=$(mktemp -d)
trap 'rm -rf "$tests"' EXIT
mapfile -t units < <(find src -name '*.test.ts')
${GO:-go} tool -modfile=../../.ci/tools.mod esbuild "${units[@]}" --bundle --platform=node --format=esm --out-extension:.js=.mjs --outdir="$tests" --log-level=warning
find "$tests" -name '*.mjs' -print0 | xargs -0 node --test --test-reporter=spec >"$tests/report" || { cat "$tests/report"; exit 1; }
out=../internal/web/static
rm -rf "$out"
mkdir -p "$out"
${GO:-go} tool -modfile=../../.ci/tools.mod esbuild app=src/app.tsx --bundle --minify --splitting --format=esm --target=es2022 \
	--jsx=automatic --jsx-import-source=preact --legal-comments=none --chunk-names=[name] --outdir="$out" --log-level=warning
${GO:-go} tool -modfile=../../.ci/tools.mod esbuild layout=src/map/worker.ts --bundle --minify --format=esm --target=es2022 --legal-comments=none --outdir="$out" --log-level=warning
${GO:-go} tool -modfile=../../.ci/tools.mod esbuild app=src/app.css --bundle --minify --target=es2022 --outdir="$out" --log-level=warning
cp src/index.html src/icon.svg src/icon-alarm.svg "$out/"
for p in preact @preact/signals @preact/signals-core uplot d3-force d3-dispatch d3-quadtree d3-timer; do
	printf '%s\n\n' "$p $(node -p "require('./node_modules/$p/package.json').version")"
	cat "node_modules/$p/LICENSE"
	printf '\n\n'
done >"$out/LICENSES.txt"
./sources.sh >"$out/SOURCES.sha256"
