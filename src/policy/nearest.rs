//! The nearest known word to a mistyped one, for hints.

/// The known word that is near enough to be what was meant. Case, `-` and `_` do not count.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let flat = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let wanted = flat(word);
    known
        .into_iter()
        .map(|candidate| (distance(&wanted, &flat(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= allowed(candidate.chars().count()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn allowed(letters: usize) -> usize {
    // In words of one or two letters every other word is near.
    match letters {
        0..=2 => 0,
        3 => 1,
        _ => (letters / 3).max(2),
    }
}

/// Edits (insert, delete, replace) from one word to the other; words over 64 letters are far from all.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    if a.chars().count() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(x != *y);
            left = replaced.min(above + 1).min(left + 1);
            next.push(left);
            diagonal = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_what_was_meant_and_nothing_far_fetched() {
        let known = ["bot_app_slug", "merge", "evidence"];
        assert_eq!(nearest("botapp_slug", known), Some("bot_app_slug"));
        assert_eq!(nearest("BotAppSlug", known), Some("bot_app_slug"));
        assert_eq!(nearest("mrege", known), Some("merge"));
        assert_eq!(nearest("merg", known), Some("merge"));
        assert_eq!(nearest("tick", known), None);
    }
}
