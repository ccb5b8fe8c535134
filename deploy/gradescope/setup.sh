#!/usr/bin/env bash
# Run once by Gradescope, as root, as it makes the image: Python, and the packages in the versions that the course is
# tested with. TORCH_INDEX is where PyTorch's CPU build is; set to nothing: where everything else is.
set -euo pipefail
cd /autograder/source
chmod -R go= . # what a submission must not know is for root alone

usable() { command -v "$1" >/dev/null && "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

python=
for name in python3 python3.13 python3.12 python3.11; do
  usable "$name" || {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$name" "$name-venv" || true
  } >/dev/null 2>&1
  if usable "$name"; then
    python=$name
    break
  fi
done
if [ -z "$python" ]; then
  echo "Python 3.11 or newer is needed, and this image has none to install. Choose a newer Ubuntu." >&2
  exit 1
fi

"$python" -m venv /opt/attnlab
index=${TORCH_INDEX-https://download.pytorch.org/whl/cpu}
pip=(/opt/attnlab/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check -c constraints.txt)
"${pip[@]}" --no-deps ${index:+--index-url "$index"} torch
"${pip[@]}" "$(echo attnlab-*.whl)[course]"
