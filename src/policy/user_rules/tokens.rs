//! The words of a script, for what the engine itself does not check when it reads one: names that exist nowhere, and
//! assignments that would slip past the bounds on the size of values.
//!
//! INVARIANT: comments and texts are never taken for code, and code inside `${…}` is.

use super::script::{FUNCTIONS, KEYWORDS, PROPERTIES};
use crate::policy::nearest::nearest;
use crate::policy::source::Place;
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

/// What is wrong with a script: where, what, the way out.
pub(super) type Wrong = (Place, String, String);

/// One token. Everything that is no name, text or sign that matters here is an [`Token::Other`].
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    /// `.` or `?.`
    Dot,
    /// `(`
    Open,
    /// `:`
    Colon,
    /// `=`, `+=` and the like, not a comparison.
    Assign,
    Other,
}

/// Looks a script over.
pub(super) fn check(text: &str) -> Result<(), Wrong> {
    let tokens = Reader::new(text).read();
    assignments(&tokens)?;
    names(&tokens)
}

/// The engine bounds a value where it is made and where a function changes it, and not where a part of it is set.
fn assignments(tokens: &[(Token, Place)]) -> Result<(), Wrong> {
    let (mut before, mut before_that) = (&Token::Other, &Token::Other);
    for (token, place) in tokens {
        let to_variable = matches!(before, Token::Name(_)) && *before_that != Token::Dot;
        if *token == Token::Assign && !to_variable {
            return Err((
                *place,
                "only a variable can be assigned to, not a part of a value".to_owned(),
                "use `push` of an array or `set` of a map".to_owned(),
            ));
        }
        (before_that, before) = (before, token);
    }
    Ok(())
}

/// The engine looks properties and functions up when they are needed, which may be never until it matters.
fn names(tokens: &[(Token, Place)]) -> Result<(), Wrong> {
    let words = Words::of(tokens);
    let mut before = &Token::Other;
    let mut rest = tokens.iter().peekable();
    while let Some((token, place)) = rest.next() {
        if let Token::Name(name) = token {
            let called = rest.peek().is_some_and(|(next, _)| *next == Token::Open);
            let known = words.known(name, *before == Token::Dot, called);
            known.map_err(|(what, hint)| (*place, what, hint))?;
        }
        before = token;
    }
    Ok(())
}

/// Names that a script brings along.
struct Words<'t> {
    functions: BTreeSet<&'t str>,
    keys: BTreeSet<&'t str>,
}

impl<'t> Words<'t> {
    fn of(tokens: &'t [(Token, Place)]) -> Self {
        let (mut functions, mut keys) = (BTreeSet::new(), BTreeSet::new());
        let pairs = tokens.iter().zip(tokens.iter().skip(1));
        for ((first, _), (second, _)) in pairs {
            match (first, second) {
                (Token::Name(word), Token::Name(name)) if word == "fn" => {
                    functions.insert(name.as_str());
                }
                // A key can also come in as a text, as in `m.set("key", 1)`.
                (Token::Name(key), Token::Colon) | (Token::Text(key), _) => {
                    keys.insert(key.as_str());
                }
                _ => {}
            }
        }
        Self { functions, keys }
    }

    fn known(&self, name: &str, member: bool, called: bool) -> Result<(), (String, String)> {
        let (what, known, own): (&str, &[&str], &BTreeSet<&str>) = match (member, called) {
            (_, true) => ("function", &FUNCTIONS, &self.functions),
            (true, false) => ("property", &PROPERTIES, &self.keys),
            // The engine itself knows every variable.
            (false, false) => return Ok(()),
        };
        let keyword = !member && KEYWORDS.contains(&name);
        if keyword || known.contains(&name) || own.contains(name) {
            return Ok(());
        }
        let all = known.iter().copied().chain(own.iter().copied());
        let hint = match nearest(name, all) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "see `docs/user-rules.md` for what a rule can ask".to_owned(),
        };
        Err((format!("there is no {what} `{name}`"), hint))
    }
}

/// Reads tokens letter by letter.
struct Reader<'t> {
    letters: Peekable<Chars<'t>>,
    place: Place,
    tokens: Vec<(Token, Place)>,
    /// Braces that are open inside each `${` that is open.
    inserted: Vec<usize>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            letters: text.chars().peekable(),
            place: Place::START,
            tokens: Vec::new(),
            inserted: Vec::new(),
        }
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.letters.next()?;
        if letter == '\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else {
            self.place.column += 1;
        }
        Some(letter)
    }

    fn peek(&mut self) -> Option<char> {
        self.letters.peek().copied()
    }

    /// Takes the next letter if it is this one.
    fn takes(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.next();
        }
        there
    }

    fn read(mut self) -> Vec<(Token, Place)> {
        loop {
            let place = self.place;
            let Some(letter) = self.next() else {
                return self.tokens;
            };
            if let Some(token) = self.token(letter) {
                self.tokens.push((token, place));
            }
        }
    }

    fn token(&mut self, letter: char) -> Option<Token> {
        Some(match letter {
            c if c.is_whitespace() => return None,
            c if c.is_ascii_alphabetic() || c == '_' => self.name(c),
            c if c.is_ascii_digit() => self.number(),
            '/' if self.takes('/') => return self.line_comment(),
            '/' if self.takes('*') => return self.block_comment(),
            '"' => self.text('"'),
            '\'' => self.text('\''),
            '`' => self.template(),
            '#' => self.after_hash(),
            '{' => {
                if let Some(open) = self.inserted.last_mut() {
                    *open += 1;
                }
                Token::Other
            }
            '}' => self.close(),
            '(' => Token::Open,
            ':' if !self.takes(':') => Token::Colon,
            '?' if self.takes('.') => Token::Dot,
            // `..` and `..=` are ranges.
            '.' if self.takes('.') => {
                self.takes('=');
                Token::Other
            }
            '.' => Token::Dot,
            other => self.sign(other),
        })
    }

    fn name(&mut self, first: char) -> Token {
        let mut name = String::from(first);
        while let Some(c) = self
            .peek()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        {
            name.push(c);
            self.next();
        }
        Token::Name(name)
    }

    /// Digits and letters; a point stays outside, since it may begin a range or a call.
    fn number(&mut self) -> Token {
        while self
            .peek()
            .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            self.next();
        }
        Token::Other
    }

    fn line_comment(&mut self) -> Option<Token> {
        while self.peek().is_some_and(|c| c != '\n') {
            self.next();
        }
        None
    }

    fn block_comment(&mut self) -> Option<Token> {
        let mut depth = 1_usize;
        while let Some(letter) = self.next() {
            match letter {
                '/' if self.takes('*') => depth += 1,
                '*' if self.takes('/') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        None
    }

    fn text(&mut self, end: char) -> Token {
        let mut text = String::new();
        while let Some(letter) = self.next() {
            match letter {
                '\\' => {
                    self.next();
                }
                c if c == end => break,
                c => text.push(c),
            }
        }
        Token::Text(text)
    }

    /// A text in backticks, up to its end or to the next `${`, behind which code follows.
    fn template(&mut self) -> Token {
        while let Some(letter) = self.next() {
            match letter {
                '`' if !self.takes('`') => break,
                '$' if self.takes('{') => {
                    self.inserted.push(0);
                    break;
                }
                _ => {}
            }
        }
        Token::Other
    }

    fn close(&mut self) -> Token {
        match self.inserted.last_mut() {
            Some(0) => {
                self.inserted.pop();
                self.template()
            }
            Some(open) => {
                *open -= 1;
                Token::Other
            }
            None => Token::Other,
        }
    }

    /// `#{` begins a map, `#"…"#` is a text without escapes.
    fn after_hash(&mut self) -> Token {
        let mut hashes = 1_usize;
        while self.takes('#') {
            hashes += 1;
        }
        if !self.takes('"') {
            return Token::Other;
        }
        let mut text = String::new();
        while let Some(letter) = self.next() {
            text.push(letter);
            if letter == '"' {
                let closing = (0..hashes).take_while(|_| self.takes('#')).count();
                if closing == hashes {
                    text.pop();
                    break;
                }
            }
        }
        Token::Text(text)
    }

    /// Signs; of those with a `=` only assignments matter.
    fn sign(&mut self, first: char) -> Token {
        let doubled = matches!(first, '*' | '<' | '>') && self.takes(first);
        match first {
            '=' if self.takes('=') || self.takes('>') => Token::Other,
            '=' => Token::Assign,
            '!' => {
                self.takes('=');
                Token::Other
            }
            '<' | '>' if !doubled => {
                self.takes('=');
                Token::Other
            }
            '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<' | '>' if self.takes('=') => {
                Token::Assign
            }
            _ => Token::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Option<String> {
        check(text)
            .err()
            .map(|(place, what, _)| format!("{}:{}: {what}", place.line, place.column))
    }

    #[test]
    fn names_that_exist_nowhere_are_found_in_every_branch() {
        for (text, wanted) in [
            (
                "if false { facts.nmuber }",
                "1:18: there is no property `nmuber`",
            ),
            ("fn f(x) { x.fles }", "1:13: there is no property `fles`"),
            ("rais(D, \"x\")", "1:1: there is no function `rais`"),
            (
                "facts.files.matchin(\"a\")",
                "1:13: there is no function `matchin`",
            ),
            (
                "let s = `a ${facts.nope} b`;",
                "1:20: there is no property `nope`",
            ),
            (
                "let s = `a ${ #{a: `${facts.nope}`}.a } b`;",
                "1:29: there is no property `nope`",
            ),
            ("print(\"x\")", "1:1: there is no function `print`"),
            ("0.nope()", "1:3: there is no function `nope`"),
        ] {
            assert_eq!(wrong(text).as_deref(), Some(wanted), "{text}");
        }
        for text in [
            "// facts.nope\n/* facts.nope /* nested.nope */ a.nope */ facts.number",
            "let m = #{own: 1, \"two\": 2}; m.own + m.two",
            "let m = #{}; m.set(\"later\", 1); m.later",
            "fn mine(x) { x } mine(1); facts.mine()",
            "let s = \"facts.nope\" + '.' + `x.nope ``y.nope` + #\"a\".nope\"#;",
            "if (true) { while (false) { } } for n in 0..3 { } for n in 0..=3 { } return (1)",
            "\"${a.nope}\" == \"\\\"\"",
        ] {
            assert_eq!(wrong(text), None, "{text}");
        }
    }

    #[test]
    fn only_variables_can_be_assigned_to() {
        let refused = "only a variable can be assigned to, not a part of a value";
        for text in [
            "let a = [1]; a[0] = 2",
            "let a = [[1]]; a[0][0] += 2",
            "let m = #{k: 1}; m.k = 2",
            "let m = #{k: 1}; m[\"k\"] *= 2",
            "let s = \"abc\"; s[0] = 'x'",
            "let a = [1]; (a)[0] **= 2",
            "let a = [1]; let s = `${ a[0] = 1 }`",
            "let a = [1]; a[0] <<= 1",
        ] {
            assert!(
                wrong(text).is_some_and(|wrong| wrong.ends_with(refused)),
                "{text}"
            );
        }
        for text in [
            "let a = 1; a += 1; a -= 1; a *= 2; a **= 2; a <<= 1; a |= 1; const B2 = a;",
            "let a = [1]; a[0] == 1; a[0] != 1; a[0] <= 1; a[0] >= 1; a[0] < 1; a[0] > 1;",
            "switch 1 { 1 => 2, _ => 3 }",
        ] {
            assert_eq!(wrong(text), None, "{text}");
        }
    }
}
