//! The accept queue: the kernel's queue of connections that wait to be accepted.

use socket2::{SockFilter, SockRef};
use std::io;
use tokio::net::TcpListener;

/// The flags in a TCP header, and the one that opens a connection.
const FLAGS: u32 = 13;
const SYN: u32 = 0x02;

// Instructions of the classic Berkeley packet filter.
const LOAD_BYTE: u16 = 0x30;
const JUMP_IF_SET: u16 = 0x45;
const RETURN: u16 = 0x06;
const NOTHING: u32 = 0;
const ALL: u32 = u32::MAX;

/// Lets no new connection into the queue. Those whose handshake has begun still enter it.
///
/// A client that connects meanwhile hears nothing. It asks again after a second, and is refused
/// once the socket is closed. A shorter queue would not do, since the kernel lets one connection in
/// beyond its length.
///
/// # Errors
/// The kernel takes no filter.
pub fn refuse_new(listener: &TcpListener) -> io::Result<()> {
    SockRef::from(listener).attach_filter(&[
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS),
        SockFilter::new(JUMP_IF_SET, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, NOTHING),
        SockFilter::new(RETURN, 0, 0, ALL),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn connections_that_wait_are_accepted_and_no_other_joins_them() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let waiting: Vec<TcpStream> = (0..5)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        refuse_new(&listener).unwrap();
        let late = Duration::from_millis(200);
        let late = tokio::task::spawn_blocking(move || TcpStream::connect_timeout(&address, late));
        let late = late.await.unwrap().unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        for _ in &waiting {
            listener.accept().await.unwrap();
        }
        let more = timeout(Duration::from_millis(100), listener.accept()).await;
        assert!(more.is_err(), "{more:?}");
    }
}
