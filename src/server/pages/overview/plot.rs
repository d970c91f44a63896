//! Decisions a day by quadrant: bars drawn here as SVG, and the same numbers as a table.

use super::figures::{QUADRANTS, start_of};
use crate::server::pages::parts;
use crate::server::pages::words;
use maud::{Markup, html};
use std::collections::BTreeMap;

const WIDTH: i64 = 720;
const HEIGHT: i64 = 200;
const LEFT: i64 = 44;
const TOP: i64 = 10;
const BOTTOM: i64 = 26;

/// The days from `first` to `last`, both included.
pub(super) fn plot(days: &BTreeMap<i64, [u64; 4]>, first: i64, last: i64) -> Markup {
    let span = (last - first + 1).max(1);
    let most = days.values().map(|day| day.iter().sum()).max().unwrap_or(0);
    let top = round_up(most);
    let step = (WIDTH - LEFT) * 100 / span;
    let bar = (step * 7 / 10).min(3_600);
    let foot = HEIGHT - BOTTOM;
    let height = |value: u64| scaled(value, top, foot - TOP);
    let total: u64 = days.values().flatten().sum();
    html! {
        div.scroll.plot role="region" aria-label="Decisions a day" tabindex="0" {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-labelledby="plot-title plot-text" {
                title #plot-title { "Decisions a day by quadrant" }
                desc #plot-text { (words::count(total, "decision", "decisions")) " from " (name(first)) " to " (name(last)) ", at most " (most) " a day. The table below has the numbers." }
                @for value in [0, top / 2, top] {
                    @let y = foot - height(value);
                    line.rule x1=(LEFT) x2=(WIDTH) y1=(y) y2=(y) {}
                    text x=(LEFT - 8) y=(y + 4) text-anchor="end" { (value) }
                }
                @for (day, verdicts) in days.range(first..=last) {
                    @let x = LEFT * 100 + (day - first) * step + (step - bar) / 2;
                    @for (index, quadrant) in QUADRANTS.iter().enumerate() {
                        @let below: u64 = verdicts.iter().take(index).sum();
                        @let value = verdicts.get(index).copied().unwrap_or(0);
                        @if value > 0 {
                            @let (low, high) = (height(below), height(below + value));
                            rect class=(parts::class(*quadrant)) x=(hundredths(x)) y=(foot - high) width=(hundredths(bar)) height=(high - low) {}
                        }
                    }
                }
                @for (day, anchor, x) in [(first, "start", LEFT), (first + span / 2, "middle", i64::midpoint(WIDTH, LEFT)), (last, "end", WIDTH)] {
                    text x=(x) y=(HEIGHT - 6) text-anchor=(anchor) { (name(day)) }
                }
            }
        }
        details {
            summary { "The numbers as a table" }
            div.scroll role="region" aria-label="Decisions a day as a table" tabindex="0" {
                table {
                    caption { "Decisions a day by quadrant; days without one are left out." }
                    thead { tr { th scope="col" { "Day" } @for quadrant in QUADRANTS { th.number scope="col" { (quadrant.letter()) } } } }
                    tbody {
                        @for (day, verdicts) in days.range(first..=last).rev() {
                            tr { th scope="row" { (name(*day)) } @for value in verdicts { td.number { (value) } } }
                        }
                    }
                }
            }
        }
    }
}

fn name(day: i64) -> String {
    start_of(day).to_string().chars().take(10).collect()
}

/// `value` of `top` as so many of `room` steps.
fn scaled(value: u64, top: u64, room: i64) -> i64 {
    let room = u64::try_from(room).unwrap_or(0);
    let steps = value.saturating_mul(room).checked_div(top).unwrap_or(0);
    i64::try_from(steps).unwrap_or(0)
}

/// An even number that reads well on an axis and is not below `most`.
fn round_up(most: u64) -> u64 {
    let mut unit = 2;
    loop {
        for factor in [1, 2, 5] {
            let top = unit * factor;
            if top >= most {
                return top;
            }
        }
        unit *= 10;
    }
}

fn hundredths(value: i64) -> String {
    format!("{}.{:02}", value / 100, value % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_numbers_that_read_well() {
        let tops: Vec<u64> = [0, 2, 3, 11, 40, 101, 1_999].map(round_up).into();
        assert_eq!(tops, [2, 2, 4, 20, 40, 200, 2_000]);
    }

    #[test]
    fn bars_stand_on_each_other_and_the_numbers_are_there_in_words() {
        let days = BTreeMap::from([(0, [1, 0, 0, 1]), (1, [0, 4, 0, 0])]);
        let svg = plot(&days, 0, 6).into_string();
        assert_eq!(svg.matches("<rect").count(), 3);
        assert!(
            svg.contains(r#"class="qd" x="#)
                && svg.contains("6 decisions from 1970-01-01 to 1970-01-07")
        );
        assert!(svg.contains("<caption>") && !svg.contains("style="));
    }
}
