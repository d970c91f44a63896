//! The built-in table of the path rule (classifier specification, section 3): data only.
//!
//! Widening lists are generous: a false match costs the owner one click. Narrowing lists are short: a false
//! match may cost an accident. Globs start at the repository root unless they begin with `**/`.

/// Critical whatever the edit.
pub(super) const CRITICAL: &[&str] = &[
    ".github/workflows/**",
    ".github/scripts/**",
    ".github/actions/**",
    "**/.github/workflows/**",
    "**/action.{yml,yaml}",
    ".{gitea,forgejo}/workflows/**",
    ".github/{dependabot,settings,labeler,mergify,renovate}.{yml,yaml,json}",
    ".gitlab-ci.yml",
    ".circleci/**",
    ".buildkite/**",
    "azure-pipelines*.{yml,yaml}",
    "**/Jenkinsfile*",
    "**/CODEOWNERS",
    "config/**",
    "schemas/**/*.json",
    "bot-state/**",
    "LICENSE*",
    "LICENCE*",
    "COPYING*",
    "SECURITY.md",
    "{.github,docs}/SECURITY.md",
    "MAINTAINERS.md",
    "{.github,docs}/MAINTAINERS.md",
];

/// A revert does not undo it: other systems, secrets, the gate itself.
pub(super) const IRREVERSIBLE: &[&str] = &[
    // CI definitions and what they run: a workflow publishes the very checks the gate trusts.
    ".github/workflows/**",
    ".github/scripts/**",
    ".github/actions/**",
    "**/.github/workflows/**",
    "**/action.{yml,yaml}",
    ".{gitea,forgejo}/workflows/**",
    ".gitlab-ci.yml",
    ".circleci/**",
    ".buildkite/**",
    "azure-pipelines*.{yml,yaml}",
    "**/Jenkinsfile*",
    // Who approves, and what the gate believes.
    "**/CODEOWNERS",
    "config/{classifier_rules,owner,projects,skills,env,agent_registry,server}.{yml,yaml,json,toml}",
    "config/{rules,skills,agents,agent_registry}/**",
    "bot-state/**",
    // Database schemas and migrations.
    "**/migrations/**",
    "**/migration/**",
    "**/db/migrate/**",
    "**/db/{schema.rb,structure.sql,seeds.rb}",
    "**/db/changelog/**",
    "**/alembic/**",
    "**/flyway/**",
    "**/liquibase/**",
    "**/prisma/**",
    "**/*.{sql,ddl,prisma,dbml,dacpac}",
    "**/ent/schema/**",
    "**/drizzle/**",
    "**/models.py",
    "**/*.entity.{ts,js}",
    // JSON schemas.
    "schemas/**",
    "**/*.schema.json",
    // Infrastructure definitions.
    "**/*.{tf,tfvars,tf.json,hcl,bicep,tofu}",
    "**/*.{tfstate,tfstate.backup}",
    "{terraform,pulumi,infra,infrastructure,k8s,kubernetes,helm,charts,ansible,cloudformation}/**",
    "**/{terraform,k8s,kubernetes,helm,kustomize,argocd}/**",
    "**/Pulumi*.{yml,yaml}",
    "**/{Chart,Chart.lock,values,kustomization,helmfile,skaffold}.{yml,yaml}",
    "**/{serverless,samconfig}.{yml,yaml,json,toml}",
    "**/cdk.json",
    // Secrets and credentials.
    "**/.env",
    "**/.env.*",
    "**/*.env",
    "**/.envrc",
    "**/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk,p8,gpg,ovpn,keytab}",
    "**/id_{rsa,dsa,ecdsa,ed25519}*",
    "**/.{npmrc,pypirc,netrc,pgpass,htpasswd,git-credentials,dockercfg,my.cnf,s3cfg,boto,yarnrc,yarnrc.yml}",
    "**/_netrc",
    "**/.{ssh,gnupg,aws,azure,kube}/**",
    "**/.docker/config.json",
    "**/{kubeconfig,credentials,credential,secret,secrets}",
    "**/{kubeconfig,credentials,credential,secret,secrets}.{yml,yaml,json,toml,ini,txt,xml,properties,env,enc}",
    "**/{secrets,credentials}/**",
    "**/*{client_secret,service-account,service_account,serviceaccount}*.json",
    "**/.sops.{yml,yaml}",
    "**/.vault*",
];

/// Not critical.
pub(super) const NON_CRITICAL: &[&str] = &[
    "examples/**",
    "docs/**",
    // With a prose ending: `README.py` is a program.
    "**/{README,CHANGELOG}",
    "**/{README,CHANGELOG}*.{md,markdown,rst,txt,adoc,asciidoc,org,rdoc,textile}",
];

/// Tests: not critical when newly added.
pub(super) const TESTS: &[&str] = &["tests/**", "test/**", "**/__tests__/**"];

/// Doctrine: critical beyond a typo.
pub(super) const DOCTRINE: &[&str] = &["docs/concepts/**"];

/// Guides: critical when a rule changes.
pub(super) const GUIDE: &[&str] = &["docs/guide/**"];

/// Records that are only ever added.
pub(super) const APPEND_ONLY: &[&str] = &["docs/decisions/**"];

/// The bot's own source.
pub(super) const BOT_SOURCE: &[&str] = &["src/multiagent_protocol/**"];

/// Built-in rules and skills of the bot: a new file is a new rule.
pub(super) const BUILT_IN_SKILLS: &[&str] = &[
    "src/multiagent_protocol/{skills,rules}/**",
    "src/multiagent_protocol/**/{skills,rules,builtin,builtins,built_in}/**",
    "src/multiagent_protocol/**/{classifier,validator,skill,rule}_*",
];

/// Media: GitHub shows no diff for them by nature. SVG is a program and not among them.
pub(super) const MEDIA: &[&str] = &[
    "**/*.{png,jpg,jpeg,gif,webp,avif,bmp,ico,tif,tiff,heic}",
    "**/*.{PNG,JPG,JPEG,GIF}",
    "**/*.{woff,woff2,ttf,otf,eot}",
    "**/*.{mp3,ogg,oga,wav,flac,m4a,opus}",
    "**/*.{mp4,webm,mov,avi,mkv,m4v,ogv}",
];

/// Lines that reach people or other systems.
pub(super) const OUTBOUND: &[(&str, &str)] = &[
    (
        "sends mail",
        r"(?i)smtplib|\bsmtp\b|send_?e?mail|mail\.send\b|nodemailer|createTransport|actionmailer|deliver_(now|later)\b|\blettre::|javax\.mail|jakarta\.mail|gomail|net/smtp|MailMessage|EmailMessage|\bmailx?\s+-s\b",
    ),
    (
        "sends mail",
        r"(?i)sendgrid|mailgun|postmark|mailchimp|mandrill|sparkpost|\bmailjet|\bresend\.emails|amazonses|\bses\.send",
    ),
    (
        "sends a message",
        r"(?i)twilio|\bvonage\b|messagebird|api\.telegram\.org|sendMessage\(|publish_sms|sns\.publish",
    ),
    (
        "posts to social media",
        r"(?i)tweepy|api\.(twitter|x)\.com|create_tweet|update_status|statuses/update|\btweet\(|mastodon|\btoot\(|graph\.facebook\.com|api\.linkedin\.com|bsky\.social|\bpraw\b|oauth\.reddit\.com",
    ),
    (
        "posts to a chat",
        r"(?i)chat[._]postMessage|slack_sdk|slack\.com/api|@slack/web-api|\bIncomingWebhook\b",
    ),
    (
        "fires a webhook",
        r"(?i)hooks\.slack\.com|discord(app)?\.com/api/webhooks|webhook\.office\.com|office\.com/webhook|hooks\.zapier\.com|maker\.ifttt\.com|chat\.googleapis\.com|open\.feishu\.cn|oapi\.dingtalk\.com|\bwebhook\.site",
    ),
    (
        "fires a webhook",
        r"(?i)(post|send|fire|trigger|dispatch|emit|notify|deliver|call|fetch|curl|request).*web[_-]?hook|web[_-]?hook.*(post|send|fire|trigger|dispatch|emit|notify|deliver|fetch|curl|request)",
    ),
    (
        "fires a webhook",
        r"(?i)repository_dispatch|workflow_dispatch|/dispatches\b",
    ),
];

/// Lines that look like a private key or a well-known token.
pub(super) const SECRETS: &[(&str, &str)] = &[
    (
        "private key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File-|AGE-SECRET-KEY-1",
    ),
    (
        "GitHub token",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}",
    ),
    (
        "GitLab token",
        r"\bgl(pat|ptt|dt|rt|soat|cbt)-[A-Za-z0-9_-]{16,}",
    ),
    (
        "AWS key",
        r"\b(AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b|(?i:aws_secret_access_key|aws_session_token)\s*[=:]\s*\S{16,}",
    ),
    (
        "Google key",
        r"\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}",
    ),
    (
        "Azure key",
        r"(?i)(AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{20,}",
    ),
    (
        "Slack token",
        r"\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}",
    ),
    (
        "Slack webhook",
        r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}",
    ),
    (
        "payment key",
        r"\b[sr]k_(live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9]{16,}|\bsq0(atp|csp)-[A-Za-z0-9_-]{20,}",
    ),
    (
        "model provider key",
        r"\bsk-(ant|proj|svcacct|or)-[A-Za-z0-9_-]{16,}|\bsk-[A-Za-z0-9]{32,}|\bhf_[A-Za-z0-9]{30,}|\bgsk_[A-Za-z0-9]{40,}",
    ),
    (
        "package registry token",
        r"\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\brubygems_[a-f0-9]{40,}|\bdckr_pat_[A-Za-z0-9_-]{20,}|//[^\s/]+/:_authToken=\S{8,}",
    ),
    (
        "service token",
        r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\bdop_v1_[a-f0-9]{40,}|\bshp(at|ca|pa|ss)_[a-fA-F0-9]{30,}|\bhvs\.[A-Za-z0-9_-]{20,}|\bglsa_[A-Za-z0-9_]{30,}|\bkey-[a-f0-9]{32}\b|\bSK[a-f0-9]{32}\b",
    ),
    (
        "web token",
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
    (
        "password in a URL",
        r"://[^\s/:@<>{}$]{1,60}:[^\s/@<>{}$]{3,200}@[^\s/]",
    ),
];

/// Merge and auth logic in the bot's own source.
pub(super) const MERGE_AUTH: &[(&str, &str)] = &[
    (
        "merge logic",
        r"(?i)merg(e|ing)|auto_?approv|approv(e|al)|force_?push|branch_?protection|required_?checks?|check_?runs?\b|expected_?head",
    ),
    (
        "auth logic",
        r"(?i)\bauth|_auth|authori[sz]|authenti|oauth|permission|allow_?-?list|white_?-?list|is_?owner|owners?\b|is_?admin|bypass|break_?glass|collaborator",
    ),
    (
        "auth logic",
        r"(?i)token|secret|credential|password|private_?key|\bjwt\b|hmac|signature|verify_?sig|compare_digest|installation_?id",
    ),
    (
        "merge logic",
        r"(?i)quadrant|auto_?revert|ready-to-merge|decision:",
    ),
];

/// Rules and numbers in prose.
pub(super) const NORMATIVE: &[(&str, &str)] = &[
    (
        "a rule",
        r"(?i)\b(must|mustn|never|always|shall|shan|should|ought|require[sd]?|requirements?|required|mandatory|obligat\w*|forbid\w*|forbidden|prohibit\w*|disallow\w*|permitted|not allowed|may not|cannot|can't|do not|don't|only if|unless)\b",
    ),
    (
        "a threshold",
        r"(?i)\b(thresholds?|limits?|at least|at most|no more than|no fewer than|no less than|minimum|maximum|quorum|deadline|timeout|expir\w*)\b",
    ),
    (
        "a rule",
        r"금지|반드시|해야|필수|안\s?된다|않는다|말아야|말 것|하지\s?마|항상|절대|의무|허용|불허|불가|거부|요구",
    ),
    (
        "a threshold",
        r"최소|최대|이상|이하|초과|미만|한도|기한|임계",
    ),
    ("a number", r"\p{N}"),
];
