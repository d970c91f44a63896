//! The plain limits of the machine: what group-committed syncs and HMAC allow if nothing else is done.

use crate::arguments::Arguments;
use crate::payload::{Template, mac};
use crate::report::round;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const SPAN: Duration = Duration::from_secs(2);
const PAGE: usize = 4096;

/// Prints one line of JSON.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let dir = arguments.text("dir")?;
    let template = Template::read(arguments.text("payload")?, "s3cret")?;
    let body = template.delivery(1)?.body;
    let begun = Instant::now();
    let mut macs = 0_u32;
    while begun.elapsed() < SPAN {
        std::hint::black_box(mac("s3cret", &body)?);
        macs += 1;
    }
    let hmac = f64::from(macs) / begun.elapsed().as_secs_f64();
    let single = syncs(Path::new(dir), 1)?;
    let groups: Vec<_> = [16_u32, 64]
        .into_iter()
        .map(|group| Ok(json!({"group": group, "writes_per_s": round(syncs(Path::new(dir), group)? * f64::from(group))})))
        .collect::<Result<_, String>>()?;
    println!(
        "{}",
        json!({"limits": {"hmac_per_s": round(hmac), "syncs_per_s": round(single), "groups": groups}})
    );
    Ok(())
}

/// Appends of `group` times 4 KiB a second, each with its own sync.
fn syncs(dir: &Path, group: u32) -> Result<f64, String> {
    let path = dir.join("load.limit");
    let failed = |error: std::io::Error| format!("`{}`: {error}", path.display());
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(failed)?;
    let bytes = vec![7_u8; PAGE * usize::try_from(group).unwrap_or(1)];
    let (begun, mut count) = (Instant::now(), 0_u32);
    while begun.elapsed() < SPAN {
        file.write_all(&bytes)
            .and_then(|()| file.sync_data())
            .map_err(failed)?;
        count += 1;
    }
    let rate = f64::from(count) / begun.elapsed().as_secs_f64();
    drop(file);
    std::fs::remove_file(&path).map_err(failed)?;
    Ok(rate)
}
