//! A proxy before the server, with the settings of `docs/guides/nginx.md`.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Printed where nginx is not installed.
pub(crate) const MISSING: &str = "no nginx here, so what needs one is left out: apt-get install nginx-light openssl";

/// `proxy_next_upstream` of `docs/guides/nginx.md`: the failures after which another replica gets the request.
pub(crate) const RETRIES: &str = "error http_503 non_idempotent";

/// A proxy on two ports. Killed when dropped.
pub(crate) struct Nginx {
    child: Child,
    pub(crate) plain: SocketAddr,
    pub(crate) tls: SocketAddr,
}

/// Whether nginx and openssl are installed.
pub(crate) fn is_installed() -> bool {
    let runs = |program: &str, argument: &str| {
        Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    runs("nginx", "-v") && runs("openssl", "version")
}

impl Nginx {
    /// Starts one before these replicas, with `retries` for `proxy_next_upstream`.
    pub(crate) fn start(directory: &Path, replicas: &[SocketAddr], retries: &str) -> Self {
        certificate(directory);
        let [plain, tls] = free_addresses();
        let file = directory.join("nginx.conf");
        std::fs::write(&file, configuration(directory, replicas, retries, plain, tls)).unwrap();
        let mut command = Command::new("nginx");
        command.arg("-e").arg(directory.join("error.log")).arg("-p").arg(directory).arg("-c").arg(&file);
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        let nginx = Self { child, plain, tls };
        let start = Instant::now();
        while TcpStream::connect(tls).is_err() {
            assert!(start.elapsed() < Duration::from_secs(10), "nginx does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        nginx
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One process, which is killed as a whole. The server has one thread too.
fn configuration(
    directory: &Path,
    replicas: &[SocketAddr],
    retries: &str,
    plain: SocketAddr,
    tls: SocketAddr,
) -> String {
    let directory = directory.display();
    let mut text = format!(
        "daemon off;\nmaster_process off;\npid {directory}/nginx.pid;\nerror_log {directory}/error.log;\n\
         events {{ worker_connections 8192; }}\nhttp {{\naccess_log off;\n"
    );
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        let _ = writeln!(text, "{kind}_temp_path {directory}/{kind};");
    }
    text.push_str("upstream climax {\n");
    for replica in replicas {
        let _ = writeln!(text, "server {replica} max_fails=0;");
    }
    let _ = write!(
        text,
        "keepalive 64;\n}}\nserver {{\nlisten {plain} backlog=4096;\nlisten {tls} ssl;\n\
         ssl_certificate {directory}/certificate.pem;\nssl_certificate_key {directory}/key.pem;\n\
         keepalive_requests 1000000;\nclient_max_body_size 4m;\nlocation / {{\nproxy_pass http://climax;\n\
         proxy_http_version 1.1;\nproxy_set_header Connection \"\";\nproxy_set_header Host $host;\n\
         proxy_buffering off;\nproxy_read_timeout 1h;\nproxy_connect_timeout 2s;\nproxy_next_upstream {retries};\n}}\n}}\n}}\n"
    );
    text
}

fn certificate(directory: &Path) {
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
    command.args(["-days", "1", "-subj", "/CN=localhost"]);
    command.arg("-keyout").arg(directory.join("key.pem")).arg("-out").arg(directory.join("certificate.pem"));
    let status = command.stdin(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "openssl makes no certificate");
}

/// Two free ports.
fn free_addresses() -> [SocketAddr; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    listeners.map(|listener| listener.local_addr().unwrap())
}
