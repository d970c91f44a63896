//! The high-risk domains of the evidence gate: by globs, what raises the risk of a change to high.
//!
//! INVARIANT: without `extends: none` the lists of the file add to the built-in ones. Lists are widening: they are
//! compared without case, and in doubt they match.

use super::globs::{GlobProblem, GlobTable, PathForms, Sense};
use super::paths::Extends;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The domains, by the keys of `evidence.high_risk`.
pub const DOMAINS: [&str; 5] = [
    "public_api",
    "authentication",
    "payments",
    "migrations",
    "destructive",
];

const PUBLIC_API: &[&str] = &[
    "**/{openapi,swagger,asyncapi}*.{yml,yaml,json}",
    "**/{openapi,swagger,asyncapi,contracts,public_api,public-api}/**",
    "**/*.{proto,graphql,graphqls,gql,avsc,thrift,wsdl,xsd,raml}",
    "schemas/**",
    "**/*.schema.json",
];

const AUTHENTICATION: &[&str] = &[
    "**/{auth,authn,authz,authentication,authorization,oauth,oauth2,oidc,saml,sso,rbac,iam,acl}/**",
    "**/{auth,authn,authz,authentication,authorization,oauth,oauth2,oidc,saml,sso,rbac,iam,acl}.*",
    "**/{auth,authn,authz,oauth,oidc,saml,login,permissions}_*",
    "**/{auth,authn,authz,oauth,oidc,saml,login,permissions}-*",
    "**/{login,permission,permissions}.*",
];

const PAYMENTS: &[&str] = &[
    "**/{payment,payments,billing,invoice,invoices,invoicing,payout,payouts,refund,refunds}/**",
    "**/{payment,payments,billing,invoice,invoices,invoicing,payout,payouts,refund,refunds}.*",
    "**/{payment,payments,billing,invoice,payout,refund}_*",
    "**/{payment,payments,billing,invoice,payout,refund}-*",
];

const MIGRATIONS: &[&str] = &[
    "**/{migration,migrations,alembic,flyway,liquibase}/**",
    "**/db/{migrate,changelog}/**",
    "**/db/{schema.rb,structure.sql}",
    "**/*.{sql,ddl,prisma}",
];

const DESTRUCTIVE: &[&str] = &[
    "**/*.{tf,tfvars,hcl,bicep,tofu}",
    "**/{terraform,pulumi}/**",
    "**/*{destroy,purge,wipe,teardown}*",
];

/// `evidence.high_risk` in `env.yml`: globs by domain. A change of a file that matches, beyond what is harmless by
/// itself (quadrant A), is of high risk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HighRiskFile {
    /// Do the lists below add to the built-in ones (`default`) or stand alone (`none`)?
    pub extends: Extends,
    /// Public APIs and contracts.
    pub public_api: Vec<String>,
    /// Authentication and authorization.
    pub authentication: Vec<String>,
    /// Payments.
    pub payments: Vec<String>,
    /// Migrations of schemas and data.
    pub migrations: Vec<String>,
    /// Destructive or irreversible operations.
    pub destructive: Vec<String>,
}

/// The domains, compiled.
#[derive(Debug, Clone)]
pub struct HighRisk(GlobTable<{ DOMAINS.len() }>);

impl HighRisk {
    /// The built-in lists alone.
    #[must_use]
    pub fn built_in() -> Self {
        // A test compiles them. Should they ever fail to compile all the same, everything is of high risk.
        Self::compile(&HighRiskFile::default())
            .unwrap_or_else(|_| Self(GlobTable::of_everything([0, 1, 2, 3, 4], Sense::Widening)))
    }

    /// Compiles the lists.
    ///
    /// # Errors
    /// Every glob that cannot be used: its domain, its index in the list as written, what is wrong.
    pub fn compile(file: &HighRiskFile) -> Result<Self, Vec<(&'static str, GlobProblem)>> {
        let built_in = [
            PUBLIC_API,
            AUTHENTICATION,
            PAYMENTS,
            MIGRATIONS,
            DESTRUCTIVE,
        ]
        .map(|list| match file.extends {
            Extends::Default => list,
            Extends::None => &[],
        });
        let written = [
            &file.public_api,
            &file.authentication,
            &file.payments,
            &file.migrations,
            &file.destructive,
        ];
        let mut lists = built_in.map(|list| list.iter().map(|glob| (*glob).to_owned()).collect());
        for (list, written) in lists.iter_mut().zip(written) {
            let list: &mut Vec<String> = list;
            list.extend(written.iter().cloned());
        }
        GlobTable::compile(lists, Sense::Widening)
            .map(Self)
            .map_err(|problems| {
                let told = problems.into_iter().map(|(list, mut problem)| {
                    let before = built_in.get(list).map_or(0, |list| list.len());
                    problem.index = problem.index.saturating_sub(before);
                    (DOMAINS.get(list).copied().unwrap_or_default(), problem)
                });
                told.collect()
            })
    }

    /// The domains a path belongs to, in the order of [`DOMAINS`].
    pub fn of(&self, path: &str, scratch: &mut Vec<usize>) -> Vec<&'static str> {
        let found = self.0.first_matches(&PathForms::of(path), scratch);
        let named = DOMAINS.iter().zip(found);
        named
            .filter_map(|(domain, glob)| glob.map(|_| *domain))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(risk: &HighRisk, path: &str) -> Vec<&'static str> {
        risk.of(path, &mut Vec::new())
    }

    #[test]
    fn the_built_in_lists_compile_and_name_domains() {
        let risk = HighRisk::compile(&HighRiskFile::default()).unwrap();
        assert_eq!(of(&risk, "src/Auth/token.rs"), ["authentication"]);
        assert_eq!(of(&risk, "app/auth_service.py"), ["authentication"]);
        assert_eq!(of(&risk, "src/billing/invoice.ts"), ["payments"]);
        assert_eq!(
            of(&risk, "db/migrations/7_users.sql"),
            ["migrations"],
            "one domain, two globs"
        );
        assert_eq!(of(&risk, "api/openapi.v2.yaml"), ["public_api"]);
        assert_eq!(of(&risk, "scripts/purge-users.sh"), ["destructive"]);
        assert!(of(&risk, "src/engine.rs").is_empty());
        assert!(of(&risk, "src/author.rs").is_empty());
    }

    #[test]
    fn written_lists_add_or_stand_alone_and_their_mistakes_are_placed() {
        let file = |extends, globs: &[&str]| HighRiskFile {
            extends,
            payments: globs.iter().map(|glob| (*glob).to_owned()).collect(),
            ..HighRiskFile::default()
        };
        let both = HighRisk::compile(&file(Extends::Default, &["services/ledger/**"])).unwrap();
        assert_eq!(of(&both, "services/ledger/x.go"), ["payments"]);
        assert_eq!(of(&both, "src/payments/x.go"), ["payments"]);
        let alone = HighRisk::compile(&file(Extends::None, &["services/ledger/**"])).unwrap();
        assert!(of(&alone, "src/payments/x.go").is_empty());
        let problems = HighRisk::compile(&file(Extends::Default, &["ok/**", "/no"])).unwrap_err();
        let places: Vec<_> = problems.iter().map(|(key, p)| (*key, p.index)).collect();
        assert_eq!(places, [("payments", 1)]);
    }
}
