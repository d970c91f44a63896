//! Whose `classifier-judgment` a check-run is: asked by the rule that believes it and by the rule that refuses it.

use crate::domain::CheckRunFact;
use crate::policy::Publisher;

/// The name of the check-run, compared exactly.
pub(super) const CHECK_NAME: &str = "classifier-judgment";

/// Is the run by the canonical App? With an id configured the slug alone proves nothing: slugs are reused.
pub(super) fn is_canonical(run: &CheckRunFact, publisher: &Publisher) -> bool {
    let slug = run.app_slug.as_deref() == Some(publisher.slug.as_str());
    let id = publisher
        .app_id
        .is_none_or(|wanted| run.app_id == Some(wanted));
    slug && id
}
