/**
 * Security 4.11, S-102: an account is locked, or a session ends, while something is being issued for it. Each change is
 * made but not committed when the issuing statement arrives. The statement must wait and then issue nothing. Otherwise
 * it would store a session or token that nothing ends.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { sha256 } from '#platform/base/secret.ts';
import { ChatClient, type ChatResponse, textOf } from '../support/chat-client.ts';
import { agreeToSso, loginTokenOf, ssoPath } from '../support/chat-sso.ts';
import { attackedService, C1, C3, PASSWORD } from './attacked-service.ts';
import { HeldChange } from './held-change.ts';

const attacked = attackedService();

/** Everything that can be issued for a user. */
const ISSUED = [
  'user_sessions where finished_at is null',
  'oauth2_authorization_grants where code_hash is not null',
  'oauth2_authorization_grants where exchanged_at is not null',
  'oauth2_sessions where finished_at is null',
  'oauth2_access_tokens where revoked_at is null',
  'oauth2_refresh_tokens where consumed_at is null and revoked_at is null',
  'compat_sso_logins where fulfilled_at is not null',
  'compat_sso_logins where exchanged_at is not null',
  'compat_sessions where finished_at is null',
  'compat_access_tokens where revoked_at is null',
];

const ACCOUNT_CHANGES = [
  ['a lock', "update users set locked_at = created_at where username = 'amira'"],
  ['a deactivation', "update users set deactivated_at = created_at where username = 'amira'"],
] as const;

/** Ends the newest browser session. */
const SIGN_OUT = [
  'a sign-out',
  `update user_sessions set finished_at = created_at, finish_reason = 'logged_out'
    where id = (select id from user_sessions order by created_at desc, id desc limit 1)`,
] as const;

afterEach(async () => {
  await attacked.change('update users set locked_at = null, deactivated_at = null where username = $1::text', [
    'amira',
  ]);
});

async function hold(text: string, params: readonly unknown[] = []): Promise<HeldChange> {
  return await HeldChange.make(attacked.service.connectionString, text, params);
}

/** Counts the rows of each kind. */
async function issued(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const from of ISSUED) counts[from] = await attacked.count(from);
  return counts;
}

/** Removes browser sessions from the counts, because the test itself ends one. */
function withoutSignIns(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([from]) => !from.startsWith('user_sessions')));
}

describe.each([...ACCOUNT_CHANGES, SIGN_OUT])('%s that commits in the middle (S-102)', (_, change) => {
  test('of the redemption of a code: stores no session or token, and the code is not used up', async () => {
    const code = await attacked.code(await attacked.signedIn('amira'), C1);
    const before = await issued();
    const held = await hold(change);
    const response = await held.commitDuring(attacked.exchange(C1, code));
    expect(withoutSignIns(await issued())).toEqual(withoutSignIns(before));
    expect(response.status).toBe(400);
  });

  test('of the creation of a code, by remembered consent: stores none', async () => {
    const browser = await attacked.signedIn('amira');
    await attacked.code(browser, C1);
    const before = await issued();
    const held = await hold(change);
    const page = await held.commitDuring(browser.get(attacked.authorizeUrl(C1)));
    expect(withoutSignIns(await issued())).toEqual(withoutSignIns(before));
    expect(page.location ?? '').not.toContain('code=');
  });

  test('of the creation of a code, by the consent page button: stores none', async () => {
    const browser = await attacked.signedIn('amira');
    await browser.open(attacked.authorizeUrl(C3, { prompt: 'consent' }));
    const before = await issued();
    const held = await hold(change);
    const page = await held.commitDuring(browser.submit({ action: 'consent' }, { action: '/authorize' }));
    expect(withoutSignIns(await issued())).toEqual(withoutSignIns(before));
    expect(page.location ?? '').not.toContain('code=');
  });
});

describe.each([...ACCOUNT_CHANGES, SIGN_OUT])(
  '%s that commits in the middle of single sign-on (S-102)',
  (_, change) => {
    test('of its completion: the client gets no login token', async () => {
      const browser = await attacked.signedIn('amira');
      await browser.open(ssoPath('https://chat.example/'));
      const before = await issued();
      const held = await hold(change);
      const page = await held.commitDuring(agreeToSso(browser));
      expect(withoutSignIns(await issued())).toEqual(withoutSignIns(before));
      expect(page).toMatchObject({ status: 200, location: undefined });
    });

    test('of the exchange of its token: the client gets no session, and the token is not used up', async () => {
      const token = await loginTokenOf(await attacked.signedIn('amira'));
      attacked.secrets.add(token);
      const before = await issued();
      const held = await hold(change);
      const response = await held.commitDuring(
        new ChatClient(attacked.service).post('/login', { type: 'm.login.token', token }),
      );
      expect(withoutSignIns(await issued())).toEqual(withoutSignIns(before));
      expect(response.status).toBeOneOf([401, 403]);
    });
  },
);

describe('the end of a session that commits in the middle (S-102)', () => {
  const END = `update oauth2_sessions set finished_at = created_at, finish_reason = 'revoked'
    where id = (select session_id from oauth2_refresh_tokens where token_hash = $1::bytea)`;

  async function expectNothingIssued(refreshToken: string): Promise<void> {
    const before = await tokensOf(refreshToken);
    const held = await hold(END, [sha256(refreshToken)]);
    const response = await held.commitDuring(attacked.refresh(C1, refreshToken));
    expect(await tokensOf(refreshToken)).toBe(before);
    expect(response.status).toBe(400);
  }

  async function tokensOf(refreshToken: string): Promise<number> {
    const ofSession = 'session_id = (select session_id from oauth2_refresh_tokens where token_hash = $1::bytea)';
    return (
      (await attacked.count(`oauth2_access_tokens where ${ofSession}`, [sha256(refreshToken)])) +
      (await attacked.count(`oauth2_refresh_tokens where ${ofSession}`, [sha256(refreshToken)]))
    );
  }

  test('of a refresh: the session gets no token after its end', async () => {
    const { refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    await expectNothingIssued(refreshToken);
  });

  test('of a refresh whose first response was lost: the session gets no token after its end', async () => {
    const { refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    await attacked.refresh(C1, refreshToken);
    attacked.clock.advanceSeconds(60);
    await expectNothingIssued(refreshToken);
  });
});

describe('a change of the account that commits in the middle (S-102)', () => {
  const PASSWORD_CHANGE = [
    'a change of password',
    `update user_passwords set id = gen_random_uuid()
      where user_id = (select id from users where username = 'amira')`,
  ] as const;

  test.each([...ACCOUNT_CHANGES, PASSWORD_CHANGE])('of a sign-in: %s leaves no session', async (_, change) => {
    const browser = attacked.browser();
    await browser.get('/login');
    const before = await issued();
    const held = await hold(change);
    const page = await held.commitDuring(browser.submit({ username: 'amira', password: PASSWORD }));
    expect(await issued()).toEqual(before);
    expect(page).toMatchObject({ status: 200, location: undefined });
  });

  test.each(ACCOUNT_CHANGES)(
    'of a refresh: after %s the new tokens are as invalid as the old ones',
    async (_, change) => {
      const { refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
      const held = await hold(change);
      const response = await held.commitDuring(attacked.refresh(C1, refreshToken));
      const pair = response.status === 200 ? attacked.held('', response) : undefined;
      for (const token of pair === undefined ? [refreshToken] : [pair.accessToken, pair.refreshToken]) {
        expect(await attacked.introspect(token)).toEqual({ active: false });
      }
      expect((await attacked.refresh(C1, pair?.refreshToken ?? refreshToken)).status).toBe(400);
    },
  );
});

describe('chat clients, while a change commits during the request (S-102)', () => {
  const SESSIONS =
    "compat_sessions s join users u on u.id = s.user_id where u.username = 'bruno' and s.finished_at is null";
  const chat = () => new ChatClient(attacked.service);
  const tokens = async () =>
    (await attacked.count('compat_access_tokens')) + (await attacked.count('compat_refresh_tokens'));
  const refresh = (token: string): Promise<ChatResponse> => chat().post('/refresh', { refresh_token: token });

  async function begin(): Promise<string> {
    return textOf(await chat().tryLogin('bruno', PASSWORD, { refresh_token: true }), 'refresh_token');
  }

  afterEach(async () => {
    await attacked.change("update users set locked_at = null, deactivated_at = null where username = 'bruno'");
  });

  const CHANGES = [
    ['a lock', "update users set locked_at = created_at where username = 'bruno'", 'M_USER_LOCKED'],
    ['a deactivation', "update users set deactivated_at = created_at where username = 'bruno'", 'M_USER_DEACTIVATED'],
    [
      'a new password',
      "update user_passwords p set id = gen_random_uuid() from users u where u.id = p.user_id and u.username = 'bruno'",
      'M_FORBIDDEN',
    ],
  ] as const;

  test.each(CHANGES)('%s: a login opens no session', async (_, change, errcode) => {
    const before = await attacked.count(SESSIONS);
    const held = await hold(change);
    const response = await held.commitDuring(chat().tryLogin('bruno', PASSWORD));
    expect(response.body['errcode']).toBe(errcode);
    expect(await attacked.count(SESSIONS)).toBe(before);
  });

  const END = `update compat_sessions set finished_at = created_at, finish_reason = 'logout'
    where id = (select session_id from compat_refresh_tokens where token_hash = $1::bytea)`;

  test('the end of the session: a refresh gets no token', async () => {
    const token = await begin();
    const before = await tokens();
    const held = await hold(END, [sha256(token)]);
    const response = await held.commitDuring(refresh(token));
    expect([response.status, await tokens()]).toEqual([401, before]);
  });

  test('the end of the session: a refresh whose first response was lost gets no token', async () => {
    const token = await begin();
    await refresh(token);
    attacked.clock.advanceSeconds(60);
    const before = await tokens();
    const held = await hold(END, [sha256(token)]);
    const response = await held.commitDuring(refresh(token));
    expect([response.status, await tokens()]).toEqual([401, before]);
  });
});
