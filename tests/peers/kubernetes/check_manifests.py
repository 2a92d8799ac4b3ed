"""Checks the manifests of examples/kubernetes, without a cluster or a network.

    check_manifests.py FOLDER PROGRAM

Each file must match the schemas of Kubernetes in `kubernetes-validate`, the files must name one
another's parts rightly, and `domesday` must read domesday.toml. Where kubectl is installed, what
its kustomize makes of the folder must match the schemas too.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import kubernetes_validate
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "packaging"))
import oci_layout

# The oldest and the newest release of Kubernetes that the package has among those in use.
VERSIONS = ["1.30", "1.37"]
# What the listener of metrics answers, beside /metrics.
PROBES = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
# Settings that the image makes, and no manifest.
OF_IMAGE = ("DOMESDAY_LISTEN", "DOMESDAY_METRICS_LISTEN", "DOMESDAY_RELEASES")


def equal(what: str, left, right) -> None:
    if left != right:
        raise AssertionError(f"{what}: {left!r}, not {right!r}")


def read(folder: Path) -> dict[str, dict]:
    """Returns the manifests that kustomization.yaml names, by kind, and that file itself."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    files = {file.name for file in folder.glob("*.yaml")} - {"kustomization.yaml"}
    equal("files of the kustomization", set(kustomization["resources"]), files)
    manifests = [yaml.safe_load((folder / name).read_text()) for name in sorted(files)]
    return {one["kind"]: one for one in manifests} | {"Kustomization": kustomization}


def check_schema(manifest: dict) -> None:
    for version in VERSIONS:
        kubernetes_validate.validate(manifest, version, strict=True)


def check_settings(folder: Path, program: str, pod: dict) -> None:
    """The program reads the settings, and the pod's ports, volumes and grace follow from them."""
    text = (folder / "domesday.toml").read_text()
    command = [program, "serve", "--config", str(folder / "domesday.toml"), "--print-config"]
    clean = {name: one for name, one in os.environ.items() if not name.startswith("DOMESDAY_")}
    # The image's variables come before the file.
    image = {name: oci_layout.ENVIRONMENT[name] for name in OF_IMAGE}
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=clean | image)
    equal(f"--print-config: {run.stderr}", run.returncode, 0)
    settings = tomllib.loads(run.stdout)
    for name, value in tomllib.loads(text).items():
        equal(name, settings[name], value)

    container = pod["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    listened = {"http": settings["listen"], "metrics": settings["metrics_listen"]}
    equal("ports", ports, {name: int(at.rsplit(":")[-1]) for name, at in listened.items()})
    for probe, path in PROBES.items():
        equal(probe, container[probe]["httpGet"], {"path": path, "port": "metrics"})
    drain = settings["drain_delay"] + settings["drain_timeout"]
    if pod["terminationGracePeriodSeconds"] <= drain + 5:
        raise AssertionError("terminationGracePeriodSeconds ends with the drain")
    # Not ready is seen before connections are refused.
    ready = container["readinessProbe"]
    if ready["periodSeconds"] * ready["failureThreshold"] >= settings["drain_delay"]:
        raise AssertionError("the drain's delay ends before the readiness probe")

    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    equal("volumes", set(mounts), {volume["name"] for volume in pod["volumes"]})
    equal("releases", settings["releases"], mounts["releases"]["mountPath"])
    equal("read-only", {name for name, one in mounts.items() if one.get("readOnly")},
          {"config", "releases"})
    environment = {one["name"]: one for one in container["env"]}
    # The folder of a volume is everybody's, and the service does not take it.
    data = Path(environment["DOMESDAY_DATA"]["value"])
    equal("data", str(data.parent), mounts["data"]["mountPath"])
    config = Path(environment["DOMESDAY_CONFIG"]["value"])
    equal("settings", str(config.parent), mounts["config"]["mountPath"])
    equal("secret", set(environment["DOMESDAY_STATE"]["valueFrom"]), {"secretKeyRef"})


def check_names(manifests: dict[str, dict]) -> None:
    """Selectors fit the pods' labels, and names those of the generated settings and the image."""
    deployment, kustomization = manifests["Deployment"], manifests["Kustomization"]
    pod = deployment["spec"]["template"]["spec"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    budget, policy = manifests["PodDisruptionBudget"]["spec"], manifests["NetworkPolicy"]["spec"]
    affinity = pod["affinity"]["podAntiAffinity"]
    term = affinity["preferredDuringSchedulingIgnoredDuringExecution"][0]["podAffinityTerm"]
    for what, selector in [
        ("Deployment", deployment["spec"]["selector"]["matchLabels"]),
        ("Service", manifests["Service"]["spec"]["selector"]),
        ("PodDisruptionBudget", budget["selector"]["matchLabels"]),
        ("NetworkPolicy", policy["podSelector"]["matchLabels"]),
        ("anti-affinity", term["labelSelector"]["matchLabels"]),
    ]:
        equal(what, selector, labels)
    if budget["minAvailable"] >= deployment["spec"]["replicas"]:
        raise AssertionError("the PodDisruptionBudget lets no node be emptied")
    generated = kustomization["configMapGenerator"][0]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    equal("ConfigMap", volumes["config"]["configMap"]["name"], generated["name"])
    equal("its file", generated["files"], ["domesday.toml"])
    equal("image", pod["containers"][0]["image"], kustomization["images"][0]["name"])


def check_security(pod: dict) -> None:
    container = pod["containers"][0]["securityContext"]
    equal("root", pod["securityContext"]["runAsNonRoot"], True)
    # A claim outlives its pod. Its keys must stay closed to the group at the next start.
    equal("claims", pod["securityContext"]["fsGroupChangePolicy"], "OnRootMismatch")
    equal("root file system", container["readOnlyRootFilesystem"], True)
    equal("privileges", container["allowPrivilegeEscalation"], False)
    equal("capabilities", container["capabilities"], {"drop": ["ALL"]})
    equal("token", pod["automountServiceAccountToken"], False)


def main(folder: Path, program: str) -> None:
    manifests = read(folder)
    pod = manifests["Deployment"]["spec"]["template"]["spec"]
    plain = [one for kind, one in manifests.items() if kind != "Kustomization"]
    for manifest in plain:
        check_schema(manifest)
    # A schema that takes anything would prove nothing.
    wrong = json.loads(json.dumps(manifests["Deployment"]))
    wrong["spec"]["template"]["spec"]["containers"][0]["livenessProb"] = {}
    try:
        check_schema(wrong)
    except kubernetes_validate.ValidationError:
        pass
    else:
        raise AssertionError("a misspelt field matches the schema")
    check_names(manifests)
    check_settings(folder, program, pod)
    check_security(pod)
    print(f"manifests: {len(plain)} files match Kubernetes {' and '.join(VERSIONS)}")
    if shutil.which("kubectl") is None:
        print("skipped: what kustomize makes of them needs kubectl")
        return
    command = ["kubectl", "kustomize", str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    built = list(yaml.safe_load_all(made.stdout))
    for manifest in built:
        check_schema(manifest)
    print(f"kustomize: {len(built)} objects")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
