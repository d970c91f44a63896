// Writes an audit log of the last days, with its chain of hashes, so that the pages have something to show:
//   node log.mjs DIR
// Figures follow a fixed pattern; only the dates depend on today.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const [dir] = process.argv.slice(2);
const REPO = 'octo-org/gadgets';
const POLICY = `sha256:${'ab'.repeat(32)}`;
const lines = [];
let prev = `sha256:${'0'.repeat(64)}`;

function add(at, kind, number, body) {
  const seq = lines.length + 1;
  const sha = createHash('sha1').update(`head ${number}`).digest('hex');
  const entry = {
    seq, ts: new Date(at).toISOString(), kind, pr: `${REPO}#${number}`, head_sha: sha, ...body,
    policy: POLICY, delivery: null, version: '0.1.0', decision: `d-${seq}`, repo_id: 77, prev,
  };
  const text = JSON.stringify(entry);
  prev = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  lines.push(`${text.slice(0, -1)},"hash":"${prev}"}`);
}

const votes = (quadrant, ir, cr) => [
  { rule: 'path_classifier_default', ir, cr, quadrant },
  { rule: 'empty_pr', match: false },
  { rule: 'agent_session_invalid', match: false },
];
const KINDS = {
  A: ['reversible', 'non-critical', 'docs/guide.md modified (non-critical); revertable file edit (reversible)'],
  B: ['reversible', 'critical', 'src/engine.rs modified (critical); revertable file edit (reversible)'],
  C: ['irreversible', 'non-critical', 'docs/old.md removed (non-critical); file removed (irreversible)'],
  D: ['irreversible', 'critical', 'migrations/0007_users.sql added (critical); irreversible: migrations/** (irreversible)'],
};
const DAY = 86_400_000;
const today = Math.floor(Date.now() / DAY) * DAY;
let number = 100;
for (let day = 34; day >= 1; day -= 1) {
  const start = today - day * DAY + 9 * 3_600_000;
  const weekend = [0, 6].includes(new Date(start).getUTCDay());
  const letters = weekend ? 'A' : 'ABABCADB'.slice(0, 3 + (day * 5) % 6);
  [...letters].forEach((quadrant, index) => {
    number += 1;
    const at = start + index * 1_700_000;
    const [ir, cr, reasoning] = KINDS[quadrant];
    const verdict = { rules_fired: votes(quadrant, ir, cr), quadrant, reasoning, base_ref: 'main', author: 'busy-agent' };
    add(at, 'classification', number, verdict);
    if (quadrant !== 'D') return;
    const nonce = `nonce${number}`;
    add(at + 5, 'issue_opened', number, { issue_kind: 'pending_owner', inbox: 'octo-org/inbox', issue_key: `k${number}`, nonce });
    const wait = day % 4 === 0 ? 12_000 : (day * 37 % 300 + 4) * 60_000;
    const answered = new Date(at + wait).toISOString();
    add(at + wait + 2_000, 'owner_answer', number, {
      answer: day % 9 === 0 ? 'reject' : 'approve_a', actor: 'octo-owner', actor_id: 1, signal: `comment/${number}/approve_a`,
      answered_at: answered, nonce, quadrant: 'D',
    });
    add(at + wait + 3_000, 'issue_closed', number, { issue_kind: 'pending_owner', issue: `octo-org/inbox#${number}`, issue_key: `k${number}`, because: 'answered' });
  });
}
fs.mkdirSync(dir, { recursive: true });
fs.writeFileSync(path.join(dir, 'classifier_audit.jsonl'), `${lines.join('\n')}\n`);
console.log(`${lines.length} entries`);
