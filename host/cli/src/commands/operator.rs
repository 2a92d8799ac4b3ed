//! The operator of a command, for the promotion ledger.

use anyhow::bail;
use std::{env, fs};

/// The longest name of a person, in characters.
const LONGEST_NAME: usize = 100;

/// Returns the person who runs the command, with the account that it runs as: `alice (root@host)`.
/// The person is `by`, or else the user whom sudo acts for. Without either it is the account alone.
///
/// # Errors
/// `by` is empty or longer than a line of 100 characters.
pub fn operator(by: Option<&str>) -> anyhow::Result<String> {
    let uid = rustix::process::getuid().as_raw();
    let account = account(uid);
    if let Some(by) = by {
        if !is_name(by) {
            bail!("--by: write one line of 1 to {LONGEST_NAME} characters");
        }
        return Ok(format!("{by} ({account})"));
    }
    // Others than root could set the variable to any name.
    let sudo_user = env::var("SUDO_USER").ok().filter(|_| uid == 0);
    let person = sudo_user.filter(|name| name != "root" && is_name(name));
    Ok(match person {
        Some(person) => format!("{person} ({account})"),
        None => account,
    })
}

fn is_name(text: &str) -> bool {
    !text.trim().is_empty()
        && text.chars().count() <= LONGEST_NAME
        && !text.chars().any(char::is_control)
}

/// Returns the operating system's user and host, as `name@host`. A user without an entry in
/// `/etc/passwd` is `uid-N`.
fn account(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = name_of(uid, &users).unwrap_or_else(|| format!("uid-{uid}"));
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match host.trim() {
        "" => user,
        host => format!("{user}@{host}"),
    }
}

/// Returns the name of a user in the lines of `/etc/passwd`.
fn name_of(uid: u32, users: &str) -> Option<String> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let found = fields.nth(1)?.parse::<u32>().ok()?;
        (found == uid && !name.is_empty()).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_person_stands_before_the_account() {
        let account = account(rustix::process::getuid().as_raw());
        let stated = operator(Some("Alice Jones")).unwrap();
        assert_eq!(stated, format!("Alice Jones ({account})"));
        for refused in ["", " ", "a\nb", &"a".repeat(LONGEST_NAME + 1)] {
            let error = operator(Some(refused)).unwrap_err().to_string();
            assert!(error.starts_with("--by: "), "{error}");
        }
    }

    #[test]
    fn a_user_has_the_name_of_its_line() {
        let users = "root:x:0:0:root:/root:/bin/bash\nbroken\nalice:x:1000:0::/:/bin/sh\n";
        assert_eq!(name_of(1000, users).as_deref(), Some("alice"));
        assert_eq!(name_of(0, users).as_deref(), Some("root"));
        assert_eq!(name_of(7, users), None);
    }
}
