//! Every use of the program that a page shows exists: its subcommands, its options, and in a console the whole line.

use super::page::{Page, ROOT, pages};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use std::path::Path;

/// The program's words in one command line, and where it stands.
#[derive(Debug, PartialEq, Eq)]
struct Use {
    line: usize,
    /// What follows `quadgate`.
    words: Vec<String>,
    /// Is it to be typed as it stands?
    literal: bool,
}

/// Every use of the program in a page: consoles, shell scripts, and code in a line of text.
fn uses(page: &Page) -> Vec<Use> {
    let mut all = Vec::new();
    for block in &page.blocks {
        let lines: Vec<(usize, String)> = match block.language.as_str() {
            "console" => typed(&block.text, "$ "),
            "sh" | "bash" => typed(&block.text, ""),
            "" | "text" => typed(&block.text, "")
                .into_iter()
                .filter(|(_, line)| line.starts_with("quadgate "))
                .collect(),
            _ => continue,
        };
        for (index, line) in lines {
            let here = block.first + index;
            all.extend(split(&line).into_iter().filter_map(|words| {
                let literal = !words.iter().any(|word| is_placeholder(word));
                program(&words).map(|words| Use {
                    line: here,
                    words: words.to_vec(),
                    literal: literal && !block.language.is_empty() && block.language != "text",
                })
            }));
        }
    }
    for (line, span) in &page.spans {
        if !span.starts_with("quadgate ") {
            continue;
        }
        for words in split(span).iter().filter_map(|words| program(words)) {
            all.push(Use {
                line: *line,
                words: words.to_vec(),
                literal: false,
            });
        }
    }
    all
}

/// The lines that a person types, with the lines that a `\` at the end joins to them, and their index.
fn typed(text: &str, prompt: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (index, line) in text.lines().enumerate() {
        let mine = if goes_on {
            Some(line)
        } else {
            line.strip_prefix(prompt)
        };
        let Some(line) = mine else { continue };
        let (line, more) = match line.strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        match found.last_mut().filter(|_| goes_on) {
            Some((_, before)) => before.push_str(line),
            None => found.push((index, line.to_owned())),
        }
        goes_on = more;
    }
    found
}

/// A line as a shell takes it apart: one list of words a command. Redirections and comments are dropped.
fn split(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word = String::new();
    let mut quote = None;
    let mut any = false;
    for c in line.chars() {
        if let Some(open) = quote {
            if c == open {
                quote = None;
            } else {
                word.push(c);
            }
            continue;
        }
        match c {
            '\'' | '"' => {
                quote = Some(c);
                any = true;
            }
            '#' if word.is_empty() && !any => break,
            ' ' | '\t' | '|' | ';' | '&' | '>' | '<' | '(' | ')' => {
                if any || !word.is_empty() {
                    let last = commands.last_mut().expect("one is there");
                    last.push(std::mem::take(&mut word));
                }
                any = false;
                // What a redirection names is read as a command of its own and is no use of the program.
                if !matches!(c, ' ' | '\t') {
                    commands.push(Vec::new());
                }
            }
            c => word.push(c),
        }
    }
    if any || !word.is_empty() {
        commands.last_mut().expect("one is there").push(word);
    }
    commands.retain(|words| !words.is_empty());
    commands
}

/// The words after `quadgate` where it is what is run.
fn program(words: &[String]) -> Option<&[String]> {
    let runs = words
        .iter()
        .position(|word| word == "quadgate" || word.ends_with("/quadgate"))?;
    let passes_on = |word: &String| {
        matches!(word.as_str(), "sudo" | "exec" | "time" | "xargs" | "$")
            || (word.contains('=') && !word.starts_with('-'))
            || (word.starts_with('-') && words.first().is_some_and(|first| first == "xargs"))
    };
    let before = &words[..runs];
    before
        .iter()
        .all(passes_on)
        .then(|| &words[runs + 1..])
        .filter(|after| !after.is_empty())
}

fn is_placeholder(word: &str) -> bool {
    word.contains('…') || word.contains("...") || word.contains('<') || word.contains('[')
}

/// Does the program know these words?
fn check(root: &Command, used: &Use) -> Result<(), String> {
    if used.literal {
        let line = std::iter::once("quadgate").chain(used.words.iter().map(String::as_str));
        return match root.clone().try_get_matches_from(line) {
            Ok(_) => Ok(()),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(error.to_string().lines().next().unwrap_or("").to_owned()),
        };
    }
    let mut command = root;
    let mut skip = false;
    for word in &used.words {
        let word = word.trim_matches(['[', ']', ',', '(', ')', '.', '…']);
        if std::mem::take(&mut skip) || word.is_empty() {
            continue;
        }
        if let Some(option) = word.strip_prefix("--") {
            let name = option.split('=').next().unwrap_or(option);
            let known = command
                .get_arguments()
                .find(|arg| arg.get_long() == Some(name));
            let Some(known) = known else {
                return Err(format!("`{}` has no `--{name}`", command.get_name()));
            };
            skip = takes_value(known) && !option.contains('=');
        } else if let Some(sub) = command.find_subcommand(word) {
            command = sub;
        } else if command.has_subcommands() {
            return Err(format!("`{}` has no `{word}`", command.get_name()));
        }
    }
    Ok(())
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// The command line as it is used: options of a command known to those below it.
fn command() -> Command {
    let mut command = quadgate::cli::command();
    command.build();
    command
}

fn wrong(pages: &[Page]) -> Vec<String> {
    let root = command();
    let mut wrong = Vec::new();
    for page in pages {
        for used in uses(page) {
            if let Err(why) = check(&root, &used) {
                let words = used.words.join(" ");
                wrong.push(format!("{}:{}: `{words}`: {why}", page.path, used.line));
            }
        }
    }
    wrong
}

#[test]
fn every_command_that_is_shown_exists() {
    let pages = pages(Path::new(ROOT));
    let count: usize = pages.iter().map(|page| uses(page).len()).sum();
    assert!(count > 80, "only {count} uses were found");
    let wrong = wrong(&pages);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    let page = Page::new(
        "x.md",
        concat!(
            "`quadgate clasify`, `quadgate audit query [filters] [--format text]`, `quadgate status --jsom`\n\n",
            "```console\n$ quadgate config check --strikt\nquadgate output\n",
            "$ QUADGATE_X=1 quadgate audit verify bot-state --tail \\\n    nonsense | quadgate serve\n```\n\n",
            "```sh\nls | xargs -0 quadgate evidence lint --none # quadgate nothing\nsystemctl restart quadgate\n```\n\n",
            "    quadgate audit whynot 'octo-org/widgets#1'\n",
        ),
    );
    let found: Vec<String> = wrong(&[page])
        .iter()
        .map(|line| line.chars().take(44).collect())
        .collect();
    assert_eq!(
        found,
        [
            "x.md:4: `config check --strikt`: error: unex",
            "x.md:6: `audit verify bot-state --tail nonse",
            "x.md:11: `evidence lint --none`: error: unex",
            "x.md:15: `audit whynot octo-org/widgets#1`: ",
            "x.md:1: `clasify`: `quadgate` has no `clasif",
            "x.md:1: `status --jsom`: `status` has no `--",
        ]
    );
}
