//! Attacks by the network, sockets, descriptors and variables.

use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::time::Duration;

use libc::{c_int, c_long};

use crate::harness::{Target, Verdict, address, attempt, call, must_fail, must_refuse, refused};

pub(crate) fn attack(target: &Target) {
    internet(target);
    families();
    netlink(target);
    unix_sockets(target);
    disguised_sockets(target);
    descriptors();
}

fn socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<c_long> {
    call(libc::SYS_socket, &[family.into(), kind.into(), protocol.into()])
}

/// The address of a port of this machine: `struct sockaddr_in`.
fn here(port: c_long) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0..2].copy_from_slice(&libc::AF_INET.to_ne_bytes()[..2]);
    bytes[2..4].copy_from_slice(&u16::try_from(port).unwrap().to_be_bytes());
    bytes[4..8].copy_from_slice(&[127, 0, 0, 1]);
    bytes
}

fn internet(target: &Target) {
    const CLASS: &str = "network";
    let port = target.number("tcp");
    let to = here(port);
    for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        must_fail(CLASS, &format!("tcp to {host}"), || TcpStream::connect(format!("{host}:{port}")));
    }
    must_fail(CLASS, "tcp far away", || {
        TcpStream::connect_timeout(&"192.0.2.1:80".parse().unwrap(), Duration::from_millis(50))
    });
    must_fail(CLASS, "name", || "climax.invalid:80".to_socket_addrs());
    for (name, protocol) in [("mptcp", 262), ("sctp", 132), ("dccp", 33), ("smc", 256)] {
        must_fail(CLASS, name, || {
            let open = socket(libc::AF_INET, libc::SOCK_STREAM, protocol)?;
            call(libc::SYS_connect, &[open, address(&to), 16])
        });
    }
    must_fail(CLASS, "tcp fast open", || {
        const MSG_FASTOPEN: c_long = 0x2000_0000;
        let open = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
        call(libc::SYS_sendto, &[open, address(b"x"), 1, MSG_FASTOPEN, address(&to), 16])
    });
    attempt(CLASS, "udp", || {
        // A datagram to nobody may be sent. The test outside looks whether one arrives.
        let own = UdpSocket::bind("127.0.0.1:0");
        let sent = own.and_then(|own| own.send_to(b"x", format!("127.0.0.1:{}", target.text("udp"))));
        Verdict::Held(sent.map_or_else(|error| error.to_string(), |_| "sent to nobody".to_owned()))
    });
    must_fail(CLASS, "udp far away", || UdpSocket::bind("0.0.0.0:0").and_then(|own| own.send_to(b"x", "192.0.2.1:53")));
    must_fail(CLASS, "broadcast", || {
        let own = UdpSocket::bind("0.0.0.0:0")?;
        own.set_broadcast(true)?;
        own.send_to(b"x", "255.255.255.255:9")
    });
    attempt(CLASS, "port of a server outside", || match TcpListener::bind(format!("127.0.0.1:{port}")) {
        Ok(_) if target.has_namespaces() => Verdict::Held("a port of its own network".to_owned()),
        bound => refused(bound),
    });
    must_refuse(CLASS, "rings", libc::SYS_io_uring_setup, &[4, address(&[0_u64; 16])]);
    must_refuse(CLASS, "rings of others", libc::SYS_io_uring_register, &[0]);
    must_refuse(CLASS, "entering rings", libc::SYS_io_uring_enter, &[0, 1]);
}

fn families() {
    const CLASS: &str = "families";
    for (name, family, kind, protocol) in [
        ("raw", libc::AF_INET, libc::SOCK_RAW, 1),
        ("raw of version 6", libc::AF_INET6, libc::SOCK_RAW, 58),
        ("packets", libc::AF_PACKET, libc::SOCK_RAW, 0x300),
        ("packets without headers", libc::AF_PACKET, libc::SOCK_DGRAM, 0x300),
        ("old packets", libc::AF_INET, 10, 0x300),
        ("virtual machines", libc::AF_VSOCK, libc::SOCK_STREAM, 0),
        ("cryptography", libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
        ("bluetooth", libc::AF_BLUETOOTH, libc::SOCK_RAW, 1),
        ("can", libc::AF_CAN, libc::SOCK_RAW, 1),
        ("xdp", libc::AF_XDP, libc::SOCK_RAW, 0),
        ("rds", libc::AF_RDS, libc::SOCK_SEQPACKET, 0),
        ("tipc", libc::AF_TIPC, libc::SOCK_SEQPACKET, 0),
        ("keys", libc::AF_KEY, libc::SOCK_RAW, 2),
        ("nfc", libc::AF_NFC, libc::SOCK_SEQPACKET, 0),
        ("kernel connections", 32, libc::SOCK_STREAM, 2),
        ("qrtr", 42, libc::SOCK_DGRAM, 0),
    ] {
        must_fail(CLASS, name, || socket(family, kind, protocol));
    }
    #[cfg(target_arch = "x86_64")]
    {
        must_fail(CLASS, "of the x32 abi", || call(0x4000_0000 | libc::SYS_socket, &[1, 1]));
        attempt(CLASS, "of the 32-bit abi", || {
            let result: c_long;
            // SAFETY: number 359 is `socket`, which touches no memory of this process.
            unsafe {
                std::arch::asm!(
                    "push rbx", "mov ebx, 1", "int 0x80", "pop rbx",
                    inlateout("rax") 359_i64 => result, in("rcx") 1_i64, in("rdx") 0_i64,
                    out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                );
            }
            if result >= 0 {
                Verdict::Escaped("permitted".to_owned())
            } else {
                Verdict::Held(format!("error {result}"))
            }
        });
    }
}

/// Messages to the kernel about networks, processes and devices.
fn netlink(target: &Target) {
    const CLASS: &str = "netlink";
    let kinds = [
        ("audit", 9, false),
        ("connector", 11, true),
        ("events", 15, true),
        ("filter", 12, true),
        ("transport", 6, true),
    ];
    for (name, protocol, is_of_network) in kinds {
        attempt(CLASS, name, || {
            // To hear of what happens outside, a socket joins a group.
            let mut group = [0_u8; 12];
            group[..2].copy_from_slice(&libc::AF_NETLINK.to_ne_bytes()[..2]);
            group[8] = 1;
            let joined = socket(libc::AF_NETLINK, libc::SOCK_RAW, protocol)
                .and_then(|open| call(libc::SYS_bind, &[open, address(&group), 12]));
            match joined {
                Ok(_) if target.has_namespaces() && is_of_network => Verdict::Held("of its own network".to_owned()),
                joined => refused(joined),
            }
        });
    }
    if target.has_namespaces() {
        attempt(CLASS, "interfaces", || {
            let text = fs::read_to_string("/proc/net/dev").unwrap_or_default();
            // Tunnels that the kernel makes in each network are down, and lead nowhere.
            let others = text.lines().skip(2).filter(|line| line.trim_start().starts_with(['e', 'w'])).count();
            if others == 0 { Verdict::Held("none".to_owned()) } else { Verdict::Escaped(format!("{others} others")) }
        });
    }
    must_fail(CLASS, "change of an interface", || {
        let mut request = [0_u8; 40];
        request[..2].copy_from_slice(b"lo");
        let open = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
        call(libc::SYS_ioctl, &[open, 0x8914, address(&request)])
    });
}

/// The address of a Unix socket, and its length.
fn local(name: &str) -> ([u8; 110], c_long) {
    let mut bytes = [0; 110];
    bytes[..2].copy_from_slice(&libc::AF_UNIX.to_ne_bytes()[..2]);
    bytes[2..2 + name.len()].copy_from_slice(name.as_bytes());
    let end = usize::from(!name.starts_with('\0'));
    (bytes, c_long::try_from(2 + name.len() + end).unwrap())
}

fn unix_sockets(target: &Target) {
    const CLASS: &str = "sockets";
    let by_path = target.path("outside/socket").display().to_string();
    let in_project = target.path("project/socket").display().to_string();
    let by_name = format!("\0{}", target.text("abstract"));
    for (name, kind, to) in [
        ("stream by path", libc::SOCK_STREAM, by_path.as_str()),
        ("packets by path", libc::SOCK_SEQPACKET, by_path.as_str()),
        ("datagrams by path", libc::SOCK_DGRAM, by_path.as_str()),
        ("stream in the project", libc::SOCK_STREAM, in_project.as_str()),
        ("stream by name", libc::SOCK_STREAM, by_name.as_str()),
        ("datagrams by name", libc::SOCK_DGRAM, by_name.as_str()),
        ("docker", libc::SOCK_STREAM, "/var/run/docker.sock"),
        ("podman", libc::SOCK_STREAM, "/run/podman/podman.sock"),
        ("containerd", libc::SOCK_STREAM, "/run/containerd/containerd.sock"),
        ("system bus", libc::SOCK_STREAM, "/run/dbus/system_bus_socket"),
        ("session bus", libc::SOCK_STREAM, "/run/user/1000/bus"),
        ("systemd", libc::SOCK_STREAM, "/run/systemd/private"),
        ("name service", libc::SOCK_STREAM, "/var/run/nscd/socket"),
        ("log", libc::SOCK_DGRAM, "/dev/log"),
        ("screen by path", libc::SOCK_STREAM, "/tmp/.X11-unix/X0"),
        ("screen by name", libc::SOCK_STREAM, "\0/tmp/.X11-unix/X0"),
        ("agent of gpg", libc::SOCK_STREAM, "/run/user/1000/gnupg/S.gpg-agent"),
    ] {
        must_fail(CLASS, name, || {
            let ((bytes, length), open) = (local(to), socket(libc::AF_UNIX, kind, 0)?);
            call(libc::SYS_connect, &[open, address(&bytes), length])
        });
    }

    let pair = |kind: c_int| {
        let mut ends = [0_i32; 2];
        let to = std::ptr::from_mut(&mut ends) as c_long;
        call(libc::SYS_socketpair, &[libc::AF_UNIX.into(), kind.into(), 0, to]).map(|_| ends.map(c_long::from))
    };
    for (name, kind) in [("datagrams", libc::SOCK_DGRAM), ("raw", libc::SOCK_RAW)] {
        must_fail(CLASS, &format!("pair of {name}"), || pair(kind));
    }
    for (name, kind) in [("stream", libc::SOCK_STREAM), ("packets", libc::SOCK_SEQPACKET)] {
        for (how, to) in [("path", &by_path), ("name", &by_name)] {
            let (bytes, length) = local(to);
            must_fail(CLASS, &format!("pair of {name} connects by {how}"), || {
                call(libc::SYS_connect, &[pair(kind)?[0], address(&bytes), length])
            });
            must_fail(CLASS, &format!("half a pair of {name} connects by {how}"), || {
                let [one, other] = pair(kind)?;
                call(libc::SYS_close, &[other])?;
                let _ = call(libc::SYS_connect, &[one, address(&[0_u8; 16]), 2]);
                let _ = call(libc::SYS_shutdown, &[one, 2]);
                call(libc::SYS_connect, &[one, address(&bytes), length])
            });
            attempt(CLASS, &format!("pair of {name} sends by {how}"), || {
                // The address is ignored, or refused. The test outside sees that nothing comes.
                let sent = pair(kind)
                    .and_then(|[one, _]| call(libc::SYS_sendto, &[one, address(b"x"), 1, 0, address(&bytes), length]));
                Verdict::Held(sent.map_or_else(|error| error.to_string(), |_| "sent to its other end".to_owned()))
            });
        }
        must_fail(CLASS, &format!("pair of {name} listens"), || {
            let one = pair(kind)?[0];
            let (bytes, length) = local("\0climax-cage-probe");
            let _ = call(libc::SYS_bind, &[one, address(&bytes), length]);
            call(libc::SYS_listen, &[one, 1])
        });
    }
}

/// Attempts to reach a Unix socket outside by another name, or while the kernel looks where a call leads.
fn disguised_sockets(target: &Target) {
    const CLASS: &str = "disguise";
    let outside = target.path("outside/socket").display().to_string();
    let temporary = std::env::var("TMPDIR").unwrap();
    let stream = || socket(libc::AF_UNIX, libc::SOCK_STREAM, 0);
    let connect = |open: c_long, to: &str| {
        let (bytes, length) = local(to);
        call(libc::SYS_connect, &[open, address(&bytes), length])
    };

    let link = format!("{temporary}/link-to-socket");
    let hard = format!("{temporary}/hard-link-to-socket");
    must_fail(CLASS, "by a link", || {
        std::os::unix::fs::symlink(&outside, &link)?;
        connect(stream()?, &link)
    });
    for (name, from) in
        [("outside", &outside), ("in the project", &target.path("project/socket").display().to_string())]
    {
        must_fail(CLASS, &format!("by a hard link to one {name}"), || {
            fs::hard_link(from, &hard)?;
            connect(stream()?, &hard)
        });
        must_fail(CLASS, &format!("by moving one {name}"), || {
            fs::rename(from, &hard)?;
            connect(stream()?, &hard)
        });
    }
    for root in ["/proc/self/root", "/proc/thread-self/root", "/proc/1/root", "/proc/self/cwd/../outside/../.."] {
        must_fail(CLASS, root, || connect(stream()?, &format!("{root}{outside}")));
    }
    must_fail(CLASS, "by a relative path", || connect(stream()?, "../outside/socket"));
    must_fail(CLASS, "by an open file", || {
        let path = format!("{outside}\0");
        let open = call(libc::SYS_openat, &[libc::AT_FDCWD.into(), address(path.as_bytes()), libc::O_PATH.into()])?;
        connect(stream()?, &format!("/proc/{}/fd/{open}", std::process::id()))
    });
    must_fail(CLASS, "without an end of the name", || {
        let mut bytes = vec![b'/'; 108];
        bytes[108 - outside.len()..].copy_from_slice(outside.as_bytes());
        let to = [&libc::AF_UNIX.to_ne_bytes()[..2], &bytes].concat();
        call(libc::SYS_connect, &[stream()?, address(&to), 110])
    });
    attempt(CLASS, "sends before it is connected", || {
        let (bytes, length) = local(&outside);
        refused(stream().and_then(|open| call(libc::SYS_sendto, &[open, address(b"x"), 1, 0, address(&bytes), length])))
    });

    // The test outside sees whether one of these connections comes.
    let own = format!("{temporary}/own-socket");
    attempt(CLASS, "by changing the address", || {
        let _listener = std::os::unix::net::UnixListener::bind(&own);
        let shared = std::ptr::from_mut(Box::leak(Box::new(local(&own).0))) as usize;
        let [first, second] = [&own, &outside].map(|to| local(to).0);
        std::thread::spawn(move || {
            loop {
                for bytes in [&first, &second] {
                    // SAFETY: the memory is never freed, and the kernel alone reads it.
                    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), shared as *mut u8, bytes.len()) };
                }
            }
        });
        let tried = (0..500).filter(|_| {
            let open = stream().unwrap_or(-1);
            let _ = call(libc::SYS_connect, &[open, c_long::try_from(shared).unwrap(), 110]);
            call(libc::SYS_close, &[open]).is_ok()
        });
        Verdict::Held(format!("{} calls", tried.count()))
    });
    attempt(CLASS, "by changing the descriptor", || {
        let (Ok(web), Ok(one), Ok(open)) = (socket(libc::AF_INET, libc::SOCK_STREAM, 0), stream(), stream()) else {
            return Verdict::Held("no such sockets".to_owned());
        };
        std::thread::spawn(move || {
            loop {
                for other in [web, one] {
                    let _ = call(libc::SYS_dup3, &[other, open, 0]);
                }
            }
        });
        let tried = (0..500).filter(|_| connect(open, &outside).is_err()).count();
        if tried == 500 { Verdict::Held("500 calls".to_owned()) } else { Verdict::Escaped(format!("{tried} calls")) }
    });
}

fn descriptors() {
    const CLASS: &str = "descriptors";
    for number in 3..32 {
        must_refuse(CLASS, &format!("inherited {number}"), libc::SYS_fcntl, &[number, libc::F_GETFD.into()]);
    }
    for number in 0..3 {
        attempt(CLASS, &format!("stream {number}"), || {
            let leads = fs::read_link(format!("/proc/self/fd/{number}")).unwrap_or_default().display().to_string();
            let is_known = leads == "/dev/null" || leads.starts_with("pipe:");
            if is_known { Verdict::Held(leads) } else { Verdict::Escaped(leads) }
        });
        let path = address(b"../../etc/passwd\0");
        must_refuse(CLASS, &format!("directory of stream {number}"), libc::SYS_openat, &[number, path, 0]);
    }
    must_refuse("terminals", "input", libc::SYS_ioctl, &[0, 0x5412, address(b"x")]);
    must_refuse("terminals", "selection", libc::SYS_ioctl, &[0, 0x541c, address(b"\x02")]);
    must_refuse("terminals", "control", libc::SYS_ioctl, &[0, 0x540e, 1]);
    for name in
        ["FAKE_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "LD_PRELOAD"]
    {
        attempt("variables", name, || match std::env::var(name) {
            Ok(value) => Verdict::Escaped(value),
            Err(_) => Verdict::Held("not set".to_owned()),
        });
    }
}
