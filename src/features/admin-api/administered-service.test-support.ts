/** Setup for tests of the API: a service with a homeserver, and clients that administer it with their own tokens. */
import { toUuid } from '#platform/base/ids.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { AdminClient } from '#test/support/admin-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import {
  type StandInHomeserver,
  startStandInHomeserver,
} from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import type { UserId } from '#vocabulary/ids.ts';

export const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
export const SECOND_CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T5X';
/** An ID that does not exist. */
export const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
/** The homeserver's shared secret. */
export const SECRET = 'shared-secret-of-the-test';
/** The password of every user. */
export const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };

export interface TestUser {
  readonly id: UserId;
  readonly uuid: string;
  readonly username: string;
}

export interface AdministeredService {
  readonly clock: FakeClock;
  readonly homeserver: StandInHomeserver;
  readonly service: TestService;
  /** Returns an API client with this client's token. */
  adminOf(client: string): Promise<AdminClient>;
  /** Creates a new user, here and at the homeserver. */
  person(): Promise<TestUser>;
  /** Returns the payloads of an account's waiting jobs. */
  jobsOf(uuid: string, queue: string): Promise<readonly { readonly payload: object }[]>;
  stop(): Promise<void>;
}

/**
 * @param settings additional settings; `clients` replaces the two default clients, which use only client credentials
 * @param administers clients with administrator rights
 */
export async function startAdministeredService(
  settings: Readonly<Record<string, unknown>> = {},
  administers: readonly string[] = [CLIENT],
  expectedErrors: readonly string[] = [],
  outbound?: OutboundHttp,
): Promise<AdministeredService> {
  const clock = new FakeClock();
  const homeserver = await startStandInHomeserver(SECRET, 'chat.example');
  const { endpoint, serverName } = homeserver;
  const service = await startService(
    {
      homeserver: { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET },
      rate_limiting: {
        admin_token: { per_ip: HIGH_LIMIT },
        login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
      },
      experimental: { access_token_ttl: 86_400 },
      clients: [CLIENT, SECOND_CLIENT].map((id) => chatClientSettings(id, { grant_types: ['client_credentials'] })),
      policy: { data: { admin_clients: administers } },
      ...settings,
    },
    { clock, expectedErrors, ...(outbound !== undefined && { outbound }) },
  );
  let users = 0;
  return {
    ...{ clock, homeserver, service },
    adminOf: async (client) => {
      const program = new ChatOAuthClient(service, client);
      const form = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
      const { body } = await program.post('/oauth2/token', form);
      return new AdminClient(service, String(body['access_token']));
    },
    person: async () => {
      users += 1;
      // IDs created at the same instant have no defined order.
      clock.advanceSeconds(1);
      const username = `nele${users}`;
      const account = { username, password: PASSWORD };
      const id = await insertTestAccount(service.database, account, { hasher: service.core.hasher, now: clock.now() });
      homeserver.addUser(username);
      return { id, username, uuid: toUuid(id) };
    },
    jobsOf: async (uuid, queue) =>
      await sql<{ payload: object }>(
        service.database,
        `select payload from queue_jobs
          where queue = $2::text and payload ->> 'user_id' = $1::text and failed_at is null order by created_at, id`,
        [uuid, queue],
      ),
    stop: async () => {
      await service.stop();
      await homeserver.stop();
    },
  };
}
