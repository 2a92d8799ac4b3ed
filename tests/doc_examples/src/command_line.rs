//! Commands as they are written in blocks and sentences: taken apart as far as a check needs.

/// The default port of a server.
const DEFAULT_PORT: &str = "8080";

/// A server that a block leaves running.
#[derive(Debug, PartialEq, Eq)]
pub struct Server {
    /// The lines of the block before it.
    pub before: String,
    /// The command that stays.
    pub command: String,
    /// The address that it listens on.
    pub address: String,
}

/// Returns the lines of a block, where a line that ends in a backslash is joined with the next.
pub fn lines(block: &str) -> Vec<String> {
    let joined = block.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

/// Splits a line into its simple commands, each as its words. Pipes, semicolons and the like
/// separate commands; redirections, set variables and comments are left out. It is a rough reading
/// to look words up, not to run them.
pub fn simple(line: &str) -> Vec<Vec<String>> {
    let line = line.split(" #").next().unwrap_or_default();
    let mut commands = vec![Vec::new()];
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let opened = word.rsplit("$(").next().unwrap_or(word);
        if opened.len() < word.len() || opened.starts_with('(') {
            commands.push(Vec::new());
        }
        let bare = opened.trim_start_matches(['(', '"', '\'']);
        if [
            "|", "||", "&&", "&", ";", "{", "}", "then", "do", "done", "until", "if", "!",
        ]
        .contains(&bare)
        {
            commands.push(Vec::new());
            continue;
        }
        if bare.starts_with('>') || bare.starts_with("2>") || bare.starts_with('<') {
            if bare.ends_with(['>', '<']) {
                words.next();
            }
            continue;
        }
        let ends = bare.ends_with([';', ')']) || bare.ends_with(")\"");
        let bare = bare.trim_end_matches(['"', '\'', ')', ';', ',']);
        if let Some(command) = commands.last_mut() {
            let sets = command.is_empty()
                && bare.split('=').next().is_some_and(is_name)
                && bare.contains('=');
            if !bare.is_empty() && !sets {
                command.push(bare.to_owned());
            }
        }
        if ends {
            commands.push(Vec::new());
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
}

/// Returns the server that a block leaves running. Its last line is `domesday serve` (or the same
/// through cargo), not in the background.
pub fn server(block: &str) -> Option<Server> {
    let joined = block.replace("\\\n", " ");
    let joined = joined.trim_end();
    let (before, last) = match joined.rsplit_once('\n') {
        Some((before, last)) => (format!("{before}\n"), last),
        None => (String::new(), joined),
    };
    let serves = last.starts_with("domesday serve")
        || (last.starts_with("cargo run") && last.ends_with("-- serve"));
    if !serves || last.ends_with('&') || last.contains("--print-config") {
        return None;
    }
    let mut words = last.split_whitespace();
    let listen = words
        .find(|word| *word == "--listen")
        .and_then(|_| words.next());
    let port = listen.and_then(|address| address.rsplit_once(':'));
    let command = match port {
        Some(_) => last.to_owned(),
        // The default, said, so that it can be another while a page is typed.
        None => format!("{last} --listen 127.0.0.1:{DEFAULT_PORT}"),
    };
    let port = port.map_or(DEFAULT_PORT, |(_, port)| port);
    Some(Server {
        before,
        command,
        address: format!("127.0.0.1:{port}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_and_commands_parted() {
        assert_eq!(lines("# no\na \\\n  b\n\nc\n"), ["a    b", "c"]);
        let commands = simple("A=1 a --b c | d >e 2>f && g \"$(h --i j)\" k # l");
        let commands: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
        assert_eq!(commands, ["a --b c", "d", "g", "h --i j", "k"]);
    }

    #[test]
    fn a_server_that_stays_is_known_by_its_last_line() {
        let server = server("a\ndomesday serve --listen 0.0.0.0:81 \\\n  --no-demo\n").unwrap();
        assert_eq!(server.before, "a\n");
        assert_eq!(server.address, "127.0.0.1:81");
        let stays = super::server("cargo run --package domesday-cli -- serve\n").unwrap();
        assert_eq!(stays.address, "127.0.0.1:8080");
        assert_eq!(super::server("domesday serve &\n"), None);
        assert_eq!(super::server("domesday serve --print-config\n"), None);
        assert_eq!(super::server("domesday serve\ncurl x\n"), None);
    }
}
