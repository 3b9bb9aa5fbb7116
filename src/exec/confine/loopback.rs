//! The loopback of a session: a network of its own, in which its programs reach one another and nothing else.
//!
//! A user namespace owns it, since only there may a process without privileges enter a network. The namespaces last as
//! long as a descriptor of them is open, so that no process has to be kept for them.
//!
//! Source: `user_namespaces`(7), `network_namespaces`(7), `setns`(2), `proc_pid_net`(5).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;

use rustix::process::{getgid, getuid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::namespaces::{Copy, map_users, raise_loopback};

/// The numbers under which a child gets the namespaces: of users, and of the network.
pub(crate) const DESCRIPTORS: [i32; 2] = [3, 4];

/// The tables of the sockets of a network that can accept connections.
const TABLES: [&str; 2] = ["tcp", "tcp6"];

/// The state of a socket that waits for connections. Source: `include/net/tcp_states.h` of Linux.
const LISTENS: &str = "0A";

/// Maximum size of a table that is read, in bytes: about 7,000 sockets.
const MAX_TABLE_BYTES: usize = 1 << 20;

/// The loopback of a session.
#[derive(Debug)]
pub(crate) struct Loopback {
    users: OwnedFd,
    network: OwnedFd,
    tables: [File; 2],
}

impl Loopback {
    /// Makes a network with nothing but a loopback.
    ///
    /// # Errors
    /// The kernel refuses the namespaces.
    pub(crate) fn make() -> io::Result<Self> {
        let (mut ready, tells) = io::pipe()?;
        let (waits, go_on) = io::pipe()?;
        let copy = Copy::start(libc::CLONE_NEWUSER | libc::CLONE_NEWNET, || {
            // Then the server alone holds this end, and the copy ends with the server, however that ends.
            drop_in_copy(&go_on);
            let is_up = raise_loopback().is_ok();
            let _ = rustix::io::write(&tells, &[u8::from(is_up)]);
            let _ = rustix::io::read(&waits, &mut [0; 1]);
            0
        })?;
        drop((tells, waits));

        let mut is_up = [0];
        ready.read_exact(&mut is_up)?;
        if is_up == [0] {
            return Err(io::Error::other("the loopback cannot be switched on"));
        }
        let process = format!("/proc/{}", copy.id());
        map_users(&process, getuid().as_raw(), getgid().as_raw()).map_err(io::Error::other)?;
        let [users, network] = ["user", "net"].map(|kind| File::open(format!("{process}/ns/{kind}")));
        let [tcp, tcp6] = TABLES.map(|table| File::open(format!("{process}/net/{table}")));
        Ok(Self { users: users?.into(), network: network?.into(), tables: [tcp?, tcp6?] })
    }

    /// Returns copies of the descriptors that a child needs to enter it, with their numbers in the child.
    ///
    /// # Errors
    /// The system lacks descriptors.
    pub(crate) fn descriptors(&self) -> io::Result<[(i32, OwnedFd); 2]> {
        let [users, network] = DESCRIPTORS;
        Ok([(users, self.users.try_clone()?), (network, self.network.try_clone()?)])
    }

    /// Returns whether a program of the session waits for connections at one of these ports.
    pub(crate) fn serves(&self, ports: &BTreeSet<u16>) -> bool {
        self.tables.iter().any(|table| text(table).is_ok_and(|text| listening(&text).any(|port| ports.contains(&port))))
    }
}

/// Moves this process into the loopback of its session, whose descriptors it was started with.
///
/// # Errors
/// The kernel refuses it.
pub(super) fn enter() -> Result<(), String> {
    let kinds = [LinkNameSpaceType::User, LinkNameSpaceType::Network];
    for (number, kind) in DESCRIPTORS.into_iter().zip(kinds) {
        #[expect(unsafe_code, reason = "the server has given this number to a descriptor that nothing else here uses")]
        let namespace = unsafe { OwnedFd::from_raw_fd(number) };
        move_into_link_name_space(namespace.as_fd(), Some(kind))
            .map_err(|error| format!("cannot enter the network of the session: {error}"))?;
    }
    Ok(())
}

/// Closes the copy's own copy of a descriptor.
fn drop_in_copy(descriptor: &impl std::os::fd::AsRawFd) {
    #[expect(unsafe_code, reason = "the copy ends without using or dropping it")]
    unsafe {
        libc::close(descriptor.as_raw_fd());
    }
}

/// Reads a table as it is now.
fn text(table: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut part = [0; 1 << 14];
    while bytes.len() < MAX_TABLE_BYTES {
        match table.read_at(&mut part, bytes.len() as u64)? {
            0 => break,
            count => bytes.extend_from_slice(&part[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the ports at which sockets of a table wait for connections.
fn listening(table: &str) -> impl Iterator<Item = u16> {
    table.lines().skip(1).filter_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let (address, _, state) = (columns.next()?, columns.next()?, columns.next()?);
        let (_, port) = address.rsplit_once(':')?;
        u16::from_str_radix(port, 16).ok().filter(|_| state == LISTENS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_that_wait_for_connections_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n   \
                     1: 0100007F:1F91 0100007F:9C40 01 00000000:00000000\n";
        assert_eq!(listening(table).collect::<Vec<_>>(), [8080]);
    }

    #[test]
    fn a_loopback_is_apart_from_the_machine() {
        if !super::super::namespaces::available() {
            return;
        }
        let loopback = Loopback::make().expect("the kernel has namespaces");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("the machine has a loopback");
        let port = listener.local_addr().expect("it is bound").port();
        assert!(!loopback.serves(&[port].into()));
    }
}
