//! General phrases of assent. They approve nothing; an owner who uses one is told which answers count.
//!
//! Only a comment that is nothing but such phrases is one: "go ahead once CI is green" says something else.

/// Longer comments say more than a phrase.
const MAX_CHARS: usize = 200;

/// Without blanks, punctuation and case; each list in one language.
const PHRASES: &[&str] = &[
    // English
    "lgtm",
    "looksgood",
    "looksgoodtome",
    "looksfine",
    "looksfinetome",
    "looksok",
    "looksokay",
    "looksgreat",
    "goahead",
    "goforit",
    "proceed",
    "carryon",
    "keepgoing",
    "continue",
    "yourcall",
    "itsyourcall",
    "uptoyou",
    "itsuptoyou",
    "dowhatsbest",
    "dowhatyouthinkisbest",
    "dowhateveryouthinkisbest",
    "doyourbest",
    "usyourjudgement",
    "useyourjudgement",
    "useyourjudgment",
    "useyourbestjudgement",
    "useyourbestjudgment",
    "atyourdiscretion",
    "itrustyou",
    "itrustyourjudgement",
    "itrustyourjudgment",
    "approve",
    "approved",
    "iapprove",
    "approvethis",
    "shipit",
    "mergeit",
    "merge",
    "mergethis",
    "pleasemerge",
    "justmergeit",
    "doit",
    "justdoit",
    "yes",
    "yep",
    "yeah",
    "yup",
    "yesplease",
    "sure",
    "ok",
    "okay",
    "fine",
    "finebyme",
    "finewithme",
    "imfinewithit",
    "imfinewiththis",
    "itsfine",
    "allgood",
    "goodtogo",
    "soundsgood",
    "soundsgoodtome",
    "agreed",
    "iagree",
    "makesense",
    "makessense",
    "accepted",
    "nice",
    "great",
    "perfect",
    "noobjections",
    "noobjection",
    "sgtm",
    "wfm",
    "worksforme",
    "greenlight",
    "gogogo",
    "letsgo",
    "letsdoit",
    "letsshipit",
    "permissiongranted",
    "granted",
    "confirmed",
    "iconfirm",
    "roger",
    "ack",
    // Korean
    "계속진행",
    "계속진행해",
    "계속진행해줘",
    "계속진행해주세요",
    "계속진행하세요",
    "계속진행하십시오",
    "계속하세요",
    "계속해주세요",
    "계속",
    "진행",
    "진행해",
    "진행해줘",
    "진행해주세요",
    "진행하세요",
    "진행하십시오",
    "진행하시죠",
    "진행합시다",
    "진행시켜",
    "진행부탁드립니다",
    "당신의판단에맡깁니다",
    "판단에맡깁니다",
    "알아서해주세요",
    "알아서하세요",
    "알아서해",
    "알아서",
    "맡깁니다",
    "맡길게요",
    "맡길게",
    "최선을다하세요",
    "최선을다해주세요",
    "당신의재량에따릅니다",
    "재량에따릅니다",
    "재량에맡깁니다",
    "승인",
    "승인합니다",
    "승인해요",
    "승인할게요",
    "승인함",
    "승인했습니다",
    "승인해주세요",
    "허가합니다",
    "동의합니다",
    "동의해요",
    "동의",
    "좋아요",
    "좋습니다",
    "좋네요",
    "좋아",
    "괜찮아요",
    "괜찮습니다",
    "괜찮네요",
    "네",
    "예",
    "넵",
    "그래",
    "그래요",
    "그러세요",
    "그렇게하세요",
    "그렇게해주세요",
    "확인",
    "확인했습니다",
    "확인했어요",
    "문제없습니다",
    "문제없어요",
    "이상없습니다",
    "머지해주세요",
    "머지하세요",
    "머지해",
    "머지합시다",
    "머지",
    "병합해주세요",
    "오케이",
    "ㅇㅋ",
    "ㅇㅇ",
    "굿",
    // Japanese
    "続けてください",
    "続行",
    "続行してください",
    "進めてください",
    "お任せします",
    "任せます",
    "承認",
    "承認します",
    "いいです",
    "いいですね",
    "問題ありません",
    "問題ないです",
    "了解",
    "了解です",
    "はい",
    "大丈夫です",
    "お願いします",
    "よろしくお願いします",
    "よろしく",
    // Chinese
    "继续",
    "请继续",
    "继续吧",
    "可以",
    "同意",
    "批准",
    "好",
    "好的",
    "没问题",
    "你决定",
    "你来决定",
    "看着办",
    "你看着办",
    "通过",
    "合并吧",
    "繼續",
    "請繼續",
    "沒問題",
    "你決定",
    "通過",
    "核准",
    "行",
    // German
    "machweiter",
    "weitermachen",
    "weiter",
    "siehtgutaus",
    "passt",
    "passtso",
    "passtfürmich",
    "einverstanden",
    "genehmigt",
    "ja",
    "jabitte",
    "deineentscheidung",
    "nachdeinemermessen",
    "machdas",
    "allesklar",
    // French
    "vasy",
    "allezy",
    "continuez",
    "procédez",
    "daccord",
    "approuvé",
    "japprouve",
    "oui",
    "cestbon",
    "çamarche",
    "commevousvoulez",
    "faitesaumieux",
    "àvousdevoir",
    "parfait",
    // Spanish and Portuguese
    "adelante",
    "procede",
    "continúa",
    "continua",
    "aprobado",
    "apruebo",
    "deacuerdo",
    "sí",
    "si",
    "dale",
    "tútedecides",
    "túdecides",
    "loquetúdecidas",
    "vale",
    "perfecto",
    "sim",
    "podeseguir",
    "prossiga",
    "aprovado",
    "deacordo",
    "vocêdecide",
    "podeir",
    // Italian
    "procedi",
    "vaibene",
    "vabene",
    "approvato",
    "decidite",
    "decidi",
    "daccordocosì",
    // Russian
    "продолжай",
    "продолжайте",
    "одобряю",
    "одобрено",
    "согласен",
    "согласна",
    "да",
    "хорошо",
    "ладно",
    "натвоёусмотрение",
    "навашеусмотрение",
    "решайсам",
    "давай",
];

/// Words that may stand beside a phrase without changing it.
const BESIDE: &[&str] = &[
    "please",
    "thanks",
    "thankyou",
    "thx",
    "ty",
    "hi",
    "hello",
    "forme",
    "bot",
    "then",
    "now",
    "and",
    "all",
    "from",
    "myside",
    "onmyside",
    "감사합니다",
    "고마워요",
    "고맙습니다",
    "부탁드립니다",
    "부탁해요",
    "안녕하세요",
    "ありがとうございます",
    "ありがとう",
    "谢谢",
    "danke",
    "bitte",
    "merci",
    "gracias",
    "porfavor",
    "obrigado",
    "grazie",
    "спасибо",
    "пожалуйста",
    "iagreewiththis",
    "👍",
];

/// Pictures that say yes by themselves.
const PICTURES: [char; 12] = [
    '👍', '👌', '✅', '☑', '✔', '🚀', '💯', '🆗', '🙆', '👏', '🎉', '🚢',
];

/// Is the text, in essence, nothing but assent?
pub(super) fn is_assent(text: &str) -> bool {
    // A command of another bot (`/merge`) is addressed to that bot.
    if text.chars().nth(4 * MAX_CHARS).is_some() || text.trim_start().starts_with('/') {
        return false;
    }
    let text = text
        .replace(":+1:", "👍")
        .replace(":thumbsup:", "👍")
        .replace(":shipit:", "shipit")
        .replace(":white_check_mark:", "✅");
    let pictured = text.contains(PICTURES) || text.trim() == "+1";
    let text = if text.trim() == "+1" {
        ""
    } else {
        text.as_str()
    };
    let letters: Vec<char> = text
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    if letters.is_empty() {
        return pictured;
    }
    if letters.len() > MAX_CHARS {
        return false;
    }
    is_made_of_phrases(&letters, pictured)
}

/// Can the letters be cut into phrases and words beside them, with at least one phrase (or picture)?
fn is_made_of_phrases(letters: &[char], pictured: bool) -> bool {
    // reached[i]: the first i letters can be cut; the second says whether a phrase is among them.
    let mut reached = vec![(false, false); letters.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = (true, pictured);
    }
    for at in 0..letters.len() {
        let Some(&(true, phrase)) = reached.get(at) else {
            continue;
        };
        let rest = letters.get(at..).unwrap_or_default();
        let pieces = PHRASES
            .iter()
            .map(|piece| (piece, true))
            .chain(BESIDE.iter().map(|piece| (piece, false)));
        for (piece, is_phrase) in pieces {
            let length = piece.chars().count();
            let fits = rest.len() >= length && piece.chars().zip(rest).all(|(a, b)| a == *b);
            if let Some(there) = reached.get_mut(at + length).filter(|_| fits) {
                *there = (true, there.1 || phrase || is_phrase);
            }
        }
    }
    reached.last() == Some(&(true, true))
}
