use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A file with one PNG tile of four bytes.
fn archive() -> Vec<u8> {
    // One entry: tile 0, one run, four bytes, at the beginning.
    let root = gzip(&[1, 0, 1, 4, 1]);
    let metadata =
        gzip(br#"{"attribution": "<a href=\"https://tiles.example/\">Invented &amp; Co</a>"}"#);
    let mut head = b"PMTiles\x03".to_vec();
    let mut offset = HEADER_BYTES;
    for bytes in [root.len() as u64, metadata.len() as u64, 0, 4] {
        head.extend(offset.to_le_bytes());
        head.extend(bytes.to_le_bytes());
        offset += bytes;
    }
    head.extend([1_u64; 3].iter().flat_map(|count| count.to_le_bytes()));
    head.extend([1, 2, 1, 2, 0, 3]);
    for degrees in [-3.0, 50.0, 1.0, 54.0_f64] {
        #[allow(clippy::cast_possible_truncation)]
        head.extend(((degrees * 1e7) as i32).to_le_bytes());
    }
    head.extend([0; 9]);
    [head, root, metadata, b"tile".to_vec()].concat()
}

fn open(bytes: &[u8]) -> Result<TileArchive, Flaw> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    super::read(file.path())
}

#[test]
fn a_file_has_its_bounds_and_its_attribution() {
    let found = open(&archive()).unwrap();
    assert!(found.covers(0.0, 52.0));
    for (longitude, latitude) in [(-3.1, 52.0), (1.1, 52.0), (0.0, 49.9), (0.0, 54.1)] {
        assert!(!found.covers(longitude, latitude));
    }
    let part = AttributionPart {
        text: "Invented & Co".to_owned(),
        link: Some("https://tiles.example/".to_owned()),
    };
    assert_eq!(found.attribution().parts, [part]);
    assert_eq!(found.tag().len(), 16);
}

#[test]
fn a_file_that_cannot_be_drawn_is_refused_with_its_flaw() {
    let good = archive();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        open(&bytes).err().unwrap().to_string()
    };
    for (at, byte, words) in [
        (0, b'p', "not a PMTiles file"),
        (7, 2, "of version 2"),
        (97, 4, "Zstandard"),
        (98, 3, "Brotli"),
        (99, 5, "of kind 5"),
        (99, 0, "of kind 0"),
        // The root directory is no gzip, or names a tile beyond the section of tiles.
        (127, 0, "the root directory is damaged"),
        (64, 3, "the root directory is damaged"),
        // The metadata is elsewhere.
        (24, 0, "the metadata is damaged"),
        // The zooms and the bounds contradict each other.
        (100, 9, "the header is damaged"),
        (105, 0x7f, "the header is damaged"),
        // A section ends beyond the file, also where its end is no number.
        (66, 1, "bytes of the"),
        (63, 0xff, "bytes of the"),
    ] {
        let said = with(at, byte);
        assert!(said.contains(words), "{at} {byte}: {said}");
    }
    for length in [0, 7, 126, 127, good.len() - 1] {
        let said = open(&good[..length]).err().unwrap().to_string();
        let words = if length < 8 {
            "not a PMTiles file"
        } else {
            "Copy it again"
        };
        assert!(said.contains(words), "{length}: {said}");
    }
    let missing = TileArchive::open(Path::new("/nothing/here.pmtiles"));
    let said = missing.err().unwrap().to_string();
    assert!(
        said.contains("/nothing/here.pmtiles cannot be used"),
        "{said}"
    );
    assert!(TileArchive::open(Path::new("/tmp")).is_err());
}

#[test]
fn links_of_an_attribution_lead_to_the_web_alone() {
    let found = Attribution::parse(
        "&copy; <b onclick=x>A</b> <a target=_blank href='http://a.example'>B</a>\
         <a href=\"javascript:alert(1)\">C</a><script>D",
    );
    let parts = found.parts.iter();
    let parts: Vec<(&str, Option<&str>)> = parts
        .map(|part| (part.text.as_str(), part.link.as_deref()))
        .collect();
    let expected = [
        ("© ", None),
        ("A", None),
        (" ", None),
        ("B", Some("http://a.example")),
        ("C", None),
        ("D", None),
    ];
    assert_eq!(parts, expected);
}

#[tokio::test]
async fn a_range_is_within_the_file_and_bounded() {
    let bytes = archive();
    let found = Arc::new(open(&bytes).unwrap());
    let length = bytes.len() as u64;
    assert_eq!(found.read(length - 4, 4).await.unwrap(), b"tile");
    for (offset, bytes) in [
        (0, 0),
        (length, 1),
        (length - 4, 5),
        (0, MOST_BYTES + 1),
        (u64::MAX, 2),
    ] {
        let read = found.read(offset, bytes).await;
        assert!(
            matches!(read, Err(TileReadError::Range)),
            "{offset} {bytes}"
        );
    }
}
