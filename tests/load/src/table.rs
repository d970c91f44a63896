//! Lines of figures to tables in Markdown, in English or Korean, and to a picture.

use crate::arguments::Arguments;
use serde_json::Value;
use std::fmt::Write;

/// Words of the tables.
struct Words {
    run: &'static [&'static str],
    limit: &'static [&'static str],
    one: &'static [&'static str],
    hmac: &'static str,
    syncs: &'static str,
    group: &'static str,
    named: fn(&str) -> String,
}

const ENGLISH: Words = Words {
    run: &[
        "run",
        "sent",
        "202 (200)",
        "503",
        "accepted/s",
        "done/s",
        "lost",
        "doubled",
        "p50 ms",
        "p99 ms",
        "calls each",
        "CPU ms each",
        "MiB before",
        "MiB most",
    ],
    limit: &["limit", "a second"],
    one: &["measure", "figure"],
    hmac: "HMAC-SHA-256 of one delivery",
    syncs: "writes of 4 KiB, each with its own sync",
    group: "writes of 4 KiB, so many to a sync:",
    named: str::to_owned,
};

const KOREAN: Words = Words {
    run: &[
        "실행",
        "보냄",
        "202 (200)",
        "503",
        "초당 수락",
        "초당 완료",
        "유실",
        "중복",
        "p50 ms",
        "p99 ms",
        "건당 호출",
        "건당 CPU ms",
        "이전 MiB",
        "최대 MiB",
    ],
    limit: &["한계", "초당"],
    one: &["측정", "값"],
    hmac: "전달 한 건의 HMAC-SHA-256",
    syncs: "4 KiB 쓰기, 매번 동기화",
    group: "4 KiB 쓰기, 동기화 한 번에 묶은 수:",
    named: str::to_owned,
};

/// Reads the files and writes what is asked for.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let mut lines = Vec::new();
    for file in arguments.rest() {
        let text = std::fs::read_to_string(file).map_err(|error| format!("`{file}`: {error}"))?;
        for line in text.lines() {
            let line: Value =
                serde_json::from_str(line).map_err(|error| format!("`{file}`: {error}"))?;
            lines.push(line);
        }
    }
    let words = match arguments.text_or("language", "en") {
        "ko" => &KOREAN,
        _ => &ENGLISH,
    };
    println!("{}", markdown(&lines, words));
    if let Ok(file) = arguments.text("svg") {
        std::fs::write(file, svg(&lines)).map_err(|error| format!("`{file}`: {error}"))?;
    }
    Ok(())
}

fn markdown(lines: &[Value], words: &Words) -> String {
    let runs = rows(
        words.run,
        lines.iter().filter_map(|line| run_row(line, words)),
    );
    let limits = rows(
        words.limit,
        lines.iter().flat_map(|line| limit_rows(line, words)),
    );
    let ones = rows(words.one, lines.iter().filter_map(one_row));
    format!("{runs}\n{limits}\n{ones}")
}

fn rows(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

fn run_row(line: &Value, words: &Words) -> Option<Vec<String>> {
    let status = |code: &str| {
        line.pointer(&format!("/statuses/{code}"))
            .and_then(Value::as_u64)
            .unwrap_or(0)
    };
    let label = line.get("label")?.as_str()?;
    let mut row = vec![
        (words.named)(label),
        number(line, "/sent"),
        (status("202") + status("200")).to_string(),
        status("503").to_string(),
    ];
    row.extend(
        [
            "/accepted_per_s",
            "/done_per_s",
            "/lost",
            "/doubled",
            "/check_run_ms/p50",
            "/check_run_ms/p99",
            "/calls_each",
            "/cpu_ms_each",
            "/rest_mib",
            "/peak_mib",
        ]
        .map(|at| number(line, at)),
    );
    Some(row)
}

fn limit_rows(line: &Value, words: &Words) -> Vec<Vec<String>> {
    let Some(limits) = line.get("limits") else {
        return Vec::new();
    };
    let mut all = vec![
        vec![words.hmac.to_owned(), number(limits, "/hmac_per_s")],
        vec![words.syncs.to_owned(), number(limits, "/syncs_per_s")],
    ];
    for group in limits
        .get("groups")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        all.push(vec![
            format!("{} {}", words.group, number(group, "/group")),
            number(group, "/writes_per_s"),
        ]);
    }
    all
}

fn one_row(line: &Value) -> Option<Vec<String>> {
    let text = |name: &str| Some(line.get(name)?.as_str()?.to_owned());
    Some(vec![text("measure")?, text("figure")?])
}

fn number(line: &Value, at: &str) -> String {
    match line.pointer(at).and_then(Value::as_f64) {
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.fract() == 0.0 => format!("{value:.0}"),
        Some(value) => format!("{value:.1}"),
        None => "-".to_owned(),
    }
}

/// Four pairs of bars: throughput, latency, memory, processor time, of the runs that are marked for it.
fn svg(lines: &[Value]) -> String {
    let shown: Vec<&Value> = lines
        .iter()
        .filter(|line| line.get("shown").is_some())
        .collect();
    let panels = [
        ("deliveries done a second", "/done_per_s"),
        ("ms to the check-run, p99", "/check_run_ms/p99"),
        ("MiB resident, most", "/peak_mib"),
        ("ms of processor a delivery", "/cpu_ms_each"),
    ];
    let mut text = String::new();
    let row = 22;
    let panel = 34 + row * shown.len();
    let height = 16 + panels.len() * panel;
    let _ = writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"{height}\" viewBox=\"0 0 720 {height}\" \
         font-family=\"sans-serif\" font-size=\"13\" role=\"img\" aria-label=\"quadgate and Probot under load\">\n\
         <rect width=\"720\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    for (index, (title, at)) in panels.iter().enumerate() {
        let top = 16 + index * panel;
        let _ = writeln!(
            text,
            "<text x=\"16\" y=\"{}\" font-weight=\"bold\" fill=\"#1f2328\">{title}</text>",
            top + 12
        );
        let value = |line: &Value| line.pointer(at).and_then(Value::as_f64).unwrap_or(0.0);
        let most = shown
            .iter()
            .map(|line| value(line))
            .fold(f64::MIN_POSITIVE, f64::max);
        for (place, line) in shown.iter().enumerate() {
            let y = top + 22 + place * row;
            let width = 380.0 * value(line) / most;
            let peer = line.get("peer").and_then(Value::as_str).unwrap_or_default();
            let label = line
                .get("label")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let colour = if peer == "quadgate" {
                "#0969da"
            } else {
                "#8c959f"
            };
            let _ = writeln!(
                text,
                "<text x=\"16\" y=\"{}\" fill=\"#1f2328\">{label}</text>\
                 <rect x=\"240\" y=\"{y}\" width=\"{width:.0}\" height=\"16\" fill=\"{colour}\"/>\
                 <text x=\"{:.0}\" y=\"{}\" fill=\"#1f2328\">{}</text>",
                y + 13,
                246.0 + width,
                y + 13,
                number(line, at),
            );
        }
    }
    text.push_str("</svg>\n");
    text
}
