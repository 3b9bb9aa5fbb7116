//! What programs in cages reach: the loopback of their session, Unix sockets of their own, and no other network.

use std::fs;
use std::io::{Read as _, Write as _};

use serde_json::json;

use crate::caged_project::{Desk, run_line, server};
use crate::support::{fakecli, text, until};

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_in_a_cage_have_a_loopback_and_no_other_network() {
    let desk = Desk::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!("bash --norc -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    for (status, _, stderr) in [desk.sh(&[], &line), desk.sh_without_namespaces(&[], &line)] {
        assert!(status != 0 && !stderr.is_empty(), "{stderr}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "the port of the machine was not reached");
    let interfaces = desk.sh(&[], "bash --norc -c 'cat /proc/net/dev'").1;
    assert_eq!(
        interfaces.lines().skip(2).filter(|line| !line.trim_start().starts_with("lo:")).count(),
        0,
        "{interfaces}"
    );
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn the_port_of_a_caged_server_is_shown_to_programs_that_list_sockets() {
    let desk = Desk::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = format!(
        "import socket, time; s = socket.create_server((\"127.0.0.1\", {port})); open(\"ready\", \"w\"); time.sleep(30)"
    );
    for list in [format!("ss -Htln 'sport = :{port}'"), format!("lsof -nP -iTCP:{port}")] {
        let program = list.split(' ').next().unwrap();
        // Not every machine has both.
        if desk.sh(&[], &format!("command -v {program}")).0 != 0 {
            continue;
        }
        let line =
            format!("python3 -c '{server}' & until [ -e ready ]; do sleep 0.05; done; {list}; kill %1; rm ready");
        let (_, listed, stderr) = desk.sh(&["--cage", "workspace"], &line);
        assert!(listed.contains(&format!(":{port} ")), "{list}: {listed}{stderr}");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_in_a_cage_connect_to_their_own_unix_sockets_alone() {
    const PROGRAM: &str = "\
import os, socket, sys, tempfile, threading
own = os.path.join(tempfile.gettempdir(), 'own')
listener = socket.socket(socket.AF_UNIX)
listener.bind(own)
listener.listen()
def serve():
    for _ in range(3):
        listener.accept()[0].sendall(b'hello')
threading.Thread(target=serve, daemon=True).start()
os.chdir(tempfile.gettempdir())
print(*(connected.recv(9) for to in (own, 'own', own) for connected in [socket.socket(socket.AF_UNIX)]
        if connected.connect(to) is None))
web = socket.create_server(('127.0.0.1', 0))
print(socket.create_connection(web.getsockname()).getpeername() == web.getsockname())
for to in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(to)
        print('connected', to)
    except OSError as error:
        print(type(error).__name__)
";
    let desk = Desk::new();
    fs::write(desk.path("project/sockets.py"), PROGRAM).unwrap();
    let [beside, within] = [desk.path("socket"), desk.path("project/socket")];
    let _listeners = [&beside, &within].map(|path| std::os::unix::net::UnixListener::bind(path).unwrap());
    let line = format!("python3 sockets.py {} {}", beside.display(), within.display());
    for cage in ["read", "workspace"] {
        let (status, stdout, stderr) = desk.sh(&["--cage", cage], &line);
        let expected = "b'hello' b'hello' b'hello'\nTrue\nPermissionError\nPermissionError\n";
        assert_eq!((status, stdout.as_str()), (0, expected), "{cage}: {stderr}");
    }
    // Without namespaces nothing tells one socket from another.
    let (_, _, stderr) = desk.sh_without_namespaces(&[], &line);
    assert!(stderr.contains("PermissionError"), "{stderr}");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_of_a_session_reach_a_server_that_runs_in_a_cage() {
    let desk = Desk::new();
    fs::copy(fakecli(), desk.path("project/program")).unwrap();
    // The machine has another server at the same port, which nothing may mistake for that of the session.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let ask = format!("curl --silent --max-time 5 http://{address}/");
    let caged = format!("./program try connect {address}");

    let line = format!(
        "until timeout 5 ./program try connect {address} | grep -q ok; do sleep 0.02; done & \
         ./program serve {address} & wait %1; {ask}; timeout 5 {ask}; {caged}; echo; kill %2; wait %2; {caged} | grep -c refused"
    );
    let (_, stdout, stderr) = desk.sh(&[], &line);
    assert_eq!(stdout, "served in the session\nserved in the session\nok\n1\n", "{stderr}");
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "the port of the machine was not reached");

    let mut server = server(&desk, &["--detach-after", "0.1"]);
    run_line(&mut server, &json!({ "command": format!("./program serve {address}") }));
    until("the job serves", || text(&run_line(&mut server, &json!({ "command": caged }))).contains("ok"));
    // An answer that comes late goes on as a job.
    until("the server answers", || {
        text(&run_line(&mut server, &json!({ "command": ask }))).contains("served in the session")
    });
    drop(server);

    // Without a server in the session, the machine's answers.
    let machine = std::thread::spawn(move || {
        listener.set_nonblocking(false).unwrap();
        let mut connection = listener.incoming().next().unwrap().unwrap();
        let _ = connection.read(&mut [0; 4096]);
        connection.write_all(b"HTTP/1.0 200 OK\r\n\r\nserved by the machine\n").unwrap();
    });
    let (_, stdout, stderr) = desk.sh(&[], &format!("bash --norc -c true; {ask}"));
    assert_eq!(stdout, "served by the machine\n", "{stderr}");
    machine.join().unwrap();
}
