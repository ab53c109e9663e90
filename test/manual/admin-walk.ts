/** Sends one request to each operation of the admin API, to check the statement counts in the manual. */
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { AdminClient } from '../support/admin-client.ts';
import { giveAuthenticatorApp } from '../support/authenticator-app.ts';
import { insertBrowserSession, sql } from '../support/fixtures.ts';
import { givePasskey, passkeyIds } from '../support/passkeys.ts';
import type { TestService } from '../support/service.ts';

const LISTS = [
  'users?filter[active-oauth2-client]=CLIENT',
  'user-emails?filter[user]=USER',
  'user-sessions?filter[user]=USER',
  'oauth2-sessions?filter[user]=USER&filter[client]=CLIENT',
  'compat-sessions?filter[user]=USER',
  'oauth2-clients',
  'upstream-oauth-links?filter[user]=USER&filter[provider]=PROVIDER',
  'upstream-oauth-providers',
  'user-registration-tokens',
];

const MANAGED_CLIENT = { client_auth_method: 'client_secret_basic', redirect_uris: ['https://harbour.example/cb'] };

interface Walk {
  /** A user with active sessions of every kind. */
  readonly username: string;
  readonly token: string;
  readonly clientId: string;
  readonly providerId: string;
  /** A dynamically registered client. It is deleted. */
  readonly dynamicClientId: string;
}

export async function walkAdminApi(service: TestService, walk: Walk): Promise<void> {
  for (const path of ['spec.json', 'doc', 'doc/', 'doc/oauth2-callback']) {
    await fetch(`${service.address}/api/${path}`, { redirect: 'manual' });
  }
  const admin = new AdminClient(service, walk.token);
  await admin.get('site-config');
  await admin.get('effective-configuration');
  await admin.get('version');
  await admin.get('client-presets');
  await admin.get('client-presets/grafana');
  const account = await idOf(admin.get(`users/by-username/${walk.username}`));
  const user = await idOf(admin.post('users', { username: 'managed' }));
  await admin.post(`users/${user}/set-password`, { password: 'seven purple walruses sing quietly' });
  const email = await idOf(admin.post('user-emails', { user_id: user, email: 'managed@mail.example' }));
  const token = await idOf(admin.post('user-registration-tokens', { email: 'guest@mail.example' }));
  await admin.send('PUT', `user-registration-tokens/${token}`, { note: 'For a guest' });
  await admin.post(`user-registration-tokens/${token}/send`);
  await admin.post(`user-registration-tokens/${token}/revoke`);
  await admin.post(`user-registration-tokens/${token}/unrevoke`);
  const policyData = await idOf(admin.post('policy-data', { data: {} }));
  await admin.get('statistics/overview');
  await admin.get('statistics/series?metric=sign_ins');
  await admin.post('policy-data/draft/validate', {
    data: { admin_users: ['nobody'], admin_clients: ['01JD3Q5Z8W2N4K6M7P9R0S1T4X'] },
  });
  await admin.get('policy-data');
  await admin.get('policy-data/latest');
  await admin.get(`policy-data/${policyData}`);
  const { body: events } = await admin.get('audit-events?count=true');
  await admin.get(`audit-events/${events.data?.[0]?.id}`);
  for (const list of LISTS) {
    const query = list.replace('USER', account).replace('CLIENT', walk.clientId).replace('PROVIDER', walk.providerId);
    await admin.get(query);
    const kind = list.replace(/\?.*/, '');
    const isEnded = kind.endsWith('-sessions');
    const { body } = await admin.get(
      `${kind}?page[last]=1${isEnded ? `&filter[status]=active&filter[user]=${account}` : ''}`,
    );
    const id = body.data?.[0]?.id;
    await admin.get(`${kind}/${id}`);
    if (isEnded) await admin.post(`${kind}/${id}/finish`);
  }
  const { body: link } = await admin.post('upstream-oauth-links', {
    user_id: user,
    provider_id: walk.providerId,
    subject: 'managed-there',
  });
  await admin.delete(`upstream-oauth-links/${link.data?.id}`);
  await admin.post(`upstream-oauth-providers/${walk.providerId}/check`);
  await admin.get('health-findings');
  await admin.get(
    `personal-sessions?filter[owner_user]=${user}&filter[owner_client]=${walk.clientId}&filter[actor_user]=${user}`,
  );
  const wanted = { actor_user_id: user, human_name: 'managed', scope: 'openid' };
  const personal = await idOf(admin.post('personal-sessions', wanted));
  await admin.get(`personal-sessions/${personal}`);
  await admin.post(`personal-sessions/${personal}/regenerate`);
  await admin.post(`personal-sessions/${personal}/revoke`);
  await admin.post(`users/${user}/kill-sessions`);
  const managed = await idOf(admin.post('oauth2-clients', MANAGED_CLIENT));
  await admin.send('PATCH', `oauth2-clients/${managed}`, { client_name: 'Harbour' });
  await admin.post(`oauth2-clients/${managed}/rotate-secret`);
  await admin.get(`oauth2-clients/${managed}/connect`);
  await admin.post(`oauth2-clients/${managed}/test`);
  await admin.post(`oauth2-clients/${managed}/disable`);
  await admin.post(`oauth2-clients/${managed}/enable`);
  await admin.delete(`oauth2-clients/${walk.dynamicClientId}`);
  await admin.get(`users/${user}`);
  await admin.get(`users/${user}/details`);
  await admin.post(`users/${user}/set-admin`, { admin: true });
  await admin.send('PUT', `users/${user}/groups`, { groups: ['crew'] });
  await admin.get(`users/${user}/groups`);
  await admin.send('PUT', `users/${user}/claims`, { claims: { department: 'Harbour' } });
  await admin.get(`users/${user}/claims`);
  await admin.get('users?filter[group]=crew');
  const group = await idOf(admin.post('groups', { name: 'pilots' }));
  await admin.get('groups');
  await admin.post(`groups/${group}/users`, { user_ids: [user] });
  await admin.send('PUT', `groups/${group}/users/${account}`);
  await admin.get(`groups/${group}/users`);
  await admin.send('PATCH', `groups/${group}`, { name: 'harbor pilots' });
  await admin.get(`groups/${group}`);
  await admin.delete(`groups/${group}/users/${account}`);
  await admin.delete(`groups/${group}`);
  await giveAuthenticatorApp(service.core, parseId(user) ?? newId(0));
  await admin.post(`users/${user}/remove-second-factors`);
  await givePasskey(service.core, user);
  await admin.delete(`users/${user}/passkeys/${(await passkeyIds(admin, user))[0]}`);
  await admin.post(`users/${user}/recovery-link`, { delivery: 'link' });
  await admin.post(`users/${user}/data-export`);
  await admin.post('users/bulk/status', { action: 'lock', ids: [user] });
  await admin.post(`users/${user}/unlock`);
  await admin.post('sessions/bulk-finish', { kind: 'browser', ids: [await startedBrowserSession(service, user)] });
  await admin.post(`users/${user}/lock`);
  await admin.post(`users/${user}/unlock`);
  await admin.delete(`user-emails/${email}`);
  await sql(
    service.database,
    `insert into queue_jobs (id, queue, payload, created_at, due_at, failed_at)
     values ($1::uuid, 'send-mail', '{}', now(), now(), now())`,
    [toUuid(newId(Date.now()))],
  );
  const job = (await admin.get('jobs?filter[status]=dead')).body.data?.[0]?.id;
  await admin.get(`jobs/${job}`);
  const again = await idOf(admin.post(`jobs/${job}/retry`));
  await admin.delete(`jobs/${again}`);
  await admin.post(`users/${user}/deactivate`);
  await admin.post(`users/${user}/reactivate`);
}

async function startedBrowserSession({ database }: TestService, user: string): Promise<string> {
  return await insertBrowserSession(database, parseId(user) ?? newId(0), Date.now());
}

async function idOf(response: ReturnType<AdminClient['get']>): Promise<string> {
  const { status, body } = await response;
  if (body.data === undefined) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.data.id;
}
