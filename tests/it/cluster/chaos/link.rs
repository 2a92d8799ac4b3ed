//! A connection's way through a proxy that can slow it, cut it, and lead it elsewhere.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A running proxy. It ends with the test's process.
pub struct Link {
    /// Where clients connect.
    pub address: SocketAddr,
    way: Arc<Way>,
}

struct Way {
    target: Mutex<SocketAddr>,
    delay_millis: AtomicU64,
    closed: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Link {
    /// Starts a proxy before this address.
    pub fn before(target: SocketAddr) -> Link {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let way = Arc::new(Way {
            target: Mutex::new(target),
            delay_millis: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            open: Mutex::new(Vec::new()),
        });
        let accepting = Arc::clone(&way);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client that finds nobody sees its connection closed.
                let _ = accepting.join(client);
            }
        });
        Link { address, way }
    }

    /// Leads new connections there.
    pub fn lead_to(&self, target: SocketAddr) {
        *self.way.target.lock().unwrap() = target;
    }

    /// Delays each piece of what is sent, in both directions.
    pub fn delay(&self, delay: Duration) {
        let millis = u64::try_from(delay.as_millis()).unwrap();
        self.way.delay_millis.store(millis, Ordering::Relaxed);
    }

    /// Cuts the connections that there are.
    pub fn cut(&self) {
        for connection in self.way.open.lock().unwrap().drain(..) {
            // It may be gone already.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    /// Refuses new connections, or accepts them again.
    pub fn close(&self, closed: bool) {
        self.way.closed.store(closed, Ordering::Relaxed);
    }
}

impl Way {
    fn join(self: &Arc<Self>, client: TcpStream) -> std::io::Result<()> {
        if self.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let server = TcpStream::connect(*self.target.lock().unwrap())?;
        for end in [&client, &server] {
            end.set_nodelay(true)?;
        }
        {
            let mut open = self.open.lock().unwrap();
            // Those that ended by themselves have no peer.
            open.retain(|connection| connection.peer_addr().is_ok());
            open.extend([client.try_clone()?, server.try_clone()?]);
        }
        for (from, to) in [(&client, &server), (&server, &client)] {
            let (from, to) = (from.try_clone()?, to.try_clone()?);
            let way = Arc::clone(self);
            std::thread::spawn(move || way.forward(from, to));
        }
        Ok(())
    }

    fn forward(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = [0; 16 << 10];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            let delay = self.delay_millis.load(Ordering::Relaxed);
            if delay > 0 {
                std::thread::sleep(Duration::from_millis(delay));
            }
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        for end in [from, to] {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}
