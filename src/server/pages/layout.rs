//! The frame of every page: head, skip link, navigation, the page itself, footer.

use super::style;
use super::viewer::Viewer;
use maud::{DOCTYPE, Markup, html};

/// The pages of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nav {
    Overview,
    Inbox,
    Audit,
}

const ALL: [(Nav, &str, &str); 3] = [
    (Nav::Overview, "/", "Overview"),
    (Nav::Inbox, "/inbox", "Inbox"),
    (Nav::Audit, "/audit", "Audit log"),
];

/// A whole page. Without a viewer there is no navigation: nothing it leads to could be shown.
pub(super) fn page(
    title: &str,
    viewer: Option<&Viewer>,
    here: Option<Nav>,
    body: &Markup,
) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (title) " · quadgate" }
                link rel="stylesheet" href=(style::href());
                link rel="icon" type="image/svg+xml" href=(style::ICON);
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href="/" { (mark()) span { "quadgate" } }
                    @if viewer.is_some() {
                        nav aria-label="Pages" {
                            ul {
                                @for (page, href, name) in ALL {
                                    li {
                                        a href=(href) aria-current=[(here == Some(page)).then_some("page")] { (name) }
                                    }
                                }
                            }
                        }
                    }
                    @if let Some(person) = viewer.and_then(|viewer| viewer.person.as_ref()) {
                        form.person method="post" action="/sign-out" {
                            span { (person.login) }
                            input type="hidden" name="token" value=(person.form_token);
                            button type="submit" { "Sign out" }
                        }
                    }
                }
                main #main tabindex="-1" { (body) }
                footer { p { "quadgate " (env!("CARGO_PKG_VERSION")) " · times are UTC" } }
            }
        }
    }
}

/// The four quadrants, small.
fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" {
            rect.qa x="0" y="0" width="9" height="9" rx="2" {}
            rect.qc x="11" y="0" width="9" height="9" rx="2" {}
            rect.qb x="0" y="11" width="9" height="9" rx="2" {}
            rect.qd x="11" y="11" width="9" height="9" rx="2" {}
        }
    }
}
