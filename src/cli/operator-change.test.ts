import { beforeEach, expect, test } from 'vitest';

import { toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertClient, sql } from '#test/support/fixtures.ts';
import { startPages } from '#test/support/page-service.ts';
import { openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { operationText } from '../../web/admin/pages/audit/kinds.ts';
import type { ManageDeps } from './accounts.ts';
import { demoteAdminCommand, promoteAdminCommand } from './admins.ts';
import { deleteClientCommand } from './delete-client.ts';
import { issuePersonalTokenCommand } from './issue-personal-token.ts';
import { killSessionsCommand } from './kill-sessions.ts';
import { lockUserCommand, unlockUserCommand } from './lock-user.ts';
import { manageDeps, type Printed } from './manage-deps.test-support.ts';
import { registerUserCommand } from './register-user.ts';
import { removeSecondFactorsCommand } from './remove-second-factors.ts';
import { setDisplayNameCommand } from './set-display-name.ts';
import { setClaimsCommand, setGroupsCommand } from './user-claims.ts';
import { addEmailCommand, removeEmailCommand } from './user-emails.ts';

let deps: ManageDeps;
let user: UserId;
let name: string;
let count = 0;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const service = await sharedByTests(startPages(testDatabase.database, { registration: { estimator } }));
beforeEach(async () => {
  const printed: Printed = { out: '', err: '' };
  deps = manageDeps(service, printed);
  count += 1;
  name = `cai${count}`;
  user = await insertTestAccount(testDatabase.database, { username: name, email: `${name}@mail.example` });
  await sql(testDatabase.database, `delete from audit_events where kind = 'admin_action'`);
});

async function actions() {
  return await sql<{ operation: string; target: string; user: string | null; changed: unknown }>(
    testDatabase.database,
    `select detail ->> 'operation' as operation, detail ->> 'target' as target, user_id as user,
            detail -> 'changed' as changed
       from audit_events
      where kind = 'admin_action' and detail ->> 'actor' = 'operator' and ip is null and user_agent is null
        and client_id is null
      order by operation`,
  );
}

const json = false;

test.each<[string, string[] | null, () => Promise<void>]>([
  ['promote-admin', ['admin'], () => promoteAdminCommand(deps, { user: name, json })],
  ['demote-admin', ['admin'], () => demoteAdminCommand(deps, { user: name, killSessions: false, json })],
  ['lock-user', ['locked_at'], () => lockUserCommand(deps, { user: name, deactivate: false, erase: false, json })],
  [
    'lock-user',
    ['locked_at', 'deactivated_at'],
    () => lockUserCommand(deps, { user: name, deactivate: true, erase: false, json }),
  ],
  ['unlock-user', ['locked_at'], () => unlockUserCommand(deps, { user: name, reactivate: false, json })],
  ['kill-sessions', null, () => killSessionsCommand(deps, { user: name, dryRun: false, keepsPersonal: false, json })],
  ['remove-second-factors', null, () => removeSecondFactorsCommand(deps, { user: name, json })],
  ['set-display-name', ['displayname'], () => setDisplayNameCommand(deps, { user: name, displayName: 'Cai', json })],
  ['set-groups', ['groups'], () => setGroupsCommand(deps, { user: name, groups: ['crew'], json })],
  ['set-claims', ['claims'], () => setClaimsCommand(deps, { user: name, claims: '{"berth":7}', json })],
  ['add-email', ['email'], () => addEmailCommand(deps, { user: name, email: `more.${name}@mail.example`, json })],
  ['remove-email', ['email'], () => removeEmailCommand(deps, { user: name, email: `${name}@mail.example`, json })],
])(
  '%s records %j as an action of the operator, without values (administration A-20)',
  async (operation, changed, run) => {
    await run();
    expect(await actions()).toEqual([{ operation, target: user, user: toUuid(user), changed }]);
    expect(operationText(operation), 'the admin area has a text for it').toBeDefined();
  },
);

test('records new accounts, tokens and deleted clients', async () => {
  await registerUserCommand(deps, {
    username: `new-${name}`,
    emails: [],
    upstreamProviderMapping: [],
    yes: true,
    ignorePasswordComplexity: false,
    skipHomeserverCheck: true,
    json,
  });
  await issuePersonalTokenCommand(deps, {
    ...{ actor: name, owner: undefined, name: 'Backup', scope: 'openid', expiresInSeconds: undefined, json },
  });
  const { database, clock, keyRing } = service.core;
  const client = await insertClient(database, keyRing, clock.now(), { isStatic: false });
  await deleteClientCommand(deps, { clientId: client, json });
  expect(await actions()).toMatchObject([
    { operation: 'delete-client', target: client, user: null },
    { operation: 'issue-personal-token', user: toUuid(user) },
    { operation: 'register-user' },
  ]);
});

test('records nothing if nothing is changed', async () => {
  await killSessionsCommand(deps, { user: name, dryRun: true, keepsPersonal: false, json });
  await addEmailCommand(deps, { user: name, email: `${name}@mail.example`, json });
  await expect(removeEmailCommand(deps, { user: name, email: 'nobody@mail.example', json })).rejects.toThrow();
  expect(await actions()).toEqual([]);
});
