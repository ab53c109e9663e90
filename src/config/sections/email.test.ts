import { describe, expect, test } from 'vitest';
import { load, loadYaml, problemsOfYaml } from '../fixture.test-support.ts';

const SMTP = 'transport: smtp, hostname: mail.example, mode: starttls';

test('an SMTP server requires its name and encryption', () => {
  expect(problemsOfYaml('email: {transport: smtp}')).toEqual([
    expect.stringMatching(/^email\.hostname: missing; the transport "smtp" needs it/),
    expect.stringMatching(/^email\.mode: missing; the transport "smtp" needs one of "plain", "starttls", "tls"/),
  ]);
});

test.each([
  ['plain', 25],
  ['starttls', 587],
  ['tls', 465],
])('the port of %s is %i', (mode, port) => {
  const { email } = loadYaml(`email: {transport: smtp, hostname: mail.example, mode: ${mode}}`);
  expect(email.transport).toMatchObject({ port, timeoutSeconds: 30 });
});

test('a user without a password and a password without a user are rejected without showing the password', () => {
  expect(problemsOfYaml(`email: {${SMTP}, username: latchkey}`).join()).toContain(
    'email: give both "username" and "password", or neither',
  );
  const problems = problemsOfYaml(`email: {${SMTP}, password: hush}`).join();
  expect(problems).toContain('email: give both "username" and "password", or neither');
  expect(problems).not.toContain('hush');
});

test.each([
  ['https://auth.example.org/', 'auth.example.org'],
  ['http://203.0.113.5:8080', '[203.0.113.5]'],
  ['http://[2001:db8::5]:8080', '[IPv6:2001:db8::5]'],
])('with public_base %s the EHLO name of the SMTP client is %s', (base, name) => {
  const yaml = `http: {public_base: "${base}"}\nemail: {${SMTP}}\n`;
  expect(loadYaml(yaml).email.transport).toMatchObject({ ehloName: name });
  const named = loadYaml(yaml.replace(SMTP, `${SMTP}, ehlo_name: mx.example.org`)).email;
  expect(named.transport).toMatchObject({ ehloName: 'mx.example.org' });
});

test.each([
  ['transport: blackhole, hostname: mail.example', 'hostname', 'blackhole'],
  ['transport: sendmail, mode: tls', 'mode', 'sendmail'],
  ['transport: file, timeout: 10', 'timeout', 'file'],
  [`${SMTP}, command: /usr/sbin/sendmail`, 'command', 'smtp'],
  ['max_per_minute: 10', 'max_per_minute', 'blackhole'],
])('{%s}: a key that the transport does not use is an error', (section, key, transport) => {
  expect(problemsOfYaml(`email: {${section}}`)).toEqual([
    expect.stringContaining(`email.${key}: has no effect with the transport "${transport}"`),
  ]);
});

test.each([
  'a@b.example, c@d.example',
  'Club <a@b.example> <c@d.example>',
  '"Club\nBcc: x@y.example" <a@b.example>',
  '-f@b.example',
])('%j is not a sender', (from) => {
  expect(problemsOfYaml(`email: {from: ${JSON.stringify(from)}}`).join()).toContain('email.from: expected');
});

describe('without a sender', () => {
  test.each([
    ['https://auth.club.example/', 'auth.club.example'],
    ['http://192.0.2.1:8080/', 'localhost'],
  ])('emails from %s are sent from noreply@%s under the name of the service', (base, domain) => {
    const { email } = loadYaml(`http: {public_base: "${base}"}\nbranding: {service_name: Club}`);
    expect(email.from).toEqual({ name: 'Club', address: `noreply@${domain}` });
  });
});

test('files are written to the data directory', () => {
  const { email } = loadYaml('data_dir: /srv/latchkey\nemail: {transport: file}');
  expect(email.transport).toEqual({ kind: 'file', directory: '/srv/latchkey/outbox' });
});

test('notices require a transport', () => {
  expect(loadYaml('email: {security_notices: true}').email.securityNotices).toBe(false);
  expect(loadYaml('email: {transport: file}').email.securityNotices).toBe(true);
});

describe('warnings at startup', () => {
  const warningsOf = (section: string) =>
    load({ files: { 'latchkey.yaml': `http: {public_base: "https://club.example/"}\n${section}` } }).warnings;

  test('a password sent unencrypted to another machine', () => {
    const plain = 'transport: smtp, mode: plain, username: a, password: b';
    expect(warningsOf(`email: {${plain}, hostname: mail.example}`)).toContain(
      'email.mode: "plain" to another machine: the password is sent unencrypted',
    );
    expect(warningsOf(`email: {${plain}, hostname: localhost}`)).not.toContain(expect.stringContaining('unencrypted'));
  });

  test('a sender that other servers reject', () => {
    expect(warningsOf('email: {transport: sendmail, from: noreply@localhost}')).toEqual([
      'email.from: other mail servers reject emails from noreply@localhost',
    ]);
  });

  test('required email verification without a transport', () => {
    const needed = 'account: {password_registration_enabled: true, password_registration_email_required: true}';
    const [warning, ...more] = warningsOf(needed);
    expect(warning).toContain('account.password_registration_email_required: users cannot register');
    expect(more).toEqual([]);
    expect(warningsOf(`${needed}\npasswords: {enabled: false}`)).toEqual([]);
    expect(warningsOf(`${needed}\nemail: {transport: file}`)).toEqual([]);
    expect(warningsOf('account: {password_registration_enabled: true}')).toEqual([]);
  });

  test('recovery without a transport', () => {
    const enabled = 'account: {password_recovery_enabled: true}';
    const warning = 'account.password_recovery_enabled: no emails are sent because email.transport is "blackhole"';
    expect(warningsOf(enabled)).toEqual([warning]);
    expect(warningsOf(`${enabled}\npasswords: {enabled: false}`)).toEqual([]);
    expect(warningsOf(`${enabled}\nemail: {transport: file}`)).toEqual([]);
  });
});

test.each([
  ['', false],
  ['email: {transport: blackhole}', false],
  ['email: {transport: file}', true],
  ['email: {transport: file}\naccount: {password_registration_email_required: false}', false],
])('email addresses must be verified where emails are sent: %j', (yaml, isRequired) => {
  expect(loadYaml(yaml).account.passwordRegistrationEmailRequired).toBe(isRequired);
});

test('email codes are kept as long as the registration that they belong to can be completed', () => {
  const { retention } = loadYaml('account: {registration_ttl: 24h}\nretention: {pending_flows: 1h}');
  expect(retention.pendingFlowsSeconds).toBe(86_400);
});
