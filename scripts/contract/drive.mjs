// Drives the product against the emulated GitHub, then replays GitHub's recorded payloads.
//   node drive.mjs GITHUB_URL WEBHOOK_URL SECRET MODULES
// Prints one line a check and `N passed, N failed`; exits 1 when one failed. Bounded: every wait has a limit.
import { createHmac, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';

const [github, webhook, secret, modules] = process.argv.slice(2);
const REPO = '/repos/my-org/org-repo';
let passed = 0;
let failed = 0;
const check = (name, good, seen = '') => {
  good ? (passed += 1) : (failed += 1);
  console.log(`${good ? 'ok  ' : 'FAIL'} ${name}${good ? '' : `: ${JSON.stringify(seen)?.slice(0, 600)}`}`);
};

async function call(method, route, body, token = 'token_octocat') {
  const answer = await fetch(github + route, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text ? JSON.parse(text) : null };
}

async function until(name, read, good, seconds = 20) {
  const end = Date.now() + seconds * 1000;
  let seen;
  do {
    seen = await read();
    if (good(seen)) {
      check(name, true);
      return seen;
    }
    await new Promise((go) => setTimeout(go, 150));
  } while (Date.now() < end);
  check(name, false, seen);
  return seen;
}

const checkRuns = async (sha) => (await call('GET', `${REPO}/commits/${sha}/check-runs`)).body?.check_runs ?? [];
const pendingIssues = async (state = 'open') =>
  ((await call('GET', `${REPO}/issues?state=${state}&labels=decision:pending-owner`)).body ?? []).filter((i) => !i.pull_request);

async function openPull(name, more = {}) {
  const main = (await call('GET', `${REPO}/git/ref/heads/main`)).body.object.sha;
  await call('POST', `${REPO}/git/refs`, { ref: `refs/heads/${name}`, sha: main });
  const put = await call('PUT', `${REPO}/contents/${name}.md`, {
    message: `Add ${name}\n\nAgent-Tool: codex\nAgent-Model: gpt-5\nAgent-Session: s_ab12-cd\nAgent-Machine: box-1\nTask-Ref: none\n`,
    content: Buffer.from(`# ${name}\n`).toString('base64'),
    branch: name,
  });
  if (put.status >= 300) console.log('note: contents answered', put.status, JSON.stringify(put.body).slice(0, 200));
  const pull = await call('POST', `${REPO}/pulls`, { title: `Add ${name}`, head: name, base: 'main', body: 'text', ...more });
  check(`pull request ${name} opened in the emulator`, pull.status === 201, pull.body);
  return pull.body;
}

const ours = async (sha) => (await checkRuns(sha)).filter((run) => run.name === 'L1.C3');
const say = (issue, body, token) => call('POST', `${REPO}/issues/${issue.number}/comments`, { body }, token);

async function asked(name, more) {
  const pull = await openPull(name, more);
  const runs = await until(`${name}: it gets its check-run`, () => ours(pull.head.sha), (list) => list[0]?.status === 'completed');
  check(`${name}: there is one L1.C3 and it fails, for nothing is known of the files`, runs.length === 1 && runs[0]?.conclusion === 'failure', runs);
  const [issue] = await until(`${name}: a D gets its Issue`, () => pendingIssues(), (list) => list.length === 1);
  check(`${name}: the Issue carries the checkpoint record`, issue?.body?.includes(`at ${pull.head.sha}`) && issue.body.includes('CHECKPOINT APPROVAL REQUIRED'), issue?.body);
  return { pull, issue };
}

const pullOf = async ({ number }) => (await call('GET', `${REPO}/pulls/${number}`)).body;
const commentsOf = async ({ number }) => (await call('GET', `${REPO}/issues/${number}/comments`)).body ?? [];

async function held({ pull }) {
  const said = await until(
    'one status comment lists every condition that is unmet',
    () => commentsOf(pull),
    (list) => ['**C3** (P0)', '**C1** (P2)', '**C2** (P2)', '**C5** (P2)'].every((part) => list[0]?.body.includes(part)),
  );
  check('it is the only one', said.length === 1, said);
  check('it does not merge without the owner\'s answer', (await pullOf(pull)).merged !== true);
}

async function merged({ pull }) {
  const after = await until('it merges', () => pullOf(pull), (seen) => seen?.merged === true);
  check('by the bot', after.merged_by?.login === 'my-github-app[bot]', after.merged_by);
  const said = await until(
    'the comment says so',
    () => commentsOf(pull),
    (list) => list.length === 1 && list[0].body.includes('It is merged now (squash)'),
  );
  check('there is still one comment', said.length === 1, said);
}

async function answered({ pull, issue }) {
  await say(issue, '/approve A', 'token_hubot');
  await say(issue, 'I read it.');
  const said = await say(issue, '/approve A');
  check('the owner answers in the emulator', said.status === 201, said.body);
  await until('the answer turns the check-run', () => ours(pull.head.sha), (list) => list.every((run) => run.conclusion === 'success'));
  await until('the Issue closes', () => pendingIssues(), (list) => list.length === 0);
}

const labelsOf = async ({ number }) => (await call('GET', `${REPO}/issues/${number}`)).body?.labels?.map((label) => label.name) ?? [];

async function deferredThenApproved() {
  const { pull, issue } = await asked('topic-two');
  await say(issue, '/approve C');
  await until('deferred: the Issue says so and stays open', () => labelsOf(issue), (names) => names.includes('decision:deferred'));
  check('deferred: the check-run still fails', (await ours(pull.head.sha)).every((run) => run.conclusion === 'failure'));
  check('deferred: it does not merge', (await pullOf(pull)).merged !== true);
  await say(issue, '/approve A');
  await until('deferred, then approved: the check-run turns', () => ours(pull.head.sha), (list) => list.every((run) => run.conclusion === 'success'));
  await until('deferred, then approved: it merges', () => pullOf(pull), (seen) => seen?.merged === true);
  await until('deferred, then approved: the Issue closes', () => pendingIssues(), (list) => list.length === 0);
}

// A draft does not merge, so that there is time for a push. The emulator tells nobody of it: the delivery is ours.
async function pushedAfterTheAnswerThenRejected() {
  const { pull, issue } = await asked('topic-three', { draft: true });
  await say(issue, '/approve A');
  await until('a draft: the answer turns the check-run', () => ours(pull.head.sha), (list) => list.every((run) => run.conclusion === 'success'));
  await until('a draft: the Issue closes', () => pendingIssues(), (list) => list.length === 0);

  const moved = await call('PUT', `${REPO}/pulls/${pull.number}/update-branch`, { expected_head_sha: pull.head.sha });
  const pushed = await pullOf(pull);
  check('pushed: the head is another one', moved.status === 202 && pushed.head.sha !== pull.head.sha, moved);
  const event = { action: 'synchronize', number: pull.number, before: pull.head.sha, after: pushed.head.sha, pull_request: pushed };
  const { repository, sender } = { repository: pushed.base.repo, sender: pushed.user };
  await post('pull_request', { ...event, repository, sender, installation: { id: 100 } });
  const runs = await until('pushed: the new head is judged', () => ours(pushed.head.sha), (list) => list[0]?.status === 'completed');
  check('pushed: the approval died with its head', runs.length === 1 && runs[0].conclusion === 'failure', runs);
  const [again] = await until('pushed: the owner is asked again', () => pendingIssues(), (list) => list.length === 1);
  check('pushed: in a record that names the new head', again?.body?.includes(`at ${pushed.head.sha}`), again?.body);

  await call('PATCH', `${REPO}/pulls/${pull.number}`, { draft: false, body: 'ready' });
  await say(again, '/reject', 'token_hubot');
  check('ready, not approved: it does not merge', (await pullOf(pull)).merged !== true);
  await say(again, '/reject');
  await until('rejected: the pull request is closed', () => pullOf(pull), (seen) => seen?.state === 'closed');
  check('rejected: it was not merged', (await pullOf(pull)).merged !== true);
  await until('rejected: the Issue closes', () => pendingIssues(), (list) => list.length === 0);
  check('rejected: its label stays', (await labelsOf(again)).includes('decision:rejected'), await labelsOf(again));
  check('rejected: the check-run still fails', (await ours(pushed.head.sha)).every((run) => run.conclusion === 'failure'));
}

async function post(event, payload, signature) {
  const body = Buffer.from(JSON.stringify(payload));
  const answer = await fetch(webhook, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': signature ?? `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  });
  return { status: answer.status, text: await answer.text() };
}

async function payloads() {
  const examples = createRequire(path.join(modules, 'package.json'))('@octokit/webhooks-examples');
  const ours = new Set(['pull_request', 'issue_comment', 'check_run', 'check_suite', 'issues', 'installation', 'installation_repositories', 'merge_group', 'push', 'status', 'repository', 'ping']);
  const by = {};
  let sent = 0;
  const bad = [];
  for (const { name, examples: list } of examples) {
    for (const payload of list) {
      const { status, text } = await post(name, payload);
      sent += 1;
      by[status] = (by[status] ?? 0) + 1;
      const allowed = name === 'ping' ? [200] : ours.has(name) ? [202, 204] : [204];
      if (!allowed.includes(status)) bad.push(`${name}.${payload.action ?? ''} ${status} ${text.slice(0, 80)}`);
    }
  }
  console.log(`     ${sent} recorded payloads answered`, by);
  check('every recorded payload gets the answer of its event, none a 5xx', sent > 300 && bad.length === 0, bad.slice(0, 5));
  const forged = await post('ping', { zen: 'x' }, `sha256=${'0'.repeat(64)}`);
  check('a forged signature is refused', forged.status === 401, forged);
}

const opened = await asked('topic-one');
await held(opened);
await answered(opened);
await merged(opened);
await deferredThenApproved();
await pushedAfterTheAnswerThenRejected();
await payloads();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
