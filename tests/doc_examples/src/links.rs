//! Links between pages, and pages that are named without a link.

use crate::Problem;
use crate::page::Page;
use regex::Regex;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

static NAMED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"docs/[A-Za-z0-9_/-]+\.(?:md|json)").expect("a literal"));

/// Finds links of a page that lead nowhere. `pages` are all pages, for their anchors.
pub fn faults(page: &Page, pages: &[Page], repository: &Path) -> Vec<Problem> {
    let mut faults = Vec::new();
    let folder = Path::new(&page.name).parent().unwrap_or(Path::new(""));
    for (line, link) in &page.links {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = link
            .split_once('#')
            .map_or((&**link, None), |(path, anchor)| (path, Some(anchor)));
        let path = if path.is_empty() {
            PathBuf::from(&page.name)
        } else {
            plain(&folder.join(path))
        };
        if !repository.join(&path).exists() {
            faults.push(page.fault(*line, format!("the link {link} leads nowhere")));
            continue;
        }
        let target = pages.iter().find(|other| Path::new(&other.name) == path);
        if let (Some(anchor), Some(target)) = (anchor, target)
            && !target.anchors.iter().any(|known| known == anchor)
        {
            faults.push(page.fault(*line, format!("{} has no heading #{anchor}", target.name)));
        }
    }
    for (number, line) in page.text.lines().enumerate() {
        let named = NAMED.find_iter(line).map(|found| found.as_str());
        let missing = named.filter(|named| !repository.join(named).exists());
        faults.extend(missing.map(|named| page.fault(number + 1, format!("there is no {named}"))));
    }
    faults
}

/// Returns a path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_and_anchors_are_found() {
        let temp_dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(temp_dir.path().join("docs/deep")).unwrap();
        for name in ["README.md", "docs/b.md", "docs/deep/c.md"] {
            std::fs::write(temp_dir.path().join(name), "").unwrap();
        }
        let b = Page::read("docs/b.md", "# One thing\n").unwrap();
        let text = "[a](../b.md#one-thing) [b](../../README.md) [c](https://x.example/y) docs/b.md [here](#top)\n\n# Top\n\n[d](d.md) [e](../b.md#two) docs/f.md\n";
        let c = Page::read("docs/deep/c.md", text).unwrap();
        let faults = faults(&c, &[b, c.clone()], temp_dir.path());
        let messages: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "docs/deep/c.md:5: the link d.md leads nowhere",
                "docs/deep/c.md:5: docs/b.md has no heading #two",
                "docs/deep/c.md:5: there is no docs/f.md",
            ]
        );
    }
}
