/** Users verify an additional email address with a code (account-graphql 2.4, 2.5, 5.1). */
import { describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { type ReceivedMail, startMails } from '#test/support/mails.ts';
import { codeSentTo } from '#test/support/registering.ts';
import { type ServiceOptions, startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';

const clock = new FakeClock();
let users = 0;

const START = `mutation AddEmail($email: String!, $password: String, $language: String! = "en") {
  startEmailAuthentication(input: { email: $email, password: $password, language: $language }) {
    status violations authentication { id email createdAt completedAt }
  }
}`;
const RESEND = `mutation ResendEmailAuthenticationCode($id: ID!, $language: String! = "en") {
  resendEmailAuthenticationCode(input: { id: $id, language: $language }) { status }
}`;
const COMPLETE = `mutation DoVerifyEmail($id: ID!, $code: String!) {
  completeEmailAuthentication(input: { id: $id, code: $code }) { status }
}`;
const EMAILS = '{ viewer { ... on User { emails { totalCount nodes { id email createdAt confirmedAt } } } } }';

const mails = await sharedByTests(startMails());
const service = await sharedByTests(start({}));

async function start(settings: Readonly<Record<string, unknown>>, options: ServiceOptions = {}): Promise<TestService> {
  return await startService(
    {
      email: { ...mails.settings, ...Object(settings['email']) },
      policy: { data: { emails: { banned_addresses: { suffixes: ['@banned.example'] } } } },
      ...settings,
      rate_limiting: {
        graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
        login: { per_ip: HIGH_LIMIT },
        email_authentication: { per_ip: HIGH_LIMIT },
        ...Object(settings['rate_limiting']),
      },
    },
    { clock, ...options },
  );
}

interface TestUser {
  readonly id: string;
  readonly username: string;
  /** The address that the account was created with. */
  readonly email: string;
  readonly here: GraphqlClient;
}

async function newUser(of: TestService = service): Promise<TestUser> {
  users += 1;
  const username = `person${users}`;
  const email = `${username}@mail.example`;
  const id = await of.registerUser(username, PASSWORD);
  await sql(
    of.database,
    `insert into user_emails (id, user_id, email, email_key, created_at) values ($1, $2, $3, $3, $4)`,
    [toUuid(newId(clock.now() - 1)), uuid(id), email, new Date(clock.now())],
  );
  return { id, username, email, here: await GraphqlClient.signedIn(of, username, PASSWORD) };
}

function uuid(id: string): string {
  return toUuid(parseId(id) ?? expect.fail('no id'));
}

async function rows<Row extends object>(text: string, ...params: unknown[]): Promise<Row[]> {
  return await sql<Row>(service.database, text, params);
}

async function emailsOf({ here }: TestUser): Promise<string[]> {
  const { data } = await here.query(EMAILS);
  const nodes: { email: string }[] = Object(data).viewer.emails.nodes;
  return nodes.map(({ email }) => email);
}

async function begin(someone: TestUser, email: string, more: object = {}) {
  const response = await someone.here.query(START, { email, password: PASSWORD, ...more });
  return { answer: response, codes: codesOf(response), ...Object(response.data).startEmailAuthentication };
}

/** Starts an email authentication and waits for its email. */
async function begun(
  someone: TestUser,
  email: string,
  of: TestService = service,
): Promise<{ id: string; code: string }> {
  const { status, authentication } = await begin(someone, email);
  expect(status).toBe('STARTED');
  return { id: authentication.id, code: codeSentTo(email, await mails.deliver(of.core)) };
}

async function complete(someone: TestUser, id: string, code: string): Promise<unknown> {
  const response = await someone.here.query(COMPLETE, { id, code });
  return Object(response.data).completeEmailAuthentication?.status ?? codesOf(response);
}

async function resend(someone: TestUser, id: string): Promise<unknown> {
  return Object((await someone.here.query(RESEND, { id })).data).resendEmailAuthenticationCode.status;
}

function wrong(code: string): string {
  return String((Number(code) + 1) % 1_000_000).padStart(6, '0');
}

const to = (arrived: readonly ReceivedMail[]): string[] => arrived.map((mail) => mail.to).toSorted();
const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/POST-\d+/g, 'POST')}`;

describe('an email address', () => {
  test('accepts letters of any script, and belongs to one account in all its spellings (RFC 6531)', async () => {
    const ada = await newUser();
    const { status, authentication } = await begin(ada, 'Zoë@Bücher.example');
    expect(status).toBe('STARTED');
    expect(authentication.email).toBe('Zoë@xn--bcher-kva.example');
    const code = codeSentTo('Zoë@bücher.example', await mails.deliver(service.core));
    expect(await complete(ada, authentication.id, code)).toBe('COMPLETED');
    expect(to(await mails.deliver(service.core))).toEqual([ada.email]);
    expect(await emailsOf(ada)).toContain('Zoë@xn--bcher-kva.example');
    expect(await begin(ada, 'ZOE\u0308@xn--bcher-kva.EXAMPLE')).toMatchObject({ status: 'IN_USE' });
    expect(await begin(ada, 'zo\u200bë@mail.example')).toMatchObject({ status: 'INVALID_EMAIL_ADDRESS' });
  });

  test('is rejected with a reason once the mail server is known not to support its characters', async () => {
    const old = await startMails({ hideSMTPUTF8: true });
    const other = await start({ email: old.settings });
    const ada = await newUser(other);
    await begin(ada, 'ada.second@mail.example');
    await old.deliver(other.core);
    expect(await begin(ada, 'zoë@mail.example')).toMatchObject({
      status: 'DENIED',
      violations: [expect.stringContaining('cannot send email to addresses with letters such as “ü”')],
    });
    await other.stop();
    await old.stop();
  });

  test('is added once its code is entered, and existing addresses are notified', async () => {
    const ada = await newUser();
    const { status, violations, authentication } = await begin(ada, 'Ada.New@Mail.example');
    expect({ status, violations }).toEqual({ status: 'STARTED', violations: null });
    expect(authentication).toEqual({
      id: expect.stringMatching(/^user_email_authentication:/),
      email: 'Ada.New@mail.example',
      createdAt: new Date(clock.now()).toISOString(),
      completedAt: null,
    });
    expect(service.logLines().at(-1)).toMatch(
      /requester=user:\w+\(person\d+\).* graphql\.operation\.type=mutation graphql\.operation\.name=AddEmail$/,
    );
    const sent = await mails.deliver(service.core);
    expect(to(sent)).toEqual(['Ada.New@mail.example']);
    expect(sent[0]?.text).toContain(ada.username);
    const code = codeSentTo('Ada.New@mail.example', sent);
    expect(await emailsOf(ada)).toEqual([ada.email]);

    clock.advanceSeconds(1);
    expect(await complete(ada, authentication.id, ` ${code.slice(0, 3)}-${code.slice(3)} `)).toBe('COMPLETED');
    expect(await emailsOf(ada)).toEqual([ada.email, 'Ada.New@mail.example']);
    const notices = await mails.deliver(service.core);
    expect(to(notices)).toEqual([ada.email]);
    expect(notices[0]).toMatchObject({ subject: 'Email address added' });
    expect(notices[0]?.text).toContain('A…@');
    expect(
      await rows('select detail from audit_events where kind = $1 and user_id = $2', 'email_added', uuid(ada.id)),
    ).toEqual([{ detail: { email: 'A…@mail.example' } }]);
    const again = await ada.here.query(
      'query($id: ID!) { userEmailAuthentication(id: $id) { id email completedAt } node(id: $id) { id } }',
      { id: authentication.id },
    );
    expect(again.data).toEqual({
      userEmailAuthentication: {
        id: authentication.id,
        email: 'Ada.New@mail.example',
        completedAt: new Date(clock.now()).toISOString(),
      },
      node: { id: authentication.id },
    });
    expect(await complete(ada, authentication.id, code)).toBe('INVALID_CODE');
  });

  test.each([
    ['without @', 'nobody', 'INVALID_EMAIL_ADDRESS'],
    ['with blanks around it', ' x@mail.example', 'INVALID_EMAIL_ADDRESS'],
    ['with two lines', 'x@mail.example\r\nBcc: y@mail.example', 'INVALID_EMAIL_ADDRESS'],
    ['with a local part of 65 characters', `${'x'.repeat(65)}@mail.example`, 'INVALID_EMAIL_ADDRESS'],
    ['that the operator does not want', 'someone@banned.example', 'DENIED'],
  ])('%s is rejected, and no mail is sent', async (_, email, status) => {
    const bea = await newUser();
    const { status: given, violations, authentication } = await begin(bea, email);
    expect([given, authentication]).toEqual([status, null]);
    expect(violations).toEqual(status === 'DENIED' ? ['This email address cannot be used here.'] : null);
    expect(await mails.deliver(service.core)).toEqual([]);
  });

  test("already on the user's account is in use, ignoring case", async () => {
    const cleo = await newUser();
    expect((await begin(cleo, cleo.email.toUpperCase())).status).toBe('IN_USE');
  });

  test('of another account starts like any other, and is reported as in use after the right code', async () => {
    const [dora, owner] = [await newUser(), await newUser()];
    const { id, code } = await begun(dora, owner.email);
    expect(await complete(dora, id, wrong(code))).toBe('INVALID_CODE');
    expect(await complete(dora, id, code)).toBe('IN_USE');
    const { data } = await dora.here.query('query($id: ID!) { userEmailAuthentication(id: $id) { completedAt } }', {
      id,
    });
    expect(Object(data).userEmailAuthentication.completedAt).not.toBeNull();
    expect([await emailsOf(dora), await emailsOf(owner)]).toEqual([[dora.email], [owner.email]]);
    expect(await mails.deliver(service.core)).toEqual([]);
  });

  test.each([
    ['other letter case', (email: string) => email.toUpperCase(), 'IN_USE'],
    ['its domain written otherwise', (email: string) => email.replace('@mail', '@ｍail'), 'IN_USE'],
    ['a tag', (email: string) => email.replace('@', '+tag@'), 'COMPLETED'],
    ['a Cyrillic letter in its domain', (email: string) => email.replace('@mail', '@mаil'), 'COMPLETED'],
  ])(
    'resembling one of another account, by %s, is the same address or a separate mailbox (S-98)',
    async (_, twin, end) => {
      const [guest, owner] = [await newUser(), await newUser()];
      const { status, authentication } = await begin(guest, twin(owner.email));
      expect(status).toBe('STARTED');
      const [mail = expect.fail('no mail')] = await mails.deliver(service.core);
      // Only the entered mailbox receives an email. It is the owner's mailbox only if the address is the same.
      expect(mail.to.toLowerCase() === owner.email).toBe(end === 'IN_USE');
      expect(await complete(guest, authentication.id, codeSentTo(mail.to, [mail]))).toBe(end);
      expect(await emailsOf(owner)).toEqual([owner.email]);
      await mails.deliver(service.core);
    },
  );

  test('gets at most three mails an hour, across all requesters (S-94)', async () => {
    const requested = [];
    for (let count = 0; count < 5; count += 1)
      requested.push((await begin(await newUser(), 'target@mail.example')).status);
    expect(requested).toEqual(['STARTED', 'STARTED', 'STARTED', 'RATE_LIMITED', 'RATE_LIMITED']);
    expect(to(await mails.deliver(service.core))).toEqual(Array.from({ length: 3 }, () => 'target@mail.example'));
  });

  test('is limited to twenty per account (security 3.10)', async () => {
    const emil = await newUser();
    const [id, at] = [uuid(emil.id), new Date(clock.now())];
    await rows(
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select gen_random_uuid(), $1, address, address, $2
         from generate_series(1, 18) n, lateral (select 'emil' || n || '@mail.example') as a (address)`,
      id,
      at,
    );
    const [one, other] = [await begun(emil, 'emil-x@mail.example'), await begun(emil, 'emil-y@mail.example')];
    expect(await complete(emil, one.id, one.code)).toBe('COMPLETED');
    // Started before the account reached its limit.
    expect(await complete(emil, other.id, other.code)).toEqual(['FORBIDDEN']);
    const { status, violations } = await begin(emil, 'emil-z@mail.example');
    expect([status, violations]).toEqual(['DENIED', ['You have reached the limit of 20 email addresses.']]);
  });

  test('gets mail in the requested language, the closest one, or English', async () => {
    const fay = await newUser();
    const languages: (string | undefined)[] = [];
    for (const language of ['de-AT', 'tlh', 'fr']) {
      expect((await begin(fay, `fay-${language}@mail.example`, { language })).status).toBe('STARTED');
      const sent = await mails.deliver(service.core);
      const mail = sent.find((one) => one.to === `fay-${language}@mail.example`);
      languages.push(mail?.html.match(/<html lang="(\w+)"/)?.[1]);
    }
    expect(languages).toEqual(['de', 'en', 'fr']);
    for (const language of ['', 'en_US', 'x'.repeat(9), 'en\r\n']) {
      expect((await begin(fay, 'fay@mail.example', { language })).codes).toEqual(['BAD_USER_INPUT']);
    }
  });

  test('proven by two accounts concurrently is added to one of them (S-99)', async () => {
    const [one, other] = [await newUser(), await newUser()];
    const [first, second] = [await begun(one, 'both@mail.example'), await begun(other, 'both@mail.example')];
    await mails.deliver(service.core);
    const outcomes = await Promise.all([
      complete(one, first.id, first.code),
      complete(other, second.id, second.code),
      complete(one, first.id, first.code),
    ]);
    expect(outcomes.toSorted()).toEqual(['COMPLETED', 'INVALID_CODE', 'IN_USE']);
    expect(await rows('select id from user_emails where email_key = $1', 'both@mail.example')).toHaveLength(1);
  });

  test('is sent to the homeserver, if there is one', async () => {
    const connected = await start(
      { homeserver: { kind: 'synapse', homeserver: 'example.org', endpoint: 'http://127.0.0.1:9', secret: 'x' } },
      { like: service },
    );
    try {
      const gus = await newUser(connected);
      await rows('delete from queue_jobs');
      const { id, code } = await begun(gus, 'gus-new@mail.example', connected);
      expect(await complete(gus, id, code)).toBe('COMPLETED');
      const waiting = "select payload ->> 'user_id' as user_id from queue_jobs where queue = 'provision-user'";
      expect(await rows(waiting)).toEqual([{ user_id: uuid(gus.id) }]);
      await rows('delete from queue_jobs');
    } finally {
      await connected.stop();
    }
  });
});

describe('a verification code', () => {
  test('works for five minutes, and is then reported as expired rather than wrong', async () => {
    const hal = await newUser();
    const { id, code } = await begun(hal, 'hal-new@mail.example');
    clock.advanceSeconds(301);
    expect(await complete(hal, id, wrong(code))).toBe('INVALID_CODE');
    expect(await complete(hal, id, code)).toBe('CODE_EXPIRED');
    expect(await resend(hal, id)).toBe('RESENT');
    const newer = codeSentTo('hal-new@mail.example', await mails.deliver(service.core));
    expect(await complete(hal, id, code === newer ? wrong(code) : code)).toBe('INVALID_CODE');
    expect(await complete(hal, id, newer)).toBe('COMPLETED');
    expect(await resend(hal, id)).toBe('COMPLETED');
    await mails.deliver(service.core);
  });

  test('can be resent twice at once, and allows ten attempts (S-91)', async () => {
    const ida = await newUser();
    const { id, code } = await begun(ida, 'ida-new@mail.example');
    expect([await resend(ida, id), await resend(ida, id)]).toEqual(['RESENT', 'RATE_LIMITED']);
    const newer = codeSentTo('ida-new@mail.example', await mails.deliver(service.core));
    const tried: unknown[] = [];
    for (let count = 0; count < 11; count += 1) tried.push(await complete(ida, id, wrong(newer)));
    expect(tried).toEqual([...Array.from({ length: 10 }, () => 'INVALID_CODE'), 'RATE_LIMITED']);
    expect(await complete(ida, id, newer)).toBe('RATE_LIMITED');
    expect(code).toMatch(/^\d{6}$/);
  });

  test('stops working after thirty wrong attempts, or after an hour', async () => {
    const jo = await newUser();
    const dead = await begun(jo, 'jo-dead@mail.example');
    for (let count = 0; count < 30; count += 1) {
      clock.advanceSeconds(60);
      expect(await complete(jo, dead.id, '12-34')).toBe('INVALID_CODE');
    }
    clock.advanceSeconds(60);
    expect(await complete(jo, dead.id, dead.code)).toBe('RATE_LIMITED');
    expect(await resend(jo, dead.id)).toBe('COMPLETED');
    const old = await begun(jo, 'jo-old@mail.example');
    clock.advanceSeconds(3600);
    expect([await complete(jo, old.id, old.code), await resend(jo, old.id)]).toEqual(['CODE_EXPIRED', 'COMPLETED']);
  });

  test('of another session is unknown, even to the same user (S-128)', async () => {
    const kim = await newUser();
    const { id, code } = await begun(kim, 'kim-new@mail.example');
    const elsewhere = await GraphqlClient.signedIn(service, kim.username, PASSWORD);
    const absent = `user_email_authentication:${ABSENT}`;
    const read = 'query($id: ID!) { userEmailAuthentication(id: $id) { id } node(id: $id) { id } }';
    for (const other of [elsewhere, (await newUser()).here, new GraphqlClient(service)]) {
      for (const [document, variables] of [
        [COMPLETE, { code }],
        [RESEND, {}],
        [read, {}],
      ] as const) {
        const foreign = await other.query(document, { id, ...variables });
        expect(body(foreign)).toBe(body(await other.query(document, { id: absent, ...variables })));
      }
    }
    expect(await complete({ ...kim, here: elsewhere }, id, code)).toBe('INVALID_CODE');
    expect(await resend({ ...kim, here: elsewhere }, id)).toBe('COMPLETED');
    expect(codesOf(await new GraphqlClient(service).query(COMPLETE, { id, code }))).toEqual(['UNAUTHENTICATED']);
    expect(await complete(kim, id, code)).toBe('COMPLETED');
    await mails.deliver(service.core);
  });

  test('of a sixth verification cancels the first', async () => {
    const lea = await newUser();
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      clock.advanceSeconds(1);
      ids.push((await begin(lea, `lea${count}@mail.example`)).authentication.id);
    }
    const first = codeSentToAny(await mails.deliver(service.core));
    const states = ids.map(async (id) => {
      const { data } = await lea.here.query('query($id: ID!) { node(id: $id) { id } }', { id });
      return Object(data).node !== null;
    });
    expect(await Promise.all(states)).toEqual([false, true, true, true, true, true]);
    expect(await complete(lea, ids[0] ?? '', first)).toBe('INVALID_CODE');
  });
});

function codeSentToAny(arrived: readonly ReceivedMail[]): string {
  return arrived.flatMap(({ subject }) => /\b\d{6}\b/.exec(subject) ?? [])[0] ?? '000000';
}

describe('starting a verification', () => {
  test('requires the password, checked before mails are counted, and counts as an authentication', async () => {
    const mia = await newUser();
    clock.advanceSeconds(3600);
    for (const password of [undefined, null, '', 'wrong']) {
      expect((await begin(mia, 'mia-new@mail.example', { password })).status).toBe('INCORRECT_PASSWORD');
    }
    const cookie = mia.here.browser?.cookies.get('latchkey_session');
    const { status, answer: response } = await begin(mia, 'mia-new@mail.example');
    expect(status).toBe('STARTED');
    expect(response.headers.get('set-cookie')).toMatch(/latchkey_session=/);
    expect(cookie).toBeDefined();
    expect(
      await rows('select id from audit_events where kind = $1 and user_id = $2', 'reauthenticated', uuid(mia.id)),
    ).toHaveLength(1);
    const { status: beyond } = await begin(mia, 'mia-new@mail.example');
    const { status: last } = await begin(mia, 'mia-new@mail.example');
    expect([beyond, last, (await begin(mia, 'mia-new@mail.example')).status]).toEqual([
      'STARTED',
      'STARTED',
      'RATE_LIMITED',
    ]);
    expect((await begin(mia, 'mia-new@mail.example', { password: 'wrong' })).status).toBe('INCORRECT_PASSWORD');
    await mails.deliver(service.core);
  });

  test('is rate limited like a sign-in, and the right password refunds its tokens (S-87)', async () => {
    const strict = await start(
      { rate_limiting: { login: { per_ip: HIGH_LIMIT, per_known_browser: { burst: 2, per_second: 0.001 } } } },
      { like: service },
    );
    try {
      const nell = await newUser(strict);
      for (let count = 0; count < 4; count += 1) {
        expect((await begin(nell, `nell${count}@mail.example`)).status).toBe('STARTED');
      }
      const tries: string[] = [];
      for (let count = 0; count < 4; count += 1) {
        tries.push((await begin(nell, 'nell@mail.example', { password: 'wrong' })).status);
      }
      expect(tries).toEqual(['INCORRECT_PASSWORD', 'INCORRECT_PASSWORD', 'RATE_LIMITED', 'RATE_LIMITED']);
      expect((await begin(nell, 'nell@mail.example')).status).toBe('RATE_LIMITED');
      await mails.deliver(strict.core);
    } finally {
      await strict.stop();
    }
  });

  test('requires a recent sign-in for accounts without a password (account-graphql 2.5, S-123)', async () => {
    const ola = await newUser();
    await rows('delete from user_passwords where user_id = $1', uuid(ola.id));
    expect((await begin(ola, 'ola-new@mail.example', { password: undefined })).status).toBe('STARTED');
    clock.advanceSeconds(600);
    expect((await begin(ola, 'ola-new@mail.example', { password: 'ignored' })).status).toBe('STARTED');
    clock.advanceSeconds(1);
    const { answer: response, codes } = await begin(ola, 'ola-new@mail.example', { password: undefined });
    expect([response.status, response.data, codes]).toEqual([200, null, ['REAUTH_REQUIRED']]);
    expect(response.errors[0]?.extensions).toMatchObject({ reauthUrl: '/reauth?kind=manage_account', maxAge: 600 });
    await mails.deliver(service.core);
  });

  test('is refused where the feature is disabled', async () => {
    const off = await start({ account: { email_change_allowed: false } }, { like: service });
    try {
      const pia = await newUser(off);
      expect((await begin(pia, 'pia-new@mail.example')).codes).toEqual(['FEATURE_DISABLED']);
      const id = `user_email_authentication:${ABSENT}`;
      expect(codesOf(await pia.here.query(COMPLETE, { id, code: '123456' }))).toEqual(['FEATURE_DISABLED']);
      const { data } = await pia.here.query('{ siteConfig { emailChangeAllowed } }');
      expect(data).toEqual({ siteConfig: { emailChangeAllowed: false } });
    } finally {
      await off.stop();
    }
  });

  test('requires a signed-in user', async () => {
    expect(codesOf(await new GraphqlClient(service).query(START, { email: 'x@mail.example' }))).toEqual([
      'UNAUTHENTICATED',
    ]);
  });
});

test('one document checks one password or code, in any form (account-graphql 1.7, S-135)', async () => {
  const quinn = await newUser();
  const field = (name: string, code: string): string =>
    `${name}: completeEmailAuthentication(input: { id: "user_email_authentication:${ABSENT}", code: "${code}" }) { status }`;
  for (const document of [
    `mutation { ${field('a', '1')} ${field('b', '2')} }`,
    `mutation { ${field('a', '1')} ...f } fragment f on Mutation { ${field('b', '2')} }`,
    `mutation { ${field('a', '1')} removeEmail(input: { userEmailId: "user_email:${ABSENT}" }) { status } }`,
  ]) {
    const response = await quinn.here.query(document);
    expect([codesOf(response), response.data]).toEqual([['QUERY_TOO_COMPLEX'], undefined]);
  }
  expect((await quinn.here.query(`mutation { ${field('a', '1')} }`)).data).toEqual({ a: { status: 'INVALID_CODE' } });
});
