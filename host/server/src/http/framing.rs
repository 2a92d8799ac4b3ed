//! The framing of a connection's requests, followed beside hyper.
//!
//! hyper drops `Content-Length` where `Transfer-Encoding` stands beside it, so no handler sees the
//! pair. A proxy that goes by the other length takes a part of the body for a request. So the
//! connection looks for the pair itself, in heads alone.

/// The longest line, bytes. hyper refuses a longer head.
const LONGEST_LINE: usize = 64 << 10;

/// The position of a connection within its requests.
#[derive(Default)]
pub struct Framing {
    part: Part,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    head: Head,
    /// The heads that have arrived.
    heads: u64,
    /// The requests whose last byte has arrived.
    ended: u64,
    /// The heads whose requests have begun.
    begun: u64,
    /// The number of the head with two lengths.
    two_lengths: Option<u64>,
}

/// The part of a request to which the next byte belongs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Head,
    Body {
        left: u64,
    },
    ChunkSize,
    Chunk {
        left: u64,
    },
    ChunkEnd,
    Trailer,
    /// Nothing that can be followed. hyper refuses it and closes the connection.
    Unknown,
}

/// The fields of a head that frame its body.
#[derive(Default)]
struct Head {
    lines: usize,
    length: Option<u64>,
    /// True if the last coding is `chunked`. `None` without a coding.
    chunked: Option<bool>,
}

impl Framing {
    /// Follows bytes that have arrived.
    pub fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match self.part {
                Part::Unknown => return,
                Part::Body { left } => self.skip(bytes, left, |left| Part::Body { left }),
                Part::Chunk { left } => self.skip(bytes, left, |left| Part::Chunk { left }),
                _ => self.follow_line(bytes),
            };
            if self.part == Part::Head {
                self.ended = self.heads;
            }
        }
    }

    /// Notes that the next request begins. Returns whether its head has two lengths.
    pub fn begin_request(&mut self) -> bool {
        let number = self.begun;
        self.begun += 1;
        self.two_lengths == Some(number)
    }

    /// Returns whether all of the current request has arrived, its body included. The next one may
    /// have begun to arrive after it.
    pub fn has_all_of_request(&self) -> bool {
        self.ended >= self.begun
    }

    /// Skips bytes of a body, and returns the bytes after them.
    fn skip<'b>(&mut self, bytes: &'b [u8], left: u64, part: fn(u64) -> Part) -> &'b [u8] {
        let skipped = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        let left = left - skipped as u64;
        self.part = match (left, self.part) {
            (0, Part::Body { .. }) => Part::Head,
            (0, _) => Part::ChunkEnd,
            _ => part(left),
        };
        &bytes[skipped..]
    }

    /// Follows the rest of a line, and returns the bytes after it.
    fn follow_line<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
            self.extend_line(bytes);
            return &[];
        };
        let before = end.checked_sub(1).map(|before| bytes[before]);
        let carriage_return = before.or(self.line.last().copied()) == Some(b'\r');
        if self.part == Part::Trailer && !carriage_return {
            // Here hyper ends a line at CRLF alone. A bare LF is a byte of the line.
            self.extend_line(&bytes[..=end]);
            return &bytes[end + 1..];
        }
        let mut line = std::mem::take(&mut self.line);
        let line = match line.is_empty() {
            true => &bytes[..end],
            false => {
                line.extend_from_slice(&bytes[..end]);
                line.as_slice()
            }
        };
        self.part = self.after_line(line.strip_suffix(b"\r").unwrap_or(line));
        &bytes[end + 1..]
    }

    /// Keeps the beginning of a line. One that is too long cannot be followed.
    fn extend_line(&mut self, bytes: &[u8]) {
        self.line.extend_from_slice(bytes);
        if self.line.len() > LONGEST_LINE {
            self.line = Vec::new();
            self.part = Part::Unknown;
        }
    }

    fn after_line(&mut self, line: &[u8]) -> Part {
        match (self.part, line.is_empty()) {
            (Part::Head, true) => self.end_head(),
            (Part::Head, false) => {
                self.head.read(line);
                Part::Head
            }
            (Part::ChunkSize, false) => after_chunk_size(line),
            (Part::ChunkEnd, true) => Part::ChunkSize,
            (Part::Trailer, true) => Part::Head,
            (Part::Trailer, false) => Part::Trailer,
            _ => Part::Unknown,
        }
    }

    fn end_head(&mut self) -> Part {
        let head = std::mem::take(&mut self.head);
        if head.lines == 0 {
            // Empty lines may come before a request.
            return Part::Head;
        }
        let number = self.heads;
        self.heads += 1;
        match (head.length, head.chunked) {
            (Some(_), Some(_)) => {
                self.two_lengths = Some(number);
                Part::Unknown
            }
            (None, Some(true)) => Part::ChunkSize,
            (None, Some(false)) => Part::Unknown,
            (None | Some(0), None) => Part::Head,
            (Some(left), None) => Part::Body { left },
        }
    }
}

impl Head {
    fn read(&mut self, line: &[u8]) {
        self.lines += 1;
        let colon = line.iter().position(|&byte| byte == b':');
        // The first line is the request's own.
        let Some(colon) = colon.filter(|_| self.lines > 1) else {
            return;
        };
        let (name, value) = (&line[..colon], String::from_utf8_lossy(&line[colon + 1..]));
        if name.eq_ignore_ascii_case(b"content-length") {
            // hyper refuses a length that cannot be read. Until it does, nothing is a head.
            let length = value.trim().parse().unwrap_or(u64::MAX);
            self.length = Some(self.length.map_or(length, |other| other.max(length)));
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            let last = value.rsplit(',').next().unwrap_or_default();
            self.chunked = Some(last.trim().eq_ignore_ascii_case("chunked"));
        }
    }
}

fn after_chunk_size(line: &[u8]) -> Part {
    let line = String::from_utf8_lossy(line);
    let digits = line.split([';', ' ', '\t']).next().unwrap_or_default();
    match u64::from_str_radix(digits, 16) {
        Ok(0) => Part::Trailer,
        Ok(left) => Part::Chunk { left },
        Err(_) => Part::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str =
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n";
    const PLAIN: &str = "GET /a:b HTTP/1.1\r\nHost: a\r\n\r\n";

    /// Returns whether each of these requests has two lengths, whose bytes arrive `step` at a time.
    fn have_two_lengths(requests: &[&str], step: usize) -> Vec<bool> {
        let mut framing = Framing::default();
        for bytes in requests.concat().as_bytes().chunks(step) {
            framing.follow(bytes);
        }
        requests.iter().map(|_| framing.begin_request()).collect()
    }

    #[track_caller]
    fn assert_last_has_two_lengths(requests: &[&str]) {
        for step in [1, 2, 3, 7, 50, 1_000] {
            let mut expected = vec![false; requests.len()];
            *expected.last_mut().unwrap() = true;
            assert_eq!(
                have_two_lengths(requests, step),
                expected,
                "{step} bytes at a time"
            );
        }
    }

    #[test]
    fn a_head_with_both_lengths_is_found_however_it_is_spelt() {
        assert_last_has_two_lengths(&[BOTH]);
        for pair in [
            "transfer-encoding: chunked\r\ncontent-length: 3",
            "CONTENT-LENGTH:x\r\nTransfer-encoding:\tgzip, Chunked",
            "Content-Length: 0\nTransfer-Encoding: identity",
        ] {
            assert_last_has_two_lengths(&[&format!("POST / HTTP/1.1\r\n{pair}\r\n\r\n")]);
        }
    }

    #[test]
    fn a_head_is_found_after_requests_of_every_framing() {
        let sized = format!(
            "POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{BOTH}",
            BOTH.len()
        );
        let empty = "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
        let chunked = format!(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x};a=b\r\n{BOTH}\r\n1\r\n\n\r\n0\r\nA: b\r\n\r\n",
            BOTH.len()
        );
        assert_last_has_two_lengths(&[PLAIN, &sized, &format!("\r\n{BOTH}")]);
        assert_last_has_two_lengths(&[PLAIN, empty, &chunked, &sized, &chunked, PLAIN, BOTH]);
    }

    #[test]
    fn a_bare_line_feed_ends_no_line_of_a_trailer() {
        for trailer in [
            "\nA: b\r\n",
            "A: b\nC: d\r\n",
            "\n\n\r\n",
            "A: b\r\n\nC: d\r\n",
        ] {
            let chunked =
                format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{trailer}\r\n");
            assert_last_has_two_lengths(&[&chunked, BOTH]);
        }
    }

    #[test]
    fn a_request_is_all_there_at_its_last_byte_and_not_before() {
        let bodies = [
            "Content-Length: 5\r\n\r\nabcde",
            "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\nA: b\r\n\r\n",
        ];
        for body in bodies {
            let request = format!("POST / HTTP/1.1\r\n{body}");
            let head = request.find("\r\n\r\n").unwrap() + 4;
            let mut framing = Framing::default();
            for number in 0..3 {
                framing.follow(&request.as_bytes()[..head]);
                framing.begin_request();
                for byte in &request.as_bytes()[head..] {
                    assert!(!framing.has_all_of_request(), "{number}: {request}");
                    framing.follow(&[*byte]);
                }
                assert!(framing.has_all_of_request(), "{number}: {request}");
            }
        }
    }

    #[test]
    fn a_request_is_all_there_while_a_part_of_the_next_one_is() {
        let half = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab";
        let unreadable = "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n";
        for next in ["POST /", half, BOTH, unreadable] {
            let mut framing = Framing::default();
            framing.follow(format!("{PLAIN}{next}").as_bytes());
            framing.begin_request();
            assert!(framing.has_all_of_request(), "{next}");
            framing.begin_request();
            assert!(!framing.has_all_of_request(), "{next}");
        }
    }

    #[test]
    fn the_bytes_of_a_body_are_never_a_head() {
        let sized = format!(
            "POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{BOTH}",
            BOTH.len()
        );
        let unreadable = format!("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n{BOTH}");
        let other_coding = format!("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n{BOTH}");
        let broken = format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n{BOTH}");
        for request in [&sized, &unreadable, &other_coding, &broken] {
            for step in [1, 9, 1_000] {
                assert_eq!(
                    have_two_lengths(&[request, PLAIN], step),
                    [false, false],
                    "{request}"
                );
            }
        }
    }

    #[test]
    fn a_line_without_an_end_takes_bounded_memory() {
        let mut framing = Framing::default();
        for _ in 0..100 {
            framing.follow(&[b'a'; 4_096]);
        }
        assert_eq!(framing.part, Part::Unknown);
        assert_eq!(framing.line.capacity(), 0);
    }
}
