//! Secrets, from the environment alone. Nothing here prints one: the types redact, messages name variables.

use super::Environment;
use crate::domain::AppId;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use std::fs;
use std::io::Write;
use std::path::Path;

const WEBHOOK: &str = "QUADGATE_WEBHOOK_SECRET";
const APP_ID: &str = "QUADGATE_APP_ID";
const KEY: &str = "QUADGATE_PRIVATE_KEY";
const KEY_PATH: &str = "QUADGATE_PRIVATE_KEY_PATH";
const RECEIPT: &str = "QUADGATE_RECEIPT_KEY";
const CLIENT: &str = "QUADGATE_CLIENT_SECRET";
const DATABASE: &str = "QUADGATE_DATABASE_URL";
/// A receipt key shorter than this can be guessed.
const RECEIPT_MIN: usize = 32;

/// What the server must know and nobody else.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// The webhook secrets, any of which may sign; never empty, none of them empty.
    pub webhook: Vec<SecretString>,
    /// The id of the App (no secret, but it comes the same way).
    pub app_id: AppId,
    /// The App's private key: RSA in PEM, PKCS#1 or PKCS#8.
    pub private_key: SecretString,
    /// The key of the markers' MAC, if it is given; else see [`receipt_key`].
    pub receipt: Option<SecretSlice<u8>>,
    /// The App's client secret, if people sign in on the admin pages.
    pub client: Option<SecretString>,
}

/// A secret is missing or cannot be one.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Nobody gave it.
    #[error("`{0}` is not set; set it, or name a file in `{0}_FILE`")]
    Missing(&'static str),
    /// It was given twice.
    #[error("`{0}` and `{1}` are both set; keep one of them")]
    Twice(&'static str, String),
    /// The file with it cannot be read.
    #[error("the file of `{0}` cannot be read: {1}")]
    Unreadable(String, std::io::Error),
    /// It is empty, or one of several is.
    #[error("`{0}` is empty, or one of its comma-separated values is")]
    Empty(&'static str),
    /// It is no number.
    #[error("`{APP_ID}` must be the App's number, as its settings page shows it")]
    AppId,
    /// It is no RSA key.
    #[error(
        "`{KEY}` is not an RSA private key in PEM; use the .pem file that GitHub gave for download"
    )]
    Key,
    /// It is too short.
    #[error("`{RECEIPT}` must have at least {RECEIPT_MIN} characters")]
    Receipt,
    /// It is no database's.
    #[error("`{DATABASE}` must be a URL such as `postgres://user@host/name`")]
    Database,
    /// The key cannot be kept.
    #[error("the receipt key in `{0}` cannot be read or created: {1}")]
    Keep(String, std::io::Error),
}

impl Secrets {
    /// Reads the secrets from the environment and the files that it names.
    ///
    /// # Errors
    /// Everything that is missing or unusable, not the first.
    pub fn read(environment: &Environment) -> Result<Self, Vec<SecretError>> {
        let mut errors = Vec::new();
        let webhook = keep(webhook(environment), &mut errors);
        let app_id = keep(app_id(environment), &mut errors);
        let private_key = keep(private_key(environment), &mut errors);
        let receipt = keep(receipt(environment), &mut errors);
        let client = keep(find(environment, CLIENT, None), &mut errors);
        match (webhook, app_id, private_key, receipt, client) {
            (Some(webhook), Some(app_id), Some(private_key), Some(receipt), Some(client)) => {
                Ok(Self {
                    webhook,
                    app_id,
                    private_key,
                    receipt,
                    client: client
                        .filter(|secret| !secret.is_empty())
                        .map(SecretString::from),
                })
            }
            _ => Err(errors),
        }
    }
}

fn keep<T>(result: Result<T, SecretError>, errors: &mut Vec<SecretError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

/// A variable, or the content of the file that its `_FILE` variant (or `path`) names, without the line end.
fn find(
    environment: &Environment,
    name: &'static str,
    path: Option<&str>,
) -> Result<Option<String>, SecretError> {
    let file_name = format!("{name}_FILE");
    let given = environment.get(name).filter(|value| !value.is_empty());
    let mut found = given.map(|value| value.trim_end_matches(['\r', '\n']).to_owned());
    for variable in path.into_iter().chain([file_name.as_str()]) {
        let Some(file) = environment.get(variable).filter(|file| !file.is_empty()) else {
            continue;
        };
        if found.is_some() {
            return Err(SecretError::Twice(name, variable.to_owned()));
        }
        let text = fs::read_to_string(file)
            .map_err(|error| SecretError::Unreadable(variable.to_owned(), error))?;
        found = Some(text.trim_end_matches(['\r', '\n']).to_owned());
    }
    Ok(found)
}

fn webhook(environment: &Environment) -> Result<Vec<SecretString>, SecretError> {
    let all = find(environment, WEBHOOK, None)?.ok_or(SecretError::Missing(WEBHOOK))?;
    all.split(',')
        .map(|secret| match secret.trim() {
            "" => Err(SecretError::Empty(WEBHOOK)),
            secret => Ok(SecretString::from(secret)),
        })
        .collect()
}

fn app_id(environment: &Environment) -> Result<AppId, SecretError> {
    let text = find(environment, APP_ID, None)?.ok_or(SecretError::Missing(APP_ID))?;
    let id = text.trim().parse().map_err(|_| SecretError::AppId)?;
    if id == 0 {
        return Err(SecretError::AppId);
    }
    Ok(AppId(id))
}

fn private_key(environment: &Environment) -> Result<SecretString, SecretError> {
    let text = find(environment, KEY, Some(KEY_PATH))?.ok_or(SecretError::Missing(KEY))?;
    // Many hosts cannot hold line ends in a variable and ask for a literal `\n` instead.
    let pem = text.replace("\\n", "\n");
    // Reading a key looks at its wrapping alone; only signing shows that it is one.
    let header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::RS256);
    jsonwebtoken::EncodingKey::from_rsa_pem(pem.as_bytes())
        .and_then(|key| jsonwebtoken::encode(&header, &serde_json::json!({}), &key))
        .map_err(|_| SecretError::Key)?;
    Ok(SecretString::from(pem))
}

fn receipt(environment: &Environment) -> Result<Option<SecretSlice<u8>>, SecretError> {
    match find(environment, RECEIPT, None)? {
        None => Ok(None),
        Some(key) if key.chars().count() < RECEIPT_MIN => Err(SecretError::Receipt),
        Some(key) => Ok(Some(SecretSlice::from(key.into_bytes()))),
    }
}

/// The database: the environment's, which may hold a password and goes before, else the one of `server.yml`.
///
/// # Errors
/// It is given twice, its file cannot be read, or it is no PostgreSQL URL.
pub fn database_url(
    environment: &Environment,
    configured: Option<&SecretString>,
) -> Result<Option<SecretString>, SecretError> {
    match find(environment, DATABASE, None)? {
        None => Ok(configured.cloned()),
        Some(url) if !is_database(&url) => Err(SecretError::Database),
        Some(url) => Ok(Some(SecretString::from(url))),
    }
}

/// Is it the URL of a kind of database that there is a store for?
pub(super) fn is_database(url: &str) -> bool {
    ["postgres://", "postgresql://"]
        .iter()
        .any(|kind| url.starts_with(kind))
}

/// The key of the markers' MAC: the given one, else the one kept in `<data_dir>/receipt.key`, which is created
/// (mode 0600) at the first start. With several replicas it must be given.
///
/// # Errors
/// The file can be neither read nor created, or holds too little.
pub fn receipt_key(secrets: &Secrets, data_dir: &Path) -> Result<SecretSlice<u8>, SecretError> {
    if let Some(key) = &secrets.receipt {
        return Ok(key.expose_secret().to_vec().into());
    }
    let path = data_dir.join("receipt.key");
    let fail = |error| SecretError::Keep(path.to_string_lossy().into_owned(), error);
    match fs::read(&path) {
        Ok(mut key) => {
            key.truncate(key.trim_ascii_end().len());
            if key.len() < RECEIPT_MIN {
                return Err(SecretError::Receipt);
            }
            Ok(key.into())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            create(&path).map(Into::into).map_err(fail)
        }
        Err(error) => Err(fail(error)),
    }
}

/// Writes a new key whole or not at all: a half-written key would make all earlier markers invalid.
fn create(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut random = [0_u8; 32];
    getrandom::fill(&mut random).map_err(|error| std::io::Error::other(error.to_string()))?;
    let key = hex::encode(random);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let temporary = path.with_extension("key.new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&temporary)?;
    file.write_all(key.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    Ok(key.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn all_that_is_missing_is_named_together() {
        let errors = Secrets::read(&Environment::new()).expect_err("nothing is set");
        let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(text.len(), 3, "{text:?}");
        for (line, name) in text.iter().zip([WEBHOOK, APP_ID, KEY]) {
            assert!(line.contains(name), "{line}");
        }
    }

    #[test]
    fn several_webhook_secrets_and_no_empty_one() {
        use secrecy::ExposeSecret;
        let read = |value: &str| webhook(&environment(&[(WEBHOOK, value)]));
        let two = read("old, new\n").expect("two");
        let two: Vec<&str> = two.iter().map(ExposeSecret::expose_secret).collect();
        assert_eq!(two, ["old", "new"]);
        for bad in ["", ",", "a,", "a,,b", " ", "\n"] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_file_stands_for_its_variable_and_loses_its_line_end() {
        use secrecy::ExposeSecret;
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("secret");
        fs::write(&path, "hush\r\n").expect("write");
        let path = path.to_str().expect("text");
        let file = format!("{WEBHOOK}_FILE");
        let one = webhook(&environment(&[(&file, path)])).expect("reads");
        assert_eq!(
            one.first().map(|s| s.expose_secret().to_owned()),
            Some("hush".into())
        );
        let error = webhook(&environment(&[(&file, path), (WEBHOOK, "x")])).expect_err("twice");
        assert!(error.to_string().contains("both set"));
        let error = webhook(&environment(&[(&file, "/nowhere/at/all")])).expect_err("no file");
        assert!(error.to_string().contains(&file));
    }

    #[test]
    fn secrets_do_not_print() {
        let one = webhook(&environment(&[(WEBHOOK, "hunter2")])).expect("reads");
        assert!(!format!("{one:?}").contains("hunter2"));
        let error = private_key(&environment(&[(KEY, "hunter2")])).expect_err("no key");
        assert!(!error.to_string().contains("hunter2"));
    }

    #[test]
    fn the_receipt_key_is_created_once() {
        let folder = tempfile::tempdir().expect("folder");
        let data = folder.path().join("data");
        let secrets = Secrets {
            webhook: vec!["x".into()],
            app_id: AppId(1),
            private_key: "x".into(),
            receipt: None,
            client: None,
        };
        let first = receipt_key(&secrets, &data).expect("creates");
        let second = receipt_key(&secrets, &data).expect("reads");
        assert_eq!(first.expose_secret(), second.expose_secret());
        assert_eq!(first.expose_secret().len(), 64);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(data.join("receipt.key"))
                .expect("file")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
