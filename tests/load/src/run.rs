//! One run: warm up, send, wait for the check-runs, say what was seen.

use crate::arguments::Arguments;
use crate::github::{self, Arrived};
use crate::payload::Template;
use crate::process::{self, Peak};
use crate::report::{Measured, Sent};
use crate::sender::{Sender, Target};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// No check-run for this long: none will come.
const STALLED: Duration = Duration::from_secs(8);

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime: {error}"))
}

/// The stand-in alone.
pub fn serve(arguments: &Arguments) -> Result<(), String> {
    runtime()?.block_on(async {
        github::listen(arguments.text("api")?, Arc::default()).await?;
        println!("up");
        std::future::pending().await
    })
}

/// One run.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    runtime()?.block_on(measure(arguments))
}

async fn measure(arguments: &Arguments) -> Result<(), String> {
    let target = Target::of(arguments.text("url")?)?;
    let pid: u32 = arguments.maybe("pid")?.ok_or("`--pid` is missing")?;
    let template = Template::read(
        arguments.text("payload")?,
        arguments.text_or("secret", "s3cret"),
    )?;
    let (n, warm): (u64, u64) = (arguments.number("n", 2000)?, arguments.number("warm", 200)?);
    let connections: usize = arguments.number("connections", 16)?;
    let rate: Option<f64> = arguments.maybe("rate")?;
    let wait = Duration::from_secs(arguments.number("wait", 60)?);
    let first: u64 = arguments.number("first", 1)?;
    let arrived = Arc::new(Arrived::default());
    github::listen(
        arguments.text_or("api", "127.0.0.1:4501"),
        Arc::clone(&arrived),
    )
    .await?;

    let mut sender = Sender::new(target.clone());
    for number in first..first + warm {
        let answer = sender.send(&template.delivery(number)?).await;
        if answer.status != 202 && answer.status != 200 {
            return Err(format!(
                "a delivery of the warm-up was answered {}",
                answer.status
            ));
        }
    }
    until(&arrived, first, warm, Duration::from_secs(20)).await;
    let first = first + warm;
    arrived.take_calls();

    let mut deliveries = Vec::new();
    for number in first..first + n {
        deliveries.push(template.delivery(number)?);
    }
    let deliveries = Arc::new(deliveries);
    let at_rest = process::resident(pid)?;
    let processor_before = process::processor(pid)?;
    let peak = Peak::watch(pid);
    let begun = Instant::now();
    let sent = send_all(&target, &deliveries, connections, rate, begun).await;
    let sending = begun.elapsed();
    let accepted = sent.iter().filter(|sent| sent.accepted()).count() as u64;
    until(&arrived, first, accepted, wait).await;
    // What follows a check-run (its place in the store) belongs to the delivery's cost, too.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let processor = process::processor(pid)? - processor_before;
    let measured = Measured {
        label: arguments.text_or("label", "run").to_owned(),
        peer: arguments.text_or("peer", "quadgate").to_owned(),
        payload: template.len(),
        rate,
        connections,
        begun,
        sending,
        sent,
        processor,
        at_rest,
        peak: peak.end(),
        calls: arrived.take_calls(),
    };
    println!("{}", measured.to_json(&arrived));
    Ok(())
}

/// Sends everything; in an open loop each at its planned moment, and late ones at once.
async fn send_all(
    target: &Target,
    deliveries: &Arc<Vec<crate::payload::Delivery>>,
    connections: usize,
    rate: Option<f64>,
    begun: Instant,
) -> Vec<Sent> {
    let next = Arc::new(AtomicU64::new(0));
    let all = Arc::new(Mutex::new(Vec::with_capacity(deliveries.len())));
    let mut tasks = Vec::new();
    for _ in 0..connections {
        let (target, deliveries) = (target.clone(), Arc::clone(deliveries));
        let (next, all) = (Arc::clone(&next), Arc::clone(&all));
        tasks.push(tokio::spawn(async move {
            let mut sender = Sender::new(target);
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(delivery) = usize::try_from(index)
                    .ok()
                    .and_then(|index| deliveries.get(index))
                else {
                    return;
                };
                let due = match rate {
                    #[allow(clippy::cast_precision_loss)] // thousands
                    Some(rate) => begun + Duration::from_secs_f64(index as f64 / rate),
                    None => Instant::now(),
                };
                tokio::time::sleep_until(due.into()).await;
                let answer = sender.send(delivery).await;
                let sent = Sent {
                    number: delivery.number,
                    due,
                    took: due.elapsed(),
                    answer,
                };
                all.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(sent);
            }
        }));
    }
    for task in tasks {
        let _ = task.await;
    }
    std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Until so many pull requests have their check-run, or none comes any more.
async fn until(arrived: &Arrived, first: u64, wanted: u64, wait: Duration) {
    let (begun, mut last, mut moved) = (Instant::now(), 0, Instant::now());
    loop {
        let done = arrived.done_from(first);
        if done != last {
            (last, moved) = (done, Instant::now());
        }
        if done as u64 >= wanted || begun.elapsed() > wait || moved.elapsed() > STALLED {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
