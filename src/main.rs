//! The quadgate program: see `quadgate --help`.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    quadgate::cli::main()
}
