import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { type AuthenticatorApp, giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import { Browser, type Page } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { linkAccount } from '#test/support/link-account.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';

const ACTIONS = ['ignore', 'suggest', 'force', 'require'] as const;
const CONFLICTS = ['fail', 'add', 'set', 'replace'] as const;
const VERIFICATIONS = ['import', 'always', 'never'] as const;
const PASSWORD = 'correct horse battery staple';

/** Providers by their behavior, in the order of the configuration. */
const IMPORTS = new Map<string, Readonly<Record<string, unknown>>>([
  ...ACTIONS.map((action) => [`localpart ${action}`, { localpart: { action } }] as const),
  ...ACTIONS.map((action) => [`displayname ${action}`, { displayname: { action } }] as const),
  ...ACTIONS.map((action) => [`email ${action}`, { email: { action } }] as const),
  ...VERIFICATIONS.map(
    (set) => [`verified ${set}`, { email: { action: 'force', set_email_verification: set } }] as const,
  ),
  ...CONFLICTS.map(
    (on_conflict) => [`conflict ${on_conflict}`, { localpart: { action: 'force', on_conflict } }] as const,
  ),
  ['trusted', { localpart: { action: 'force', on_conflict: 'add', trust_provider: true } }],
  ['all forced', { localpart: { action: 'force' }, displayname: { action: 'force' }, email: { action: 'force' } }],
  ['skipping', { localpart: { action: 'require' }, displayname: { action: 'force' }, skip_confirmation: true }],
  ['templates', { localpart: { action: 'suggest', template: '{{ user.email.split("@")[0] | lower }}' } }],
]);
const IDS = new Map([...IMPORTS.keys()].map((name, index) => [name, newId<'upstream-provider'>(index + 1)]));
const OTHER_ID = newId(1000);
let service: TestService;
let count = 0;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const shared = { issuer: peer.issuer, client_id: 'latchkey', token_endpoint_auth_method: 'none' };
  const unlimited = { burst: 100_000, per_second: 100_000 };
  service = await startService({
    account: { second_factor_after_upstream: 'if_enrolled' },
    email: { transport: 'file' },
    rate_limiting: {
      upstream: { per_ip: unlimited },
      login: { per_ip: unlimited },
      registration: unlimited,
      registration_check: unlimited,
      email_authentication: { per_ip: unlimited },
    },
    policy: { data: { emails: { banned_addresses: { suffixes: ['@banned.example'] } } } },
    upstream_oauth2: {
      providers: [
        ...[...IMPORTS].map(([name, imports]) => ({ id: IDS.get(name), ...shared, claims_imports: imports })),
        { id: OTHER_ID, ...shared },
      ],
    },
  });
});
afterAll(async () => {
  await service.stop();
});

type Claims = Readonly<Record<string, unknown>>;

function newName(): string {
  count += 1;
  return `person${count}`;
}

function newBrowser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

/** Returns from the provider, and shows the page. */
async function comeBack(provider: string, claims: Claims, browser = newBrowser()): Promise<Browser> {
  await browser.get(`/upstream/authorize/${IDS.get(provider)}`);
  await browser.get(peer.signIn(browser.page.location ?? '', { claims: { sub: `subject ${newName()}`, ...claims } }));
  await browser.get(browser.page.location ?? '');
  return browser;
}

function inputOf({ forms }: Page, name: string): string | undefined {
  return forms[0]?.inputs.get(name);
}

/** Submits the page and every later step except the code. @returns the account */
async function register(browser: Browser, fields: Readonly<Record<string, string>> = {}) {
  await browser.submit(fields);
  await browser.follow();
  if (browser.page.url.endsWith('display-name')) {
    await browser.submit({ action: 'skip' });
    await browser.follow();
  }
  const { status, url } = browser.page;
  const requester = service.requestLines().findLast(({ path }) => path.endsWith('/finish'))?.requester ?? '';
  const [account] = await sql<{ username: string; display_name: string; email: string | null }>(
    service.database,
    `select u.username, u.display_name, (select e.email from user_emails e where e.user_id = u.id) as email
       from users u where u.username = '${/\((.*)\)/.exec(requester)?.[1] ?? ''}'`,
  );
  return { status, path: new URL(url).pathname, account };
}

function uuidOf(id: string): string {
  return toUuid(parseId(id) ?? expect.fail(`no id: ${id}`));
}

/** Cases: the claim is present, missing or unusable. */
describe.each(ACTIONS)('a username with the action %s', (action) => {
  const provider = `localpart ${action}`;
  const isFixed = action === 'force' || action === 'require';

  test('that is available', async () => {
    const name = newName();
    const browser = await comeBack(provider, { preferred_username: ` ${name} ` });
    expect(browser.page.status).toBe(200);
    expect(inputOf(browser.page, 'username')).toBe(
      { ignore: '', suggest: name, force: undefined, require: undefined }[action],
    );
    if (isFixed) expect(browser.page.text).toContain(name);
    const typed = newName();
    // If the provider decides, the entered value is ignored.
    const { account } = await register(browser, { username: typed });
    expect(account?.username).toBe(isFixed ? name : typed);
  });

  test.each([
    ['is missing', undefined],
    ['is empty', '  '],
    ['is a list', ['amira']],
    ['is an object', { name: 'amira' }],
  ])('that %s', async (_, preferred_username) => {
    const { page: shown } = await comeBack(provider, { preferred_username });
    if (action === 'require') {
      expect(shown).toMatchObject({ status: 422, errorCodes: ['upstream_claim_missing'] });
      expect(shown.text).toContain('localpart');
    } else {
      expect(inputOf(shown, 'username')).toBe('');
    }
  });

  test.each([
    ['other letters', 'amira<script>', 'username-invalid-chars', 'amira-script'],
    ['accents', 'Zoë Müller', 'username-invalid-chars', 'zoe-muller'],
    ['no letters of ours', 'أميرة', 'username-invalid-chars', ''],
    ['control characters', 'ami\u0007\r\nra', 'username-invalid-chars', 'ami-ra'],
    ['too many characters', 'a'.repeat(4000), 'username-too-long', ''],
    ['a reserved name', '_amira', 'username-reserved', 'amira'],
    ['an address', 'amira.q@corp.example', 'username-invalid-chars', 'amira.q'],
    ['digits', '12345', 'username-all-numeric', ''],
    ['an identifier', '01m8fnp7n8wtbq5ypd2n1p034g', 'username-identifier', ''],
    ['a UUID', '0190a5f1-7d5e-7c11-8f3a-2b5d6c7e8f90', 'username-identifier', ''],
  ])('that violates the rules: %s (S-112)', async (_, preferred_username, code, nearest) => {
    const { page: shown } = await comeBack(provider, { preferred_username });
    if (isFixed) {
      expect(shown).toMatchObject({ status: 409, errorCodes: ['upstream_username_rejected'] });
      expect(shown.text).toContain(code);
      const line = service.logLines().findLast((text) => text.includes(' auth.refused '));
      expect(line).toMatch(
        new RegExp(`the username from the provider is not allowed: ${code} .*code=upstream_username_rejected`),
      );
      expect(line).toContain(`provider=${IDS.get(provider)}`);
      // A username is logged only after it has passed validation.
      const reason = line?.slice(line.indexOf('the username from')) ?? '';
      expect(reason).not.toContain(preferred_username);
      expect(reason.length).toBeLessThanOrEqual(300);
    } else {
      expect(shown.status).toBe(200);
      expect(inputOf(shown, 'username')).toBe(action === 'suggest' ? nearest : '');
    }
  });

  test.skipIf(action === 'ignore')('that has capitals is lowercased', async () => {
    const browser = await comeBack(provider, { preferred_username: `Octo-${count}-Cat` });
    const { account } = await register(browser);
    expect(account?.username).toMatch(/^octo-\d+-cat$/);
  });

  test('that exceeds the template limit is ignored (S-112)', async () => {
    const { page: shown } = await comeBack(provider, { preferred_username: 'a'.repeat(20_000) });
    expect(shown.status).toBe({ ignore: 200, suggest: 200, force: 200, require: 422 }[action]);
  });

  test('that is taken, in any case (S-105)', async () => {
    const name = newName();
    await service.registerUser(name, PASSWORD);
    for (const preferred_username of [name, name.toUpperCase()]) {
      const { page: shown } = await comeBack(provider, { preferred_username });
      expect(shown.text).not.toContain(`Continue as ${name}`);
      if (isFixed) expect(shown).toMatchObject({ status: 409, errorCodes: ['upstream_user_exists'] });
      else expect(inputOf(shown, 'username')).toBe('');
    }
    expect(await linksOf(name)).toEqual([]);
  });
});

describe.each(ACTIONS)('a display name with the action %s', (action) => {
  const provider = `displayname ${action}`;
  const isUsed = action !== 'ignore';

  test.each([
    ['that is plain', 'Amira Okafor', 'Amira Okafor'],
    ['that is too long is truncated', 'ä'.repeat(300), 'ä'.repeat(255)],
    ['with markup stays text', '<b>Amira</b>', '<b>Amira</b>'],
  ])('%s', async (_, name, kept) => {
    const browser = await comeBack(provider, { name });
    expect(browser.page.text.includes(kept)).toBe(isUsed);
    expect(browser.page.body).not.toContain('<b>Amira');
    expect(inputOf(browser.page, 'import_display_name')).toBe(action === 'suggest' ? 'on' : undefined);
    const username = newName();
    const { account } = await register(browser, { username });
    expect(account?.display_name).toBe(isUsed ? kept : username);
  });

  test.each([
    ['that is missing', undefined],
    ['with control characters', 'Amira\u0007'],
    ['that turns the text around (S-112)', 'Amira\u202e'],
  ])('%s', async (_, name) => {
    const { page: shown } = await comeBack(provider, { name });
    if (action === 'require') {
      expect(shown).toMatchObject({ status: 422, errorCodes: ['upstream_claim_missing'] });
      expect(shown.text).toContain('displayname');
    } else {
      expect(shown.status).toBe(200);
      expect(inputOf(shown, 'import_display_name')).toBeUndefined();
    }
  });
});

test('a user who rejects the suggested display name is asked for one', async () => {
  const browser = await comeBack('displayname suggest', { name: 'Amira' });
  const form = browser.page.forms[0] ?? expect.fail('no form');
  const fields = new URLSearchParams([...form.inputs].filter(([name]) => name !== 'import_display_name'));
  fields.set('username', newName());
  await browser.post(form.action, fields);
  await browser.follow();
  expect(browser.page.url).toMatch(/display-name$/);
});

describe.each(ACTIONS)('an email address with the action %s', (action) => {
  const provider = `email ${action}`;
  const isUsed = action !== 'ignore';

  test('that the provider verified belongs to the account at once', async () => {
    const email = `${newName()}@mail.example`;
    const browser = await comeBack(provider, { email, email_verified: true });
    expect(browser.page.text.includes(email)).toBe(isUsed);
    expect(inputOf(browser.page, 'import_email')).toBe(action === 'suggest' ? 'on' : undefined);
    const { account } = await register(browser, { username: newName() });
    expect(account?.email).toBe(isUsed ? email : null);
  });

  test('that the provider verified, with letters of any script, belongs to it as well (RFC 6531)', async () => {
    const name = newName();
    const browser = await comeBack(provider, { email: `zoë-${name}@Bücher.example`, email_verified: true });
    const { account } = await register(browser, { username: newName() });
    expect(account?.email).toBe(isUsed ? `zoë-${name}@xn--bcher-kva.example` : null);
  });

  test('that the provider did not verify requires a code (check 23)', async () => {
    const email = `${newName()}@mail.example`;
    const browser = await comeBack(provider, { email, email_verified: false });
    const { path } = await register(browser, { username: newName() });
    if (!isUsed) return expect(path).toBe('/');
    expect(path).toMatch(/verify-email$/);
    expect(browser.page.text).toContain(email);
    const rows = await sql(service.database, `select id from user_emails where email = '${email}'`);
    expect(rows).toEqual([]);
    return undefined;
  });

  test.each([
    ['that is missing', undefined],
    ['that is invalid', 'nonsense'],
    ['with line breaks', 'amira@mail.example\r\nBcc: eve@evil.example'],
    ['that is too long', `${'a'.repeat(300)}@mail.example`],
    ['that is a list', ['amira@mail.example']],
  ])('%s (S-112)', async (_, email) => {
    const { page: shown } = await comeBack(provider, { email, email_verified: true });
    if (action === 'require') {
      expect(shown).toMatchObject({ status: 422, errorCodes: ['upstream_claim_missing'] });
      expect(shown.text).toContain('email');
    } else {
      expect(shown.status).toBe(200);
      expect(shown.text).not.toContain('mail.example');
    }
  });

  test('that the operator banned creates no account with it', async () => {
    const email = `${newName()}@banned.example`;
    const browser = await comeBack(provider, { email, email_verified: true });
    const sent = await browser.submit({ username: newName() });
    if (action === 'force' || action === 'require') {
      expect(sent).toMatchObject({ status: 200, errorCodes: ['email-banned'] });
    } else {
      expect(sent.status).toBe(303);
    }
  });
});

test('a user who rejects the suggested address registers without it', async () => {
  const browser = await comeBack('email suggest', { email: `${newName()}@mail.example`, email_verified: true });
  const form = browser.page.forms[0] ?? expect.fail('no form');
  const fields = new URLSearchParams([...form.inputs].filter(([name]) => name !== 'import_email'));
  const username = newName();
  fields.set('username', username);
  await browser.post(form.action, fields);
  await browser.follow();
  await browser.submit({ action: 'skip' });
  await browser.follow();
  const rows = `select e.email from user_emails e join users u on u.id = e.user_id where u.username = '${username}'`;
  expect(await sql(service.database, rows)).toEqual([]);
});

describe('whether a provider verified an email address (S-104)', () => {
  test.each([
    ['import', true, true],
    ['import', 'true', true],
    ['import', false, false],
    ['import', 'false', false],
    ['import', 1, false],
    ['import', undefined, false],
    ['always', false, true],
    ['always', undefined, true],
    ['never', true, false],
  ])('%s with email_verified %s: %s', async (set, email_verified, isVerified) => {
    const browser = await comeBack(`verified ${set}`, { email: `${newName()}@mail.example`, email_verified });
    const { path } = await register(browser, { username: newName() });
    expect(path).toMatch(isVerified ? /^\/$/ : /verify-email$/);
  });

  test('an address that it forces cannot be replaced by another in the step', async () => {
    const email = `${newName()}@mail.example`;
    const browser = await comeBack('verified never', { email });
    await register(browser, { username: newName() });
    expect(browser.page.forms).toHaveLength(2);
    const other = `${newName()}@mail.example`;
    const sent = await browser.submit({ action: 'change', email: other });
    expect(sent).toMatchObject({ status: 200, errorCodes: ['invalid_action'] });
    expect(sent.text).toContain(email);
    expect(await sql(service.database, `select id from user_email_authentications where email = '${other}'`)).toEqual(
      [],
    );
  });
});

test.each([false, undefined, 'true', 1, true])(
  "another user's address, email_verified %s, never gives access to their account (S-104)",
  async (email_verified) => {
    const owner = newName();
    const email = `${owner}@mail.example`;
    const ownerId = await service.registerUser(owner, PASSWORD);
    await sql(
      service.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       values (gen_random_uuid(), '${uuidOf(ownerId)}', '${email}', '${email}', now())`,
    );
    const browser = await comeBack('email force', { email, email_verified });
    expect(browser.page.text).not.toContain(`Continue as ${owner}`);
    const username = newName();
    const { path, status } = await register(browser, { username });
    expect(status).toBe(200);
    expect(path).toMatch(/(finish|verify-email)$/);
    expect(await linksOf(owner)).toEqual([]);
    expect(await sql(service.database, `select id from users where username = '${username}'`)).toEqual([]);
    expect(await sql(service.database, `select id from user_sessions where user_id = '${uuidOf(ownerId)}'`)).toEqual(
      [],
    );
  },
);

async function withoutPassword(userId: string): Promise<void> {
  await sql(service.database, `delete from user_passwords where user_id = '${uuidOf(userId)}'`);
}

async function linksOf(username: string): Promise<string[]> {
  const rows = await sql<{ subject: string }>(
    service.database,
    `select l.subject from upstream_links l join users u on u.id = l.user_id where u.username = '${username}' order by 1`,
  );
  return rows.map(({ subject }) => subject);
}

describe.each(CONFLICTS)('check 22: a taken username, on_conflict %s', (rule) => {
  const provider = `conflict ${rule}`;

  /** @param links existing links of the account: to another subject at this provider, or at another provider */
  async function owner(links: readonly ('same' | 'other')[], state?: 'locked' | 'deactivated') {
    const name = newName();
    const userId = await service.registerUser(name, PASSWORD);
    await withoutPassword(userId);
    for (const link of links) {
      const providerId = link === 'same' ? (IDS.get(provider) ?? '') : OTHER_ID;
      await linkAccount(service.database, { providerId, userId, subject: `${link} ${name}` });
    }
    await sql(
      service.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       values (gen_random_uuid(), '${uuidOf(userId)}', '${name}@mail.example', '${name}@mail.example', now())`,
    );
    if (state !== undefined) {
      await sql(service.database, `update users set ${state}_at = now() where id = '${uuidOf(userId)}'`);
    }
    return { name, userId };
  }

  const notices = async (name: string): Promise<number> =>
    (
      await sql(
        service.database,
        `select id from queue_jobs where payload ->> 'notice' = 'upstream_linked' and payload ->> 'to' = '${name}@mail.example'`,
      )
    ).length;

  test.each([
    ['nobody', []],
    ['a user of another provider', ['other']],
    ['another user of the provider', ['same']],
    ['both', ['other', 'same']],
  ] as const)('that is linked to %s (S-105)', async (_, links) => {
    const { name, userId } = await owner(links);
    const before = await linksOf(name);
    const subject = `new ${name}`;
    const browser = await comeBack(provider, { sub: subject, preferred_username: name.toUpperCase() });
    expect(await linksOf(name)).toEqual(before);
    if (rule === 'fail') {
      return expect(browser.page).toMatchObject({ status: 409, errorCodes: ['upstream_user_exists'] });
    }
    if (rule === 'set' && (links as readonly string[]).includes('same')) {
      return expect(browser.page).toMatchObject({ status: 409, errorCodes: ['upstream_user_has_link'] });
    }
    expect(browser.page.text).toContain(`Continue as ${name}`);
    expect(service.requestLines().at(-1)?.requester).toBeUndefined();
    const done = await browser.submit();
    expect(done.status).toBe(303);
    expect(service.requestLines().at(-1)?.requester).toBe(`user:${userId}(${name})`);
    const kept = rule === 'replace' ? before.filter((one) => one.startsWith('other')) : before;
    expect(await linksOf(name)).toEqual([...kept, subject].toSorted());
    expect(await notices(name)).toBe(1);
    const kinds = await sql<{ kind: string }>(
      service.database,
      `select kind from audit_events where user_id = '${uuidOf(userId)}' order by kind`,
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['login', 'upstream_linked']));
    return undefined;
  });

  test('of an account deactivated after the page was shown is not granted', async () => {
    const { name } = await owner([], 'deactivated');
    const { page: shown } = await comeBack(provider, { preferred_username: name });
    expect(shown).toMatchObject({ status: 409, errorCodes: ['upstream_user_exists'] });
    expect(await linksOf(name)).toEqual([]);
    if (rule === 'fail') return;
    const late = await owner([]);
    const browser = await comeBack(provider, { preferred_username: late.name });
    await sql(service.database, `update users set deactivated_at = now() where id = '${uuidOf(late.userId)}'`);
    expect((await browser.submit()).errorCodes).toEqual(['upstream_user_exists']);
    expect(await linksOf(late.name)).toEqual([]);
  });

  test('of a locked account stays locked, and gets no link', async () => {
    const { name } = await owner([], 'locked');
    const browser = await comeBack(provider, { preferred_username: name });
    if (rule === 'fail') return expect(browser.page.errorCodes).toEqual(['upstream_user_exists']);
    expect(browser.page.text).toContain('locked');
    const late = await owner([]);
    await comeBack(provider, { preferred_username: late.name }, browser);
    await sql(service.database, `update users set locked_at = now() where id = '${uuidOf(late.userId)}'`);
    expect((await browser.submit()).text).toContain('locked');
    expect([...(await linksOf(name)), ...(await linksOf(late.name))]).toEqual([]);
    return undefined;
  });
});

describe.each(['add', 'set', 'replace'])('a username of a user with a password, on_conflict %s', (rule) => {
  const provider = `conflict ${rule}`;

  test('is linked only after a sign-in with that password', async () => {
    const name = newName();
    const userId = await service.registerUser(name, PASSWORD);
    const former = rule === 'set' ? [] : [`former ${name}`];
    for (const subject of former)
      await linkAccount(service.database, { providerId: IDS.get(provider) ?? '', userId, subject });
    const subject = `new ${name}`;
    const browser = await comeBack(provider, { sub: subject, preferred_username: name.toUpperCase() });
    expect(browser.page).toMatchObject({ status: 303 });
    expect(browser.page.location).toMatch(new RegExp(`/login\\?kind=link_upstream&id=\\w{26}&login_hint=${name}$`));
    await browser.follow();
    expect(inputOf(browser.page, 'username')).toBe(name);
    await browser.submit({ password: 'a wrong one' });
    expect(await linksOf(name)).toEqual(former);
    await browser.submit({ password: PASSWORD });
    await browser.follow();
    expect(await linksOf(name)).toEqual(former);
    await browser.submit({}, { action: new URL(browser.page.url).pathname });
    expect(browser.page.status).toBe(303);
    expect(await linksOf(name)).toEqual(rule === 'replace' ? [subject] : [...former, subject]);
  });

  test('is not handed over by the form either, if the password was set after the page was shown', async () => {
    const name = newName();
    const userId = await service.registerUser(name, PASSWORD);
    const other = newName();
    const otherId = await service.registerUser(other, PASSWORD);
    await withoutPassword(otherId);
    const browser = await comeBack(provider, { preferred_username: other });
    expect(browser.page.text).toContain(`Continue as ${other}`);
    await sql(
      service.database,
      `insert into user_passwords (user_id, id, hash, scheme_version, created_at)
       select '${uuidOf(otherId)}', gen_random_uuid(), hash, scheme_version, now() from user_passwords
        where user_id = '${uuidOf(userId)}'`,
    );
    expect((await browser.submit()).location).toContain('/login?kind=link_upstream');
    expect(await linksOf(other)).toEqual([]);
  });

  test('matches by ASCII case only, with one candidate, and never an administrator', async () => {
    const king = `king${newName()}`;
    await withoutPassword(await service.registerUser(king, PASSWORD));
    const kelvin = await comeBack(provider, { preferred_username: `\u212a${king.slice(1)}` });
    expect(kelvin.page).toMatchObject({ status: 409, errorCodes: ['upstream_username_rejected'] });
    const twin = newName();
    const twinId = await service.registerUser(twin, PASSWORD);
    await withoutPassword(twinId);
    const upper = twin.toUpperCase();
    await sql(
      service.database,
      `insert into users (id, username, username_key, created_at)
       values (gen_random_uuid(), '${upper}', '${upper}', now())`,
    );
    const mixed = await comeBack(provider, { preferred_username: `P${twin.slice(1)}` });
    expect(mixed.page).toMatchObject({ status: 409, errorCodes: ['upstream_username_rejected'] });
    expect((await comeBack(provider, { preferred_username: twin })).page.text).toContain(`Continue as ${twin}`);
    const late = await comeBack(provider, { preferred_username: twin });
    await sql(service.database, `update users set can_request_admin = true where id = '${uuidOf(twinId)}'`);
    expect((await late.submit()).errorCodes).toEqual(['upstream_user_exists']);
    expect((await comeBack(provider, { preferred_username: twin })).page.errorCodes).toEqual(['upstream_user_exists']);
    expect([...(await linksOf(king)), ...(await linksOf(twin))]).toEqual([]);
  });
});

test('with trust_provider an account created by someone beforehand loses its previous access', async () => {
  const name = newName();
  const userId = await service.registerUser(name, PASSWORD);
  await linkAccount(service.database, { providerId: OTHER_ID, userId, subject: `former ${name}` });
  for (const address of [`attacker-${name}@mail.example`, `${name}@mail.example`]) {
    await sql(
      service.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       values (gen_random_uuid(), '${uuidOf(userId)}', '${address}', '${address}', now())`,
    );
  }
  const former = newBrowser();
  await former.get('/login');
  await former.submit({ username: name, password: PASSWORD });
  expect(former.page.status).toBe(303);
  await giveAuthenticatorApp(service.core, userId);
  const subject = `new ${name}`;
  const browser = await comeBack('trusted', {
    ...{ sub: subject, preferred_username: name },
    ...{ email: `${name}@mail.example`, email_verified: true },
  });
  expect(browser.page.text).toContain(`Continue as ${name}`);
  await browser.submit();
  expect(browser.page.status).toBe(303);
  expect(service.requestLines().at(-1)?.requester).toBe(`user:${userId}(${name})`);
  expect(await linksOf(name)).toEqual([subject]);
  const kept = await sql(
    service.database,
    `select (select count(*)::integer from user_passwords where user_id = u.id) as passwords,
            (select count(*)::integer from user_totp_secrets where user_id = u.id) as apps,
            (select count(*)::integer from user_sessions where user_id = u.id and finished_at is null) as sessions,
            (select array_agg(email) from user_emails where user_id = u.id) as emails
       from users u where u.id = '${uuidOf(userId)}'`,
  );
  expect(kept).toEqual([{ passwords: 0, apps: 0, sessions: 1, emails: [`${name}@mail.example`] }]);
});

describe.each(['add', 'set', 'replace'])('a username of a user with a second factor, on_conflict %s', (rule) => {
  const provider = `conflict ${rule}`;

  /** A user who comes from the provider with the account's name, and must enter its code. */
  async function atCode() {
    const name = newName();
    const userId = await service.registerUser(name, PASSWORD);
    await withoutPassword(userId);
    const former = rule === 'set' ? [] : [`former ${name}`];
    for (const subject of former) {
      await linkAccount(service.database, { providerId: IDS.get(provider) ?? '', userId, subject });
    }
    const app = await giveAuthenticatorApp(service.core, userId);
    const subject = `new ${name}`;
    const browser = await comeBack(provider, { sub: subject, preferred_username: name });
    await browser.submit();
    expect(browser.page.location).toMatch(/\/login\/totp$/);
    await browser.follow();
    const type = async (code: string): Promise<Browser> => {
      await browser.submit({ code });
      return browser;
    };
    return { name, userId, former, app, subject, browser, type };
  }

  async function linkedEvents(userId: string): Promise<readonly { readonly has_session: boolean }[]> {
    return await sql<{ has_session: boolean }>(
      service.database,
      `select session_id is not null as has_session from audit_events
        where kind = 'upstream_linked' and user_id = '${uuidOf(userId)}'`,
    );
  }

  function wrongCode(app: AuthenticatorApp): string {
    return app.code() === '000000' ? '000001' : '000000';
  }

  test("is linked only with the owner's code", async () => {
    const { name, userId, former, app, subject, type } = await atCode();
    expect(await linksOf(name)).toEqual(former);
    expect((await type(wrongCode(app))).page.errorCodes).toEqual(['invalid_code']);
    expect(await linksOf(name)).toEqual(former);
    expect(await linkedEvents(userId)).toEqual([]);
    expect((await type(app.code())).page.status).toBe(303);
    expect(service.requestLines().at(-1)?.requester).toBe(`user:${userId}(${name})`);
    expect(await linksOf(name)).toEqual(rule === 'replace' ? [subject] : [...former, subject]);
    expect(await linkedEvents(userId)).toEqual([{ has_session: true }]);
  });

  test('is linked to nobody if the identity got another account before the code was entered', async () => {
    const { name, former, app, subject, type } = await atCode();
    const other = newName();
    const otherId = await service.registerUser(other, PASSWORD);
    await sql(
      service.database,
      `update upstream_links set user_id = '${uuidOf(otherId)}' where subject = '${subject}'`,
    );
    expect((await type(app.code())).page.location).toMatch(/\/login\?notice=/);
    expect(await linksOf(name)).toEqual(former);
    expect(await linksOf(other)).toEqual([subject]);
  });

  test('of an account locked in the meantime gets no link', async () => {
    const { name, userId, former, app, type } = await atCode();
    await sql(service.database, `update users set locked_at = now() where id = '${uuidOf(userId)}'`);
    expect((await type(app.code())).page.text).toContain('locked');
    expect(await linksOf(name)).toEqual(former);
  });

  test('pending in two browsers with one identity completes the sign-in in both', async () => {
    const { name, former, app, subject, type } = await atCode();
    const second = await comeBack(provider, { sub: subject, preferred_username: name });
    await second.submit();
    await second.follow();
    expect((await type(app.code())).page.status).toBe(303);
    await second.get('/login/recovery-code');
    await second.submit({ code: app.recoveryCodes[0] ?? '' });
    expect(service.requestLines().at(-1)?.requester).toContain(`(${name})`);
    expect(await linksOf(name)).toEqual(rule === 'replace' ? [subject] : [...former, subject]);
  });
});

test('an account that reached the link limit before its code was entered gets no link, and nobody is signed in', async () => {
  const name = newName();
  const userId = await service.registerUser(name, PASSWORD);
  await withoutPassword(userId);
  const app = await giveAuthenticatorApp(service.core, userId);
  const browser = await comeBack('conflict add', { preferred_username: name });
  await browser.submit();
  await browser.follow();
  for (let index = 0; index < 20; index += 1) {
    await linkAccount(service.database, { providerId: OTHER_ID, userId, subject: `${name} ${index}` });
  }
  await browser.submit({ code: app.code() });
  expect(browser.page.location).toMatch(/\/login\?notice=/);
  expect(await linksOf(name)).toHaveLength(20);
  expect(await sql(service.database, `select id from user_sessions where user_id = '${uuidOf(userId)}'`)).toEqual([]);
});

test('an account at the link limit gets no further link', async () => {
  const name = newName();
  const userId = await service.registerUser(name, PASSWORD);
  await withoutPassword(userId);
  for (let index = 0; index < 20; index += 1) {
    await linkAccount(service.database, { providerId: OTHER_ID, userId, subject: `${name} ${index}` });
  }
  const browser = await comeBack('conflict add', { preferred_username: name });
  expect(await browser.submit()).toMatchObject({ status: 200, errorCodes: ['too_many_links'] });
  expect(await linksOf(name)).toHaveLength(20);
});

test('a name rendered from a list or a text is treated like any other', async () => {
  const name = newName();
  const { page: shown } = await comeBack('templates', { email: `${name.toUpperCase()}@mail.example` });
  expect(inputOf(shown, 'username')).toBe(name);
});

test('template syntax in a claim is text (S-112)', async () => {
  const { page: shown } = await comeBack('displayname force', { name: '{{ user.sub }}{% for x in [1] %}' });
  expect(shown.text).toContain('{{ user.sub }}{% for x in [1] %}');
});

describe('without confirmation', () => {
  test('the callback starts the registration, and the account is created without a question', async () => {
    const name = newName();
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${IDS.get('skipping')}`);
    const claims = { sub: `subject of ${name}`, preferred_username: name, name: 'Amira' };
    await browser.get(peer.signIn(browser.page.location ?? '', { claims }));
    const came = await browser.get(browser.page.location ?? '');
    expect(came.location).toMatch(/\/register\/steps\/\w{26}\/finish$/);
    expect(service.requestLines().at(-1)?.requester).toBeUndefined();
    await browser.follow();
    expect(service.requestLines().findLast(({ path }) => path.endsWith('/finish'))?.requester).toContain(`(${name})`);
    expect(await linksOf(name)).toEqual([`subject of ${name}`]);
  });

  test('a missing or taken name requires a page', async () => {
    expect((await comeBack('skipping', { name: 'Amira' })).page.errorCodes).toEqual(['upstream_claim_missing']);
    const preferred_username = newName();
    await service.registerUser(preferred_username, PASSWORD);
    const { page: shown } = await comeBack('skipping', { preferred_username, name: 'Amira' });
    expect(shown.errorCodes).toEqual(['upstream_user_exists']);
  });
});

describe('a name forced by the provider', () => {
  test('cannot be replaced if it is taken before the end', async () => {
    const name = newName();
    const browser = await comeBack('localpart force', { preferred_username: name });
    await browser.submit();
    await browser.follow();
    const finish = new URL(browser.page.url).pathname.replace('display-name', 'finish');
    await browser.submit({ action: 'skip' });
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const other = newName();
    await browser.get(finish.replace('finish', 'display-name'));
    const token = browser.page.forms[0]?.inputs.get('csrf') ?? csrf;
    const renamed = await browser.post(
      finish.replace('finish', 'username'),
      new URLSearchParams({ csrf: token, username: other }),
    );
    expect(renamed).toMatchObject({ status: 303, location: `${service.publicBase}${finish.slice(1)}` });
    await service.registerUser(name, PASSWORD);
    expect(await browser.get(finish)).toMatchObject({ status: 409, errorCodes: ['username_taken'] });
    expect(await sql(service.database, `select id from users where username = '${other}'`)).toEqual([]);
  });

  test('and the rest of the claims create the account shown on the page', async () => {
    const name = newName();
    const claims = {
      preferred_username: name,
      name: 'Amira Okafor',
      email: `${name}@mail.example`,
      email_verified: true,
    };
    const browser = await comeBack('all forced', claims);
    expect(browser.page.text).not.toContain(`@${name}:`);
    for (const text of [name, 'Amira Okafor', `${name}@mail.example`]) expect(browser.page.text).toContain(text);
    const { account } = await register(browser);
    expect(account).toEqual({ username: name, display_name: 'Amira Okafor', email: `${name}@mail.example` });
  });
});

test('the page takes one statement, two more for a forced name; its form six, and five more for an account', async () => {
  const costs = (): number | undefined => service.requestLines().at(-1)?.queries;
  await comeBack('localpart ignore', {});
  expect(costs()).toBe(1);
  const browser = await comeBack('localpart force', { preferred_username: newName() });
  expect(costs()).toBe(3);
  await browser.submit();
  expect(costs()).toBe(6);
  const preferred_username = newName();
  await withoutPassword(await service.registerUser(preferred_username, PASSWORD));
  const other = await comeBack('conflict add', { preferred_username });
  expect(costs()).toBe(2);
  await other.submit();
  expect(costs()).toBe(5);
});
