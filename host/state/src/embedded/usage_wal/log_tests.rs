use super::*;
use crate::embedded::test_disk::Disk;
use crate::{UnixMillis, UsageKind, UsageSource};
use proptest::prelude::*;
use uuid::Uuid;

fn month(month: u32) -> Month {
    Month { year: 2031, month }
}

fn counts(units: &[(&str, u64)]) -> Counts {
    let counts = units.iter();
    counts
        .map(|&(tenant, used)| {
            let entries = Vec::new();
            let units = MonthUnits { used, entries };
            ((tenant.parse().unwrap(), month(6)), units)
        })
        .collect()
}

/// Returns the count of one tenant with an entry of one unit for each request.
fn entries(requests: u128) -> Counts {
    let entry = |number| {
        let source = UsageSource {
            kind: UsageKind::Value,
            id: Uuid::from_u128(number),
            at: UnixMillis(1_900_000_000_000),
        };
        StoredEntry::new(source, 1)
    };
    let units = MonthUnits {
        used: u64::try_from(requests).unwrap(),
        entries: (1..=requests).map(entry).collect(),
    };
    Counts::from([(("acme".parse().unwrap(), month(6)), units)])
}

fn begin(disk: &Disk, epoch: u64) -> Log {
    check_writable(&disk.log()).unwrap();
    allocate_blocks(&disk.log()).unwrap();
    Log::begin(Box::new(disk.log()), epoch)
}

/// Returns the counts of the log, as the next opening finds them.
fn replayed_counts(disk: &Disk, epoch: u64) -> Counts {
    let replayed = replay(&disk.after_a_crash().log(), epoch).unwrap();
    assert_eq!(replayed.damaged_block, None);
    replayed.counts
}

#[test]
fn the_newest_count_of_a_month_stands() {
    let disk = Disk::new(1);
    let mut log = begin(&disk, 7);
    assert_eq!(replayed_counts(&disk, 7), Counts::new());
    for (acme, other) in [(1, 5), (2, 5), (3, 9)] {
        let written = counts(&[("acme", acme), ("other", other)]);
        assert!(log.append(&written).unwrap());
        assert_eq!(replayed_counts(&disk, 7), written);
    }
    assert!(log.append(&counts(&[("third", 1)])).unwrap());
    let all = counts(&[("acme", 3), ("other", 9), ("third", 1)]);
    assert_eq!(replayed_counts(&disk, 7), all);
}

#[test]
fn checkpointed_records_are_ignored() {
    let disk = Disk::new(2);
    let mut log = begin(&disk, 7);
    for used in 1..=3 {
        assert!(log.append(&counts(&[("acme", used)])).unwrap());
    }
    log.begin_next_epoch();
    assert!(log.is_empty());
    assert_eq!(replayed_counts(&disk, 8), Counts::new());
    // Longer than the rest of the epoch before, and shorter.
    assert!(log.append(&counts(&[("other", 1)])).unwrap());
    assert_eq!(replayed_counts(&disk, 8), counts(&[("other", 1)]));
    // An opening with an older file learns the latest epoch of the log.
    let older = replay(&disk.log(), 5).unwrap();
    assert_eq!((older.counts, older.latest_epoch), (Counts::new(), 8));
}

#[test]
fn a_log_that_is_full_or_a_group_that_is_too_large_is_refused_and_nothing_is_written() {
    let disk = Disk::new(3);
    let mut log = begin(&disk, 1);
    let many: Vec<_> = (0..4_000)
        .map(|number| format!("tenant-{number}"))
        .collect();
    let many: Vec<_> = many.iter().map(|tenant| (tenant.as_str(), 1)).collect();
    assert!(log.append(&counts(&many[..100])).unwrap());
    let before = replayed_counts(&disk, 1);
    assert!(!log.append(&counts(&many)).unwrap());
    assert_eq!(replayed_counts(&disk, 1), before);
    for used in 1..u64::from(PAGES) {
        assert!(log.append(&counts(&[("acme", used)])).unwrap());
    }
    let before = replayed_counts(&disk, 1);
    assert!(!log.append(&counts(&[("acme", 1_000)])).unwrap());
    assert_eq!(replayed_counts(&disk, 1), before);
    log.begin_next_epoch();
    assert!(log.append(&counts(&[("acme", 1_000)])).unwrap());
}

#[test]
fn a_log_that_was_cut_short_is_read_as_far_as_it_goes_and_made_whole() {
    let disk = Disk::new(4);
    assert!(!allocate_blocks(&disk.log()).unwrap());
    let mut log = begin(&disk, 1);
    for used in 1..=3 {
        assert!(log.append(&counts(&[("acme", used)])).unwrap());
    }
    for (length, used) in [
        (3 * PAGE, 2),
        (3 * PAGE + 100, 2),
        (4 * PAGE, 3),
        (PAGES as usize * PAGE, 3),
    ] {
        let cut = disk.after_a_crash();
        cut.log().set_len(length as u64).unwrap();
        for whole in [false, true] {
            assert_eq!(replayed_counts(&cut, 1), counts(&[("acme", used)]));
            check_writable(&cut.log()).unwrap();
            assert_eq!(allocate_blocks(&cut.log()).unwrap(), whole);
        }
        assert_eq!(cut.log().len().unwrap(), offset(PAGES));
    }
    let empty = replay(&Disk::new(5).log(), 1).unwrap();
    assert_eq!(empty, LogReplay::default());
}

/// A crash may leave any of the pages of the last block.
#[test]
fn a_block_of_several_pages_counts_whole_or_not_at_all() {
    let disk = Disk::new(8);
    let mut log = begin(&disk, 4);
    assert!(log.append(&entries(64)).unwrap());
    assert_eq!(log.position().pages, 1);
    assert!(log.append(&entries(1_024)).unwrap());
    let pages = log.position().pages;
    assert!(pages > 4 && pages as usize <= LONGEST, "{pages}");
    let mut all = entries(64);
    add_changes(&mut all, entries(1_024));
    assert_eq!(replayed_counts(&disk, 4), all);
    for torn in 1..pages {
        let crashed = disk.after_a_crash();
        crashed.log().write(offset(torn), &[0; PAGE]).unwrap();
        assert_eq!(replayed_counts(&crashed, 4), entries(64), "{torn}");
        let replayed = replay(&crashed.log(), 4).unwrap();
        assert_eq!(replayed.pages, 1);
    }
    assert!(log.append(&entries(1)).unwrap());
    let damaged = disk.after_a_crash();
    damaged.log().write(offset(2), &[0; PAGE]).unwrap();
    let replayed = replay(&damaged.log(), 4).unwrap();
    assert_eq!(replayed.damaged_block, Some(1));
}

#[test]
fn a_block_of_schema_5_has_counts_without_entries() {
    let disk = Disk::new(9);
    drop(begin(&disk, 2));
    let tenant: TenantId = "acme".parse().unwrap();
    let block = Block {
        epoch: 2,
        number: 0,
        counts: vec![(tenant, month(6), 7_u64)],
    };
    let mut bytes = postcard::to_stdvec(&block).unwrap();
    bytes.resize(PAGE - DIGEST, 0);
    let end = Sha256::digest(&bytes);
    bytes.extend(end);
    disk.log().write(offset(0), &bytes).unwrap();
    assert_eq!(
        replay(&disk.log(), 2).unwrap().counts,
        counts(&[("acme", 7)])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damage to the last block is a crash within it; damage to an earlier one is an error.
    #[test]
    fn damage_is_never_counted(
        blocks in 2_u32..6,
        hit in 0_u32..6,
        at in 0..PAGE as u64,
        by in 1_u8..,
    ) {
        let hit = hit % blocks;
        let disk = Disk::new(6);
        let mut log = begin(&disk, 3);
        for used in 1..=blocks {
            prop_assert!(log.append(&counts(&[("acme", used.into())])).unwrap());
        }
        drop(log);
        let damaged = disk.log();
        let mut byte = [0];
        damaged.read(offset(hit) + at, &mut byte).unwrap();
        damaged.write(offset(hit) + at, &[byte[0] ^ by]).unwrap();
        let replayed = replay(&damaged, 3).unwrap();
        if hit == blocks - 1 {
            prop_assert_eq!(replayed.counts, counts(&[("acme", hit.into())]));
            prop_assert_eq!(replayed.damaged_block, None);
        } else {
            prop_assert_eq!(replayed.damaged_block, Some(hit));
        }
    }
}
