//! Pages of Markdown and what is in them: headings with GitHub's anchors, links, code, each with its line.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use regex::Regex;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The repository.
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The pages at the root that are held to the same rules as `docs/`.
const AT_ROOT: [&str; 4] = ["README.md", "CHANGELOG.md", "SECURITY.md", "MAINTAINERS.md"];

/// One page.
#[derive(Debug)]
pub struct Page {
    /// From the root, with `/`.
    pub path: String,
    pub text: String,
    pub headings: Vec<Heading>,
    /// Targets of links and pictures.
    pub links: Vec<(usize, String)>,
    pub blocks: Vec<Block>,
    /// Code in a line of text.
    pub spans: Vec<(usize, String)>,
    /// Text that is no code, piece by piece.
    pub prose: Vec<(usize, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub line: usize,
    pub level: HeadingLevel,
    pub text: String,
    pub anchor: String,
}

/// A fenced or indented block of code.
#[derive(Debug)]
pub struct Block {
    /// Where it begins, its fence included.
    pub line: usize,
    /// Its first line of code.
    pub first: usize,
    /// The first word of its info string; empty when there is none.
    pub language: String,
    pub text: String,
}

impl Page {
    pub fn new(path: &str, text: &str) -> Self {
        let mut page = Self {
            path: path.to_owned(),
            text: text.to_owned(),
            headings: Vec::new(),
            links: Vec::new(),
            blocks: Vec::new(),
            spans: Vec::new(),
            prose: Vec::new(),
        };
        let lines = Lines::of(text);
        let mut heading: Option<Heading> = None;
        let mut block: Option<Block> = None;
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            let line = lines.line(range.start);
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    heading = Some(Heading {
                        line,
                        level,
                        text: String::new(),
                        anchor: String::new(),
                    });
                }
                Event::End(TagEnd::Heading(_)) => page.headings.extend(heading.take()),
                Event::Start(Tag::CodeBlock(kind)) => {
                    let (first, info) = match &kind {
                        CodeBlockKind::Fenced(info) => {
                            (line + 1, info.split([' ', ',']).next().unwrap_or(""))
                        }
                        CodeBlockKind::Indented => (line, ""),
                    };
                    block = Some(Block {
                        line,
                        first,
                        language: info.to_owned(),
                        text: String::new(),
                    });
                }
                Event::End(TagEnd::CodeBlock) => page.blocks.extend(block.take()),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push((line, dest_url.into_string()));
                }
                Event::Text(said) => match (&mut block, &mut heading) {
                    (Some(block), _) => block.text.push_str(&said),
                    (None, Some(heading)) => heading.text.push_str(&said),
                    (None, None) => page.prose.push((line, said.into_string())),
                },
                Event::Code(code) => match &mut heading {
                    Some(heading) => heading.text.push_str(&code),
                    None => page.spans.push((line, code.into_string())),
                },
                _ => {}
            }
        }
        page.name_anchors();
        page
    }

    /// A heading that stands again gets a number, as on GitHub.
    fn name_anchors(&mut self) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for heading in &mut self.headings {
            let anchor = anchor(&heading.text);
            let before = seen.entry(anchor.clone()).or_default();
            heading.anchor = match *before {
                0 => anchor,
                n => format!("{anchor}-{n}"),
            };
            *before += 1;
        }
    }

    /// `docs/ko/x.md` and the like.
    pub fn is_korean(&self) -> bool {
        self.path.starts_with("docs/ko/")
    }
}

/// The anchor that GitHub gives a heading: small letters, letters and digits of any script, `_` and `-`; blanks become `-`.
pub fn anchor(heading: &str) -> String {
    static DROPPED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[^\w\- ]").expect("a pattern"));
    DROPPED
        .replace_all(&heading.trim().to_lowercase(), "")
        .replace(' ', "-")
}

/// Where lines start.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|end| *end < at) + 1
    }
}

/// All pages below a root: those at the root that are there, and `docs/`.
pub fn pages(root: &Path) -> Vec<Page> {
    let mut files: Vec<PathBuf> = AT_ROOT
        .iter()
        .map(|name| root.join(name))
        .filter(|path| path.is_file())
        .collect();
    files.extend(files_below(&root.join("docs"), "md"));
    let page = |path: &PathBuf| {
        let name = path.strip_prefix(root).expect("below the root");
        let text = fs::read_to_string(path).expect("a page of text");
        Page::new(&name.to_string_lossy(), &text)
    };
    files.iter().map(page).collect()
}

/// Every file with an ending, in the order of names.
pub fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.extension().is_some_and(|its| its == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn anchors_are_those_of_github() {
    let page = Page::new(
        "x.md",
        "# `config check` prints: every problem!\n## 거짓 D를 줄이는 방법 (오너)\n## Again\n## Again\n## EG001 missing-section\n## path_classifier_default\n## A → B, C & D\n",
    );
    let anchors: Vec<&str> = page.headings.iter().map(|h| h.anchor.as_str()).collect();
    assert_eq!(
        anchors,
        [
            "config-check-prints-every-problem",
            "거짓-d를-줄이는-방법-오너",
            "again",
            "again-1",
            "eg001-missing-section",
            "path_classifier_default",
            "a--b-c--d",
        ]
    );
}

/// The lines of a page whose stars are seen instead of what they should do: a `**` after a punctuation mark and before
/// a letter, as Korean particles have it, closes nothing.
fn open_emphasis(page: &Page) -> Vec<usize> {
    // A star that does nothing is a piece of text by itself.
    let mut lines: BTreeMap<usize, String> = BTreeMap::new();
    for (line, text) in &page.prose {
        lines.entry(*line).or_default().push_str(text);
    }
    lines.retain(|_, text| text.contains("**"));
    lines.into_keys().collect()
}

#[test]
fn emphasis_is_closed() {
    let page = Page::new(
        "x.md",
        "**굵게** 쓴 것, **[표시]**는 열린 채로, **B**는 닫힘, `**/x`\n",
    );
    assert_eq!(open_emphasis(&page), [1]);
    let wrong: Vec<String> = pages(Path::new(ROOT))
        .iter()
        .flat_map(|page| {
            open_emphasis(page)
                .into_iter()
                .map(|line| format!("{}:{line}", page.path))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
