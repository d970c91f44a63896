// The least that a Probot app can do for a pull request: one call, a check-run that is completed. Nothing is kept, no file is
// looked at, nothing is logged. Environment: PORT, API (base of the stand-in), KEY (a PEM file), SECRET.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { Probot, ProbotOctokit, createNodeMiddleware } from 'probot';

// As shipped, Probot spaces its writes a second apart; a subclass is the way to switch that off.
class Unthrottled extends ProbotOctokit {
  constructor(options = {}) {
    super({ ...options, throttle: { enabled: false } });
  }
}

const app = (probot) => {
  probot.on('pull_request', (context) =>
    context.octokit.rest.checks.create(
      context.repo({
        name: 'peer',
        head_sha: context.payload.pull_request.head.sha,
        status: 'completed',
        conclusion: 'success',
        output: { title: 'Looked at', summary: 'Nothing to say.' },
      }),
    ),
  );
};

const { PORT, API, KEY, SECRET } = process.env;
const probot = new Probot({
  appId: '12345',
  privateKey: readFileSync(KEY, 'utf8'),
  secret: SECRET,
  logLevel: 'fatal',
  baseUrl: API,
  Octokit: Unthrottled,
});
const webhooks = await createNodeMiddleware(app, { probot, webhooksPath: '/webhook' });
createServer(async (request, response) => {
  if (!(await webhooks(request, response)) && !response.writableEnded) {
    response.writeHead(404).end();
  }
}).listen(Number(PORT), '127.0.0.1');
