// Looks at every admin page as a person would, in Chromium without scripts:
//   node drive.mjs OPEN_URL CLOSED_URL MODULES SHOTS
// OPEN_URL is a demo that everybody sees, CLOSED_URL one with sign-in. Prints one line a check and `N passed, M failed`;
// exits 1 when one failed. Every wait has a limit.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const [open, closed, modules, shots] = process.argv.slice(2);
const require = createRequire(path.join(modules, 'package.json'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WIDGETS = 'octo-org/widgets';
const HOSTILE = 'Take the <script> out of the deployed page';
const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
];
const SIZES = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 900 } };

let passed = 0;
let failed = 0;
function check(name, good, seen = '') {
  if (good) passed += 1; else failed += 1;
  console.log(`${good ? 'ok  ' : 'FAIL'} ${name}${good ? '' : `: ${JSON.stringify(seen)?.slice(0, 800)}`}`);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS, timeout: 60_000 });

// A context without scripts of pages; what the browser complains of is collected.
async function visitor(options = {}) {
  const context = await browser.newContext({ javaScriptEnabled: false, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) complaints.push(message.text()); });
  page.on('requestfailed', (request) => { if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`${request.url()} ${request.failure()?.errorText}`); });
  page.on('response', (response) => { if (response.status() >= 400 && !response.request().isNavigationRequest()) complaints.push(`${response.status()} ${response.url()}`); });
  return { context, page, complaints };
}

const text = (page) => page.locator('body').innerText();

// axe needs a script of its own: the same page is judged in a context that lets the tester's script run.
async function judge(page, title, url) {
  await page.goto(url);
  for (const details of await page.locator('details').all()) await details.evaluate((element) => { element.open = true; });
  await page.addScriptTag({ content: axe });
  const result = await page.evaluate(async () => axe.run(document, { resultTypes: ['violations'] }));
  const grave = result.violations.filter((found) => ['serious', 'critical'].includes(found.impact));
  check(`${title}: axe has no serious finding`, grave.length === 0, grave.map((found) => [found.id, found.nodes.map((node) => node.html.slice(0, 160))]));
  const minor = result.violations.filter((found) => !grave.includes(found)).map((found) => `${found.id} (${found.impact})`);
  if (minor.length > 0) console.log(`note ${title}: axe: ${minor.join(', ')}`);
}

// One page: a picture, nothing wider than the screen, no complaint of the browser, no grave finding.
async function look(eye, judged, variant, { name, url, status = 200 }) {
  const title = `${name} (${variant})`;
  eye.complaints.length = 0;
  const response = await eye.page.goto(url);
  check(`${title}: status ${status}`, response.status() === status, response.status());
  const width = await eye.page.locator('html').evaluate((element) => [element.scrollWidth, element.clientWidth]);
  check(`${title}: nothing is wider than the screen`, width[0] <= width[1], width);
  const unexpected = eye.complaints.filter((line) => status < 400 || !line.includes(`status of ${status}`));
  check(`${title}: no complaint of the browser`, unexpected.length === 0, unexpected);
  const shot = path.join(shots, `${name}-${variant}.png`);
  await eye.page.screenshot({ path: shot, fullPage: true });
  console.log(`shot ${shot}`);
  await judge(judged, title, url);
}

// Every page in both schemes and sizes.
async function lookAtAll(pages, cookies) {
  for (const colorScheme of ['light', 'dark']) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      const eye = await visitor({ colorScheme, viewport });
      const judge = await browser.newContext({ bypassCSP: true, colorScheme, viewport });
      judge.setDefaultTimeout(15_000);
      await eye.context.addCookies(cookies);
      await judge.addCookies(cookies);
      const judged = await judge.newPage();
      for (const page of pages) await look(eye, judged, `${colorScheme}-${size}`, page);
      await eye.context.close();
      await judge.close();
    }
  }
}

async function headers() {
  const response = await fetch(open);
  const policy = response.headers.get('content-security-policy') ?? '';
  check('the policy lets nothing run', policy.includes("default-src 'none'") && !policy.includes('script-src') && !policy.includes('unsafe'), policy);
  check('pages are not kept', response.headers.get('cache-control') === 'no-store', response.headers.get('cache-control'));
  const html = await response.text();
  check('no script, no inline style, no handler', !/<script|\sstyle=|\son[a-z]+=|javascript:/i.test(html));
}

async function contents() {
  const { context, page, complaints } = await visitor();
  await page.goto(open);
  check('overview: says what waits', (await text(page)).includes('1 decision waits for an owner'), await text(page));
  check('overview: has the plot and its numbers', (await page.locator('svg[role=img] rect').count()) > 20 && (await page.locator('details table tbody tr').count()) > 20);
  check('overview: names approvals at once', (await page.locator('section[aria-labelledby=quick] li').count()) >= 2);
  await page.getByRole('link', { name: '7 days' }).click();
  check('overview: another period', (await text(page)).includes('in 7 days') && page.url().endsWith('?days=7'), page.url());

  await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click();
  const row = page.locator('section[aria-labelledby=pending] li').first();
  check('inbox: the title stands there as text', (await row.innerText()).includes(HOSTILE), await row.innerText());
  check('inbox: nothing of it became an element', (await page.locator('script').count()) === 0);
  const issue = await row.getByRole('link', { name: /on GitHub/ }).getAttribute('href');
  check('inbox: leads to the Issue', /octo-org\/inbox\/issues\/\d+$/.test(issue ?? ''), issue);
  await row.getByRole('link', { name: `${WIDGETS}#5` }).click();

  check('decision: the verdict is marked in the grid', (await page.locator('.grid td.verdict').innerText()).replace(/\s+/g, ' ') === 'D the verdict', await page.locator('.grid').innerText());
  check('decision: says how it stands', (await page.locator('.state').innerText()).includes('An owner must answer'), await page.locator('.state').innerText());
  const votes = await page.locator('section[aria-labelledby=votes]').innerText();
  check('decision: every rule is there with its vote', votes.includes('path_classifier_default') && votes.includes('facts_incomplete') && /\bD\b/.test(votes), votes);
  const files = await page.locator('section[aria-labelledby=files]').innerText();
  check('decision: files with axes and reasons', files.includes('.github/workflows/deploy.yml') && files.includes('irreversible') && files.includes('site/index <draft>.html'), files);
  const entry = page.locator('section[aria-labelledby=about]').getByRole('link', { name: /^#\d+$/ });
  await entry.click();
  check('entry: shows the line and that its hash is right', (await text(page)).includes('is the hash of what is written') && (await text(page)).includes('"kind": "classification"'));
  check('entry: the link names the hash', /\/audit\/\d+\/[0-9a-f]{64}$/.test(page.url()), page.url());
  await page.goto(page.url().replace(/[0-9a-f]{64}$/, '0'.repeat(64)));
  check('entry: another hash is noticed', (await page.getByRole('alert').innerText()).includes('another entry'));

  await page.goto(`${open}pulls/${WIDGETS}/4`);
  const doings = await page.locator('section[aria-labelledby=doings]').innerText();
  check('decision: the answer with its entry', doings.includes('octo-owner') && doings.includes('approved as proposed'), doings);

  await page.goto(`${open}audit`);
  check('audit: newest first, one page of them', (await page.locator('.entries > li').count()) === 50);
  await page.getByRole('link', { name: 'Older entries' }).click();
  check('audit: the next page is older', page.url().includes('before='), page.url());
  await page.getByLabel('Quadrant').selectOption('D');
  await page.getByLabel('Kind').selectOption('owner_answer');
  await page.getByLabel('Author or owner').fill('octo-owner');
  await page.getByLabel('Text').fill('approve_a');
  await page.getByRole('button', { name: 'Search' }).click();
  const found = await page.locator('.entries > li').allInnerTexts();
  check('audit: the filters narrow it', found.length > 0 && found.every((line) => line.includes('Answer') && line.includes('octo-owner')), found);
  check('audit: the search is an address', page.url().includes('kind=owner_answer') && page.url().includes('text=approve_a'), page.url());
  await page.goto(`${open}audit?repo=%3Cscript%3E&from=yesterday`);
  check('audit: mistakes are named at their fields', (await page.locator('[aria-invalid=true]').count()) === 2 && (await text(page)).includes('Write it as owner/name.'));
  check('audit: what was typed stays, as text', (await page.getByLabel('Repository').inputValue()) === '<script>');
  const unexpected = complaints.filter((line) => !line.includes('status of 400'));
  check('no complaint of the browser on the way', unexpected.length === 0, unexpected);
  await context.close();
}

async function keyboard() {
  const { context, page } = await visitor();
  await page.goto(open);
  const focused = async () => page.locator(':focus').evaluate((element) => element.textContent.trim());
  await page.keyboard.press('Tab');
  check('keyboard: the skip link is first', (await focused()) === 'Skip to the content', await focused());
  const box = await page.locator('.skip').boundingBox();
  await page.waitForTimeout(200);
  check('keyboard: it is seen when focused', (await page.locator('.skip').boundingBox()).y >= 0, box);
  const order = [];
  for (let step = 0; step < 5; step += 1) {
    await page.keyboard.press('Tab');
    order.push(await focused());
  }
  check('keyboard: brand, pages, content', JSON.stringify(order) === JSON.stringify(['quadgate', 'Overview', 'Inbox', 'Audit log', 'Waiting for an owner']), order);
  await page.goto(open);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  check('keyboard: the skip link skips', (await focused()) === 'Waiting for an owner', await focused());
  const outline = await page.locator(':focus').evaluate((element) => getComputedStyle(element).outlineStyle);
  check('keyboard: the focus is seen', outline === 'solid', outline);
  await context.close();
}

async function signIn() {
  const { context, page, complaints } = await visitor();
  await page.goto(`${closed}pulls/${WIDGETS}/5`);
  check('sign-in: nothing without it', page.url().includes('/sign-in?to=') && !(await text(page)).includes(WIDGETS), page.url());
  await page.getByRole('link', { name: 'Sign in with GitHub' }).click();
  check('sign-in: GitHub asks', page.url().includes('/login/oauth/authorize') && page.url().includes('code_challenge_method=S256'), page.url());
  await page.getByRole('link', { name: 'Continue as octo-owner' }).click();
  check('sign-in: leads to the wanted page', page.url() === `${closed}pulls/${WIDGETS}/5` && (await text(page)).includes('octo-owner'), page.url());
  const cookie = (await context.cookies(closed)).find((one) => one.name.endsWith('quadgate-session'));
  check('sign-in: the cookie is out of reach of scripts', cookie?.httpOnly === true && cookie?.sameSite === 'Lax', cookie);
  await page.getByRole('button', { name: 'Sign out' }).click();
  check('sign-in: out again', page.url().endsWith('/sign-in'), page.url());
  await page.goto(`${closed}inbox`);
  check('sign-in: the session is over', page.url().includes('/sign-in?to='), page.url());

  await page.getByRole('link', { name: 'Sign in with GitHub' }).click();
  await page.getByRole('link', { name: 'Continue as busy-agent' }).click();
  check('sign-in: who can read nothing sees nothing', (await text(page)).includes('Nothing waits for an owner') && !(await text(page)).includes(WIDGETS), await text(page));
  const hidden = await page.goto(`${closed}pulls/${WIDGETS}/5`);
  check('sign-in: and is told that nothing is there', hidden.status() === 404, hidden.status());
  await page.goto(`${closed}audit`);
  check('sign-in: nor does the log show anything', (await page.locator('.entries > li').count()) === 0);
  const unexpected = complaints.filter((line) => !line.includes('status of 404'));
  check('sign-in: no complaint of the browser', unexpected.length === 0, unexpected);
  await context.close();

  const other = await visitor();
  await other.page.goto(`${closed}sign-in`);
  await other.page.getByRole('link', { name: 'Sign in with GitHub' }).click();
  await other.page.getByRole('link', { name: 'Cancel' }).click();
  check('sign-in: not agreed', (await text(other.page)).includes('was not agreed to'), await text(other.page));
  await other.context.close();
}

// The cookies of somebody who stays signed in.
async function signedIn() {
  const { context, page } = await visitor();
  await page.goto(`${closed}sign-in`);
  await page.getByRole('link', { name: 'Sign in with GitHub' }).click();
  await page.getByRole('link', { name: 'Continue as octo-owner' }).click();
  const cookies = await context.cookies(closed);
  await context.close();
  return cookies;
}

try {
  await headers();
  await contents();
  await keyboard();
  await signIn();
  await lookAtAll([
    { name: 'overview', url: open },
    { name: 'inbox', url: `${open}inbox` },
    { name: 'decision-pending', url: `${open}pulls/${WIDGETS}/5` },
    { name: 'decision-approved', url: `${open}pulls/${WIDGETS}/4` },
    { name: 'decision-old', url: `${open}pulls/octo-org/gadgets/104` },
    { name: 'audit', url: `${open}audit` },
    { name: 'audit-search', url: `${open}audit?quadrant=D&kind=owner_answer` },
    { name: 'audit-wrong', url: `${open}audit?repo=x&from=yesterday`, status: 400 },
    { name: 'entry', url: `${open}audit/1` },
    { name: 'nothing-here', url: `${open}no/such/page`, status: 404 },
    { name: 'sign-in', url: `${closed}sign-in` },
    { name: 'sign-in-refused', url: `${closed}sign-in/callback?code=x&state=y`, status: 400 },
    { name: 'signed-in', url: closed },
  ], await signedIn());
} catch (error) {
  check('the run came to its end', false, String(error.stack ?? error));
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
