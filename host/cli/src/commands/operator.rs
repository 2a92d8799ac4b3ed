//! The operator of a command, for the promotion ledger.

use std::fs;

/// Returns the operating system's user and host, as `name@host`. A user without an entry in
/// `/etc/passwd` is `uid-N`.
pub fn operator() -> String {
    let uid = rustix::process::getuid().as_raw();
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
    fn a_user_has_the_name_of_its_line() {
        let users = "root:x:0:0:root:/root:/bin/bash\nbroken\nalice:x:1000:0::/:/bin/sh\n";
        assert_eq!(name_of(1000, users).as_deref(), Some("alice"));
        assert_eq!(name_of(0, users).as_deref(), Some("root"));
        assert_eq!(name_of(7, users), None);
    }
}
