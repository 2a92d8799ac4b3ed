#!/usr/bin/env python3
"""Writes an image of the program as an OCI image layout, without a daemon.

  packaging/oci_layout.py --layout DIR --tag TAG --commit ID --arch ARCH --program DIR --demo DIR
                          [--gzip-level N]

The layout has two images. TAG has the program, its shared libraries and the CA roots of this
machine. TAG-demo adds the demo's releases. Times are those of SOURCE_DATE_EPOCH, names are sorted,
and no random number is used, so the same files give the same bytes.
"""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

USER = 65532
ROOTS = "/etc/ssl/certs/ca-certificates.crt"
# Folders that the program writes, and the usual one for temporary files.
FOLDERS = {"tmp": (0, 0o1777), "var/lib/domesday": (USER, 0o700), "srv/releases": (0, 0o755)}
ENVIRONMENT = {
    "DOMESDAY_DATA": "/var/lib/domesday",
    "DOMESDAY_LISTEN": "0.0.0.0:8080",
    "DOMESDAY_METRICS_LISTEN": "0.0.0.0:9464",
    "DOMESDAY_RELEASES": "/srv/releases",
    "PATH": "/usr/bin",
}
# The demo's key is made for clients on the same machine alone.
DEMO = {"DOMESDAY_LISTEN": "127.0.0.1:8080", "DOMESDAY_RELEASES": "/usr/share/domesday/demo"}


def epoch():
    return int(os.environ["SOURCE_DATE_EPOCH"])


def libraries(program):
    """Returns the paths of the shared libraries that the program needs, by the loader itself."""
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"(/\S+\.so\S*)", listed)))


def program_files(root):
    """Returns the files of the image: destinations with their sources or their text."""
    files = {
        "usr/bin/domesday": root / "usr/bin/domesday",
        ROOTS.lstrip("/"): pathlib.Path(ROOTS),
        "etc/passwd": f"root:x:0:0:root:/:/sbin/nologin\ndomesday:x:{USER}:{USER}::/var/lib/domesday:/sbin/nologin\n",
        "etc/group": f"root:x:0:\ndomesday:x:{USER}:\n",
        "etc/nsswitch.conf": "hosts: files dns\n",
    }
    for library in libraries(files["usr/bin/domesday"]):
        files[library.lstrip("/")] = pathlib.Path(library).resolve()
    documents = root / "usr/share/doc/domesday"
    # The examples are for a machine with a shell, and the package has them.
    for document in documents.iterdir():
        if document.is_file():
            files[f"usr/share/doc/domesday/{document.name}"] = document
    for package in ("libc6", "libgcc-s1", "gcc-12-base", "ca-certificates"):
        copyright_file = pathlib.Path("/usr/share/doc", package, "copyright")
        if copyright_file.exists():
            files[f"usr/share/doc/{package}/copyright"] = copyright_file.resolve()
    return files


def demo_files(root):
    """Returns the files below the demo's folder of releases."""
    folder = root / "usr/share/domesday/demo"
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path for path in found}


def layer(files, folders):
    """Returns a tar of the files, sorted, with the folders that lead to them."""
    parents = {str(parent) for name in [*files, *folders] for parent in pathlib.PurePath(name).parents}
    entries = {name: (0, 0o755) for name in parents - {"."}} | folders
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted({*files, *entries}):
            entry = tarfile.TarInfo(name)
            entry.mtime = epoch()
            if name in entries:
                entry.type = tarfile.DIRTYPE
                entry.uid, entry.mode = entries[name]
                entry.gid = entry.uid
                tar.addfile(entry)
                continue
            source = files[name]
            content = source.encode() if isinstance(source, str) else source.read_bytes()
            entry.size = len(content)
            executable = name.startswith("usr/bin/") or ".so" in name
            entry.mode = 0o755 if executable else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return target.getvalue()


class Layout:
    """An OCI image layout in a folder."""

    def __init__(self, folder, options):
        self.folder = folder
        self.options = options
        self.created = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc)
        self.manifests = []
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "blobs/sha256").mkdir(parents=True)

    def put(self, content, media_type):
        """Stores a blob and returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        (self.folder / "blobs/sha256" / digest).write_bytes(content)
        media_type = f"application/vnd.oci.image.{media_type}"
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def put_layer(self, tar):
        """Stores a layer and returns its descriptor and the digest of its tar."""
        packed = gzip.compress(tar, self.options.gzip_level, mtime=0)
        return self.put(packed, "layer.v1.tar+gzip"), f"sha256:{hashlib.sha256(tar).hexdigest()}"

    def put_image(self, tag, layers, environment):
        """Stores an image's configuration and manifest under a tag."""
        labels = {
            "org.opencontainers.image.licenses": "Apache-2.0",
            "org.opencontainers.image.revision": self.options.commit,
            "org.opencontainers.image.title": "domesday",
            "org.opencontainers.image.version": self.options.tag,
        }
        created = self.created.strftime("%Y-%m-%dT%H:%M:%SZ")
        configuration = {
            "architecture": self.options.arch,
            "config": {
                "Cmd": ["serve"],
                "Entrypoint": ["/usr/bin/domesday"],
                "Env": [f"{name}={value}" for name, value in sorted(environment.items())],
                "ExposedPorts": {"8080/tcp": {}, "9464/tcp": {}},
                "Labels": labels,
                "StopSignal": "SIGTERM",
                "User": f"{USER}:{USER}",
                "Volumes": {"/var/lib/domesday": {}},
                "WorkingDir": "/var/lib/domesday",
            },
            "created": created,
            "history": [{"created": created, "created_by": "scripts/package"} for _ in layers],
            "os": "linux",
            "rootfs": {"diff_ids": [diff for _, diff in layers], "type": "layers"},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": self.put(text(configuration), "config.v1+json"),
            "layers": [descriptor for descriptor, _ in layers],
            "annotations": labels,
        }
        descriptor = self.put(text(manifest), "manifest.v1+json")
        platform = {"architecture": self.options.arch, "os": "linux"}
        annotations = {"org.opencontainers.image.ref.name": tag}
        self.manifests.append(descriptor | {"platform": platform, "annotations": annotations})

    def close(self):
        """Writes the index, which names the images."""
        media_type = "application/vnd.oci.image.index.v1+json"
        index = {"schemaVersion": 2, "mediaType": media_type, "manifests": self.manifests}
        (self.folder / "index.json").write_bytes(text(index))
        (self.folder / "oci-layout").write_bytes(text({"imageLayoutVersion": "1.0.0"}))


def text(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("layout", "program", "demo"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("tag", "commit", "arch"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--gzip-level", type=int, default=9)
    options = parser.parse_args()
    # A tag has no tilde.
    options.tag = options.tag.replace("~", "-")
    layout = Layout(options.layout, options)
    program = layout.put_layer(layer(program_files(options.program), FOLDERS))
    demo = layout.put_layer(layer(demo_files(options.demo), {}))
    layout.put_image(options.tag, [program], ENVIRONMENT)
    layout.put_image(f"{options.tag}-demo", [program, demo], ENVIRONMENT | DEMO)
    layout.close()


if __name__ == "__main__":
    main()
