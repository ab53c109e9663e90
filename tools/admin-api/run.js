/**
 * Runs Schemathesis against the admin API with valid and invalid requests, as an administrator and without a token.
 * Every response must match the API description.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { say } from '../browser/checks.js';
import { Latchkey } from '../browser/latchkey.js';
import { CLIENT_ID, CLIENT_SECRET } from '../browser/relying-party.js';
import { PASSWORD, settings } from '../browser/settings.js';

const [schemathesis = 'st'] = process.argv.slice(2);
const EXAMPLES = '20';
/** Fixed, so that every run sends the same requests. */
const SEED = '20261124';
/**
 * Excluded, because a schema cannot express rules between parameters or facts that only the service knows. Valid
 * requests may therefore be rejected.
 */
const LEFT_OUT = 'positive_data_acceptance';

const OWN_END = 'finishOAuth2Session';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-admin-api-'));
// As root, the database runs under a different account, which needs access.
chmodSync(folder, 0o711);
const latchkey = await Latchkey.start(folder, 'admin-api', adminSettings());
try {
  for (const username of ['amira', 'bruno', 'cleo']) {
    await latchkey.command(['manage', 'register-user', '--yes', '--password-file', '-', username], PASSWORD);
  }
  // Requests before readiness get 503, so these lines are skipped.
  const linesOfStart = latchkey.logLines().length;
  const code = await probe(await accessToken());
  const faults = latchkey
    .logLines()
    .slice(linesOfStart)
    .filter((line) => / (ERROR|http\.server\.response .*" 5\d\d) /.test(line));
  if (code !== 0) say('FAILED: an answer of the admin API is not the one that is described');
  if (faults.length > 0) say(`FAILED: faults of the service\n${faults.join('\n')}`);
  process.exitCode = code === 0 && faults.length === 0 ? 0 : 1;
} finally {
  await latchkey.stop();
  rmSync(folder, { recursive: true, force: true });
}

function adminSettings() {
  const { clients, policy, rate_limiting, ...others } = settings('http://127.0.0.1/callback');
  const [client] = clients;
  return {
    ...others,
    clients: [{ ...client, grant_types: ['client_credentials'] }],
    policy: { data: { ...policy.data, admin_clients: [CLIENT_ID] } },
    rate_limiting: { ...rate_limiting, admin_token: { per_ip: { burst: 100_000, per_second: 1000 } } },
  };
}

async function accessToken() {
  const answer = await fetch(`${latchkey.base}oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'urn:mas:admin' }),
  });
  const { access_token } = await answer.json();
  return access_token;
}

/**
 * Runs all operations except the one that ends the token's session, then that one.
 * @returns the worse exit code
 */
async function probe(token) {
  const others = await run(token, ['--exclude-operation-id', OWN_END]);
  const end = await run(token, ['--include-operation-id', OWN_END]);
  return Math.max(others, end);
}

async function run(token, operations) {
  const options = ['--header', `Authorization: Bearer ${token}`, '--max-examples', EXAMPLES, '--seed', SEED];
  const args = ['run', `${latchkey.base}api/spec.json`, ...options, ...operations, '--exclude-checks', LEFT_OUT];
  const child = spawn(schemathesis, args, { stdio: 'inherit', cwd: folder });
  const [code] = await once(child, 'close');
  return code;
}
