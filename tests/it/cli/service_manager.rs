//! A service manager waits for a host that starts, and learns that it stops.

use crate::common::server::start;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

/// Longer than a start takes.
const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn the_service_manager_hears_that_the_host_serves_and_that_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    let receive = || {
        let mut bytes = [0; 256];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let server = start().environment("NOTIFY_SOCKET", &path).go();
    assert_eq!(receive(), "READY=1\n");
    // What follows a start can send commands.
    let data = server.data.display().to_string();
    let status = crate::common::program::run(["status", "--data", &data]);
    assert_eq!(status.code, Some(0), "{status:?}");
    server.stop();
    assert_eq!(receive(), "STOPPING=1\n");
}
