//! Secrets from a given environment: both forms of the App's key, files, and what may never be printed.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use quadgate::settings::{Environment, Secrets};
use secrecy::ExposeSecret;

/// A fresh RSA key in PEM: PKCS#8 as other tools want it, PKCS#1 as GitHub gives it for download.
fn keys() -> (String, String) {
    let pair = KeyPair::generate(KeySize::Rsa2048).expect("a key");
    let pkcs8 = AsDer::<aws_lc_rs::encoding::Pkcs8V1Der<'_>>::as_der(&pair).expect("DER");
    let pkcs8 = pkcs8.as_ref();
    // A PKCS#8 document ends with an OCTET STRING (tag 04, long length 82 hh ll) that is the PKCS#1 key.
    let start = pkcs8
        .windows(2)
        .position(|pair| pair == [0x04, 0x82])
        .expect("the inner key");
    let pkcs1 = &pkcs8[start + 4..];
    (pem("PRIVATE KEY", pkcs8), pem("RSA PRIVATE KEY", pkcs1))
}

fn pem(label: &str, der: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in der.chunks(3) {
        let mut bits = 0_u32;
        for index in 0..3 {
            bits = bits << 8 | u32::from(three.get(index).copied().unwrap_or(0));
        }
        for index in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * index) & 63) as usize] as char;
            text.push(if index > three.len() { '=' } else { letter });
        }
    }
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).expect("ASCII"))
        .collect();
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    )
}

fn environment(key: &str, value: &str) -> Environment {
    [
        ("QUADGATE_WEBHOOK_SECRET", "first,second"),
        ("QUADGATE_APP_ID", "12345"),
        (key, value),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

#[test]
fn both_forms_of_the_key_are_taken_from_variable_and_file() {
    let (pkcs8, pkcs1) = keys();
    let folder = tempfile::tempdir().expect("folder");
    for (name, pem) in [("pkcs8", pkcs8), ("pkcs1", pkcs1)] {
        let path = folder.path().join(name);
        std::fs::write(&path, &pem).expect("write");
        let path = path.to_str().expect("text");
        let one_line = pem.replace('\n', "\\n");
        for (variable, value) in [
            ("QUADGATE_PRIVATE_KEY", pem.as_str()),
            ("QUADGATE_PRIVATE_KEY", one_line.as_str()),
            ("QUADGATE_PRIVATE_KEY_PATH", path),
            ("QUADGATE_PRIVATE_KEY_FILE", path),
        ] {
            let secrets = Secrets::read(&environment(variable, value));
            let secrets = secrets.unwrap_or_else(|errors| panic!("{name} {variable}: {errors:?}"));
            assert_eq!(secrets.webhook.len(), 2);
            assert_eq!(secrets.app_id.0, 12345);
            assert!(
                secrets
                    .private_key
                    .expose_secret()
                    .starts_with("-----BEGIN")
            );
            let printed = format!("{secrets:?}");
            assert!(
                !printed.contains("BEGIN") && !printed.contains("first"),
                "{printed}"
            );
        }
    }
}

#[test]
fn what_is_no_key_is_refused_without_showing_it() {
    let (pkcs8, _) = keys();
    let cut: String = pkcs8.chars().take(400).collect();
    let hollow = pem("RSA PRIVATE KEY", &[0x30, 0x03, 0x02, 0x01, 0x00]);
    for bad in [
        hollow.as_str(),
        cut.as_str(),
        "hunter2",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
    ] {
        let errors = Secrets::read(&environment("QUADGATE_PRIVATE_KEY", bad)).expect_err("no key");
        let text = format!("{errors:?} {}", errors[0]);
        assert!(
            text.contains("QUADGATE_PRIVATE_KEY") && text.contains(".pem"),
            "{text}"
        );
        assert!(!text.contains("hunter2") && !text.contains("MII"), "{text}");
    }
}

#[test]
fn a_key_given_twice_is_refused() {
    let mut environment = environment("QUADGATE_PRIVATE_KEY", "x");
    environment.insert("QUADGATE_PRIVATE_KEY_PATH".to_owned(), "/tmp/y".to_owned());
    let errors = Secrets::read(&environment).expect_err("twice");
    assert!(errors[0].to_string().contains("both set"), "{}", errors[0]);
}
