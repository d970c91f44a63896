//! Lists: a hundred items a page, pages in parallel where the count is known, and to the end in any case.
//!
//! INVARIANT: a list is returned only when each of its pages was read. Whether it is as long as GitHub said is
//! for the caller to compare; an item that comes twice means that the list moved while it was read.

use super::call::{Call, Reply, Who, read_json};
use super::client::GitHub;
use super::path::ApiPath;
use super::{ApiError, wire};
use http::header::LINK;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::hash::Hash;
use tokio::task::JoinSet;

/// Items a page; GitHub's most.
const PER_PAGE: u64 = 100;
/// Pages that are asked for at once.
const PARALLEL: u64 = 30;
/// More pages than any list of ours has.
const MOST_PAGES: usize = 500;

/// The shape of one page.
pub(super) trait PageBody: DeserializeOwned + Send + 'static {
    type Item: Send + 'static;
    /// The items, and the length of the whole list where the page says it; `None`: no list in it.
    fn into_page(self) -> Option<(Vec<Self::Item>, Option<u64>)>;
}

impl<T: DeserializeOwned + Send + 'static> PageBody for Vec<T> {
    type Item = T;

    fn into_page(self) -> Option<(Vec<T>, Option<u64>)> {
        Some((self, None))
    }
}

impl PageBody for wire::CheckRuns {
    type Item = wire::CheckRun;

    fn into_page(self) -> Option<(Vec<Self::Item>, Option<u64>)> {
        Some((self.check_runs?, Some(self.total_count?)))
    }
}

impl PageBody for wire::Repositories {
    type Item = wire::Repo;

    fn into_page(self) -> Option<(Vec<Self::Item>, Option<u64>)> {
        Some((self.repositories?, Some(self.total_count?)))
    }
}

/// A list to be read.
pub(super) struct Listing {
    pub(super) name: &'static str,
    pub(super) who: Who,
    /// The target without paging parameters.
    pub(super) path: ApiPath,
    /// How many items there should be, where the caller knows.
    pub(super) expected: Option<u64>,
}

/// A list that was read to its end.
pub(super) struct List<T> {
    pub(super) items: Vec<T>,
    /// What each page said about the whole; all pages agreed.
    pub(super) total: Option<u64>,
}

struct Page<T> {
    items: Vec<T>,
    total: Option<u64>,
    next: Option<String>,
}

impl GitHub {
    /// Reads a list to its end.
    pub(super) async fn list<B: PageBody>(
        &self,
        listing: Listing,
    ) -> Result<List<B::Item>, ApiError> {
        let Listing {
            name,
            who,
            path,
            expected,
        } = listing;
        let path = path.query("per_page", PER_PAGE);
        let call = |page: u64| {
            let path = if page == 1 {
                path.clone()
            } else {
                path.clone().query("page", page)
            };
            Call::get(name, who, path)
        };
        let mut list = Gather::new(name);
        let planned = expected.map_or(1, |count| count.div_ceil(PER_PAGE).clamp(1, PARALLEL));
        if planned == 1 {
            list.add(self.page::<B>(call(1)).await?)?;
            // A list that says its own length can go on in parallel, too.
            let more = list.total.unwrap_or(0).div_ceil(PER_PAGE).min(PARALLEL);
            if more > 1 && list.next.is_some() {
                self.pages::<B>(&mut list, (2..=more).map(call)).await?;
            }
        } else {
            self.pages::<B>(&mut list, (1..=planned).map(call)).await?;
        }
        while let Some(link) = list.next.take() {
            let path = self
                .same_host(&link)
                .map_err(|problem| ApiError::unreadable(name, problem))?;
            list.add(self.page::<B>(Call::get(name, who, path)).await?)?;
        }
        Ok(List {
            items: list.items,
            total: list.total,
        })
    }

    /// Several pages at once, gathered in their order. The first failure ends them all.
    async fn pages<B: PageBody>(
        &self,
        list: &mut Gather<B::Item>,
        calls: impl Iterator<Item = Call>,
    ) -> Result<(), ApiError> {
        let name = list.name;
        let mut tasks = JoinSet::new();
        for (index, call) in calls.enumerate() {
            let github = self.clone();
            tasks.spawn(async move { (index, github.page::<B>(call).await) });
        }
        let mut pages = Vec::new();
        while let Some(joined) = tasks.join_next().await {
            let (index, page) =
                joined.map_err(|_| ApiError::transient(name, "reading a page was cut short"))?;
            pages.push((index, page?));
        }
        pages.sort_by_key(|(index, _)| *index);
        for (_, page) in pages {
            list.add(page)?;
        }
        Ok(())
    }

    async fn page<B: PageBody>(&self, call: Call) -> Result<Page<B::Item>, ApiError> {
        let name = call.name;
        let reply = self.send(call).await?;
        let (items, total) = read_json::<B>(name, &reply)?
            .into_page()
            .ok_or_else(|| ApiError::unreadable(name, "a page without a list or its length"))?;
        Ok(Page {
            items,
            total,
            next: next_link(&reply),
        })
    }
}

/// Pages as they come together.
struct Gather<T> {
    name: &'static str,
    items: Vec<T>,
    total: Option<u64>,
    next: Option<String>,
    pages: usize,
}

impl<T> Gather<T> {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            items: Vec::new(),
            total: None,
            next: None,
            pages: 0,
        }
    }

    fn add(&mut self, page: Page<T>) -> Result<(), ApiError> {
        self.pages += 1;
        if self.pages > MOST_PAGES {
            return Err(ApiError::unreadable(self.name, "the list has no end"));
        }
        if self.pages > 1 && self.total != page.total {
            return Err(ApiError::unreadable(
                self.name,
                "the list changed its length while it was read",
            ));
        }
        self.total = page.total;
        self.next = page.next;
        self.items.extend(page.items);
        Ok(())
    }
}

/// The target of `rel="next"`.
pub(super) fn next_link(reply: &Reply) -> Option<String> {
    reply
        .headers
        .get_all(LINK)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .find_map(next_in)
}

/// Reads one `Link` header. Targets stand in `<…>` and may have commas of their own.
fn next_in(header: &str) -> Option<String> {
    let mut rest = header;
    loop {
        let (_, after) = rest.split_once('<')?;
        let (target, after) = after.split_once('>')?;
        let parameters = after.split_once('<').map_or(after, |(own, _)| own);
        let is_next = parameters.split([';', ',']).any(|parameter| {
            parameter.split_once('=').is_some_and(|(name, value)| {
                name.trim().eq_ignore_ascii_case("rel")
                    && value
                        .trim()
                        .trim_matches('"')
                        .split_ascii_whitespace()
                        .any(|word| word.eq_ignore_ascii_case("next"))
            })
        });
        if is_next {
            return Some(target.to_owned());
        }
        rest = after;
    }
}

/// Refuses a list in which an item comes twice: it moved between two pages, so another item is missing.
pub(super) fn refuse_twice<'a, T, K: Hash + Eq>(
    name: &'static str,
    items: &'a [T],
    key: impl Fn(&'a T) -> K,
) -> Result<(), ApiError> {
    let mut seen = HashSet::with_capacity(items.len());
    if items.iter().all(|item| seen.insert(key(item))) {
        Ok(())
    } else {
        Err(ApiError::unreadable(
            name,
            "an item was listed twice: the list moved while it was read",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::next_in;

    #[test]
    fn finds_the_next_page() {
        let header = r#"<https://api.github.com/x?page=1>; rel="prev", <https://api.github.com/x?a=1,2&page=3>; rel="next", <https://api.github.com/x?page=9>; rel="last""#;
        assert_eq!(
            next_in(header).as_deref(),
            Some("https://api.github.com/x?a=1,2&page=3")
        );
        assert_eq!(
            next_in(r#"</x?page=2>; title="t"; rel=next"#).as_deref(),
            Some("/x?page=2")
        );
        assert_eq!(next_in(r#"<https://api.github.com/x>; rel="last""#), None);
        assert_eq!(next_in("no link at all"), None);
    }
}
