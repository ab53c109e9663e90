import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { bundleWorker } from '../support/worker-entry.ts';
import { settingsOf } from './guide.ts';
import { readPage } from './pages.ts';

const page = readPage('docs/guides/admin-api.md');
const STRENGTH_WORKER = new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url);
const [GET_TOKEN = '', USE_TOKEN = ''] = page.blocks('sh');

let service: TestService;

beforeAll(async () => {
  const { clients, ...settings } = settingsOf(page);
  const reference = settingsOf(page, 1);
  const both: unknown[] = [clients, reference['clients']].flat();
  service = await startService({ ...settings, clients: both }, { strengthWorker: await bundleWorker(STRENGTH_WORKER) });
});
afterAll(async () => await service.stop());

/** Runs shell commands from the page as a reader pastes them. @returns their output */
async function paste(commands: string): Promise<string> {
  const here = commands.replaceAll('http://localhost:8080', service.address);
  const shell = spawn('sh', ['-e'], { stdio: ['pipe', 'pipe', 'inherit'] });
  shell.stdin.end(here);
  let printed = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const [code] = await once(shell, 'close');
  expect(code).toBe(0);
  return printed;
}

describe('guide "Automate with the admin API"', () => {
  test('has commands that create, find, lock and invite, each with the documented response', async () => {
    const printed = await paste(`${GET_TOKEN}\n${USE_TOKEN}`);
    expect(printed).not.toContain('"errors"');
    expect(
      service
        .requestLines()
        .map(({ method, path, status }) => `${method} ${path.replace(/[0-9A-Z]{26}/, 'ID')} ${status}`),
    ).toEqual([
      'POST /oauth2/token 200',
      'POST /api/admin/v1/users 201',
      'GET /api/admin/v1/users 200',
      'GET /api/admin/v1/users/by-username/maren 200',
      'POST /api/admin/v1/users/ID/set-password 204',
      'POST /api/admin/v1/users/ID/lock 200',
      'POST /api/admin/v1/users/ID/kill-sessions 200',
      'POST /api/admin/v1/user-registration-tokens 201',
    ]);
    expect(printed).toContain('"username":"maren"');
  });

  test('has a token that is valid for the documented time', async () => {
    const printed = await paste(GET_TOKEN.replace(/ADMIN_TOKEN=\$\((.*?) \|\n.*?\)\n.*/s, '$1'));
    expect(JSON.parse(printed)).toMatchObject({ expires_in: 300, scope: 'urn:mas:admin' });
  });

  test.each([
    ['401 `missing_token`', 'curl -s $API/users'],
    ['401 `invalid_token`', 'curl -s -H "Authorization: Bearer " $API/users'],
    ['401 `invalid_token`', 'curl -s -H "Authorization: Bearer mat_x" $API/users'],
    [
      '415 `unsupported_media_type`',
      `curl -s -H "Authorization: Bearer $ADMIN_TOKEN" -d '{"username": "x"}' $API/users`,
    ],
    [
      '403 `insufficient_scope`',
      `OTHER=$(curl -s -u 01JD3Q5Z8W2N4K6M7P9R0S1T4V:a-secret-of-at-least-16-characters -d grant_type=client_credentials http://localhost:8080/oauth2/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
       curl -s -H "Authorization: Bearer $OTHER" $API/users`,
    ],
  ])('documents the reason for %s', async (response, command) => {
    expect(page.text).toContain(`| ${response} |`);
    const { errors } = JSON.parse(await paste(`${GET_TOKEN}\n${command}`));
    expect(`${errors[0].status} \`${errors[0].code}\``).toBe(response);
  });

  test('has a client for the reference whose sign-in returns to it', async () => {
    const response = await fetch(
      `${service.address}/authorize?${new URLSearchParams({
        client_id: '01JD3Q5Z8W2N4K6M7P9R0S1T4W',
        redirect_uri: 'http://localhost:8080/api/doc/oauth2-callback',
        response_type: 'code',
        scope: 'urn:mas:admin',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      })}`,
      { redirect: 'manual' },
    );
    expect([response.status, response.headers.get('location')]).toEqual([303, expect.stringContaining('/login?')]);
  });
});
