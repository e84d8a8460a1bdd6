//! The report in a real browser: headless Chromium, with and without a network, on a phone and on a desk.

mod common;

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossvisor_analysis::compare;
use crossvisor_report::html;
use tempfile::TempDir;

/// Hosts that the browser asks on its own behalf, whatever page it shows.
const ITS_OWN: [&str; 3] = ["google.com", "googleapis.com", "gvt1.com"];

/// A folder with the page, the browser's profile, and a proxy in place of the network.
struct Browser {
    folder: TempDir,
    proxy: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Browser {
    /// With a network that answers nothing but remembers what it was asked for.
    fn with_network() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let proxy = listener.local_addr().expect("an address").to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut asked = [0; 256];
                let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                let length = stream.read(&mut asked).unwrap_or(0);
                kept.lock().expect("a list").push(String::from_utf8_lossy(&asked[..length]).into_owned());
            }
        });
        Self { folder: tempfile::tempdir().expect("a folder"), proxy, requests }
    }

    /// With a network that nobody answers.
    fn without_network() -> Self {
        let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
        Self { proxy: closed.to_string(), ..Self::with_network() }
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).expect("written");
        path
    }

    fn run(&self, arguments: &[&str], page: &Path) -> Output {
        let profile = self.folder.path().join("profile");
        Command::new("chromium")
            // Containers and root have no sandbox; the page is the test's own.
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--enable-logging=stderr", "--virtual-time-budget=5000"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--proxy-server=http://{}", self.proxy))
            .args(arguments)
            .arg(format!("file://{}", page.display()))
            .output()
            .expect("chromium: script/test installs it")
    }

    /// The page as the browser has it, and what it wrote to its console.
    fn dom(&self, page: &Path) -> (String, Vec<String>) {
        let output = self.run(&["--window-size=1280,900", "--dump-dom"], page);
        let console = String::from_utf8_lossy(&output.stderr);
        let console = console.lines().filter(|line| line.contains("CONSOLE")).map(String::from).collect();
        (String::from_utf8_lossy(&output.stdout).into_owned(), console)
    }

    /// How wide the page's content is in a window of `width`, and how many elements are in it that could act.
    fn measure(&self, page: &str, width: u32) -> (u32, u32) {
        let page = page.replace('&', "&amp;").replace('"', "&quot;");
        let frame = format!(
            "<!doctype html><iframe srcdoc=\"{page}\" style=\"width:{width}px;height:900px;border:0\"></iframe><script>\
             onload = () => {{ const page = document.querySelector('iframe').contentDocument;\
             const act = page.querySelectorAll('script,img,iframe,object,embed,form,[onerror],[onload]').length;\
             document.body.id = 'measured ' + page.documentElement.scrollWidth + ' ' + act; }};</script>"
        );
        let (dom, _) = self.dom(&self.write("frame.html", &frame));
        let measured = dom.split("<body id=\"measured ").nth(1).and_then(|rest| rest.split('"').next());
        let numbers: Vec<u32> =
            measured.unwrap_or_default().split(' ').filter_map(|number| number.parse().ok()).collect();
        assert_eq!(numbers.len(), 2, "measured: {measured:?}");
        (numbers[0], numbers[1])
    }

    /// What was asked for on behalf of pages: the first line of each request.
    fn asked(&self) -> Vec<String> {
        let requests = self.requests.lock().expect("a list");
        let lines = requests.iter().filter_map(|asked| asked.lines().next());
        lines.filter(|line| !ITS_OWN.iter().any(|host| line.contains(host))).map(String::from).collect()
    }
}

fn report() -> String {
    let record = common::record();
    html(&record, &compare(&record), &[]).expect("HTML")
}

#[test]
fn the_page_is_the_same_with_and_without_a_network_and_asks_for_nothing() {
    let (online, offline) = (Browser::with_network(), Browser::without_network());
    let [with, without] =
        [&online, &offline].map(|browser| browser.dom(&browser.write("report.html", &report())));
    assert!(with.0.contains("How to repeat the run") && with.0.contains("<svg"), "{}", with.0);
    assert_eq!(with, without);
    assert_eq!(with.1, Vec::<String>::new(), "the console stays empty");
    assert_eq!(online.asked(), Vec::<String>::new());
    assert!(
        ITS_OWN.iter().all(|host| !report().contains(host)),
        "a page that asks for them would be overlooked"
    );
}

#[test]
fn what_the_test_looks_for_would_be_seen() {
    let browser = Browser::with_network();
    let page = "<img src=\"http://outside.example/seen\"><script>console.error('heard')</script>";
    let (_, console) = browser.dom(&browser.write("bad.html", page));
    assert!(browser.asked().iter().any(|asked| asked.contains("outside.example/seen")));
    assert!(console.iter().any(|line| line.contains("heard")), "{console:?}");
    assert_eq!(browser.measure("<!doctype html><div style=\"width:2000px\"><img></div>", 390).1, 1);
    assert!(browser.measure("<!doctype html><div style=\"width:2000px\">wide</div>", 390).0 >= 2000);
}

#[test]
fn nothing_is_wider_than_the_screen_and_nothing_acts() {
    let browser = Browser::with_network();
    for width in [320, 390, 1280] {
        assert_eq!(browser.measure(&report(), width), (width, 0));
    }
}

#[test]
fn it_prints() {
    let browser = Browser::with_network();
    let pdf = browser.folder.path().join("report.pdf");
    let print = format!("--print-to-pdf={}", pdf.display());
    browser.run(&[print.as_str()], &browser.write("report.html", &report()));
    assert!(fs::read(pdf).expect("a PDF").starts_with(b"%PDF-"));
}
