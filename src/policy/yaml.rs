//! YAML text to a tree in which every key and value knows its place.
//!
//! Refused here, each with its place: more than 64 KiB, several documents, tags, duplicate keys at any level,
//! keys that are not plain words, nesting over 32 levels, aliases that unfold to more than 10,000 values.
//! INVARIANT: a tree that comes out has unique keys and bounded size, so that later passes may recurse over it.

use super::source::{Place, Problem, SourceFile};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use std::collections::HashMap;

/// The most bytes that a configuration file may have.
pub const MAX_BYTES: usize = 64 * 1024;
const MAX_DEPTH: usize = 32;
const MAX_VALUES: usize = 10_000;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub place: Place,
    pub kind: Kind,
}

/// What a value is. Scalars stay text: what they mean depends on what is expected.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Text; `plain` when it was written without quotes.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key of a mapping with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: String,
    pub place: Place,
    pub value: Node,
}

impl Node {
    /// The value of a key, or the item of a list at a decimal index.
    pub fn get(&self, step: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Scalar { .. } => None,
            Kind::List(items) => items.get(step.parse::<usize>().ok()?),
            Kind::Map(entries) => entries
                .iter()
                .find(|entry| entry.key == step)
                .map(|entry| &entry.value),
        }
    }

    /// The place of the key `step`, or of the list item.
    pub fn key_place(&self, step: &str) -> Option<Place> {
        match &self.kind {
            Kind::Scalar { .. } => None,
            Kind::List(_) => self.get(step).map(|item| item.place),
            Kind::Map(entries) => entries
                .iter()
                .find(|entry| entry.key == step)
                .map(|entry| entry.place),
        }
    }

    /// Was nothing written (an empty value, `~` or `null`)?
    pub fn is_null(&self) -> bool {
        match &self.kind {
            Kind::Scalar { text, plain } => {
                *plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            Kind::List(_) | Kind::Map(_) => false,
        }
    }
}

/// Reads one file. An empty file is an empty mapping.
///
/// # Errors
/// Every problem found; reading goes on after duplicate keys and tags, and ends at a syntax error.
pub(crate) fn parse(file: &SourceFile) -> Result<Node, Vec<Problem>> {
    let text = file.text.strip_prefix('\u{feff}').unwrap_or(&file.text);
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", text.len());
        return Err(vec![Problem::new(&file.shown, Place::START, message)]);
    }
    let mut builder = Builder::new(&file.shown);
    for event in Parser::new_from_str(text) {
        let taken = match event {
            Ok((event, span)) => builder.take(event, place(span.start)),
            Err(error) => {
                let message = format!("not readable as YAML: {}", error.info());
                builder.fatal(place(*error.marker()), message)
            }
        };
        if taken.is_err() {
            break;
        }
    }
    builder.finish()
}

fn place(mark: Marker) -> Place {
    Place {
        line: mark.line().max(1),
        column: mark.col() + 1,
    }
}

/// Reading ends here; the problem is already noted.
struct Stop;

/// A collection that is not closed yet.
enum Open {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        key: Option<(String, Place)>,
    },
}

struct Frame {
    open: Open,
    place: Place,
    anchor: usize,
}

struct Builder<'a> {
    file: &'a str,
    stack: Vec<Frame>,
    anchors: HashMap<usize, (Node, usize)>,
    values: usize,
    documents: usize,
    root: Option<Node>,
    problems: Vec<Problem>,
}

impl<'a> Builder<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            stack: Vec::new(),
            anchors: HashMap::new(),
            values: 0,
            documents: 0,
            root: None,
            problems: Vec::new(),
        }
    }

    fn note(&mut self, place: Place, message: String, hint: &str) {
        self.problems
            .push(Problem::new(self.file, place, message).hint(hint));
    }

    fn fatal(&mut self, place: Place, message: String) -> Result<(), Stop> {
        self.problems.push(Problem::new(self.file, place, message));
        Err(Stop)
    }

    fn take(&mut self, event: Event<'_>, place: Place) -> Result<(), Stop> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    let message = "a second YAML document starts here".to_owned();
                    self.note(place, message, "keep one document a file");
                    return Err(Stop);
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                let plain = style == ScalarStyle::Plain;
                let text = text.into_owned();
                let kind = Kind::Scalar { text, plain };
                self.put(Node { place, kind }, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                self.open(Open::List(Vec::new()), place, anchor)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                let open = Open::Map {
                    entries: Vec::new(),
                    key: None,
                };
                self.open(open, place, anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.unfold(anchor, place),
        }
    }

    fn refuse_tag(&mut self, tag: Option<&saphyr_parser::Tag>, place: Place) {
        if let Some(tag) = tag {
            let message = format!("the tag `{tag}` is not allowed");
            self.note(
                place,
                message,
                "put the value in quotes if it starts with `!`",
            );
        }
    }

    fn open(&mut self, open: Open, place: Place, anchor: usize) -> Result<(), Stop> {
        if self.stack.len() >= MAX_DEPTH {
            return self.fatal(place, format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.stack.push(Frame {
            open,
            place,
            anchor,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Stop> {
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        let kind = match frame.open {
            Open::List(items) => Kind::List(items),
            Open::Map { entries, .. } => Kind::Map(entries),
        };
        let place = frame.place;
        self.put(Node { place, kind }, frame.anchor)
    }

    /// An alias stands for a copy of its anchor's value; the count of all values bounds what it unfolds to.
    fn unfold(&mut self, anchor: usize, place: Place) -> Result<(), Stop> {
        let Some((node, size)) = self.anchors.get(&anchor).cloned() else {
            return self.fatal(place, "the alias stands inside its own anchor".to_owned());
        };
        self.values += size;
        self.put(node, 0)
    }

    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        self.values += 1;
        if self.values > MAX_VALUES {
            let message = format!("more than {MAX_VALUES} values, aliases unfolded");
            return self.fatal(node.place, message);
        }
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), size(&node)));
        }
        match self.stack.last_mut().map(|frame| &mut frame.open) {
            None => self.root = Some(node),
            Some(Open::List(items)) => items.push(node),
            Some(Open::Map { entries, key }) => match key.take() {
                Some((name, at)) => {
                    let earlier = entries.iter().find(|entry| entry.key == name);
                    if let Some(earlier) = earlier {
                        let message = format!("the key `{name}` stands twice");
                        let hint = format!("the first one is on line {}", earlier.place.line);
                        self.note(at, message, &hint);
                    } else {
                        entries.push(Entry {
                            key: name,
                            place: at,
                            value: node,
                        });
                    }
                }
                None => match node.kind {
                    Kind::Scalar { text, .. } => *key = Some((text, node.place)),
                    Kind::List(_) | Kind::Map(_) => {
                        let message = "a key must be a word, not a collection".to_owned();
                        return self.fatal(node.place, message);
                    }
                },
            },
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Node, Vec<Problem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let empty = Node {
            place: Place::START,
            kind: Kind::Map(Vec::new()),
        };
        Ok(self
            .root
            .take()
            .filter(|root| !root.is_null())
            .unwrap_or(empty))
    }
}

/// How many values a tree holds, itself included. Depth is bounded by the builder.
fn size(node: &Node) -> usize {
    match &node.kind {
        Kind::Scalar { .. } => 1,
        Kind::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Kind::Map(entries) => 1 + entries.iter().map(|e| size(&e.value)).sum::<usize>(),
    }
}
