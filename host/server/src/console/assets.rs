//! Files that pages load, embedded in the program. Those of other projects are in `vendor/`.

use super::error::ConsoleError;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The path of the script that reads tiles.
pub(super) const PMTILES_PATH: &str = "/assets/pmtiles-4.5.0.js";

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of a page.
struct Asset {
    name: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
    /// True if it is compressed with gzip, and its name has its version.
    vendored: bool,
}

const fn own_file(name: &'static str, media_type: &'static str, text: &'static str) -> Asset {
    Asset {
        name,
        media_type,
        bytes: text.as_bytes(),
        vendored: false,
    }
}

const fn vendored_file(
    name: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
) -> Asset {
    Asset {
        name,
        media_type,
        bytes,
        vendored: true,
    }
}

static ASSETS: [Asset; 10] = [
    own_file("console.css", CSS, include_str!("assets/console.css")),
    own_file("console.js", JAVASCRIPT, include_str!("assets/console.js")),
    own_file(
        "curve-slider.js",
        JAVASCRIPT,
        include_str!("assets/curve-slider.js"),
    ),
    own_file("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
    own_file(
        "tile-map.js",
        JAVASCRIPT,
        include_str!("assets/tile-map.js"),
    ),
    own_file(
        "tile-style.js",
        JAVASCRIPT,
        include_str!("assets/tile-style.js"),
    ),
    vendored_file(
        "maplibre-gl-6.17.0.mjs",
        JAVASCRIPT,
        include_bytes!("../../vendor/maplibre-gl/maplibre-gl.mjs.gz"),
    ),
    vendored_file(
        "maplibre-gl-worker-6.17.0.mjs",
        JAVASCRIPT,
        include_bytes!("../../vendor/maplibre-gl/maplibre-gl-worker.mjs.gz"),
    ),
    vendored_file(
        "maplibre-gl-6.17.0.css",
        CSS,
        include_bytes!("../../vendor/maplibre-gl/maplibre-gl.css.gz"),
    ),
    vendored_file(
        "pmtiles-4.5.0.js",
        JAVASCRIPT,
        include_bytes!("../../vendor/pmtiles/pmtiles.js.gz"),
    ),
];

/// Serves a file. A vendored file is sent compressed, as it is stored, and every browser unpacks
/// it.
pub(super) async fn file(Path(name): Path<String>) -> Result<Response, ConsoleError> {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    let asset = found.ok_or(ConsoleError::NoPage)?;
    let cache = match asset.vendored {
        true => "private, max-age=31536000, immutable",
        false => "private, max-age=300",
    };
    let headers = [
        (header::CONTENT_TYPE, asset.media_type),
        (header::CACHE_CONTROL, cache),
    ];
    let packed = asset
        .vendored
        .then_some([(header::CONTENT_ENCODING, "gzip")]);
    Ok((headers, packed, asset.bytes).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use sha2::{Digest, Sha256};
    use std::io::Read;

    #[test]
    fn vendored_files_are_the_versions_whose_digests_are_noted() {
        let notes = [
            include_str!("../../vendor/maplibre-gl/README.md"),
            include_str!("../../vendor/pmtiles/README.md"),
        ]
        .concat();
        for asset in ASSETS.iter().filter(|asset| asset.vendored) {
            let mut unpacked = Vec::new();
            let mut reader = GzDecoder::new(asset.bytes);
            reader.read_to_end(&mut unpacked).unwrap();
            let digest = hex::encode(Sha256::digest(&unpacked));
            let (stem, ending) = asset.name.rsplit_once('.').unwrap();
            let (name, version) = stem.rsplit_once('-').unwrap();
            let line = format!("{digest}  {name}.{ending}\n");
            assert!(notes.contains(&line), "{line}");
            assert!(
                notes.contains(&format!("` {version} from npm")),
                "{version}"
            );
        }
        let notices = include_str!("../../vendor/maplibre-gl/NOTICES");
        assert!(notices.contains("The source maps of maplibre-gl 6.17.0 name"));
        // The scripts of the pages name the same versions.
        let script = include_str!("assets/tile-map.js");
        for asset in ASSETS.iter().filter(|asset| asset.vendored) {
            let path = format!("/assets/{}", asset.name);
            assert!(script.contains(&path) || PMTILES_PATH == path, "{path}");
        }
    }
}
