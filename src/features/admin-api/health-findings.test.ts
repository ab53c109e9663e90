/** What administrators see of the checks of `latchkey doctor` (administration 7). */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';
import { CLIENT, startAdministeredService } from './administered-service.test-support.ts';

const ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';

const RESPONSE = z.object({
  data: z.object({
    checked_at: z.string(),
    findings: z.array(
      z.object({
        code: z.string(),
        subject: z.string().nullable(),
        severity: z.string(),
        message: z.string(),
        remedy: z.string().nullable(),
        documentation: z.string(),
      }),
    ),
  }),
});
type ListedFinding = z.infer<typeof RESPONSE>['data']['findings'][number];

const peer = await sharedByTests(startUpstreamPeer());
const administered = await sharedByTests(
  startAdministeredService({
    upstream_oauth2: {
      providers: [
        {
          id: ID,
          issuer: peer.issuer,
          human_name: 'Harbor',
          client_id: 'latchkey',
          token_endpoint_auth_method: 'none',
        },
      ],
    },
  }),
);

async function findings(): Promise<{ readonly at: string; readonly found: readonly ListedFinding[] }> {
  const admin = await administered.adminOf(CLIENT);
  const response = await admin.get('health-findings');
  expect(response.status).toBe(200);
  const { checked_at: at, findings: found } = RESPONSE.parse(response.body).data;
  return { at, found };
}

const homeserverRequests = () => administered.homeserver.requests.length;

test('shows problems with what to do, the worst first, and checks again only after a minute (S-195)', async () => {
  const { service } = administered;
  await sql(
    service.database,
    `insert into queue_jobs (id, queue, payload, created_at, due_at, failed_at)
     values ($1::uuid, 'send-mail', '{}', now(), now(), $2::timestamptz)`,
    [toUuid(newId(administered.clock.now())), new Date(administered.clock.now())],
  );
  const before = homeserverRequests();
  const [first, second] = await Promise.all([findings(), findings()]);
  const made = homeserverRequests() - before;
  expect(made).toBeGreaterThan(0);
  expect(second).toEqual(first);
  const of = (code: string) => first.found.find((finding) => finding.code === code);
  expect(of('queue')).toMatchObject({
    severity: 'warning',
    message: '1 job is dead',
    remedy: expect.stringContaining('job.dead'),
    documentation: 'docs/guides/operate.md',
  });
  expect(of('database')).toMatchObject({ severity: 'ok', remedy: null });
  expect(of('homeserver.secret')).toMatchObject({ severity: 'ok' });
  expect(of('upstream')).toMatchObject({ severity: 'skipped', subject: ID });
  const ranks = first.found.map(({ severity }) => ['error', 'warning', 'ok', 'skipped'].indexOf(severity));
  expect(ranks).toEqual(ranks.toSorted());

  administered.clock.advanceSeconds(59);
  expect((await findings()).at).toBe(first.at);
  expect(homeserverRequests() - before).toBe(made);
  const provider = parseId<'upstream-provider'>(ID) ?? newId(0);
  service.core.activity.providers.failed(provider, 'client_rejected', administered.clock.now());
  await service.core.activity.flush();
  administered.clock.advanceSeconds(1);
  const later = await findings();
  expect(later.at).not.toBe(first.at);
  expect(later.found.find(({ code }) => code === 'upstream')).toMatchObject({
    severity: 'error',
    subject: ID,
    message: 'Harbor: The provider rejected the client or its secret.',
    remedy: expect.stringContaining('client_secret'),
  });
  // What the doctor alone may request, such as the documents of providers, is not requested.
  expect(peer.count('/.well-known/openid-configuration')).toBe(0);
});
