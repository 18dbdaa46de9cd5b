#!/usr/bin/env bash
# build.sh OUT [DIR MODULE] - makes the plugin in DIR (this one: driver): one executable file with the generated
# stubs in it. MODULE has the function main.
# Exit code 3: what it needs is not here (said on standard error).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:?build.sh OUT [DIR MODULE]}
plugin=${2:-$here}
module=${3:-driver}
contract=${CTL_PROTO:-$here/../../proto}

missing() { echo "build.sh: $*" >&2; exit 3; }

# The first Python that has all modules; its full path goes into the executable, for
# the controller starts plugins with an environment of its own.
python=
for p in ${PYTHON:-python3 /usr/bin/python3 /usr/local/bin/python3}; do
	if p=$(command -v "$p") && p=$("$p" -c 'import sys, grpc, google.protobuf, cryptography; print(sys.executable)' 2>/dev/null); then
		python=$p
		break
	fi
done
[[ -n $python ]] || missing 'no python3 with the modules grpc, google.protobuf and cryptography (Debian: python3-grpcio python3-protobuf python3-cryptography)'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
well_known=google/protobuf/timestamp.proto
if command -v protoc >/dev/null && protoc --proto_path=/usr/include --proto_path=/usr/local/include -o /dev/null "$well_known" 2>/dev/null; then
	protoc=(protoc --proto_path=/usr/include --proto_path=/usr/local/include)
elif "$python" -c 'import grpc_tools.protoc' 2>/dev/null; then
	protoc=("$python" -m grpc_tools.protoc)
else
	missing 'no protoc (Debian: protobuf-compiler libprotobuf-dev) and no module grpc_tools'
fi
"${protoc[@]}" --proto_path="$contract" --proto_path="$here" --python_out="$work" \
	ctl/plugin/v1/common.proto ctl/plugin/v1/base.proto ctl/plugin/v1/switchdriver.proto ctl/plugin/v1/operations.proto \
	ctl/plugin/v1/host.proto ctl/plugin/v1/realm.proto ctl/plugin/v1/routes.proto rpcstatus.proto
touch "$work/ctl/__init__.py" "$work/ctl/plugin/__init__.py" "$work/ctl/plugin/v1/__init__.py"
cp "$here"/ctlplugin.py "$plugin"/*.py "$plugin"/*.json "$work"
"$python" -m zipapp "$work" --python="$python" --main="$module:main" --output="$out"
